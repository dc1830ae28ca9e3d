"""Recording answers: prompts go out as one file, and answers come back as JSON lines.

A round writes `requests.jsonl`, in the form of the vendors' batch files, with all prompts that have
no answer yet. Whoever answers them (a batch of a vendor, another model, people) puts files of
answers beside it, one JSON line an answer: `{"id": "…", "text": "…"}`, or a line of the vendor's
results. The next round takes these into the recording. With a folder of texts the prompts can be
read: one file an article, which stands there once, and after it what is asked about it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, SkipValidation

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath, fresh_folder
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.steps import NOT_IN_KEY
from factdrift.builders.core.text_files import BrokenEntry, json_entries
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.openai_servers import parse_completion
from factdrift.builders.generate.protocol import WAITING, OnResult, Result, Shape
from factdrift.builders.generate.recorded import (
    Recorded,
    RecordedBackend,
    Recording,
    prompt_id,
    prompt_name,
    prompt_version,
)

REQUESTS = "requests.jsonl"


class AnswersMissingError(UserError):
    """Prompts wait for their answers."""


@dataclass
class AnswerFiles:
    """The answers that lie in a folder, by the id of their prompt.

    `unknown` are ids that no request of the folder has: they answer something else.
    """

    answers: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def read_answers(folder: Path) -> AnswerFiles:
    """Read all files of answers in a folder; `UserError` for a line that is no answer.

    Ids are compared with those of the requests in the folder, whose answers they are.
    """
    requested = set(_request_ids(folder / REQUESTS))
    found_files = AnswerFiles()
    places: dict[str, tuple[Path, int]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        if path.name == REQUESTS:
            continue
        for line_number, answer_id, answer_text in _answers_of(path):
            earlier_text = found_files.answers.get(answer_id, answer_text)
            if earlier_text != answer_text:
                first_path, first_line = places[answer_id]
                error_text = f"{answer_id} is answered again, otherwise than in {first_path.name}"
                hint_text = f"leave one of the two: here, or line {first_line} of {first_path.name}"
                raise UserError(
                    error_text, where=display_path(path), line=line_number, hint=hint_text
                )
            if answer_id not in requested and answer_id not in found_files.answers:
                found_files.unknown.append(answer_id)
            found_files.answers[answer_id] = answer_text
            places[answer_id] = (path, line_number)
    return found_files


def _request_ids(path: Path) -> Iterator[str]:
    if path.is_file():
        for entry in json_entries(path, json.loads):
            if not isinstance(entry, BrokenEntry):
                yield str(entry.value["custom_id"])


def _answers_of(path: Path) -> Iterator[tuple[int, str, str]]:
    """The line, id and text of each answer in a file."""
    hint_text = 'an answer is {"id": "…", "text": "…"}, or a line of a batch\'s results'
    for entry in json_entries(path, json.loads):
        if isinstance(entry, BrokenEntry):
            text = f"{entry.reason}: {entry.detail}" if entry.detail else entry.reason
            raise UserError(text, where=display_path(path), line=entry.line, hint=hint_text)
        answer = _answer(entry.value)
        if answer is None:
            raise UserError("no answer", where=display_path(path), line=entry.line, hint=hint_text)
        yield entry.line, *answer


def _answer(value: Any) -> tuple[str, str] | None:
    """The id and text of a line: of our own form, or of the results of a vendor's batch."""
    if not isinstance(value, dict):
        return None
    answer_id, answer_text = value.get("id"), value.get("text")
    if "custom_id" in value:
        response = value.get("response")
        body = response.get("body") if isinstance(response, dict) else None
        completion = parse_completion(body)
        answer_id, answer_text = value["custom_id"], completion.text if completion else None
    # JSON that was not put as text
    if not isinstance(answer_text, str) and answer_text is not None:
        answer_text = json.dumps(answer_text, ensure_ascii=False)
    if isinstance(answer_id, str) and answer_text and answer_text.strip():
        return answer_id, answer_text
    return None


@dataclass
class RecordingDesk:
    """What one round of recording asks for and uses, of all models that share a recording.

    Requests go into a file as they come, so that many need no memory.
    """

    folder: Path
    recording: Recording
    requests: dict[str, None] = field(default_factory=dict)
    """Ids of the prompts without an answer, in their order."""
    used: set[str] = field(default_factory=set)
    """Ids of the prompts that were answered from the recording."""
    answer_count: int = 0
    """Answers that were given, each as often as it was asked for."""
    useless: Counter[str] = field(default_factory=Counter)
    """Recorded answers that the run cannot use, by reason."""
    useless_ids: list[str] = field(default_factory=list)

    def request(self, name: str, call: Mapping[str, Any]) -> None:
        """Write a call into the file of requests, once."""
        if name in self.requests:
            return
        path = self.folder / REQUESTS
        self.folder.mkdir(parents=True, exist_ok=True)
        with path.open("a" if self.requests else "w", encoding="utf-8") as file:
            file.write(json.dumps(call, ensure_ascii=False) + "\n")
        self.requests[name] = None

    def close(self) -> None:
        """Leave no requests of an earlier round where this one had none."""
        if not self.requests:
            (self.folder / REQUESTS).unlink(missing_ok=True)


