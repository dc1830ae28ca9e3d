"""Few-shot prompts from an editable YAML file, and how a model's text becomes a result."""

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
from factdrift.builders.core.limits import LONGEST_REPLY
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
# `<answer>` and `<my slot>`, also misspelt; not `<1>`
_ANY_SLOT = re.compile(r"<([A-Za-z_ ]{1,24})>")
# the start of a page, as proxies send for an answer: `<html>`, not `<b>`
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|script)\b", re.IGNORECASE)
Task = Literal["generate", "answer", "judge"]
_SLOTS: Mapping[Task, tuple[str, ...]] = {
    "generate": ("article", "answer"),
    "answer": ("article", "question"),
    "judge": ("article", "question", "answer"),
}
"""The slots that the layout of each task must have, beside the days that it may have."""
# a slot that is filled: `<today>`, not `<tomorrow>`
_SLOT = re.compile(r"<(article|date|today|answer|question)>")


class PromptExample(Strict):
    """One article with a question and its answer; `verdict` is the judge's answer about them."""

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
        mistake_list: list[tuple[Loc, str]] = []
        for task, needed_slots in _SLOTS.items():
            if prompt := getattr(self, task):
                known_slots = (*needed_slots, "date", "today")
                layout_slots = _ANY_SLOT.findall(prompt.layout)
                task_mistakes = [
                    _no_slot(slot_name, known_slots)
                    for slot_name in layout_slots
                    if slot_name not in known_slots
                ]
                task_mistakes += [
                    f"the slot <{slot_name}> is missing"
                    for slot_name in needed_slots
                    if slot_name not in layout_slots
                ]
                # a misspelt slot is missing under its own name: said once
                mistake_list += [((task, "layout"), text) for text in task_mistakes[:1]]
        if mistake_list:
            raise mistakes(mistake_list)
        return self

    @property
    def identity(self) -> str:
        """A hash of the whole file."""
        return digest(self.model_dump(mode="json"))


def _no_slot(slot_name: str, known_slots: Sequence[str]) -> str:
    near_slot = did_you_mean(slot_name, known_slots)
    hint = (
        f"did you mean <{near_slot}>?"
        if near_slot
        else f"the slots are <{'>, <'.join(known_slots)}>"
    )
    return f"no slot <{slot_name}>, {hint}"


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
        """Return the kind of the model; a model of a server is taken to continue texts."""
        return "causal"

    @abstractmethod
    def open(self, seed: int) -> "PromptedModel":
        """Return the model. Nothing is loaded or called before its first request."""


def load_prompts(path: Path | None) -> Prompts:
    """Read the prompts of a file, by default of the project's own."""
    return load(path or DEFAULT_PROMPTS, Prompts)


def weekday_and_date(day: date) -> str:
    """Write a day as `Tuesday, 12 March 2013`."""
    return format_date(day, "day_of_week_day_first")


def article_excerpt(article: Article, sentence_index: int | None, character_limit: int) -> str:
    """Return the sentences around one sentence that fit into `character_limit` characters.

    Without a sentence, they are the article's first ones.
    """
    sentence_count = len(article.sentences)
    centre_index = min(sentence_index or 0, sentence_count - 1)
    first_index = last_index = centre_index
    used_characters = len(article.sentences[centre_index])
    while first_index > 0 or last_index < sentence_count - 1:
        has_grown = False
        for neighbour in (last_index + 1, first_index - 1):
            if (
                0 <= neighbour < sentence_count
                and used_characters + 1 + len(article.sentences[neighbour]) <= character_limit
            ):
                used_characters += 1 + len(article.sentences[neighbour])
                first_index, last_index, has_grown = (
                    min(first_index, neighbour),
                    max(last_index, neighbour),
                    True,
                )
        if not has_grown:
            break
    return " ".join(article.sentences[first_index : last_index + 1])[:character_limit]


def _fill(layout: str, slot_values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda match: slot_values.get(match[1], ""), layout)


def question_prompt(prompts: Prompts, request: Request, character_limit: int) -> str:
    """Return the whole prompt to write a question.

    It has at most `character_limit` characters of the article.
    """
    slot_values = _values(
        request.article, request.question_day, request.candidate.sentence, character_limit
    )
    return _whole(prompts, "generate", slot_values | {"answer": request.candidate.text})


def answer_prompt(prompts: Prompts, query: Query, character_limit: int) -> str:
    """Return the whole prompt to answer a question.

    It has at most `character_limit` characters of the article.
    """
    slot_values = _values(query.article, query.question_day, None, character_limit)
    return _whole(prompts, "answer", slot_values | {"question": query.question})


