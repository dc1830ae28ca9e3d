"""The texts behind a row, with the spans that it points at: pages, news articles, passages."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import Manifest, locate_file
from factdrift.builders.release.why.lookup import Values, matching_rows
from factdrift.builders.release.why.tables import BuildTables
from factdrift.builders.wmt.archive import find_archives
from factdrift.builders.wmt.lines import ARTICLE_ID
from factdrift.builders.wmt.passages import printable_id
from factdrift.builders.wmt.read import read_articles

_AROUND = 220
"""Characters shown on each side of a span: about two sentences, which mostly tell what it means."""
_PASSAGES_SHOWN = 4
"""Passages of each kind that are shown of a question; corpora may have hundreds that state it."""
_PASSAGE_COLUMNS = {"id", "day", "text"}
_STATED_COLUMNS = {"passage", "subject", "relation", "object", "start", "end"}


@dataclass(frozen=True)
class Mark:
    """A span of a text: `text[start:end]`, and why it is marked.

    `claimed_text` is what the row says that the span is; empty where it says nothing.
    """

    start: int
    end: int
    words: str
    claimed_text: str = ""


@dataclass(frozen=True)
class ShownText:
    """A text behind a row. `text` is whole; printing cuts it around the marks.

    `claimed_texts` are what the row says that the spans are, as far as it says so.
    """

    source: str
    text: str
    day: date | None = None
    marks: tuple[Mark, ...] = ()
    claimed_texts: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    """What the row says of the text, and the text does not have."""
    notes: tuple[str, ...] = ()

    def snippets(self) -> Iterator[str]:
        """Yield the parts around the marks, each span between `>>` and `<<`."""
        if not self.marks:
            yield self.text[: 2 * _AROUND] + " …" * (len(self.text) > 2 * _AROUND)
        for mark in self.marks:
            start, end = max(mark.start - _AROUND, 0), min(mark.end + _AROUND, len(self.text))
            before, after = self.text[start : mark.start], self.text[mark.end : end]
            marked = f">>{self.text[mark.start : mark.end]}<<"
            yield f"{'… ' * (start > 0)}{before}{marked}{after}{' …' * (end < len(self.text))}"


@dataclass
class TextReader:
    """Reads the texts of rows; `missing` collects what could not be read, and what to do."""

    db: duckdb.DuckDBPyConnection
    release_folder: Path
    release_manifest: Manifest
    build: BuildTables
    news: Sequence[str]
    missing: list[str] = field(default_factory=list)

    def texts(self, row_values: Values) -> list[ShownText]:
        """Return the texts that a row points into."""
        shown_texts = [*self._context(row_values), *self._news(row_values)]
        if isinstance(row_values.get("evidence"), list) and "stale" in row_values:
            shown_texts += self._passages(row_values)
        if row_values.keys() >= _PASSAGE_COLUMNS and "source" in row_values:
            shown_texts.append(self._own_passage(row_values))
        return shown_texts

    # --- Pages ------------------------------------------------------------------------------------

    def _context(self, row_values: Values) -> Iterator[ShownText]:
        """The context of a question, with the spans of its answers."""
        spans = row_values.get("answers")
        if not (isinstance(spans, dict) and {"text", "answer_start"} <= spans.keys()):
            return
        context = str(row_values.get("context") or "")
        revision = row_values.get("revision")
        source = f"page “{row_values.get('title')}”" + f", revision {revision}" * bool(revision)
        if row_values.get("page"):
            source += f" (https://en.wikipedia.org/w/index.php?curid={row_values['page']})"
        if not context:
            self.missing.append(
                "the text of the page: the release has none (`text: false`); "
                "factdrift corpus PAGES --release puts it back"
            )
        marks = [
            Mark(start, start + len(text), f"answer “{text}”")
            for text, start in zip(spans["text"], spans["answer_start"], strict=False)
        ]
        if context:
            notes = tuple(_context_notes(row_values))
            span_texts = tuple(spans["text"])
            yield ShownText(source, context, None, tuple(marks), span_texts, notes=notes)
        if not (context and marks):
            yield from self._paragraphs(row_values, source)

    def _paragraphs(self, row_values: Values, source: str) -> Iterator[ShownText]:
        """The paragraphs of the whole page that name what held, where the context has none."""
        pages = self._find({"item", "paragraphs"}, "item = ?", [row_values.get("subject")])
        segment_ids = row_values.get("segments") or []
        aligned = self._find({"id", "mention", "paragraph"}, "list_contains(?, id)", [segment_ids])
        for segment in aligned if pages else []:
            place = segment["paragraph"]
            if place is None or place >= len(pages[0]["paragraphs"]):
                continue
            mark = Mark(
                segment["start"],
                segment["end"],
                f"the whole page names “{segment['object_label']}”",
                segment["mention"],
            )
            text = pages[0]["paragraphs"][place]["text"]
            paragraph_words = f"paragraph {place} of the {source}"
            yield ShownText(paragraph_words, text, None, (mark,), (segment["mention"],))

    # --- News -------------------------------------------------------------------------------------

    def _news(self, row_values: Values) -> Iterator[ShownText]:
        """The articles of a row, with what it marks in them."""
        for column in ("evidence_id", "article"):
            article_id = row_values.get(column)
            if isinstance(article_id, str) and ARTICLE_ID.fullmatch(article_id):
                yield from self._article(article_id, "article", _marks_of_row(row_values))
        # what an expert marked in an old article says the old answer in any words
        for column, answer_column, words in (
            ("new_evidence", "answer", "new article"),
            ("old_evidence", "", "old article"),
        ):
            evidence = row_values.get(column)
            if isinstance(evidence, dict) and {"article", "start", "end"} <= evidence.keys():
                mark = Mark(evidence["start"], evidence["end"], f"`{column}`")
                marks = _marks_of_evidence(mark, str(row_values.get(answer_column) or ""))
                yield from self._article(evidence["article"], words, marks)
        own_id = row_values.get("id")
        if {"file", "line"} <= row_values.keys() and isinstance(own_id, str):
            yield from self._article(own_id, "article", lambda text: [])
        if (
            row_values.get("source") == "news"
            and not row_values.get("text")
            and row_values.get("place")
        ):
            article_id, _, _ = str(row_values["place"]).rpartition("_")
            yield from self._article(article_id, "article", lambda text: [])

    def article(self, article_id: str) -> list[ShownText]:
        """Return an article without marks."""
        return list(self._article(article_id, "article", lambda text: []))

    def _article(
        self, article_id: str, words: str, marks: Callable[[str], Sequence[Mark]]
    ) -> Iterator[ShownText]:
        readable_id = readable_article(article_id)
        try:
            article = self._read_article(article_id, f"{words} {readable_id}")
        except UserError as error:
            self.missing.append(f"the text of the {words} {readable_id}: {error}")
            return
        if article is None:
            return
        all_marks = marks(article.text)
        # a mark without a place is of words that the text does not have
        text_marks = tuple(mark for mark in all_marks if mark.start >= 0)
        yield ShownText(
            f"{words} {readable_id}",
            article.text,
            article.day,
            text_marks,
            tuple(mark.claimed_text for mark in text_marks if mark.claimed_text),
            tuple(mark.claimed_text for mark in all_marks if mark.start < 0),
        )

    def _read_article(self, article_id: str, article_words: str) -> rows.Article | None:
        """Read an article from the archives; where that cannot be, say what to do."""
        id_parts = ARTICLE_ID.fullmatch(article_id)
        if not id_parts:
            return None
        year = id_parts[1]
        archives = [*self.news] or [
            *map(str, self.build.input_files(self.release_manifest, "news"))
        ]
        if not archives:
            advice = f"name the archive of {year}, the same as the release's: --news FILE"
            self.missing.append(f"the text of the {article_words}: {advice}")
            return None
        # the archives of WMT have a year in their names, and only that year's has the article
        of_year = [path for path in archives if f".{year}." in Path(path).name]
        archive_files = find_archives(of_year or archives)
        article = next(read_articles(archive_files, [article_id], strict=False), None)
        if article is None:
            self.missing.append(f"the text of the {article_words}: no archive has it")
        return article

    # --- Passages of a corpus ---------------------------------------------------------------------

    def _passages(self, row_values: Values) -> Iterator[ShownText]:
        """The passages of a question over a corpus: those that prove, support, or are stale."""
        answers = {*(row_values.get("answer_ids") or ())}
        for column, words in (
            ("evidence", "proves the answer"),
            ("supporting", "states the same of an earlier day"),
            ("unjudged", "states the answer, proves nothing of the day"),
            ("stale", "states another one"),
        ):
            passage_ids = row_values.get(column) or []
            for passage_id in passage_ids[:_PASSAGES_SHOWN]:
                passage = self._find(_PASSAGE_COLUMNS | {"source"}, "id = ?", [passage_id])
                if passage:
                    stated = self._stated(
                        passage_id, row_values, None if column == "stale" else answers
                    )
                    yield _passage_text(passage[0], f"passage that {words}", stated)
            if len(passage_ids) > _PASSAGES_SHOWN:
                rest = len(passage_ids) - _PASSAGES_SHOWN
                yield ShownText(f"{rest:,} more that would be shown here: {words}", "")

    def _own_passage(self, row_values: Values) -> ShownText:
        stated = self._find(_STATED_COLUMNS, "passage = ?", [row_values["id"]])
        return _passage_text(row_values, "passage", stated)

    def _stated(
        self, passage_id: str, row_values: Values, answers: set[str] | None
    ) -> list[Values]:
        """What a passage states of the question's history."""
        stated = self._find(_STATED_COLUMNS, "passage = ?", [passage_id])
        of_subject = [
            fact
            for fact in stated
            if fact["subject"] == row_values.get("subject")
            and (answers is None or not answers or fact["object"] in answers)
        ]
        return of_subject or stated

    def _find(self, columns: set[str], test: str, parameters: Sequence[Any]) -> list[Values]:
        """Return the rows of the first config with these columns that has some."""
        for config in self.release_manifest.configs:
            if {column.name for column in config.columns} >= columns:
                for split in config.splits:
                    path = locate_file(self.release_folder, split.file)
                    found_rows = matching_rows(self.db, path, test, parameters, _PASSAGES_SHOWN)
                    if found_rows:
                        return found_rows
        return []


