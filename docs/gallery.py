"""Ten rows of each dataset with the facts behind them, from the samples' releases.

`tests/golden/gallery.md` is what this gives for the releases of today: a test compares the two, and
`make golden` writes it anew. `docs/hooks.py` makes a page of each of its sections.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from factdrift.builders.release.card import code_span, escape_markdown

ROWS = 10
# Letters of a text around an answer: two or three lines of a page.
_AROUND = 130
Row = Mapping[str, Any]


class GalleryRow(NamedTuple):
    """A row as the gallery shows it: what is asked, what is right, a note, and what lies behind.

    All but `note` and `behind` are texts from data; these two are Markdown.
    """

    id: str
    question: str
    answers: Sequence[str]
    note: str
    behind: Sequence[str]


class SampleReleases:
    """The samples' releases, and the queries that the gallery asks them."""

    def __init__(self, releases: Path) -> None:
        self.db = duckdb.connect()
        self.releases = releases

    def result_rows(self, text: str, *values: object) -> list[dict[str, Any]]:
        """The rows of a query as maps."""
        result = self.db.execute(text, values)
        columns = [description[0] for description in result.description]
        return [dict(zip(columns, values, strict=True)) for values in result.fetchall()]

    def config_files(self, dataset: str, config: str) -> str:
        """The files of a config as a pattern."""
        return str(self.releases / dataset / "1.0.0" / "data" / config / "*.parquet")

    def drawn_rows(self, dataset: str, configs: Sequence[str], group: str) -> list[dict[str, Any]]:
        """Ten rows of some configs: by turns of each group, in the order of a hash of their ids."""
        patterns = [self.config_files(dataset, config) for config in configs]
        return self.result_rows(
            f"""SELECT * FROM read_parquet(?, union_by_name = true)
            ORDER BY row_number() OVER (PARTITION BY {group} ORDER BY md5(id)), md5(id)
            LIMIT {ROWS}""",  # noqa: S608 - columns that this module names
            patterns,
        )

    def quotes(self, article: str, words: Sequence[str]) -> Iterator[str]:
        """What the news of the samples says around words, in the passage of an article, as a quote.

        `article` is the id of an article or of one of its passages.
        """
        checksum = article.rstrip("\0\1").rpartition("\1")[2]
        passages = self.result_rows(
            "SELECT day, text FROM read_parquet(?) WHERE contains(id, ?) ORDER BY id",
            self.config_files("as-of", "passages"),
            checksum,
        )
        for passage in passages:
            if word := next((word for word in words if word in passage["text"]), None):
                yield f"{passage['day']}: “{escape_markdown(_around(passage['text'], word))}”"
                return


def gallery(releases: Path) -> str:
    """A section for each dataset of the samples, with ten rows."""
    sample = SampleReleases(releases)
    lines = []
    for dataset, rows_of in sorted(SECTIONS.items()):
        lines += [f"## {dataset}", ""]
        for number, row in enumerate(rows_of(sample), start=1):
            lines += [f"**{number}.** {escape_markdown(row.question)}", ""]
            lines += [f"- {_answers(row.answers)} ({row.note}; {code_span(row.id)})"]
            lines += [f"- {text}" for text in row.behind]
            lines.append("")
    return "\n".join(lines)


def _answers(answers: Sequence[str]) -> str:
    if not answers:
        return "**no answer**"
    more = f" and {len(answers) - 3} more" if len(answers) > 3 else ""
    return " or ".join(f"**{escape_markdown(answer)}**" for answer in answers[:3]) + more


def _around(text: str, word: str) -> str:
    """A piece of a text around its first place of a word, cut between words."""
    place = text.index(word)
    start, end = max(0, place - _AROUND), min(len(text), place + len(word) + _AROUND)
    before = text[start:place].partition(" ")[2] if start else text[:place]
    after = text[place + len(word) : end]
    after = after.rpartition(" ")[0] if end < len(text) else after
    return f"{'… ' if start else ''}{before}{word}{after}{' …' if end < len(text) else ''}"


