"""Checks for the tests of extensions in other packages.

    from factdrift.testing import check_dataset

    def test_the_sample(tmp_path):
        release = check_dataset("two-hop", tmp_path)

`check_filter`, `check_backend` and `check_platform` do the same for the other kinds. A failure is
an `AssertionError` with a message for the author of the extension.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from factdrift.annotation.batch import Hit, HitBatch, attention_items, layout_sha256
from factdrift.annotation.layout import FOLDER, load_layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms.base import Platform, Recognition
from factdrift.annotation.submission import Refused, Submission
from factdrift.api import DatasetRelease, ReleaseConfig, open_release
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.prompts import ModelSettings
from factdrift.builders.generate.protocol import Result
from factdrift.builders.release.card import reason_text
from factdrift.builders.rows import Article, Candidate, Draw, Question
from factdrift.filters.base import Filter, FilterContext, QuestionItem

_BUILD_SETTINGS = (("0", 1), ("1", 2))
"""Seeds of Python's hashes and numbers of processes, neither of which may change the release."""


def check_dataset(recipe: str | Path, folder: Path) -> DatasetRelease:
    """Build the sample of a recipe twice, check both releases, and return the first.

    The releases must have the same bytes with another hash seed and number of processes, and must
    agree with their manifests. Their rows must have what is needed to prompt a model and to score
    its answers. Each reason to drop a row must have a sentence on the card. `recipe` is a path, or
    the name of a dataset in an installed package. `folder` is an empty folder to work in.
    """
    releases = [
        open_release(_built(recipe, folder / seed, seed, jobs)) for seed, jobs in _BUILD_SETTINGS
    ]
    for built_release in releases:
        assert not (problems := built_release.problems()), "\n".join(problems)
    release, second_release = releases
    sums_by_build = [built_release.manifest.sha256s() for built_release in releases]
    differing_paths = _differing_paths(*sums_by_build)
    assert not differing_paths, (
        f"files that differ between two builds: {', '.join(differing_paths)}"
    )
    assert release.manifest == second_release.manifest, "the manifests of two builds differ"
    asking_configs = [config for config in release.configs.values() if config.asks]
    assert asking_configs, "no config asks anything: a row type needs id, prompt and targets"
    for config in asking_configs:
        _check_rows(config)
    unexplained = _unexplained_reasons((release.folder / "README.md").read_text("utf-8"))
    assert not unexplained, (
        f"drop reasons without a sentence: {', '.join(unexplained)}; "
        "put them into `reasons` of the `Dataset` that the builder returns"
    )
    return release


def _unexplained_reasons(card_text: str) -> list[str]:
    """Return the drop reasons of which the card's table has only the name in words.

    >>> _unexplained_reasons("| screen | no_page | 3 | no page |\\n| screen | old | 1 | It ends. |")
    ['no_page']
    """
    cells = [line.split("|")[1:-1] for line in card_text.splitlines() if line.startswith("| ")]
    drop_cells = [
        row for row in cells if len(row) == 4 and row[2].strip().replace(",", "").isdigit()
    ]
    unexplained: list[str] = []
    for _, reason_cell, _, text_cell in drop_cells:
        # Markdown has a backslash before an underscore
        reason = reason_cell.replace("\\", "").strip(" `")
        if text_cell.strip() == reason_text(reason, {}):
            unexplained.append(reason)
    return unexplained


def _differing_paths(first_sums: Mapping[str, str], second_sums: Mapping[str, str]) -> list[str]:
    """Return the paths whose checksums differ, or that are in one of two builds only."""
    differing_files = set(first_sums.items()) ^ set(second_sums.items())
    return sorted({path for path, _ in differing_files})


