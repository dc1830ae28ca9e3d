"""BEIR: a corpus, queries and relevance judgments (Thakur et al. 2021, arXiv 2104.08663).

Passages of news are those of `factdrift corpus`, with the day of their article; passages of pages
are paragraphs. Relevant is what holds the evidence. Of evolving facts, passages that name what held
at another time are judged 0 and stand in `stale.tsv`.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.rows import (
    AlignedSegment,
    NewsQuestion,
    Page,
    ReleasedAlignedSegment,
    TimeQuestion,
)
from factdrift.builders.wmt.passages import SENTENCES, question_prefix, shown_id
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage
from factdrift.scoring.export.release import Exported, Notes, Release, Row

CORPUS, QUERIES, QRELS, STALE = "corpus.jsonl", "queries.jsonl", "qrels", "stale.tsv"
SPLITS = {"eval": "test", "valid": "dev"}
"""What BEIR calls splits of ours."""
_PASSAGES = "passages.parquet"


def write(release: Release, corpus: Path | None = None) -> Exported:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and `stale.tsv`.

    `corpus`: a folder of `factdrift corpus`, for questions over news. `UserError`: it lacks, or the
    pages of the release have no text.
    """
    notes = Notes()
    if any(config.name == "passages" for config in release.manifest.configs):
        return Exported(_of_days(release), notes)
    if any(config.name == "pages" for config in release.manifest.configs):
        return Exported(_of_pages(release, notes), notes)
    return Exported(_of_news(release, corpus, notes), notes)


def _of_news(release: Release, corpus: Path | None, notes: Notes) -> dict[str, int]:
    configs = release.configs(NewsQuestion)
    whole = next((config for config in configs if config.name == "all"), configs[0])
    passages = (corpus or Path()) / _PASSAGES
    if corpus is None or not passages.is_file():
        raise UserError(
            "questions over news need their passages",
            where=shown(corpus) if corpus else None,
            hint="factdrift corpus ARCHIVES --out FOLDER makes them; then --corpus FOLDER",
        )
    rows = [
        (SPLITS.get(split.name, split.name), _passage_of(row), row)
        for split in whole.splits
        for row in release.rows(split)
    ]
    known = _known(passages, {name for _, name, _ in rows})
    if lost := sum(name not in known for _, name, _ in rows):
        notes["questions left out: their article is not in the corpus"] = lost
    rows = [one for one in rows if one[1] in known]
    with reading(passages) as file:
        texts = (row for batch in file.iter_batches(1024) for row in batch.to_pylist())
        files = {
            CORPUS: release.json_lines(CORPUS, (_dated(shown_id(row["id"]), row) for row in texts))
        }
    for wanted in dict.fromkeys(split for split, _, _ in rows):
        of_split = [(row["id"], shown_id(name), 1) for split, name, row in rows if split == wanted]
        files |= _judged(release, wanted, of_split)
    queries = (_news_query(row) for _, _, row in rows)
    return files | {QUERIES: release.json_lines(QUERIES, queries)}


def _passage_of(row: Row) -> str:
    """The id of the passage with the evidence."""
    return f"{row['evidence_id']}_{row['evidence_sentence'] // SENTENCES}"


def _known(passages: Path, names: set[str]) -> set[str]:
    wanted = pa.table({"id": sorted(names)})
    with duck.connect() as db:
        db.register("wanted", wanted)
        found = db.sql(f"FROM {duck.parquet(passages)} SEMI JOIN wanted USING (id) SELECT id")
        return {name for (name,) in found.fetchall()}


def _dated(name: str, row: Row) -> Row:
    about = {"day": row["day"].isoformat()}
    return {"_id": name, "title": "", "text": row["text"], "metadata": about}


def _news_query(row: Row) -> Row:
    day = datetime.fromtimestamp(row["question_ts"], UTC).date()
    return {
        "_id": row["id"],
        "text": question_prefix(day) + row["question"],
        "metadata": {
            "day": day.isoformat(),
            "targets": row["targets"],
            "relation": row["relation"],
        },
    }


def _of_pages(release: Release, notes: Notes) -> dict[str, int]:
    (pages,) = release.configs(Page)
    segments = release.configs(ReleasedAlignedSegment, AlignedSegment)[:1]
    named = {"pages": [pages], "segments": segments}
    with release.query(_PARAGRAPHS, named) as rows:
        files = {CORPUS: release.json_lines(CORPUS, map(_paragraph, rows))}
    if not files[CORPUS]:
        hint = "make it with `text: true`, or put its text back with factdrift corpus --release"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint)
    queries: list[Row] = []
    stale: list[Sequence[Any]] = []
    for config in release.configs(TimeQuestion):
        for split in config.splits:
            single = {**named, "asked": [config.model_copy(update={"splits": (split,)})]}
            with release.query(_JUDGED, single) as rows:
                judged = list(_judgments(rows, queries, stale, notes))
            name = config.name if len(config.splits) == 1 else f"{config.name}-{split.name}"
            files |= _judged(release, name, judged)
    files[QUERIES] = release.json_lines(QUERIES, queries)
    files |= {STALE: _lines(release, STALE, ("query-id", "corpus-id", "answer"), stale)}
    return files


