"""BEIR: a corpus, queries and relevance judgments (Thakur et al. 2021, arXiv 2104.08663).

Passages of news are those of `factdrift corpus`, with the day of their article; passages of pages
are paragraphs. Relevant (1) is what holds the evidence. Of evolving facts, passages that name what
held at another time are judged 0 and stand in `stale.tsv`. In `as-of`, 2 is what proves the answer
for the day asked about, 1 what states the same term on an earlier day; of each query is told when
it is asked (`asked_on`), and nothing later is judged.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

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
from factdrift.scoring.export.dated import DatedTables, has_dated_passages, news_passages
from factdrift.scoring.export.release import Release, Row

CORPUS, QUERIES, QRELS, STALE = "corpus.jsonl", "queries.jsonl", "qrels", "stale.tsv"
SPLITS = {"eval": "test", "valid": "dev"}
"""Names of splits in BEIR, by our name."""
_NOTHING_ANSWERS = "questions left out: nothing answers them"


class RetrievalQuery(NamedTuple):
    """A question with its judgments: `relevant` passages, and `stale` ones with what they name.

    `grade` is the score of the relevant ones; `supporting` ones are judged 1.
    """

    split: str
    id: str
    text: str
    metadata: Row
    relevant: Sequence[str]
    stale: Sequence[tuple[str, str]] = ()
    supporting: Sequence[str] = ()
    grade: int = 1


def write(release: Release) -> None:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and `stale.tsv`.

    `UserError`: the text of news lacks, or the pages of the release have no text. Memory holds the
    queries with their judgments.
    """
    config_names = {config.name for config in release.manifest.configs}
    if has_dated_passages(release):
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
    """The qrels of queries: the best passages first, stale ones with 0 last, each by its id."""
    judgment_rows = []
    for query in queries:
        stale_ids = [passage_id for passage_id, _ in query.stale]
        for score, passage_ids in (
            *((query.grade, query.relevant), (1, query.supporting), (0, stale_ids)),
        ):
            for passage_id in sorted(set(passage_ids)):
                judgment_rows.append((query.id, passage_id, score))
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
    passages_file = news_passages(release.corpus)
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
                        release.notes[_NOTHING_ANSWERS] += 1
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


def _of_days(release: Release) -> list[RetrievalQuery]:
    """Write the dated passages as the corpus, by day, and return the queries about days.

    A question that nothing answers (`abstain`) is left out: there is nothing to find.
    """
    tables = DatedTables.of(release)
    with tables.query("SELECT id, title, day, text FROM {passages} ORDER BY day, id") as rows:
        _corpus(release, ((row["id"], row["title"], row["text"], row["day"]) for row in rows))
    queries: list[RetrievalQuery] = []
    with tables.query(_DAYS) as rows:
        for row in rows:
            if not (row["relevant"] or row["supporting"]):
                release.notes[_NOTHING_ANSWERS] += 1
                continue
            day_metadata = {name: row[name].isoformat() for name in ("day", "asked_on")}
            query = _query("test", row, {**day_metadata, "kind": row["kind"]})
            queries.append(query._replace(supporting=row["supporting"], grade=2))
    return queries


_DAYS = """
    WITH stale_ids AS (
        SELECT id, subject, relation, unnest(stale) AS passage FROM questions
    ), named AS (
        -- what a stale passage names; of several objects, one of the pair that is asked about
        SELECT q.id, passage, coalesce(max_by(s.object_label, {
            is_same: (s.subject = q.subject AND s.relation = q.relation)::INT,
            label: s.object_label}), '') AS answer
        FROM stale_ids q LEFT JOIN stated s USING (passage) GROUP BY ALL
    )
    SELECT q.id, question, targets, relation, kind, as_of AS day, asked_on, supporting,
        evidence AS relevant, s.stale
    FROM questions q LEFT JOIN (
        SELECT id, list({id: passage, answer: answer} ORDER BY passage) AS stale
        FROM named GROUP BY id
    ) s USING (id) ORDER BY q.id
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
