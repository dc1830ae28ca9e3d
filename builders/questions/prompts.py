"""Few-shot prompts from an editable YAML file, and the reading of what a model writes back."""

import json
import re
from datetime import date
from pathlib import Path

from pydantic import Field

from builders.config import Strict, load
from builders.dates import MONTHS, WEEKDAYS
from builders.questions.protocol import Query, Request, Result
from builders.rows import Article
from builders.store import digest

DEFAULT = Path(__file__).parent / "prompts" / "default.yaml"
_SLOT = re.compile(r"<(article|date|today|answer|question)>")
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|script)\b", re.IGNORECASE)


class Example(Strict):
    """One article with a question and its answer."""

    article: str
    date: str
    today: str
    question: str
    answer: str


class Prompt(Strict):
    """How one task is put to a model."""

    instruction: str = Field(description="what to do; stands first")
    layout: str = Field(
        description="one example with slots <article>, <date>, <today>, <answer>, <question>; "
        "what the model writes follows it"
    )
    examples: tuple[Example, ...] = ()


class Prompts(Strict):
    """A prompt file."""

    generate: Prompt
    answer: Prompt
    refusals: tuple[str, ...] = Field(default=(), description="openings that are no answer")

    @property
    def identity(self) -> str:
        """A hash of all of it."""
        return digest(self.model_dump(mode="json"))


def read(path: Path | None) -> Prompts:
    """The prompts of a file, the project's own by default."""
    return load(path or DEFAULT, Prompts)


def spelled(day: date) -> str:
    """`Tuesday, 12 March 2013`."""
    return f"{WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"


def window(article: Article, sentence: int | None, most: int) -> str:
    """The article's sentences in at most `most` characters, those around `sentence` first."""
    size = len(article.sentences)
    centre = min(sentence or 0, size - 1)
    low = high = centre
    used = len(article.sentences[centre])
    while low > 0 or high < size - 1:
        grown = False
        for side in (high + 1, low - 1):
            if 0 <= side < size and used + 1 + len(article.sentences[side]) <= most:
                used += 1 + len(article.sentences[side])
                low, high, grown = min(low, side), max(high, side), True
        if not grown:
            break
    return " ".join(article.sentences[low : high + 1])[:most]


def _fill(layout: str, values: dict[str, str]) -> str:
    return _SLOT.sub(lambda m: values.get(m[1], ""), layout)


def ask_prompt(prompts: Prompts, request: Request, most: int) -> str:
    """The whole prompt to write a question."""
    values = {
        "article": window(request.article, request.candidate.sentence, most),
        "date": spelled(request.article.day),
        "today": spelled(request.question_day),
        "answer": request.candidate.text,
    }
    shots = [_fill(prompts.generate.layout, e.model_dump()) for e in prompts.generate.examples]
    texts = [e.question for e in prompts.generate.examples]
    return _prompt(prompts.generate, shots, texts, values)


def answer_prompt(prompts: Prompts, query: Query, most: int) -> str:
    """The whole prompt to answer a question."""
    values = {
        "article": window(query.article, None, most),
        "date": spelled(query.article.day),
        "today": spelled(query.question_day),
        "question": query.question,
    }
    shots = [_fill(prompts.answer.layout, e.model_dump()) for e in prompts.answer.examples]
    texts = [e.answer for e in prompts.answer.examples]
    return _prompt(prompts.answer, shots, texts, values)


def _prompt(prompt: Prompt, shots: list[str], texts: list[str], values: dict[str, str]) -> str:
    done = [f"{shot} {text}" for shot, text in zip(shots, texts, strict=True)]
    return "\n\n".join([prompt.instruction, *done, _fill(prompt.layout, values)])


def judged(text: str, prompts: Prompts, *, question: bool, read: int = 0, wrote: int = 0) -> Result:
    """What a model wrote as a result: its first line, or why it is of no use."""
    raw = text.strip()
    line = raw.splitlines()[0].strip().strip("\"“”'` ") if raw else ""
    for label in ("Question:", "Answer:"):
        line = line.removeprefix(label).strip().strip("\"“”'` ")
    reason = None
    if not line:
        reason = "empty"
    elif _HTML.search(raw):
        reason = "html"
    elif any(line.casefold().startswith(r.casefold()) for r in prompts.refusals):
        reason = "refusal"
    elif len(line) > 300:
        reason = "too_long"
    elif question and not line.endswith("?"):
        reason = "no_question"
    if reason:
        return Result(None, reason, raw[:80] or None, read, wrote)
    return Result(line, None, None, read, wrote)


def parameters(**values: object) -> str:
    """A backend's identity from all that it depends on."""
    return json.dumps(values, sort_keys=True, default=str)
