"""NewLAMA-Easy: sentences of the sample, chosen, rewritten, masked and asked about."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import load_layout
from factdrift.builders.release.publish import Draft
from factdrift.builders.rows import Decision, Gold
from factdrift.builders.text.squad import normal_or_all
from factdrift.builders.wmt.read import read
from tests.annotation_workers import hand_in, take
from tests.asking_rows import check
from tests.ckl_walk import NEWS, Walk, chat_server, dropped, gold, rows, valid
from tests.rehearsal import dated
from tests.simulated_workers import work

CHOSEN = {
    "Yoshihide Suga becomes": ("Yoshihide Suga", "prime minister"),
    "Jean Castex becomes": ("Jean Castex", "Macron"),
    "Wirecard files": ("Wirecard", "insolvency"),
    "Maia Sandu elected": ("Maia Sandu", "won"),
    "Nadal wins": ("Rafael Nadal", "title"),
}
"""Beginning of a headline: word, and another word of the sentence that is chosen."""
ALONE = " of the year 2020"


def rewritten(prompt: str) -> str:
    """A sentence made to stand alone, or translated; Wirecard is lost on the way."""
    *_, text, what = prompt.split("\n")
    last = text.partition(": ")[2]
    if what == "Rewritten:":
        return last.rstrip(".") + ALONE if "Nadal" not in last else "He won."
    if what == "English:":
        return last.replace("Wirecard", "The firm").replace("won the ", "won the said ")
    return last


def choices(items: Sequence[Item]) -> list[Gold]:
    """What workers choose, and some bad work."""
    layout = "easy_select"
    found = []
    for item in items:
        sentences = item.fields["sentences"]
        assert isinstance(sentences, list)
        head = str(sentences[0])
        for start, (word, other) in CHOSEN.items():
            if head.startswith(start):
                text = next(s for s in map(str, sentences[1:]) if word in s and other in s)
                alone = dated(text, str(item.fields["article_day"]))
                said = {"newness": "general", "sentence": text, "word": word, "alone": alone}
                found.append(gold(layout, item, valid(layout, item, said)))
        for start, said, decision in BAD:
            if head.startswith(start):
                said = {n: text.format(str(sentences[1])) for n, text in said.items()}
                if decision == "rejected":
                    valid(layout, item, said)
                found.append(gold(layout, item, said, decision))
    said = {"newness": "general", "sentence": "x", "word": "x"}
    return [*found, gold(layout, "f" * 16, said)]


BAD: list[tuple[str, dict[str, str], Decision]] = [
    ("Luis Arce", {"newness": "none"}, "rejected"),
    ("Apple presents", {"newness": "special"}, "rejected"),
    (
        "Diego Maradona",
        {"newness": "general", "sentence": "He was loved.", "word": "He"},
        "accepted",
    ),
    ("AMD agrees", {"newness": "general", "sentence": "{}", "word": "Intel"}, "accepted"),
    ("Court lifts", {"newness": "none", "sentence": "{}", "word": "UEFA"}, "accepted"),
    ("Microsoft agrees", {"newness": "general", "word": "Microsoft"}, "accepted"),
]
"""Beginning of a headline, and bad work on it."""


def asked(items: Sequence[Item], answers: dict[str, list[str]]) -> list[Gold]:
    """Two workers' questions; `answers` by a word of the statement, else what it says itself."""
    layout = "easy_question"
    found = []
    for item in items:
        cloze = str(item.fields["cloze"])
        some = next(said for word, said in answers.items() if word in cloze)
        rest = cloze.replace("[BLANK]", "").strip(" .")
        questions = [f"who {rest}?", f"what {rest}?"]
        for question, answer in zip(questions, some, strict=True):
            valid(layout, item, {"question": question, "answer": answer})
        agree = len({normal_or_all(one) for one in some}) == 1
        said: dict[str, Any] = {"question": questions, "answer": some[0] if agree else some}
        decision: Decision = "accepted" if agree else "disputed"
        found.append(gold(layout, item, said, decision, 2, dataset="new-lama-easy-clozes 1.0.0"))
    return found


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    made = Walk(tmp_path_factory.mktemp("easy"))
    made.release("ckl-questions")
    made.judge("easy_select", choices(made.items("easy_select")))
    return made


ANSWERS = {
    "Japan": ["Yoshihide Suga", "yoshihide  suga."],
    "France": ["Jean Castex", "Castex"],
    "insolvency": ["Wirecard", "the Wirecard"],
    "Moldova": ["Sandu", "sandu"],
    "title": ["Rafael Nadal", "Rafael Nadal"],
}