def judge_prompt(prompts: Prompts, query: Query, character_limit: int) -> str:
    """Return the whole prompt to judge a question.

    It has at most `character_limit` characters of the article.
    """
    answer = query.answer
    assert answer is not None
    slot_values = _values(query.article, query.question_day, answer.sentence, character_limit)
    return _whole(
        prompts, "judge", slot_values | {"question": query.question, "answer": answer.text}
    )


def _values(
    article: Article, question_day: date, sentence_index: int | None, character_limit: int
) -> dict[str, str]:
    excerpt = article_excerpt(article, sentence_index, character_limit)
    return {
        "article": excerpt,
        "date": weekday_and_date(article.day),
        "today": weekday_and_date(question_day),
    }


_SOLUTION: Mapping[Task, str] = {"generate": "question", "answer": "answer", "judge": "verdict"}
"""The field of an example that a model has to write, by task."""


def _whole(prompts: Prompts, task: Task, slot_values: Mapping[str, str] | None) -> str:
    """The instruction, the solved examples, and the layout that the model has to continue.

    Without values, the slots stay unfilled.
    """
    # a file of the user's may lack the judge: the project's own prompt is used then
    task_prompt: Prompt | None = getattr(prompts, task) or load_prompts(None).judge
    assert task_prompt is not None
    solved_examples = [
        f"{_fill(task_prompt.layout, example.model_dump())} {getattr(example, _SOLUTION[task])}"
        for example in task_prompt.examples
    ]
    last_part = (
        task_prompt.layout if slot_values is None else _fill(task_prompt.layout, slot_values)
    )
    return "\n\n".join([task_prompt.instruction, *solved_examples, last_part])


def prompt_template(prompts: Prompts, task_name: str) -> str:
    """Return the prompt of a task (`writes questions`, `filter …`) with its slots unfilled."""
    tasks_by_name: Mapping[str, Task] = {"writes questions": "generate", "filter lm_judge": "judge"}
    return _whole(prompts, tasks_by_name.get(task_name, "answer"), None)


# --- From a model's text to a result --------------------------------------------------------------

# the names of tags that models put around their reasoning
_TAGS = "think|thinking|thought|reasoning|reflection|scratchpad"
# where reasoning begins or ends: `<think>` and `</think>`, not `<b>`
_REASONING_TAG = re.compile(rf"<(/?)({_TAGS})>", re.IGNORECASE)
# `Hm. Who?</think>` and `Hm. <|message|>`, not `Hm. Who?`
_ENDED = re.compile(rf"^.*(?:</(?:{_TAGS})>|\[/THINK\]|<\|message\|>)", re.DOTALL | re.IGNORECASE)
"""The end of reasoning that began in the prompt or in a channel of the model's own format."""
# reasoning that was cut off: `<think>Who?`, not `I think`
_BEGUN = re.compile(rf"(?:<(?:{_TAGS})>|\[THINK\]).*$", re.DOTALL | re.IGNORECASE)
# tokens of chat formats: `<|im_end|>`, not `<|END|>`
_SPECIAL = re.compile(r"<\|[a-z_]+\|>")
# Markdown around code: "```json", not "`json`"
_FENCE = re.compile(r"```\w*")
# courtesies: `Sure! `, `Of course, here …`, not `Sure, who won?`
_POLITE = re.compile(
    r"(?:sure|certainly|of course|okay|absolutely|great|gladly)"
    r"(?: thing| question|, here you go)?(?:[!.:]+(?:\s+|$)|,\s+(?=here|the |i ))",
    re.IGNORECASE,
)
# what announces an answer: `Here is a question: `, `The answer is: `, not `The answer`
_PREFACE = re.compile(
    r"(?:(?:here(?:['’]s| is| are)|the following|based on|according to)\b[^?\n]{0,100}?:(?=\s|$|\W)"
    r"|(?:(?:the|my|a|an|one|possible|final|short|correct|suggested)\s+)*"
    r"(?:question|answer)s?(?:\s*\d+)?\s*(?:(?:is|would be|could be)(?:\s|:)|:)\**)\s*",
    re.IGNORECASE,
)
# quotation marks and marks of Markdown, which models put around an answer
_MARKS = "\"“”'`*_# \t"
# the mark of a list item: `1. `, `(2) ` and `- `, not `1984 `
_NUMBER = re.compile(r"\(?(\d{1,2})[.):]\s+|[-*•]\s+")
# a remark after a question: `Who won? (easy)`, not `Who won? Who lost?`
_REMARK = re.compile(r"(\?)[\"”*]*\s*(?:\(|\*\*|—|Answer\b).*$")
_LONGEST = 300
"""Characters of a question or an answer at most: a guess; a model that writes more has not
understood its task."""


