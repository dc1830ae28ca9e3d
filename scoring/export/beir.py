"""BEIR: a corpus, queries and relevance judgments (Thakur et al. 2021, arXiv 2104.08663).

Passages of news are those of `factdrift corpus`, with the day of their article; passages of pages
are paragraphs. Relevant is what holds the evidence. Of evolving facts, passages that name what held
at another time are judged 0 and stand in `stale.tsv`.
"""

from collections.abc import Iterable, Iterator, Sequence
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
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, StatedFact
from factdrift.scoring.export.release import Release, Row

CORPUS, QUERIES, QRELS, STALE = "corpus.jsonl", "queries.jsonl", "qrels", "stale.tsv"
SPLITS = {"eval": "test", "valid": "dev"}
"""Names of splits in BEIR, by our name."""
_PASSAGES = "passages.parquet"


class RetrievalQuery(NamedTuple):
    """A question with its judgments: `relevant` passages, and `stale` ones with what they name."""

    split: str
    id: str
    text: str
    metadata: Row
    relevant: Sequence[str]
    stale: Sequence[tuple[str, str]] = ()


def write(release: Release) -> None:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and `stale.tsv`.

    `UserError`: the text of news lacks, or the pages of the release have no text. Memory holds the
    queries with their judgments.
    """
    config_names = {config.name for config in release.manifest.configs}
    if "passages" in config_names:
        queries = _of_days(release)
    elif "pages" in config_names:
        queries = _of_pages(release)
    else:
        queries = _of_news(release)
    release.json_lines(QUERIES, map(_query_record, queries))
    by_split: dict[str, list[RetrievalQuery]] = {}
    for query in queries:
        by_split.setdefault(query.split, []).append(query)
    for split, split_queries in by_split.items():
        column_names = ("query-id", "corpus-id", "score")
        _lines(release, f"{QRELS}/{split}.tsv", column_names, _judgments(split_queries))
    stale_rows = [(query.id, *passage) for query in queries for passage in query.stale]
    if stale_rows:
        _lines(release, STALE, ("query-id", "corpus-id", "answer"), stale_rows)


def _query_record(query: RetrievalQuery) -> Row:
    """A line of `queries.jsonl`; metadata without a value is left out."""
    metadata = {
        metadata_name: metadata_value
        for metadata_name, metadata_value in query.metadata.items()
        if metadata_value
    }
    return {"_id": query.id, "text": query.text, "metadata": metadata}


def _judgments(queries: Iterable[RetrievalQuery]) -> list[tuple[str, str, int]]:
    """The qrels of queries: relevant passages with 1, then stale ones with 0, each by its id."""
    judgment_rows = []
    for query in queries:
        for passage_id in sorted(set(query.relevant)):
            judgment_rows.append((query.id, passage_id, 1))
        for passage_id in sorted({passage_id for passage_id, _ in query.stale}):
            judgment_rows.append((query.id, passage_id, 0))
    return judgment_rows


def _corpus(release: Release, passages: Iterable[tuple[str, str, str, date | None]]) -> int:
    """Write id, title, text and day of each passage; the number of passages."""

    def records() -> Iterator[Row]:
        for passage_id, title, text, day in passages:
            passage_metadata = {"day": day.isoformat()} if day else {}
            yield {"_id": passage_id, "title": title, "text": text, "metadata": passage_metadata}

    return release.json_lines(CORPUS, records())


def _of_news(release: Release) -> list[RetrievalQuery]:
    """Queries over news: questions whose article the corpus lacks are left out, with a note."""
    news_configs = release.configs(NewsQuestion)
    all_questions = next(
        (config for config in news_configs if config.name == "all"), news_configs[0]
    )
    passages_file = _news_passages(release.corpus)
    queries = []
    for split in all_questions.splits:
        split_name = SPLITS.get(split.name, split.name)
        for row in release.rows(split):
            queries.append(_of_article(split_name, row))
    missing_ids = {query.relevant[0] for query in queries}
    with reading(passages_file) as file:
        for batch in file.iter_batches(columns=["id"]):
            missing_ids.difference_update(batch["id"].to_pylist())
        rows = (row for batch in file.iter_batches(1024) for row in batch.to_pylist())
        _corpus(release, ((printable_id(row["id"]), "", row["text"], row["day"]) for row in rows))
    answerable_queries = [query for query in queries if query.relevant[0] not in missing_ids]
    if lost_count := len(queries) - len(answerable_queries):
        release.notes["questions left out: their article is not in the corpus"] = lost_count
    return [
        query._replace(relevant=[printable_id(query.relevant[0])]) for query in answerable_queries
    ]


def _of_article(split: str, row: Row) -> RetrievalQuery:
    question_day = datetime.fromtimestamp(row["question_ts"], UTC).date()
    query_metadata = {
        "day": question_day.isoformat(),
        "targets": row["targets"],
        "relation": row["relation"],
    }
    passage_id = f"{row['evidence_id']}_{row['evidence_sentence'] // SENTENCES}"
    return RetrievalQuery(
        split,
        row["id"],
        question_prefix(question_day) + row["question"],
        query_metadata,
        [passage_id],
    )


def _of_pages(release: Release) -> list[RetrievalQuery]:
    """Write the paragraphs of a release's pages as the corpus, and return the queries about them.

    A question that no paragraph answers is left out and counted in the release's notes.
    """
    (pages,) = release.configs(Page)
    segments = release.configs(ReleasedAlignedSegment, AlignedSegment)[:1]
    configs_by_name = {"pages": [pages], "segments": segments}
    with release.query(_PARAGRAPHS, configs_by_name) as rows:
        passage_count = _corpus(
            release, ((row["id"], row["title"], row["text"], None) for row in rows)
        )
    if not passage_count:
        hint = "make it with `text: true`, or put its text back with factdrift corpus --release"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint)
    queries: list[RetrievalQuery] = []
    for config in release.configs(TimeQuestion):
        for split in config.splits:
            split_name = config.name if len(config.splits) == 1 else f"{config.name}-{split.name}"
            config_tables = {
                **configs_by_name,
                "asked": [config.model_copy(update={"splits": (split,)})],
            }
            with release.query(_JUDGED, config_tables) as rows:
                for row in rows:
                    if not row["relevant"]:
                        release.notes["questions left out: nothing answers them"] += 1
                        continue
                    queries.append(_query(split_name, row, {}))
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


def _news_passages(corpus_folder: Path | None) -> Path:
    """Return the file of passages in a folder of `factdrift corpus`.

    Raises `UserError` if there is none.
    """
    passages_file = (corpus_folder or Path()) / _PASSAGES
    if corpus_folder is None or not passages_file.is_file():
        raise UserError(
            "the text of news is not in the release, and its passages are needed",
            where=display_path(corpus_folder) if corpus_folder else None,
            hint="factdrift corpus ARCHIVES --out FOLDER makes them; then --corpus FOLDER",
        )
    return passages_file


def dated_passages(release: Release) -> str:
    """A query for the passages of `as-of` with their text.

    `UserError`: a text is neither in the release nor in the corpus.
    """
    configs_by_name = {"passages": release.configs(DatedPassage)}
    with release.query("SELECT 1 FROM passages WHERE text = '' LIMIT 1", configs_by_name) as rows:
        if not any(rows):
            return "passages"
    passages_file = _news_passages(release.corpus)
    texts_sql = _TEXTS.format(corpus=duck.parquet(passages_file))
    passages_sql = f"SELECT count(*) AS n FROM {texts_sql} WHERE text IS NULL"  # noqa: S608 - ours
    with release.query(passages_sql, configs_by_name) as rows:
        if lost_count := next(rows)["n"]:
            hint = "make it of all the archives that the release was made from"
            raise UserError(
                f"it lacks {lost_count:,} passages of the release", where=passages_file, hint=hint
            )
    return texts_sql


_TEXTS = """(
    SELECT p.* REPLACE (CASE WHEN p.text != '' THEN p.text
        ELSE c.text END AS text)
    FROM passages p LEFT JOIN {corpus} c ON c.id = p.place
)"""


def _of_days(release: Release) -> list[RetrievalQuery]:
    (passages,), (question_config,) = release.configs(DatedPassage), release.configs(AsOfQuestion)
    configs_by_name = {
        "passages": [passages],
        "asked": [question_config],
        "stated": release.configs(StatedFact),
    }
    passages_sql = f"SELECT id, day, text FROM {dated_passages(release)} ORDER BY day, id"  # noqa: S608 - ours
    with release.query(passages_sql, configs_by_name) as rows:
        _corpus(release, ((row["id"], "", row["text"], row["day"]) for row in rows))
    with release.query(_DAYS, configs_by_name) as rows:
        return [
            _query("test", row, {name: row[name].isoformat() for name in ("day", "asked_on")})
            for row in rows
        ]


_DAYS = """
    SELECT a.* EXCLUDE (stale, evidence), s.stale, as_of AS day, evidence AS relevant
    FROM asked a LEFT JOIN (
        SELECT q.id, list({id: s.passage, answer: s.object_label} ORDER BY s.passage) AS stale
        FROM (SELECT id, subject, relation, unnest(stale) AS passage FROM asked) q
            JOIN (SELECT DISTINCT subject, relation, passage, min(object_label) AS object_label
                FROM stated GROUP BY ALL) s USING (subject, relation, passage)
        GROUP BY q.id
    ) s USING (id) ORDER BY a.id
"""


def _query(split: str, row: Row, day_metadata: Row) -> RetrievalQuery:
    query_metadata = {**day_metadata, "targets": row["targets"], "relation": row["relation"]}
    stale_passages = [(passage["id"], passage["answer"]) for passage in row["stale"] or ()]
    return RetrievalQuery(
        split, row["id"], row["question"], query_metadata, row["relevant"], stale_passages
    )


def _lines(
    release: Release,
    file_name: str,
    column_names: Sequence[str],
    table_rows: Sequence[Sequence[Any]],
) -> None:
    (release.out / file_name).parent.mkdir(parents=True, exist_ok=True)
    with release.text(file_name) as file:
        for row in (column_names, *table_rows):
            file.write("\t".join(" ".join(str(cell_value).split()) for cell_value in row) + "\n")
    release.files[file_name] = len(table_rows)
