"""From the sample news over written, judged and answered questions to the next releases."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.release.compare import compare
from factdrift.builders.rows import Decision, Gold
from tests.asking_rows import check
from tests.conftest import ROOT, run_cli
from tests.gold_rows import batch_items, config_rows, figure_rows, gold_row, write_gold

RECIPE = ROOT / "builders/recipes/streamingqa.yaml"
SKIPPED = {"answer_not_in_article", "context_reference", "round_trip", "search"}
VAGUE = "Where did he go with them that day?"
OWN = "in words of my own"
WRITTEN = "wmt-question-dates 1.0.0"
DECISIONS: tuple[Decision, ...] = ("accepted", "disputed", "accepted", "rejected", "open")
Row = Mapping[str, Any]


class Run:
    """Releases: `a` without people, `b` with written questions, `c` with reviews of both kinds."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.folder, self.build = folder, folder / "build"
        shutil.copytree(sample / "build", self.build)
        shutil.copytree(sample / "releases/streamingqa", folder / "releases/streamingqa")
        self.a = folder / "releases/streamingqa/1.0.0"
        self.dates = sample / "releases/wmt-question-dates/1.0.0"
        self.wrote: list[Gold] = []
        self.draws = {r["id"]: r for s in ("recent", "past") for r in config_rows(self.dates, s)}
        self.write_questions()
        self.b = self.release("1.1.0")
        self.judged: dict[str, Decision] = {}
        self.answered: dict[str, list[str]] = {}
        self.review()
        self.c = self.release("2.0.0")

    def release(self, version: str) -> Path:
        words = ("--gold", self.folder / "judgments", "--out", self.folder / "releases")
        run_cli("release", RECIPE, *words, "--build", self.build)
        return self.folder / "releases/streamingqa" / version

    def write_questions(self) -> None:
        """Questions like those of the backend, one in own words, one that says too little."""
        told: dict[str, list[Row]] = {}
        for row in config_rows(self.a, "all"):
            told.setdefault(row["evidence_id"], []).append(row)
        more: dict[str, Any] = {"out": self.folder / "hits", "number": 150}
        drawn = [
            batch_items("write_questions", self.dates, config=c, **more) for c in ("recent", "past")
        ]
        made = [item for some in drawn for item in some]
        for item in made:
            known = told.get(self.draws[item.row]["article"], [])
            entries = [{"question": r["question"], "answer": r["answers"][0]} for r in known[:2]]
            if entries:
                both = [*entries, {"question": VAGUE, "answer": "home"}]
                again = [{**entries[0], "answer": OWN}]
                answers = {"questions": [both, again]}
                self.wrote.append(gold_row(*shown(item), answers, judgments=2, dataset=WRITTEN))
        one, other, *_ = made
        right = {"questions": [{"question": "Who was it in Paris?", "answer": "Ann"}]}
        days = {**other.fields, "question_day": "2020-01-01"}
        taken = {one.row for one in self.wrote}
        free = [item.row for item in made if item.row not in taken]
        useless = [
            gold_row("write_questions", "0" * 16, one.fields, right),
            gold_row("write_questions", free[0], days, right),
            gold_row("write_questions", free[1], one.fields, {"questions": [7, []]}),
            gold_row("write_questions", free[2], one.fields, right, "open"),
        ]
        write_gold(self.folder / "judgments/write_questions", [*self.wrote, *useless])

    def review(self) -> None:
        """Of those drawn from release B every third is bad; of answers every kind is there."""
        judge = batch_items("judge_question", self.b, self.folder / "hits", number=200)
        found = []
        for number, item in enumerate(judge):
            decision = DECISIONS[number % len(DECISIONS)]
            self.judged[item.row] = decision
            verdict = {"verdict": "good" if decision == "accepted" else "bad"}
            found.append(gold_row(*shown(item), verdict, decision, 3, 3))
        stale = {**judge[0].fields, "question": "Who else?"}
        row = next(r["id"] for r in config_rows(self.b, "all") if r["id"] not in self.judged)
        found.append(gold_row("judge_question", row, stale, {"verdict": "bad"}, "rejected", 3, 3))
        found.append(
            gold_row("judge_question", "0" * 16, stale, {"verdict": "bad"}, "rejected", 3, 3)
        )
        write_gold(self.folder / "judgments/judge_question", found)
        known = {row["id"]: row for row in config_rows(self.b, "all")}
        found = []
        answer = batch_items("answer_question", self.b, self.folder / "hits", number=90)
        for number, item in enumerate(answer):
            right = known[item.row]["answers"][0]
            every = [[right, "the " + right, "Nobody"], [right] * 3, ["No", right], []]
            given = self.answered[item.row] = every[number % 4]
            said = {"answer": right if number % 4 == 1 else given} if given else {}
            answers = {"answerable": "yes" if given else "no", **said}
            settled: Decision = "accepted" if given else "rejected"
            found.append(gold_row(*shown(item), answers, settled, 3, len(given) or 2))
        found.append(gold_row("answer_question", "0" * 16, item.fields, {"answer": ["Who"]}))
        write_gold(self.folder / "judgments/answer_question", found)


