"""A hub on this machine: the answers that loading one set asks for, or none at all."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

SET = "owner/books"
COMMIT = "5" * 40


class _Hub(ThreadingHTTPServer):
    """Serves the files of a folder as a set; what else is asked for is not there.

    Attributes:
        name: of the set.
        folder: holds the files of the set, README.md among them.
        refusal: status and code of every answer about the set, instead of its content; without a
            code it could be a gateway's.
    """

    name: str
    folder: Path
    refusal: tuple[int, str] | None
    asked: list[str]


class _Answers(BaseHTTPRequestHandler):
    server: _Hub

    def log_message(self, format, *args):
        """Keep quiet."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path, name = unquote(urlsplit(self.path).path), self.server.name
        about, files = f"/api/datasets/{name}", f"/datasets/{name}/resolve/"
        self.server.asked.append(path)
        if self.server.refusal is not None and name in path:
            status, code = self.server.refusal
            self._answer(status, b"{}", {"X-Error-Code": code} if code else {})
        elif path == "/api/datasets/old" or path == about or path.startswith(f"{about}/revision"):
            self._answer(200, json.dumps({"id": name, "sha": COMMIT}).encode())
        elif path.startswith(f"{about}/tree/"):
            self._list(path.removeprefix(f"{about}/tree/").partition("/")[2])
        elif path.startswith(files):
            self._send(path.removeprefix(files).partition("/")[2])
        else:
            self._answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _list(self, name):
        folder = self.server.folder
        entries = [
            {
                "type": "directory" if path.is_dir() else "file",
                "path": str(path.relative_to(folder)),
                "size": path.stat().st_size,
                "oid": "0" * 40,
            }
            for path in sorted((folder / name).iterdir())
        ]
        self._answer(200, json.dumps(entries).encode())

    def _send(self, name):
        path = self.server.folder / name
        headers = {"X-Repo-Commit": COMMIT}
        if not path.is_file():
            self._answer(404, b"", headers | {"X-Error-Code": "EntryNotFound"})
            return
        content = path.read_bytes()
        headers["ETag"] = f'"{hashlib.sha256(content).hexdigest()}"'
        if "Range" not in self.headers:
            self._answer(200, content, headers)
            return
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        part = content[int(first) : int(last or len(content)) + 1]
        end = int(first) + len(part) - 1
        headers["Content-Range"] = f"bytes {first}-{end}/{len(content)}"
        self._answer(206, part, headers)

    def _answer(self, status, content, headers=None):
        self.send_response(status)
        headers = {"Content-Type": "application/json"} | (headers or {})
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def fake_hub(
    folder: Path, *, name: str = SET, refusal: tuple[int, str] | None = None
) -> Iterator[_Hub]:
    """Serve a folder as a hub with one set, at `http://127.0.0.1:PORT`."""
    hub = _Hub(("127.0.0.1", 0), _Answers)
    hub.daemon_threads = True
    hub.name = name
    hub.folder, hub.refusal, hub.asked = folder, refusal, []
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
