"""All inputs of a run are looked at before anything is built, and what was finished is told."""

import re
from pathlib import Path

import pytest

from tests.conftest import run_cli


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (
            ("invariant-lama", "updated-lama", "new-lama"),
            (
                r"updated-lama\.yaml: input 'gold' is not given\n.*people write first",
                r"new-lama\.yaml: input 'gold' is not given\n.*factdrift docs people",
                r"without people, dynamic-templama asks what changed",
            ),
        ),
        (("invariant-lama", "ckl-clozes"), (r"ckl-clozes.yaml: input 'gold' is not given",)),
        (
            ("temporal-facts", "temporal-facts-latest"),
            (r"temporal-facts-latest\.yaml: input 'dump' is not given\n.*--dump sample",),
        ),
        (
            ("temporal-facts", "--older", "none.gz", "--dump", "sample"),
            (r"none\.gz: no such file",),
        ),
        (("invariant-lama", "timeqa", "--older", "sample"), (r"timeqa.*has no input 'older'",)),
    ],
)
def test_nothing_is_built_where_an_input_of_a_later_recipe_lacks(
    words: tuple[str, ...], messages: tuple[str, ...], tmp_path: Path
) -> None:
    completed = run_cli("release", *words, cwd=tmp_path, ok=False)
    assert completed.returncode == 1
    for message in messages:
        assert re.search(message, completed.stderr), completed.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_what_is_finished_is_told_where_a_later_recipe_fails(tmp_path: Path) -> None:
    """The second one finds a version of its name that is no release."""
    taken = tmp_path / "releases/temporal-facts/1.0.0"
    taken.mkdir(parents=True)
    (taken / "manifest.json").write_text("{}")
    words = ("wmt-question-dates", "temporal-facts", "--version", "1.0.0")
    completed = run_cli("release", *words, cwd=tmp_path, ok=False)
    assert completed.returncode == 1
    assert "finished: releases/wmt-question-dates/1.0.0" in completed.stderr
