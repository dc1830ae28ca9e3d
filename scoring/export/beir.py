"""BEIR: a corpus, queries and relevance judgments (Thakur et al. 2021, arXiv 2104.08663).

Passages of news are those of `factdrift corpus`, with the day of their article; passages of pages
are paragraphs. Relevant is what holds the evidence. Of evolving facts, passages that name what held
at another time are judged 0 and stand in `stale.tsv`.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.rows import (
    AlignedSegment,
    NewsQuestion,
    Page,
    ReleasedAlignedSegment,
    TimeQuestion,
)
from factdrift.builders.wmt.passages import SENTENCES, printable_id, question_prefix
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage
from factdrift.scoring.export.release import Release, Row

CORPUS, QUERIES, QRELS, STALE = "corpus.jsonl", "queries.jsonl", "qrels", "stale.tsv"
SPLITS = {"eval": "test", "valid": "dev"}
"""What BEIR calls splits of ours."""
_PASSAGES = "passages.parquet"


class RetrievalQuery(NamedTuple):
    """A question with its judgments: `relevant` passages, and `stale` ones with what they name."""

    split: str
    id: str
    text: str
    about: Row
    relevant: Sequence[str]
    stale: Sequence[tuple[str, str]] = ()


def write(release: Release) -> None:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and `stale.tsv`.

    `UserError`: the text of news lacks, or the pages of the release have no text. Memory holds the
    queries with their judgments.
    """
    names = {config.name for config in release.manifest.configs}
    if "passages" in names:
        queries = _of_days(release)
    elif "pages" in names:
        queries = _of_pages(release)
    else:
        queries = _of_news(release)
    records = [
        {"_id": q.id, "text": q.text, "metadata": {k: v for k, v in q.about.items() if v}}
        for q in queries
    ]
    release.json_lines(QUERIES, records)
    for split in dict.fromkeys(q.split for q in queries):
        judged: list[tuple[Any, ...]] = []
        for one in (q for q in queries if q.split == split):
            judged += [(one.id, name, 1) for name in sorted(set(one.relevant))]
            judged += [(one.id, name, 0) for name in sorted({name for name, _ in one.stale})]
        columns = ("query-id", "corpus-id", "score")
        _lines(release, f"{QRELS}/{split}.tsv", columns, judged)
    if stale := [(q.id, *one) for q in queries for one in q.stale]:
        _lines(release, STALE, ("query-id", "corpus-id", "answer"), stale)


def _corpus(release: Release, passages: Iterable[tuple[str, str, str, date | None]]) -> int:
    """Write id, title, text and day of each passage; how many they are."""
    return release.json_lines(
        CORPUS,
        (
            {"_id": i, "title": t, "text": x, "metadata": {"day": d.isoformat()} if d else {}}
            for i, t, x, d in passages
        ),
    )


def _of_news(release: Release) -> list[RetrievalQuery]:
    configs = release.configs(NewsQuestion)
    whole = next((config for config in configs if config.name == "all"), configs[0])
    passages = _news_passages(release.corpus)
    queries = [
        _of_article(SPLITS.get(split.name, split.name), row)
        for split in whole.splits
        for row in release.rows(split)
    ]
    missing = {q.relevant[0] for q in queries}
    with reading(passages) as file:
        known = (one for batch in file.iter_batches(columns=["id"]) for one in batch["id"])
        missing.difference_update(one.as_py() for one in known)
        rows = (row for batch in file.iter_batches(1024) for row in batch.to_pylist())
        _corpus(release, ((printable_id(r["id"]), "", r["text"], r["day"]) for r in rows))
    if lost := sum(q.relevant[0] in missing for q in queries):
        release.notes["questions left out: their article is not in the corpus"] = lost
    return [
        q._replace(relevant=[printable_id(q.relevant[0])])
        for q in queries
        if q.relevant[0] not in missing
    ]


def _of_article(split: str, row: Row) -> RetrievalQuery:
    day = datetime.fromtimestamp(row["question_ts"], UTC).date()
    about = {"day": day.isoformat(), "targets": row["targets"], "relation": row["relation"]}
    passage = f"{row['evidence_id']}_{row['evidence_sentence'] // SENTENCES}"
    return RetrievalQuery(
        split, row["id"], question_prefix(day) + row["question"], about, [passage]
    )


