"""Expected outputs of the sample release, as text that is read in review.

`make golden` writes them anew.
"""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from docs.hooks import section
from factdrift.builders.release.manifest import load
from tests.asking_rows import asking_tables

FOLDER = Path(__file__).parent / "golden"


def answers(release: Path) -> str:
    """Every change of the answer to one subject of each relation, and to a few more."""
    rows = duckdb.execute(
        """
        select distinct relation, subject_label, period, split,
            list_sort([a.label for a in answers]) as answers
        from read_parquet(?, union_by_name = true) where split <> 'unchanged'
            and (md5(subject_label)[1] = 'a' or subject_label in ('Italy', 'Cristiano Ronaldo'))
        order by relation, subject_label, period
        """,
        [str(release / "data/*/20*.parquet")],
    ).fetchall()
    lines = ["\t".join([*row[:4], " | ".join(row[4])]) for row in rows]
    return "\n".join(lines) + "\n"


def queries(release: Path) -> str:
    """One query of every template."""
    rows = duckdb.execute(
        """
        select template, arg_min(query, id) from read_parquet(?, union_by_name = true)
        group by template
        order by len(split_part(template, '/', 1)), template
        """,
        [str(release / "data/*/20*.parquet")],
    ).fetchall()
    return "".join(f"{template}\t{query}\n" for template, query in rows)


def examples(release: Path) -> str:
    """The facts that prompts show, of every dataset; no row asks about their subjects."""
    lines = []
    for folder in sorted(release.parents[1].iterdir()):
        shown = load(folder / "1.0.0").examples
        asked = {
            subject
            for _, _, path in asking_tables(folder / "1.0.0")
            if shown
            for subject in pq.read_table(path, columns=["subject"]).column(0).to_pylist()
        }
        assert not asked & {one.subject for one in shown}
        lines += ["\t".join([folder.name, e.relation, e.prompt, e.answer]) for e in shown]
    return "".join(f"{line}\n" for line in lines)


def prompts(release: Path) -> str:
    """Prompt and targets of the first row by id in each config that asks, of every dataset."""
    first: dict[str, tuple[str, str]] = {}
    for folder in sorted(release.parents[1].iterdir()):
        for config, _, path in asking_tables(folder / "1.0.0"):
            found = duckdb.execute(
                "select id, prompt, targets from read_parquet(?) order by id limit 1", [str(path)]
            ).fetchall()
            for name, prompt, targets in found:
                cells = [folder.name, config, prompt, " | ".join(targets)]
                line = "\t".join(cells).replace("\n", "\\n")
                key = f"{folder.name}/{config}"
                first[key] = min(first.get(key, (name, line)), (name, line))
    return "".join(f"{line}\n" for _, line in first.values())


def rows(release: Path) -> str:
    """A row of every dataset as its card shows it; the documentation shows these, too."""
    shown = []
    for folder in sorted(release.parents[1].iterdir()):
        card = (folder / "1.0.0" / "README.md").read_text("utf-8")
        shown.append(f"## {folder.name}\n\n{section(card, 'What a row looks like')}\n")
    return "\n".join(shown)


def counts(release: Path) -> str:
    """Rows of each config, drops of each reason, what mining counted."""
    manifest = json.loads((release / "manifest.json").read_text("utf-8"))
    rows = {c["name"]: sum(s["rows"] for s in c["splits"]) for c in manifest["configs"]}
    drops = {f"{d['step']}/{d['reason']}": d["rows"] for d in manifest["drops"]}
    mined = next(f for f in manifest["figures"] if f["name"] == "mining")["rows"]
    read = {row["counted"]: row["dump"] for row in mined}
    return json.dumps({"rows": rows, "drops": drops, "mined": read}, indent=1) + "\n"


GOLDEN: dict[str, Callable[[Path], str]] = {
    "answers.tsv": answers,
    "queries.tsv": queries,
    "prompts.tsv": prompts,
    "examples.tsv": examples,
    "counts.json": counts,
    "rows.md": rows,
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, sample: Path, request: pytest.FixtureRequest) -> None:
    found = GOLDEN[name](sample / "releases" / "dynamic-templama" / "1.0.0")
    if request.config.getoption("--golden"):
        (FOLDER / name).write_text(found, "utf-8")
    assert found == (FOLDER / name).read_text("utf-8"), "read the difference, then `make golden`"
