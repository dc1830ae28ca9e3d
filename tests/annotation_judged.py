"""Judgments made by hand, for tests of quality control."""

import json
from collections.abc import Sequence

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import Layout
from factdrift.annotation.submission import Json
from factdrift.builders.core.hashing import row_id
from factdrift.builders.rows import Gold, Judgment

TEXT = "Ban succeeded Kofi Annan of Ghana in 2007."


def layout(
    item_answers: dict[str, dict[str, object]], rule: dict[str, object], **more_values: object
) -> Layout:
    """A layout of one shown text and these answers; choices are a, b and c."""
    choices = [{"value": answer_value, "label": answer_value.upper()} for answer_value in "abc"]
    layout_answers = {
        name: {"label": name.title()}
        | ({"choices": choices} if answer_settings["kind"] in ("choice", "choices") else {})
        | answer_settings
        for name, answer_settings in item_answers.items()
    }
    layout_settings = {
        "title": "T",
        "summary": "S",
        "instructions": ["I"],
        "min_seconds": 2,
        "rule": rule,
    }
    layout_settings |= {"fields": {"text": {"label": "Text"}}, "answers": layout_answers}
    layout_settings |= {"pay": {"per_hit": "1.50", "minutes_per_hit": 5}}
    return Layout.model_validate(layout_settings | more_values)


def judged(
    worker_id: str,
    row: str,
    *,
    hit: str = "h1",
    batch: str = "b1",
    seconds: float | None = 9.0,
    flags: Sequence[str] = (),
    **item_answers: Json,
) -> Judgment:
    """A judgment as it comes in; a row `?x` is an item with known answers."""
    item = f"i-{row}"
    printed_text = json.dumps(item_answers, sort_keys=True)
    return Judgment(
        id=row_id(batch, hit, item, worker_id, *flags), layout="l", batch=batch, hit=hit,
        item=item, row="" if row.startswith("?") else row, dataset="d 1.0.0", worker=worker_id,
        platform="static",
        assignment="", answers=printed_text, seconds=seconds, flags=tuple(flags), counted=not flags,
    )  # fmt: skip


def items(found_judgments: list[Judgment], **known_answers: dict[str, Json]) -> dict[str, Item]:
    """The items of judgments; `known`: answers of attention items by their row, without `?`."""
    return {
        row_judgment.item: Item(
            row_judgment.item,
            row_judgment.row,
            {"text": TEXT},
            None if row_judgment.row else known_answers.get(row_judgment.item[3:]),
        )
        for row_judgment in found_judgments
    }


def span(text: str) -> dict[str, Json]:
    """A span of `TEXT`."""
    start = TEXT.index(text)
    return {"start": start, "end": start + len(text), "text": text}


def brief(gold: list[Gold]) -> dict[str, list[object]]:
    """Decision, judgments and agreeing ones by row."""
    return {
        gold_row.row: [gold_row.decision, gold_row.judgments, gold_row.agreeing]
        for gold_row in gold
    }
