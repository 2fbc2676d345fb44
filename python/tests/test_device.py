"""Runs whose cells stay on a GPU, over the stand-in for the driver: its device memory is the host's, so that addresses can be read.

The stand-in is built of its sources, with g++. Each test is a process of its own, since the driver is found when a process starts.
"""

import functools
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pyorthant as ot

SOURCES = Path(__file__).parents[2] / "cli" / "tests" / "standin"
# As in libraries.rs there.
KERNEL_FLAGS = "-fPIC -fno-gnu-unique -Og -std=c++17 -ffp-contract=off -mfma -fno-strict-aliasing -w -pthread"

BEFORE = """
import ctypes, gc, time
import numpy as np
import pyorthant as ot

driver = ctypes.CDLL("libcuda.so.1")

def used():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return total.value - free.value

def ends_unused():
    gc.collect()
    deadline = time.monotonic() + 10
    while used() and time.monotonic() < deadline:
        time.sleep(0.01)
    return used() == 0

def at(address, shape, dtype):
    return np.ndarray(shape, dtype, (ctypes.c_char * (int(np.prod(shape)) * dtype.itemsize)).from_address(address))

def here(s):
    interface = s.__cuda_array_interface__
    assert interface["version"] == 3 and interface["strides"] is None and interface["stream"] is None
    assert interface["data"][1] is False
    return at(interface["data"][0], interface["shape"], np.dtype(interface["typestr"]))

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]

class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]

def take(capsule, layout, name):
    "As a package of arrays does: the capsule gets another name, and the structure is the taker's."
    taken = ctypes.cast(pointer(capsule, name), ctypes.POINTER(layout))
    USED.append(b"used_" + name)
    rename(capsule, USED[-1])
    return taken

USED = []
cpu = ot.run("mandelbrot", n=(96, 64), backend="cpu")
cells = cpu.to_numpy()
run = lambda **options: ot.run("mandelbrot", n=(96, 64), backend="cuda", on_device=True, **options)
"""


@functools.cache
def folder(base):
    if sys.platform != "linux" or os.uname().machine != "x86_64" or not (SOURCES / "driver.cpp").exists():
        pytest.skip("the stand-in for the driver is for x86-64 Linux, and its sources come with the repository")
    if not shutil.which("g++"):
        pytest.skip("no g++ to build the stand-in for the driver with")
    built = Path(base) / "standin"
    built.mkdir()
    for name in ("shim.h", "grid.h", "driver.cpp", "nvrtc.cpp"):
        shutil.copy(SOURCES / name, built)
    build = lambda *arguments: subprocess.run(["g++", *arguments], cwd=built, check=True)
    build(*KERNEL_FLAGS.split(), "-x", "c++-header", "shim.h")
    paths = [f'-DSHIM="{built}/shim.h"', f'-DDRIVER="{built}/libcuda.so.1"', f'-DKERNEL_FLAGS="{KERNEL_FLAGS}"']
    for source, library in (("driver.cpp", "libcuda.so.1"), ("nvrtc.cpp", "libnvrtc.so.13")):
        build("-shared", "-fPIC", "-O2", "-std=c++17", *paths, f"-Wl,-soname,{library}", "-pthread", "-o", library, source, "-ldl")
        # Where there is a GPU, the system's library would be found by its other name.
        (built / library).with_name(library.split(".so")[0] + ".so").symlink_to(library)
    return built


@pytest.fixture(scope="module")
def standin(tmp_path_factory):
    base = tmp_path_factory.mktemp("device")

    def python(code, **variables):
        built = folder(base)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORTHANT_", "STANDIN_"))}
        environment |= {"LD_LIBRARY_PATH": str(built), "ORTHANT_NVRTC_DIR": str(built), "ORTHANT_CACHE_DIR": str(built / "cache"),
                        "ORTHANT_CUDADEVRT": str(built / "libcuda.so.1")}
        code = BEFORE + textwrap.dedent(code)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                              env={**environment, **variables})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return python


def test_the_address_holds_the_cells(standin):
    standin("""
    s = run()
    assert (s.shape, s.dtype, s.backend) == ((64, 96), cells.dtype, "cuda") and "GPU 0" in repr(s)
    assert here(s).shape == (64, 96) and np.array_equal(here(s), cells)
    assert s.__dlpack_device__() == (2, 0) and hasattr(s, "__cuda_array_interface__")
    assert not hasattr(cpu, "__cuda_array_interface__")
    # Other types, options and numbers of axes.
    for options in ({"cell": "u32"}, {"strategy": "exhaustive"}, {"strategy": "dp"}):
        s = run(**options)
        assert np.array_equal(here(s), cells), options
    bulb = ot.run("mandelbulb", n=(24, 16, 8), dwell=8, cell="u8", backend="cuda", on_device=True)
    assert np.array_equal(here(bulb), ot.run("mandelbulb", n=(24, 16, 8), dwell=8, backend="cpu").to_numpy())
    """)


