"""A local server that answers every POST of JSON as a function says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, object] | tuple[int, object, Mapping[str, str]] | None
"""Status, body (texts go as they are) and headers; None: the connection is closed."""


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler, Any], Reply]) -> Iterator[str]:
    """The address of a server on a free port of this machine."""

    class JsonHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_POST(self) -> None:
            said = answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if said is None:
                self.close_connection = True
                return
            status, body, *more = said
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
            self.send_response(status)
            for name, value in (headers | dict(*more)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), JsonHandler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def chat(said: object, **more: object) -> dict[str, Any]:
    """What a chat server replies when its model says this."""
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"choices": [choice], **more}