def strip_reasoning(model_text: str) -> str:
    """Remove the reasoning from a model's text, whether the tags around it are whole or not."""
    model_text = _ENDED.sub("", _without_whole_reasoning(model_text))
    return _SPECIAL.sub("", _BEGUN.sub("", model_text)).strip()


def _without_whole_reasoning(model_text: str) -> str:
    """A text without what stands between a tag and the next one that closes it.

    The tags are gone through once, from behind, so that each knows where the next one of its name
    closes: a text of ten thousand opening tags is not searched for each of them.
    """
    tags = list(_REASONING_TAG.finditer(model_text))
    next_end: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    for tag in reversed(tags):
        tag_name = tag[2].lower()
        if tag[1]:
            next_end[tag_name] = tag.end()
        elif tag_name in next_end:
            ends.append((tag.start(), next_end[tag_name]))
    pieces: list[str] = []
    copied_to = 0
    for start, end in reversed(ends):
        if start >= copied_to:
            pieces.append(model_text[copied_to:start])
            copied_to = end
    return "".join([*pieces, model_text[copied_to:]])


def _lines(model_text: str, layout: str) -> list[str]:
    """The lines that say something, up to the next example that a model makes up."""
    first_label = layout.partition("<")[0].strip()
    if first_label:
        model_text = model_text.partition(f"\n{first_label}")[0]
    return [line for line in map(_bare, _FENCE.sub("", model_text).splitlines()) if line]


def _bare(line: str) -> str:
    """A line without courtesies, prefaces, labels and the marks of Markdown."""
    previous_line, line = None, line.strip(_MARKS)
    while previous_line != line:
        previous_line = line
        for pattern in (_POLITE, _PREFACE):
            if match := pattern.match(line):
                line = line[match.end() :]
        line = line.strip(_MARKS)
    return line


def _json(model_text: str) -> Any:
    """Return the first JSON object in a text, or None."""
    json_start = model_text.find("{")
    if json_start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(model_text, json_start)[0]
    except ValueError:
        return None


def _field(json_data: Any, field_name: str) -> str | None:
    """A text in a JSON object: under its name, or its only text where its name is another."""
    if not isinstance(json_data, dict):
        return None
    texts = [value for value in json_data.values() if isinstance(value, str)]
    value = json_data.get(field_name, texts[0] if len(texts) == 1 else None)
    return value if isinstance(value, str) else None


def parse_reply(model_text: str, prompts: Prompts, *, question: bool) -> Result:
    """Return a model's text as a question or an answer, or the reason why it is of no use.

    Reasons: `empty`, `cut_off`, `html`, `refusal`, `too_long`; `no_question` where it has to be a
    question. Reasoning and prefaces are removed; the text may be JSON, requested or not.
    """
    visible_text = strip_reasoning(model_text)[:LONGEST_REPLY]
    json_text = _field(_json(visible_text), "question" if question else "answer")
    layout = (prompts.generate if question else prompts.answer).layout
    reply_lines = _lines(visible_text if json_text is None else json_text, layout)
    reply_line = _question_line(reply_lines) if question else next(iter(reply_lines), "")
    reason: str | None
    if not reply_line or (
        json_text is None and visible_text.startswith("{")
    ):  # JSON that was cut off
        reason = "cut_off" if model_text.strip() else "empty"
    elif _HTML.search(visible_text):
        reason = "html"
    else:
        reason = _why_useless(reply_line, prompts, question=question)
    if reason is None:
        return Result(reply_line)
    return Result(None, reason, visible_text[:80] or model_text.strip()[:80] or None)


def _question_line(lines: Sequence[str]) -> str:
    """The first line where it asks, or else the first line that asks without its remarks."""
    unnumbered_lines = [_NUMBER.sub("", line, count=1) for line in lines]
    first_line = next(iter(unnumbered_lines), "")
    if first_line.endswith("?"):
        return first_line
    without_remarks = (_REMARK.sub(r"\1", line) for line in unnumbered_lines)
    return next((line for line in without_remarks if line.endswith("?")), first_line)


def _why_useless(line: str, prompts: Prompts, *, question: bool) -> str | None:
    """Return why a model's line is no question or answer, or None if it is one."""
    if _refuses(line, prompts):
        return "refusal"
    if len(line) > _LONGEST:
        return "too_long"
    if question and not line.endswith("?"):
        return "no_question"
    return None


def _refuses(line: str, prompts: Prompts) -> bool:
    folded_line = line.casefold().replace("’", "'")
    return any(folded_line.startswith(refusal.casefold()) for refusal in prompts.refusals)


YES = "yes"
VERDICTS = ("answerable", "one_answer", "stands_alone")
"""The points that a judge decides about a question, each with yes or no."""


