"""The warning of questions that are too easy says of each rule what it is."""

from pathlib import Path

from factdrift.builders.core.schema import write_sorted
from factdrift.reasoning.as_of.difficulty import RESULTS, RuleResult, easy_notes

CURRENT_OF_TEN = {"guess": 6, "prose": 7, "last": 10, "validity": 9}


def test_only_the_rule_that_does_not_read_knows_nothing(tmp_path: Path) -> None:
    results = [
        RuleResult(f"q{number}", "newest", rule, None, None, "current" if is_right else "wrong")
        for rule, current_count in CURRENT_OF_TEN.items()
        for number, is_right in enumerate([True] * current_count + [False] * (10 - current_count))
    ]
    write_sorted(tmp_path / RESULTS, RuleResult, results)
    guess_note, prose_note = easy_notes(tmp_path / RESULTS)
    assert "`guess`, which knows nothing, is right in 60%" in guess_note
    assert "`prose`, which reads with a few lines of code, is right in 70%" in prose_note