def _of_pages(release: Release) -> list[RetrievalQuery]:
    (pages,) = release.configs(Page)
    segments = release.configs(ReleasedAlignedSegment, AlignedSegment)[:1]
    named = {"pages": [pages], "segments": segments}
    with release.query(_PARAGRAPHS, named) as rows:
        count = _corpus(release, ((r["id"], r["title"], r["text"], None) for r in rows))
    if not count:
        hint = "make it with `text: true`, or put its text back with factdrift corpus --release"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint)
    queries: list[RetrievalQuery] = []
    for config in release.configs(TimeQuestion):
        for split in config.splits:
            name = config.name if len(config.splits) == 1 else f"{config.name}-{split.name}"
            single = {**named, "asked": [config.model_copy(update={"splits": (split,)})]}
            with release.query(_JUDGED, single) as rows:
                for row in rows:
                    if not row["relevant"]:
                        release.notes["questions left out: nothing answers them"] += 1
                        continue
                    queries.append(_query(name, row, {}))
    return queries


_PARAGRAPHS = """
    SELECT page || '-' || place AS id, title, paragraph.text AS text FROM (
        SELECT page, title, unnest(paragraphs) AS paragraph,
            generate_subscripts(paragraphs, 1) - 1 AS place FROM pages
    ) ORDER BY page, place
"""
_JUDGED = """
    SELECT a.id, a.question, a.targets, a.relation, s.stale,
        list_transform(a.paragraphs, lambda place: a.page || '-' || place) AS relevant
    FROM asked a LEFT JOIN (
        SELECT a.id, list_sort(list(DISTINCT {place: s.paragraph,
            id: a.page || '-' || s.paragraph, answer: s.object_label})) AS stale
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


def _news_passages(corpus: Path | None) -> Path:
    """The file of passages in a folder of `factdrift corpus`. `UserError`: there is none."""
    passages = (corpus or Path()) / _PASSAGES
    if corpus is None or not passages.is_file():
        raise UserError(
            "the text of news is not in the release, and its passages are needed",
            where=display_path(corpus) if corpus else None,
            hint="factdrift corpus ARCHIVES --out FOLDER makes them; then --corpus FOLDER",
        )
    return passages


def dated_passages(release: Release) -> str:
    """A query for the passages of `as-of` with their text.

    `UserError`: a text is neither in the release nor in the corpus.
    """
    named = {"passages": release.configs(DatedPassage)}
    with release.query("SELECT 1 FROM passages WHERE text = '' LIMIT 1", named) as rows:
        if not any(rows):
            return "passages"
    file = _news_passages(release.corpus)
    texts = _TEXTS.format(corpus=duck.parquet(file))
    query = f"SELECT count(*) AS n FROM {texts} WHERE text IS NULL"  # noqa: S608 - ours
    with release.query(query, named) as rows:
        if lost := next(rows)["n"]:
            hint = "make it of all the archives that the release was made from"
            raise UserError(f"it lacks {lost:,} passages of the release", where=file, hint=hint)
    return texts


_TEXTS = """(
    SELECT p.* REPLACE (CASE WHEN p.text != '' THEN p.text
        ELSE substring(c.text, p.start + 1, p."end" - p.start) END AS text)
    FROM passages p LEFT JOIN {corpus} c ON c.id = p.place
)"""


def _of_days(release: Release) -> list[RetrievalQuery]:
    (passages,), (asked,) = release.configs(DatedPassage), release.configs(AsOfQuestion)
    named = {"passages": [passages], "asked": [asked]}
    query = f"SELECT id, day, text FROM {dated_passages(release)} ORDER BY day, id"  # noqa: S608 - ours
    with release.query(query, named) as rows:
        _corpus(release, ((r["id"], "", r["text"], r["day"]) for r in rows))
    with release.query(_DAYS, named) as rows:
        return [
            _query("test", row, {name: row[name].isoformat() for name in ("day", "asked_on")})
            for row in rows
        ]


_DAYS = """
    SELECT a.* EXCLUDE (stale, evidence), s.stale, as_of AS day, evidence AS relevant
    FROM asked a LEFT JOIN (
        SELECT q.id, list({id: p.id, answer: p.object_label} ORDER BY p.id) AS stale
        FROM (SELECT id, unnest(stale) AS passage FROM asked) q JOIN passages p ON p.id = q.passage
        GROUP BY q.id
    ) s USING (id) ORDER BY a.id
"""


def _query(split: str, row: Row, days: Row) -> RetrievalQuery:
    about = {**days, "targets": row["targets"], "relation": row["relation"]}
    stale = [(one["id"], one["answer"]) for one in row["stale"] or ()]
    return RetrievalQuery(split, row["id"], row["question"], about, row["relevant"], stale)


def _lines(
    release: Release, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    (release.out / name).parent.mkdir(parents=True, exist_ok=True)
    with release.text(name) as file:
        for row in (columns, *rows):
            file.write("\t".join(" ".join(str(value).split()) for value in row) + "\n")
    release.files[name] = len(rows)
