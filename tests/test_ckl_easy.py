"""NewLAMA-Easy: sentences of the sample, chosen, rewritten, masked and asked about."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import Item
from factdrift.builders.rows import Decision, Gold
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.wmt.read import read_articles
from tests.asking_rows import check
from tests.ckl_walk import NEWS, PEOPLE, Walk, chat_server, dropped, gold, rows, valid
from tests.rehearsal import dated

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
        for start, (word, other) in PEOPLE["words"].items():
            if head.startswith(start):
                text = next(s for s in map(str, sentences[1:]) if word in s and other in s)
                alone = dated(text, str(item.fields["article_day"]))
                said = {"newness": "general", "sentence": text, "word": word, "alone": alone}
                found.append(gold(layout, item, valid(layout, item, said)))
        for start, bad in PEOPLE["bad_words"].items():
            if head.startswith(start):
                decision: Decision = bad.get("decision", "accepted")
                texts = {n: text for n, text in bad.items() if n != "decision"}
                said = {n: text.format(sentences[1]) for n, text in texts.items()}
                if decision == "rejected":
                    valid(layout, item, said)
                found.append(gold(layout, item, said, decision))
    said = {"newness": "general", "sentence": "x", "word": "x"}
    return [*found, gold(layout, "f" * 16, said)]


def asked(items: Sequence[Item]) -> list[Gold]:
    """Two workers' questions and answers."""
    layout = "easy_question"
    found = []
    for item in items:
        cloze = str(item.fields["cloze"])
        some = next(said for word, said in PEOPLE["answers"].items() if word in cloze)
        rest = cloze.replace("[BLANK]", "").strip(" .")
        questions = [f"who {rest}?", f"what {rest}?"]
        for question, answer in zip(questions, some, strict=True):
            valid(layout, item, {"question": question, "answer": answer})
        agree = len({normalize_or_keep(one) for one in some}) == 1
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


def test_without_models_to_the_release(walk: Walk) -> None:
    made = walk.release("new-lama-easy-clozes")
    clozes = rows(made.folder, "data/all/full.parquet")
    assert {r["answer"] for r in clozes} == {word for word, _ in PEOPLE["words"].values()}
    assert all(r["cloze"].count("[BLANK]") == 1 for r in clozes)
    by = {(r["decontextualiser"], *r["translators"]) for r in clozes}
    assert by <= {("annotator",), (None,)} and ("annotator",) in by
    assert {"  decontextualisation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    assert {"  back-translation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    bad = "contradictory missing_sentence no_article no_sentence not_general not_new word_lost"
    assert dropped(made.folder) == {"new-lama-easy-clozes": bad.split()}
    walk.judge("easy_question", asked(walk.items("easy_question")))
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
        (article,) = read_articles(str(NEWS), [place["article"]])
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
