"""Few-shot prompts of an editable YAML file, and how requests become prompts."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from factdrift.builders.core.config import Loc, Strict, did_you_mean, load, mistakes
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import digest
from factdrift.builders.generate.protocol import ArticleRequest, Query, Request
from factdrift.builders.rows import AnswerType, Article, Subset
from factdrift.builders.text.dates import format_date

DEFAULT_PROMPTS = resource("builders/generate/prompts/default.yaml")
# `<answer>` and `<my slot>`, also misspelt; not `<1>`
_ANY_SLOT = re.compile(r"<([A-Za-z_ ]{1,24})>")
Task = Literal["article", "generate", "answer", "judge", "news_and_unique", "guess"]
"""The tasks of models, as a prompt file names them."""
_SLOTS: Mapping[Task, tuple[str, ...]] = {
    "article": ("article", "when", "most"),
    "generate": ("article", "answer"),
    "answer": ("article", "question"),
    "judge": ("article", "question", "answer"),
    "news_and_unique": ("article", "question", "answer"),
    "guess": ("question",),
}
"""The slots that the layout of each task must have, beside the days that it may have."""
_MORE_SLOTS: Mapping[Task, tuple[str, ...]] = {"generate": ("sentence",)}
"""Slots that the layout of a task may have besides."""
# a slot that is filled: `<today>`, not `<tomorrow>`
_SLOT = re.compile(r"<(article|sentence|date|today|when|most|answer|question)>")


class PromptExample(Strict):
    """One article with a question and its answer; `verdict` is the judge's answer about them.

    `sentence` is the one of the article that holds the answer.
    """

    article: str = ""
    sentence: str = ""
    date: str
    today: str
    question: str
    answer: str
    verdict: str = "yes"


class Prompt(Strict):
    """The prompt of one task."""

    instruction: str = Field(description="what to do; stands first")
    layout: str = Field(
        description="one example with slots <article>, <date>, <today>, <answer>, <question>, and "
        "<sentence> to write for a span; what the model writes follows it"
    )
    examples: tuple[PromptExample, ...] = ()


class ExamplePair(Strict):
    """A question with its answer, as a model is to write it; see `protocol.WrittenPair`."""

    event: str
    event_day: str
    sentence: str
    question: str
    answer: str
    answer_type: AnswerType


class ArticleExample(Strict):
    """One article with the pairs that a good writer writes about it, or none."""

    article: str
    date: str
    today: str
    subset: Subset
    pairs: tuple[ExamplePair, ...]


class ArticlePrompt(Strict):
    """The prompt that asks for all questions about an article."""

    instruction: str = Field(description="what to do; stands first")
    layout: str = Field(
        description="one example with slots <article>, <date>, <today>, <when>, <most>; what the "
        "model writes follows it"
    )
    when: Mapping[Subset, str] = Field(
        description="recent and past: what is said of time in questions; fills <when>"
    )
    examples: tuple[ArticleExample, ...] = ()


class Prompts(Strict):
    """A prompt file; a task that it lacks is asked by the project's own prompt."""

    version: int = Field(default=1, description="counted up with every change of the wording")
    article: ArticlePrompt | None = Field(default=None, description="of the style `article`")
    generate: Prompt | None = Field(default=None, description="of the style `candidates`")
    answer: Prompt
    judge: Prompt | None = Field(default=None, description="of the filter `lm_judge`")
    news_and_unique: Prompt | None = Field(default=None, description="of the filter of that name")
    guess: Prompt | None = Field(default=None, description="of the filter of that name")
    refusals: tuple[str, ...] = Field(
        default=(), description="beginnings of a text that is no answer"
    )

    @model_validator(mode="after")
    def _slots(self) -> Self:
        mistake_list: list[tuple[Loc, str]] = []
        for task, needed_slots in _SLOTS.items():
            if prompt := getattr(self, task):
                known_slots = (*needed_slots, "date", "today", *_MORE_SLOTS.get(task, ()))
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

    def of_task(self, task: Task) -> Any:
        """The prompt of a task, of this file or else of the project's own."""
        return getattr(self, task) or getattr(load_prompts(None), task)

    @cached_property
    def openings(self) -> Mapping[Task, str]:
        """What the prompts of each task begin with: its instruction and its solved examples."""
        return {task: _opening(task, self.of_task(task)) for task in get_args(Task)}


def _no_slot(slot_name: str, known_slots: Sequence[str]) -> str:
    near_slot = did_you_mean(slot_name, known_slots)
    hint_text = (
        f"did you mean <{near_slot}>?"
        if near_slot
        else f"the slots are <{'>, <'.join(known_slots)}>"
    )
    return f"no slot <{slot_name}>, {hint_text}"


