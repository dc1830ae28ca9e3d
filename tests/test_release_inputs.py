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
    completed_run = run_cli("release", *words, cwd=tmp_path, ok=False)
    assert completed_run.returncode == 1
    for error_text in messages:
        assert re.search(error_text, completed_run.stderr), completed_run.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_what_is_finished_is_told_where_a_later_recipe_fails(tmp_path: Path) -> None:
    """The second one finds a version of its name that is no release."""
    taken_folder = tmp_path / "releases/temporal-facts/1.0.0"
    taken_folder.mkdir(parents=True)
    (taken_folder / "manifest.json").write_text("{}")
    command_words = ("wmt-question-dates", "temporal-facts", "--version", "1.0.0")
    completed_run = run_cli("release", *command_words, cwd=tmp_path, ok=False)
    assert completed_run.returncode == 1
    assert "finished: releases/wmt-question-dates/1.0.0" in completed_run.stderr
    assert "1 of 2 recipes failed: temporal-facts" in completed_run.stderr
