"""Trees in object storage: what a store has to do for the library, which asks for ranges of objects.

Nothing that a store says is believed. All ranges of one object are of one state of it, by whatever tells states apart: an ETag, a
version, or a time. They are as long as they should be. Else reading fails, and no cell is wrong.
"""

from __future__ import annotations

import re
import threading

from . import _core
from ._extras import needed

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

#: Schemes that the program's client may read.
_OWN = ("http", "https", "s3")

#: What a file system of fsspec's may know of a file that another state of it does not have. Times may be those of a copy, so that they
#: count where nothing else is known.
_TAGS = "ETag etag e_tag md5Hash content_md5 Content-MD5 Digest generation VersionId version_id version".split()
_TIMES = "LastModified last_modified Last-Modified updated mtime modified created".split()


def scheme(path):
    """The scheme of a URL, or of one that goes through others, as ``simplecache::s3://..``; None of a path."""
    if not isinstance(path, str):
        return None
    found = _URL.match(path.rpartition("::")[2])
    return found and found[1].lower()


def is_tree(name):
    """Whether something is called as trees are."""
    name = name.split("?")[0] if scheme(name) else name
    return name.rstrip("/").lower().endswith((".tree.zarr", ".tree.zarr.zip"))


def reads_itself(path):
    """Whether the program's client reads a URL."""
    return scheme(path) in _OWN[: 3 if _core.CLOUD else 2] and "::" not in path


def shown(url):
    """A URL as it may be said: without a query, which may be a key to it, and without a user's name."""
    return re.sub(r"://[^/@]*@", "://", re.split(r"[?#]", url, maxsplit=1)[0])


def objects(path, store, options):
    """What reads the objects below a path of a store, and what errors call it."""
    if store is None:
        fsspec = needed("fsspec", "fsspec", f"ot.open({shown(path)!r})")
        try:
            system, path = fsspec.core.url_to_fs(path, **(options or {}))
        except ImportError as error:
            raise ModuleNotFoundError(f"{shown(path)}: {error}", name=error.name) from error
        return _FileSystem(system, path), shown(system.unstrip_protocol(path))
    if options is not None:
        raise TypeError("storage_options are those of a URL; leave them out where a store is given")
    if scheme(path):
        raise ValueError(f"{shown(path)}: with store=.. the path is one in the store, not a URL")
    if callable(getattr(store, "cat_file", None)) and callable(getattr(store, "info", None)):
        if getattr(store, "asynchronous", False):
            raise TypeError(f"{type(store).__name__} is made for asyncio (asynchronous=True); make one without that")
        return _FileSystem(store, path), shown(store.unstrip_protocol(path))
    if callable(getattr(store, "head", None)) and callable(getattr(store, "get_async", None)):
        return _Store(store, path), f"{type(store).__name__}:{path}"
    raise TypeError(
        f"store must be a store of obstore's or a file system of fsspec's, not {type(store).__name__}: "
        "obstore.store.S3Store('bucket'), or fsspec.filesystem('s3')"
    )


class _Objects:
    """Objects below a path."""

    def __init__(self, path):
        self._path = path.rstrip("/")
        self._states = {}
        self._lock = threading.Lock()

    def ask(self, asked, name, offset, length):
        """Has a thread answer. It does not keep the interpreter from ending, if a server never answers."""
        threading.Thread(target=self._answer, args=(asked, name, offset, length), name="orthant-request", daemon=True).start()

    def _answer(self, asked, name, offset, length):
        try:
            found = self._checked(name, offset, length)
            if found is None:
                asked.absent()
            else:
                asked.give(*found)
        except BaseException as error:
            asked.fail(error)

    def _checked(self, name, offset, length):
        found = self._read(name, offset, length)
        if found is None:
            return None
        total, data = found
        data = bytes(data)
        wanted = max(0, min(length, total - offset))
        if len(data) != wanted:
            raise ValueError(f"the store was asked for {wanted} bytes from {offset} on, and gives {len(data)}")
        return total, data

    def _name(self, name):
        return "/".join(part for part in (self._path, name) if part)

    def _same(self, name, total, marks):
        """Checks that an object is in the state in which it was first."""
        # A zip is one object, whose ranges no checksum ties to each other. Those of a folder are tied by checksums of shards.
        if not name and not any(marks.values()):
            raise ValueError("the store says neither an ETag nor a time, so that nobody would see a change; download the tree")
        now = {"size": total, **marks}
        with self._lock:
            first = self._states.setdefault(name, now)
        for key in first | now:
            before, after = first.get(key), now.get(key)
            if before != after:
                raise ValueError(f"changed while it was read: its {key} was {before}, and is {after}; open it again")


