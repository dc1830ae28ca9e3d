"""The rehearsal answers every layout of ours as its checks want it, and names those it can."""

from dataclasses import replace
from pathlib import Path

import pytest

from factdrift.annotation.batch import attention_items, read_batch
from factdrift.annotation.checks import answer_problems
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import layout_names, load_layout
from factdrift.annotation.rehearsal import ANSWERS, answers_to, rehearse
from factdrift.builders.core.errors import UserError
from tests.annotation_items import FIELDS
from tests.annotation_workers import order


@pytest.mark.parametrize("name", layout_names())
def test_every_layout_can_be_rehearsed(name: str) -> None:
    """Items with known answers, too, are answered whole."""
    layout = load_layout(name)
    assert answer_problems(layout, FIELDS[name], ANSWERS[name](FIELDS[name])) == []
    for item in attention_items(layout):
        printed_text = answers_to(name, layout, item)
        assert answer_problems(layout, item.fields, printed_text) == []
        assert item.answers is not None
        assert {key: printed_text[key] for key in item.answers} == item.answers


def test_an_expert_keeps_of_what_is_doubtful_only_what_is_noted_as_fine() -> None:
    decisions = {
        "Little Richard, wild architect of rock 'n' roll, dies at 87": "yes",
        "Burundi's president dies weeks before he was to step down": "discard",
    }
    for headline, decision in decisions.items():
        item_fields = {"article": f"{headline}\nHe died.", "cloze": "[BLANK] died."}
        assert ANSWERS["ckl_expert"](item_fields | {"doubts": ["two_answers"]})["keep"] == decision
        assert ANSWERS["ckl_expert"](item_fields)["keep"] == "yes"


def test_a_layout_of_ones_own_is_named(tmp_path: Path) -> None:
    hit_batch, _ = make_batch(replace(order(tmp_path), number=1))
    assert read_batch(hit_batch).layout == "quick"
    with pytest.raises(UserError, match=r"no answers to the layout 'quick'.*\n.*verify_facts"):
        rehearse(hit_batch, tmp_path / "results.jsonl")
