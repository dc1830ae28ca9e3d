"""BEIR: a corpus, queries and relevance judgments (Thakur et al. 2021, arXiv 2104.08663).

Passages of news are those of `factdrift corpus`, with the day of their article; passages of pages
are paragraphs. Relevant (1) is what holds the evidence. Of evolving facts, passages that name what
held at another time are judged 0 and stand in `stale.tsv`. In `as-of`, 2 is what proves the answer
for the day asked about, 1 what states the same term on an earlier day; of each query is told when
it is asked (`asked_on`), and nothing is judged that was published later or taken back by then
(`deleted_on` of a passage). Queries that nothing answers stand in `unanswerable.jsonl`.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

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
from factdrift.reasoning.as_of.stream_events import DELETIONS
from factdrift.scoring.export.dated import DatedTables, has_dated_passages, news_passages
from factdrift.scoring.export.release import Release, Row

CORPUS, QUERIES, QRELS, STALE = "corpus.jsonl", "queries.jsonl", "qrels", "stale.tsv"
UNANSWERABLE = "unanswerable.jsonl"
ASKED_ON, DELETED_ON = "asked_on", "deleted_on"
"""Metadata: the day on which a query is asked, and that on which a passage is taken back."""
STALE_COLUMNS = ("query-id", "corpus-id", "answer", "when")
When = Literal["stale", "early", "other"]
"""What a passage that is judged 0 states: what held before the day asked about, only after it, or
at another time of which the release does not say which."""
SPLITS = {"eval": "test", "valid": "dev"}
"""Names of splits in BEIR, by our name."""
_NOTHING_ANSWERS = "questions left out: nothing answers them"
_DELETED = "judgments left out: their passage is deleted by the day of asking"
_FUTURE = (
    "queries have a day of asking (`asked_on` in their metadata, which BEIR's loader drops): "
    "search no passage of a later `day` for them, as `factdrift search` does"
)
_SILENT = (
    f"questions that nothing answers are in {UNANSWERABLE} alone: whoever scores answers, and not "
    "runs, answers these as well"
)


class OtherPassage(NamedTuple):
    """A passage that is judged 0, with the object that it names instead, and when that held."""

    id: str
    answer: str
    when: When


class RetrievalQuery(NamedTuple):
    """A question with its judgments: `relevant` passages, and those of another time as `stale`.

    `grade` is the score of the relevant ones; `supporting` ones are judged 1.
    """

    split: str
    id: str
    text: str
    metadata: Row
    relevant: Sequence[str]
    stale: Sequence[OtherPassage] = ()
    supporting: Sequence[str] = ()
    grade: int = 1


def write(release: Release) -> None:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and `stale.tsv`.

    Of `as-of` also `unanswerable.jsonl`, queries that nothing answers.

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
        _lines(release, STALE, STALE_COLUMNS, stale_rows)


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
        stale_ids = [passage.id for passage in query.stale]
        for score, passage_ids in (
            *((query.grade, query.relevant), (1, query.supporting), (0, stale_ids)),
        ):
            for passage_id in sorted(set(passage_ids)):
                judgment_rows.append((query.id, passage_id, score))
    return judgment_rows


class _CorpusPassage(NamedTuple):
    """A passage of the corpus, with its days where they are known."""

    id: str
    title: str
    text: str
    day: date | None = None
    deleted_on: date | None = None


def _corpus(release: Release, passages: Iterable[_CorpusPassage]) -> int:
    """Write the passages, with their days as metadata; return their number."""

    def records() -> Iterator[Row]:
        for passage in passages:
            days = {"day": passage.day, DELETED_ON: passage.deleted_on}
            metadata = {name: day.isoformat() for name, day in days.items() if day}
            text_fields = {"title": passage.title, "text": passage.text}
            yield {"_id": passage.id, **text_fields, "metadata": metadata}

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
        passages = (
            _CorpusPassage(printable_id(row["id"]), "", row["text"], row["day"]) for row in rows
        )
        _corpus(release, passages)
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
            release, (_CorpusPassage(row["id"], row["title"], row["text"]) for row in rows)
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

    A question that nothing answers (`abstain`) goes to a file of its own: there is nothing to find.
    """
    tables = DatedTables.of(release)
    with tables.query(_DATED_PASSAGES) as rows:
        _corpus(release, (_CorpusPassage(**row) for row in rows))
    queries: list[RetrievalQuery] = []
    silent_queries: list[RetrievalQuery] = []
    with tables.query(_DAYS) as rows:
        for row in rows:
            metadata = {name: row[name].isoformat() for name in ("day", ASKED_ON)}
            metadata |= {"kind": row["kind"], "prompt": row["prompt"]}
            query = _query("test", row, metadata)
            release.notes[_DELETED] += row["listed"] - len(query.stale)
            if row["relevant"] or row["supporting"]:
                queries.append(query._replace(supporting=row["supporting"], grade=2))
            else:
                silent_queries.append(query)
    if silent_queries:
        release.json_lines(UNANSWERABLE, map(_query_record, silent_queries))
    release.notes[_SILENT] = len(silent_queries)
    release.notes[_FUTURE] = len(queries)
    return queries


_DATED_PASSAGES = f"""
    SELECT p.id, title, text, p.day, gone.day AS deleted_on
    FROM {{passages}} p LEFT JOIN ({DELETIONS}) gone ON gone.id = p.id ORDER BY p.day, p.id
"""  # noqa: S608 - ours
_DAYS = f"""
    WITH gone AS ({DELETIONS}), listed AS (
        SELECT id, subject, relation, asked_on, as_of, earlier, unnest(stale) AS passage
        FROM questions
    ), named AS (
        -- what a passage of another time names; of several objects, one of the pair asked about
        SELECT q.id, passage, any_value(q.as_of) AS as_of, any_value(q.earlier) AS earlier,
            max_by({{label: s.object_label, since: s.since}}, {{
                is_same: (s.subject = q.subject AND s.relation = q.relation)::INT,
                label: s.object_label}}) AS object
        FROM listed q LEFT JOIN stated s USING (passage)
        WHERE NOT EXISTS (FROM gone WHERE gone.id = q.passage AND gone.day <= q.asked_on)
        GROUP BY q.id, passage
    )
    SELECT q.id, question, prompt, targets, relation, kind, as_of AS day, asked_on, supporting,
        evidence AS relevant, s.stale, len(q.stale) AS listed
    FROM questions q LEFT JOIN (
        SELECT id, list({{id: passage, answer: coalesce(object.label, ''),
            "when": CASE WHEN object.since > as_of AND NOT list_contains(earlier, object.label)
                THEN 'early' ELSE 'stale' END}} ORDER BY passage) AS stale
        FROM named GROUP BY id
    ) s USING (id) ORDER BY q.id
"""  # noqa: S608 - ours


def _query(split: str, row: Row, day_metadata: Row) -> RetrievalQuery:
    query_metadata = {**day_metadata, "targets": row["targets"], "relation": row["relation"]}
    stale_passages = [
        OtherPassage(passage["id"], passage["answer"], passage.get("when", "other"))
        for passage in row["stale"] or ()
    ]
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
