"""Batch files of vendors: calls go out as JSON lines, and the results come back as a file.

The form is OpenAI's, which other vendors and `vllm run-batch` take too: a line of
`{"custom_id", "method", "url", "body"}`, answered by `{"custom_id", "response": {"body"}}`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.http import message_in
from factdrift.builders.core.steps import NOT_IN_KEY
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.openai_servers import Chat, Completion, parse_completion
from factdrift.builders.generate.protocol import WAITING, OnResult, Result, Shape, Usage

_URL = "/v1/chat/completions"
_COMPLETION = "/v1/completions"
_COUNTED = ("prompt", "completion")


class BatchChat(Chat):
    """A folder in which calls are written, and into which you put the files of results."""

    backend: Literal["batch"] = "batch"
    folder: Annotated[RecipePath, NOT_IN_KEY] = Field(
        description="for requests-*.jsonl and results, beside the recipe"
    )
    # the most that OpenAI takes in one file
    lines: int = Field(default=50_000, ge=1, description="most calls of a file")

    def open(self, seed: int) -> "BatchBackend":
        """Return the model; results in the folder are read at the first request."""
        return BatchBackend(self, seed)


class BatchBackend(p.PromptedModel):
    """Writes calls without an answer to files; a run ends there until the results have come.

    A call that a batch refused is a counted drop of the reason `server_refused`; a call that
    expired, or failed by the server's fault, is written again.
    """

    waits = True

    def __init__(self, settings: BatchChat, seed: int) -> None:
        self.settings, self.seed = settings, seed
        self.prompts = p.load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = f"batch:{settings.model}"
        self.identity = settings.identity(seed, backend="batch")
        self.usage = Usage()
        self._waiting: dict[str, None] = {}
        self._paths: list[Path] = []
        self._known: dict[str, Completion] | None = None

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """Return the result for each text; a text without one gets a call, and its result waits."""
        if self._known is None:
            batch_results = _results(self.settings.folder)
            self._known = {
                call_id: result for call_id, result in batch_results if result is not None
            }
        results: list[Result] = []
        for prompt_text in texts:
            call_body = self.settings.body(prompt_text, self.seed, shape)
            call_id = digest([self.identity, call_body])
            call_url = _COMPLETION if self.settings.completion else _URL
            completion = self._known.get(call_id)
            if completion:  # an answer that is cached never comes here, so each is counted once
                tokens = (completion.tokens.get(f"{token_kind}_tokens") for token_kind in _COUNTED)
                read, written = (int(count or 0) for count in tokens)
                self.usage.add(read=read, written=written)
            result = (
                completion.result(completion.text, whole=shape is not None) if completion else None
            )
            if result is None:
                self._write(
                    {"custom_id": call_id, "method": "POST", "url": call_url, "body": call_body}
                )
                result = Result(None, WAITING)
            if on_result:
                on_result(len(results), result)
            results.append(result)
        return results

    def _write(self, call: dict[str, Any]) -> None:
        """Write a call, once; the first one takes the place of all that an earlier run wrote."""
        if call["custom_id"] in self._waiting:
            return
        folder = self.settings.folder
        if not self._waiting:
            folder.mkdir(parents=True, exist_ok=True)
            for old_path in folder.glob("requests-*.jsonl"):
                old_path.unlink()
        if len(self._waiting) % self.settings.lines == 0:
            self._paths.append(folder / f"requests-{len(self._paths) + 1:03}.jsonl")
        self._waiting[call["custom_id"]] = None
        with self._paths[-1].open("a", encoding="utf-8") as file:
            file.write(json.dumps(call, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Raise a `UserError` with the files of the calls that wait."""
        if self._waiting:
            folder = display_path(self.settings.folder)
            path_list = ", ".join(display_path(path) for path in self._paths[:3])
            ellipsis = "…" * (len(self._paths) > 3)
            raise UserError(
                f"{len(self._waiting):,} calls wait for their results: {path_list}{ellipsis}",
                hint=f"send them as batches, put the results (*.jsonl) into {folder}, run again",
            )


def _results(folder: Path) -> Iterator[tuple[str, Completion | None]]:
    """The results that lie in a folder, by the name of their call."""
    for path in sorted(folder.glob("*.jsonl")):
        if path.name.startswith("requests-"):
            continue
        with path.open(encoding="utf-8-sig") as result_file:
            for line_number, line in enumerate(result_file, 1):
                if line.strip():
                    yield _result(line, path, line_number)


def _result(line: str, path: Path, line_number: int) -> tuple[str, Completion | None]:
    """Return the id of a call and its result, which is None if the call has to be sent again."""
    try:
        line_data: Any = json.loads(line)
        call_id = str(line_data["custom_id"])
    except (ValueError, KeyError, TypeError):
        hint_text = (
            "results of a batch are JSON lines with custom_id and response; is it cut short?"
        )
        raise UserError(
            "no result of a batch", where=path, line=line_number, hint=hint_text
        ) from None
    response = line_data.get("response") or {}
    answer_body = response.get("body") if isinstance(response, dict) else None
    completion = parse_completion(answer_body)
    if completion is None:
        # no status, too many calls, or the fault of the server: another batch may answer
        status_code = response.get("status_code") if isinstance(response, dict) else None
        if (
            status_code is None
            or status_code == 429
            or (isinstance(status_code, int) and status_code >= 500)
        ):
            return call_id, None
        message_text = message_in(json.dumps(answer_body or line_data).encode()) or str(
            line_data.get("error")
        )
        return call_id, Completion(message_text[:160], "server_refused", {})
    return call_id, completion
