"""Local web servers: one of files, with ranges, and what can go wrong with it."""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing, and that callers may leave in the middle of an answer."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def do_POST(self) -> None:
        self.post(self.rfile.read(int(self.headers["Content-Length"])))

    def post(self, body: bytes) -> None:
        """Answer a POST."""
        raise NotImplementedError

    def send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        """An answer; a header without a text is left out."""
        self.send_response(status)
        for name, text in ({"Content-Length": str(len(data))} | dict(headers)).items():
            if text:
                self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)


@dataclass
class ServedFiles:
    """Files by path, what goes wrong at the next requests of each, and what was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    """A status; `cut`: half of what is left; `whole`: ranges are not known; `bare`: no ETag;
    `other`: another range; `more`: bytes too many; `drip`: a byte now and then, until the caller
    goes; `ok`: nothing."""
    asked: list[str] = field(default_factory=list)


def _handler(served: ServedFiles) -> type[QuietHandler]:
    class FileHandler(QuietHandler):
        def do_GET(self) -> None:
            path, byte_range = unquote(urlsplit(self.path).path), self.headers.get("Range", "")
            served.asked.append(f"{self.command} {path} {byte_range}".strip())
            faults = served.faults.get(path)
            planned_fault = faults.pop(0) if faults else ""
            data, headers = served.files.get(path), {}
            status = (
                planned_fault
                if isinstance(planned_fault, int)
                else 200
                if data is not None
                else 404
            )
            if data is None or isinstance(planned_fault, int):
                data, headers = b"", {"Retry-After": "0"}
            elif planned_fault != "bare":
                tag = hashlib.md5(data, usedforsecurity=False).hexdigest()
                headers = {"ETag": f'"{tag}"'}
            range_match = re.fullmatch(r"bytes=(\d+)-", byte_range)
            if range_match and planned_fault != "whole" and status == 200:
                first_byte, status = int(range_match[1]), 206
                stated_first = first_byte + (planned_fault == "other")
                headers["Content-Range"] = f"bytes {stated_first}-{len(data) - 1}/{len(data)}"
                data = data[first_byte:]
            headers["Content-Length"] = "" if planned_fault == "more" else str(len(data))
            self.close_connection = planned_fault in ("cut", "more")
            if planned_fault == "drip":
                self.send(status, b"", headers)
                for byte in data:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.02)
            else:
                sent_bytes = data[: len(data) // 2] if planned_fault == "cut" else data
                self.send(status, sent_bytes + b"!" * (planned_fault == "more"), headers)

    return FileHandler


@contextmanager
def serve_requests(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a free port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http_server:
        thread = threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http_server.server_port}"
        http_server.shutdown()
        thread.join()


@contextmanager
def serve_files() -> Iterator[ServedFiles]:
    """A server on this machine, and what it has."""
    served = ServedFiles()
    with serve_requests(_handler(served)) as served.url:
        yield served
