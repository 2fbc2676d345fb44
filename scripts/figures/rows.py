"""Rows of measurements: files of JSON lines, and tables in text files. A row is never changed here.

A question is written as a row's own key is: `workload=julibrot n=128 strategy=exhaustive`. `B=2|4` takes either, `explore=` takes rows
that do not say it, and `cell!=u8` takes all others. What a case does not say is looked up in its report ("run"), then in its provenance.
"""

import functools
import json
import math
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"


class Wrong(Exception):
    """Something that a page, a row or a specification has and must not have, in words for a reader."""


def text_of(value):
    """A value as a question writes it: equal sides as one number, unequal ones joined by x."""
    if isinstance(value, list):
        sides = [text_of(side) for side in value]
        return sides[0] if sides and len(set(sides)) == 1 else "x".join(sides)
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Row:
    """One row of a file."""

    def __init__(self, place, found):
        self.place, self.found = place, found

    def say(self, key):
        """What the row says of a key: of its case, its report, itself; empty if nothing."""
        for part in (self.found.get("case"), self.found, self.found.get("run")):
            if isinstance(part, dict) and key in part and part[key] is not None and not isinstance(part[key], dict):
                return text_of(part[key])
        return ""

    def get(self, *keys):
        """A value of the row by its path."""
        value = self.found
        for key in keys:
            if not isinstance(value, (dict, list)) or (isinstance(value, dict) and key not in value):
                raise Wrong(f"{self.place}: the row has no {'.'.join(map(str, keys))}")
            value = value[key]
        return value

    @property
    def ms(self):
        """The median of its samples in milliseconds, computed again; it must be what the row says."""
        if self.found.get("error"):
            raise Wrong(f"{self.place}: the row is of a case that failed: {self.found['error']}")
        if "median ± standard error" in self.found:  # a table in a text file
            return number(self.found["median ± standard error"])
        samples = self.get("samples")
        if isinstance(samples, list):  # a report: the median is beside the samples
            seconds = self.found.get("device_seconds") or self.get("seconds")
            return seconds * 1e3
        measured = samples[samples["clock"]] if samples.get("clock") in samples else []
        if measured:
            median = statistics.median(measured)
            if abs(median - samples["median"]) > 1e-6 * abs(median):
                raise Wrong(f"{self.place}: the row has the median {samples['median']}, its samples have {median}")
        return samples["median"] * 1e3

    @property
    def error(self):
        """The standard error of the mean in per cent of the median."""
        return self.get("samples", "standard_error") / self.get("samples", "median") * 100

    @property
    def samples(self):
        """How many samples the median is of."""
        samples = self.get("samples")
        return len(samples if isinstance(samples, list) else samples[samples["clock"]])

    @property
    def scheme(self):
        """Its {g, r, B}."""
        return "{" + ", ".join(text_of(self.get("run", key)) for key in ("g", "r", "B")) + "}"


class Rows:
    """The rows of one or more files."""

    def __init__(self, rows, name):
        self.rows, self.name = rows, name

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)

    def __add__(self, other):
        return Rows(self.rows + other.rows, f"{self.name} and {other.name}")

    def all(self, question):
        """The rows that a question fits: at least one."""
        found = [row for row in self.rows if answers(row, question)]
        if not found:
            raise Wrong(f"{self.name}: no row fits '{question}'")
        return Rows(found, f"{self.name} where {question}")

    def one(self, question):
        """The row that a question fits: exactly one."""
        found = self.all(question)
        if len(found) != 1:
            raise Wrong(f"{self.name}: {len(found)} rows fit '{question}', and the figure is of one")
        return found.rows[0]

    def ms(self, question):
        """The milliseconds of the one row that a question fits."""
        return self.one(question).ms

    def where(self, **said):
        """The rows whose columns say this: for tables of text files, whose cells have spaces. `grb` is the column "g, r, B"."""
        said = {{"grb": "g, r, B"}.get(key, key.replace("_", " ")): str(value) for key, value in said.items()}
        found = [row for row in self.rows if all(row.found.get(key) == value for key, value in said.items())]
        if not found:
            raise Wrong(f"{self.name}: no row has {', '.join(f'{key} {value}' for key, value in said.items())}")
        return Rows(found, f"{self.name} where {said}")

    def fastest(self):
        """The fastest of these rows."""
        return min((row for row in self.rows if not row.found.get("error")), key=lambda row: row.ms)

    def best(self, question):
        """The fastest row that a question fits."""
        return self.all(question).fastest()


def answers(row, question):
    """Whether a row fits a question."""
    for part in question.split():
        key, sign, wanted = re.fullmatch(r"([\w.-]+)(!?=)(.*)", part).groups()
        if (row.say(key) in wanted.split("|")) != (sign == "="):
            return False
    return True


@functools.cache
def rows(*names):
    """The rows of files under docs/results: `.jsonl` by the line, tables of a text file by their header."""
    found = []
    for name in names:
        path = RESULTS / name
        if not path.is_file():
            raise Wrong(f"docs/results/{name}: there is no such file of rows")
        lines = path.read_text().splitlines()
        found += json_rows(name, lines) if name.endswith(".jsonl") else table_rows(name, lines)
    return Rows(found, " and ".join(names))


def json_rows(name, lines):
    return [Row(f"{name}:{at}", json.loads(line)) for at, line in enumerate(lines, 1) if line.strip()]


def table_rows(name, lines):
    """Rows of every Markdown table of a text; each has the columns of its header."""
    found, header = [], None
    for at, line in enumerate(lines, 1):
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = cells
        elif not set("".join(cells)) <= set("-: "):
            found.append(Row(f"{name}:{at}", dict(zip(header, cells))))
    return found


def fits(name):
    """What `model fit` printed: for (field, code) the rms, and for each variant (runs, median, worst, held out, median, worst)."""
    found, at = {}, None
    for line in (RESULTS / name).read_text().splitlines():
        if line.startswith(("cuda, ", "cpu, ")):
            parts = line.split(", ")
            at = parts[2], parts[6] if len(parts) > 6 else ""
            found[at] = {}
        elif " rms of ln" in line:
            found[at]["rms"], found[at]["runs"] = float(line.split()[-1]), int(line.split()[0])
        elif match := re.match(
            r" (ask \w+|dp \w+|exhaustive|all) +(\d+) +([\d.]+) % +([\d.]+) % +(\d+|-) +(?:([\d.]+) % +([\d.]+) %)?", line
        ):
            found[at][match[1]] = [float(one) if one and one != "-" else None for one in match.groups()[1:]]
        elif match := re.match(r"sbr or mbr: order predicted in (\d+) of (\d+) pairs, (\d+) of the (\d+)", line):
            found[at]["order"] = [int(one) for one in match.groups()]
    return found


def number(text):
    """The first number of a text: `0.071 ± 0.001 ms` is 0.071."""
    found = re.search(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)
    if not found:
        raise Wrong(f"'{text}' has no number")
    return float(found.group())


def table(script, name, option="--table"):
    """The table that a script of the repository prints of a file of rows."""
    done = subprocess.run([ROOT / "scripts" / script, option, RESULTS / name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"scripts/{script} {option} docs/results/{name}: {done.stderr.strip()}")
    return done.stdout


def slope(points):
    """The exponent of y over x by least squares over logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x0, y0 = statistics.mean(xs), statistics.mean(ys)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)
