"""Which dates of a sentence say that something began there, and which that it ended.

A date states a boundary only on its side (SPEC 3). Three things tell the side:

- A stretch: `1990-1995`, `from 2003 until 2009`, `since 2003`, `until 2009`.
- The event that governs the date, the nearest word of `boundaries.yaml` in its clause: `joined
  Leeds in 2003` begins, `left Leeds in 2003` ends. What neither begins nor ends (`scored twice in
  2003`) states nothing.
- The place of the name beside the event: `moved from Leeds to Hull in 2003` ends Leeds and begins
  Hull, `replacing Ann Lee in 2003` ends her and begins whoever else is named.

The year of a film, a quotation or another person's life belongs to no event and states nothing. A
sentence is read by its words and marks, without a parser: what it says of a name in another clause
counts only where the clauses are joined and no other date comes between.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from typing import Final, Literal, NamedTuple

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import MONTHS, DateMention, TextDates
from factdrift.builders.text.en.verbs import verb_forms
from factdrift.builders.text.quotations import quotation_spans

Side = Literal["start", "end"]
"""The boundary that a date may state."""
EventKind = Literal["begins", "ends", "replaces", "hands_on", "degree", "neutral"]

_WORDS: Final = language_data("boundaries")
_RELATIVES = word_set(_WORDS["relatives"])
_JOINTS = word_set(_WORDS["joints"])
_DATED_NOUNS = word_set(_WORDS["dated_nouns"])
_TOKEN = re.compile(r"[A-Za-z]\.(?:[A-Za-z]\.)+|[^\W_]+(?:[-'’.][^\W_]+)*|[^\w\s]")
"""A word or a mark: `Ph.D`, `co-founded`, `Leeds`, `,`."""
_MARKS = frozenset(',;:()–—"“”')
"""Marks that part clauses."""
_LOOSE = re.compile(
    r"\b(?:by|before|after|prior to|as (?:early|late) as|class of|by the \w+ of)\s+"
    r"(?:the |early |late |mid-?)*$",
    re.I,
)
"""Words before a date that make it no boundary: `by 2003`, `by the end of 2003`."""
_STUDY = re.compile(r"\b(?:from|at|of)\s+(?:(?:the|a|an)\s+)?$", re.I)
"""Words between a degree and the place of study: `from the `."""
_HONORARY = re.compile(r"\b(?:honorary|honoris)\b", re.I)
"""A degree that nobody studied for: `an honorary degree`."""
_BRACKET = re.compile(r"\([^()]*\)")
"""A remark in brackets: `(1994)`, `(retired in 2003)`."""
_DIRECTIONS = re.compile(r"\b(?:from|to|into|with|for|by)\b")
"""Words between an event and a name that say whether it comes or goes: `from`, `to`."""
_PLACES = re.compile(r"\b(?:as|at|in|of|for|by|with)\b")
"""Words between a successor and what he holds: `succeeded Ann as `."""
_FOUNDED = frozenset(
    "founded founding established establishing formed forming launched created creating built "
    "erected introduced inception".split()
)
"""What is founded itself begins, not what somebody holds in it: `Leeds, founded in 1919`."""
_ADJECTIVE = re.compile(
    r"\b(?:a|an|the|his|her|its|their|this|that|of|newly|recently|best|well|in|with|[a-z]+['’]s)\s+$",
    re.I,
)
"""Words before a participle that belongs to a noun: `the reconstructed`, `of enclosed`."""
_OWNED = re.compile(r"['’]s?\s+$")
"""Words before what happened to somebody else: `after Ann Lee's `."""
_ANY_WORD = re.compile(r"[^\W\d_][\w'’-]*")
"""A word that begins with a letter: `Leeds`."""
_WHEN = re.compile(r"\s*,?\s*when\b")
"""What happens at a date may follow it: `until 1966 , when`."""
_AGREED = re.compile(rf"\b(?:{'|'.join(word_set(_WORDS['agreed']))})\b[^.;]{{0,50}}$", re.I)
"""An end that is only agreed on: `a contract running until `."""
_NOT_ELECTED = re.compile(
    r"\b(?:not|never|unsuccessfully|failed|failing|declined|refused|rejected|nearly|almost)\b"
    r"(?:\s+\w+){0,2}\s*$",
    re.I,
)
"""Words that take the event behind them back: `was not elected`, `failed to `."""
_CAPITALS = re.compile(r"[A-Z][\w.]*[A-Z]")
"""An abbreviation: `MBA`, `Ph.D`."""
_AFTER_MARK = re.compile(r"[-,;:(.]\s*$")
"""A mark behind which a word has a capital for that: `. `."""
_SIDE_OF_FIELD = re.compile(r"[- ](?:back|wing|winger|midfielder|hand|side|arm|leg|foot)")
"""What `left` is no verb before: `-back`."""
_OPENING = re.compile(r"\s*\(\s*")
"""The bracket directly behind a name: ` (`."""
_NEXT_WORD = re.compile(r"(?:\s+[^\W\d_][\w'-]*){1,4}")
"""The words behind a date: ` film`, ` New Year Honours`."""
_OWNER = re.compile(r"\b(?:the|a|an|his|her|their|its|this|that)$|['’]s?$", re.I)
"""A word that a year stands behind as part of a noun: `the`, `Disney's`."""
_DATE_OPENING = re.compile(r"(?:(?:and|but|then|later)\s*)?(?:in|on|from|at)(?: early| late)?")
"""What stands before a date that opens a clause: `and in`."""
_AND = re.compile(r"(?:and|but|then)\b")
"""A clause that goes on with the sentence: `and in `."""
_ENDS_WITH_AND = re.compile(r"(?:\band|\bbut|;)\s*$")
"""A clause before one that goes on: `he left, and `."""
_LEFT_BEHIND = re.compile(r"\b(?:before|until|prior to)(?: [a-z]+)?$")
"""Words before an event that ends what stood before: `at Leeds before`."""
_BY_SOMEBODY = re.compile(r"\s+(?:in [\w ]{3,20} )?by\b|\s+as [^,;]{1,60} by\b")
"""Words behind a verb in the passive: ` as mayor by`."""
_AUXILIARY = re.compile(r"\b(?:was|were|is|been|being|be)(?: \w+ly)?$")
"""Words before a verb in the passive: `was finally`."""
_REACH: Final = 120
"""Characters before a word in which another one may bear on it: a long clause, a guess."""
_MOST_DATES: Final = 30
"""Dates of a sentence that is read for events; one with more is a table that lost its lines."""
_BESIDE: Final = 3
"""Characters between a name and the bracket that tells of it."""
_LONG_LIFE: Final = 366 * 25
"""Days of a stretch in brackets behind a name that may be a life: 25 years, a guess."""


class SidedDates(NamedTuple):
    """The dates of a passage that may state the start, those that may state the end, and `moments`.

    Moments tell when something was, without saying that it began or ended: `won the prize in 2003`.
    """

    starts: tuple[DateMention, ...] = ()
    ends: tuple[DateMention, ...] = ()
    moments: tuple[DateMention, ...] = ()


class _Event(NamedTuple):
    """A word that tells what happened, at `start` to `end` in the text; `clause` is its number."""

    start: int
    end: int
    kind: EventKind
    word: str
    clause: int


def sided_dates(
    text: str, dates: TextDates, name: tuple[int, int] | None, text_start: int = 0
) -> SidedDates:
    """The dates of a sentence by what they state of a name in it.

    `name` is the span of the name in `text`; with None the sentence stands beside the one with the
    name, and only events count that name nobody else (`He left in 2009.`). `text_start` is the
    place of the sentence in the paragraph, as dates count it.
    """
    if len(dates.written) > _MOST_DATES:
        return _dates_of_stretches(dates)
    sentence = _Sentence(text, dates, name, text_start)
    starts: list[DateMention] = []
    ends: list[DateMention] = []
    moments: list[DateMention] = []
    for written in dates.written:
        sides = sentence.sides(written)
        if "start" in sides:
            starts.append(written)
        if "end" in sides:
            ends.append(written)
        if not sides and sentence.is_moment(written):
            moments.append(written)
    return SidedDates(tuple(starts), tuple(ends), tuple(moments))


def stretch_sides(written: DateMention, stretches: Sequence[DateMention]) -> frozenset[Side]:
    """The side of a date that begins or ends a stretch of time; none for any other date."""
    sides: set[Side] = set()
    for stretch in stretches:
        if stretch.start <= written.start and written.end <= stretch.end:
            if stretch.first == date.min:
                sides.add("end")
            elif stretch.last == date.max or stretch.start == written.start:
                sides.add("start")
            else:
                sides.add("end")
    return frozenset(sides)


def _dates_of_stretches(dates: TextDates) -> SidedDates:
    """The dates that begin a stretch, and those that end one, whatever else the text says."""
    starts: list[DateMention] = []
    ends: list[DateMention] = []
    for stretch in dates.stretches:
        for written in dates.written:
            if stretch.start <= written.start and written.end <= stretch.end:
                is_start = written.start == stretch.start and stretch.first != date.min
                (starts if is_start else ends).append(written)
    return SidedDates(tuple(starts), tuple(ends))


@cache
def _events_pattern() -> tuple[re.Pattern[str], dict[str, EventKind]]:
    """A pattern that finds all words of events, the longest first, and the kind of each."""
    kinds: dict[str, EventKind] = {}
    for word in word_set(_WORDS["degrees"]):
        kinds[word.lower()] = "degree"
    begins, ends = _WORDS["begins"], _WORDS["ends"]
    lists: Sequence[tuple[EventKind, str, str]] = (
        ("begins", begins["verbs"], begins["words"] + begins["nouns"]),
        ("ends", ends["verbs"], ends["words"] + ends["nouns"]),
        ("replaces", _WORDS["replaces"], ""),
        ("hands_on", _WORDS["hands_on"], ""),
    )
    for kind, verbs, words in lists:
        for verb in word_set(verbs):
            for form in verb_forms(verb):
                # `best selling` and `trading` are no events.
                if kind != "hands_on" or not form.endswith("ing"):
                    kinds.setdefault(form, kind)
            kinds.setdefault(f"to {verb}", kind)
        for word in word_set(words):
            kinds[word.lower()] = kind
    alternatives = "|".join(map(re.escape, sorted(kinds, key=lambda word: (-len(word), word))))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.I), kinds


@cache
def _nouns() -> frozenset[str]:
    """The nouns among the words of events, which articles stand before: `his death`."""
    return word_set(_WORDS["begins"]["nouns"]) | word_set(_WORDS["ends"]["nouns"])


@cache
def _neutral_pattern() -> re.Pattern[str]:
    """A pattern that finds verbs that neither begin nor end anything: `scored`, `won`, `served`."""
    irregular: set[str] = set()
    for row in language_data("verbs")["irregular"].split(";"):
        base, past, participle = row.split()
        if base not in ("be", "have", "do", "let", "put", "read", "set", "cut", "hit", "cost"):
            irregular |= {past, participle}
    irregular -= {"left", "lay", "saw", "felt", "born", "thought", "ground", "wound", "found"}
    alternatives = "|".join(sorted(irregular))
    # `while playing`, `, leading`: an -ing form is a verb behind a mark or a joint alone.
    return re.compile(
        rf"\b(?:{alternatives}|found|[a-z]{{2,}}ed)\b|(?:,|\bwhile|\bby|\bafter|\bbefore)\s+[a-z]+ing\b"
    )


def _without_brackets(text: str, name: tuple[int, int] | None) -> str:
    """The text with blanks for each bracket that does not hold the name, as long as before.

    What stands there tells of the words before it, and its verbs are no events of the sentence.
    """

    def blank(bracket: re.Match[str]) -> str:
        if name and bracket.start() < name[1] and name[0] < bracket.end():
            return bracket[0]
        return " " * len(bracket[0])

    return _BRACKET.sub(blank, text)


class _Sentence:
    """A sentence with its clauses and events, read for one name."""

    def __init__(
        self, text: str, dates: TextDates, name: tuple[int, int] | None, text_start: int
    ) -> None:
        self.text = _without_brackets(text, name)
        self.whole_text, self.name, self.offset = text, name, text_start
        self.written, self.stretches = dates
        self.clause_starts = list(self._clause_starts())
        self.events = self._find_events()
        self.quotations = list(quotation_spans(text))

    def _clause_starts(self) -> Iterator[int]:
        yield 0
        for token in _TOKEN.finditer(self.text):
            if token[0] in _MARKS:
                yield token.end()
            elif token[0] in _JOINTS:
                yield token.start()

    def clause(self, place: int) -> int:
        """The number of the clause that a place lies in."""
        return bisect_right(self.clause_starts, place) - 1

    def _find_events(self) -> list[_Event]:
        event_pattern, kind_by_word = _events_pattern()
        told_events: list[_Event] = []
        for word_match in event_pattern.finditer(self.text):
            event_word = word_match[0].lower()
            event_kind = kind_by_word[event_word]
            if event_kind == "degree" or event_word in _nouns() or self._is_verb(word_match):
                own_clause = self.clause(word_match.start())
                told_events.append(_Event(*word_match.span(), event_kind, event_word, own_clause))
        taken_places = {place for event in told_events for place in range(event.start, event.end)}
        for word_match in _neutral_pattern().finditer(self.text):
            verb_start = word_match.end() - len(word_match[0].split()[-1])
            if taken_places.isdisjoint(range(*word_match.span())) and not _ADJECTIVE.search(
                self._lead(verb_start)
            ):
                own_clause = self.clause(verb_start)
                told_events.append(
                    _Event(verb_start, word_match.end(), "neutral", word_match[0], own_clause)
                )
        # A word of the name itself is no event: `an International Master in 1988`.
        name_start, name_end = self.name or (0, 0)
        return sorted(
            event for event in told_events if event.end <= name_start or name_end <= event.start
        )

    def _is_verb(self, word_match: re.Match[str]) -> bool:
        return not (self._is_part_of_name(word_match.start()) or self._is_left_side(word_match))

    def _is_part_of_name(self, place: int) -> bool:
        """Whether a word is no verb, but part of a name or before a noun: `the closed shop`."""
        if _ADJECTIVE.search(self._lead(place)):
            return True
        if not self.text[place].isupper() or _CAPITALS.match(self.text, place):
            return False
        return place != 0 and not _AFTER_MARK.search(self._lead(place))

    def _is_left_side(self, word_match: re.Match[str]) -> bool:
        """Whether `left` is a side: `left wing`, `left-back`."""
        is_side = _SIDE_OF_FIELD.match(self.text, word_match.end()) is not None
        return word_match[0].lower() == "left" and is_side

    # --- Dates ----------------------------------------------------------------------------------

    def sides(self, written: DateMention) -> frozenset[Side]:
        """The sides on which a date may state a boundary of what the name stands for."""
        start, end = written.start - self.offset, written.end - self.offset
        if self._is_quoted(start) or self._tells_relative(start):
            return frozenset()
        sides = stretch_sides(written, self.stretches)
        if sides:
            return self._sides_of_stretch(written, sides, start, end)
        if self._is_loose(start, end):
            return frozenset()
        if not self.text[start:end].strip():
            return self._sides_in_bracket(written, start)
        event = self._governing(start, end, is_date=True)
        side = self._side_by_events(event, start, end)
        return frozenset((side,)) if side else frozenset()

    def _sides_in_bracket(self, written: DateMention, start: int) -> frozenset[Side]:
        """The sides of a date in a bracket, which may tell of the name before it: `(left in 2003)`.

        The year of a film, `Alien (1979)`, states nothing.
        """
        bracket_start = self.whole_text.rfind("(", 0, start)
        bracket_end = self.whole_text.find(")", start)
        if self.name is None or not 0 <= bracket_start - self.name[1] <= _BESIDE:
            return frozenset()
        bracket_text = self.whole_text[bracket_start + 1 : bracket_end]
        remark_dates = sided_dates(
            bracket_text, TextDates((written,), ()), None, self.offset + bracket_start + 1
        )
        bracket_sides: set[Side] = set()
        if remark_dates.starts:
            bracket_sides.add("start")
        if remark_dates.ends:
            bracket_sides.add("end")
        return frozenset(bracket_sides)

    def is_moment(self, written: DateMention) -> bool:
        """Whether a date tells when something about the name was, on no side."""
        start, end = written.start - self.offset, written.end - self.offset
        if self.name is None or self._is_quoted(start) or self._tells_relative(start):
            return False
        if stretch_sides(written, self.stretches) or self._is_loose(start, end):
            return False
        if not self.events:
            # A verbless entry with this date alone: `1998: Centenary Medal`.
            return len(self.written) == 1
        event = self._governing(start, end, is_date=True)
        if event is None or self._is_taken_back(event) or not self.text[start:end].strip():
            return False
        is_founded = event.word in _FOUNDED and self.name[1] <= event.start
        return (
            event == self._governing(*self.name)
            and not is_founded
            and not self._other_dates_between(start, end)
        )

    def _sides_of_stretch(
        self, written: DateMention, sides: frozenset[Side], start: int, end: int
    ) -> frozenset[Side]:
        if "end" in sides and _AGREED.search(self._lead(start)):
            return frozenset()
        if self._is_life_of_name(written, start):
            return frozenset()
        follows = _WHEN.match(self.text, end)
        if sides == {"end"} and follows and self.name and self.name[0] > end:
            next_event = _first_after(self.events, end)
            event_side = self._polarity(next_event) if next_event else None
            return frozenset((event_side,)) if event_side else frozenset()
        return sides

    def _is_life_of_name(self, written: DateMention, start: int) -> bool:
        """Whether a date is part of a long stretch in brackets behind the name: `(1868-1930)`."""
        if self.name is None:
            return False
        for stretch in self.stretches:
            if stretch.start <= written.start and written.end <= stretch.end:
                text_between = self.whole_text[self.name[1] : stretch.start - self.offset]
                day_count = (stretch.last - stretch.first).days
                # Between the two no other text but the bracket; events tell that it is no list.
                if _OPENING.fullmatch(text_between) and day_count > _LONG_LIFE and self.events:
                    return True
        return False

    def _is_quoted(self, place: int) -> bool:
        return any(start <= place < end for start, end in self.quotations)

    def _is_loose(self, start: int, end: int) -> bool:
        """Whether a date is no time of an event: `by 2003`, `the 1994 film`, `(1994)`."""
        if _LOOSE.search(self._lead(start)):
            return True
        next_words = _NEXT_WORD.match(self.text, end)
        if next_words and _OWNER.search(self._lead(start).rstrip()):
            return _DATED_NOUNS.isdisjoint(next_words[0].lower().split())
        return False

    def _tells_relative(self, place: int) -> bool:
        """Whether the clause of a date is about a relative: `his father was mayor until 1990`."""
        clause_start = self.clause_starts[self.clause(place)]
        first_words = self.text[clause_start:place].split()[:3]
        if len(first_words) < 2 or first_words[0].lower() not in ("his", "her", "their", "whose"):
            return False
        return any(clause_word.lower() in _RELATIVES for clause_word in first_words[1:])

    # --- Events ---------------------------------------------------------------------------------

    def _governing(self, start: int, end: int, is_date: bool = False) -> _Event | None:
        """The event that governs a name or a date: in its clause, else in the one it belongs to."""
        own_clause = self.clause(start)
        own_events = [event for event in self.events if event.clause == own_clause]
        own_event = _last_before(own_events, start) or _first_after(own_events, end)
        if own_event is not None:
            return own_event
        later_event = _first_after(self.events, end)
        text_before = self.text[: self.clause_starts[own_clause]]
        is_leading = not text_before.strip(" ,;:()–—") or (is_date and self._leads(start))
        return later_event if is_leading else _last_before(self.events, start) or later_event

    def _leads(self, date_start: int) -> bool:
        """Whether a date opens a clause that goes on with the sentence: `and in 2003, he left`."""
        clause_start = self.clause_starts[self.clause(date_start)]
        clause_lead = self.text[clause_start:date_start].strip().lower()
        is_joined = _AND.match(clause_lead) or _ENDS_WITH_AND.search(self.text[:clause_start])
        return bool(_DATE_OPENING.fullmatch(clause_lead) and is_joined)

    def _side_by_events(self, date_event: _Event | None, start: int, end: int) -> Side | None:
        """The side of a date that this event governs, or None where it states nothing."""
        if date_event is None or self._is_taken_back(date_event):
            return None
        if self.name is None:
            return self._side_without_name(date_event, start)
        is_parted = self._other_dates_between(start, end)
        name_event = self._governing(*self.name)
        if name_event == date_event and not is_parted:
            return self._polarity(date_event)
        is_leading = date_event.start >= end
        if date_event.kind == "neutral" and not is_leading:
            return None
        if self._is_left_behind(date_event):
            return "end"
        if self._goes_on_without_name(date_event, start):
            return self._side_without_name(date_event, start)
        if name_event is None or is_parted or (is_leading and name_event.start < start):
            return None  # what follows a date has no part in what was told before it
        return self._side_of_joined_clause(name_event, start)

    def _goes_on_without_name(self, date_event: _Event, date_start: int) -> bool:
        """Whether an event behind the name is told of it: `played for Leeds and left in 2003`."""
        assert self.name
        is_later = self.name[1] <= date_event.start
        is_owned = _OWNED.search(self._lead(date_event.start))
        return is_later and not is_owned and self._names_nobody(date_event, date_start)

    def _side_of_joined_clause(self, name_event: _Event, date_start: int) -> Side | None:
        """The side of a date in a clause that is joined with that of the name."""
        if self._is_taken_back(name_event) or self._has_date_of_its_own(name_event, date_start):
            return None
        return self._polarity(name_event)

    def _has_date_of_its_own(self, event: _Event, start: int) -> bool:
        """Whether another date than the one at `start` belongs to an event."""
        for written in self.written:
            other_start, other_end = written.start - self.offset, written.end - self.offset
            is_plain = self.text[other_start:other_end].strip() and not stretch_sides(
                written, self.stretches
            )
            if (
                is_plain
                and other_start != start
                and self._governing(other_start, other_end, True) == event
            ):
                return True
        return False

    def _is_taken_back(self, event: _Event) -> bool:
        return _NOT_ELECTED.search(self._lead(event.start)) is not None

    def _other_dates_between(self, start: int, end: int) -> bool:
        """Whether another date stands between this one and the name."""
        assert self.name
        gap_start, gap_end = (end, self.name[0]) if end <= self.name[0] else (self.name[1], start)
        return any(
            gap_start <= written.start - self.offset < gap_end
            for written in self.written
            if written.start - self.offset != start
        )

    def _is_left_behind(self, event: _Event) -> bool:
        """Whether the name stands before `before moving …`, which ends what it stands for."""
        assert self.name
        event_lead = self._lead(event.start).rstrip()
        joining_words = _LEFT_BEHIND.search(event_lead.lower())
        # The lead may begin behind the beginning of the text.
        return (
            joining_words is not None
            and self.name[1]
            <= (event.start - _REACH if event.start > _REACH else 0) + joining_words.start()
        )

    def _names_nobody(self, event: _Event, start: int) -> bool:
        """Whether no name stands between an event and its date: `and left the club in 2003`."""
        gap_start, gap_end = (event.end, start) if event.end <= start else (start, event.start)
        gap_words = _ANY_WORD.findall(self.text[gap_start:gap_end])
        return not any(gap_word[0].isupper() and gap_word not in MONTHS for gap_word in gap_words)

    def _side_without_name(self, event: _Event, start: int) -> Side | None:
        if not self._names_nobody(event, start):
            return None
        if event.kind == "begins" and event.word not in _FOUNDED:
            return "start"
        if event.kind == "ends":
            return "end"
        if event.kind == "replaces" and self._is_passive(event):
            return "end"
        return None

    def _is_passive(self, event: _Event) -> bool:
        """Whether somebody is replaced or sold: `was replaced`, `succeeded by`."""
        is_by = _BY_SOMEBODY.match(self.text, event.end)
        is_auxiliary = _AUXILIARY.search(self._lead(event.start).rstrip().lower())
        return event.word.endswith(("ed", "n")) and bool(is_by or is_auxiliary)

    def _polarity(self, governing_event: _Event) -> Side | None:
        """The side that an event states of the name, by where the name stands beside it."""
        assert self.name
        is_after = self.name[0] >= governing_event.end
        text_between = self.text[governing_event.end : self.name[0]] if is_after else ""
        directions = _DIRECTIONS.findall(text_between.lower())
        match governing_event.kind:
            case "replaces":
                return self._side_of_replaced(governing_event, text_between, is_after)
            case "hands_on":
                is_receiver = bool(directions) and directions[-1] in ("to", "with", "into")
                return "start" if is_receiver else "end"
            case "degree":
                return self._side_of_degree(governing_event)
            case "begins":
                return _side_of_beginning(governing_event.word, is_after, directions)
            case "ends":
                return "start" if "for" in directions or "to" in directions else "end"
        return None

    def _side_of_replaced(
        self, governing_event: _Event, text_between: str, is_after: bool
    ) -> Side | None:
        """The side of who replaces (it begins) or of who is replaced (it ends)."""
        is_passive = self._is_passive(governing_event)
        if not is_after:
            return "end" if is_passive else "start"
        prepositions = _PLACES.findall(text_between.lower())
        if not prepositions:
            return "start" if is_passive else "end"
        last_preposition = prepositions[-1]
        is_successor = last_preposition == "with" or (last_preposition == "by") == is_passive
        return "start" if is_successor else "end"

    def _side_of_degree(self, event: _Event) -> Side | None:
        """A degree ends a study at the place that it is from, an honorary one nothing."""
        assert self.name
        if _HONORARY.search(self._lead(event.start)):
            return None
        return "end" if _STUDY.search(self._lead(self.name[0])) else None

    def _lead(self, place: int) -> str:
        """The text before a place, as far back as a word may matter."""
        return self.text[max(0, place - _REACH) : place]


def _side_of_beginning(event_word: str, is_after: bool, directions: Sequence[str]) -> Side | None:
    """The side that a beginning states: who comes *from* somewhere has left it.

    Whoever is elected from a place has not, and what is founded itself begins nothing else.
    """
    if event_word in _FOUNDED and not is_after:
        return None
    is_origin = bool(directions) and directions[-1] == "from" and "elect" not in event_word
    return "end" if is_origin else "start"


def _last_before(events: Sequence[_Event], text_place: int) -> _Event | None:
    """The last of some events in the order of the text that ends before a place."""
    return next((event for event in reversed(events) if event.end <= text_place), None)


def _first_after(events: Sequence[_Event], text_place: int) -> _Event | None:
    """The first of some events that begins at a place or later."""
    return next((event for event in events if event.start >= text_place), None)
