"""The steps that write the corpus, and those that find the facts that its passages state."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import ClassVar, Literal

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.schema import RowWriter, typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.boundary_sides import sided_dates
from factdrift.builders.facts.intervals import segment_interval
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.text_evidence import NO_DATES, NO_SIDES, FactPassage, fact_evidence
from factdrift.builders.generate.grounded import (
    ArticleFacts,
    GroundedFact,
    KnownTerms,
    StatedFacts,
)
from factdrift.builders.text.dates import dates_in
from factdrift.builders.timeqa.evidence import sided_passage
from factdrift.builders.timeqa.mentions import PageMention, PageText
from factdrift.builders.timeqa.steps import Alignments, Pages
from factdrift.builders.wmt.passages import SENTENCES, passage_texts, printable_id
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles
from factdrift.reasoning.as_of.judgments import StatedDays, fact_dates, stated_days
from factdrift.reasoning.as_of.rows import DatedPassage, ItemMention, PassageFact

PASSAGES, STATED, MENTIONS = "passages.parquet", "stated.parquet", "mentions.parquet"
PASSAGE_ORDER = ("day", "id")
WORDS = re.compile(r"[^\W_]+")
"""A run of letters or digits: `conte`, not `-`."""
_FROM = re.compile(r"\bfrom (?:the )?$")
"""A word before a name that something has just left: `from `."""
_TELLING_LETTERS = 4
"""Letters of a last word that may name somebody by itself: `Conte` does, `Lee` is often another."""
_PAGES_AT_ONCE = 64
"""Pages in memory: the longest have some hundred thousand characters."""


class NewsPassages(Step):
    """Every passage of the news archives: `passages.parquet` (`DatedPassage`), by day and id."""

    name: ClassVar[str] = "as-of-news"

    articles: Articles

    def make(self, out: Path, workspace: Workspace) -> None:
        """Cut every article into passages, one after another, and sort them on disk."""
        articles_path = workspace.folder(self.articles) / "articles.parquet"
        unsorted_path = out / "unsorted.parquet"
        with writing(unsorted_path, DatedPassage) as passage_writer:
            files = self.articles.news.files
            for article in read_articles(files, articles_path, jobs=workspace.jobs):
                for place, text in passage_texts(article):
                    passage_writer.append(
                        DatedPassage(printable_id(place), article.day, "", text, "news", place)
                    )
        _sort_passages(unsorted_path, out, workspace)


class PagePassages(Step):
    """Every paragraph of the pages: `passages.parquet` (`DatedPassage`), by day and id.

    `day` is the day of the pages.
    """

    name: ClassVar[str] = "as-of-pages"

    pages: Pages
    day: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write the paragraphs that have words, page by page, and sort them on disk."""
        pages_path = workspace.folder(self.pages) / "pages.parquet"
        unsorted_path = out / "unsorted.parquet"
        with writing(unsorted_path, DatedPassage) as passage_writer:
            for page in typed_rows(pages_path, rows.Page, _PAGES_AT_ONCE):
                for number, paragraph in enumerate(page.paragraphs):
                    if paragraph.text.strip():
                        place = paragraph_id(page, number)
                        passage_writer.append(
                            DatedPassage(place, self.day, page.title, paragraph.text, "page", place)
                        )
        _sort_passages(unsorted_path, out, workspace)


def paragraph_id(page: rows.Page, paragraph_number: int) -> str:
    """The id of a paragraph: page, revision and number; the item of a page without an id."""
    return f"{page.page or page.item}-{page.revision}-{paragraph_number}"


def _sort_passages(unsorted_path: Path, out: Path, workspace: Workspace) -> None:
    with workspace.engine() as eng:
        passages = eng.read(unsorted_path, DatedPassage)
        eng.write(passages, out / PASSAGES, DatedPassage, PASSAGE_ORDER)
    unsorted_path.unlink()


