"""HTTP around a desk: the page, its HIT, submissions, and a health page; Starlette and uvicorn.

All addresses on the page are relative, so it works below any path of a proxy. No id of a worker
is in an address that the page asks for, nor in what the server says.
"""

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from factdrift.annotation.batch import load_manifest
from factdrift.annotation.page import web_address
from factdrift.annotation.receive.desk import Desk, DeskReply, opened
from factdrift.annotation.submission import decode
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hints import install_extra
from factdrift.builders.core.progress import progress

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Mount, Route
except ImportError:
    raise UserError(
        "factdrift receive needs Starlette and uvicorn", hint=install_extra("serve")
    ) from None

Endpoint = Callable[[Request], Awaitable[Response]]
PROLIFIC_END = "https://app.prolific.com/submissions/complete?cc={code}"
_SECONDS_TO_SEND = 60.0
_ADDRESSES = 10_000
"""Addresses whose requests are counted at a time."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@dataclass(frozen=True)
class Limits:
    """What one visitor may ask: requests a second from an address (0: any number, `burst` at
    once), and bytes of a request."""

    rate: float = 20.0
    burst: float = 400.0
    bytes: int = 4 << 20


@dataclass
class Rates:
    """Requests that each address has left; the address that asked longest ago is forgotten."""

    limits: Limits
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, address: str) -> bool:
        if not self.limits.rate:
            return True
        now = self.now()
        left, at = self._left.pop(address, (self.limits.burst, now))
        left = min(self.limits.burst, left + (now - at) * self.limits.rate)
        self._left[address] = max(left - 1, 0.0), now
        if len(self._left) > _ADDRESSES:
            self._left.popitem(last=False)
        return left >= 1


def application(desk: Desk, *, base: str = "", limits: Limits | None = None) -> Starlette:
    """The desk as an ASGI application, at `/` and, where given, below the path `base`, too."""
    limits = limits or Limits()
    rates = Rates(limits)
    health_page = resource("annotation/receive/health.html").read_text("utf-8")

    async def page(request: Request) -> Response:
        return HTMLResponse(desk.page, headers={"X-Frame-Options": "DENY", **_HEADERS})

    async def health(request: Request) -> Response:
        found = desk.health()
        if "text/html" not in request.headers.get("accept", ""):
            return JSONResponse(found, headers=_HEADERS)
        rows = "".join(
            f"<tr><th>{name.replace('_', ' ')}</th><td>{value}</td></tr>"
            for name, value in found.items()
        )
        done, wanted = found["useful"], max(found["wanted"], 1)
        text = health_page.replace("ROWS", rows).replace("SHARE", f"{done / wanted:.1%}")
        return HTMLResponse(text, headers=_HEADERS)

    def posted(act: Callable[[bytes], Awaitable[DeskReply]]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            if not rates.allows(request.client.host if request.client else ""):
                return _json(DeskReply(429, {"says": "Too many requests: wait a moment."}))
            try:
                body = await asyncio.wait_for(_body(request, limits.bytes), _SECONDS_TO_SEND)
            except TimeoutError:
                return _json(DeskReply(408, {"says": "It took too long to arrive."}))
            if body is None:
                return _json(DeskReply(413, {"says": f"More than {limits.bytes:,} bytes."}))
            try:
                return _json(await act(body))
            except OSError:
                return _json(DeskReply(503, {"says": "It cannot be written at the moment."}))

        return endpoint

    def asked(act: Callable[[Mapping[str, Any]], Awaitable[DeskReply]]) -> Endpoint:
        async def with_json(body: bytes) -> DeskReply:
            try:
                value = decode(body.decode("utf-8"))
            except ValueError:
                value = None
            if not isinstance(value, dict):
                return DeskReply(400, {"says": "not a JSON object"})
            return await act(value)

        return posted(with_json)

    routes = [
        Route("/", page),
        Route("/task.html", page),
        Route("/health", health),
        Route("/hit", asked(desk.give), methods=["POST"]),
        Route("/leave", asked(desk.leave), methods=["POST"]),
        Route("/search", asked(desk.search), methods=["POST"]),
        Route("/submissions", posted(desk.take), methods=["POST"]),
    ]
    base = base.strip("/")
    below = [Mount(f"/{base}", routes=routes)] if base else []
    return Starlette(
        routes=[*below, *routes], middleware=[Middleware(GZipMiddleware, minimum_size=2000)]
    )


async def _body(request: Request, most: int) -> bytes | None:
    """The body of a request; None where it is too long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            return None
        parts.append(part)
    return b"".join(parts)


def _json(reply: DeskReply) -> Response:
    return JSONResponse(dict(reply.value), reply.status, headers=_HEADERS)


def completion(batch: Path, code: str | None, complete: str | None) -> dict[str, str]:
    """What is told at the end: the code, and the link, which for Prolific follows from the code."""
    if code and not complete and load_manifest(batch).platform == "prolific":
        complete = PROLIFIC_END.format(code=quote(code, safe=""))
    return {"code": code or "", "complete": web_address(complete) or ""}


def serve(
    batch: Path,
    out: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    base: str = "",
    proxy: str = "127.0.0.1",
    minutes: float | None = None,
    ending: Mapping[str, str] = {},
    limits: Limits | None = None,
    find: Callable[[str], list[dict[str, str]]] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Serve a batch until it is stopped; with `find`, let workers search a corpus.

    `proxy`: addresses whose X-Forwarded headers are believed, with commas; `*` for all.
    """
    with opened(batch, out, minutes=minutes, ending=ending, find=find) as desk:
        try:
            listening = socket.create_server((host, port), backlog=1024)
        except OSError as error:
            raise UserError(f"cannot listen on {host}:{port}: {error.strerror}") from None
        if desk.submissions.cut:
            text = "bytes of a line that was never acknowledged were cut off"
            say(f"{desk.submissions.path}: {desk.submissions.cut:,} {text}")
        path = f"/{base.strip('/')}/" if base.strip("/") else "/"
        counts = desk.pool.counts()
        say(
            f"serving http://{host}:{listening.getsockname()[1]}{path} "
            f"({counts['received']:,} of {counts['wanted']:,} received); progress: {path}health"
        )
        config = uvicorn.Config(
            application(desk, base=base, limits=limits),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=proxy,
            timeout_graceful_shutdown=30,
            lifespan="off",
        )
        with progress(counts["wanted"], "submissions", "received") as bar:
            bar.advance(counts["received"])
            desk.arrived = bar.advance
            uvicorn.Server(config).run(sockets=[listening])
        say(f"stopped; {desk.pool.counts()['received']:,} received: {desk.submissions.path}")
