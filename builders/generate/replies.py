"""How a model's text becomes a result: reasoning, courtesies and marks around it are removed."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from factdrift.builders.core.limits import LONGEST_REPLY
from factdrift.builders.generate.prompt_files import Prompts
from factdrift.builders.generate.protocol import Result, WrittenPair
from factdrift.builders.rows import AnswerType

# the start of a page, as proxies send for an answer: `<html>`, not `<b>`
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|script)\b", re.IGNORECASE)
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
# where JSON begins: `{"a": 1}`, `[{` and `[]`, not `[1]`
_JSON_BEGIN = re.compile(r"\{|\[\s*(?=[\]{])")
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


def first_json(model_text: str) -> Any:
    """Return the first JSON object or list of objects in a text, or None."""
    json_begin = _JSON_BEGIN.search(model_text)
    if json_begin is None:
        return None
    try:
        return json.JSONDecoder().raw_decode(model_text, json_begin.start())[0]
    except (ValueError, RecursionError):
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
    json_text = _field(first_json(visible_text), "question" if question else "answer")
    layout = prompts.of_task("generate" if question else "answer").layout
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
"""The points that the judge of `lm_judge` decides about a question, each with yes or no."""
NEWS_VERDICTS = ("new", "unique", "clear")
"""The points that the judge of `news_and_unique` decides."""


def parse_verdict(model_text: str, points: Sequence[str] = VERDICTS) -> Result:
    """Return `yes`, or `no: ` with the first failed point; a reason where the judge said neither.

    The judge's own reason, where its JSON has one, is the result's `detail`.
    """
    verdict_text = strip_reasoning(model_text)
    json_data = first_json(verdict_text)
    if isinstance(json_data, dict) and any(point in json_data for point in points):
        return _verdict_of(json_data, points)
    first_line = _bare(verdict_text.partition("\n")[0]).casefold()
    if first_line.startswith("yes"):
        return Result(YES)
    if first_line.startswith("no"):
        line_words = first_line.replace(" ", "_").replace("-", "_")
        failed = [point for point in points if point in line_words] or list(points[:1])
        return Result(f"no: {failed[0]}")
    return Result(None, "empty" if not first_line else "no_verdict", verdict_text[:80] or None)


def _verdict_of(json_data: Mapping[str, Any], points: Sequence[str]) -> Result:
    """The verdict in a judge's JSON, with the judge's own reason."""
    explanation = str(json_data.get("reason") or "")[:_LONGEST] or None
    for point in points:
        if json_data.get(point) in (False, "no", "false", "No"):
            return Result(f"no: {point}", detail=explanation)
    return Result(YES, detail=explanation)


def parse_pairs(model_text: str, prompts: Prompts) -> Result:
    """Return the pairs in a model's text as JSON of a list of `WrittenPair`; `[]`: it declined.

    The text is an object with a list, a list, or a pair. Reasons: `empty`, `refusal`, `html`,
    `cut_off` (JSON without an end), `no_pairs`.
    """
    visible_text = strip_reasoning(model_text)[:_LONGEST_PAIRS]
    json_data = first_json(visible_text)
    pair_data = _pair_objects(json_data)
    if pair_data is not None:
        written_pairs = [_written_pair(pair_object) for pair_object in pair_data]
        return Result(msgspec.json.encode([pair for pair in written_pairs if pair]).decode())
    reason = "no_pairs"
    if not visible_text:
        reason = "cut_off" if model_text.strip() else "empty"
    elif _HTML.search(visible_text):
        reason = "html"
    elif _refuses(_bare(visible_text.partition("\n")[0]), prompts):
        reason = "refusal"
    elif json_data is None and visible_text.lstrip("`json \n")[:1] in ("{", "["):
        reason = "cut_off"
    return Result(None, reason, visible_text[:80] or None)


_LONGEST_PAIRS = 20 * LONGEST_REPLY
"""Characters of a list of pairs at most: each has a sentence of the article, which may be long."""
_TYPE_NAMES: Mapping[str, AnswerType] = {
    **{answer_type: answer_type for answer_type in get_args(AnswerType)},
    "named entity": "entity",
    "name": "entity",
    "time": "date",
}
"""Answer types as models name them; what is none of these is a phrase."""


def _pair_objects(json_data: Any) -> list[Any] | None:
    """The objects of pairs in the JSON of a model, or None where it has no list."""
    if isinstance(json_data, dict):
        if "question" in json_data:
            return [json_data]
        lists = [value for value in json_data.values() if isinstance(value, list)]
        json_data = json_data.get("pairs", lists[0] if len(lists) == 1 else None)
    return json_data if isinstance(json_data, list) else None


def _written_pair(pair_object: Any) -> WrittenPair | None:
    """The pair of a JSON object; None where it has no question or no answer."""
    if not isinstance(pair_object, dict):
        return None
    values = {
        field_name: " ".join(str(pair_object.get(field_name) or "").split())
        for field_name in ("question", "answer", "sentence", "event", "event_day", "answer_type")
    }
    answer_type = _TYPE_NAMES.get(values.pop("answer_type").lower().replace("_", " "), "phrase")
    if not values["question"] or not values["answer"]:
        return None
    return WrittenPair(**values, answer_type=answer_type)


def read_pairs(pairs_text: str) -> tuple[WrittenPair, ...]:
    """Return the pairs that `parse_pairs` wrote."""
    return msgspec.json.decode(pairs_text, type=tuple[WrittenPair, ...])
