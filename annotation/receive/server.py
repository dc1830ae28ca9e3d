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
from urllib.parse import urlsplit

from factdrift.annotation.order import ServingOrder
from factdrift.annotation.receive.desk import Desk, Reply, SearchPassages, open_desk, refusal
from factdrift.annotation.receive.invitations import Invitation
from factdrift.annotation.submission import decode_json
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import install_extra
from factdrift.builders.core.limits import LONGEST_ROW
from factdrift.builders.core.progress import progress

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.datastructures import Headers
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Mount, Route

    from factdrift.annotation.receive.connections import BACKLOG, LimitedConnection
except ImportError:
    raise UserError(
        "factdrift receive needs Starlette and uvicorn", hint=install_extra("serve")
    ) from None

_SECONDS_TO_SEND = 60.0
# The bytes of requests that are held at once, over all connections; it bounds the memory.
_MOST_HELD = 16 * LONGEST_ROW
# The number of addresses whose requests are counted at the same time; it bounds the memory.
_ADDRESSES = 10_000
LINK_HEADER = "X-Factdrift-Link"
"""The header in which a page says by which address it was opened; `task.js` sends it."""
NOT_INVITED = (
    "This address is not one that was given out. Please open the link that you were given, "
    "as it is."
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@dataclass
class Rates:
    """Limits the requests of each link or address to `rate` a second (0: no limit).

    Up to twenty times as many may come at once. When too many are known, the one whose last
    request is the oldest is forgotten.
    """

    rate: float
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, client_address: str) -> bool:
        current_time, most_requests = self.now(), 20 * self.rate
        requests_left, asked_at = self._left.pop(client_address, (most_requests, current_time))
        requests_left = min(most_requests, requests_left + (current_time - asked_at) * self.rate)
        self._left[client_address] = max(requests_left - 1, 0.0), current_time
        if len(self._left) > _ADDRESSES:
            self._left.popitem(last=False)
        return requests_left >= 1 or not self.rate


class TooMuchError(Exception):
    """The bodies of all requests together are too long to be held."""


@dataclass
class Bodies:
    """Reads the bodies of requests, and holds no more than `most` bytes of them at once."""

    most: int = _MOST_HELD
    held: int = 0

    async def read(self, request: Request) -> bytes | None:
        """The body of a request; None where it is too long. `TooMuchError`: all together are."""
        body = bytearray()
        try:
            async for body_part in request.stream():
                if len(body) + len(body_part) > LONGEST_ROW:
                    return None
                if self.held + len(body_part) > self.most:
                    raise TooMuchError
                self.held += len(body_part)
                body += body_part
            return bytes(body)
        finally:
            self.held -= len(body)