def load_prompts(path: Path | None) -> Prompts:
    """Read the prompts of a file, by default of the project's own."""
    return load(path, Prompts) if path else _own_prompts()


@cache
def _own_prompts() -> Prompts:
    return load(DEFAULT_PROMPTS, Prompts)


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
    excerpt = " ".join(article.sentences[first_index : last_index + 1])[:character_limit]
    return unicodedata.normalize("NFC", excerpt)


def _fill(layout: str, slot_values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda match: slot_values.get(match[1], ""), layout)


def article_prompt(prompts: Prompts, request: ArticleRequest, character_limit: int) -> str:
    """Return the whole prompt to write the questions of an article, one sentence a line.

    It has at most `character_limit` characters of the article.
    """
    article_text = unicodedata.normalize("NFC", "\n".join(request.article.sentences))
    slot_values = {
        "article": article_text[:character_limit],
        "date": weekday_and_date(request.article.day),
        "today": weekday_and_date(request.question_day),
        "when": prompts.of_task("article").when[request.subset],
        "most": str(request.most),
    }
    return _whole(prompts, "article", slot_values)


def question_prompt(prompts: Prompts, request: Request, character_limit: int) -> str:
    """Return the whole prompt to write a question.

    It has at most `character_limit` characters of the article.
    """
    slot_values = _values(
        request.article, request.question_day, request.candidate.sentence, character_limit
    )
    sentence = request.article.sentences[request.candidate.sentence]
    slot_values["sentence"] = unicodedata.normalize("NFC", sentence)
    slot_values["answer"] = unicodedata.normalize("NFC", request.candidate.text)
    return _whole(prompts, "generate", slot_values)


def query_prompt(prompts: Prompts, task: Task, query: Query, character_limit: int) -> str:
    """Return the whole prompt to answer, to guess or to judge a question.

    It has at most `character_limit` characters of the article, around the sentence of the answer
    where the query has one. A layout without a slot for the article gets nothing of it.
    """
    answer = query.answer
    sentence_index = answer.sentence if answer else None
    slot_values = _values(query.article, query.question_day, sentence_index, character_limit)
    slot_values["question"] = query.question
    if answer is not None:
        slot_values["answer"] = unicodedata.normalize("NFC", answer.text)
    return _whole(prompts, task, slot_values)


def _values(
    article: Article, question_day: date, sentence_index: int | None, character_limit: int
) -> dict[str, str]:
    excerpt = article_excerpt(article, sentence_index, character_limit)
    return {
        "article": excerpt,
        "date": weekday_and_date(article.day),
        "today": weekday_and_date(question_day),
    }


_SOLUTION: Mapping[Task, str] = {
    "generate": "question",
    "answer": "answer",
    "guess": "answer",
    "judge": "verdict",
    "news_and_unique": "verdict",
}
"""The field of an example that a model has to write, by task."""


def _whole(prompts: Prompts, task: Task, slot_values: Mapping[str, str] | None) -> str:
    """The opening of a task, and the layout that the model has to continue.

    Without values, the slots stay unfilled.
    """
    layout: str = prompts.of_task(task).layout
    last_part = layout if slot_values is None else _fill(layout, slot_values)
    return prompts.openings[task] + last_part


def _opening(task: Task, task_prompt: Any) -> str:
    """The instruction and the solved examples of a task, with what parts them from the layout."""
    solved_examples = []
    for example in task_prompt.examples:
        example_values = example.model_dump()
        if task == "article":
            example_values["when"] = task_prompt.when[example.subset]
            example_values["most"] = str(max(len(example.pairs), _LEAST_ALLOWED))
            solution = json.dumps({"pairs": example_values.pop("pairs")}, ensure_ascii=False)
        else:
            solution = example_values[_SOLUTION[task]]
        solved_examples.append(f"{_fill(task_prompt.layout, example_values)} {solution}")
    return "".join(f"{part}\n\n" for part in (task_prompt.instruction, *solved_examples))


_LEAST_ALLOWED = 4
"""Pairs that examples allow at least, so that fewer pairs show that none has to be forced."""
_TASK_NAMES: Mapping[str, Task] = {
    "filter lm_judge": "judge",
    "filter news_and_unique": "news_and_unique",
    "filter guess": "guess",
}


def prompt_template(prompts: Prompts, task_name: str, writing_task: Task = "article") -> str:
    """Return the prompt of a task (`writes questions`, `filter …`) with its slots unfilled."""
    if task_name == "writes questions":
        return _whole(prompts, writing_task, None)
    return _whole(prompts, _TASK_NAMES.get(task_name, "answer"), None)
