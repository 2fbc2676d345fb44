"""Trees behind URLs and in stores of obstore and fsspec: what is read of them, and what is not believed."""

import http.server
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pyorthant as ot
from pyorthant import _core

#: A box across shards and chunks of the tree.
BOX = np.s_[300:420, 700:900]


@pytest.fixture(scope="module")
def cells():
    """Noise, so that a zip has more than what is read as a whole, around a uniform half."""
    found = np.random.default_rng(0).integers(0, 1 << 16, (1000, 1500)).astype("u2")
    found[500:] = 7
    return found


@pytest.fixture(scope="module")
def folder(cells, tmp_path_factory):
    """A tree as a folder and as a zip."""
    folder = tmp_path_factory.mktemp("store")
    tree = ot.tree(cells)
    for name in NAMES:
        tree.save(folder / name)
    return folder


NAMES = ["x.tree.zarr", "x.tree.zarr.zip"]


def files(folder):
    """The files of a folder by their names."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check(tree, cells):
    assert (tree.shape, tree.dtype) == (cells.shape, cells.dtype)
    assert np.array_equal(tree[BOX], cells[BOX])
    points = np.array([[0, 0], [999, 1499], [-1, 3]])
    assert np.array_equal(tree[points], cells[tuple(points.T)])
    assert np.array_equal(np.asarray(tree), cells)


class Server:
    """Serves a folder with ranges, by a rule that may change what is answered."""

    def __init__(self, folder):
        self.folder, self.bytes, self.requests = folder, 0, 0
        self.rule = lambda path, start, body: None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # A body would wait for the head to be acknowledged.
            disable_nagle_algorithm = True

            def do_GET(self, head=False):
                outer.requests += 1
                path = outer.folder / self.path.split("?")[0].lstrip("/")
                if not path.is_file():
                    self.send_error(404)
                    return
                whole, asked = path.read_bytes(), re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
                start, end = (int(asked[1]), min(int(asked[2]) + 1, len(whole))) if asked else (0, len(whole))
                answer = {"status": 206 if asked else 200, "etag": '"one"', "body": whole[start:end]}
                answer.update(outer.rule(path.name, start, answer["body"]) or {})
                if answer["status"] >= 400:
                    self.send_error(answer["status"])
                    return
                self.send_response(answer["status"])
                self.send_header("Content-Length", str(len(answer["body"])))
                self.send_header("Accept-Ranges", "bytes")
                if asked:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(whole)}")
                self.send_header("ETag", answer["etag"])
                self.end_headers()
                if not head:
                    outer.bytes += len(answer["body"])
                    self.wfile.write(answer["body"])

            def do_HEAD(self):
                self.do_GET(head=True)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_port}/{name}"


@pytest.fixture
def server(folder, monkeypatch):
    # A proxy would be asked for this machine.
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    server = Server(folder)
    yield server
    server.server.shutdown()
    server.server.server_close()


def fsspec_memory(folder):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name, content in files(folder).items():
        system.pipe_file(f"/b/{name}", content)
    return system


@pytest.mark.parametrize("name", NAMES)
def test_a_url_is_read_by_ranges(server, cells, folder, name):
    check(ot.open(server.url(name) + "?signature=secret"), cells)
    server.bytes = 0
    tree = ot.open(server.url(name) + "?signature=secret")
    assert tree.path == server.url(name) and "secret" not in repr(tree)
    assert np.array_equal(tree[3:9, 4:9], cells[3:9, 4:9])
    if name.endswith("zip"):
        assert server.bytes < (folder / name).stat().st_size / 2
    check(pickle.loads(pickle.dumps(tree)), cells)
    assert np.array_equal(tree.lod(1)[:], ot.open(folder / name).lod(1)[:])
    assert tree.checksum == ot.open(folder / name).checksum


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_lies_is_an_error(server, name):
    def wrong(rule, error, words):
        server.rule = lambda path, start, body: None
        url = server.url(name)
        tree = ot.open(url)
        server.rule = rule
        with pytest.raises(error, match=words):
            tree[BOX]

    wrong(lambda path, start, body: {"status": 403}, PermissionError, "presigned")
    wrong(lambda path, start, body: {"body": body[:-1]}, OSError, "bytes")
    wrong(lambda path, start, body: {"body": body[::-1]}, (OSError, ValueError), None)
    if name.endswith("zip"):
        wrong(lambda path, start, body: {"etag": '"two"'}, OSError, "changed while it was read")
    with pytest.raises(FileNotFoundError):
        server.rule = lambda path, start, body: None
        ot.open(server.url("y" + name))


@pytest.mark.parametrize("name", NAMES)
def test_fsspec(folder, cells, name):
    system = fsspec_memory(folder)
    check(ot.open(f"memory://b/{name}"), cells)
    check(ot.open(f"memory://b/{name}", storage_options={}), cells)
    tree = ot.open(f"b/{name}", store=system)
    check(tree, cells)
    check(pickle.loads(pickle.dumps(tree)), cells)
    check(ot.open(str(folder / name), store=pytest.importorskip("fsspec").filesystem("file")), cells)
    with pytest.raises(FileNotFoundError):
        ot.open(f"memory://c/{name}")


@pytest.mark.parametrize("name", NAMES)
def test_fsspec_over_http(server, cells, name):
    pytest.importorskip("aiohttp")
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("http")
    check(ot.open(server.url(name), storage_options={}), cells)
    check_refused = ot.open(server.url(name), storage_options={})
    server.rule = lambda path, start, body: {"status": 403}
    with pytest.raises((PermissionError, OSError)):
        check_refused[BOX]
    with pytest.raises(PermissionError):
        ot.open(server.url(name), storage_options={})
    server.rule = lambda path, start, body: None
    with pytest.raises(ValueError, match="the path is one in the store"):
        ot.open(server.url(name), store=system)


@pytest.mark.parametrize("name", NAMES)
def test_obstore(folder, cells, name):
    store = pytest.importorskip("obstore.store")
    memory = store.MemoryStore()
    for path, content in files(folder).items():
        memory.put(f"b/{path}", content)
    check(ot.open(f"b/{name}", store=memory), cells)
    local = store.LocalStore(folder)
    check(ot.open(name, store=local), cells)
    if not name.endswith("zip"):
        check(ot.open("", store=store.LocalStore(folder / name)), cells)
    with pytest.raises(FileNotFoundError):
        ot.open(f"c/{name}", store=memory)


def test_a_change_is_seen(folder, cells):
    system = fsspec_memory(folder)
    other = ot.tree(cells ^ np.uint16(1))
    other.save(folder / "other.tree.zarr.zip", overwrite=True)
    content = (folder / "other.tree.zarr.zip").read_bytes()
    tree = ot.open("b/x.tree.zarr.zip", store=system)
    assert np.array_equal(tree[:9, :9], cells[:9, :9])
    system.pipe_file("/b/x.tree.zarr.zip", content)
    with pytest.raises(OSError, match="changed while it was read"):
        tree[BOX]
    assert np.array_equal(ot.open("b/x.tree.zarr.zip", store=system)[BOX], cells[BOX] ^ 1)
    store = pytest.importorskip("obstore.store")
    memory = store.MemoryStore()
    memory.put("x.tree.zarr.zip", (folder / "x.tree.zarr.zip").read_bytes())
    tree = ot.open("x.tree.zarr.zip", store=memory)
    assert np.array_equal(tree[:9, :9], cells[:9, :9])
    memory.put("x.tree.zarr.zip", content)
    with pytest.raises(OSError, match="changed while it was read"):
        tree[BOX]


def test_what_a_store_says_is_checked(folder):
    """Wrong lengths, no marks, and exceptions, of a file system that is none of fsspec's."""

    class System:
        wrong = None

        def unstrip_protocol(self, path):
            return f"mine://user:secret@host/{path}?secret"

        def invalidate_cache(self, path=None):
            pass

        def info(self, path):
            return {"size": os.path.getsize(folder / path), "ETag": "a"}

        def cat_file(self, path, start, end):
            if isinstance(self.wrong, BaseException):
                raise self.wrong
            found = (folder / path).read_bytes()[start:end]
            return found if self.wrong is None else self.wrong(found)

    for name in NAMES:
        for wrong, error, words in [
            (lambda found: found[:-1], OSError, "the store was asked for"),
            (lambda found: found + b"x", OSError, "the store was asked for"),
            (lambda found: 5, OSError, None),
            (lambda found: None, OSError, None),
            (PermissionError("no key"), PermissionError, "no key"),
            (TimeoutError("slow"), TimeoutError, "slow"),
            (RuntimeError("own words"), OSError, "own words"),
            (MemoryError("much"), MemoryError, "much"),
        ]:
            system = System()
            tree = ot.open(name, store=system)
            assert "secret" not in tree.path
            system.wrong = wrong
            with pytest.raises(error, match=words) as raised:
                tree[BOX]
            if isinstance(wrong, BaseException):
                assert raised.value.__cause__ is wrong
            assert "secret" not in str(raised.value)
            system.wrong = None
            assert tree[BOX].shape == (120, 200)
    System.info = lambda self, path: {"size": os.path.getsize(folder / path)}
    with pytest.raises(OSError, match="neither an ETag nor a time"):
        ot.open(NAMES[1], store=System())
    for store in (5, "memory", np):
        with pytest.raises(TypeError, match="store must be"):
            ot.open(NAMES[0], store=store)
    with pytest.raises(TypeError, match="storage_options"):
        ot.open(NAMES[0], store=System(), storage_options={})


