"""What three guesses score that know nothing of a period."""

from dataclasses import asdict
from pathlib import Path

from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Cloze, ReleasedSegment
from factdrift.builders.templama.guesses import GUESSES, answers, guesses
from tests.release_sample import cloze, segment


def test_guesses(tmp_path: Path) -> None:
    before, after = cloze(70).answers, cloze(7).answers
    rows = [
        cloze(1),  # unchanged: the answer before is right
        cloze(7, "updated", previous_answers=before, added=("Q1007",)),
        # one of two stayed: a guess of it is left out
        cloze(8, "updated", previous_answers=before, still_true=before, added=("Q1008",)),
        cloze(9, "new", targets=after[0].aliases),
    ]
    with writing(tmp_path / "cloze.parquet", Cloze) as out:
        for row in rows:
            out.append(row)
    with writing(tmp_path / "timelines.parquet", ReleasedSegment) as out:
        for n, label in ((1, "Club 1"), (7, "Club 70")):
            own = asdict(segment(n))
            more = {name: own.get(name, "") for name in ReleasedSegment.__dataclass_fields__}
            out.append(ReleasedSegment(**(more | {"object_label": label})))
    found = guesses([tmp_path / "cloze.parquet"], tmp_path / "timelines.parquet")
    table = {row["split"]: [row["comparisons"], *(row[name] for name in GUESSES)] for row in found}
    assert table["unchanged"][:3] == [1, 1.0, 1.0]
    assert table["updated"][:3] == [2, 0.0, 0.0]
    assert table["new"][:2] == [1, 0.0]
    by_relation = guesses([tmp_path / "cloze.parquet"], tmp_path / "timelines.parquet", "relation")
    assert [row["comparisons"] for row in by_relation] == [4]


def test_what_the_guesses_answer(tmp_path: Path) -> None:
    """Of several answers before it is the first that does not still hold, else the first."""
    one, two = cloze(70).answers[0], cloze(71).answers[0]
    rows = [
        cloze(1, "updated", previous_answers=(one, two)),
        cloze(2, "updated", previous_answers=(one, two), still_true=(one,)),
        cloze(3, "updated", previous_answers=(one, two), still_true=(two, one)),
        cloze(4, "new"),
    ]
    with writing(tmp_path / "cloze.parquet", Cloze) as out:
        for row in rows:
            out.append(row)
    with writing(tmp_path / "timelines.parquet", ReleasedSegment) as out:
        own = asdict(segment(4)) | {"object_label": "Club 4"}
        names = ReleasedSegment.__dataclass_fields__
        out.append(ReleasedSegment(**{name: own.get(name, "") for name in names}))
    found = dict(answers([tmp_path / "cloze.parquet"], tmp_path / "timelines.parquet"))
    assert [found[row.id] for row in rows] == [
        ("Club 70", None, "Club 4"),
        ("Club 71", None, "Club 4"),
        ("Club 70", None, "Club 4"),
        (None, "Club 4", "Club 4"),
    ]
