"""Trees of uniform regions of N-dimensional arrays and fields."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
from typing_extensions import Unpack

_core: ModuleType

__version__: str
__all__: list[str]

def __dir__() -> list[str]: ...

_PerAxis = int | str | Sequence[int]
_Number = float | str
_Interval = Sequence[tuple[float, float]] | str
_Progress = bool | Callable[[int, int], object] | None
_Path = str | os.PathLike[str]
_Where = Mapping[str | int, int] | None
_ByName = float | Sequence[float] | Mapping[str, float] | None

class _TreeOptions(TypedDict, total=False):
    dim: int | str | None
    n: _PerAxis | None
    g: _PerAxis | None
    r: _PerAxis | None
    B: _PerAxis | None
    sample: str | None
    curve: str | None
    domain: _Interval | None
    threads: int | str | None
    tolerance: _Number | None
    threshold: _Number | None
    iso: _Number | None
    step: _Number | Sequence[float] | None
    nan: str | None
    nodata: _Number | None
    mem_limit: int | str | None
    dtype: str | None
    offset: int | str | None
    order: str | None
    endian: str | None
    follow: bool | None
    label_table: _Path | None
    kind: Literal["labels", "values"] | None
    value: str | None
    columns: str | Sequence[str | int] | None
    attribute: str | int | None

class _RunOptions(TypedDict, total=False):
    dim: int | str | None
    g: _PerAxis | None
    r: _PerAxis | None
    B: _PerAxis | None
    explore: str | None
    sample: str | None
    curve: str | None
    precision: str | None
    arithmetic: str | None
    dwell: int | str | None
    value: str | None
    band: int | str | None
    columns: str | Sequence[str | int] | None
    attribute: str | int | None
    domain: _Interval | None
    cell: str | None
    keep: str | None
    explore_order: str | None
    prove: bool | str | None
    strategy: str | None
    pass_: str | None
    insertion: str | None
    threads: int | str | None
    max_kernels: int | str | None
    dp_launch: str | None
    dp_budget: int | str | None
    dp_overflow: int | str | None
    pending_launches: int | str | None
    block: _PerAxis | None
    ask_loop: str | None
    table: str | None
    balancer: str | None
    stack: str | None
    cycles: str | None
    backend: str | None
    device: int | str | None
    on_device: bool | None
    mem_limit: int | str | None
    source: str | None
    text: str | None
    input: _Path | None

class Axis(NamedTuple):
    name: str
    unit: str | None
    spacing: float
    origin: float
    size: int

class Page:
    text: str
    height: int
    def __init__(self, text: str, height: int = 600) -> None: ...
    def save(self, path: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

class RegionsTable:
    def __init__(self, core: Any, axes: Sequence[str]) -> None: ...
    @property
    def column_names(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Tree:
    def __init__(self, core: Any, kind: str | None = None, *, source: Any = None) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def path(self) -> str | None: ...
    @property
    def axes(self) -> tuple[Axis, ...]: ...
    @property
    def plan(self) -> dict[str, Any]: ...
    @property
    def about(self) -> dict[str, Any]: ...
    @property
    def report(self) -> dict[str, Any] | None: ...
    @property
    def checksum(self) -> str: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __getitem__(self, key: Any) -> Any: ...
    def to_numpy(self) -> npt.NDArray[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    @property
    def regions(self) -> npt.NDArray[np.void]: ...
    def regions_table(self) -> RegionsTable: ...
    def stats(self, most: int = 65536) -> dict[str, npt.NDArray[Any]]: ...
    @property
    def label_table(self) -> dict[str, Any] | None: ...
    def lod(self, level: int, by: str = "mode") -> Tree: ...
    def save(self, path: _Path, *, overwrite: bool = False) -> None: ...
    def to_xarray(self, *, lazy: bool = False) -> Any: ...
    def zarr(self, *, levels: bool = False, chunks: int | Sequence[int] | None = None, by: str = "mode") -> Any: ...
    def plot(self, ax: Any = None, *, at: _Where = None, overlay: bool = False, **options: Any) -> Any: ...
    def view(
        self,
        path: _Path | None = None,
        *,
        height: int = 600,
        max_size: int = 5_000_000,
        by: str = "mode",
        title: str | None = None,
    ) -> Page | None: ...
    def _repr_png_(self) -> bytes: ...
    def _repr_html_(self) -> str: ...

class Subdivision:
    def __init__(self, core: Any) -> None: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def checksum(self) -> str | None: ...
    @property
    def backend(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    def to_numpy(self) -> npt.NDArray[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def regions(self) -> npt.NDArray[np.void]: ...
    def regions_table(self) -> RegionsTable: ...
    @property
    def levels(self) -> npt.NDArray[np.void]: ...
    def tree(self) -> Tree: ...
    def plot(self, ax: Any = None, *, at: _Where = None, overlay: bool = False, **options: Any) -> Any: ...
    def save(self, path: _Path, *, at: _Where = None, overwrite: bool = False) -> None: ...
    def _repr_png_(self) -> bytes | None: ...
    def _repr_html_(self) -> str: ...

class OrthantError(Exception): ...
class DifferenceError(OrthantError): ...
class BackendUnavailable(OrthantError): ...
class CudaError(OrthantError): ...
class MemoryLimitError(OrthantError, MemoryError): ...

def tree(
    source: Any,
    *,
    coordinates: bool = False,
    values: npt.ArrayLike | None = None,
    scheme: tuple[int, int, int] | None = None,
    dims: Sequence[str] | None = None,
    spacing: _ByName = None,
    origin: _ByName = None,
    units: str | Mapping[str, str] | None = None,
    label_names: Mapping[float, str] | None = None,
    progress: _Progress = None,
    **options: Unpack[_TreeOptions],
) -> Tree: ...
def open(path: _Path, *, store: Any = None, storage_options: Mapping[str, Any] | None = None) -> Tree: ...
def run(
    field: str | Callable[[npt.NDArray[Any]], npt.ArrayLike] | npt.ArrayLike,
    *,
    n: _PerAxis | None = None,
    scheme: str | tuple[int, int, int] | None = None,
    max_label: int = 65535,
    cells: bool = False,
    progress: _Progress = None,
    **options: Unpack[_RunOptions],
) -> Subdivision: ...
def fields() -> dict[str, tuple[str, tuple[int, ...]]]: ...
def doctor() -> None: ...
def napari(tree: Tree, *, viewer: Any = None, by: str = "mode", **options: Any) -> Any: ...
