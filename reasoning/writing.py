"""Write rows from candidates: the question, its choices, its facts in words, and its twin."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain, permutations, product
from typing import NamedTuple, TypeVar

from factdrift.builders.core.hashing import row_id, seeded_hash, seeded_index
from factdrift.builders.facts.namesakes import REASON
from factdrift.builders.rows import Dropped, Segment
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.reasoning.balance import Guesses, Label, Offer, RuleGuess
from factdrift.reasoning.choices import YES_NO, Choice, date_text, wrong_choices
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import AnswerKind, QuestionCandidate, ReasoningQuestion
from factdrift.reasoning.timelines import ItemTimeline

_INTRODUCTION = "Answer the question with a name, a date, a number, yes or no."
_LIST_INTRODUCTION = "Answer the question with names, separated by commas."
_LISTS = ("ranking", "set")
# A guess: a table that takes some reading, and that fits the context of small models.
_FACTS = 20
"""The number of facts in the table that a question stands behind."""
# Answers that are no items: no number in more than a quarter of a family's rows, as if there were
# four choices, and no item in more than one of thirty.
_NUMBER_SHARE, _ITEM_SHARE = 1 / 4, 1 / 30
# A range of more days is too long to list each of them; it is accepted as it is written.
_LISTED_DAYS = 31
_VERSIONS = 6
"""The number of draws of choices that are tried for a row."""
# It matches `Minister for Women, Gender Equality and Youth`, but not `Brandt`.
_PARTS_OF_LISTS = re.compile(r", | and ")
T = TypeVar("T")


class QuestionDraft(NamedTuple):
    """A question with its choices and facts, before it is written with the names of its items."""

    row: QuestionCandidate
    variant: int
    answer: Choice
    facts: tuple[Segment, ...]
    """The facts that the answer follows from."""
    table: tuple[Segment, ...]
    """The facts that the question stands behind, in their order; none if they are too many."""
    shortcuts: Mapping[str, str | None]
    """The object of each shortcut."""
    table_size: int
    choices: tuple[Choice, ...] = ()


class Writer:
    """Writes the rows of one release.

    `segments` are those of every subject and relation that a row needs. `recent` is the first day
    that counts for `changed_since`. `invented` has the names of the renamed twins.
    """

    def __init__(
        self,
        names: Verbalizer,
        segments: Iterable[Segment],
        recent: date,
        seed: int,
        invented: Verbalizer | None = None,
    ) -> None:
        self.names, self.recent, self.seed = names, recent, seed
        self.invented = invented or names
        self.terms: dict[tuple[str, str], Segment] = {}
        pairs: dict[tuple[str, str], list[Segment]] = defaultdict(list)
        for segment in segments:
            has_names = {segment.subject, segment.object} <= names.entities.keys()
            if has_names and names.phrases[segment.relation].was:
                for statement in segment.statements:
                    self.terms[segment.relation, statement] = segment
                pairs[segment.subject, segment.relation].append(segment)
        self.timelines = {pair: ItemTimeline.of(segments) for pair, segments in pairs.items()}
        self.all_terms = list(dict.fromkeys(self.terms.values()))

    def draft(self, row: QuestionCandidate) -> QuestionDraft | Dropped:
        """Return the question of a candidate, or a drop that says why it is not asked."""
        template_texts = FAMILIES[row.family].texts[row.wording]
        variant = seeded_index(len(template_texts), self.seed, row.id, "wording")
        question_text = self.names.question(template_texts[variant], row)
        needed_facts = self._facts(row)
        drop_reason = self._drop_reason(row, question_text, needed_facts)
        if drop_reason:
            return _drop(row, drop_reason, question_text)
        answer_timeline = self.timelines[row.holder, row.relation]
        table = self._table(row, needed_facts, answer_timeline)
        named_items = () if row.family in (*_LISTS, "when") else row.items
        unnamed_objects = [
            object_id for object_id in answer_timeline.objects if object_id not in named_items
        ]
        return QuestionDraft(
            row=row,
            variant=variant,
            answer=_answer(row),
            facts=needed_facts,
            table=table,
            shortcuts=_shortcuts(row, answer_timeline),
            table_size=len(unnamed_objects),
        )

    def offer(self, draft: QuestionDraft) -> Offer[QuestionDraft]:
        """Return a draft with what guesses win by it, in versions with different choices."""
        return Offer(self._guesses(draft), partial(self._versions, draft))

    def _versions(self, draft: QuestionDraft) -> Iterator[tuple[QuestionDraft, Guesses]]:
        """Yield a draft with choices that are drawn in several ways; without, where it has none."""
        row = draft.row
        answer_timeline = self.timelines[row.holder, row.relation]
        wrong_objects = self._distinct_objects(draft, answer_timeline)
        for version_number in range(_VERSIONS):
            wrong_texts = wrong_choices(
                row, answer_timeline, wrong_objects, (self.seed, version_number)
            )
            if not wrong_texts:
                if version_number == 0:
                    yield draft, {}
                return
            drawn_choices = sorted(
                [draft.answer, *wrong_texts],
                key=lambda choice: seeded_hash(self.seed, version_number, row.id, choice),
            )
            yield (
                draft._replace(choices=tuple(drawn_choices)),
                self._choice_guesses(row, answer_timeline, drawn_choices),
            )

    def _drop_reason(
        self, row: QuestionCandidate, text: str, facts: Sequence[Segment]
    ) -> str | None:
        """Return why a question is not asked, or None if it is."""
        # A question with two choices or a list names what it asks for.
        if row.answers and row.wording != "longer" and row.family not in _LISTS:
            question_form = normalize_or_keep(text)
            for accepted_name in self.names.accepted_names(row.answers):
                if normalize_or_keep(accepted_name) in question_form:
                    return "answer_in_question"
        if row.family in _LISTS and any(
            _PARTS_OF_LISTS.search(self.names.name(item_id)) for item_id in row.answers
        ):
            return "comma_in_name"
        if self.names.may_mean_others(row.items, row.answers):
            return REASON
        if self._names_coincide(row, facts):
            return "one_name"
        if (row.holder, row.relation) not in self.timelines:
            return "no_sentence"
        return None if facts else "no_sentence"

    def _distinct_objects(self, draft: QuestionDraft, timeline: ItemTimeline) -> list[str]:
        """Return the objects that may be wrong choices.

        Their facts stand in the table, and their names differ from the answers and each other.
        """
        row = draft.row
        used_forms = _normalized(self.names.accepted_names(row.answers)) if row.answers else set()
        in_table = {fact.object for fact in draft.table}
        distinct_ids: list[str] = []
        for object_id in timeline.objects:
            name_form = normalize_or_keep(self.names.name(object_id))
            if object_id in row.answers or object_id not in in_table:
                continue
            if name_form not in used_forms:
                used_forms.add(name_form)
                distinct_ids.append(object_id)
        return distinct_ids

    def _guesses(self, draft: QuestionDraft) -> Guesses:
        """Return how often each guess is right that looks at the table alone."""
        row, right_ids = draft.row, set(draft.row.answers)
        answer_timeline = self.timelines[row.holder, row.relation]
        asked_kind = answer_kind(row)
        if asked_kind == "yes_no":
            return {
                f"{answer} {scope}": RuleGuess(float(row.answer == answer), 0.5)
                for scope in ("all", row.wording, row.path, _shared_items(row))
                for answer in YES_NO
            }
        if asked_kind == "number":
            return {f"number {row.wording}": Label(row.answer or "", _NUMBER_SHARE)}
        if asked_kind == "list":
            return _list_guesses(row)
        if row.wording == "longer":
            return {}
        if asked_kind == "date":
            right_ids = {row.items[1]}
            guessed_objects = answer_timeline.guesses((), None, draft.table)
            object_chance = 1 / len(answer_timeline.objects)
            return {
                guess_name: RuleGuess(_share(guessed_items, right_ids), object_chance)
                for guess_name, guessed_items in guessed_objects.items()
            }
        # Of the families that ask for a single object only chains name a day.
        near_day = row.as_of if row.family == "chain" else None
        guessed_objects = answer_timeline.guesses(row.items, near_day, draft.table)
        object_chance = len(right_ids) / max(draft.table_size, 1)
        guesses: dict[str, RuleGuess | Label] = {
            guess_name: RuleGuess(_share(guessed_items, right_ids), object_chance)
            for guess_name, guessed_items in guessed_objects.items()
        }
        # The same guesses of somebody who forgets what the question names.
        whole_chance = len(right_ids) / len(answer_timeline.objects)
        for guess_name, object_id in draft.shortcuts.items():
            guesses[f"whole {guess_name}"] = RuleGuess(float(object_id in right_ids), whole_chance)
        guesses["answer"] = Label(row.answers[0], _ITEM_SHARE)
        return guesses

    def _choice_guesses(
        self, row: QuestionCandidate, timeline: ItemTimeline, choices: Sequence[Choice]
    ) -> Guesses:
        """Return how often a guess is right that looks at the size and the time of the choices."""
        right_choice, chance = _answer(row), 1 / len(choices)
        if row.answer in YES_NO:
            return {"choice first yes_no": RuleGuess(float(choices[0] == right_choice), chance)}
        choice_texts = [self._text(choice, self.names) for choice in choices]
        text_lengths = [len(text) for text in choice_texts]
        mean_length = sum(text_lengths) / len(text_lengths)
        guessed_choices = {
            "shortest choice": _extremes(choices, text_lengths, min(text_lengths)),
            "longest text": _extremes(choices, text_lengths, max(text_lengths)),
        }
        length_differences = [abs(length - mean_length) for length in text_lengths]
        guessed_choices["odd length"] = _extremes(
            choices, length_differences, max(length_differences)
        )
        shared_letters = [_shared_letters(text, choice_texts) for text in choice_texts]
        guessed_choices["odd letters"] = _extremes(choices, shared_letters, min(shared_letters))
        for place, choice in enumerate(choices):
            guessed_choices[f"place {place}"] = [choice]
        if answer_kind(row) == "item" and row.wording != "longer":
            longest_ids = timeline.longest_of({choice[0] for choice in choices})
            guessed_choices["longest held"] = [
                choice for choice in choices if choice[0] in longest_ids
            ]
        ranked_choices = self._ranked(row, timeline, choices)
        for place, choice in enumerate(ranked_choices):
            guessed_choices[f"rank {place}"] = [choice]
        choice_kind = f"{len(choices)} {row.family}"
        return {
            f"choice {guess_name} {choice_kind}": RuleGuess(
                _share(guessed_items, {right_choice}), chance
            )
            for guess_name, guessed_items in guessed_choices.items()
        }

    def _ranked(
        self, row: QuestionCandidate, timeline: ItemTimeline, choices: Sequence[Choice]
    ) -> list[Choice]:
        """Return choices by the time at which they began, or by size."""
        if row.family == "when":
            start_days = {
                _form(segment, row.wording): segment.start_last or date.min
                for segment in reversed(timeline.segments)
            }
            return sorted(
                choices, key=lambda choice: (start_days.get(str(choice), date.min), choice)
            )
        if row.family == "ranking":
            return []
        if row.family == "set":
            return sorted(
                choices, key=lambda choice: (len(choice), timeline.objects.index(choice[0]))
            )
        if row.answers:
            places = {object_id: place for place, object_id in enumerate(timeline.objects)}
            return sorted(choices, key=lambda choice: places.get(choice[0], -1))
        return sorted(choices, key=lambda choice: int(str(choice)))

    def _table(
        self, row: QuestionCandidate, facts: Sequence[Segment], timeline: ItemTimeline
    ) -> tuple[Segment, ...]:
        """Return the facts that a question stands behind, shuffled; none if they are too many.

        They are the facts that the question needs, then those of the timeline that the answer comes
        from, then others of the same subjects and relations, then any others.
        """

        def in_drawn_order(segments: Iterable[Segment]) -> list[Segment]:
            return sorted(
                segments, key=lambda segment: seeded_hash(self.seed, row.id, *segment.statements)
            )

        fact_lines = {self._line_key(fact): fact for fact in facts}
        if len(fact_lines) > _FACTS:
            return ()
        near_segments: list[Segment] = []
        for pair in sorted({(fact.subject, fact.relation) for fact in facts}):
            near_segments += self.timelines[pair].segments
        other_segments = chain(
            in_drawn_order(timeline.segments),
            in_drawn_order(near_segments),
            self._from_drawn_place(row, self.all_terms),
        )
        for segment in other_segments:
            if len(fact_lines) == _FACTS:
                break
            fact_lines.setdefault(self._line_key(segment), segment)
        return tuple(
            sorted(
                fact_lines.values(),
                key=lambda segment: seeded_hash(
                    self.seed, "context", row.id, segment.relation, *segment.statements
                ),
            )
        )

    def _line_key(self, segment: Segment) -> tuple[object, ...]:
        """Return what a line of the table says: facts with the same key have one line."""
        return (
            *(self.names.name(segment.subject), segment.relation, self.names.name(segment.object)),
            *(segment.start_first, segment.start_last),
            *((None, None) if segment.end_open else (segment.end_first, segment.end_last)),
        )

    def question(self, draft: QuestionDraft) -> ReasoningQuestion:
        """Return the question alone."""
        return self._written(draft, self.names, draft.row.id, None, "")

    def in_context(self, draft: QuestionDraft) -> ReasoningQuestion | Dropped:
        """Return the question behind its table of facts."""
        if not draft.table:
            return _drop(draft.row, "many_facts", self._question_text(draft, self.names))
        context = self._context(draft, self.names)
        return self._written(draft, self.names, row_id("context", draft.row.id), None, context)

    def twin(self, draft: QuestionDraft) -> ReasoningQuestion:
        """Return the question behind its table, with names that do not exist."""
        context = self._context(draft, self.invented)
        return self._written(
            draft,
            self.invented,
            row_id("renamed", draft.row.id),
            row_id("context", draft.row.id),
            context,
        )

    def _context(self, draft: QuestionDraft, names: Verbalizer) -> str:
        return "\n".join(f"- {names.sentence(segment)}" for segment in draft.table)

    def _question_text(self, draft: QuestionDraft, names: Verbalizer) -> str:
        template_texts = FAMILIES[draft.row.family].texts[draft.row.wording]
        return names.question(template_texts[draft.variant], draft.row)

    def _text(self, choice: Choice, names: Verbalizer) -> str:
        return choice if isinstance(choice, str) else ", ".join(map(names.name, choice))

    def _written(
        self, draft: QuestionDraft, names: Verbalizer, new_id: str, twin: str | None, context: str
    ) -> ReasoningQuestion:
        row = draft.row
        question_text = self._question_text(draft, names)
        introduction = _LIST_INTRODUCTION if row.family in _LISTS else _INTRODUCTION
        prompt = f"{introduction}\n{question_text}"
        if context:
            prompt = f"{introduction}\n\nFacts:\n{context}\n\nQuestion: {question_text}"

        def label(item_id: str | None) -> str | None:
            return names.name(item_id) if item_id and item_id in names.entities else None

        return ReasoningQuestion(
            id=new_id,
            prompt=prompt,
            targets=self._targets(draft, names),
            question=question_text,
            question_id=row.id,
            twin=twin,
            context=context,
            family=row.family,
            hops=row.hops,
            wording=row.wording,
            variant=draft.variant,
            subject=row.subject,
            subject_label=names.name(row.subject),
            relation=row.relation,
            path=row.path,
            as_of=row.as_of,
            answer_kind=answer_kind(row),
            answer_ids=row.answers,
            choices=tuple(self._text(choice, names) for choice in draft.choices),
            answer_index=draft.choices.index(draft.answer) if draft.choices else None,
            statements=row.statements,
            evidence=tuple(map(names.sentence, draft.facts)),
            shortcut_first=label(draft.shortcuts["first"]),
            shortcut_before_newest=label(draft.shortcuts["before newest"]),
            shortcut_newest=label(draft.shortcuts["newest"]),
            shortcut_longest=label(draft.shortcuts["longest"]),
            shortcut_first_hop=label(row.first_hop),
            table_size=draft.table_size,
            changed=row.changed,
            changed_since=row.changed >= self.recent,
            sitelinks=self.names.entities[row.subject].sitelinks,
        )

    def _targets(self, draft: QuestionDraft, names: Verbalizer) -> tuple[str, ...]:
        """Return every accepted answer."""
        row = draft.row
        kind = answer_kind(row)
        if kind == "item":
            return names.accepted_names(row.answers)
        if kind == "list":
            *others, last = map(names.name, row.answers)
            return merge_targets(
                [", ".join([*others, last])],
                [f"{', '.join(others)} and {last}", f"{', '.join(others)}, and {last}"],
            )
        if kind == "date":
            return _date_targets(row)
        return (row.answer or "",)

    def _facts(self, row: QuestionCandidate) -> tuple[Segment, ...]:
        """Return the terms that the answer follows from; none if one of them has no sentence."""
        relation_places: dict[str, int] = {}
        for place, relation in enumerate(row.relations):
            relation_places.setdefault(relation, place)
        # Two relations may share a statement; the fact is told as that of the question's relation.
        fact_terms: set[Segment] = set()
        for key in product(relation_places, row.statements):
            if key in self.terms:
                fact_terms.add(self.terms[key])
        stated = set(chain.from_iterable(term.statements for term in fact_terms))
        if not stated.issuperset(row.statements):
            return ()
        return tuple(
            sorted(
                fact_terms,
                key=lambda term: (
                    relation_places[term.relation],
                    term.start_last or date.min,
                    term.object,
                    term.statements,  # of two with the same days, so that the set's order is none
                ),
            )
        )

    def _names_coincide(self, row: QuestionCandidate, facts: Sequence[Segment]) -> bool:
        """Return whether the names of two items in a question cannot be told apart.

        In a chain the items of its facts count too, and in a list those of the answer. Where the
        answer is an item, a name within another name counts as well.
        """
        item_ids = {*row.items, *(row.answers if row.family in _LISTS else ())}
        if row.family == "chain":
            for fact in facts:
                item_ids |= {fact.subject, fact.object}
        name_forms = [normalize_or_keep(self.names.name(item_id)) for item_id in item_ids]
        if len(set(name_forms)) < len(name_forms):
            return True
        return bool(row.answers) and any(
            f" {inner} " in f" {outer} " for inner, outer in permutations(name_forms, 2)
        )

    def _from_drawn_place(self, row: QuestionCandidate, items: Sequence[T]) -> Iterator[T]:
        """Return all items in their order, beginning with a drawn one."""
        first_place = seeded_index(len(items), self.seed, row.id) if items else 0
        return chain(items[first_place:], items[:first_place])


def answer_kind(row: QuestionCandidate) -> AnswerKind:
    """Return what the answer of a candidate is."""
    if row.family in _LISTS:
        return "list"
    if row.family == "when":
        return "date"
    if row.answers:
        return "item"
    return "yes_no" if row.answer in YES_NO else "number"


def _answer(row: QuestionCandidate) -> Choice:
    """Return the right choice: a text, or the ids of items."""
    if row.family == "when":
        return date_text(row)
    if row.family in _LISTS:
        return row.answers
    return row.answers[:1] if row.answers else row.answer or ""


def _shortcuts(row: QuestionCandidate, timeline: ItemTimeline) -> dict[str, str | None]:
    """Return the objects where one gets without looking at the question's day or event."""
    guessed_objects = timeline.guesses((), None, ())
    shortcut_objects = {
        name: next(iter(guessed_objects.get(name, ())), None)
        for name in ("first", "before newest", "newest", "longest")
    }
    if row.family == "chain":  # the newest and the longest-held are followed at every hop
        shortcut_objects |= {"newest": row.newest, "longest": row.longest}
    return shortcut_objects


