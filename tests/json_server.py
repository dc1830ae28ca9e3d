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
            server_reply = answer(self, json.loads(body))
            if server_reply is None:
                self.close_connection = True
                return
            status, reply, *reply_headers = server_reply
            reply_bytes = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
            self.send(
                status, reply_bytes, {"Content-Type": "application/json"} | dict(*reply_headers)
            )

    with serve_requests(JsonHandler) as address:
        yield address


def chat_reply(said: object, **more: object) -> dict[str, Any]:
    """What a chat server replies when its model says this."""
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"choices": [choice], **more}


def model_reply(request_body: Any, answer_of: Callable[[str], str], lead: str = "") -> Reply:
    """What an OpenAI-compatible server replies to a chat, or to one or several completions.

    `answer_of` makes the answer to a prompt; `lead` stands before it in a completion, as a blank
    does in what models continue.
    """
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    response_head: dict[str, Any] = {"id": "x", "created": 0, "model": "m", "usage": usage}
    if "messages" in request_body:
        chat_text = answer_of(request_body["messages"][-1]["content"])
        return 200, chat_reply(chat_text, **response_head, object="chat.completion")
    prompts = request_body["prompt"]
    choices = [
        {"index": choice_index, "text": f"{lead}{answer_of(prompt)}", "finish_reason": "stop"}
        for choice_index, prompt in enumerate(prompts if isinstance(prompts, list) else [prompts])
    ]
    return 200, response_head | {"choices": choices}
