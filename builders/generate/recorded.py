"""Recorded answers: what a model wrote after exactly the prompts of a recipe, kept in a file.

A machine without a model, key or network makes a release from them, as the samples do. The first
line of the file says whose answers these are; each further line holds one answer, by a hash of its
prompt. `factdrift record` makes the file (see `builders.generate.recording`).
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from factdrift.builders.core.compressed import pieces
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath, replacing
from factdrift.builders.core.hashing import digest
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.openai_servers import Chat
from factdrift.builders.generate.prompt_files import DEFAULT_PROMPTS, Prompts
from factdrift.builders.generate.protocol import OnResult, Result, Shape, Usage


def prompt_id(prompt_text: str) -> str:
    """Return the name of a prompt in recordings: a hash of its text, 16 hex digits."""
    return digest(prompt_text)


@dataclass
class Recording:
    """The answers in one file, with what its first line says about them.

    `day` is the day of the newest answer; `prompts` maps each prompt file to its version; `recipes`
    are the recipes that were recorded, by name; `answers` are texts by `prompt_id`.
    """

    model: str
    day: date
    prompts: dict[str, str] = field(default_factory=dict)
    recipes: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file of recorded answers; `UserError` where a line is none."""
        if not path.is_file():
            hint_text = "make it: factdrift record RECIPE"
            raise UserError(
                "there are no recorded answers", where=display_path(path), hint=hint_text
            )
        lines = b"".join(pieces(path)).splitlines() or [b""]
        header = _decode_line(lines[0], path, 1)
        try:
            recording = cls(
                model=str(header["model"]),
                day=date.fromisoformat(str(header["day"])),
                prompts=dict(header.get("prompts") or {}),
                recipes=list(header.get("recipes") or ()),
            )
        except (KeyError, TypeError, ValueError):
            hint_text = (
                'it begins with {"model": "…", "day": "2026-11-27"}; factdrift record writes it'
            )
            raise UserError("no head of a recording", where=path, line=1, hint=hint_text) from None
        for line_number, line in enumerate(lines[1:], 2):
            answer = _decode_line(line, path, line_number)
            answer_id, answer_text = answer.get("id"), answer.get("text")
            if not isinstance(answer_id, str) or not isinstance(answer_text, str):
                raise UserError("no answer with id and text", where=path, line=line_number)
            recording.answers[answer_id] = answer_text
        return recording

    def write(self, path: Path) -> None:
        """Write the file, whose bytes depend on what it says alone; `.gz` is compressed."""
        header = {
            "model": self.model,
            "day": self.day.isoformat(),
            "prompts": dict(sorted(self.prompts.items())),
            "recipes": sorted(self.recipes),
        }
        answers = [{"id": name, "text": text} for name, text in sorted(self.answers.items())]
        lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in (header, *answers)]
        file_bytes = "".join(lines).encode()
        if path.suffix == ".gz":
            file_bytes = gzip.compress(file_bytes, mtime=0)
        with replacing(path) as unfinished:
            unfinished.write_bytes(file_bytes)


def _decode_line(line: bytes, path: Path, line_number: int) -> Mapping[str, Any]:
    try:
        decoded = json.loads(line)
    except (ValueError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict):
        hint_text = "bring a whole copy of it, or record again: factdrift record RECIPE"
        raise UserError("no JSON object", where=path, line=line_number, hint=hint_text)
    return decoded


class Recorded(Chat):
    """A file of recorded answers takes the place of the model that gave them.

    Prompts are those that the model would get, so `prompts` and `characters` count as for it; the
    other settings of a call are for the requests that `factdrift record` writes.
    """

    cached: ClassVar[bool] = False

    backend: Literal["recorded"] = "recorded"
    recordings: RecipePath = Field(description="the file of answers, relative to the recipe")

    def check(self, *, offline: bool = False) -> None:
        """Check what every model checks, and that the answers are there and this model's."""
        super().check(offline=offline)
        self.read()

    def read(self) -> Recording:
        """Return the recording; `UserError` where it is another model's."""
        recording = Recording.read(self.recordings)
        if recording.model != self.model:
            hint_text = "name that model in the recipe, or another file under `recordings`"
            error_text = f"these are answers of {recording.model}, the recipe names {self.model}"
            raise UserError(error_text, where=display_path(self.recordings), hint=hint_text)
        return recording

    def open(self, seed: int) -> "RecordedBackend":
        """Return the model; the file is read at the first request."""
        return RecordedBackend(self)


class RecordedBackend(p.PromptedModel):
    """Gives the recorded answer to each prompt; one prompt without an answer ends the run.

    All prompts of a round are wanted at once (`waits`), as when they were recorded.
    """

    waits = True

    def __init__(self, settings: Recorded) -> None:
        self.settings = settings
        self.prompts = p.load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = f"recorded:{settings.model}"
        self.identity = p.model_identity(
            backend="recorded", model=settings.model, file=str(settings.recordings)
        )
        self.usage = Usage()

    @cached_property
    def recording(self) -> Recording:
        """The recording, read once."""
        return self.settings.read()

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """Return the recorded answer to each prompt; `UserError` where some have none."""
        answer_texts = [self.recording.answers.get(prompt_id(text)) for text in texts]
        if missing_count := answer_texts.count(None):
            self._refuse(missing_count, len(texts))
        results = [Result(answer_text) for answer_text in answer_texts]
        for index, result in enumerate(results):
            if on_result:
                on_result(index, result)
        return results

    def _refuse(self, missing_count: int, prompt_count: int) -> None:
        recording = self.recording
        version = recording.prompts.get(prompt_name(self.settings))
        is_same = version in (None, prompt_version(self.prompts))
        changed = "" if is_same else " (the prompt file is another one)"
        record = f"factdrift record {' '.join(recording.recipes) or 'RECIPE'}"
        raise UserError(
            f"{missing_count:,} of {prompt_count:,} prompts have no recorded answer{changed}",
            where=display_path(self.settings.recordings),
            hint=f"your own news want a model: --model NAME; to record again: {record}",
        )


def prompt_version(prompts: Prompts) -> str:
    """Return the number and the hash of a prompt file, as a recording keeps them: `3-0f1a…`."""
    return f"{prompts.version}-{prompts.identity}"


def prompt_name(settings: p.ModelSettings) -> str:
    """Return the name under which a recording keeps the version of a model's prompt file."""
    return (settings.prompts or DEFAULT_PROMPTS).name