class NewsStatements(Step):
    """Finds the facts that news states: `stated.parquet` (`PassageFact`), in the archive's order.

    Each surely held on the day of its article. `mentions.parquet` (`ItemMention`) has the items
    that articles name, stated or not.
    """

    name: ClassVar[str] = "as-of-news-facts"

    articles: Articles
    facts: Facts
    timelines: Timelines
    relations: Mapping[str, NewsWording]
    holders: Mapping[str, Literal["object", "subject"]]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Search every article for the facts of the dump."""
        timelines_folder = workspace.folder(self.timelines)
        entities_path = workspace.folder(self.facts) / "entities.parquet"
        articles_path = workspace.folder(self.articles) / "articles.parquet"
        with (
            duck.connect(workspace.work("spill"), workspace.memory) as db,
            writing(out / STATED, PassageFact) as fact_writer,
            writing(out / MENTIONS, ItemMention) as mention_writer,
        ):
            articles = read_articles(self.articles.news.files, articles_path, jobs=workspace.jobs)
            fact_search = StatedFacts(
                db,
                timelines_folder / "timelines.parquet",
                timelines_folder / "gaps.parquet",
                entities_path,
                self.relations,
                holders=self.holders,
            )
            for article_facts in fact_search.find(articles):
                _write_mentions(article_facts, mention_writer)
                for stated_fact in self._stated(article_facts):
                    fact_writer.append(stated_fact)

    def _stated(self, article_facts: ArticleFacts) -> Iterator[PassageFact]:
        """The facts of an article, each once for each passage that states it."""
        article = article_facts.article
        passages = list(passage_texts(article))
        written_facts: set[tuple[str, ...]] = set()
        for fact in article_facts.facts:
            place, passage_text = passages[fact.sentence.line // SENTENCES]
            fact_key = (place, fact.relation, fact.subject, fact.object)
            days = news_days(fact, self.relations[fact.relation], article.day)
            if days is None or fact_key in written_facts:
                continue
            written_facts.add(fact_key)
            since = fact.term.held.start_last
            assert since is not None, "it surely held on the article's day"
            start, end = _span_of(fact, passage_text)
            yield PassageFact(
                passage=printable_id(place),
                subject=fact.subject,
                relation=fact.relation,
                object=fact.object,
                object_label=article_facts.known_terms.entities[fact.object].label,
                since=since,
                day=article.day,
                relation_word=days.relation_word,
                is_current=days.is_current,
                is_change=days.is_change,
                stated_from=days.stated_from,
                stated_until=days.stated_until,
                start=start,
                end=end,
                also_named=_also_named(fact, passage_text, article_facts.known_terms),
                statements=fact.term.statements,
            )


def _span_of(fact: GroundedFact, passage_text: str) -> tuple[int, int]:
    """The span of the sentences that state a fact, in the text of their passage."""
    starts: list[int] = []
    ends: list[int] = []
    for sentence in (fact.sentence, fact.other_sentence or fact.sentence):
        start = passage_text.index(sentence.text)
        starts.append(start)
        ends.append(start + len(sentence.text))
    return min(starts), max(ends)


def news_days(fact: GroundedFact, wording: NewsWording, day: date) -> StatedDays | None:
    """Return for which days a sentence of news states a fact, by the dates on their side."""
    sentence_text, held = fact.sentence.text, fact.term.held
    if fact.other_sentence is not None:
        # The date beside a name alone may be that of anything.
        return stated_days(
            FactPassage("", names=((0, 0), (0, 0))), held, wording, day, fact.evidence
        )
    is_left = _FROM.search(sentence_text[: fact.object_span[0]]) is not None
    if is_left and (fact.evidence.relation or "").lower() in map(str.lower, wording.changes):
        return None  # bought from somebody, who has it no more
    dates = dates_in(sentence_text)
    passage = FactPassage(
        sentence_text,
        dates,
        names=(fact.subject_span, fact.object_span),
        sided=sided_dates(sentence_text, dates, fact.object_span),
    )
    dated = fact_evidence(passage, fact_dates(held, day))
    evidence = fact.evidence._replace(starts=dated.starts, ends=dated.ends)
    return stated_days(passage, held, wording, day, evidence)


def _write_mentions(article_facts: ArticleFacts, mention_writer: RowWriter) -> None:
    """Write which items an article names, each once."""
    article = article_facts.article
    item_ids: set[str] = set()
    for mention in article_facts.mentions:
        item_ids.update(mention.ids)
    for item_id in sorted(item_ids):
        mention_writer.append(ItemMention(item_id, article.id, article.day))


def _also_named(fact: GroundedFact, passage_text: str, known_terms: KnownTerms) -> tuple[str, ...]:
    """The other objects of a fact's history that a passage may name, by any name or last word."""
    item_ids: set[str] = set()
    for term in known_terms.terms["object", fact.relation, fact.subject]:
        entity = known_terms.entities.get(term.id)
        if term.id != fact.object and entity and may_name(passage_text, entity):
            item_ids.add(term.id)
    return tuple(sorted(item_ids))


