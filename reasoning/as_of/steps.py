"""The step that draws, judges and writes the questions of `as-of`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, get_args

import pyarrow as pa

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.schema import typed_rows, write_sorted, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.reasoning.as_of.corpus import (
    MENTIONS,
    PASSAGE_ORDER,
    PASSAGES,
    STATED,
    WORDS,
    NewsPassages,
    NewsStatements,
    PagePassages,
    PageStatements,
)
from factdrift.reasoning.as_of.drafts import AskableDraft, AskableDrafts
from factdrift.reasoning.as_of.histories import History, HistoryTables, read_histories, read_names
from factdrift.reasoning.as_of.questions import QuestionWriter, drawn_by_kind, shares
from factdrift.reasoning.as_of.rows import (
    AsOfQuestion,
    DatedPassage,
    PassageFact,
    QuestionKind,
)
from factdrift.reasoning.as_of.statements import Statements, corrected_drafts
from factdrift.reasoning.as_of.wordings import AskedRelation
from factdrift.reasoning.names import Verbalizer

QUESTIONS = "questions.parquet"
WHOLE = "whole.parquet"
"""The passages with all their text, where that of news stays out of the release."""
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
_SPARE_DRAFTS = 4
"""Drafts of silence that are looked up in the corpus for each question that is asked for."""
_MOST_DOCUMENTS = 500
"""Documents that name a subject beyond which nobody asks what is said of it nowhere: all of them
are read for the answer."""
_ANSWERED_PER_SILENT = 5
"""Questions with an answer for each one without: one kind in six at most."""
_SHORTEST_WORD = 3
"""Letters of a word that is looked for: shorter ones are initials."""


class Corpus(Step):
    """All passages in one table, by day and id: `passages.parquet` (`DatedPassage`).

    `text` is false if the text of news stays out of the release; `whole.parquet` has it then.
    """

    name: ClassVar[str] = "as-of-corpus"

    parts: tuple[NewsPassages | PagePassages, ...]
    text: bool

    def make(self, out: Path, workspace: Workspace) -> None:
        """Merge the parts on disk."""
        paths = [workspace.folder(part) / PASSAGES for part in self.parts]
        with workspace.engine() as eng:
            passages = eng.read(paths, DatedPassage)
            if not self.text:
                eng.write(passages, out / WHOLE, DatedPassage, PASSAGE_ORDER)
                is_news = passages.source == "news"
                passages = passages.mutate(text=is_news.ifelse("", passages.text))
            eng.write(passages, out / PASSAGES, DatedPassage, PASSAGE_ORDER)


class JudgedQuestions(Step):
    """Writes the questions of a corpus: `questions.parquet` (`AsOfQuestion`), by id.

    Beside it `stated.parquet` (`PassageFact`), by passage, and `dropped.parquet`. `statements` are
    the sentences that the histories were put into; None where they are stated by texts. `count` is
    the largest number of questions.
    """

    name: ClassVar[str] = "as-of-questions"

    tables: HistoryTables
    statements: Statements | None
    parts: tuple[NewsPassages | PagePassages, ...]
    relations: Mapping[str, AskedRelation]
    count: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw drafts evenly by kind, judge what the passages state, and write the rows."""
        folder = workspace.folder(self.tables)
        stated_path = workspace.folder(self.statements or self.tables) / STATED
        facts = list(typed_rows(stated_path, PassageFact))
        names = read_names(folder, self.tables.phrases)
        histories = read_histories(folder, facts)
        drafts: Iterator[AskableDraft] = iter(
            AskableDrafts(
                histories,
                names,
                self.relations,
                self.tables.first,
                self.tables.last,
                self.tables.seed,
            )
        )
        if self.statements is not None:
            drafts = chain(drafts, self._corrected(histories.values(), names))
        by_kind = drawn_by_kind(drafts, self.tables.seed)
        if "abstain" in by_kind:
            silent_drafts = by_kind["abstain"][: _SPARE_DRAFTS * self.count]
            by_kind["abstain"] = self._silent(silent_drafts, names, workspace)
        with writing(out / "dropped.parquet", rows.Dropped) as drop_writer:
            writer = QuestionWriter(names, of_statements=self.statements is not None)
            questions, dropped = _written(by_kind, writer, self.count)
            for dropped_row in dropped:
                drop_writer.append(dropped_row)
        write_sorted(out / QUESTIONS, AsOfQuestion, questions, "id")
        order = ("passage", "subject", "relation", "object", "since")
        write_sorted(out / STATED, PassageFact, facts, *order)
        counts = Counter(question.kind for question in questions)
        for kind in KINDS:
            if not counts[kind] and (kind != "corrected" or self.statements is not None):
                workspace.say(f"no question of the kind {kind}")

    def _corrected(self, histories: Iterable[History], names: Verbalizer) -> Iterator[AskableDraft]:
        for history in histories:
            yield from corrected_drafts(history, names, self.relations, self.tables.seed)

    def _silent(
        self, drafts: Sequence[AskableDraft], names: Verbalizer, workspace: Workspace
    ) -> list[AskableDraft]:
        """The drafts whose subject passages name by the day of asking, but whose answer none tells.

        Sentences made from facts tell nothing but their facts, of which a draft has been cleared.
        """
        if self.statements is not None:
            return [draft for draft in drafts if draft.history.facts_until(draft.asked_on)]
        silence = Silence(self.parts, self.tables.stated, workspace)
        return silence.kept(drafts, names)