def _passage_text(passage: Values, words: str, stated: Sequence[Values]) -> ShownText:
    marks = [
        Mark(fact["start"], fact["end"], f"states “{fact.get('object_label', fact['object'])}”")
        for fact in stated
    ]
    notes = [_stated_words(fact) for fact in stated]
    source = f"{words}: {passage['source']} {passage['id']}"
    if passage.get("title"):
        source += f" “{passage['title']}”"
    return ShownText(
        source, passage["text"], passage["day"], tuple(marks), notes=tuple(dict.fromkeys(notes))
    )


def _stated_words(fact: Values) -> str:
    """What a passage states, in words."""
    label = fact.get("object_label") or fact["object"]
    parts = [f"it states “{label}” ({fact['object']})"]
    if fact.get("is_current"):
        parts.append("as holding on its day")
    if fact.get("is_change"):
        parts.append("as news")
    if fact.get("stated_from"):
        parts.append(f"from {fact['stated_from']}")
    if fact.get("stated_until"):
        parts.append(f"until {fact['stated_until']}")
    if fact.get("relation_word"):
        parts.append(f"by the word “{fact['relation_word']}”")
    return ", ".join(parts)


def _context_notes(row_values: Values) -> Iterator[str]:
    if row_values.get("context_cut"):
        yield "the paragraphs that name an answer are left out on purpose (`context_cut`)"
    if row_values.get("answerable") == "not_in_page":
        names = named_after_all(row_values)
        yield (
            f"the row says that the text does not name what held, and it has {', '.join(names)}"
            if names
            else "no answer stands in the text: something held, but the text does not name it"
        )
    if row_values.get("answerable") == "nothing_holds":
        yield "no answer is known: nothing held at the time"
    if row_values.get("rules"):
        yield f"how the page names each object: {', '.join(row_values['rules'])}"
    if row_values.get("evidence") in ("both", "one", "none"):
        yield f"boundaries that the page states near the mention: {row_values['evidence']}"


