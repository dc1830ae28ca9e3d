"""Links that somebody planted where a temporary file will be are not written through."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factdrift.annotation.layout import load_layout
from factdrift.annotation.page import render_task
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, hold_shared, replacing
from factdrift.builders.core.remote import local
from factdrift.builders.core.steps import Workspace
from factdrift.builders.core.tidy import note_use
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.facts.template_files import import_templates
from factdrift.builders.wikidata.parts import write_part
from tests.annotation_workers import LAYOUT
from tests.conftest import ROOT, run_cli
from tests.file_server import serve_files
from tests.release_sample import BASE, Sample, publish
from tests.tables import names_of

LINES = "root:x:0:0:secret of somebody else"


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    secret_path = tmp_path / "elsewhere" / "secret"
    secret_path.parent.mkdir()
    secret_path.write_text(LINES, "utf-8")
    return secret_path


def write_replacing(output_folder: Path) -> None:
    with replacing(output_folder / "report.json") as unfinished:
        unfinished.write_text("{}", "utf-8")


def write_folder(output_folder: Path) -> None:
    with atomic_folder(output_folder / "batch") as unfinished:
        (unfinished / "x").write_text("x", "utf-8")


def remember_checksum(output_folder: Path) -> None:
    (output_folder / "input").write_text("x", "utf-8")
    Workspace(output_folder, print).checksum(output_folder / "input")


def write_part_folder(output_folder: Path) -> None:
    write_part(output_folder, "part-1", [{"statements": b"x"}])


def fetch_file(address: str, output_folder: Path) -> None:
    local([address], output_folder, lambda name: name.endswith(".gz"), say=lambda _: None)


WRITERS: list[tuple[Callable[[Path], object], tuple[str, ...]]] = [
    (write_replacing, (".report.json.tmp",)),
    (write_folder, (".batch.tmp",)),
    (remember_checksum, (".checksums.json.tmp",)),
    (write_part_folder, (".part-1.tmp",)),
    (lambda output_folder: note_use(output_folder, "d", output_folder, []), ("used/.d.json.tmp",)),
    (lambda output_folder: publish(output_folder, Sample(BASE)), ("sample/.publishing",)),
]
"""What writes into a folder, and the names there that it takes for a while."""


@pytest.mark.parametrize(("write", "names"), WRITERS)
@pytest.mark.parametrize("target_kind", ["a file", "a output_folder", "nothing"])
def test_a_planted_link_is_not_written_through(
    tmp_path: Path,
    secret_file: Path,
    write: Callable[[Path], object],
    names: tuple[str, ...],
    target_kind: str,
) -> None:
    output_folder = tmp_path / "out"
    link_target = {
        "a file": secret_file,
        "a output_folder": secret_file.parent,
        "nothing": secret_file.parent / "not there",
    }[target_kind]
    for name in names:
        (output_folder / name).parent.mkdir(parents=True, exist_ok=True)
        (output_folder / name).symlink_to(link_target)
    write(output_folder)
    assert names_of(secret_file.parent.iterdir()) == ["secret"]
    assert secret_file.read_text("utf-8") == LINES


def test_a_fetched_file_is_not_written_through_a_link(tmp_path: Path, secret_file: Path) -> None:
    with serve_files() as served:
        served.files = {"/dump/a.json.gz": b"a" * 1000}
        address = f"{served.url}/dump/a.json.gz"
        fetch_file(address, tmp_path / "first")
        plant_and_fetch(address, tmp_path, secret_file)
    assert secret_file.read_text("utf-8") == LINES
    written_files = [path for path in (tmp_path / "out").rglob("*") if not path.is_dir()]
    assert len(written_files) == 2
    for path in written_files:
        assert not path.is_symlink()


def plant_and_fetch(address: str, tmp_path: Path, secret_file: Path) -> None:
    """Fetch a file to a folder with a link at each name that fetching it takes."""
    for path in sorted((tmp_path / "first").rglob("*.gz")):
        place = tmp_path / "out" / path.relative_to(tmp_path / "first")
        place.parent.mkdir(parents=True)
        part = f".{place.name}.part"
        for name in (part, f"{part}.json", f"{part}.json.tmp", f".{place.name}.json", place.name):
            place.with_name(name).symlink_to(secret_file)
    fetch_file(address, tmp_path / "out")


def test_a_lock_is_not_made_through_a_link(tmp_path: Path, secret_file: Path) -> None:
    (tmp_path / "lock").symlink_to(secret_file.parent / "not there")
    with pytest.raises(OSError, match="symbolic links"):
        hold_shared(tmp_path / "lock")
    assert not (secret_file.parent / "not there").exists()


def test_templates_are_not_imported_through_a_link(tmp_path: Path, secret_file: Path) -> None:
    table_path = tmp_path / "table.csv"
    table_path.write_text(
        "Wikidata ID,Relation,Template\nP39,office,<subject> is <object>.\n", "utf-8"
    )
    output_folder = tmp_path / "own"
    output_folder.mkdir()
    for name in ("P39.yaml", "schema.json"):
        (output_folder / name).symlink_to(secret_file.parent / "not there")
    with pytest.raises(UserError, match="is there already"):
        import_templates(table_path, output_folder)
    (output_folder / "P39.yaml").unlink()
    import_templates(table_path, output_folder)
    assert names_of(secret_file.parent.iterdir()) == ["secret"]


def temporary_names() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Yield the functions of ours that make up the name of a temporary file or folder."""
    for package in ("annotation", "builders", "factdrift", "filters", "reasoning", "scoring"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for naming_function in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(naming_function, ast.FunctionDef) and any(
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and node.value.endswith((".tmp", ".part"))
                    for node in ast.walk(naming_function)
                ):
                    yield path, naming_function


# What clears the place of a temporary file or folder, or refuses a link there.
_CLEARING = {"clear_place", "fresh_folder", "is_symlink", "rmtree"}


@pytest.mark.slow
def test_every_temporary_name_is_cleared_first() -> None:
    functions = list(temporary_names())
    assert len(functions) >= 8
    for path, naming_function in functions:
        names = {
            getattr(node.func, "id", getattr(node.func, "attr", ""))
            for node in ast.walk(naming_function)
            if isinstance(node, ast.Call)
        }
        assert names & _CLEARING, f"{path}: {naming_function.name}"


# --- Templates that are links --------------------------------------------------------------------


def test_a_template_that_is_a_link_is_refused_without_its_text(
    tmp_path: Path, secret_file: Path
) -> None:
    output_folder = tmp_path / "templates"
    output_folder.mkdir()
    (output_folder / "P39.yaml").symlink_to(secret_file)
    with pytest.raises(UserError, match="is a link that leads out of its folder") as error:
        load_relations(output_folder).whole()
    assert "secret of" not in str(error.value)
    printed_text = run_cli("templates", "--templates", output_folder, ok=False)
    assert "secret of" not in printed_text.stdout + printed_text.stderr
    (output_folder / "P39.yaml").unlink()
    (output_folder / "P39.yaml").symlink_to("P39.yaml")  # to itself
    with pytest.raises(UserError, match="is a link that leads out"):
        load_relations(output_folder).whole()


@pytest.mark.parametrize("name", ["layout.yaml", "task.html.j2"])
@pytest.mark.parametrize("target", ["secret", "/dev/zero"])
def test_a_layout_that_is_a_link_is_refused_without_its_text(
    tmp_path: Path, secret_file: Path, name: str, target: str
) -> None:
    output_folder = tmp_path / "mine"
    output_folder.mkdir()
    (output_folder / "layout.yaml").write_text(LAYOUT, "utf-8")
    (output_folder / "task.html.j2").write_text("{{ everything() }}\n", "utf-8")
    (output_folder / name).unlink()
    (output_folder / name).symlink_to(secret_file if target == "secret" else target)
    with pytest.raises(
        UserError, match=r"is a link that leads out of its folder|no (layout|task)"
    ) as error:
        render_task(load_layout(output_folder))
    assert "secret of" not in str(error.value)


def test_a_link_within_a_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "layout.yaml").write_text(LAYOUT, "utf-8")
    (tmp_path / "own.j2").write_text("{{ everything() }}\n", "utf-8")
    (tmp_path / "task.html.j2").symlink_to("own.j2")
    assert "data-answer" in render_task(load_layout(tmp_path))