def shown(item: Any) -> tuple[str, str, Mapping[str, Any]]:
    layout = {"article_day": "write_questions", "article_date": "answer_question"}
    name = next((layout[f] for f in item.fields if f in layout), "judge_question")
    return name, item.row, item.fields


@pytest.fixture(scope="module")
def done(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(sample, tmp_path_factory.mktemp("people"))


@pytest.mark.slow
def test_written_questions_are_added_and_nothing_else_changes(done: Run) -> None:
    changed = compare(done.a, done.b)
    assert changed.level == "minor"
    assert set(changed.totals()) == {"added"}
    old = {row["id"]: row for row in config_rows(done.a, "all")}
    new = {row["id"]: row for row in config_rows(done.b, "all")}
    assert {id_: new[id_] for id_ in old} == old
    wanted = {}
    for one in done.wrote:
        both, again = json.loads(one.answers)["questions"]
        for entry in both:
            given = [e["answer"] for e in (entry, *again) if e["question"] == entry["question"]]
            wanted[one.row, entry["question"]] = given
    written = [row for id_, row in new.items() if id_ not in old]
    assert len(written) > 100
    assert {row["recent_or_past"] for row in written} == {"recent", "past"}
    for row in written:
        (draw,) = (
            d
            for (draw_id, question), given in wanted.items()
            if question == row["question"]
            and given == list(row["answers"])
            and (d := done.draws[draw_id])["article"] == row["evidence_id"]
            and seconds(d["question_day"]) == row["question_ts"]
        )
        assert row["question"] != VAGUE
        assert (row["written_or_generated"], row["generator"]) == ("written", "people")
        assert (row["split"], row["quarter"]) == (draw["split"], draw["quarter"])
        drawn = (draw["subset"], seconds(draw["article_day"]))
        assert (row["recent_or_past"], row["evidence_ts"]) == drawn
        assert row["time_spec"] in ("own", "none")
        assert not SKIPPED & set(row["filters"])
        assert "toxicity" in row["filters"]
        assert row["toxicity_profanity"] is not None
    dropped = {r["filter"]: r["dropped"] for r in figure_rows(done.b, "written_filters")}
    assert sum(dropped.values()) == len(wanted) - len(written)
    outcomes = {(r["layout"], r["outcome"]): r["rows"] for r in figure_rows(done.b, "gold")}
    expected = dict.fromkeys(("changed", "no_such_row", "not_understood", "open"), 1)
    expected["taken"] = len(done.wrote)
    assert outcomes == {("write_questions", name): n for name, n in expected.items()}


def seconds(day: Any) -> int:
    return int((day - type(day)(1970, 1, 1)).days) * 86_400


@pytest.mark.slow
def test_judged_and_answered_rows_are_what_changes(done: Run) -> None:
    old = {row["id"]: row for row in config_rows(done.b, "all")}
    new = {row["id"]: row for row in config_rows(done.c, "all")}
    gone = {row for row, decision in done.judged.items() if decision in ("rejected", "disputed")}
    unanswerable = {row for row, given in done.answered.items() if not given}
    assert gone - unanswerable
    assert unanswerable - gone
    assert set(new) == set(old) - gone - unanswerable
    judged_written = [row for row in done.judged if old[row]["written_or_generated"] == "written"]
    assert judged_written
    baseline = {row["id"]: row for row in config_rows(done.c, "human_baseline")}
    assert check(done.c)["all"] == len(new)
    for id_, row in new.items():
        given = list(done.answered.get(id_, []))
        differ = {name for name in row if row[name] != old[id_][name]}
        if not given:
            assert not differ
            assert id_ not in baseline
            continue
        assert differ <= {"answers_additional", "targets"}
        before = old[id_]["answers_additional"]
        own, others = baseline[id_], list(row["answers_additional"])[len(before) :]
        assert sorted(given) == sorted([*others, *([own["answer"]] if own["answer"] else [])])
        known = [*row["answers"], *before, *others]
        assert own["exact_match"] == (own["answer"] in known or own["answer"] == "the " + known[0])
        assert own["exact_match"] <= own["f1"]
    assert set(baseline) == {i for i in new if done.answered.get(i)}
    more = {len(new[i]["answers_additional"]) - len(old[i]["answers_additional"]) for i in baseline}
    assert more == {1, 2}
    assert any(row["answer"] is None for row in baseline.values())


@pytest.mark.slow
def test_only_judged_rows_where_that_is_asked(done: Run, tmp_path: Path) -> None:
    text = RECIPE.read_text("utf-8").replace("../../samples", str(ROOT / "samples"))
    recipe = tmp_path / "streamingqa.yaml"
    recipe.write_text(text.replace("  people:\n", "  people:\n    judged: [written]\n"), "utf-8")
    words = ("--gold", done.folder / "judgments", "--build", done.build)
    run_cli("release", recipe, *words, "--out", tmp_path / "two")
    kept, every = (config_rows(r, "all") for r in (tmp_path / "two/streamingqa/1.0.0", done.c))
    written = [r for r in kept if r["written_or_generated"] == "written"]
    assert {done.judged.get(r["id"]) for r in written} == {"accepted"}
    others = [[r for r in some if r["written_or_generated"] != "written"] for some in (kept, every)]
    assert others[0] == others[1]
