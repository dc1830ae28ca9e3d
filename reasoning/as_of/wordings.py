"""How questions about a day are worded: several ways for each kind, drawn by hash."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from factdrift.builders.core.config import Strict
from factdrift.builders.facts.relations import NewsWording, RelationWording
from factdrift.builders.generate.grounded import in_present_tense
from factdrift.builders.text.dates import format_date, with_preposition
from factdrift.builders.text.render import phrase

# Frames for a question in the past, which is `who coached Chelsea F.C.`.
_DAY_FRAMES = (
    "On {day}, {ask}?",
    "{Ask} on {day}?",
    "{Ask} as of {day}?",
    "Looking back to {day}: {ask}?",
    "As of {day}, {ask}?",
)
_MONTH_FRAMES = (
    "In {month}, {ask}?",
    "{Ask} in {month}?",
    "During {month}, {ask}?",
    "Back in {month}, {ask}?",
)
_NOW_FRAMES = (
    "As of {day}, {now}?",
    "{Now} as of {day}?",
    "It is {day}: {now}?",
    "{Now} today, {day}?",
    "{Now} as things stand on {day}?",
)
_BEFORE_FRAMES = (
    "{Ask} right before {began}?",
    "{Ask} until {began}?",
    "Right before {began}, {ask}?",
)
_BECAME_FRAMES = ("{Became} in {month}?", "In {month}, {became}?")
_AFTER_FRAMES = ("{Became} after {name}?", "After {name}, {became}?", "{Became} following {name}?")
_SINCE_FRAMES = (
    "{Became} between {day} and {last_day}?",
    "Between {day} and {last_day}, {became}?",
    "{Became} after {day} and no later than {last_day}?",
)


class AskedRelation(Strict):
    """The words with which a relation is asked for, from its template.

    `questions` are whole questions with the place `<time>`; `news` has questions with the place
    `<cue>`, the word that a text has for the relation.
    """

    phrases: RelationWording
    questions: tuple[str, ...]
    news: NewsWording


class Words(NamedTuple):
    """Chooses among wordings for one subject by a number that a hash gives.

    `cue` is the word that a passage has for the relation, empty where none is needed.
    """

    relation: AskedRelation
    subject_name: str
    choice: int
    cue: str = ""

    def on_day(self, day: date) -> str:
        """Ask what held on a day."""
        return self._at(format_date(day), with_preposition("on", format_date(day)), _DAY_FRAMES)

    def in_month(self, day: date) -> str:
        """Ask what held in the month of a day."""
        month = format_date(day, "month")
        return self._at(month, with_preposition("in", month), _MONTH_FRAMES)

    def now(self, day: date) -> str | None:
        """Ask on a day what holds; None if the relation has no question in the present tense."""
        ask = self._ask()
        present_ask = in_present_tense(ask)
        if present_ask == ask:
            return None
        frame = self._drawn(_NOW_FRAMES)
        return _filled(frame, now=present_ask, day=format_date(day))

    def before(self, object_name: str) -> str | None:
        """Ask what held before an object."""
        began_phrase = self.relation.phrases.began or self.relation.phrases.event
        if began_phrase is None:
            return None
        began = phrase(began_phrase, self.subject_name, object_name)
        return _filled(self._drawn(_BEFORE_FRAMES), ask=self._ask(), began=began)

    def became_in_month(self, day: date) -> str | None:
        """Ask what began in the month of a day."""
        return self._became(_BECAME_FRAMES, month=format_date(day, "month"))

    def became_after(self, object_name: str) -> str | None:
        """Ask what came after an object."""
        name = phrase("<the object>", self.subject_name, object_name)
        return self._became(_AFTER_FRAMES, name=name)

    def became_between(self, first_day: date, last_day: date) -> str | None:
        """Ask what began between two days."""
        days = format_date(first_day), format_date(last_day)
        return self._became(_SINCE_FRAMES, day=days[0], last_day=days[1])

    def _became(self, frames: Sequence[str], **places: str) -> str | None:
        template = self._with_cue(self.relation.news.became)
        if template is None:
            return None
        return _filled(self._drawn(frames), became=phrase(template, self.subject_name), **places)

    def _at(self, time: str, time_phrase: str, frames: Sequence[str]) -> str:
        """A question about the past: a frame, or a whole question of the template."""
        whole_questions = self.relation.questions
        # As many wordings come from the template as from the frames.
        if whole_questions and self.choice % 2:
            template = self._drawn(whole_questions).replace("<time>", time_phrase)
            return _capital(phrase(template, self.subject_name))
        place = "day" if frames is _DAY_FRAMES else "month"
        return _filled(self._drawn(frames), ask=self._ask(), **{place: time})

    def _ask(self) -> str:
        # The passage's word is the one that people use: a chancellor, seldom a head of government.
        template = (
            self.cue and self._with_cue(self.relation.news.ask)
        ) or self.relation.phrases.ask
        assert template is not None, "relations without it are not asked about"
        return phrase(template, self.subject_name)

    def _with_cue(self, template: str | None) -> str | None:
        """A question with the passage's word for the relation; None where it has none."""
        if template is None or "<cue>" not in template:
            return template
        for known_cue in self.relation.news.cues:
            if known_cue.lower() == self.cue.lower():
                return template.replace("<cue>", known_cue)
        return None

    def _drawn(self, wordings: Sequence[str]) -> str:
        return wordings[self.choice // 4 % len(wordings)]


def _filled(frame: str, **places: str) -> str:
    """A frame with its places filled; a place with a capital begins a sentence."""
    capitals = {name.capitalize(): _capital(text) for name, text in places.items()}
    return _capital(frame.format(**places, **capitals))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
