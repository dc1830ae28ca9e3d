"""Few-shot prompts from an editable YAML file, and the results that a model's texts come to."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from factdrift.builders.core.config import Loc, Strict, did_you_mean, load, mistakes
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath, resource
from factdrift.builders.core.hashing import digest
from factdrift.builders.generate.protocol import (
    Kind,
    OnResult,
    Query,
    Request,
    Result,
    Shape,
    Usage,
)
from factdrift.builders.rows import Article
from factdrift.builders.text.dates import format_date

DEFAULT_PROMPTS = resource("builders/generate/prompts/default.yaml")
_ANY_SLOT = re.compile(r"<([A-Za-z_ ]{1,24})>")
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|script)\b", re.IGNORECASE)
Task = Literal["generate", "answer", "judge"]
_SLOTS: Mapping[Task, tuple[str, ...]] = {
    "generate": ("article", "answer"),
    "answer": ("article", "question"),
    "judge": ("article", "question", "answer"),
}
"""The slots that the layout of each task must have, beside the days that it may have."""
_SLOT = re.compile(r"<(article|date|today|answer|question)>")


class PromptExample(Strict):
    """One article with a question and its answer; `verdict` is what a judge says of them."""

    article: str
    date: str
    today: str
    question: str
    answer: str
    verdict: str = "yes"


class Prompt(Strict):
    """The prompt of one task."""

    instruction: str = Field(description="what to do; stands first")
    layout: str = Field(
        description="one example with slots <article>, <date>, <today>, <answer>, <question>; "
        "what the model writes follows it"
    )
    examples: tuple[PromptExample, ...] = ()


class Prompts(Strict):
    """A prompt file."""

    generate: Prompt
    answer: Prompt
    judge: Prompt | None = Field(default=None, description="of the filter `lm_judge`")
    refusals: tuple[str, ...] = Field(
        default=(), description="beginnings of a text that is no answer"
    )

    @model_validator(mode="after")
    def _slots(self) -> Self:
        found: list[tuple[Loc, str]] = []
        for task, needed in _SLOTS.items():
            if prompt := getattr(self, task):
                known = (*needed, "date", "today")
                slots = _ANY_SLOT.findall(prompt.layout)
                told = [_no_slot(name, known) for name in slots if name not in known]
                told += [f"the slot <{name}> is missing" for name in needed if name not in slots]
                # a misspelt slot is missing under its own name: said once
                found += [((task, "layout"), text) for text in told[:1]]
        if found:
            raise mistakes(found)
        return self

    @property
    def identity(self) -> str:
        """A hash of the whole file."""
        return digest(self.model_dump(mode="json"))


def _no_slot(name: str, known: Sequence[str]) -> str:
    near = did_you_mean(name, known)
    hint = f"did you mean <{near}>?" if near else f"the slots are <{'>, <'.join(known)}>"
    return f"no slot <{name}>, {hint}"


class ModelSettings(Strict, ABC):
    """The settings of a language model, as a recipe gives them: the base of every backend.

    A subclass gives its name as `backend: Literal["my-server"] = "my-server"`, declares what else
    its users set, and writes `open`.
    """

    libraries: ClassVar[tuple[str, ...]] = ()
    """Optional distributions that it imports, whose versions results depend on."""
    only_writes: ClassVar[bool] = True
    """Whether the model gives texts alone. Only subclasses of `Transformers` give probabilities of
    words, which the views `mask`, `rank` and `likelihood` of `run-model` need."""

    backend: str
    """Its name in the recipe."""
    model: str
    """The model's name, as the backend knows it."""
    characters: int = Field(default=4000, ge=200, description="most of an article that is shown")
    prompts: RecipePath | None = Field(
        default=None, description="prompt file, relative to the recipe; the project's by default"
    )
    temperature: float = Field(default=0.0, ge=0, description="0: the likeliest text")
    stop: tuple[str, ...] = Field(
        default=(), description="texts that end what a base model writes; a chat ends by itself"
    )
    stop_after: int = Field(
        default=10, ge=0, description="useless answers that end a run which had no other; 0: never"
    )

    def check(self, *, offline: bool = False) -> None:
        """Raise a `UserError` for what would end a run later: prompt file, missing libraries.

        With `offline` the model itself is not needed, for only kept answers are used.
        """
        load_prompts(self.prompts)

    def kind(self) -> Kind:
        """What the model does; a server's is taken to continue texts."""
        return "causal"

    @abstractmethod
    def open(self, seed: int) -> "PromptedModel":
        """Return the model. Nothing is loaded or called before its first request."""


