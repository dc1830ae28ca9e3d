"""Run a memory on a stream that `factdrift export --format stream` wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, writable
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.progress import say
from factdrift.builders.core.records import BadValueError, decode_record, numbered_lines
from factdrift.reasoning.as_of.memories import (
    MEMORIES,
    TOLD_FACTS,
    Event,
    Memory,
    can_forget,
)
from factdrift.reasoning.as_of.stream_events import send
from factdrift.scoring.export.stream import STATED, STREAM
from factdrift.scoring.kept_answers import KeptAnswers, kept_answers
from factdrift.scoring.option_values import MemoryName
from factdrift.scoring.predictions import write_predictions

_HINT = "factdrift export RELEASE --format stream writes it"
_EVENT_FIELDS = ("kind", "id", "day", "text")
_FACT_FIELDS = ("subject", "relation", "object", "since")
_KEY_FIELDS = ("subject", "relation", "as_of")


def answer_by_name(name: MemoryName, stream: Path, out: Path) -> int:
    """Send a stream through one of the bundled memories, as `answer_stream` does."""
    return answer_stream(MEMORIES[name](), stream, out, told=name in TOLD_FACTS)


def answer_stream(memory: Memory, stream: Path, out: Path, *, told: bool = False) -> int:
    """Send a stream through a memory and write its answers as predictions; return their number.

    `stream` is the folder of an export, or its `stream.jsonl`. If `told` is true, the memory also
    gets what `stated.jsonl` says of passages and questions. The stream is read line by line; what
    the memory holds is its own.

    Answers are kept as they come. After a run that broke off, the same call tells the memory all
    passages again, for it has a state, and asks only what has no answer yet. `UserError`: there is
    no stream, a line of it is none, or an answer is no text.
    """
    stream_file = stream / STREAM if stream.is_dir() else stream
    events = _events(stream_file)
    if told:
        events = _told(events, stream_file.with_name(STATED))
    writable(out.parent)
    memory_name = f"{type(memory).__module__}.{type(memory).__qualname__}"
    with kept_answers(out, _stream_sha256(stream_file), memory_name) as kept:
        _play(memory, events, kept)
        with disk_errors(out):
            return write_predictions(out, kept.rows())


def _stream_sha256(stream_file: Path) -> str:
    if not stream_file.is_file():
        raise UserError("no such file", where=display_path(stream_file), hint=_HINT)
    return file_sha256(stream_file)


def _play(memory: Memory, events: Iterator[Event], kept: KeptAnswers) -> None:
    """Send events to a memory, but no question that has a kept answer; keep the answers.

    Says how many answers were there already, and how many deletions the memory was not told.
    """
    deletion_count = taken_count = 0
    for event in events:
        deletion_count += event["kind"] == "deletion"
        if event["kind"] != "question":
            send(memory, event)
        elif kept.answer(event["id"]) is not None:
            taken_count += 1
        else:
            kept.keep(event["id"], _text_of_answer(send(memory, event), event["id"]))
    if taken_count:
        say(f"{taken_count:,} answers are of a run that broke off: they were not asked again")
    if deletion_count and not can_forget(memory):
        say(
            f"warning: {deletion_count:,} passages were taken back, and this memory was not told: "
            "it has no method `forget`"
        )


def _text_of_answer(answer: object, question_id: str) -> str:
    """Return an answer if it is a text that can be written; raise `UserError` if not."""
    if not isinstance(answer, str):
        raise UserError(
            f"question {question_id}: `answer` returned {answer!r}, which is no text",
            hint='return a name; to abstain, return "unknown"',
        )
    try:
        answer.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"question {question_id}: `answer` returned {answer!a}, which cannot be written",
            hint="its characters are not those of Unicode",
        ) from None
    return answer


def _events(stream_file: Path) -> Iterator[Event]:
    """Yield the lines of a stream; `UserError` for one that is no passage and no question."""
    for line_number, event in _records(stream_file):
        is_deletion = event.get("kind") == "deletion"
        wrong_field = _first_without_text(
            event, _EVENT_FIELDS[:3] if is_deletion else _EVENT_FIELDS
        )
        if wrong_field or event["kind"] not in ("passage", "question", "deletion"):
            raise UserError(
                f"no line of a stream: {wrong_field or 'kind'} is missing or wrong",
                where=display_path(stream_file),
                line=line_number,
                hint=_HINT,
            )
        yield event


def _told(events: Iterator[Event], stated_file: Path) -> Iterator[Event]:
    """Yield events with what the file beside the stream says of them; both are in one order."""
    records = _records(stated_file)
    line_number, record = next(records, (0, {}))
    for event in events:
        if event["kind"] == "deletion":
            yield event
            continue
        keys: dict[str, Any] = {"facts": []}
        if record.get("id") == event["id"]:
            keys |= record
            line_number, record = next(records, (line_number, {}))
        own_keys = [keys] if event["kind"] == "question" else keys["facts"]
        fields = _KEY_FIELDS if event["kind"] == "question" else _FACT_FIELDS
        wrong_fields = [_first_without_text(own_key, fields) for own_key in own_keys]
        if any(wrong_fields):
            raise UserError(
                f"nothing is told of {event['id']}: is it of another stream?",
                where=display_path(stated_file),
                hint=_HINT,
            )
        yield {**keys, **event}
    if record:
        raise UserError(
            f"it tells of {record.get('id')}, which the stream does not have there",
            where=display_path(stated_file),
            line=line_number,
            hint=_HINT,
        )


def _records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if not file.is_file():
        raise UserError("no such file", where=display_path(file), hint=_HINT)
    for line_number, line in numbered_lines(file, LONGEST_LINE, "export it again"):
        try:
            yield line_number, decode_record(line)
        except BadValueError as error:
            raise UserError(str(error), where=display_path(file), line=line_number) from None


def _first_without_text(record: Any, fields: tuple[str, ...]) -> str | None:
    """Return the first of some fields that a record has no text in, or None."""
    for name in fields:
        if not isinstance(record, dict) or not isinstance(record.get(name), str):
            return name
    return None
