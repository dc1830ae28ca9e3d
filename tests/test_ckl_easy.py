"""NewLAMA-Easy: sentences of plain articles, chosen, rewritten, masked and asked about."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import Item
from factdrift.annotation.rehearsal import dated
from factdrift.builders.rows import Decision, Gold
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.wmt.read import read_articles
from tests.asking_rows import check
from tests.ckl_walk import PEOPLE, Walk, chat_server, dropped, gold, rows, valid
from tests.tables import column_of

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
    gold_rows = []
    for item in items:
        sentences = item.fields["sentences"]
        assert isinstance(sentences, list)
        first_sentence = str(sentences[0])
        for start, (word, other_word) in PEOPLE["words"].items():
            if first_sentence.startswith(start):
                text = next(
                    statement
                    for statement in map(str, sentences[1:])
                    if word in statement and other_word in statement
                )
                dated_text = dated(text, str(item.fields["article_day"]))
                printed_text = {
                    "newness": "general",
                    "sentence": text,
                    "word": word,
                    "alone": dated_text,
                }
                gold_rows.append(gold(layout, item, valid(layout, item, printed_text)))
        for start, bad_word in PEOPLE["bad_words"].items():
            if first_sentence.startswith(start):
                decision: Decision = bad_word.get("decision", "accepted")
                answer_texts = {
                    answer_name: text
                    for answer_name, text in bad_word.items()
                    if answer_name != "decision"
                }
                printed_text = {
                    answer_name: text.format(sentences[1])
                    for answer_name, text in answer_texts.items()
                }
                if decision == "rejected":
                    valid(layout, item, printed_text)
                gold_rows.append(gold(layout, item, printed_text, decision))
    printed_text = {"newness": "general", "sentence": "x", "word": "x"}
    return [*gold_rows, gold(layout, "f" * 16, printed_text)]


def asked(items: Sequence[Item]) -> list[Gold]:
    """Two workers' questions and answers."""
    layout = "easy_question"
    gold_rows = []
    for item in items:
        cloze = str(item.fields["cloze"])
        chosen_question = next(
            printed_text for word, printed_text in PEOPLE["answers"].items() if word in cloze
        )
        rest = cloze.replace("[BLANK]", "").strip(" .")
        questions = [f"who {rest}?", f"what {rest}?"]
        for question, answer in zip(questions, chosen_question, strict=True):
            valid(layout, item, {"question": question, "answer": answer})
        agree = len({normalize_or_keep(part) for part in chosen_question}) == 1
        printed_text: dict[str, Any] = {
            "question": questions,
            "answer": chosen_question[0] if agree else chosen_question,
        }
        decision: Decision = "accepted" if agree else "disputed"
        gold_rows.append(
            gold(layout, item, printed_text, decision, 2, dataset="new-lama-easy-clozes 1.0.0")
        )
    return gold_rows


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    new_walk = Walk(tmp_path_factory.mktemp("easy"))
    new_walk.release("ckl-questions")
    new_walk.judge("easy_select", choices(new_walk.items("easy_select")))
    return new_walk


@pytest.mark.slow
def test_without_models_to_the_release(walk: Walk) -> None:
    release = walk.release("new-lama-easy-clozes")
    clozes = rows(release.folder, "data/all/full.parquet")
    assert set(column_of(clozes, "answer")) == {word for word, _ in PEOPLE["words"].values()}
    for cloze_row in clozes:
        assert cloze_row["cloze"].count("[BLANK]") == 1
    by = {(cloze_row["decontextualiser"], *cloze_row["translators"]) for cloze_row in clozes}
    assert by <= {("annotator",), (None,)} and ("annotator",) in by
    assert {"  decontextualisation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    assert {"  back-translation: skipped (the recipe names no backend for it)"} <= {*walk.said}
    bad_reasons = (
        "contradictory missing_sentence no_article no_sentence not_general not_new word_lost"
    )
    assert dropped(release.folder) == {"new-lama-easy-clozes": bad_reasons.split()}
    walk.judge("easy_question", asked(walk.items("easy_question")))
    final = walk.release("new-lama-easy")
    assert check(release.folder) == {"all": len(clozes)}
    assert check(final.folder) == {"all": 3}
    final_rows = {cloze_row["answer"]: cloze_row for cloze_row in rows(final.folder)}
    assert final_rows.keys() == {"Yoshihide Suga", "Wirecard", "Rafael Nadal"}
    assert dropped(final.folder)["new-lama-easy"] == ["not_the_word", "workers_differ"]
    for row in final_rows.values():
        assert row["query"].count("_X_") == 1
        assert len(row["questions"]) == 2
        place = row["new_evidence"]
        (article,) = read_articles(str(walk.news), [place["article"]])
        assert article.text[place["start"] : place["end"]] == row["answer"]
    assert "11,177" in (final.folder / "README.md").read_text("utf-8")


@pytest.fixture
def other_walk(walk: Walk, tmp_path: Path) -> Walk:
    return walk.beside(tmp_path)


@pytest.fixture
def model() -> Iterator[dict[str, Any]]:
    with chat_server(rewritten) as prompted_step:
        yield prompted_step


def test_models_rewrite_and_what_loses_the_word_is_dropped(
    other_walk: Walk, model: dict[str, Any]
) -> None:
    release = other_walk.release(
        "new-lama-easy-clozes", decontextualise=model, translate={"forward": model, "back": model}
    )
    clozes_by_answer = {row["answer"]: row for row in rows(release.folder, "data/all/full.parquet")}
    assert clozes_by_answer.keys() == {
        "Yoshihide Suga",
        "Jean Castex",
        "Maia Sandu",
        "Rafael Nadal",
    }
    assert dropped(release.folder)["new-lama-easy-clozes"].count("word_lost") == 2
    nadal, sandu = clozes_by_answer["Rafael Nadal"], clozes_by_answer["Maia Sandu"]
    assert nadal["decontextualiser"] == "annotator"  # the model lost the name: it stayed
    assert sandu["decontextualiser"] == "openai:m"
    assert sandu["cloze"].endswith(ALONE)
    assert "the said presidential" in sandu["cloze"]
    assert sandu["translators"] == ["openai:m", "openai:m"]
    for line in other_walk.said:
        assert "skipped" not in line
