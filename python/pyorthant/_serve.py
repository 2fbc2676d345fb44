"""A store over HTTP on this computer, for viewers in a browser, which read no files."""

from __future__ import annotations

import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Other web pages may read what is served. They do not know this part of the address.
_SECRET = 16


class Server:
    """Serves a store while it is open. `url` is its address; `close` or the end of a ``with`` block ends it."""

    def __init__(self, store, port=0):
        if not 0 <= port < 65536:
            raise ValueError(f"port {port!r}: a number from 0 to 65535 is needed; 0 takes one that is free")
        secret = f"/{secrets.token_urlsafe(_SECRET)}/"

        class Handler(_Handler):
            root, served = secret, store

        # Its backlog is short for a viewer that asks for many chunks at once.
        server = type("Listener", (ThreadingHTTPServer,), {"daemon_threads": True, "request_queue_size": 128})
        self._server = server(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}{secret}"
        threading.Thread(target=self._server.serve_forever, name="orthant-serve", daemon=True).start()

    def close(self):
        """Ends it, and frees the port."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"Server of {self._server.RequestHandlerClass.served!r} at {self.url}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: str
    served: object

    def do_GET(self):
        """Answers with the bytes of a name."""
        self._answer(True)

    def do_HEAD(self):
        """Answers with the length alone."""
        self._answer(False)

    def do_OPTIONS(self):
        """Allows pages of other addresses to ask."""
        self._head(204, 0)

    def _answer(self, whole):
        path = self.path.partition("?")[0]
        found = self.served.get_sync(path[len(self.root) :]) if path.startswith(self.root) else None
        content = b"" if found is None else found.to_bytes()
        self._head(200 if found is not None else 404, len(content))
        if whole:
            self.wfile.write(content)

    def _head(self, status, length):
        self.send_response(status)
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS"}
        headers |= {"Access-Control-Allow-Headers": "*", "Access-Control-Allow-Private-Network": "true"}
        headers |= {"Content-Type": "application/octet-stream", "Content-Length": str(length)}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format, *arguments):
        """Says nothing: stderr is the caller's."""
