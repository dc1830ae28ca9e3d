"""A local server of files: HTTP with ranges and pages of links, and as much of S3 as s3fs asks.

S3 is spoken below `/bucket/…`, as `ListObjectsV2`, `HeadObject` and `GetObject` are documented.
"""

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

DATE = "Mon, 02 Feb 2026 03:04:05 GMT"


@dataclass
class Files:
    """Files by path, what goes wrong at the next requests of each, and what was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    """A status; `cut`: half of what is left; `whole`: ranges are not known; `bare`: no ETag;
    `drip`: a byte now and then, until the caller goes."""
    asked: list[str] = field(default_factory=list)
    sent: int = 0

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")


def etag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def _handler(served: Files) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # they have seen enough
                super().handle()

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            path, query = unquote(parts.path), parse_qs(parts.query)
            asked = self.headers.get("Range", "")
            served.asked.append(f"{self.command} {path} {asked}".strip())
            fault = next(iter(served.faults.get(path, [])), None)
            if fault is not None and (fault not in ("cut", "drip") or self.command == "GET"):
                served.faults[path].pop(0)
            if isinstance(fault, int):
                return self._send(fault, b"", {"Retry-After": "0"})
            if "list-type" in query:
                return self._send(200, _listing(path, query, served), {})
            if path.endswith("/"):
                page = _page(path, served)
                return self._send(200, page, {"Content-Type": "text/html"}, str(fault))
            if path not in served.files:
                return self._send(404, b"no such file", {})
            data = served.files[path]
            headers = {"ETag": etag(data), "Last-Modified": DATE, "Accept-Ranges": "bytes"}
            if fault == "bare":
                headers = {}
            status, found = 200, re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
            if found and fault != "whole":
                first, last = int(found[1]), min(int(found[2] or len(data)), len(data) - 1)
                if first >= len(data):
                    return self._send(416, b"", {})
                status = 206
                headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
                data = data[first : last + 1]
            return self._send(status, data, headers, str(fault))

        def _send(self, status: int, data: bytes, headers: dict[str, str], fault: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            for name, text in headers.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command == "GET":
                if fault == "drip":
                    for byte in data:
                        self.wfile.write(bytes([byte]))
                        time.sleep(0.02)
                self.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
                served.sent += len(data)
            if fault == "cut":
                self.close_connection = True

    return Handler


def _page(path: str, served: Files) -> bytes:
    names = [name[len(path) :] for name in served.files if name.startswith(path)]
    links = [f'<a href="{quote(name)}">{escape(name)}</a>' for name in ("../", *names, "sub/")]
    return f"<html><body>{' '.join(links)}<a href='https://else.where/x.gz'>x</a></body>".encode()


def _listing(bucket: str, query: dict[str, list[str]], served: Files) -> bytes:
    root = f"/{bucket.strip('/')}/"
    prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
    keys, folders = [], set()
    for path, data in sorted(served.files.items()):
        key = path.removeprefix(root)
        if path.startswith(root) and key.startswith(prefix):
            inside, found, _ = (
                key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            )
            if found:
                folders.add(prefix + inside + delimiter)
            else:
                keys.append((key, data))
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-02-02T03:04:05.000Z</LastModified>"
        f"<ETag>{escape(etag(data))}</ETag><Size>{len(data)}</Size>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for key, data in keys
    )
    common = "".join(
        f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
        for one in sorted(folders)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{root.strip('/')}</Name><Prefix>{escape(prefix)}</Prefix>"
        f"<KeyCount>{len(keys) + len(folders)}</KeyCount><MaxKeys>1000</MaxKeys>"
        f"<IsTruncated>false</IsTruncated>{contents}{common}</ListBucketResult>"
    ).encode()


@contextmanager
def serving() -> Iterator[Files]:
    """A server on this machine, and what it has."""
    served = Files()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(served)) as server:
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield served
        server.shutdown()
        thread.join()