def load_prompts(path: Path | None) -> Prompts:
    """The prompts of a file, the project's own by default."""
    return load(path or DEFAULT_PROMPTS, Prompts)


def weekday_and_date(day: date) -> str:
    """`Tuesday, 12 March 2013`."""
    return format_date(day, "day_of_week_day_first")


def article_excerpt(article: Article, sentence: int | None, most: int) -> str:
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


def _fill(layout: str, values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda m: values.get(m[1], ""), layout)


def question_prompt(prompts: Prompts, one: Request, most: int) -> str:
    """The whole prompt to write a question; of the article at most `most` characters."""
    values = _values(one.article, one.question_day, one.candidate.sentence, most)
    return _whole(prompts, "generate", values | {"answer": one.candidate.text})


def answer_prompt(prompts: Prompts, query: Query, most: int) -> str:
    """The whole prompt to answer a question; of the article at most `most` characters."""
    values = _values(query.article, query.question_day, None, most)
    return _whole(prompts, "answer", values | {"question": query.question})


def judge_prompt(prompts: Prompts, one: Query, most: int) -> str:
    """The whole prompt to judge a question; of the article at most `most` characters."""
    answer = one.answer
    assert answer is not None
    values = _values(one.article, one.question_day, answer.sentence, most)
    return _whole(prompts, "judge", values | {"question": one.question, "answer": answer.text})


def _values(article: Article, today: date, sentence: int | None, most: int) -> dict[str, str]:
    shown = article_excerpt(article, sentence, most)
    return {
        "article": shown,
        "date": weekday_and_date(article.day),
        "today": weekday_and_date(today),
    }


_SOLUTION: Mapping[Task, str] = {"generate": "question", "answer": "answer", "judge": "verdict"}
"""What of an example a model is to write."""


def _whole(prompts: Prompts, task: Task, values: Mapping[str, str] | None) -> str:
    """The instruction, the examples with their solutions, and what the model has to continue.

    Without values, the slots stand unfilled.
    """
    prompt: Prompt | None = getattr(prompts, task) or load_prompts(None).judge
    assert prompt is not None
    examples = [
        f"{_fill(prompt.layout, example.model_dump())} {getattr(example, _SOLUTION[task])}"
        for example in prompt.examples
    ]
    asked = prompt.layout if values is None else _fill(prompt.layout, values)
    return "\n\n".join([prompt.instruction, *examples, asked])


def prompt_template(prompts: Prompts, does: str) -> str:
    """The prompt of what a model does (`writes questions`, `filter …`), its slots unfilled."""
    tasks: Mapping[str, Task] = {"writes questions": "generate", "filter lm_judge": "judge"}
    return _whole(prompts, tasks.get(does, "answer"), None)


# --- What a model wrote ---------------------------------------------------------------------------