def test_it_is_copied_to_the_host_when_that_is_asked_for(standin):
    standin("""
    s = run()
    assert s.report["checksum"] is None and s.report["keep"] == "dense" and s._repr_png_() is None
    host = np.asarray(s)
    assert np.array_equal(host, cells) and host.ctypes.data != here(s).ctypes.data
    assert s.to_numpy().ctypes.data == host.ctypes.data
    assert s.checksum == cpu.checksum and np.array_equal(s.regions, cpu.regions)
    assert np.array_equal(np.asarray(s.tree()), cells) and len(s.regions_table()) == len(cpu.regions)
    assert np.array_equal(np.from_dlpack(s, device="cpu") if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else host, cells)
    # What is on the GPU may be written.
    fresh = run()
    here(fresh)[3, 5] = 77
    assert fresh.to_numpy()[3, 5] == 77
    del s, fresh
    assert ends_unused() and np.array_equal(host, cells)
    """)


def test_memory_is_freed_with_the_last_owner(standin):
    standin("""
    s = run()
    assert used() >= cells.nbytes
    del s
    assert ends_unused()
    kept = run()
    capsule = kept.__dlpack__()
    address = kept.__cuda_array_interface__["data"][0]
    del kept
    gc.collect(), time.sleep(0.3)
    assert used() >= cells.nbytes and np.array_equal(at(address, cells.shape, cells.dtype), cells)
    # A capsule that nobody took.
    del capsule
    assert ends_unused()
    """)


def test_who_takes_a_capsule_owns_it(standin):
    standin("""
    for version, layout, name in ((None, Managed, b"dltensor"), ((1, 1), Versioned, b"dltensor_versioned")):
        s = run()
        capsule = s.__dlpack__(stream=1, max_version=version, dl_device=(2, 0), copy=False)
        taken = take(capsule, layout, name)
        del s, capsule
        gc.collect(), time.sleep(0.3)
        tensor = taken.contents.tensor
        assert (tensor.kind, tensor.number, tensor.ndim) == (2, 0, 2) and tensor.offset == 0
        assert (tensor.code, tensor.bits, tensor.lanes) == (1, 16, 1)
        assert tensor.shape[:2] == [64, 96] and tensor.strides[:2] == [96, 1]
        assert np.array_equal(at(tensor.data, (64, 96), np.dtype("u2")), cells)
        if version:
            assert (taken.contents.major, taken.contents.flags) == (1, 0)
        assert used() >= cells.nbytes
        taken.contents.deleter(ctypes.addressof(taken.contents))
        assert ends_unused(), name
    s = run()
    for wrong in ({"dl_device": (2, 1)}, {"dl_device": (1, 0), "copy": False}, {"copy": True}):
        try:
            s.__dlpack__(**wrong)
        except BufferError:
            continue
        raise AssertionError(wrong)
    """)


def test_the_end_of_the_process_waits_for_nobody(standin):
    out = standin("""
    s, capsules = run(), [run().__dlpack__() for _ in range(3)]
    class Late:
        def __del__(self):
            print("late", flush=True)
    late = Late()
    gone = run()
    del gone
    print("end", flush=True)
    """)
    assert out.split()[0] == "end"


def test_it_ends_early(standin):
    standin("""
    class Own(Exception): pass
    def stop(done, cells): raise Own
    try:
        run(progress=stop)
    except Own:
        pass
    assert ends_unused()
    try:
        run(dwell=10**5, cell="u16")
    except ValueError:
        pass
    try:
        ot.run("mandelbrot", n=(2**12, 2**12), backend="cuda", on_device=True)
        raise AssertionError
    except ot.MemoryLimitError as error:
        assert "GPU" in str(error), error
    assert ends_unused()
    """, STANDIN_MEMORY="8000000")


@pytest.mark.parametrize("devices", ["0", "1"])
def test_where_it_cannot_stay(standin, devices):
    standin(f"""
    def refused(kind, text, field="mandelbrot", **options):
        try:
            ot.run(field, on_device=True, **{{"n": 64, **options}})
        except kind as error:
            assert text in str(error) and "on_device" in str(error), error
            return
        raise AssertionError(text)

    refused(ot.BackendUnavailable, 'backend="cuda"', backend="cpu")
    refused(ValueError, "keep regions", keep="regions")
    refused(ValueError, "an array is read only while run() lasts", np.zeros((4, 4), "u1"), n=None)
    refused(ValueError, "a function of Python runs on the CPU", lambda p: p, n=(4, 4))
    if {devices} == 0:
        refused(ot.BackendUnavailable, 'backend="cuda"')
    else:
        s = ot.run("mandelbrot", n=(96, 64), on_device=True)
        assert np.array_equal(here(s), cells)
    """, STANDIN_DEVICES=devices)


def test_on_the_host_there_is_no_address():
    s = ot.run("mandelbrot", n=32, backend="cpu", on_device=False)
    assert not hasattr(s, "__cuda_array_interface__") and s.__dlpack_device__() == (1, 0)
    with pytest.raises(AttributeError, match="on_device=True"):
        s.__cuda_array_interface__
    with pytest.raises(ot.BackendUnavailable, match='on_device: .*backend cpu.*backend="cuda"'):
        ot.run("mandelbrot", n=32, backend="cpu", on_device=True)
    with pytest.raises(ValueError, match="on_device maybe"):
        ot.run("mandelbrot", n=32, on_device="maybe")
    with pytest.raises(ValueError, match="on_device True: .*leave on_device out"):
        ot.run(np.zeros((4, 4)), on_device=True)