_PARAGRAPHS = """
    SELECT p.page, p.title, unnest(p.paragraphs) AS paragraph,
        generate_subscripts(p.paragraphs, 1) - 1 AS place
    FROM pages p ORDER BY page, place
"""
_JUDGED = """
    SELECT a.id, a.question, a.targets, a.relation, a.page, a.paragraphs, s.stale
    FROM asked a LEFT JOIN (
        SELECT a.id, list_sort(list(DISTINCT {place: s.paragraph, answer: s.object_label})) AS stale
        FROM asked a JOIN segments s USING (subject, relation, page)
            JOIN pages p ON p.page = a.page AND p.item = a.subject
        WHERE s.paragraph IS NOT NULL
            AND NOT list_bool_or(list_transform(a.targets, lambda target: contains(
                lower(p.paragraphs[s.paragraph + 1].text), lower(target))))
            AND NOT list_contains(list_transform(a.objects, lambda o: o.id), s.object)
            AND NOT list_contains(a.paragraphs, s.paragraph)
        GROUP BY a.id
    ) s USING (id) ORDER BY a.id
"""


def _paragraph(row: Row) -> Row:
    text = row["paragraph"]["text"]
    name = f"{row['page']}-{row['place']}"
    return {"_id": name, "title": row["title"], "text": text, "metadata": {}}


def _judgments(
    rows: Iterator[Row], queries: list[Row], stale: list[Sequence[Any]], notes: Notes
) -> Iterator[Sequence[Any]]:
    for row in rows:
        if not row["paragraphs"]:
            notes["questions left out: nothing answers them"] += 1
            continue
        about = {"targets": row["targets"], "relation": row["relation"]}
        queries.append({"_id": row["id"], "text": row["question"], "metadata": about})
        for place in sorted(set(row["paragraphs"])):
            yield row["id"], f"{row['page']}-{place}", 1
        for one in row["stale"] or ():
            stale.append((row["id"], f"{row['page']}-{one['place']}", one["answer"]))
        for place in sorted({one["place"] for one in row["stale"] or ()}):
            yield row["id"], f"{row['page']}-{place}", 0


def _of_days(release: Release) -> dict[str, int]:
    (passages,), (asked,) = release.configs(DatedPassage), release.configs(AsOfQuestion)
    named = {"passages": [passages], "asked": [asked]}
    with release.query("SELECT id, day, text FROM passages ORDER BY day, id", named) as rows:
        files = {CORPUS: release.json_lines(CORPUS, (_dated(row["id"], row) for row in rows))}
    queries: list[Row] = []
    judged: list[Sequence[Any]] = []
    stale: list[Sequence[Any]] = []
    with release.query(_DAYS, named) as rows:
        for row in rows:
            days = {"day": row["as_of"].isoformat(), "asked_on": row["asked_on"].isoformat()}
            about = {**days, "targets": row["targets"], "relation": row["relation"]}
            queries.append({"_id": row["id"], "text": row["question"], "metadata": about})
            judged += [(row["id"], passage, 1) for passage in row["evidence"]]
            judged += [(row["id"], one["id"], 0) for one in row["others"] or ()]
            stale += [(row["id"], one["id"], one["answer"]) for one in row["others"] or ()]
    files |= _judged(release, "test", judged)
    files[QUERIES] = release.json_lines(QUERIES, queries)
    columns = ("query-id", "corpus-id", "answer")
    return files | {STALE: _lines(release, STALE, columns, stale)}


_DAYS = """
    SELECT a.*, s.others FROM asked a LEFT JOIN (
        SELECT q.id, list({id: p.id, answer: p.object_label} ORDER BY p.id) AS others
        FROM (SELECT id, unnest(stale) AS passage FROM asked) q JOIN passages p ON p.id = q.passage
        GROUP BY q.id
    ) s USING (id) ORDER BY a.id
"""


def _judged(release: Release, split: str, judged: Sequence[Sequence[Any]]) -> dict[str, int]:
    name = f"{QRELS}/{split}.tsv"
    columns = ("query-id", "corpus-id", "score")
    return {name: _lines(release, name, columns, judged)} if judged else {}


def _lines(
    release: Release, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> int:
    (release.out / name).parent.mkdir(parents=True, exist_ok=True)
    with release.text(name) as file:
        for row in (columns, *rows):
            file.write("\t".join(" ".join(str(value).split()) for value in row) + "\n")
    return len(rows)
