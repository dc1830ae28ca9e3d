"""Texts of models for the CKL steps: prompts, T5's gaps, tiny models of transformers, the cache."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.ckl.common import Periods
from factdrift.builders.ckl.models import (
    PromptedStep,
    Translation,
    continue_prompts,
    default_prompt,
    fill_slots,
)
from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import open_model
from factdrift.builders.generate.transformers_models import first_mask
from factdrift.builders.recipes.recipe import FOLDER, read_recipe, recipes
from tests import tiny_model

TEXT = "Ann Lee leads Acme. Bo Ek leads Ajax."


@pytest.mark.parametrize(
    ("prompt", "slots", "expected"),
    [
        ("<cloze>", {"cloze": "[BLANK] won."}, "[BLANK] won."),
        ("A <text> B", {"text": "<text> <cloze>"}, "A <text> <cloze> B"),
        ("<article>|<sentence>", {"article": "abcdef", "sentence": "abcdef"}, "abcd|abcdef"),
        ("<other> <text>", {"text": r"\1 {0}"}, r"<other> \1 {0}"),
    ],
)
def test_slots_are_filled_once_with_texts_as_they_are(
    prompt: str, slots: dict[str, str], expected: str
) -> None:
    assert fill_slots(prompt, slots, 4) == expected


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("predict", ["<cloze>"]),
        ("decontextualise", ["<article>", "<sentence>"]),
        ("forward", ["<text>"]),
        ("back", ["<text>"]),
    ],
)
def test_the_projects_prompts_have_their_slots(name: str, slots: list[str]) -> None:
    prompt = default_prompt(name)
    assert [slot for slot in slots if prompt.count(slot) != 1] == []
    assert prompt.endswith(":")


def test_periods_are_in_order() -> None:
    paper = Periods()
    assert (paper.old_until, paper.first, paper.last) == (
        date(2020, 4, 30),
        date(2020, 5, 1),
        date(2021, 4, 30),
    )
    with pytest.raises(ValueError, match="old_until has to be before first"):
        Periods(old_until=date(2020, 5, 1))


def test_what_waits_for_gold() -> None:
    recipes_by_name = {path.stem: recipe for path, recipe in recipes(FOLDER).items()}
    gold = {
        name_with_gold
        for name_with_gold, recipe_with_gold in recipes_by_name.items()
        if "gold" in recipe_with_gold.inputs and not recipe_with_gold.inputs["gold"].optional
    }
    names = {"ckl-clozes", "updated-lama", "new-lama", "new-lama-easy-clozes", "new-lama-easy"}
    assert gold == names | {f"{name}-paper" for name in names}
    for name in names:
        assert recipes_by_name[name].waits_for(()) == {"gold"}
        assert recipes_by_name[name].waits_for(["gold"]) == set()
        assert recipes_by_name[f"{name}-paper"].waits_for(["gold"]) == {"news"}
    assert recipes_by_name["ckl-questions"].waits_for(()) == set()


@pytest.mark.parametrize("name", ["ckl-clozes-paper", "new-lama-easy-clozes-paper"])
def test_the_models_that_a_recipe_suggests_can_be_put_in(name: str, tmp_path: Path) -> None:
    text = (FOLDER / f"{name}.yaml").read_text("utf-8")
    suggested = text.split("put under `build:`\n")[1].split("dataset:")[0]
    lines = "".join(f"{line.removeprefix('# ')}\n" for line in suggested.splitlines())
    path = tmp_path / "recipe.yaml"
    path.write_text(text + lines, "utf-8")
    build = read_recipe(path).build.model_dump()
    assert {"predict", "translate"} & {name for name, value in build.items() if value}


@pytest.fixture(params=["causal", "seq2seq"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    pytest.importorskip("torch")
    folder = getattr(tiny_model, request.param)(tmp_path / "model", [TEXT] * 3)
    return {"backend": "transformers", "model": str(folder), "new_tokens": 5}


def test_local_models_write_and_are_not_asked_again(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    prompted_step = PromptedStep.model_validate({"backend": settings, "prompt": "<text>"})
    assert Translation(forward=prompted_step, back=prompted_step).forward.blank == "[BLANK]"
    slots = [{"text": TEXT}, {"text": "Ann Lee"}, {"text": TEXT}]
    first_model = open_model(prompted_step.backend, 3, tmp_path / "answers", offline=False)
    continued_texts = continue_prompts(first_model, prompted_step, "predict", slots)
    assert continued_texts[0] == continued_texts[2]
    assert (first_model.misses, first_model.hits) == (2, 1)
    offline_model = open_model(prompted_step.backend, 3, tmp_path / "answers", offline=True)
    assert continue_prompts(offline_model, prompted_step, "predict", slots) == continued_texts
    with pytest.raises(UserError, match="not in the cache"):
        continue_prompts(offline_model, prompted_step, "predict", [{"text": "new"}])


def test_of_t5s_gaps_the_first_counts(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoTokenizer

    tiny_model.seq2seq(tmp_path / "model", [TEXT] * 3)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    text = "<extra_id_0> Ann Lee <extra_id_1> leads <extra_id_2>"
    row = torch.tensor(tokenizer(text)["input_ids"])
    assert first_mask(row, tokenizer).tolist() == row.tolist()  # no tokenizer of T5
    tokenizer.add_special_tokens(
        {"additional_special_tokens": [f"<extra_id_{gap_number}>" for gap_number in range(3)]}
    )
    row = torch.tensor(tokenizer(text)["input_ids"])
    first_gap = tokenizer.decode(first_mask(row, tokenizer), skip_special_tokens=True)
    assert str(first_gap).strip() == "Ann Lee"