_TAGS = "think|thinking|thought|reasoning|reflection|scratchpad"
_REASONING = re.compile(rf"<({_TAGS})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_ENDED = re.compile(rf"^.*(?:</(?:{_TAGS})>|\[/THINK\]|<\|message\|>)", re.DOTALL | re.IGNORECASE)
"""Reasoning whose beginning stands in the prompt, or the channels of a model's own format."""
_BEGUN = re.compile(rf"(?:<(?:{_TAGS})>|\[THINK\]).*$", re.DOTALL | re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[a-z_]+\|>")
_FENCE = re.compile(r"```\w*")
_POLITE = re.compile(
    r"(?:sure|certainly|of course|okay|absolutely|great|gladly)"
    r"(?: thing| question|, here you go)?(?:[!.:]+(?:\s+|$)|,\s+(?=here|the |i ))",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"(?:(?:here(?:['’]s| is| are)|the following|based on|according to)\b[^?\n]{0,100}?:(?=\s|$|\W)"
    r"|(?:(?:the|my|a|an|one|possible|final|short|correct|suggested)\s+)*"
    r"(?:question|answer)s?(?:\s*\d+)?\s*(?:(?:is|would be|could be)(?:\s|:)|:)\**)\s*",
    re.IGNORECASE,
)
_MARKS = "\"“”'`*_# \t"
_NUMBER = re.compile(r"\(?(\d{1,2})[.):]\s+|[-*•]\s+")
_REMARK = re.compile(r"(\?)[\"”*]*\s*(?:\(|\*\*|—|Answer\b).*$")
_LONGEST = 300


def strip_reasoning(text: str) -> str:
    """What a model wrote without its reasoning, whether the tags around it are whole or not."""
    text = _ENDED.sub("", _REASONING.sub("", text))
    return _SPECIAL.sub("", _BEGUN.sub("", text)).strip()


def _lines(text: str, layout: str) -> list[str]:
    """The lines that say something, up to the next example that a model makes up."""
    head = layout.partition("<")[0].strip()
    if head:
        text = text.partition(f"\n{head}")[0]
    return [line for line in map(_bare, _FENCE.sub("", text).splitlines()) if line]


def _bare(line: str) -> str:
    """A line without courtesies, prefaces, labels and the marks of Markdown."""
    before, line = None, line.strip(_MARKS)
    while before != line:
        before = line
        for cut in (_POLITE, _PREFACE):
            if found := cut.match(line):
                line = line[found.end() :]
        line = line.strip(_MARKS)
    return line


def _json(text: str) -> Any:
    """The first JSON object in a text; None where there is none."""
    at = text.find("{")
    if at < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, at)[0]
    except ValueError:
        return None


def _field(data: Any, name: str) -> str | None:
    """A text in a JSON object: under its name, or its only text where its name is another."""
    if not isinstance(data, dict):
        return None
    texts = [value for value in data.values() if isinstance(value, str)]
    value = data.get(name, texts[0] if len(texts) == 1 else None)
    return value if isinstance(value, str) else None


def parse_reply(text: str, prompts: Prompts, *, question: bool) -> Result:
    """What a model wrote as a question or an answer, or why it is of no use.

    Reasons: `empty`, `cut_off`, `html`, `refusal`, `too_long`; `no_question` where it has to be a
    question. Reasoning and prefaces are cut; JSON may hold it, where it was asked for or not.
    """
    unreasoned = strip_reasoning(text)
    json_text = _field(_json(unreasoned), "question" if question else "answer")
    layout = (prompts.generate if question else prompts.answer).layout
    lines = _lines(unreasoned if json_text is None else json_text, layout)
    line = _question_line(lines) if question else next(iter(lines), "")
    reason: str | None
    if not line or (json_text is None and unreasoned.startswith("{")):  # JSON that was cut off
        reason = "cut_off" if text.strip() else "empty"
    elif _HTML.search(unreasoned):
        reason = "html"
    else:
        reason = _why_useless(line, prompts, question=question)
    if reason is None:
        return Result(line)
    return Result(None, reason, unreasoned[:80] or text.strip()[:80] or None)


def _question_line(lines: Sequence[str]) -> str:
    """The line that asks: the first, or else the first that does once its remarks are cut off."""
    unnumbered = [_NUMBER.sub("", line, count=1) for line in lines]
    first = next(iter(unnumbered), "")
    if first.endswith("?"):
        return first
    without_remarks = (_REMARK.sub(r"\1", line) for line in unnumbered)
    return next((line for line in without_remarks if line.endswith("?")), first)


def _why_useless(line: str, prompts: Prompts, *, question: bool) -> str | None:
    """Why a line of a model is no question or answer; None where it is one."""
    if _refuses(line, prompts):
        return "refusal"
    if len(line) > _LONGEST:
        return "too_long"
    if question and not line.endswith("?"):
        return "no_question"
    return None


def _refuses(line: str, prompts: Prompts) -> bool:
    folded = line.casefold().replace("’", "'")
    return any(folded.startswith(r.casefold()) for r in prompts.refusals)


YES = "yes"
VERDICTS = ("answerable", "one_answer", "stands_alone")
"""What a judge says of a question, each yes or no."""


def parse_verdict(text: str) -> Result:
    """`yes`, or `no: ` and what the question is not; a reason where the judge said neither."""
    plain = strip_reasoning(text)
    data = _json(plain)
    if isinstance(data, dict) and any(name in data for name in VERDICTS):
        bad = [n for n in VERDICTS if data.get(n) in (False, "no", "false", "No")]
        return Result(f"no: {bad[0]}" if bad else YES)
    line = _bare(plain.partition("\n")[0]).casefold()
    if line.startswith("yes"):
        return Result(YES)
    if line.startswith("no"):
        told = line.replace(" ", "_").replace("-", "_")
        named = [n for n in VERDICTS if n in told] or VERDICTS[:1]
        return Result(f"no: {named[0]}")
    return Result(None, "empty" if not line else "no_verdict", plain[:80] or None)


ParseText = Callable[[str], Result]
"""Makes a result of what a model wrote, or says that it is of no use."""


class PromptedModel(ABC):
    """What all language models share: requests become prompts of at most `characters` of article.

    A subclass says how prompts are run. `identity` is all that a text depends on besides its
    prompt: backend, model, parameters and seed.
    """

    name: str
    identity: str
    prompts: Prompts
    characters: int
    waits: bool = False
    """Whether answers come with a later run, so that few rounds are worth more than few calls."""
    usage: Usage

    @abstractmethod
    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: ParseText | None = None,
    ) -> list[Result]:
        """Return what the model writes after each text; hand each to `on_result` at once.

        `shape` asks for that form where the model can be held to one. `parse` says what is of use:
        where nothing of a run's beginning is, the run ends with a `UserError`.
        """

    def finish(self) -> None:  # noqa: B027 - most models have nothing to do then
        """Called when a step has asked all that it asks; `UserError` where answers are to come."""

    def generate(self, requests: Sequence[Request]) -> list[Result]:
        """A question for each request."""
        texts = [question_prompt(self.prompts, one, self.characters) for one in requests]
        return self._read(texts, "question", lambda t: parse_reply(t, self.prompts, question=True))

    def answer(self, queries: Sequence[Query]) -> list[Result]:
        """An answer for each query."""
        texts = [answer_prompt(self.prompts, q, self.characters) for q in queries]
        return self._read(texts, "answer", lambda t: parse_reply(t, self.prompts, question=False))

    def judge(self, judged: Sequence[Query]) -> list[Result]:
        """`yes` or `no: …` for each question (see `parse_verdict`)."""
        texts = [judge_prompt(self.prompts, one, self.characters) for one in judged]
        return self._read(texts, "verdict", parse_verdict)

    def write(self, texts: Sequence[str]) -> list[Result]:
        """The first line that the model writes after each text."""
        return self._read(texts, None, lambda t: parse_reply(t, self.prompts, question=False))

    def _read(self, texts: Sequence[str], shape: Shape | None, parse: ParseText) -> list[Result]:
        replies = self.complete(texts, shape=shape, parse=parse)
        return [reply if reply.text is None else parse(reply.text) for reply in replies]


