"""The words of an edit and of what is asked about it, from the template of its relation."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Literal, NamedTuple

from factdrift.builders.core.config import Strict
from factdrift.builders.facts.relations import NamedKind, Relation, RelationWording
from factdrift.builders.templama.rendering import READS_AS_ONE_ANSWER
from factdrift.builders.text import render
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.reasoning.edits.plurals import asking_for_several, naming_several

REPHRASES = 3
"""Other ways to ask for the answer of an edit, as editors' benchmarks have them."""
_CHAIN_FRAMES = ("On {day}, {asked}?", "As of {day}, {asked}?", "{asked} on {day}?")
"""All hops of a chain are of one day, so that it may stand at either end."""
_LASTING_FRAMES = (
    "What is the {label} of {somebody} on {day}?",
    "Think of {somebody} on {day}: {asked}",
    "A question about {somebody} on {day}: {asked}",
)
"""What holds at all times is asked of somebody whom a day tells apart."""
_POINTED_AT: Mapping[NamedKind, str] = {
    "person": "that person",
    "team": "that team",
    "national_team": "that team",
    "party": "that party",
    "place": "that place",
    "organization": "that organization",
    "school": "that school",
    "league": "that league",
    "office": "that office",
    "thing": "that one",
}
"""What a question calls something that the clause before it named."""

RephraseKind = Literal["statement", "completion", "question"]


class Rephrase(NamedTuple):
    """Another text that asks for the answer of an edit."""

    kind: RephraseKind
    text: str


class EditPrompt(NamedTuple):
    """A sentence up to its object, its subject as it is written there, and the sentence's place."""

    text: str
    subject: str
    place: int


class EditTemplates(Strict):
    """The parts of a relation's template that edits are written with.

    `cloze` are the sentences that their object ends, by place from 1. `questions` have <subject>
    and <time>; `timeless` is one without time.
    """

    label: str
    cloze: tuple[tuple[int, str], ...]
    questions: tuple[str, ...]
    timeless: str | None
    phrases: RelationWording | None
    articles: dict[str, bool]

    @classmethod
    def of(cls, relation: Relation) -> "EditTemplates":
        """Return the parts of a relation's template."""
        questions = [template.ask for template in relation.questions if "in" in template.times]
        spoken_ask = relation.phrases.ask if relation.phrases else None
        if spoken_ask:
            questions.append(f"{_capital(spoken_ask)} <time>?")
        return cls(
            label=relation.label,
            cloze=tuple(
                (place, text)
                for place, text in enumerate(relation.cloze, 1)
                if render.object_last(text)
            ),
            questions=tuple(questions),
            timeless=relation.timeless_question,
            phrases=relation.phrases,
            articles=dict(relation.articles),
        )

    def prompts(self, subject: str, *, has_several: bool) -> list[EditPrompt]:
        """Return the sentences about a subject up to their object.

        Where the answer has several objects, those that read as if there were one come last.
        """
        ordered_texts = sorted(
            self.cloze,
            key=lambda entry: has_several and bool(READS_AS_ONE_ANSWER.match(entry[1])),
        )
        in_number = naming_several if has_several else str
        return [
            EditPrompt(
                in_number(self._up_to_object(text, subject)),
                render.written_subject(text, subject, self.articles),
                place,
            )
            for place, text in ordered_texts
        ]

    def statement(self, subject: str) -> str:
        """Return the first sentence about a subject up to its object."""
        return self._up_to_object(self.cloze[0][1], subject)

    def question(self, subject: str, day: date, *, has_several: bool = False) -> str:
        """Return the first question about a subject: on a day, or else the one without a time."""
        if self.questions:
            question = self._on_day(self.questions[0], subject, day)
            return asking_for_several(question) if has_several else question
        return render.phrase(self.timeless or "", subject, articles=self.articles)

    def rephrases(
        self, prompt: EditPrompt, subject: str, day: date, *, has_several: bool
    ) -> tuple[Rephrase, ...]:
        """Return up to `REPHRASES` other texts that ask for the answer of a prompt on a day."""
        by_form: dict[str, Rephrase] = {}
        for rephrase in self._rephrases(subject, day, has_several=has_several):
            by_form.setdefault(normalize_or_keep(rephrase.text), rephrase)
        for taken_text in (prompt.text, self.question(subject, day, has_several=has_several)):
            by_form.pop(normalize_or_keep(taken_text), None)
        return tuple(by_form.values())[:REPHRASES]

    @property
    def has_rephrases(self) -> bool:
        """Whether there are `REPHRASES` other wordings where one object is the answer."""
        if not self.cloze or not self.questions:
            return False
        prompt = self.prompts("S", has_several=False)[0]
        return len(self.rephrases(prompt, "S", date.min, has_several=False)) == REPHRASES

    def _rephrases(self, subject: str, day: date, *, has_several: bool) -> Iterator[Rephrase]:
        for other_prompt in self.prompts(subject, has_several=has_several):
            yield Rephrase("statement", other_prompt.text)
        if self.phrases and self.phrases.noun and not has_several:
            noun = self.noun(subject)
            yield Rephrase("completion", f"As of {format_date(day)}, {noun} was")
        for question_text in self.questions:
            question = self._on_day(question_text, subject, day)
            yield Rephrase("question", asking_for_several(question) if has_several else question)

    def noun(self, subject: str) -> str:
        """Return the object in words: `the head coach of Arsenal`."""
        noun = self.phrases.noun if self.phrases else None
        return render.phrase(noun or "", subject, articles=self.articles)

    def chain_questions(self, path_words: str, day: date, middle_is: NamedKind) -> tuple[str, ...]:
        """Return the wordings of a question about what a path leads to on a day.

        `middle_is`: what the path itself leads to.
        """
        day_words = format_date(day)
        if self.phrases and self.phrases.ask:
            asked_phrase = render.phrase(self.phrases.ask, path_words)
            chain_words = (
                frame.format(day=day_words, asked=asked_phrase) for frame in _CHAIN_FRAMES
            )
            return tuple(map(_capital, chain_words))
        pointed_at = _POINTED_AT[middle_is]
        asked_clause = render.phrase(self.timeless or "", pointed_at, articles={pointed_at: False})
        asked_clause = asked_clause[0].lower() + asked_clause[1:]
        # `the owner of Rovers on 30 June 2014` is a name of something, a person has a verb
        somebody = f"the person who was {path_words}" if middle_is == "person" else path_words
        return tuple(
            frame.format(label=self.label, somebody=somebody, day=day_words, asked=asked_clause)
            for frame in _LASTING_FRAMES
        )

    def reverse_question(self, object_name: str, day: date) -> str:
        """Return the question that names the object and asks for the subject."""
        ask_subject = self.phrases.ask_subject if self.phrases else None
        asked_phrase = render.phrase(ask_subject or "", "", object_name, self.articles)
        return f"On {format_date(day)}, {asked_phrase}?"

    def _up_to_object(self, text: str, subject: str) -> str:
        return render.query(text, subject, "\0", self.articles).partition("\0")[0].rstrip()

    def _on_day(self, text: str, subject: str, day: date) -> str:
        return render.question(text, subject, f"on {format_date(day)}", self.articles)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
