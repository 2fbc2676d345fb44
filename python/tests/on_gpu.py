"""Runs whose cells stay on a GPU, taken by CuPy and PyTorch: python on_gpu.py. Needs a GPU, pyorthant[cuda], and one of them.

Prints a line per check, and returns 1 if one failed. pytest does not collect it. A package that is not installed is left out.
"""

import ctypes
import gc
import importlib
import sys
import time

import numpy as np

import pyorthant as ot

CASES = [
    ("mandelbrot", {"n": (1000, 700)}),
    ("mandelbrot", {"n": 512, "cell": "u8", "dwell": 255}),
    ("mandelbrot", {"n": 512, "cell": "i32"}),
    ("mandelbulb", {"n": (96, 64, 32), "dwell": 16, "cell": "u8"}),
    ("mandelbrot", {"n": 512, "strategy": "exhaustive"}),
]
failed = 0


def check(what, right):
    global failed
    failed += not right
    print(f"{'passed' if right else 'FAILED'}: {what}", flush=True)


def free():
    """Bytes that the driver has to give."""
    driver = ctypes.CDLL("libcuda.so.1")
    here, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(here), ctypes.byref(total))
    return here.value


def takers():
    """By name: how an array is made of a run, where it lies, and how it comes to the host."""
    found = {}
    if cupy := there("cupy"):
        place, back = (lambda a: a.data.ptr), cupy.asnumpy
        found["cupy.asarray"] = (cupy.asarray, place, back, cupy.cuda.Device().synchronize)
        found["cupy.from_dlpack"] = (cupy.from_dlpack, place, back, cupy.cuda.Device().synchronize)
    if torch := there("torch"):
        place, back = (lambda t: t.data_ptr()), (lambda t: t.cpu().numpy())
        found["torch.as_tensor"] = (lambda s: torch.as_tensor(s, device="cuda"), place, back, torch.cuda.synchronize)
        found["torch.from_dlpack"] = (torch.from_dlpack, place, back, torch.cuda.synchronize)
    return found


def there(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {name}, {error}")


def main():
    found = takers()
    print("pyorthant", ot.__version__, "with", ", ".join(found) or "neither CuPy nor PyTorch")
    for field, options in CASES:
        name = f"{field} {options}"
        expected = ot.run(field, backend="cpu", **options).to_numpy()
        s = ot.run(field, backend="cuda", on_device=True, **options)
        interface, where = s.__cuda_array_interface__, s.__dlpack_device__()
        address = interface["data"][0]
        check(f"{name}: on the device {where}, {interface['typestr']} {interface['shape']}", where == (2, 0))
        check(f"{name}: np.asarray(s) has the CPU's cells", np.array_equal(np.asarray(s), expected))
        del s
        for taker, (take, place, back, wait) in found.items():
            s = ot.run(field, backend="cuda", on_device=True, **options)
            address = s.__cuda_array_interface__["data"][0]
            try:
                array = take(s)
            except Exception as error:
                check(f"{name}: {taker}: {type(error).__name__}: {error}", False)
                continue
            check(f"{name}: {taker} has the run's address, {address:#x}", place(array) == address)
            check(f"{name}: {taker} has the CPU's cells", np.array_equal(back(array), expected))
            del s
            gc.collect()
            time.sleep(0.2)
            # What would be freed would be given to these.
            others = [ot.run(field, backend="cuda", on_device=True, **options) for _ in range(3)]
            apart = all(other.__cuda_array_interface__["data"][0] != address for other in others)
            check(f"{name}: {taker} outlives the run", apart and np.array_equal(back(array), expected))
            array[...] = 1
            wait()
            check(f"{name}: {taker} may be written", (back(array) == 1).all())
            del array, others
    # 512 MB, five times: without freeing, the memory that is left would shrink by 2.5 GB.
    before = None
    for _ in range(5):
        s = ot.run("mandelbrot", n=2**14, backend="cuda", on_device=True)
        arrays = [take(s) for take, *_ in found.values()]
        del s, arrays
        gc.collect()
        time.sleep(1)
        before = before or free()
    check(f"memory comes back: {before - free()} bytes are missing", before - free() < 2**28)
    begun = time.perf_counter()
    s = ot.run("mandelbrot", n=2**15, backend="cuda", on_device=True)
    middle = time.perf_counter()
    cells = s.to_numpy()
    ended = time.perf_counter()
    print(f"2 GiB of mandelbrot: {middle - begun:.3f} s to have them on the GPU, {ended - middle:.3f} s more on the host")
    check("these are as many", cells.shape == (2**15, 2**15))
    # The process ends with a run that lives.
    print("FAILED" if failed else "all passed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
