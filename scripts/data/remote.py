#!/usr/bin/env python3
"""Bytes and requests per question that is asked of a tree behind a URL.

    python3 scripts/data/remote.py make ball.raw [N R]              a scan of N^3 (1024) u8: noise in a ball of radius R (310), 0 around it
    python3 scripts/data/remote.py ORTHANT TREE.. > rows.jsonl      a row for each question and tree, from a server of this machine
    python3 scripts/data/remote.py ORTHANT --troubled TREE ZARR     the same of a large tree, from a server that delays, drops and cuts off
                                                                    answers; and what zarr-python fetches of the dense array for the same boxes
    python3 scripts/data/remote.py --table rows.jsonl               the table of the page of results, of either kind of rows
"""

import datetime
import http.server
import json
import os
import random
import re
import subprocess
import sys
import threading
import time

QUESTIONS = (
    "info TREE",
    "sample TREE --at 512,512,512",
    "sample TREE --at 3,3,3",
    "box TREE 500:564,500:564,500:564 -o -",
    "slice TREE --axis z=512 -o -",
    "slice TREE --axis z=250 -o -",
    "stats TREE",
)


def make(path, n=1024, r=310):
    """Noise within a ball: six bits per cell in a small one, eight in a large one, which is made faster."""
    noise = random.Random(1)
    large = n > 1024
    with open(path, "wb") as out:
        out.truncate(n**3)
        for z in range(n):
            for y in range(n):
                half = int(max(0, r**2 - (y - n // 2) ** 2 - (z - n // 2) ** 2) ** 0.5)
                if half:
                    out.seek((z * n + y) * n + n // 2 - half)
                    cells = noise.randbytes(2 * half)
                    out.write(cells if large else bytes(byte & 63 | 64 for byte in cells))


class Ranges(http.server.BaseHTTPRequestHandler):
    """A server of files with range requests. It counts what it sends."""

    protocol_version = "HTTP/1.1"
    sent = requests = 0
    # Of a troubled server: seconds before each answer, and of so many answers one is dropped, and one is cut off in the midst.
    delay, every = 0, 0
    lock = threading.Lock()

    def counted(self, sent):
        with self.lock:
            Ranges.sent += sent
            Ranges.requests += 1
            return Ranges.requests

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = "." + self.path
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        total = os.path.getsize(path)
        # zarr-python asks for whole files, for pieces, and for what follows a byte.
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "bytes=0-"))
        if asked[1]:
            first, last = int(asked[1]), min(int(asked[2] or total), total - 1)
        else:
            first, last = max(0, total - int(asked[2])), total - 1
        time.sleep(self.delay)
        number = self.counted(last - first + 1)
        if self.every and number % self.every == 0:
            self.close_connection = True
            return
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Range", f"bytes {first}-{last}/{total}")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", f'"{os.stat(path).st_mtime_ns}"')
        self.end_headers()
        with open(path, "rb") as file:
            file.seek(first)
            cut = self.every and number % self.every == self.every // 2
            left = (last - first + 1) // (2 if cut else 1)
            while left > 0:
                left -= self.wfile.write(file.read(min(left, 1 << 20)))
        self.close_connection = bool(cut)

    def do_HEAD(self):
        found = os.path.isfile("." + self.path)
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(os.path.getsize("." + self.path)) if found else "0")
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()


