"""A local server that answers every POST of JSON as a function says."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.file_server import QuietHandler, serve_requests

Reply = tuple[int, object] | tuple[int, object, Mapping[str, str]] | None
"""Status, body (texts go as they are) and headers; None: the connection is closed."""


@contextmanager
def serve_json(answer: Callable[[BaseHTTPRequestHandler, Any], Reply]) -> Iterator[str]:
    """The address of a server on a free port of this machine."""

    class JsonHandler(QuietHandler):
        def post(self, body: bytes) -> None:
            said = answer(self, json.loads(body))
            if said is None:
                self.close_connection = True
                return
            status, reply, *more = said
            data = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
            self.send(status, data, {"Content-Type": "application/json"} | dict(*more))

    with serve_requests(JsonHandler) as address:
        yield address


def chat_reply(said: object, **more: object) -> dict[str, Any]:
    """What a chat server replies when its model says this."""
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"choices": [choice], **more}
