#!/usr/bin/env python3
"""Bytes and requests per question that is asked of a tree behind a URL.

    python3 scripts/data/remote.py make ball.raw                    a scan of 1024^3 u8: noise in a ball, 0 around it
    python3 scripts/data/remote.py ORTHANT TREE.. > rows.jsonl      a row for each question and tree, from a server of this machine
    python3 scripts/data/remote.py --table rows.jsonl               the table of the page of results
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
    """Six bits of noise per cell within a ball."""
    noise = random.Random(1)
    with open(path, "wb") as out:
        out.truncate(n**3)
        for z in range(n):
            for y in range(n):
                half = int(max(0, r**2 - (y - n // 2) ** 2 - (z - n // 2) ** 2) ** 0.5)
                if half:
                    out.seek((z * n + y) * n + n // 2 - half)
                    out.write(bytes(byte & 63 | 64 for byte in noise.randbytes(2 * half)))


class Ranges(http.server.BaseHTTPRequestHandler):
    """A server of files with range requests."""

    protocol_version = "HTTP/1.1"

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
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        last = min(last, total - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{total}")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", f'"{os.stat(path).st_mtime_ns}"')
        self.end_headers()
        with open(path, "rb") as file:
            file.seek(first)
            self.wfile.write(file.read(last - first + 1))


def size(path):
    """Bytes of a file, or of all files in a folder."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sum(map(os.path.getsize, files)) if files else os.path.getsize(path)


def measure(orthant, trees):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for tree in trees:
        for question in QUESTIONS:
            url = f"http://127.0.0.1:{server.server_port}/{tree}"
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


def table(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
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
        make(sys.argv[2])
    elif sys.argv[1] == "--table":
        table(sys.argv[2])
    else:
        measure(sys.argv[1], sys.argv[2:])