def may_name(text: str, entity: rows.Answer | rows.Entity) -> bool:
    """Whether a text may name an item: by a name of it, or by the last word of one."""
    lowered_text = text.lower()
    text_words = set(WORDS.findall(lowered_text))
    for name in (entity.label, *entity.aliases):
        if name.lower() in lowered_text:
            return True
        last_word = WORDS.findall(name.lower())[-1:]
        if last_word and len(last_word[0]) >= _TELLING_LETTERS and last_word[0] in text_words:
            return True
    return False


class PageStatements(Step):
    """Finds the facts that sentences of pages state: `stated.parquet` (`PassageFact`), by page.

    Candidates are the sentences, list items and table rows that TimeQA's alignment found, which
    name the object. `day` is the day of the pages. `mentions.parquet` (`ItemMention`) has the
    subjects of all pages.
    """

    name: ClassVar[str] = "as-of-page-facts"

    aligned: Alignments
    relations: Mapping[str, NewsWording]
    day: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read page by page the sentences with the mentions."""
        aligned_folder = workspace.folder(self.aligned) / "every"
        mentions_by_page: dict[str, list[rows.AlignedSegment]] = defaultdict(list)
        for segment in typed_rows(aligned_folder / "aligned.parquet", rows.AlignedSegment):
            # A sentence that is only similar to a name does not name the object.
            is_named = segment.evidence != "none" and segment.rule != "similar"
            if is_named and segment.relation in self.relations:
                mentions_by_page[segment.subject].append(segment)
        pages_path = workspace.folder(self.aligned.pages) / "pages.parquet"
        with (
            writing(out / STATED, PassageFact) as fact_writer,
            writing(out / MENTIONS, ItemMention) as mention_writer,
        ):
            for page in typed_rows(pages_path, rows.Page, _PAGES_AT_ONCE):
                document = paragraph_id(page, 0).rpartition("-")[0]
                mention_writer.append(ItemMention(page.item, document, self.day))
                segments = mentions_by_page.get(page.item, ())
                for stated_fact in self._stated(PageText(page), segments):
                    fact_writer.append(stated_fact)

    def _stated(
        self, page: PageText, segments: Sequence[rows.AlignedSegment]
    ) -> Iterator[PassageFact]:
        """The segments that a sentence of their page states with a date on its side."""
        for segment in segments:
            if segment.paragraph is None or segment.start is None or segment.end is None:
                continue
            mention = PageMention(segment.paragraph, segment.start, segment.end)
            # What stands around the sentence may speak of another term, so it is no evidence.
            sentence = replace(
                sided_passage(page, mention), nearby_dates=NO_DATES, nearby_sided=NO_SIDES
            )
            held = segment_interval(segment)
            days = stated_days(sentence, held, self.relations[segment.relation], self.day)
            if days is None or segment.start_last is None or segment.rival:
                continue
            sentence_text = sentence.text.rstrip()
            history = [same for same in segments if same.relation == segment.relation]
            yield PassageFact(
                passage=paragraph_id(page.page, segment.paragraph),
                subject=segment.subject,
                relation=segment.relation,
                object=segment.object,
                object_label=segment.object_label,
                since=segment.start_last,
                day=self.day,
                relation_word=days.relation_word,
                is_current=days.is_current,
                is_change=days.is_change,
                stated_from=days.stated_from,
                stated_until=days.stated_until,
                start=sentence.start,
                end=sentence.start + len(sentence_text),
                also_named=_named_beside(segment, history, page.texts[segment.paragraph]),
                statements=segment.statements,
            )


def _named_beside(
    segment: rows.AlignedSegment, history: Sequence[rows.AlignedSegment], paragraph_text: str
) -> tuple[str, ...]:
    """The other objects of a history that a paragraph may name."""
    item_ids: set[str] = set()
    for rival in history:
        entity = rows.Answer(rival.object, rival.object_label, rival.aliases)
        if rival.object != segment.object and may_name(paragraph_text, entity):
            item_ids.add(rival.object)
    return tuple(sorted(item_ids))
