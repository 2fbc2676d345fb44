"""The exceptions of the package that Python does not have."""


class OrthantError(Exception):
    """Something failed that is neither a wrong value nor a file."""


class DifferenceError(OrthantError):
    """A check found a difference, or something is missing or damaged."""


class BackendUnavailable(OrthantError):
    """The backend or the device is not available."""


class CudaError(OrthantError):
    """CUDA failed."""


class MemoryLimitError(OrthantError, MemoryError):
    """The work would exceed the memory limit, or memory ran out. A larger ``mem_limit`` may help."""


for _error in (OrthantError, DifferenceError, BackendUnavailable, CudaError, MemoryLimitError):
    _error.__module__ = "pyorthant"