class FirstAnswers:
    """Ends a run whose first `most` answers are of no use, before the rest is paid for.

    Useless answers are handed on as soon as one was of use, so that what a misled run was told is
    not kept.
    """

    def __init__(self, most: int, where: str) -> None:
        self.most, self.where = most, where
        self.worked = False
        self._held: list[Callable[[], None]] = []
        self._seen: list[Result] = []

    def see(self, reply: Result, parse: ParseText, hand_on: Callable[[], None]) -> None:
        """Take an answer; `UserError` where it is the last one of patience."""
        result = reply if reply.text is None else parse(reply.text)
        if not self.worked and result.text is None and self.most:
            self._held.append(hand_on)
            self._seen.append(result)
            if len(self._seen) >= self.most:
                self._stop()
            return
        self.worked = True
        self._release()
        hand_on()

    def end(self) -> None:
        """The end of a round: what was held back is handed on, unless all was refused."""
        if self._seen and all(one.reason == "server_refused" for one in self._seen):
            self._stop()
        self._release()

    def _release(self) -> None:
        for hand_on in self._held:
            hand_on()
        self._held.clear()

    def _stop(self) -> None:
        last = self._seen[-1]
        text = f"none of the first {len(self._seen)} answers is of use ({last.reason})"
        if len(self._seen) == 1:
            text = f"no answer is of use ({last.reason})"
        said = last.detail or "it said nothing"
        hint = "mend the model's settings or its prompts; nothing of this was kept"
        raise UserError(f"{text}; the last one: {said}", where=self.where, hint=hint)


def model_identity(**values: object) -> str:
    """A model's identity, from all that its results depend on."""
    return json.dumps(values, sort_keys=True, default=str)
