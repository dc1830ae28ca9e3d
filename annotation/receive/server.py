"""HTTP around a desk: the page, its HIT, submissions, and its health; Starlette and uvicorn.

All addresses on the page are relative, so it works below any path of a proxy. No id of a worker
is in an address that the page asks for, nor in what the server says.
"""

import asyncio
import signal
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from factdrift.annotation.order import ServingOrder
from factdrift.annotation.receive.desk import Desk, Reply, SearchPassages, open_desk, refusal
from factdrift.annotation.submission import LONGEST, decode_json
from factdrift.builders.core.errors import UserError
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

_SECONDS_TO_SEND = 60.0
# Addresses whose requests are counted at a time.
_ADDRESSES = 10_000
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@dataclass
class Rates:
    """Requests that each address has left: `rate` a second (0: any number), twenty times as many
    at once. The address that asked longest ago is forgotten."""

    rate: float
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, address: str) -> bool:
        now, burst = self.now(), 20 * self.rate
        requests_left, asked_at = self._left.pop(address, (burst, now))
        requests_left = min(burst, requests_left + (now - asked_at) * self.rate)
        self._left[address] = max(requests_left - 1, 0.0), now
        if len(self._left) > _ADDRESSES:
            self._left.popitem(last=False)
        return requests_left >= 1 or not self.rate


def application(desk: Desk, order: ServingOrder) -> Starlette:
    """The desk as an ASGI application, at `/` and, where given, below the path `base`, too."""
    rates = Rates(order.rate)

    async def page(request: Request) -> Response:
        return HTMLResponse(desk.page, headers={"X-Frame-Options": "DENY", **_HEADERS})

    async def health(request: Request) -> Response:
        return JSONResponse(desk.health(), headers=_HEADERS)

    async def reply_to(
        request: Request, act: Callable[[Any], Reply], parse: Callable[[str], Any], *, slow: bool
    ) -> Reply:
        if not rates.allows(request.client.host if request.client else ""):
            return refusal(429, "Too many requests: wait a moment.")
        try:
            body = await asyncio.wait_for(_body(request), _SECONDS_TO_SEND)
            if body is None:
                return refusal(413, f"More than {LONGEST:,} bytes.")
            request_value = parse(body.decode("utf-8"))
        except TimeoutError:
            return refusal(408, "It took too long to arrive.")
        except ValueError:
            return refusal(400, "not a JSON object in UTF-8")
        try:
            return await asyncio.to_thread(act, request_value) if slow else act(request_value)
        except OSError:
            return refusal(503, "It cannot be written at the moment.")

    def posted(
        path: str,
        act: Callable[[Any], Reply],
        parse: Callable[[str], Any] = _json_object,
        *,
        slow: bool = False,
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            status, value = await reply_to(request, act, parse, slow=slow)
            return JSONResponse(dict(value), status, headers=_HEADERS)

        return Route(path, endpoint, methods=["POST"])

    routes = [
        Route("/", page),
        Route("/task.html", page),
        Route("/health", health),
        posted("/hit", desk.give),
        posted("/leave", desk.leave),
        posted("/search", desk.search, slow=True),
        posted("/submissions", desk.take, str),
    ]
    middleware = [Middleware(GZipMiddleware, minimum_size=2000)]
    return Starlette(routes=[Mount(order.path, routes=routes), *routes], middleware=middleware)


async def _body(request: Request) -> bytes | None:
    """The body of a request; None where it is too long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LONGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def _json_object(text: str) -> dict[str, Any]:
    value = decode_json(text)
    if not isinstance(value, dict):
        raise ValueError
    return value


def serve(order: ServingOrder, find: SearchPassages | None, say: Callable[[str], None]) -> None:
    """Serve a batch until it is stopped; with `find`, let workers search a corpus."""
    host = order.host
    with open_desk(order, find=find) as desk:
        try:
            listening = socket.create_server((host, order.port), backlog=1024)
        except OSError as error:
            raise UserError(f"cannot listen on {host}:{order.port}: {error.strerror}") from None
        if desk.submissions.cut:
            text = "bytes of a line that was never acknowledged were cut off"
            say(f"{desk.submissions.path}: {desk.submissions.cut:,} {text}")
        counts = desk.pool.counts()
        say(
            f"serving http://{host}:{listening.getsockname()[1]}{order.path} "
            f"({counts['received']:,} of {counts['wanted']:,} received); "
            f"progress: {order.path}health"
        )
        config = uvicorn.Config(
            application(desk, order),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=order.proxy,
            timeout_graceful_shutdown=30,
            lifespan="off",
        )
        # uvicorn sends the signal that ended it on: either is a polite end here
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        progress_bar = progress(counts["wanted"], "submissions", "received")
        with suppress(KeyboardInterrupt), progress_bar as bar:
            bar.advance(counts["received"])
            desk.arrived = bar.advance
            uvicorn.Server(config).run(sockets=[listening])
        say(f"stopped; {desk.pool.counts()['received']:,} received: {desk.submissions.path}")
