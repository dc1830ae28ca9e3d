"""A local web server of files, with ranges, and what can go wrong with it."""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


@dataclass
class Files:
    """Files by path, what goes wrong at the next requests of each, and what was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    """A status; `cut`: half of what is left; `whole`: ranges are not known; `bare`: no ETag;
    `other`: another range; `more`: bytes too many; `drip`: a byte now and then, until the caller
    goes; `ok`: nothing."""
    asked: list[str] = field(default_factory=list)
    sent: int = 0


def _handler(served: Files) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # they have seen enough
                super().handle()

        def do_GET(self) -> None:
            path, asked = unquote(urlsplit(self.path).path), self.headers.get("Range", "")
            served.asked.append(f"{self.command} {path} {asked}".strip())
            faults = served.faults.get(path)
            fault = faults.pop(0) if faults else ""
            data, headers = served.files.get(path), {}
            status = fault if isinstance(fault, int) else 200 if data is not None else 404
            if data is None or isinstance(fault, int):
                data, headers = b"", {"Retry-After": "0"}
            elif fault != "bare":
                tag = hashlib.md5(data, usedforsecurity=False).hexdigest()
                headers = {"ETag": f'"{tag}"'}
            found = re.fullmatch(r"bytes=(\d+)-", asked)
            if found and fault != "whole" and status == 200:
                first, status = int(found[1]), 206
                other = first + (fault == "other")
                headers["Content-Range"] = f"bytes {other}-{len(data) - 1}/{len(data)}"
                data = data[first:]
            self._send(status, data, headers, str(fault))

        def _send(self, status: int, data: bytes, headers: dict[str, str], fault: str) -> None:
            self.send_response(status)
            if fault != "more":
                self.send_header("Content-Length", str(len(data)))
            for name, text in headers.items():
                self.send_header(name, text)
            self.end_headers()
            for byte in data if fault == "drip" else b"":
                self.wfile.write(bytes([byte]))
                time.sleep(0.02)
            shown = data[: len(data) // 2] if fault == "cut" else data + b"!" * (fault == "more")
            self.wfile.write(shown)
            served.sent += len(data)
            self.close_connection = fault in ("cut", "more")

    return Handler


@contextmanager
def listening(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a free port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def serving() -> Iterator[Files]:
    """A server on this machine, and what it has."""
    served = Files()
    with listening(_handler(served)) as served.url:
        yield served
