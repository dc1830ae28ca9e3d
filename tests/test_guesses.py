"""What three guesses score that know nothing of a period."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Cloze, ReleasedSegment
from factdrift.builders.templama.guesses import GUESSES, answers, guesses
from tests.release_sample import cloze, segment


def tables(folder: Path, rows: Iterable[Cloze], held: Mapping[int, str]) -> tuple[list[Path], Path]:
    """The files of questions, and of timelines with the object of some subjects."""
    with writing(folder / "cloze.parquet", Cloze) as out:
        for row in rows:
            out.append(row)
    with writing(folder / "timelines.parquet", ReleasedSegment) as out:
        for n, label in held.items():
            own = asdict(segment(n)) | {"object_label": label}
            names = ReleasedSegment.__dataclass_fields__
            out.append(ReleasedSegment(**{name: own.get(name, "") for name in names}))
    return [folder / "cloze.parquet"], folder / "timelines.parquet"


def test_guesses(tmp_path: Path) -> None:
    before, after = cloze(70).answers, cloze(7).answers
    rows = [
        cloze(1),  # unchanged: the answer before is right
        cloze(7, "updated", previous_answers=before, added=("Q1007",)),
        # one of two stayed: a guess of it is left out
        cloze(8, "updated", previous_answers=before, still_true=before, added=("Q1008",)),
        cloze(9, "new", targets=after[0].aliases),
    ]
    files = tables(tmp_path, rows, {1: "Club 1", 7: "Club 70"})
    found = guesses(*files)
    table = {row["split"]: [row["comparisons"], *(row[name] for name in GUESSES)] for row in found}
    assert table["unchanged"][:3] == [1, 1.0, 1.0]
    assert table["updated"][:3] == [2, 0.0, 0.0]
    assert table["new"][:2] == [1, 0.0]
    assert [row["comparisons"] for row in guesses(*files, "relation")] == [4]


def test_what_the_guesses_answer(tmp_path: Path) -> None:
    """Of several answers before it is the first that does not still hold, else the first."""
    one, two = cloze(70).answers[0], cloze(71).answers[0]
    rows = [
        cloze(1, "updated", previous_answers=(one, two)),
        cloze(2, "updated", previous_answers=(one, two), still_true=(one,)),
        cloze(3, "updated", previous_answers=(one, two), still_true=(two, one)),
        cloze(4, "new"),
    ]
    found = dict(answers(*tables(tmp_path, rows, {4: "Club 4"})))
    assert [found[row.id] for row in rows] == [
        ("Club 70", None, "Club 4"),
        ("Club 71", None, "Club 4"),
        ("Club 70", None, "Club 4"),
        (None, "Club 4", "Club 4"),
    ]