def size(path):
    """Bytes of a file, or of all files in a folder."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sum(map(os.path.getsize, files)) if files else os.path.getsize(path)


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def troubled(orthant, tree, dense):
    """Questions of a large tree, and the same boxes of the dense array by zarr-python, from a server in trouble."""
    import numpy
    import zarr

    Ranges.delay, Ranges.every = 0.02, 25
    url = serve()
    n = zarr.open_array(f"{dense}/value", mode="r").shape[0]
    c, r = n // 2, n * 31 // 80
    boxes = {
        "a cell": (c, c + 1) * 3,
        "64^3 in the ball": (c - 12, c + 52) * 3,
        "64^3 outside": (3, 67) * 3,
        "64^3 on its border": (c - r // 2, c - r // 2 + 64, c - r // 2, c - r // 2 + 64, c - int(r * 0.70711) - 32, c - int(r * 0.70711) + 32),
        "512^3 in the ball": (c - 100, c + 412) * 3,
        "a slice": (0, n, 0, n, c, c + 1),
    }
    for name, box in boxes.items():
        text = ",".join(f"{box[2 * j]}:{box[2 * j + 1]}" for j in range(3))
        row = {"question": name, "tree_bytes": size(tree), "dense_bytes": size(dense), "delay_s": Ranges.delay, "one_in": Ranges.every}
        expected = zarr.open_array(f"{dense}/value", mode="r")[tuple(slice(box[2 * j], box[2 * j + 1]) for j in (2, 1, 0))].tobytes()
        row["tree"] = "zip" if tree.endswith(".zip") else "folder"
        for reader in ("orthant", "zarr"):
            Ranges.sent = Ranges.requests = 0
            begun = time.monotonic()
            if reader == "orthant":
                command = [orthant, "-v", "tree", "box", f"{url}/{tree}", text, "-o", "-"]
                cells = subprocess.run(command, capture_output=True, check=True).stdout
                # A .npy file; its cells are behind the header.
                cells = cells[-numpy.prod([box[2 * j + 1] - box[2 * j] for j in range(3)]) :]
            else:
                cells, tries = None, 0
                while cells is None:
                    tries += 1
                    try:
                        array = zarr.open_array(f"{url}/{dense}/value", mode="r")
                        cells = array[tuple(slice(box[2 * j], box[2 * j + 1]) for j in (2, 1, 0))].tobytes()
                    except Exception:
                        # It has no retries of its own: the caller's whole question is asked again.
                        if tries == 20:
                            break
                row["zarr_tries"] = tries
            row |= {f"{reader}_bytes": Ranges.sent, f"{reader}_requests": Ranges.requests, f"{reader}_s": round(time.monotonic() - begun, 2)}
            row[f"{reader}_cells"] = "not read" if cells is None else "equal" if cells == expected else "WRONG"
        row["date"] = datetime.date.today().isoformat()
        print(json.dumps(row), flush=True)


def measure(orthant, trees):
    url_of = serve()
    for tree in trees:
        for question in QUESTIONS:
            url = f"{url_of}/{tree}"
            answers = []
            for place in (tree, url):
                command = [orthant, "-v", "tree", *question.replace("TREE", place).split()]
                done = subprocess.run(command, capture_output=True, check=True)
                answers.append(done.stdout)
            found = re.search(rb"fetched (\d+) bytes in (\d+) requests", done.stderr)
            row = {
                "question": question,
                "tree": "zip" if tree.endswith(".zip") else "folder",
                "tree_bytes": size(tree),
                "bytes": int(found[1]),
                "requests": int(found[2]),
                "same_as_file": answers[0] == answers[1],
                "date": datetime.date.today().isoformat(),
            }
            print(json.dumps(row), flush=True)


def troubled_table(rows):
    print("| box | zip: bytes | requests | s | folder: bytes | requests | s | zarr-python: bytes | requests | tries | s | its cells |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for question in dict.fromkeys(row["question"] for row in rows):
        of_kind = {row["tree"]: row for row in rows if row["question"] == question}
        cells = [question]
        for kind, keys in (("zip", "orthant"), ("folder", "orthant"), ("zip", "zarr")):
            for key in ("bytes", "requests", *(["tries"] if keys == "zarr" else []), "s"):
                cells.append(f"{of_kind[kind][f'{keys}_{key}']:,}".replace(",", " "))
        print(f"| {' | '.join([*cells, of_kind['zip']['zarr_cells']])} |")


def table(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    if "zarr_bytes" in rows[0]:
        return troubled_table(rows)
    print("| `orthant tree ..` | zip: bytes | of the tree | requests | folder: bytes | of the tree | requests |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for question in dict.fromkeys(row["question"] for row in rows):
        cells = [f"`{question}`"]
        for kind in ("zip", "folder"):
            row = next(row for row in rows if (row["question"], row["tree"]) == (question, kind))
            share = row["bytes"] / row["tree_bytes"] * 100
            cells += [f"{row['bytes']:,}".replace(",", " "), f"{share:.2f} %" if share < 10 else f"{share:.0f} %", str(row["requests"])]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], *map(int, sys.argv[3:]))
    elif sys.argv[1] == "--table":
        table(sys.argv[2])
    elif sys.argv[2] == "--troubled":
        troubled(sys.argv[1], *sys.argv[3:])
    else:
        measure(sys.argv[1], sys.argv[2:])