def application(desk: Desk, order: ServingOrder) -> Starlette:
    """Return the desk as an ASGI application, at `/` and also below the path `order.base`."""
    rates, bodies = Rates(order.rate), Bodies()

    async def page(request: Request) -> Response:
        return HTMLResponse(desk.page, headers={"X-Frame-Options": "DENY", **_HEADERS})

    async def health(request: Request) -> Response:
        return JSONResponse(desk.health(), headers=_HEADERS)

    async def invitation_of(request: Request) -> Invitation | None:
        link_text = request.headers.get(LINK_HEADER, "")
        if order.secured:  # it may have to fetch a key
            return await asyncio.to_thread(desk.invitations.read, link_text)
        return desk.invitations.read(link_text)

    async def reply_to(
        request: Request,
        answer_request: Callable[[Any, Invitation], Reply],
        parse_body: Callable[[str], Any],
        *,
        in_thread: bool,
    ) -> Reply:
        """The reply to a post. Nothing is read of one by a stranger or from a foreign page."""
        if is_foreign(request.headers):
            return refusal(403, "Only pages of this server may send something here.")
        invitation = await invitation_of(request)
        if invitation is None:
            return refusal(403, NOT_INVITED)
        # who has a link of their own is not kept waiting by others of the same address
        own_name = invitation.slot or (invitation.visit and " ".join(invitation.visit))
        if not rates.allows(own_name or (request.client.host if request.client else "")):
            return refusal(429, "Too many requests: wait a moment.")
        try:
            request_body = await asyncio.wait_for(bodies.read(request), _SECONDS_TO_SEND)
            if request_body is None:
                return refusal(413, f"More than {LONGEST_ROW:,} bytes.")
            request_value = parse_body(request_body.decode("utf-8"))
        except TimeoutError:
            return refusal(408, "It took too long to arrive.")
        except ClientDisconnect:
            return refusal(400, "It broke off.")  # nobody is there to read it
        except TooMuchError:
            return refusal(503, "Too much at once: wait a moment.")
        except ValueError:
            return refusal(400, "not a JSON object in UTF-8")
        try:
            return (
                await asyncio.to_thread(answer_request, request_value, invitation)
                if in_thread
                else answer_request(request_value, invitation)
            )
        except OSError:
            return refusal(503, "It cannot be written at the moment.")
        except UserError:  # the register of people was damaged, or its salt is gone
            return refusal(503, "It cannot be looked up at the moment.")

    def posted(
        route_path: str,
        answer_request: Callable[[Any, Invitation], Reply],
        parse_body: Callable[[str], Any] = _json_object,
        *,
        in_thread: bool = False,
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            http_status, reply_value = await reply_to(
                request, answer_request, parse_body, in_thread=in_thread
            )
            return JSONResponse(dict(reply_value), http_status, headers=_HEADERS)

        return Route(route_path, endpoint, methods=["POST"])

    desk_routes = [
        Route("/", page),
        Route("/task.html", page),
        Route("/health", health),
        posted("/hit", desk.give),
        posted("/leave", desk.leave),
        posted("/search", desk.search, in_thread=True),
        posted("/submissions", desk.take, str),
    ]
    middleware = [Middleware(GZipMiddleware, minimum_size=2000)]
    return Starlette(
        routes=[Mount(order.path, routes=desk_routes), *desk_routes], middleware=middleware
    )


def is_foreign(headers: Headers) -> bool:
    """Whether a browser says that a request was made by a page of another server.

    `Sec-Fetch-Site` is the browser's own and right behind any proxy; browsers before 2023 send
    `Origin` alone, which is compared with the host. What is no browser sends neither.
    """
    fetch_site = headers.get("sec-fetch-site")
    if fetch_site is not None:
        return fetch_site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _json_object(json_text: str) -> dict[str, Any]:
    value = decode_json(json_text)
    if not isinstance(value, dict):
        raise ValueError
    return value


def serve(
    order: ServingOrder, find_passages: SearchPassages | None, say: Callable[[str], None]
) -> None:
    """Serve a batch until it is stopped; with `find_passages`, let workers search a corpus."""
    host_name = order.host
    with open_desk(order, find=find_passages) as desk:
        try:
            server_socket = socket.create_server((host_name, order.port), backlog=BACKLOG)
        except OSError as error:
            raise UserError(
                f"cannot listen on {host_name}:{order.port}: {error.strerror}"
            ) from None
        if desk.submissions.cut:
            cut_text = "bytes of a line that was never acknowledged were cut off"
            say(f"{desk.submissions.path}: {desk.submissions.cut:,} {cut_text}")
        pool_counts = desk.pool.counts()
        say(
            f"serving http://{host_name}:{server_socket.getsockname()[1]}{order.path} "
            f"({pool_counts['received']:,} of {pool_counts['wanted']:,} received); "
            f"progress: {order.path}health"
        )
        server_config = uvicorn.Config(
            application(desk, order),
            http=LimitedConnection,
            ws="none",
            backlog=BACKLOG,
            access_log=False,
            log_config=None,  # it is said as all else is: `escape_reports`
            log_level="error",  # a warning for each request that is none would fill a disk
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=order.proxy,
            timeout_graceful_shutdown=30,
            lifespan="off",
        )
        # uvicorn sends the signal that ended it on: either is a polite end here
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if order.unsigned:
            say("serving unsigned: whoever has the address may work, under any id that they give")
        progress_bar = progress(pool_counts["wanted"], "submissions", "received")
        with suppress(KeyboardInterrupt), progress_bar as submission_bar:
            submission_bar.advance(pool_counts["received"])
            desk.arrived = submission_bar.advance
            uvicorn.Server(server_config).run(sockets=[server_socket])
        say(f"stopped; {desk.pool.counts()['received']:,} received: {desk.submissions.path}")
