"""Reports and figures of docs/results/h200, drawn by the program from the rows beside them."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import tempfile

from figures.rows import RESULTS, ROOT, Wrong

PARTS = ["reports", "figures", "fits"]
SWEEPS = ["dimensions", "encodings", "energy", "nvidia-blog", "paper-ask", "throttle", "zhong"]
FIGURES = [  # name, sweep, kind, words that the figure has
    ("dimensions-simplex", "dimensions", "dimensions-simplex", ""),
    ("dimensions-speedup", "dimensions", "dimensions-speedup", ""),
    ("dimensions-time", "dimensions", "dimensions-time", ""),
    ("encodings-bytes-4d", "encodings", "encodings-bytes", "julibrot"),
    ("encodings-time-3d", "encodings", "encodings-time", "mandelbulb"),
    ("energy-energy", "energy", "energy-n", ""),
    ("nvidia-blog-dwell", "nvidia-blog", "speedup-dwell", ""),
    ("nvidia-blog-speedup", "nvidia-blog", "speedup-n", ""),
    ("paper-ask-landscape-ask-mbr", "paper-ask", "landscape-ask-mbr", ""),
    ("paper-ask-landscape-ask-sbr", "paper-ask", "landscape-ask-sbr", ""),
    ("paper-ask-speedup", "paper-ask", "speedup-n", ""),
    ("throttle-mandelbulb", "throttle", "throttle-dp-budget", "mandelbulb"),
    ("zhong-dwell", "zhong", "throughput-dwell", ""),
    ("zhong-resolution", "zhong", "throughput-n", ""),
]

FITS = [("by-code.txt", ["h200/rows/model-fit.jsonl"]), ("streams.txt", ["h200/faces.jsonl", "h200/streams.jsonl"])]  # of the time model


def program():
    """The program that draws: ORTHANT, or the release build of this checkout."""
    path = os.environ.get("ORTHANT") or str(ROOT / "target" / "release" / "orthant")
    if shutil.which(path) is None:
        raise Wrong(f"{path}: no program. Build it (cargo build --release), or set ORTHANT to one; `--text` needs none")
    return path


def draw(folder):
    """Draws everything into a folder."""
    orthant, rows = program(), RESULTS / "h200" / "rows"
    folder = pathlib.Path(folder)
    for part in PARTS:
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name, files in FITS:
        fitted = subprocess.run(
            [orthant, "-q", "model", "fit", "--dry-run", *(f"docs/results/{file}" for file in files)],
            check=True,
            cwd=ROOT,
            capture_output=True,
        )
        (folder / "fits" / name).write_bytes(fitted.stdout)
    with tempfile.TemporaryDirectory() as drawn:
        for name in SWEEPS:
            subprocess.run(
                [
                    orthant,
                    "-q",
                    "report",
                    f"docs/results/h200/rows/{name}.jsonl",
                    "--title",
                    f"{name} on an H200",
                    "--force",
                    "-o",
                    str((folder / "reports" / f"{name}.html").absolute()),
                    "--svg",
                    f"{drawn}/{name}",
                ],
                check=True,
                cwd=ROOT,
            )
        for name, sweep, kind, words in FIGURES:
            found = [path for path in sorted(pathlib.Path(drawn, sweep).glob(f"*-{kind}.svg")) if words in path.read_text()]
            if not found:
                raise Wrong(f"{rows / sweep}.jsonl: no figure '{kind}' with the words '{words}' is drawn from it")
            shutil.copy(found[0], folder / "figures" / f"{name}.svg")


def differences():
    """What is not as this version draws it."""
    with tempfile.TemporaryDirectory() as folder:
        draw(folder)
        for part in PARTS:
            drawn, kept = pathlib.Path(folder, part), RESULTS / "h200" / part
            for name in sorted({path.name for path in [*drawn.iterdir(), *kept.iterdir()]}):
                if not (drawn / name).is_file():
                    yield f"docs/results/h200/{part}/{name}: no rows make this file"
                elif not (kept / name).is_file() or not filecmp.cmp(drawn / name, kept / name, shallow=False):
                    yield f"docs/results/h200/{part}/{name}: not what this version draws from its rows; `scripts/result-pages` draws it anew"
