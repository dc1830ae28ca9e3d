"""Datasets in packages of others: the skeleton, the entry point, the kit that checks them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from factdrift.api import open_release
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import RunInputs
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.recipes.datasets import find_builder, recipe_of
from factdrift.builders.recipes.new import write_skeleton
from factdrift.builders.recipes.recipe import find_recipe, read_recipe, recipe_name
from factdrift.testing import _check_rows
from tests.conftest import ROOT, run_cli, run_process
from tests.release_sample import Sample, cloze, publish


def install(site: Path, module: str, entry: str) -> None:
    """Put an entry point on a folder of `sys.path`, as pip would."""
    about = site / f"{module}-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(f"[factdrift.datasets]\n{entry}\n")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The skeleton of `two-hop`, as installed: its folder is what `sys.path` needs."""
    assert (
        "factdrift release two-hop"
        in run_cli("new", "dataset", "two-hop", "--out", tmp_path).stderr
    )
    install(tmp_path / "two-hop", "two_hop", "two-hop = two_hop.dataset:TwoHop")
    return tmp_path / "two-hop"


def own_tests(package: Path) -> tuple[int, str]:
    """The package's own tests, run as its author runs them."""
    command_words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ended_process = run_process(
        *command_words, cwd=package, ok=False, env={"PYTHONPATH": f"{package}{os.pathsep}{ROOT}"}
    )
    return ended_process.returncode, ended_process.stdout + ended_process.stderr


@pytest.mark.slow
def test_the_skeleton_passes_its_own_tests(package: Path) -> None:
    exit_status, printed_text = own_tests(package)
    assert exit_status == 0, printed_text
    assert not [
        package_file
        for package_file in package.rglob("*")
        if package_file.is_file() and b"my_dataset" in package_file.read_bytes()
    ]


@pytest.mark.slow
def test_a_dataset_that_depends_on_the_order_of_a_hash_is_found_out(package: Path) -> None:
    path = package / "two_hop/dataset.py"
    path.write_text(path.read_text().replace('tuple(fact["answers"])', 'tuple({*"abcdefgh"})'))
    exit_status, printed_text = own_tests(package)
    assert exit_status == 1
    assert "files that differ between two builds: " in printed_text


def test_a_dataset_is_named_like_ours(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package)
    path = find_recipe("two-hop")
    assert path == recipe_of("two-hop") == package / "two_hop/recipe.yaml"
    recipe = read_recipe(path)
    assert type(recipe.build) is find_builder("two-hop")
    assert recipe_name(path, recipe) == "two-hop"
    bad_recipe = package / "bad.yaml"
    bad_recipe.write_text(path.read_text() + "  depht: 2\n")
    with pytest.raises(UserError, match=r"build.depht: unknown field, the fields are builder"):
        read_recipe(bad_recipe)


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        ("import not_there", "the dataset 'odd' cannot be loaded: ModuleNotFoundError"),
        ("Odd = 1", "odd:Odd is not a DatasetBuilder"),
        ("Odd = int", "odd:Odd is not a DatasetBuilder"),
        ("", "the dataset 'odd' cannot be loaded: AttributeError"),
    ],
)
def test_a_package_that_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, refusal: str
) -> None:
    install(tmp_path, "odd", "odd = odd:Odd")
    (tmp_path / "odd.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd", raising=False)
    with pytest.raises(UserError, match=refusal):
        find_builder("odd")
    with pytest.raises(ValueError, match="did you mean 'timeqa'"):
        find_builder("timeq")


NAMES_THAT_ARE_REFUSED = {
    "": "other characters",
    "Two": "other characters",
    "two_hop": "other characters",
    "2hop": "other characters",
    "a--b": "other characters",
    "-a": "other characters",
    "a/b": "other characters",
    "timeqa": "there is a dataset of that name",
    "as-of": "there is a dataset of that name",
    "class": "a word of Python",
    "json": "Python imports another module",
    "numpy": "Python imports another module",
    "scikit-learn": "a package of that name is installed",
}


