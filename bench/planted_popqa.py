"""A table of PopQA's form with planted mistakes, of real entities, and how `factdrift audit` does.

    python -m bench planted_popqa:measure ../shared/data/wikidata/entities.jsonl.gz build/planted

The expected verdicts are read from the raw statements by the words of docs/audit.md and the
templates' fields; nothing of the program is used for them. Rows of every verdict are drawn, of each
kind of mistake some: answers that ended, that came later, of another subject, of a namesake, years
asked about by month, deprecated and undated statements, sightings, lives that ended, rivals,
objects without a name. Statements with several starts or with bounds of dates are left out.
`planted_audit` has the easy cases, of the samples.
"""

import csv
import gzip
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

Json = dict[str, Any]
DUMP_DAY = date(2026, 5, 1)  # the newest edit of the real items is of 22 April 2026
PAST_DAY = date(2008, 6, 30)
SEED = 20261128
NAMELESS = 10
"""Of the objects that the file lacks, one in so many gets no name in the dump."""
STILL, BESIDE, BEFORE, LATER = "still true", "one of several", "true before", "true later"
NEVER, DOUBT, SILENT, UNLINKED = "never stated", "in doubt", "not in the dump", "not linked"
VERDICTS = (STILL, BESIDE, BEFORE, LATER, NEVER, DOUBT, SILENT, UNLINKED)
CLAIMS_THAT_IT_IS_WRONG = (BEFORE, LATER, NEVER)
TEMPLATES = Path(__file__).parents[1] / "templates"
SKIPPED = {"P54", "P2860", "P910", "P1343", "P1889", "P460", "P31"}
"""Open for a learned time, which raw statements do not tell; links of pages and papers; classes."""
RUNS: dict[str, list[str]] = {
    "day of the dump": [],
    "a past day": ["--as-of", PAST_DAY.isoformat()],
    "dates of the rows": [
        *("--subject", "s_uri", "--relation", "prop", "--answers", "possible_answers"),
        *("--answer-ids", "o_uri", "--date", "asked"),
    ],
}
COLUMNS = (
    "id subj prop obj subj_id prop_id obj_id s_aliases o_aliases s_uri o_uri s_wiki_title"
    " o_wiki_title s_pop o_pop question possible_answers asked"
).split()


@dataclass(frozen=True)
class Days:
    """Possible days, both ends included."""

    first: date
    last: date


ALWAYS = Days(date.min, date.max)


@dataclass(frozen=True)
class Term:
    """A statement in its own words.

    `object`: None is some value; `kind`: term, sighting, undated, odd; `end`: None
    where it is open.
    """

    object: str | None
    rank: str
    kind: str
    start: Days
    end: Days | None
    has_start: bool = False


@dataclass(frozen=True)
class Life:
    """From birth or inception to death or dissolution, where these are stated."""

    birth: Days | None = None
    death: Days | None = None