def _object_names(row_values: Values) -> list[str]:
    """The names of what held, of a row without an answer in its text."""
    objects = row_values.get("objects")
    return [
        name
        for item in (objects if isinstance(objects, list) else [])
        if isinstance(item, dict)
        for name in (str(item.get("label") or ""), *map(str, item.get("aliases") or ()))
    ]


def named_after_all(row_values: Values) -> list[str]:
    """The names that stand in the text of a row which says that it names nothing that held."""
    if row_values.get("answerable") != "not_in_page":
        return []
    context = str(row_values.get("context") or "")
    return [name for name in _object_names(row_values) if name and name in context]


def _marks_of_row(row_values: Values) -> Callable[[str], list[Mark]]:
    """Return a function that marks the answers of a news row in a text."""
    answers = row_values.get("answers")
    answer = row_values.get("new_answer") or row_values.get("answer")
    texts = answers if isinstance(answers, list) else [answer] if isinstance(answer, str) else []
    start = row_values.get("answer_start")

    def marks(text: str) -> list[Mark]:
        if isinstance(start, int) and texts:
            answer_text = str(texts[0])
            end = start + len(answer_text)
            return [Mark(start, end, f"answer “{answer_text}”", answer_text)]
        questions = row_values.get("questions") or []
        marks_of_answers = []
        for number, answer_text in enumerate(map(str, texts)):
            place = text.find(answer_text)
            words = f"answer “{answer_text}”"
            if number < len(questions):
                words = f"{questions[number]} {words}"
            marks_of_answers.append(Mark(place, place + len(answer_text), words, answer_text))
        for question in questions[len(texts) :] if isinstance(questions, list) else ():
            marks_of_answers.append(Mark(-1, -1, "", f"an answer to: {question}"))
        # words to leave out are many: only those that the text lacks are told
        for word in map(str, row_values.get("candidates") or []):
            if word not in text:
                marks_of_answers.append(Mark(-1, -1, "", word))
        return marks_of_answers

    return marks


# `20080911-8bfd…` with 64 hex digits, as messages print the id of an article
_READABLE = re.compile("([0-9]{8})-([0-9a-f]{64})")


def _marks_of_evidence(mark: Mark, answer_text: str) -> Callable[[str], list[Mark]]:
    """Return a function that marks evidence, and the answer as lacking where it is not in it."""

    def marks(text: str) -> list[Mark]:
        has_answer = answer_text in text[mark.start : mark.end]
        return [mark] if has_answer else [mark, Mark(-1, -1, "", answer_text)]

    return marks


def original_id(row_id: str) -> str:
    """Return the id of an article that is written without control characters; others as they are.

    No command line can hold the original id.
    """
    id_parts = _READABLE.fullmatch(row_id)
    return f"{id_parts[1]}{'0' * 12}\x00\x01{id_parts[2]}\x00\x01" if id_parts else row_id


def readable_article(article_id: str) -> str:
    """The id of an article without its control characters, day and sha256; others as they are."""
    if not ARTICLE_ID.fullmatch(article_id):
        return article_id
    return printable_id(f"{article_id}_").rpartition("_")[0]
