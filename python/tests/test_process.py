"""The package as a process: signals, the command line, imports."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import pyorthant as ot

RUN = [
    "ot.run('mandelbrot', n=2**14, dwell=60000, backend='cpu', strategy='exhaustive')",
    "ot.run(lambda p: (p[:, 0] * 977).astype(int) % 2, n=(2**13, 2**13))",
    "ot.tree(np.lib.stride_tricks.as_strided(np.zeros(1, 'u1'), (2**11, 2**11, 2**10), (0, 0, 0)))",
]


@pytest.mark.parametrize("call", RUN, ids=["field", "function", "tree"])
def test_ctrl_c(call):
    code = (
        "import signal, time, numpy as np, pyorthant as ot\n"
        # Whoever starts the tests in the background may have it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\n"
        f"try: {call}\n"
        "except KeyboardInterrupt: print(time.time(), flush=True)\n"
        "print(ot.run('mandelbrot', n=32, backend='cpu').checksum, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    deadline = threading.Timer(10, process.kill)
    deadline.daemon = True
    deadline.start()
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    heard = process.stdout.readline()
    assert heard, "it ended before it was interrupted"
    assert float(heard) - sent < 0.5, f"{float(heard) - sent} s"
    assert process.stdout.readline().startswith("xxh3:")
    assert process.wait() == 0


def orthant(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "pyorthant", *arguments], capture_output=True, text=True, **options)


def test_the_command_line():
    done = orthant("--version")
    assert done.returncode == 0 and done.stdout.strip().endswith(ot.__version__)
    assert "Usage: orthant" in orthant("--help").stdout
    wrong = orthant("run", "mandelbrod")
    assert wrong.returncode == 2 and "mandelbrot" in wrong.stderr and "Traceback" not in wrong.stderr
    done = orthant("run", "mandelbrot", "-n", "64", "--backend", "cpu", "--json")
    assert done.returncode == 0 and '"checksum":"xxh3:' in done.stdout
    script = Path(sys.executable).parent / "orthant"
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout == orthant("--version").stdout


def test_the_command_line_hears_signals():
    run = [sys.executable, "-m", "pyorthant", "run", "mandelbrot", "-n", "2^14", "--dwell", "60000", "--backend", "cpu"]
    process = subprocess.Popen([*run, "--strategy", "exhaustive"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in err


def test_a_reader_that_leaves():
    run = f"{sys.executable} -m pyorthant run mandelbrot -n 512 --backend cpu -o - | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert done.stdout.strip() == "0" and "Traceback" not in done.stderr, done.stderr


def test_the_command_line_needs_no_numpy():
    code = "import sys, pyorthant.__main__; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_panic_is_an_exception_of_the_package():
    """`except Exception` catches it; it is provoked by what the package never does."""
    with pytest.raises(ot.OrthantError, match="bug of orthant"):
        ot._core.provoke_panic()


def test_names():
    assert set(ot.__all__) <= set(dir(ot))
    for name in ot.__all__:
        assert getattr(ot, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        ot.nothing


def test_nvrtc_of_pip_is_found(tmp_path):
    folder = tmp_path / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnvrtc.so.13").touch()
    code = "import os; from pyorthant._cuda import find_nvrtc; find_nvrtc(); print(os.environ.get('ORTHANT_NVRTC_DIR'))"
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "ORTHANT_NVRTC_DIR")}
    run = lambda **more: subprocess.check_output([sys.executable, "-c", code], text=True, env={**environment, **more}).strip()
    assert run(PYTHONPATH=str(tmp_path)) == str(folder)
    assert run(PYTHONPATH=str(tmp_path), ORTHANT_NVRTC_DIR="/mine") == "/mine"
    assert run() in ("None",) or run().endswith("cu13/lib")


def test_doctor(capsys):
    ot.doctor()
    assert "threads" in capsys.readouterr().out


def test_stub_lists_the_options_of_the_library():
    stub = (Path(ot.__file__).parent / "__init__.pyi").read_text()
    for of, name in (("tree", "_TreeOptions"), ("run", "_RunOptions")):
        body = stub.split(f"class {name}", 1)[1].split("\nclass ", 1)[0]
        listed = {line.split(":")[0].strip() for line in body.splitlines()[1:] if ":" in line}
        named = {row[0] for row in ot._core.choices(of)}
        # It has a name of one letter. What run() names itself is not among its other options.
        # How files of points and meshes are read is told beside what a tree is made by.
        reading = {"value", "attribute", "columns"}
        named = named - {"size"} | {"n"} | reading if of == "tree" else named - {"size", "scheme"}
        assert listed == named, listed ^ named