@dataclass
class Item:
    """An item with its names in English and all labels."""

    id: str
    labels: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    life: Life = field(default_factory=Life)
    terms: dict[str, list[Term]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """What a template says of time."""

    label: str = ""
    is_exclusive: bool = False
    keeps_undated: bool = True
    ends_with_lives: bool = True
    has_seat: bool = False


@dataclass(frozen=True)
class Row:
    """A row to plant, and which kind of mistake it is."""

    kind: str
    subject: str
    relation: str
    answers: tuple[str, ...]
    asked: str = ""
    by_name: bool = False


def rules() -> dict[str, Rule]:
    """The templates of whole properties, as their files say."""
    read: dict[str, Rule] = {}
    for path in sorted(TEMPLATES.glob("P*.yaml")):
        template = yaml.safe_load(path.read_text("utf-8"))
        if "-" not in path.stem:
            read[path.stem] = Rule(
                template["label"],
                template["exclusive"],
                template["undated"] == "keep",
                template.get("ends_with") != [],
                template.get("seat") == "one",
            )
    return read


def days_of_time(snak: Json) -> Days | None:
    """The days of a time value; None where it is unknown, or coarser than a decade."""
    if snak.get("snaktype") != "value":
        return None
    value = snak["datavalue"]["value"]
    if value["time"].startswith("-"):
        return Days(date.min, date.min)
    match = re.match(r"\+0*(\d{1,4})-(\d\d)-(\d\d)T", value["time"])
    if not match or not int(match[1]):
        return None
    year, month, day = map(int, match.groups())
    if value["precision"] == 8:
        return Days(date(year // 10 * 10 or 1, 1, 1), date(year // 10 * 10 + 9, 12, 31))
    text = {9: f"{year:04}", 10: f"{year:04}-{month:02}", 11: f"{year:04}-{month:02}-{day:02}"}
    return days_of(text[value["precision"]]) if value["precision"] in text else None


def days_of(asked: str) -> Days | None:
    """The days of a row's date, `2019`, `2019-Q3`, `2019-07` or a day; without one, the dump's."""
    if not asked:
        return Days(DUMP_DAY, DUMP_DAY)
    match = re.fullmatch(r"(\d{4})(?:-Q([1-4])|-(\d\d)(?:-(\d\d))?)?", asked)
    if not match:
        return None
    year, quarter, month, day = (int(number) if number else 0 for number in match.groups())
    if day:
        return Days(date(year, month, day), date(year, month, day))
    first_month = month or (quarter * 3 - 2 if quarter else 1)
    last_month = month or (quarter * 3 if quarter else 12)
    if last_month == 12:
        return Days(date(year, first_month, 1), date(year, 12, 31))
    return Days(date(year, first_month, 1), date(year, last_month + 1, 1) - timedelta(days=1))


def hull(snaks: Sequence[Json]) -> Days | None:
    """From the first to the last of the days of some time values."""
    all_days = [days for days in map(days_of_time, snaks) if days]
    if not all_days:
        return None
    return Days(min(days.first for days in all_days), max(days.last for days in all_days))


def term_of(statement: Json) -> Term | None:
    """A statement about an item; None: its value is a text, a number or the like."""
    snak, rank = statement["mainsnak"], statement["rank"]
    target = None
    if snak["snaktype"] == "value":
        value = snak["datavalue"]["value"]
        if snak["datavalue"]["type"] != "wikibase-entityid" or value["entity-type"] != "item":
            return None
        target = f"Q{value['numeric-id']}" if "numeric-id" in value else value["id"]
    elif snak["snaktype"] == "novalue" or snak.get("datatype", "wikibase-item") != "wikibase-item":
        return None
    qualifiers = statement.get("qualifiers") or {}
    starts, ends, points = (qualifiers.get(name, []) for name in ("P580", "P582", "P585"))
    bounds = ("P1319", "P1326", "P8554", "P8555", "P12506")
    if max(map(len, (starts, ends, points))) > 1 or any(name in qualifiers for name in bounds):
        return Term(target, rank, "odd", ALWAYS, None)
    start, end, point = hull(starts), hull(ends), hull(points)
    if not starts and not ends:
        return Term(target, rank, "sighting" if points else "undated", point or ALWAYS, point)
    is_open = all(end_snak["snaktype"] == "novalue" for end_snak in ends)
    begin, finish = start or ALWAYS, end or ALWAYS
    if is_open:
        return Term(target, rank, "term", begin, None, bool(start))
    if begin.first > finish.last:
        return Term(target, rank, "odd", ALWAYS, None)
    return Term(
        target,
        rank,
        "term",
        Days(begin.first, min(begin.last, finish.last)),
        Days(max(begin.first, finish.first), finish.last),
        bool(start),
    )


def life_of(claims: Json) -> Life:
    """The life of an item; of several dates those of preferred rank count."""
    bounds: list[Days | None] = []
    for names in (("P569", "P571"), ("P570", "P576")):
        statements = [statement for name in names for statement in claims.get(name, [])]
        for rank in ("preferred", "normal"):
            days = hull([s["mainsnak"] for s in statements if s["rank"] == rank])
            if days:
                break
        bounds.append(days)
    return Life(*bounds)


def read_items(path: Path) -> dict[str, Item]:
    """All items of a file of entities, a JSON object a line."""
    items = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for entity in map(json.loads, lines):
            claims, aliases = entity.get("claims") or {}, entity.get("aliases") or {}
            labels = {code: term["value"] for code, term in (entity.get("labels") or {}).items()}
            label = labels.get("en") or labels.get("mul")
            names = {alias["value"] for code in ("en", "mul") for alias in aliases.get(code, [])}
            item = Item(entity["id"], labels, {label, *names} if label else set(), life_of(claims))
            for relation, statements in claims.items():
                if terms := [term for term in map(term_of, statements) if term]:
                    item.terms[relation] = terms
            items[item.id] = item
    return items


def write_dump(entities: Path, items: dict[str, Item], out: Path) -> None:
    """The file as a dump, with an item for each object that it lacks: most of them have a name."""
    targets = {
        term.object
        for item in list(items.values())
        for terms in item.terms.values()
        for term in terms
        if term.object and term.object not in items
    }
    with gzip.open(out, "wt", encoding="utf-8", compresslevel=1) as file:
        with gzip.open(entities, "rt", encoding="utf-8") as lines:
            file.writelines(lines)
        for target in sorted(targets, key=lambda name: int(name[1:])):
            is_named = int(target[1:]) % NAMELESS != 0
            labels = {"en": f"thing {target[1:]}"} if is_named else {}
            items[target] = Item(target, labels, set(labels.values()))
            stub = {
                "type": "item",
                "id": target,
                "labels": {code: {"language": code, "value": labels[code]} for code in labels},
                "claims": {},
            }
            file.write(json.dumps(stub) + "\n")


def fold(name: str) -> str:
    """As answers are compared: without case, articles and punctuation."""
    words = re.sub(r"[^\w\s]", "", name.casefold()).split()
    return " ".join(word for word in words if word not in {"a", "an", "the"})


class Judge:
    """Verdicts from raw statements, by the words of the documentation."""

    def __init__(self, items: dict[str, Item]) -> None:
        self.items, self.rules = items, rules()
        self.holders: defaultdict[str, list[tuple[str, Term]]] = defaultdict(list)
        for item in items.values():
            for term in item.terms.get("P39", []):
                if term.object and term.rank != "deprecated" and term.kind == "term":
                    self.holders[term.object].append((item.id, term))

    def verdict(self, row: Row, asked: str) -> str:
        """The verdict on a row that is judged by a date."""
        days = days_of(asked)
        has_ids = re.fullmatch(r"Q[1-9]\d*", row.subject) and re.fullmatch(
            r"P[1-9]\d*", row.relation
        )
        if not days or not has_ids or not any(row.answers):
            return UNLINKED
        item = self.items.get(row.subject)
        if item is None or row.relation not in item.terms:
            return SILENT
        if days.first > DUMP_DAY:
            return DOUBT
        return self._stated(item, row, Days(days.first, min(days.last, DUMP_DAY)))

    def _stated(self, item: Item, row: Row, days: Days) -> str:
        terms = item.terms[row.relation]
        listed = self._named(row.answers, terms) if row.by_name else set(row.answers)
        states = {
            self.state(item, row.relation, term, days) for term in terms if term.object in listed
        }
        if not states:
            is_told = not self._may_be_meant(row, terms)
            return NEVER if is_told else DOUBT
        if "holds" in states:
            others = [term for term in terms if term.object and term.object not in listed]
            is_alone = "holds" not in {
                self.state(item, row.relation, term, days) for term in others
            }
            return STILL if is_alone else BESIDE
        if "doubt" in states or states == {"perhaps before"}:
            return DOUBT
        return BEFORE if "before" in states else LATER

    def _named(self, names: Sequence[str], terms: Sequence[Term]) -> set[str]:
        folded = {fold(name) for name in names}
        ids = {term.object for term in terms if term.object}
        return {
            target
            for target in ids
            if folded & {fold(name) for name in self.items.get(target, Item(target)).names}
        }

    def _may_be_meant(self, row: Row, terms: Sequence[Term]) -> bool:
        """Whether the dump may state the answer without saying so."""
        names = {name for answer in row.answers for name in self._names_of(answer, row)}
        is_namesake = bool(self._named(sorted(names), terms))
        has_unknown = any(term.object is None for term in terms)
        lacks_name = any(
            term.object and not self.items.get(term.object, Item("")).names for term in terms
        )
        return is_namesake or has_unknown or (row.by_name and lacks_name)

    def _names_of(self, answer: str, row: Row) -> set[str]:
        if row.by_name or answer not in self.items:
            return {answer}
        return {self.items[answer].labels.get("en", answer)}

    def state(self, item: Item, relation: str, term: Term, days: Days) -> str:
        """Of one statement: holds, before, later or doubt; perhaps before: of the dead, undated."""
        terms = item.terms[relation]
        rule = self.rules.get(relation, Rule())
        if term.rank == "deprecated" or term.kind == "odd" or not item.names:
            return "doubt"
        lives = [item.life, self.items.get(term.object or "", Item("")).life]
        deaths = [life.death.last for life in lives if life.death and rule.ends_with_lives]
        has_ended = min(deaths, default=date.max) < days.first
        if term.kind == "undated":
            state = self._undated(term, terms, rule)
            return "perhaps before" if state == "doubt" and has_ended else state
        end = self._end(item, relation, term, lives if rule.ends_with_lives else [])
        state = "before" if end is None and has_ended else _by_dates(term, end, lives, days)
        is_nameless = not self.items.get(term.object or "", Item("")).names
        return "doubt" if is_nameless and state == "holds" else state

    def _undated(self, term: Term, terms: Sequence[Term], rule: Rule) -> str:
        counted = [other for other in terms if other.rank != "deprecated"]
        is_kept = rule.keeps_undated and all(other.kind == "undated" for other in counted)
        is_best = term.rank == "preferred" or all(other.rank == "normal" for other in counted)
        is_named = bool(self.items.get(term.object or "", Item("")).names)
        return "holds" if is_kept and is_best and is_named else "doubt"

    def _end(self, item: Item, relation: str, term: Term, lives: Sequence[Life]) -> Days | None:
        """When a statement ended; None: another one puts it in doubt."""
        if term.end is not None and term.end != ALWAYS and term.kind == "term":
            return term.end
        deaths = [life.death for life in lives if life.death]
        last_day = min((death.last for death in deaths), default=date.max)
        if term.end is not None:
            earliest = term.end.first if term.kind == "sighting" else term.start.first
            return Days(earliest, max(last_day, earliest))
        ends = [Days(date.max, date.max), *deaths]
        rule = self.rules.get(relation, Rule())
        if rule.is_exclusive:
            successors = _successors(item, relation, term)
            if successors is None:
                return None
            ends += successors
        if rule.has_seat and any(
            holder != item.id and other.has_start and other.start.last > term.start.first
            for holder, other in self.holders[term.object or ""]
        ):
            return None
        return Days(min(end.first for end in ends), min(end.last for end in ends))


def _successors(item: Item, relation: str, term: Term) -> list[Days] | None:
    """The starts of those who came after an open term; None: another has its place."""
    if term.rank == "preferred":
        return []
    starts = []
    for other in item.terms[relation]:
        if other.object == term.object or other.rank == "deprecated" or other.kind != "term":
            continue
        if other.has_start and other.start.first > term.start.last:
            starts.append(Days(term.start.first, other.start.last))
        elif other.end is None:
            return None
    return starts


def _by_dates(term: Term, end: Days | None, lives: Sequence[Life], days: Days) -> str:
    """Of a dated statement that ended on one of these days: holds, before, later or doubt."""
    births = [life.birth for life in lives if life.birth]
    born = max((birth.first for birth in births), default=date.min)
    if end is None:
        return "later" if term.start.first > days.last else "doubt"
    if end.last < days.first:
        return "before"
    if term.kind == "sighting":
        is_seen = days.first <= term.start.first and term.start.last <= days.last
        return "holds" if is_seen else "later" if born > days.last else "doubt"
    if term.start.first > days.last:
        return "later"
    if born > days.last:  # it is stated to have begun before its subject or object did
        return "doubt" if term.has_start else "later"
    if not term.has_start:
        is_inside = end.first >= days.first and end.last <= days.last
        return "holds" if is_inside else "doubt"
    has_begun = max(term.start.last, born) <= days.last
    return "holds" if has_begun and end.first >= days.first else "doubt"


class Planter:
    """The rows of the table, of each kind as many as there is place for."""

    def __init__(self, items: dict[str, Item]) -> None:
        self.items, self.judge, self.draw = items, Judge(items), Random(SEED)
        self.pairs = [
            (item, relation)
            for item in items.values()
            for relation in sorted(item.terms)
            if relation not in SKIPPED
        ]
        self.targets: defaultdict[str, list[str]] = defaultdict(list)
        for item, relation in self.pairs:
            self.targets[relation] += [term.object for term in item.terms[relation] if term.object]

    def rows(self) -> list[Row]:
        """All rows, shuffled; of a relation and a subject few of each kind."""
        kinds = [
            *((number, self.of_terms(kind, choose)) for kind, (number, choose) in TERMS.items()),
            (30, self.of_others()),
            (14, self.namesakes()),
            (22, self.named()),
            (12, self.named_wrongly()),
            (10, self.named_beside_nameless()),
            (10, self.named_in_german()),
            (16, self.absent()),
            (34, self.unstated()),
            (10, self.after_the_dump()),
            (36, self.unlinked()),
        ]
        planted: list[Row] = []
        for number, candidates in kinds:
            relations: Counter[str] = Counter()
            subjects: Counter[str] = Counter()
            for row in candidates:
                if relations.total() == number:
                    break
                if relations[row.relation] < max(3, number // 4) and subjects[row.subject] < 3:
                    relations[row.relation] += 1
                    subjects[row.subject] += 1
                    planted.append(row)
        self.draw.shuffle(planted)
        return planted

    def shuffled(self) -> list[tuple[Item, str]]:
        """The pairs of subject and relation; those with dates come first."""
        pairs = list(self.pairs)
        self.draw.shuffle(pairs)
        has_dates = {
            (item.id, relation): any(term.kind == "term" for term in item.terms[relation])
            for item, relation in pairs
        }
        return sorted(pairs, key=lambda pair: not has_dates[pair[0].id, pair[1]])

    def of_terms(self, kind: str, choose: "Choose") -> Iterator[Row]:
        """Rows whose answer a statement of some kind has."""
        for item, relation in self.shuffled():
            terms = [term for term in item.terms[relation] if term.object]
            self.draw.shuffle(terms)
            for term in terms:
                dates = choose(self, item, relation, term)
                answers = self.answers(kind, item, relation, term) if dates else ()
                if answers:
                    yield Row(kind, item.id, relation, answers, self.draw.choice(dates))
                    break

    def answers(self, kind: str, item: Item, relation: str, term: Term) -> tuple[str, ...]:
        """The object of a statement, and of some kinds others of the pair."""
        target, today = term.object or "", Days(DUMP_DAY, DUMP_DAY)
        if kind not in ("beside others", "all of them", "with one that ended"):
            return (target,)
        states: defaultdict[str, list[str]] = defaultdict(list)
        for other in item.terms[relation]:
            if other.object and other.object != target:
                states[self.judge.state(item, relation, other, today)].append(other.object)
        held, ended = sorted(set(states["holds"])), sorted(set(states["before"]))
        if kind == "all of them":
            return (target, *held) if 0 < len(held) < 6 else ()
        if kind == "beside others":
            return (target,) if held else ()
        return (ended[0], target) if ended else ()

    def deaths(self, item: Item, term: Term) -> list[Days]:
        """The ends of the lives of subject and object that ended before the dump."""
        lives = (item.life, self.items.get(term.object or "", Item("")).life)
        return [life.death for life in lives if life.death and life.death.last < DUMP_DAY]

    def of_others(self) -> Iterator[Row]:
        """Answers of other subjects."""
        for item, relation in self.shuffled():
            strangers = sorted(
                set(self.targets[relation]) - {term.object for term in item.terms[relation]}
            )
            if strangers:
                answer = self.draw.choice(strangers)
                asked = self.draw.choice(["", "2015"])
                yield Row("of another subject", item.id, relation, (answer,), asked)

    def namesakes(self) -> Iterator[Row]:
        """Another item of the very name: Georgia for Georgia."""
        bearers: defaultdict[str, set[str]] = defaultdict(set)
        for item in self.items.values():
            for name in item.names:
                bearers[fold(name)].add(item.id)
        for item, relation in self.shuffled():
            own_ids = {term.object for term in item.terms[relation]}
            for target in sorted(own_ids & self.items.keys(), key=str):
                names = self.items[target or ""].names
                twins = sorted({twin for name in names for twin in bearers[fold(name)]} - own_ids)
                if twins:
                    yield Row("namesake", item.id, relation, (twins[0],))
                    break

    def named_pairs(self, is_whole: bool) -> Iterator[tuple[Item, str, list[Item]]]:
        """Pairs of which each object has a name, or not each."""
        for item, relation in self.shuffled():
            ids = {term.object for term in item.terms[relation] if term.object}
            targets = [self.items[target] for target in sorted(ids & self.items.keys())]
            targets = [target for target in targets if target.names]
            if ids and is_whole is (len(targets) == len(ids)):
                yield item, relation, targets

    def named(self) -> Iterator[Row]:
        """Answers by a label or alias, written in several ways."""
        for item, relation, targets in self.named_pairs(True):
            name = self.draw.choice(sorted(self.draw.choice(targets).names))
            written = self.draw.choice([name, name.lower(), f"the {name}"])
            yield Row("named", item.id, relation, (written,), by_name=True)

    def named_wrongly(self) -> Iterator[Row]:
        """Names of what other subjects have."""
        for item, relation, _ in self.named_pairs(True):
            own_ids = {term.object for term in item.terms[relation]}
            strangers = sorted(set(self.targets[relation]) - own_ids)
            names = [self.items[stranger].labels.get("en") for stranger in strangers]
            if name := self.draw.choice([*filter(None, names), ""]):
                yield Row("named wrongly", item.id, relation, (name,), by_name=True)

    def named_beside_nameless(self) -> Iterator[Row]:
        """Names where the dump does not say what one of the objects is called."""
        for item, relation, _ in self.named_pairs(False):
            yield Row("beside nameless", item.id, relation, ("Ludmilla Ostrowski",), by_name=True)

    def named_in_german(self) -> Iterator[Row]:
        """Labels that are no English ones."""
        for item, relation, targets in self.named_pairs(True):
            for target in targets:
                label = target.labels.get("de")
                if label and fold(label) not in set(map(fold, target.names)):
                    yield Row("named in German", item.id, relation, (label,), by_name=True)
                    break

    def absent(self) -> Iterator[Row]:
        """Subjects that nobody has."""
        for number, (item, relation) in enumerate(self.shuffled()):
            subject = f"Q{7_700_000_000 + number}"
            yield Row("subject not there", subject, relation, (item.id,), ["", "2020"][number % 2])

    def unstated(self) -> Iterator[Row]:
        """Properties that the dump does not state of the subject."""
        for item, _ in self.shuffled():
            _, relation = self.draw.choice(self.pairs)
            if relation not in item.terms and self.targets[relation]:
                answer = self.draw.choice(self.targets[relation])
                yield Row("property not stated", item.id, relation, (answer,))

    def after_the_dump(self) -> Iterator[Row]:
        """Dates of which the dump can say nothing."""
        for row in self.of_terms(*_chosen("open")):
            asked = self.draw.choice(["2027", "2026-Q4", "2031-01-02"])
            yield Row("after the dump", row.subject, row.relation, row.answers, asked)

    def unlinked(self) -> Iterator[Row]:
        """Rows that name no subject, property or answer, or a date that is none."""
        for number, row in enumerate(self.of_terms(*_chosen("open"))):
            label = self.items[row.subject].labels.get("en", "Nobody")
            subject, relation, answers, asked = [
                (label, row.relation, row.answers, ""),
                ("", row.relation, row.answers, ""),
                ("P31", row.relation, row.answers, ""),
                ("Q0", row.relation, row.answers, ""),
                (f"{row.subject}x", row.relation, row.answers, ""),
                (row.subject, "favourite colour", row.answers, ""),
                (row.subject, "", row.answers, ""),
                (row.subject, row.relation, ("",), ""),
            ][number % 8]
            yield Row("unlinked", subject, relation, answers, asked)


Choose = Callable[[Planter, Item, str, Term], Sequence[str]]
"""The dates by which a row of some kind is asked, one of which is drawn; none: another kind."""


def _is_term(term: Term) -> bool:
    return term.kind == "term" and term.rank != "deprecated"


def _open(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    is_open = _is_term(term) and term.end is None and term.has_start
    return ["", "", "2026-04", "2025"] if is_open else []


def _outdated(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    if not _is_term(term) or not term.end or not 1950 < term.end.last.year < DUMP_DAY.year:
        return []
    year = term.end.last.year
    return ["", f"{year + 1}", f"{year + 2}-03", f"{year + 1}-Q2"]


def _future(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    if not _is_term(term) or not term.has_start or term.start.first.year <= 1900:
        return []
    year = term.start.first.year - planter.draw.randint(1, 4)
    return [f"{year}", f"{year}-12-31", f"{year}-06"]


def _year_edge(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    for days in (term.start, term.end):
        is_year = days and timedelta(360) < days.last - days.first < timedelta(370)
        if _is_term(term) and term.has_start and days and is_year and days.first.year > 1800:
            year = days.first.year
            return [f"{year}", f"{year}-05", f"{year}-12-31", f"{year}-Q1"]
    return []


def _day_edge(days: Days | None, step: int) -> Sequence[str]:
    if not days or days.first != days.last or days.first.year <= 1900:
        return []
    return [days.first.isoformat(), (days.first + timedelta(step)).isoformat()]


def _start_edge(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    return _day_edge(term.start, -1) if _is_term(term) and term.has_start else []


def _last_day(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    return _day_edge(term.end, 1) if _is_term(term) and term.has_start else []


def _deprecated(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    return [""] if term.rank == "deprecated" else []


def _undated_dropped(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    is_kept = planter.judge.rules.get(relation, Rule()).keeps_undated
    return [""] if term.kind == "undated" and not is_kept else []


def _undated_kept(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    is_kept = planter.judge.rules.get(relation, Rule()).keeps_undated
    is_alone = all(other.kind == "undated" for other in item.terms[relation])
    return ["", "2019"] if term.kind == "undated" and is_kept and is_alone else []


def _undated_beside(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    has_dates = any(_is_term(other) for other in item.terms[relation])
    return ["", "2019"] if term.kind == "undated" and has_dates else []


def _sighting(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    is_sighting = term.kind == "sighting" and term.start != ALWAYS and term.rank != "deprecated"
    return ["", f"{term.start.first.year:04}"] if is_sighting else []


def _life_ended(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    deaths = planter.deaths(item, term)
    is_open = _is_term(term) and term.end is None and bool(deaths)
    return ["", f"{deaths[0].last.year + 1:04}"] if is_open else []


def _start_unknown(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    if not _is_term(term) or term.has_start or not term.end or not term.end.first.year > 1900:
        return []
    return ["", f"{term.end.first.year}", f"{term.end.first.year - 2}"]


def _end_unknown(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    return [""] if _is_term(term) and term.end is not None and term.end.last == date.max else []


def _some_value(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    return [""] if any(other.object is None for other in item.terms[relation]) else []


def _rival(planter: Planter, item: Item, relation: str, term: Term) -> Sequence[str]:
    is_exclusive = planter.judge.rules.get(relation, Rule()).is_exclusive
    others = [
        other
        for other in item.terms[relation]
        if other.end is None and other.object != term.object and other.kind == "term"
    ]
    is_rival = _is_term(term) and term.end is None and term.has_start and others and is_exclusive
    return ["", f"{term.start.first.year + 1}"] if is_rival else []


TERMS: dict[str, tuple[int, Choose]] = {
    "open": (36, _open),
    "beside others": (34, _open),
    "all of them": (10, _open),
    "with one that ended": (10, _open),
    "outdated": (46, _outdated),
    "future": (42, _future),
    "edge of a year": (30, _year_edge),
    "edge of a start": (12, _start_edge),
    "last day": (10, _last_day),
    "deprecated": (14, _deprecated),
    "undated, dropped": (24, _undated_dropped),
    "undated, kept": (24, _undated_kept),
    "undated beside dated": (14, _undated_beside),
    "sighting": (12, _sighting),
    "life ended": (14, _life_ended),
    "start unknown": (14, _start_unknown),
    "end unknown": (4, _end_unknown),
    "some value or none": (8, _some_value),
    "rival": (6, _rival),
}
"""Of each kind of statement the number of rows, and how the dates to ask by are chosen."""


def _chosen(kind: str) -> tuple[str, Choose]:
    return kind, TERMS[kind][1]


def cells(number: int, row: Row, items: dict[str, Item], judge: Judge, draw: Random) -> Json:
    """A row as PopQA writes it: subjects by id or address, properties by id or name."""

    def name(item_id: str) -> str:
        return items[item_id].labels.get("en", item_id) if item_id in items else item_id

    names = list(row.answers) if row.by_name else [name(answer) for answer in row.answers if answer]
    ids = [] if row.by_name else [answer for answer in row.answers if answer]
    uri = row.subject
    if uri in items:
        uri = draw.choice([uri, f"http://www.wikidata.org/entity/{uri}", f"wd:{uri}"])
    label = judge.rules.get(row.relation, Rule()).label
    prop = label if label and draw.random() < 0.33 else row.relation
    filled = dict.fromkeys(COLUMNS, "1") | {
        "id": str(5_000_000 + number),
        "subj": name(row.subject),
        "prop": prop,
        "obj": names[0] if names else "",
        "s_uri": uri,
        "o_uri": ids[0] if len(ids) == 1 else json.dumps(ids) if ids else "",
        "question": f"What is the {prop} of {name(row.subject)}?",
        "possible_answers": json.dumps(names, ensure_ascii=False),
        "asked": row.asked,
    }
    return filled


def plant(entities: Path, folder: Path) -> tuple[list[Row], Judge]:
    """Write the dump and the table; the rows, and who judges them."""
    folder.mkdir(parents=True, exist_ok=True)
    items = read_items(entities)
    write_dump(entities, items, folder / f"wikidata-{DUMP_DAY:%Y%m%d}-all.json.gz")
    planter = Planter(items)
    rows, draw = planter.rows(), Random(SEED)
    with (folder / "planted.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        table.writeheader()
        for number, row in enumerate(rows):
            table.writerow(cells(number, row, items, planter.judge, draw))
    return rows, planter.judge


def measure(entities: str, folder: str) -> Json:
    """Plant, audit by each day, and compare; what differs goes to `differing-….jsonl`."""
    out = Path(folder)
    rows, judge = plant(Path(entities), out)
    answer: Json = {"rows": len(rows)}
    for run, options in RUNS.items():
        target = out / run.replace(" ", "-")
        command = [
            *(sys.executable, "-m", "factdrift", "audit", str(out / "planted.tsv"), *options),
            *("--dump", str(out / f"wikidata-{DUMP_DAY:%Y%m%d}-all.json.gz"), "--quiet"),
            *("--build", str(out / "build"), "--out", str(target)),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        lines = (target / "rows.jsonl").read_text("utf-8").splitlines()
        audited = [json.loads(line) for line in lines]
        dates = {"day of the dump": "", "a past day": PAST_DAY.isoformat()}
        expected = [judge.verdict(row, dates.get(run, row.asked)) for row in rows]
        answer[run] = compared(expected, [line["verdict"] for line in audited])
        with (out / f"differing-{target.name}.jsonl").open("w", encoding="utf-8") as file:
            for row, verdict, line in zip(rows, expected, audited, strict=True):
                if verdict != line["verdict"]:
                    file.write(json.dumps(asdict(row) | {"expected": verdict, "audit": line}))
                    file.write("\n")
    return answer


def compared(expected: Sequence[str], audited: Sequence[str]) -> Json:
    """Counts, precision and recall by verdict, and how often audit alone says that it is wrong."""
    both = Counter(zip(expected, audited, strict=True))
    figures: Json = {"agree": sum(number for pair, number in both.items() if len(set(pair)) == 1)}
    for verdict in VERDICTS:
        right, said, due = both[verdict, verdict], audited.count(verdict), expected.count(verdict)
        figures[verdict] = {
            "expected": due,
            "audit": said,
            "precision": round(right / said, 3) if said else None,
            "recall": round(right / due, 3) if due else None,
        }
    figures["called wrong in silence"] = sum(
        number
        for (due_verdict, said_verdict), number in both.items()
        if said_verdict in CLAIMS_THAT_IT_IS_WRONG and due_verdict in (DOUBT, SILENT, UNLINKED)
    )
    return figures