def _shared_items(row: QuestionCandidate) -> str:
    """Return a name for which items the two facts of a comparison share.

    Of an office that one person holds at a time two terms never overlap.
    """
    subject, object_id, other_subject, other_object = row.items
    shared_flags = [
        int(item_id == other_item)
        for item_id in (subject, object_id)
        for other_item in (other_subject, other_object)
    ]
    return f"{row.path} {shared_flags}"


def _list_guesses(row: QuestionCandidate) -> Guesses:
    """Return how often a ranking is right that follows the order of the question."""
    if row.family != "ranking":
        return {}
    named_items = row.items[1:]
    order_chance = 1 / 6
    return {
        f"order {' '.join(map(str, order))}": RuleGuess(
            float(tuple(named_items[place] for place in order) == row.answers), order_chance
        )
        for order in permutations(range(len(named_items)))
    }


def _date_targets(row: QuestionCandidate) -> tuple[str, ...]:
    """Return the accepted forms of a date; of a range each of its days, where they are few."""
    first, last = row.since or row.as_of, row.as_of
    if row.wording == "year":
        return (format_date(first, "year"),)
    if row.wording == "month":
        month = format_date(first, "month")
        return merge_targets([month], [f"{first:%Y-%m}", month.replace(" ", ", ")])
    if row.wording == "day":
        return merge_targets(_day_forms(first))
    day_count = (last - first).days + 1
    date_forms = [date_text(row)]
    if day_count <= _LISTED_DAYS:
        for number in range(day_count):
            date_forms += _day_forms(first + timedelta(days=number))
    return merge_targets(date_forms)