def test_unknown_schemes_are_refused():
    pytest.importorskip("fsspec")
    with pytest.raises(ValueError, match="Protocol not known"):
        ot.open("nothing://x.tree.zarr")
    with pytest.raises(ValueError, match="host"):
        ot.open("http://")


def test_threads_ask_one_tree(server, cells):
    tree = ot.open(server.url(NAMES[0]))
    wrong = []

    def ask(seed):
        for _ in range(5):
            y, x = np.random.default_rng(seed).integers(0, 900, 2)
            if not np.array_equal(tree[y : y + 50, x : x + 50], cells[y : y + 50, x : x + 50]):
                wrong.append((y, x))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_xarray(server, cells):
    xarray = pytest.importorskip("xarray")
    image = xarray.open_dataset(server.url(NAMES[1]), engine="orthant").image
    assert np.array_equal(image[BOX], cells[BOX])
    assert "orthant" in str(xarray.backends.plugins.guess_engine(server.url(NAMES[1]) + "?key=a"))
    pytest.importorskip("aiohttp")
    image = xarray.open_dataset(server.url(NAMES[0]), engine="orthant", storage_options={}).image
    assert np.array_equal(image[BOX], cells[BOX])


SILENT = """
import signal, sys, threading, time, os
import pyorthant as ot
# Whoever starts the tests in the background may have it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
class System:
    silent = False
    def unstrip_protocol(self, path): return path
    def invalidate_cache(self, path=None): pass
    def info(self, path): return {"size": os.path.getsize(path), "ETag": "a"}
    def cat_file(self, path, start, end):
        if self.silent:
            asked.set()
            time.sleep(1000)
        return open(path, "rb").read()[start:end]
def interrupt():
    asked.wait()
    time.sleep(0.2)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
asked = threading.Event()
threading.Thread(target=interrupt).start()
system = System()
tree = ot.open(sys.argv[1], store=system)
system.silent = True
try:
    tree[:]
except KeyboardInterrupt:
    print(time.time(), flush=True)
    system.silent = False
    tree[:]
    print("again", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_a_silent_store(folder):
    done = subprocess.run([sys.executable, "-c", SILENT, folder / NAMES[1]], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split()
    assert lines[-1] == "again" and float(lines[-2]) - float(lines[0]) < 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_a_silent_server(server, folder):
    silent = threading.Event()

    def rule(path, start, body):
        if silent.is_set():
            time.sleep(30)

    server.rule = rule
    text = (
        "import signal, sys, pyorthant as ot; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "t = ot.open(sys.argv[1]); print('open', flush=True); sys.stdin.readline(); t[:]"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", text, server.url(NAMES[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "open\n"
    silent.set()
    run.stdin.write("\n")
    run.stdin.flush()
    time.sleep(0.5)
    start = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=20)
    assert time.monotonic() - start < 5
    assert "KeyboardInterrupt" in error, error


@pytest.fixture(scope="module")
def bucket(folder):
    """A bucket of moto's with the trees: its address."""
    if "ORTHANT_REQUIRE_MOTO" not in os.environ:
        pytest.importorskip("moto.server", reason="no moto: pip install 'moto[s3]' flask flask-cors")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    url = f"http://{host}:{port}"
    s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret")
    s3.create_bucket(Bucket="bucket")
    for name, content in files(folder).items():
        s3.put_object(Bucket="bucket", Key=name, Body=content)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**keys, "AWS_ENDPOINT_URL": url}.items():
            patch.setenv(name, value)
        yield url
    server.stop()


@pytest.mark.parametrize("name", NAMES)
def test_s3(bucket, cells, name):
    store = pytest.importorskip("obstore.store")
    options = {"endpoint": bucket, "region": "us-east-1", "access_key_id": "key", "secret_access_key": "secret"}
    check(ot.open(name, store=store.S3Store("bucket", client_options={"allow_http": True}, **options)), cells)
    if _core.CLOUD:
        check(ot.open(f"s3://bucket/{name}"), cells)
        with pytest.raises(FileNotFoundError):
            ot.open(f"s3://bucket/y{name}")


@pytest.mark.parametrize("name", NAMES)
def test_s3_by_fsspec(bucket, cells, name):
    pytest.importorskip("s3fs")
    options = {"key": "key", "secret": "secret", "endpoint_url": bucket}
    check(ot.open(f"s3://bucket/{name}", storage_options=options), cells)