def _as_known(first: date | None, last: date | None) -> str:
    """A date as precisely as it is known: 2023-01-25, 2005, or two days between which it lies."""
    if first == last:
        return str(first or "?")
    if first and last and f"{first}{last}" == f"{first.year:04}-01-01{first.year:04}-12-31":
        return f"{first.year:04}"
    return f"{first or '?'}/{last or '?'}"


def _fact(segment: Row) -> str:
    """A segment of a timeline as a line: who, what, from when, until when."""
    words = [segment[f"{name}_label"] for name in ("subject", "relation", "object")]
    subject, relation, holder = map(escape_markdown, words)
    since, until = segment["valid_from"] or "?", segment["valid_to"] or "now"
    return f"{subject}, {relation}: {holder}, {since} to {until}"


def _timelines(sample: SampleReleases, dataset: str, row: Row) -> list[str]:
    """The segments that touch the period of a row, or end or begin within a year of it."""
    first, last = row.get("period_first"), row.get("period_last")
    segments = sample.result_rows(
        """SELECT * FROM read_parquet(?) WHERE subject = ? AND relation = ?
            AND coalesce(start_first, DATE '0001-01-01') <= ?::DATE + 366
            AND coalesce(end_last, snapshot) >= ?::DATE - 366
        ORDER BY start_first NULLS FIRST, id LIMIT 5""",
        sample.config_files(dataset, "timelines"), row["subject"], row["relation"], last, first,
    )  # fmt: skip
    return list(map(_fact, segments))


def _templama(sample: SampleReleases) -> Iterator[GalleryRow]:
    configs = ("updated", "new", "deleted", "unchanged")
    for row in sample.drawn_rows("dynamic-templama", configs, "split"):
        before = [answer["label"] for answer in row["previous_answers"]]
        note = f"{code_span(row['split'])}, {row['period']}; the period before: "
        note += ", ".join(map(escape_markdown, before)) or "nobody"
        behind = _timelines(sample, "dynamic-templama", row)
        yield GalleryRow(row["id"], row["prompt"], row["targets"], note, behind)