class RecordingModel(Recorded):
    """A recorded model while its answers are recorded: prompts without an answer are requests."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    recordings: Annotated[RecipePath, NOT_IN_KEY]
    desk: Annotated[SkipValidation[RecordingDesk], NOT_IN_KEY]
    state: str
    """A hash of the answers so far: with others, the steps are made anew."""

    def check(self, *, offline: bool = False) -> None:
        """Check the prompt file alone: the answers are still to come."""
        p.load_prompts(self.prompts)

    def open(self, seed: int) -> "RecordingBackend":
        """Return the model that asks for what is not recorded."""
        return RecordingBackend(self, seed)


def while_recording(settings: Recorded, desk: RecordingDesk) -> RecordingModel:
    """Return the settings under which a recorded model asks for its answers at a desk."""
    values = {field_name: getattr(settings, field_name) for field_name in Recorded.model_fields}
    state = digest([desk.recording.model, sorted(desk.recording.answers.items())])
    return RecordingModel.model_construct(**values, desk=desk, state=state)


class RecordingBackend(RecordedBackend):
    """Gives the answers that are recorded, and hands the other prompts to its desk."""

    def __init__(self, settings: RecordingModel, seed: int) -> None:
        super().__init__(settings)
        self.desk, self.seed = settings.desk, seed
        self.desk.recording.prompts[prompt_name(settings)] = prompt_version(self.prompts)

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """Return the recorded answers; a prompt without one becomes a request and waits."""
        results: list[Result] = []
        for index, prompt_text in enumerate(texts):
            result = self._result(prompt_text, shape, parse)
            results.append(result)
            if on_result:
                on_result(index, result)
        return results

    def _result(self, prompt_text: str, shape: Shape | None, parse: p.ParseText | None) -> Result:
        prompt_key = prompt_id(prompt_text)
        answer_text = self.desk.recording.answers.get(prompt_key)
        if answer_text is None:
            body = self.settings.body(prompt_text, self.seed, shape)
            call = {"method": "POST", "url": "/v1/chat/completions", "body": body}
            self.desk.request(prompt_key, {"custom_id": prompt_key} | call)
            return Result(None, WAITING)
        if prompt_key not in self.desk.used and parse is not None:
            reason = parse(answer_text).reason
            if reason is not None:
                self.desk.useless[reason] += 1
                self.desk.useless_ids.append(prompt_key)
        self.desk.used.add(prompt_key)
        self.desk.answer_count += 1
        return Result(answer_text)

    def finish(self) -> None:
        """Raise `AnswersMissingError` where prompts wait for an answer."""
        if self.desk.requests:
            raise AnswersMissingError(f"{len(self.desk.requests):,} prompts wait for their answers")


# --- Prompts as texts -----------------------------------------------------------------------------

_SHORT = 200
"""Characters of a part up to which it is repeated: an article is longer, a question is not."""
_ABOVE = "[the article above]"


def write_texts(requests_path: Path, folder: Path) -> int:
    """Write the prompts of a file of requests as texts, one file an article; return their number.

    What all prompts of one form begin with, the instruction and the examples, goes into a file of
    its own, `instructions-….txt`. In the file of an article each prompt stands with its id and what
    is left of it; the text of the article stands in the first one alone.
    """
    fresh_folder(folder)
    common_heads: dict[str, str] = {}
    prompt_counts: Counter[str] = Counter()
    for _, form, prompt_text in _requests(requests_path):
        common_heads[form] = _common_start(common_heads.get(form, prompt_text), prompt_text)
        prompt_counts[form] += 1
    for form, common_text in common_heads.items():
        # one prompt alone has no part that others share
        common_length = common_text.rfind("\n\n") + 1 if prompt_counts[form] > 1 else 0
        common_heads[form] = common_text[:common_length]
        if common_length:
            _append(folder / f"instructions-{form}.txt", common_heads[form])
    file_numbers: dict[str, int] = {}
    for prompt_key, form, prompt_text in _requests(requests_path):
        own_text = prompt_text.removeprefix(common_heads[form]).strip()
        article_text = _longest_part(own_text)
        article_key = digest(article_text) if len(article_text) > _SHORT else prompt_key
        if article_key in file_numbers:
            own_text = own_text.replace(article_text, _ABOVE)
        file_number = file_numbers.setdefault(article_key, len(file_numbers) + 1)
        instruction_text = f", instructions-{form}.txt" if common_heads[form] else ""
        prompt_title = f"=== id {prompt_key}{instruction_text} ==="
        _append(folder / f"{file_number:04}.txt", f"{prompt_title}\n{own_text}\n\n")
    return len(file_numbers)


def _longest_part(prompt_text: str) -> str:
    """The article in a prompt: its longest part, or a line that is most of that part."""
    part = max(prompt_text.split("\n\n"), key=len)
    line = max(part.splitlines() or [""], key=len)
    return line if 2 * len(line) > len(part) else part


def _requests(path: Path) -> Iterator[tuple[str, str, str]]:
    """The id, the form and the prompt of each request."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            call = json.loads(line)
            body = call["body"]
            schema = body.get("response_format", {}).get("json_schema", {})
            prompt_text = body["messages"][0]["content"] if "messages" in body else body["prompt"]
            yield call["custom_id"], schema.get("name", "text"), prompt_text


def _common_start(text: str, other_text: str) -> str:
    for place, (character, other_character) in enumerate(zip(text, other_text, strict=False)):
        if character != other_character:
            return text[:place]
    return min(text, other_text, key=len)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