def _written(
    by_kind: Mapping[QuestionKind, Sequence[AskableDraft]], writer: QuestionWriter, count: int
) -> tuple[list[AsOfQuestion], list[rows.Dropped]]:
    """The questions, evenly by kind, and the drafts that are not asked.

    At most `count` questions of a kind are written before it is known how many each kind gets.
    """
    written: dict[QuestionKind, list[AsOfQuestion]] = {}
    dropped: list[rows.Dropped] = []
    for kind in sorted(by_kind):
        written[kind] = []
        for draft in by_kind[kind]:
            if len(written[kind]) == count:
                break
            row = writer.question(draft)
            if isinstance(row, AsOfQuestion):
                written[kind].append(row)
            else:
                dropped.append(row)
    available = {kind: len(questions) for kind, questions in written.items()}
    if "abstain" in available:
        # There is always more that nobody says; too much of it would reward whoever says nothing.
        answered_count = sum(available.values()) - available["abstain"]
        available["abstain"] = min(available["abstain"], answered_count // _ANSWERED_PER_SILENT)
    questions: list[AsOfQuestion] = []
    for kind, share in shares(available, count).items():
        questions += written[kind][:share]
    return questions, dropped


class Silence:
    """Says of what nothing that was published by a day tells the answer, though it is named.

    `parts` are the passages, `stated` the steps with the names in articles and pages.
    """

    def __init__(
        self,
        parts: Sequence[NewsPassages | PagePassages],
        stated: Sequence[NewsStatements | PageStatements],
        workspace: Workspace,
    ) -> None:
        self._passages = _tables([workspace.folder(part) / PASSAGES for part in parts])
        self._mentions = _tables([workspace.folder(step) / MENTIONS for step in stated])
        self._workspace = workspace

    def kept(self, drafts: Sequence[AskableDraft], names: Verbalizer) -> list[AskableDraft]:
        """The drafts whose answer no passage names beside the subject or by its full name."""
        with duck.connect(self._workspace.work("spill"), self._workspace.memory) as db:
            db.register("candidates", _candidates(drafts, names))
            db.execute(_SILENT.format(passages=self._passages, mentions=self._mentions))
            numbers = {number for (number,) in db.fetchall()}
        return [draft for number, draft in enumerate(drafts) if number in numbers]


_SILENT = f"""
    WITH named AS (
        SELECT number, document, asked_on, words
        FROM candidates JOIN {{mentions}} ON item = subject AND day <= asked_on
    ), often AS (
        SELECT number FROM named GROUP BY number HAVING count(*) > {_MOST_DOCUMENTS}
    ), answered AS (
        SELECT number FROM (SELECT number, asked_on, unnest(objects) AS object FROM candidates)
            JOIN {{mentions}} ON item = object AND day <= asked_on
    ), beside AS (
        SELECT named.number FROM named ANTI JOIN often USING (number)
            JOIN {{passages}} ON regexp_replace(place, '[_-][0-9]+$', '') = document
        WHERE list_bool_or(list_transform(words, lambda word: contains(lower(text), word)))
    )
    SELECT DISTINCT number FROM named
    WHERE number NOT IN (FROM often) AND number NOT IN (FROM answered)
        AND number NOT IN (FROM beside)
"""  # noqa: S608 - a number of ours


def _candidates(drafts: Sequence[AskableDraft], names: Verbalizer) -> pa.Table:
    """The drafts as a table: subject, objects, the last words of their names, day of asking."""
    words: list[list[str]] = []
    for draft in drafts:
        last_words: set[str] = set()
        for name in names.accepted_names(draft.stretch.objects):
            last_words.update(WORDS.findall(name.lower())[-1:])
        words.append(sorted(word for word in last_words if len(word) >= _SHORTEST_WORD))
    return pa.table(
        {
            "number": pa.array(range(len(drafts)), pa.int64()),
            "subject": pa.array([draft.history.subject for draft in drafts], pa.string()),
            "objects": pa.array([list(draft.stretch.objects) for draft in drafts], _TEXTS),
            "words": pa.array(words, _TEXTS),
            "asked_on": pa.array([draft.asked_on for draft in drafts], pa.date32()),
        }
    )


_TEXTS = pa.list_(pa.string())


def _tables(paths: Sequence[Path]) -> str:
    """One table expression of several files of one type."""
    parts = " UNION ALL ".join(f"FROM {duck.parquet(path)}" for path in paths)
    return f"({parts})"