def _day_forms(named_day: date) -> list[str]:
    weekday_form = format_date(named_day, "day_of_week")  # `Thursday, May 5, 2005`
    return [format_date(named_day), weekday_form.partition(", ")[2], named_day.isoformat()]


def _form(segment: Segment, precision: str) -> str:
    """Return the start of a segment as a choice of this precision."""
    start_day = segment.start_first or segment.start_last
    if start_day is None or precision not in ("day", "month", "year"):
        return ""
    return format_date(start_day, precision)


def _share(guessed: Iterable[object], right: set[T]) -> float:
    """Return how often a guess is right that takes any of some objects."""
    all_guessed = list(guessed)
    return sum(item in right for item in all_guessed) / max(len(all_guessed), 1)


def _extremes(choices: Sequence[Choice], values: Sequence[float], extreme: float) -> list[Choice]:
    return [choice for choice, value in zip(choices, values, strict=True) if value == extreme]


def _shared_letters(text: str, texts: Sequence[str]) -> float:
    """Return how many pairs of letters a text shares with the others, by its length."""
    letter_pairs = {text[place : place + 2].lower() for place in range(len(text) - 1)}
    other_texts = " ".join(other.lower() for other in texts if other != text)
    return sum(pair in other_texts for pair in letter_pairs) / max(len(letter_pairs), 1)


def _normalized(names: Iterable[str]) -> set[str]:
    return set(map(normalize_or_keep, names))


def guessable(offer: Offer[QuestionDraft]) -> Dropped:
    """Return the drop of a question by which a guess would win."""
    refused_row = offer.versions[0][0].row
    return _drop(
        refused_row,
        "guessable",
        " ".join(refused_row.answers) or refused_row.answer or refused_row.wording,
    )


def _drop(row: QuestionCandidate, reason: str, detail: str) -> Dropped:
    return Dropped(
        step="reasoning",
        reason=reason,
        item=row.id,
        subject=row.subject,
        relation=row.relation,
        detail=detail,
    )
