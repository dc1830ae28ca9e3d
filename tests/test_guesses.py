"""What three guesses score that know nothing of a period."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Cloze, ReleasedSegment
from factdrift.builders.templama.guesses import GUESSES, answers, guesses
from tests.release_sample import cloze, segment
from tests.tables import column_of


def tables(
    folder: Path, cloze_rows: Iterable[Cloze], object_labels: Mapping[int, str]
) -> tuple[list[Path], Path]:
    """The files of questions, and of timelines with the object of some subjects."""
    with writing(folder / "cloze.parquet", Cloze) as table_writer:
        for row in cloze_rows:
            table_writer.append(row)
    with writing(folder / "timelines.parquet", ReleasedSegment) as table_writer:
        for subject_number, object_label in object_labels.items():
            segment_values = asdict(segment(subject_number)) | {"object_label": object_label}
            column_names = ReleasedSegment.__dataclass_fields__
            table_writer.append(
                ReleasedSegment(**{name: segment_values.get(name, "") for name in column_names})
            )
    return [folder / "cloze.parquet"], folder / "timelines.parquet"


def test_guesses(tmp_path: Path) -> None:
    earlier_answers, later_answers = cloze(70).answers, cloze(7).answers
    cloze_rows = [
        cloze(1),  # unchanged: the answer before is right
        cloze(7, "updated", previous_answers=earlier_answers, added=("Q1007",)),
        # one of two stayed: a guess of it is left out
        cloze(
            8,
            "updated",
            previous_answers=earlier_answers,
            still_true=earlier_answers,
            added=("Q1008",),
        ),
        cloze(9, "new", targets=later_answers[0].aliases),
    ]
    table_files = tables(tmp_path, cloze_rows, {1: "Club 1", 7: "Club 70"})
    by_split = guesses(*table_files)
    guess_shares = {
        row["split"]: [row["comparisons"], *(row[name] for name in GUESSES)] for row in by_split
    }
    assert guess_shares["unchanged"][:2] == [1, 1.0] and guess_shares["unchanged"][3] == 1.0
    assert guess_shares["updated"][:2] == [2, 0.0] and guess_shares["updated"][3] == 0.0
    assert guess_shares["new"][0] == 1 and guess_shares["new"][3] == 0.0
    assert column_of(guesses(*table_files, "relation"), "comparisons") == [4]


def test_what_the_guesses_answer(tmp_path: Path) -> None:
    """Of several answers before it is the first that does not still hold, else the first."""
    first_answer, second_answer = cloze(70).answers[0], cloze(71).answers[0]
    cloze_rows = [
        cloze(1, "updated", previous_answers=(first_answer, second_answer)),
        cloze(
            2, "updated", previous_answers=(first_answer, second_answer), still_true=(first_answer,)
        ),
        cloze(
            3,
            "updated",
            previous_answers=(first_answer, second_answer),
            still_true=(second_answer, first_answer),
        ),
        cloze(4, "new"),
    ]
    guessed_labels = dict(answers(*tables(tmp_path, cloze_rows, {4: "Club 4"})))
    assert [guessed_labels[row.id] for row in cloze_rows] == [
        (None, "Club 4", "Club 70"),
        (None, "Club 4", "Club 71"),
        (None, "Club 4", "Club 70"),
        ("Club 4", "Club 4", None),
    ]