def parse_verdict(model_text: str) -> Result:
    """Return `yes`, or `no: ` with the failed verdict; a reason where the judge said neither."""
    verdict_text = strip_reasoning(model_text)
    json_data = _json(verdict_text)
    if isinstance(json_data, dict) and any(verdict_name in json_data for verdict_name in VERDICTS):
        failed_names = [
            verdict_name
            for verdict_name in VERDICTS
            if json_data.get(verdict_name) in (False, "no", "false", "No")
        ]
        return Result(f"no: {failed_names[0]}" if failed_names else YES)
    first_line = _bare(verdict_text.partition("\n")[0]).casefold()
    if first_line.startswith("yes"):
        return Result(YES)
    if first_line.startswith("no"):
        line_words = first_line.replace(" ", "_").replace("-", "_")
        failed = [
            verdict_name for verdict_name in VERDICTS if verdict_name in line_words
        ] or VERDICTS[:1]
        return Result(f"no: {failed[0]}")
    return Result(None, "empty" if not first_line else "no_verdict", verdict_text[:80] or None)


ParseText = Callable[[str], Result]
"""Turns a model's text into a result, which may say that the text is of no use."""


class PromptedModel(ABC):
    """The base of all models: requests become prompts with `characters` of an article at most.

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
        """Called after the last request of a step; `UserError` where answers are still to come."""

    def generate(self, requests: Sequence[Request]) -> list[Result]:
        """Return a question for each request."""
        prompt_texts = [
            question_prompt(self.prompts, request, self.characters) for request in requests
        ]
        return self._read(
            prompt_texts,
            "question",
            lambda model_text: parse_reply(model_text, self.prompts, question=True),
        )

    def answer(self, queries: Sequence[Query]) -> list[Result]:
        """Return an answer for each query."""
        prompt_texts = [answer_prompt(self.prompts, query, self.characters) for query in queries]
        return self._read(
            prompt_texts,
            "answer",
            lambda model_text: parse_reply(model_text, self.prompts, question=False),
        )

    def judge(self, queries: Sequence[Query]) -> list[Result]:
        """Return `yes` or `no: …` for each question (see `parse_verdict`)."""
        prompt_texts = [judge_prompt(self.prompts, query, self.characters) for query in queries]
        return self._read(prompt_texts, "verdict", parse_verdict)

    def write(self, texts: Sequence[str]) -> list[Result]:
        """Return the first line that the model writes after each text."""
        return self._read(
            texts, None, lambda model_text: parse_reply(model_text, self.prompts, question=False)
        )

    def _read(
        self, prompt_texts: Sequence[str], shape: Shape | None, parse_text: ParseText
    ) -> list[Result]:
        replies = self.complete(prompt_texts, shape=shape, parse=parse_text)
        return [reply if reply.text is None else parse_text(reply.text) for reply in replies]


class FirstAnswers:
    """Ends a run whose first `patience` answers are of no use, before the rest is paid for.

    Useless answers are held back until one answer is of use, so that the cache keeps nothing of a
    run with wrong settings.
    """

    def __init__(self, patience: int, where: str) -> None:
        self.patience, self.where = patience, where
        self.worked = False
        self._held: list[Callable[[], None]] = []
        self._seen: list[Result] = []

    def see(self, reply: Result, parse: ParseText, hand_on: Callable[[], None]) -> None:
        """Take an answer; `UserError` where `patience` answers were of no use and none was."""
        result = reply if reply.text is None else parse(reply.text)
        if not self.worked and result.text is None and self.patience:
            self._held.append(hand_on)
            self._seen.append(result)
            if len(self._seen) >= self.patience:
                self._stop()
            return
        self.worked = True
        self._release()
        hand_on()

    def end(self) -> None:
        """End a round: hand on the answers held back, unless the server refused them all."""
        if self._seen and all(result.reason == "server_refused" for result in self._seen):
            self._stop()
        self._release()

    def _release(self) -> None:
        for hand_on in self._held:
            hand_on()
        self._held.clear()

    def _stop(self) -> None:
        last_result = self._seen[-1]
        text = f"none of the first {len(self._seen)} answers is of use ({last_result.reason})"
        if len(self._seen) == 1:
            text = f"no answer is of use ({last_result.reason})"
        last_detail = last_result.detail or "it said nothing"
        hint = "mend the model's settings or its prompts; nothing of this was kept"
        raise UserError(f"{text}; the last one: {last_detail}", where=self.where, hint=hint)


def model_identity(**values: object) -> str:
    """Return a model's identity, made from everything that its results depend on."""
    return json.dumps(values, sort_keys=True, default=str)
