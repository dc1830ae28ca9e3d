"""What experts found in the old corpus: gold rows of `ckl_expert`, with the rule applied."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from builders.ckl.answers import Answers, DropError, accepted, agreed, each_row, loaded, span, usual
from builders.ckl.decide import Verdict, decide
from builders.ckl.texts import BLANK, plain
from builders.questions.squad import normal_or_all
from builders.rows import Article, Dropped, Evidence, Gold
from builders.run import Run
from builders.wmt.lines import days_of, sorting_key
from builders.wmt.passages import passage_prefix, texts

LAYOUT = "ckl_expert"
STEP = "ckl-decide"
_SHOWN_ID = re.compile(r"([0-9]{8})-([0-9a-f]{64})_([0-9]{1,9})")


@dataclass(frozen=True)
class Marked:
    """What an expert marked in a passage of the old corpus, as it was shown."""

    article: str
    day: date
    number: int
    passage: str
    start: int
    end: int


@dataclass(frozen=True)
class Judged:
    """One cloze as an expert left it: updated, with its old answer, or new."""

    row: str
    clozes: str
    verdict: Verdict
    statement: str
    prediction: str | None
    old_answer: str | None
    marked: Marked | None
    passages: int


def judged(run: Run, until: date) -> tuple[list[Judged], list[Dropped]]:
    """The clozes that are updated or new, and why the others are neither.

    `until`: the last day of the old corpus; evidence of a later day is refused. Where a model
    predicted nothing, whether it is supported counts as not asked.
    """
    return each_row(run, LAYOUT, STEP, lambda gold: _judged(gold, until))


def located(marked: Marked, old: Mapping[str, Article]) -> Evidence:
    """Where in its article an expert's mark is; `DropError`: the article says it nowhere."""
    article = old.get(marked.article)
    if article is None:
        raise DropError("no_old_article", marked.passage)
    passages = [text for _, text in texts(article)]
    if marked.number >= len(passages) or passages[marked.number] != marked.passage:
        raise DropError("bad_evidence", "the passage is not the article's")
    prefix = len(passage_prefix(article.day))
    before = sum(len(text) - prefix + 1 for text in passages[: marked.number])
    start, end = max(marked.start - prefix, 0), marked.end - prefix
    if end <= start:
        raise DropError("bad_evidence", "only the day was marked")
    return Evidence(article.id, article.day, before + start, before + end)


def shown_id(passage: str) -> str:
    """The id of a passage as people's items hold it: no control characters.

    `passage` is an article's id, `_` and a number.
    """
    key, _, number = passage.rpartition("_")
    return f"{key[:8]}-{key[22:86]}_{number}"


def _judged(gold: Gold, until: date) -> Judged:
    answers = loaded(accepted(gold).answers, "answers")
    shown = loaded(gold.shown, "shown")
    prediction = plain(shown.get("prediction"))

    def said(name: str) -> str | None:
        return agreed(answers, name)

    asked = ("no", None) if prediction is None else (said("supported"), said("prediction_is"))
    verdict = decide(*asked, said("found"), said("other_is"))
    if verdict.fate in ("discarded", "refused"):
        raise DropError(verdict.reason)
    statement = usual(answers, "statement") or ""
    if statement.count(BLANK) != 1:
        raise DropError("not_one_blank", statement)
    passages = _passages(shown)
    old_answer, marked = None, None
    if verdict.fate == "updated":
        old_answer = _old_answer(answers, verdict, prediction)
        if normal_or_all(old_answer) == normal_or_all(plain(shown.get("new_answer")) or ""):
            raise DropError("contradictory", f"{old_answer!r} is not different")
        name = "evidence" if verdict.reason == "supported" else "other_evidence"
        marked = _marked(answers, name, passages, until)
    return Judged(
        row=gold.row,
        clozes=gold.dataset,
        verdict=verdict,
        statement=statement,
        prediction=prediction,
        old_answer=old_answer,
        marked=marked,
        passages=len(passages),
    )


def _old_answer(answers: Answers, verdict: Verdict, prediction: str | None) -> str:
    if verdict.reason == "supported" and prediction is not None:
        return prediction
    value = answers.get("other_answer")
    found = plain(value) if not isinstance(value, list) else usual(answers, "other_answer")
    if found is None:
        raise DropError("missing_other_answer")
    return found


def _passages(shown: Answers) -> Sequence[Any]:
    value = shown.get("results")
    return value if isinstance(value, list) else []


def _marked(answers: Answers, name: str, passages: Sequence[Any], until: date) -> Marked:
    found = span(answers.get(name))
    if found is None:
        raise DropError(f"missing_{name}")
    place = len(passages) if found.paragraph is None else found.paragraph
    one = passages[place] if place < len(passages) else None
    text = one.get("text") if isinstance(one, Mapping) else None
    named = _SHOWN_ID.fullmatch(str(one.get("id"))) if isinstance(one, Mapping) else None
    if not isinstance(text, str) or text[found.start : found.end] != found.text or not named:
        raise DropError("bad_evidence", found.text)
    if days_of(named[1].encode()) is None:
        raise DropError("bad_evidence", named[1])
    day = date(int(named[1][:4]), int(named[1][4:6]), int(named[1][6:]))
    if day > until:
        raise DropError("evidence_not_old", f"{day} is after {until}")
    article = sorting_key(day, bytes.fromhex(named[2]))
    return Marked(article, day, int(named[3]), text, found.start, found.end)


def wanted(found: Iterable[Judged]) -> set[str]:
    """The old articles that experts marked in."""
    return {one.marked.article for one in found if one.marked}