def _built(recipe: str | Path, folder: Path, seed: str, jobs: int) -> Path:
    """Build a release in a new process and return its folder."""
    command_line = [sys.executable, "-m", "factdrift", "release", str(recipe), "--jobs", str(jobs)]
    command_line += ["--out", str(folder / "releases"), "--build", str(folder / "build")]
    python_path = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": python_path}
    completed = subprocess.run(command_line, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (manifest_path,) = (folder / "releases").glob("*/*/manifest.json")
    return manifest_path.parent


def _check_rows(config: ReleaseConfig) -> None:
    """Check that ids and targets are unique, and that no prompt, target or subject is missing."""
    roles = config.entry.roles
    assert roles is not None
    row_ids: set[str] = set()
    for row in config.rows():
        place = f"{config.name}/{row.split}: {row.id}"
        assert row.id and row.id not in row_ids, f"{place}: the id is empty or there twice"
        row_ids.add(row.id)
        assert row.prompt.strip(), f"{place}: the prompt is empty"
        assert all(target.strip() for target in row.targets), f"{place}: a target is empty"
        assert len(set(row.targets)) == len(row.targets), f"{place}: a target is there twice"
        subject_column = roles.subject.partition(".")[0]
        assert row.values[subject_column] is not None, f"{place}: {subject_column} is null"
    assert row_ids, f"{config.name} has no row"


def check_filter(
    filter_: Filter, cases: Mapping[str, str | None], article: str = "An article."
) -> None:
    """Judge questions, and compare the reasons to drop them.

    `cases`: question -> the reason, or None where it is kept; `article`: the text that all are
    about. The filter has to explain each reason in its `reasons`.
    """
    items = [_question_item(question, article) for question in cases]
    verdicts = filter_.judge(items, FilterContext())
    assert len(verdicts) == len(items), f"{len(verdicts)} verdicts for {len(items)} questions"
    for (question, expected), verdict in zip(cases.items(), verdicts, strict=True):
        reason = None if verdict.keep else verdict.reason
        assert reason == expected, f"{question!r}: {reason!r}, not {expected!r}"
        assert reason is None or reason in filter_.reasons, f"no sentence in `reasons` for {reason}"


def _question_item(question: str, article_text: str) -> QuestionItem:
    day = date(2020, 3, 2)
    article = Article("20200302", day, (article_text,), article_text)
    draw = Draw("draw", article.id, "eval", "recent", day, day, "2020Q1")
    span = Candidate(0, len(article_text), article_text, "phrase", None, 0)
    return QuestionItem(Question(question, draw, question, span, "test"), article)


def check_backend(settings: ModelSettings, prompts: Sequence[str], seed: int = 0) -> list[Result]:
    """Ask a model each prompt, twice, and return its results.

    Each prompt has to have one result, handed over as it comes and kept, so that the second time
    the model is asked nothing.
    """
    with TemporaryDirectory() as folder:
        first = CachedModel(settings.open(seed), Path(folder))
        results = first.complete(prompts)
        assert len(results) == len(prompts), f"{len(results)} results for {len(prompts)} prompts"
        missing = [prompt for prompt, result in zip(prompts, results, strict=True) if not result]
        assert not missing, f"no result for {missing[0]!r}"
        # Offline the cache alone answers: what was not handed to `on_result` is missing there.
        again = CachedModel(settings.open(seed), Path(folder), offline=True)
        assert again.complete(prompts) == results, "other results from the cache"
    return results


def check_platform(
    platform: Platform, folder: Path, make_results: Callable[[Path, Path], Path]
) -> list[Submission]:
    """Export a batch, and read results of it, whose submissions are returned.

    The batch has one HIT of the layout `judge_question`. `make_results` gets the folder of the
    exported files and an empty one; it writes there what the platform would return and gives the
    file. The export has to have the same bytes twice, and the platform to recognise its results.
    """
    layout = load_layout("judge_question")
    batch = HitBatch(
        id="0123456789abcdef",
        number=1,
        layout=layout.name,
        layout_sha256=layout_sha256(FOLDER / layout.name),
        dataset="test",
        platform=platform.name,
        seed=0,
        hits=(Hit("hit-1", tuple(attention_items(layout))),),
        folder=folder,
    )
    exports = []
    for name in ("first", "second"):
        target = folder / name
        target.mkdir(parents=True)
        platform.export(batch, layout, target, Delivery())
        files = sorted(path for path in target.rglob("*") if path.is_file())
        assert files, "the export is empty"
        exports.append({path.relative_to(target): path.read_bytes() for path in files})
    assert exports[0] == exports[1], "two exports of one batch differ"
    (folder / "results").mkdir()
    path = make_results(folder / "first", folder / "results")
    assert platform.recognises(path) is not Recognition.NO, "its own results are not recognised"
    submissions = []
    for submission in platform.read(path):
        assert not isinstance(submission, Refused), f"refused: {submission}"
        assert submission.batch == batch.id, f"another batch: {submission.batch}"
        assert submission.hit in batch.hit_by_id, f"another HIT: {submission.hit}"
        submissions.append(submission)
    assert submissions, "no submission in the results"
    return submissions