def test_without_models_to_the_release(walk: Walk) -> None:
    made = walk.release("new-lama-easy-clozes")
    clozes = rows(made.folder, "data/all/full.parquet")
    assert {r["answer"] for r in clozes} == {word for word, _ in CHOSEN.values()}
    assert all(r["cloze"].count("[BLANK]") == 1 for r in clozes)
    by = {(r["decontextualiser"], *r["translators"]) for r in clozes}
    assert by <= {("annotator",), (None,)} and ("annotator",) in by
    assert {"  decontextualisation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    assert {"  back-translation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    bad = "contradictory missing_sentence no_article no_sentence not_general not_new word_lost"
    assert dropped(made.folder) == {"new-lama-easy-clozes": bad.split()}
    walk.judge("easy_question", asked(walk.items("easy_question"), ANSWERS))
    final = walk.release("new-lama-easy")
    assert check(made.folder) == {"all": len(clozes)}
    assert check(final.folder) == {"all": 3}
    found = {r["answer"]: r for r in rows(final.folder)}
    assert found.keys() == {"Yoshihide Suga", "Wirecard", "Rafael Nadal"}
    assert dropped(final.folder)["new-lama-easy"] == ["not_the_word", "workers_differ"]
    for row in found.values():
        assert row["query"].count("_X_") == 1
        assert len(row["questions"]) == 2
        place = row["new_evidence"]
        (article,) = read(str(NEWS), [place["article"]])
        assert article.text[place["start"] : place["end"]] == row["answer"]
    assert "11,177" in (final.folder / "README.md").read_text("utf-8")


@pytest.fixture
def other(walk: Walk, tmp_path: Path) -> Walk:
    return walk.beside(tmp_path)


@pytest.fixture
def model() -> Iterator[dict[str, Any]]:
    with chat_server(rewritten) as step:
        yield step


def test_models_rewrite_and_what_loses_the_word_is_dropped(
    other: Walk, model: dict[str, Any]
) -> None:
    made = other.release(
        "new-lama-easy-clozes", decontextualise=model, translate={"forward": model, "back": model}
    )
    found = {r["answer"]: r for r in rows(made.folder, "data/all/full.parquet")}
    assert found.keys() == {"Yoshihide Suga", "Jean Castex", "Maia Sandu", "Rafael Nadal"}
    assert dropped(made.folder)["new-lama-easy-clozes"].count("word_lost") == 2
    nadal, sandu = found["Rafael Nadal"], found["Maia Sandu"]
    assert nadal["decontextualiser"] == "annotator"  # the model lost the name: it stayed
    assert sandu["decontextualiser"] == "openai:m"
    assert sandu["cloze"].endswith(ALONE)
    assert "the said presidential" in sandu["cloze"]
    assert sandu["translators"] == ["openai:m", "openai:m"]
    assert not any("skipped" in line for line in other.said)


@pytest.mark.slow
def test_whatever_workers_say_each_row_is_kept_or_dropped_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random valid answers, through real batches, results files and the import, in both chains."""
    monkeypatch.setattr(Draft, "is_empty", lambda self: False)  # they may agree on nothing
    walk = Walk(tmp_path)
    walk.release("ckl-questions")
    sizes = {}
    for layouts, name in (
        (("ckl_question", "easy_select"), "ckl-clozes"),
        ((), "new-lama-easy-clozes"),
        (("ckl_expert", "easy_question"), ""),
    ):
        for layout in layouts:
            batch = walk.batch(layout, 12)
            workers = 1 if layout == "easy_select" else 2  # two at random hardly ever agree
            made = work(batch, load_layout(layout), workers=workers)
            assert take(tmp_path, hand_in(tmp_path, made)).new
            path = tmp_path / "judgments" / layout / "gold.parquet"
            sizes[layout] = len(rows(path.parent, path.name))
        if name:
            walk.release(name)
    updated, new = walk.release("updated-lama").folder, walk.release("new-lama").folder
    easy = walk.release("new-lama-easy").folder
    assert sizes["ckl_question"] == 12
    for folder, layout, step in (
        (updated, "ckl_expert", "ckl-decide"),
        (new, "ckl_expert", "ckl-decide"),
        (easy, "easy_question", "new-lama-easy"),
    ):
        names = [r["id"] for r in rows(folder)]
        names += [
            r["item"]
            for r in rows(folder, "dropped.parquet")
            if r["step"] == step and r["reason"] not in ("not_judged", "not_asked")
        ]
        assert len(names) == len(set(names)) == sizes[layout]