def _temporal_facts(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("temporal-facts", ["changes"], "change"):
        question = f"{row['subject_label']}, {row['relation_label']}?"
        behind = []
        for side in ("old", "new"):
            since = _as_known(row[f"{side}_start_first"], row[f"{side}_start_last"])
            until = _as_known(row[f"{side}_end_first"], row[f"{side}_end_last"])
            until = "now" if row[f"{side}_end_open"] else until
            if row[f"{side}_statements"]:
                behind.append(f"the dump of {row[f'{side}_snapshot']}: {since} to {until}")
            else:
                behind.append(f"the dump of {row[f'{side}_snapshot']}: not there")
        note = f"change: {code_span(row['change'])}"
        yield GalleryRow(row["id"], question, [row["object_label"]], note, behind)


def _timeqa(sample: SampleReleases) -> Iterator[GalleryRow]:
    timelines = sample.config_files("timeqa", "timelines")
    for row in sample.drawn_rows(
        "timeqa", ["easy", "hard"], "difficulty, specifier, len(targets) > 0"
    ):
        segments = sample.result_rows(
            "SELECT * FROM read_parquet(?) WHERE list_contains(?, id) ORDER BY start_first, id",
            timelines, row["segments"] or [row["segment"]],
        )  # fmt: skip
        behind = list(map(_fact, segments[:4]))
        places = row["answers"]["answer_start"]
        if places and (answer := row["answers"]["text"][0]):
            passage = row["context"][max(0, places[0] - 2 * _AROUND) :]
            behind.append(f"its page: “{escape_markdown(_around(passage, answer))}”")
        note = f"{code_span(row['difficulty'])}, {row['specifier'] or 'no specifier'}"
        note += "" if row["targets"] else f"; {escape_markdown(row['answerable'])}"
        yield GalleryRow(row["id"], row["question"], row["targets"], note, behind)


def _invariant(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("invariant-lama", ["all"], "relation"):
        fact = (row["subject_label"], row["relation_label"], row["answer"]["label"])
        subject, relation, answer = map(escape_markdown, fact)
        behind = [f"{subject}, {relation}: {answer}, in both dumps and without an end"]
        yield GalleryRow(
            row["id"], row["prompt"], row["targets"], code_span(row["relation"]), behind
        )


def _reasoning(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("temporal-reasoning", ["questions"], "family"):
        behind = list(map(escape_markdown, row["evidence"][:5]))
        note = f"{code_span(row['family'])}, hops: {row['hops']}"
        yield GalleryRow(row["id"], row["question"], row["targets"], note, behind)


def _edits(sample: SampleReleases) -> Iterator[GalleryRow]:
    configs = ("edits", "rephrases", "portability", "reverse", "locality")
    for row in sample.drawn_rows("knowledge-edits", configs, "coalesce(kind, change)"):
        day = row["as_of"] or row["period_last"]
        before = [answer["label"] for answer in row["previous_answers"]]
        note = f"{code_span(row['kind'] or row['change'])}, {row['period']}"
        note += f"; before: {', '.join(map(escape_markdown, before))}" if before else ""
        facts = [(row["subject"], (row["path"] or row["relation"]).split(" ")[0])]
        facts += [(hop["subject"], hop["relation"]) for hop in row["hops"] or ()]
        if row["kind"] == "reverse":
            facts = [(row["answers"][0]["id"], row["relation"])]
        behind: list[str] = []
        for subject, relation in facts:
            period = {"period_first": day, "period_last": day}
            pair = {"subject": subject, "relation": relation}
            behind += _timelines(sample, "knowledge-edits", period | pair)
        yield GalleryRow(row["id"], row["prompt"], row["targets"], note, behind)


def _as_of(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("as-of", ["questions"], "kind"):
        behind: list[str] = []
        for passage in [*row["evidence"][:1], *row["supporting"][:1]]:
            behind += sample.quotes(passage, row["targets"])
        stale = len(row["stale"])
        note = f"{code_span(row['kind'])}, asked on {row['asked_on']}; passages that prove it: "
        note += f"{len(row['evidence'])}, stale ones: {stale}"
        yield GalleryRow(row["id"], row["question"], row["targets"], note, behind)


def _streamingqa(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("streamingqa", ["all"], "recent_or_past"):
        note = f"{code_span(row['recent_or_past'])}, written by {code_span(row['generator'])}"
        behind = list(sample.quotes(row["evidence_id"], row["answers"]))
        yield GalleryRow(row["id"], row["prompt"], row["targets"], note, behind)


def _ckl(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("ckl-questions", ["questions"], "1"):
        question, answer = row["questions"][0], row["answers"][0]
        note = f"an article of {row['article_day']}, questions: {len(row['questions'])}"
        behind = list(sample.quotes(row["evidence_id"], [answer]))
        yield GalleryRow(row["id"], question, [answer], note, behind)


def _wmt(sample: SampleReleases) -> Iterator[GalleryRow]:
    for row in sample.drawn_rows("wmt-question-dates", ["recent", "past"], "subset"):
        question = f"An article of {row['article_day']}"
        note = f"{code_span(row['subset'])}, {code_span(row['split'])}: the day of the question"
        behind = list(sample.quotes(row["article"], [". "]))
        yield GalleryRow(row["id"], question, [str(row["question_day"])], note, behind)


SECTIONS: Mapping[str, Callable[[SampleReleases], Iterator[GalleryRow]]] = {
    "as-of": _as_of,
    "ckl-questions": _ckl,
    "dynamic-templama": _templama,
    "invariant-lama": _invariant,
    "knowledge-edits": _edits,
    "streamingqa": _streamingqa,
    "temporal-facts": _temporal_facts,
    "temporal-reasoning": _reasoning,
    "timeqa": _timeqa,
    "wmt-question-dates": _wmt,
}
"""Each dataset that the samples give without people's work -> its rows."""