@pytest.mark.parametrize(("name", "problem"), NAMES_THAT_ARE_REFUSED.items())
def test_a_name_that_a_package_cannot_have(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(UserError, match=f"not a name for a dataset: .*{problem}"):
        write_skeleton("dataset", name, tmp_path)


def test_a_skeleton_does_not_overwrite(tmp_path: Path) -> None:
    (tmp_path / "two-hop").mkdir()
    with pytest.raises(UserError, match="is there already"):
        write_skeleton("dataset", "two-hop", tmp_path)
    with pytest.raises(UserError, match="no kind 'datset'"):
        write_skeleton("datset", "three-hop", tmp_path)


def test_the_skeleton_of_a_relation_is_a_template_that_the_check_takes(tmp_path: Path) -> None:
    run_cli("new", "relation", "P3300-opera", "--out", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["P3300-opera.yaml", "schema.json"]
    checked = run_cli("templates", "P3300", "--templates", tmp_path).stdout.splitlines()
    assert checked[0] == "P3300-opera placeholder (accumulate)"
    assert len(checked) == 5  # two clozes and two questions
    template_path = tmp_path / "P3300-opera.yaml"
    template = load_relations(tmp_path).whole()["P3300-opera"]
    assert template.phrases and template.news
    questions = template.news.model_dump(exclude={"cues", "changes", "possessions"})
    assert [name for name, question in questions.items() if question is None] == []
    for name in ("p3300", "P3300_opera", "P03", "../P3", "two-hop"):
        with pytest.raises(UserError, match="not a name for a relation"):
            write_skeleton("relation", name, tmp_path)
    with pytest.raises(UserError, match="is there already"):
        write_skeleton("relation", "P3300-opera", tmp_path)
    # one word replaced makes all of it a template of another relation
    skeleton_text = template_path.read_text("utf-8")
    replaced_text = skeleton_text.replace("placeholder", "conductor")
    template_path.write_text(replaced_text, "utf-8")
    assert "warning" not in run_cli("templates", "--templates", tmp_path).stderr
    template_path.write_text(
        replaced_text.replace("become the conductor", "become the placeholder", 1), "utf-8"
    )
    noted = run_cli("templates", "--templates", tmp_path).stderr.strip()
    assert noted.endswith("P3300-opera.yaml: `placeholder` stands yet in phrases.did")


def test_a_skeleton_without_its_kind_is_a_dataset(tmp_path: Path) -> None:
    """Version 0.2 had no kinds: `factdrift new two-hop` still writes a dataset."""
    run_cli("new", "three-hop", "--out", tmp_path)
    assert (tmp_path / "three-hop/three_hop/dataset.py").is_file()


KINDS_WITH_TESTS = (
    "filter",
    pytest.param("backend", marks=pytest.mark.slow),
    pytest.param("platform", marks=pytest.mark.slow),
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_WITH_TESTS)
def test_a_skeleton_of_another_kind_passes_its_own_tests(tmp_path: Path, kind: str) -> None:
    run_cli("new", kind, "own-thing", "--out", tmp_path)
    package = tmp_path / "own-thing"
    exit_status, output = own_tests(package)
    assert exit_status == 0, output
    leftovers = [path for path in package.rglob("*.*") if b"my_" in path.read_bytes()]
    assert not [path for path in leftovers if b"my_" + kind.encode() in path.read_bytes()]


def test_the_skeleton_of_a_task_is_a_layout(tmp_path: Path) -> None:
    run_cli("new", "task", "judge-answers", "--out", tmp_path)
    assert "2 attention items" in run_cli("layouts", tmp_path / "judge-answers").stdout


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"prompt": " "}, "0001-2021Q3: the prompt is empty"),
        ({"targets": ("a", " ")}, "a target is empty"),
        ({"targets": ("a", "b", "a")}, "a target is there twice"),
        ({"id": ""}, "the id is empty"),
        (None, "updated has no row"),
    ],
)
def test_what_the_kit_finds_in_rows(
    tmp_path: Path, row: dict[str, Any] | None, complaint: str
) -> None:
    cloze_rows = [] if row is None else [cloze(1, "updated", **row)]
    kept_rows = {"updated": {"2021Q3": cloze_rows}, "new": {"2021Q3": [cloze(2, "new")]}}
    release = open_release(publish(tmp_path, Sample(kept_rows)).folder)
    _check_rows(release.configs["new"])
    with pytest.raises(AssertionError, match=complaint):
        _check_rows(release.configs["updated"])