class _Store(_Objects):
    """A store of obstore's."""

    def __init__(self, store, path):
        super().__init__(path)
        self._store = store

    def _read(self, name, offset, length):
        path = self._name(name)
        first = self._states.get(name)
        options = {"range": (offset, offset + length)}
        # A weak tag matches nothing.
        if first and (first.get("ETag") or "").startswith('"'):
            options["if_match"] = first["ETag"]
        try:
            found = self._store.get(path, options=options)
        except FileNotFoundError:
            return None
        except Exception as error:
            return self._beyond(name, path, offset, error)
        meta = found.meta
        self._check(name, meta)
        start, end = found.range
        if start != offset or end != min(offset + length, meta["size"]):
            raise ValueError(f"the store was asked for bytes {offset} to {offset + length}, and gives {start} to {end}")
        return meta["size"], found.bytes()

    def _check(self, name, meta):
        tags = {"ETag": meta["e_tag"], "version": meta["version"]}
        self._same(name, meta["size"], tags if any(tags.values()) else {"time": meta["last_modified"]})

    def _beyond(self, name, path, offset, error):
        """A store refuses a range that begins where the object ends. Any other error is one."""
        kind = type(error).__name__
        words = str(error).partition("\n\nDebug source")[0]
        if kind in ("PermissionDeniedError", "UnauthenticatedError"):
            raise PermissionError(words) from error
        if kind == "PreconditionError":
            raise ValueError("changed while it was read; open it again") from error
        try:
            meta = self._store.head(path)
        except FileNotFoundError:
            return None
        except Exception:
            meta = None
        if meta is None or offset < meta["size"]:
            raise OSError(words) from error
        self._check(name, meta)
        return meta["size"], b""


class _FileSystem(_Objects):
    """A file system of fsspec's."""

    def __init__(self, system, path):
        super().__init__(path)
        self._system = system

    def _read(self, name, offset, length):
        path = self._name(name)
        first = self._states.get(name)
        if first is None and not self._look(name, path):
            return None
        total = self._states[name]["size"]
        end = min(offset + length, total)
        data = b"" if end <= offset else self._system.cat_file(path, start=offset, end=end)
        # What was read is of the state that was there before and is there now.
        if not name and not self._look(name, path):
            return None
        return total, data

    def _look(self, name, path):
        """Looks at the state of an object. False if there is none."""
        self._system.invalidate_cache(path)
        try:
            info = self._system.info(path)
        except FileNotFoundError as error:
            self._refused(error)
            return False
        if info.get("type") == "directory":
            return False
        total = info.get("size")
        if total is None:
            raise ValueError("the file system does not say how many bytes it has, and reads no ranges; download the tree")
        tags = {tag: info[tag] for tag in _TAGS if info.get(tag) is not None}
        self._same(name, total, tags or {time: info[time] for time in _TIMES if info.get(time) is not None})
        return True

    @staticmethod
    def _refused(error):
        """fsspec says that a file is not there, too, where a server of HTTP refuses it or is not reached."""
        cause = error.__cause__
        if cause is None or type(cause).__module__.partition(".")[0] != "aiohttp":
            return
        status = getattr(cause, "status", None)
        if status in (401, 403):
            raise PermissionError(f"the server does not give it ({status})") from cause
        if status not in (404, 410):
            raise ConnectionError(str(cause) or type(cause).__name__) from cause