LAST_HOLDERS = '''"""Who was the last known head coach, from timelines alone."""
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from factdrift.kit import (
    ColumnRoles, Dataset, DatasetBuilder, FromParquet, NamedFacts, ReleasedSegment, Run, Step,
    Table, Workspace, named_timelines, row_id, typed_rows, writing,
)


@dataclass(frozen=True, slots=True)
class LastHolder:
    roles: ClassVar = ColumnRoles(subject="subject", time=(), strata=())
    id: Annotated[str, "content hash"]
    prompt: Annotated[str, "question"]
    targets: Annotated[tuple[str, ...], "accepted answers"]
    subject: Annotated[str, "club"]


class LastHolders(Step):
    name: ClassVar[str] = "last-holders"
    timelines: NamedFacts

    def make(self, out: Path, workspace: Workspace) -> None:
        last = {}
        path = workspace.folder(self.timelines) / "timelines.parquet"
        for segment in typed_rows(path, ReleasedSegment):
            last[segment.subject] = segment
        with writing(out / "rows.parquet", LastHolder) as rows:
            for subject, segment in sorted(last.items()):
                question = f"Who coached {segment.subject_label} last?"
                answers = (segment.object_label,)
                rows.append(LastHolder(row_id(subject), question, answers, segment.subject_label))


class Holders(DatasetBuilder):
    tasks: ClassVar = ("question-answering",)
    citations: ClassVar = ()
    builder: Literal["last-holders"]

    def build(self, run: Run) -> Dataset:
        step = LastHolders(timelines=named_timelines(run, ["P286"]))
        rows = FromParquet(run.folder(step) / "rows.parquet")
        return Dataset(tables=(Table("all", LastHolder, "One row a club.", {"test": rows}),))
'''


@pytest.mark.slow
def test_a_package_takes_timelines_of_a_dump_from_the_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "last_holders", "last-holders = last_holders:Holders")
    (tmp_path / "last_holders.py").write_text(LAST_HOLDERS)
    prose = ROOT / "builders/recipes/skeletons/dataset/my_dataset/prose.md"
    (tmp_path / "prose.md").write_text(prose.read_text("utf-8"))
    (tmp_path / "recipe.yaml").write_text(
        "dataset: last-holders\nversion: 1.0.0\ntitle: Last holders\nsummary: Who was last.\n"
        "licence: CC0-1.0\ntags: [coaches]\ninputs:\n"
        "  dump: {licence: CC0-1.0}\nbuild: {builder: last-holders}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    folders = ["--out", tmp_path / "out", "--build", tmp_path / "build"]
    dump = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"
    run_cli("release", "last-holders", "--dump", dump, *folders)
    release = open_release(tmp_path / "out/last-holders/1.0.0")
    prompts = {row.prompt for row in release.rows()}
    assert len(prompts) > 20
    assert "Who coached AFC Ajax last?" in prompts


def test_an_input_that_the_recipe_lacks_is_a_mistake_of_the_recipe(tmp_path: Path) -> None:
    inputs = RunInputs({}, tmp_path / "recipe.yaml")
    with pytest.raises(UserError, match=r"recipe.yaml: no input 'dump'"):
        inputs["dump"]
    assert inputs.get("dump") is None
    assert "dump" not in inputs
