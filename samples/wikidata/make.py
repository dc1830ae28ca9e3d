"""Write the sample Wikidata dumps from the facts in `facts/*.yaml`.

    python samples/wikidata/make.py

The same YAML gives the same bytes. A name that is met for the first time gets the next free
reserved id in `reserved_ids.yaml`. The format of the facts is explained in `README.md`.
"""

import gzip
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
OLDEST, NEWEST = SNAPSHOTS = ("20230102", "20260202")
FIRST_RESERVED = 900_000_000
# property: (label, kind of its objects unless the YAML says otherwise)
RELATIONS = {
    "P54": ("member of sports team", "association football club"),
    "P39": ("position held", "position"),
    "P108": ("employer", "business"),
    "P102": ("member of political party", "political party"),
    "P286": ("head coach", "human"),
    "P69": ("educated at", "university"),
    "P488": ("chairperson", "human"),
    "P6": ("head of government", "human"),
    "P279": ("subclass of", "class"),
    "P127": ("owned by", "business"),
    "P1001": ("applies to jurisdiction", "country"),
    "P106": ("occupation", "occupation"),
    "P27": ("country of citizenship", "country"),
    "P176": ("manufacturer", "business"),
    "P138": ("named after", "business"),
    "P937": ("work location", "city"),
    "P19": ("place of birth", "city"),
    "P20": ("place of death", "city"),
    "P37": ("official language", "language"),
    "P449": ("original broadcaster", "television network"),
    "P47": ("shares border with", "country"),
    "P364": ("original language of film or TV show", "language"),
    "P527": ("has part(s)", "class"),
    "P407": ("language of work or name", "language"),
    "P30": ("continent", "continent"),
    "P178": ("developer", "business"),
    "P1376": ("capital of", "country"),
    "P131": ("located in the administrative territorial entity", "administrative unit"),
    "P1412": ("languages spoken, written or signed", "language"),
    "P17": ("country", "country"),
    "P276": ("location", "museum"),
    "P140": ("religion or worldview", "religion"),
    "P103": ("native language", "language"),
    "P190": ("twinned administrative body", "city"),
    "P495": ("country of origin", "country"),
    "P36": ("capital", "city"),
    "P740": ("location of formation", "city"),
    "P361": ("part of", "class"),
    "P35": ("head of state", "human"),
    "P38": ("currency", "currency"),
    "P166": ("award received", "award"),
    "P1411": ("nominated for", "award"),
}
OTHER_PROPERTIES = {
    "P31": ("instance of", "wikibase-item"),
    "P580": ("start time", "time"),
    "P582": ("end time", "time"),
    "P585": ("point in time", "time"),
    "P1319": ("earliest date", "time"),
    "P1326": ("latest date", "time"),
    "P8554": ("earliest end date", "time"),
    "P8555": ("latest start date", "time"),
    "P12506": ("latest end date", "time"),
    "P569": ("date of birth", "time"),
    "P570": ("date of death", "time"),
    "P571": ("inception", "time"),
    "P576": ("dissolved, abolished or demolished date", "time"),
}
QUALIFIERS = ("P580", "P582", "P585", "P1319", "P1326", "P8554", "P8555", "P12506")
BORN_DIED, FOUNDED_DISSOLVED = ("P569", "P570"), ("P571", "P576")
CALENDARS = {"Gregorian": "Q1985727", "Julian": "Q1985786"}
# Wikis in the order in which an item gets its sitelinks.
WIKIS = (
    "en de fr es it ja ru pt zh pl nl ar fa uk sv ko tr ca cs fi hu he id no vi da ro el bg sr hr "
    "sk sl lt et eu gl hy az ka kk th ms hi bn ta te ml mr ur uz lv mk sq bs is ga cy eo la simple "
    "sh af sw tl jv su arz ast be oc br lb nn fy nds sco gd kn gu pa ne si my km mn ky tg tt ba cv "
    "os ku ckb ps sd yo ig ha am so mg rw xh zu vec scn lmo pms nap sc co wa li vls frr als bar"
).split()
# kind of an item: about how many wikis have a page on it, unless the YAML says (`wikis`)
PAGES = {"human": 30, "country": 100, "city": 80, "position": 12, "occupation": 70, "class": 40}


class MistakeError(Exception):
    """A mistake in the YAML; says file, line and what is wrong."""


@dataclass(frozen=True)
class SampleTime:
    """One qualifier value; `time` is as Wikidata writes it."""

    snak: str
    time: str = ""
    precision: int = 11
    calendar: str = "Gregorian"

    def after(self, day: tuple[int, int, int]) -> bool:
        """Whether its last possible day is later than `day`."""
        if self.snak != "value":
            return False
        year, month, date = map(int, re.findall(r"\d+", self.time)[:3])
        if self.precision < 9:
            year += 10 ** (9 - self.precision) - 1
        return not self.time.startswith("-") and (year, month or 12, date or 31) > day


Qualifiers = dict[str, list[SampleTime]]


def day_of(snapshot: str) -> tuple[int, int, int]:
    """`20260202` as (2026, 2, 2)."""
    return int(snapshot[:4]), int(snapshot[4:6]), int(snapshot[6:])


@dataclass
class SampleStatement:
    """A statement of an item, and what other than by its dates it was on earlier days."""

    relation: str
    value: str | None  # name of the object; None: unknown
    text: bool  # the value is a string, not an item
    rank: str
    numeric_only: bool
    stated: Qualifiers | None
    node: yaml.Node
    before: dict[str, Qualifiers | None] = field(default_factory=dict)
    """What the dumps until a day said of it instead (None: nothing), by that day."""

    def on(self, snapshot: str) -> Qualifiers | None:
        """What a dump of this day says of it; None: nothing."""
        said = self.stated
        for last in sorted(self.before, reverse=True):
            if snapshot <= last:
                said = self.before[last]
        return said if snapshot == NEWEST or said is None else then(said, day_of(snapshot))


@dataclass
class SampleItem:
    """An entity line."""

    name: str
    kind: str = ""
    label: str = ""
    description: str = ""
    enwiki: str = ""
    wikis: int = -1
    aliases: list[str] = field(default_factory=list)
    mul_aliases: list[str] = field(default_factory=list)
    mul: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    bare: bool = False
    in_dump: bool = True
    redirect: str = ""
    statements: list[SampleStatement] = field(default_factory=list)
    declared: bool = False
    life: tuple[SampleTime | None, SampleTime | None] = (None, None)


def mistake(node: yaml.Node, message: str) -> MistakeError:
    mark = node.start_mark
    return MistakeError(f"{mark.name}:{mark.line + 1}: {message}")


def text_of(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value:
        raise mistake(node, "expected a word or a date here")
    return str(node.value)


def list_of(node: yaml.Node) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise mistake(node, "expected a list here, one `- …` a line")
    return list(node.value)


def map_of(node: yaml.Node, allowed: set[str] | None = None) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise mistake(node, "expected `name: value` lines here")
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = text_of(key)
        if name in found:
            raise mistake(key, f"`{name}` stands here twice")
        if allowed is not None and name not in allowed:
            raise mistake(key, f"unknown field `{name}`; known: {', '.join(sorted(allowed))}")
        found[name] = value
    return found


def flag(node: yaml.Node) -> bool:
    if text_of(node) not in ("yes", "no"):
        raise mistake(node, "expected yes or no")
    return text_of(node) == "yes"


def point_of(node: yaml.Node, text: str | None = None) -> SampleTime:
    """`2019`, `2019-07`, `2019-07-24`, `1990s`, `unknown`, `none`, or a raw mapping."""
    if isinstance(node, yaml.MappingNode):
        raw = map_of(node, {"time", "precision", "calendar"})
        calendar = text_of(raw["calendar"]) if "calendar" in raw else "Gregorian"
        if calendar not in CALENDARS:
            raise mistake(raw["calendar"], f"unknown calendar `{calendar}`")
        if not {"time", "precision"} <= raw.keys():
            raise mistake(node, "expected time and precision")
        return SampleTime("value", text_of(raw["time"]), int(text_of(raw["precision"])), calendar)
    text = text_of(node) if text is None else text
    if text in ("unknown", "none"):
        return SampleTime({"unknown": "somevalue", "none": "novalue"}[text])
    if match := re.fullmatch(r"(\d{3}0)s", text):
        return SampleTime("value", f"+{match[1]}-00-00T00:00:00Z", 8)
    match = re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", text)
    if (
        not match
        or int(match[2] or 1) not in range(1, 13)
        or int(match[3] or 1) not in range(1, 32)
    ):
        raise mistake(node, f"`{text}` is no date: expected 2019, 2019-07, 2019-07-24 or 1990s")
    precision = 11 if match[3] else 10 if match[2] else 9
    return SampleTime(
        "value", f"+{match[1]}-{match[2] or '00'}-{match[3] or '00'}T00:00:00Z", precision
    )


def life_of(node: yaml.Node) -> tuple[SampleTime | None, SampleTime | None]:
    """`first/last` of a life: each a date, `..` (not stated) or empty (unknown)."""
    ends = [part.strip() or "unknown" for part in text_of(node).split("/")]
    if len(ends) != 2:
        raise mistake(node, f"`{text_of(node)}` is no life: expected first/last")
    first, last = (None if end == ".." else point_of(node, end) for end in ends)
    return first, last


def interval_of(node: yaml.Node) -> Qualifiers | None:
    """`start/end`: each a date, `..` (not stated) or empty (unknown); or one date; or `absent`."""
    text = text_of(node)
    if text == "absent":
        return None
    if text == "undated":
        return {}
    if "/" not in text:
        return {"P585": [point_of(node)]}
    ends = [part.strip() or "unknown" for part in text.split("/")]
    if len(ends) != 2:
        raise mistake(node, f"`{text}` is no interval: expected start/end")
    found = zip(("P580", "P582"), ends, strict=True)
    return {name: [point_of(node, end)] for name, end in found if end != ".."}


def then(stated: Qualifiers, day: tuple[int, int, int]) -> Qualifiers | None:
    """What Wikidata said on `day`: later starts absent, later ends open."""
    starts = stated.get("P580") or stated.get("P585", [])
    if starts and all(point.after(day) for point in starts):
        return None
    known = {name: [p for p in points if not p.after(day)] for name, points in stated.items()}
    return {name: points for name, points in known.items() if points}


def statement_of(relation: str, node: yaml.Node) -> SampleStatement:
    if isinstance(node, yaml.ScalarNode):  # - object
        return SampleStatement(relation, text_of(node), False, "normal", False, {}, node)
    plain = map_of(node)
    if not {"object", "text", "value"} & plain.keys():  # - object: interval
        if len(plain) != 1:
            raise mistake(node, "expected `- object: start/end`, or a fact with an `object` field")
        ((name, when),) = plain.items()
        return SampleStatement(relation, name, False, "normal", False, interval_of(when), node)
    known = {"object", "text", "value", "when", "before", "rank", "form", *QUALIFIERS}
    fields = map_of(node, known)
    if "when" in fields:
        stated = interval_of(fields["when"])
    else:
        stated = {
            name: [
                point_of(one)
                for one in (
                    list_of(fields[name])
                    if isinstance(fields[name], yaml.SequenceNode)
                    else [fields[name]]
                )
            ]
            for name in QUALIFIERS
            if name in fields
        }
    before = {OLDEST: interval_of(fields["before"])} if "before" in fields else {}
    rank = text_of(fields["rank"]) if "rank" in fields else "normal"
    if rank not in ("normal", "preferred", "deprecated"):
        raise mistake(fields["rank"], f"unknown rank `{rank}`")
    if "form" in fields and text_of(fields["form"]) != "numeric-id":
        raise mistake(fields["form"], "the only other form is `numeric-id`")
    if "value" in fields and text_of(fields["value"]) != "unknown":
        raise mistake(fields["value"], "the only `value` is `unknown`; name an item with `object`")
    value = next((text_of(fields[key]) for key in ("object", "text") if key in fields), None)
    form = "form" in fields
    return SampleStatement(relation, value, "text" in fields, rank, form, stated, node, before)


def read_item(item: SampleItem, node: yaml.Node) -> None:
    setters: dict[str, Callable[[yaml.Node], object]] = {
        "kind": text_of,
        "label": text_of,
        "description": text_of,
        "enwiki": text_of,
        "redirect": text_of,
        "wikis": lambda value: int(text_of(value)),
        "aliases": lambda value: [text_of(one) for one in list_of(value)],
        "mul_aliases": lambda value: [text_of(one) for one in list_of(value)],
        "labels": lambda value: {key: text_of(one) for key, one in map_of(value).items()},
        "mul": flag,
        "bare": flag,
        "in_dump": flag,
    }
    for key, value in map_of(node, {*setters, *RELATIONS}).items():
        if key in RELATIONS:
            item.statements += [statement_of(key, one) for one in list_of(value)]
        else:
            setattr(item, key, setters[key](value))


def read_facts(folder: Path) -> dict[str, SampleItem]:
    """Every item by name: those that the YAML describes and those that it only mentions."""
    items: dict[str, SampleItem] = {}
    kinds: dict[str, str] = {}
    lives: dict[str, yaml.Node] = {}
    for path in sorted(folder.glob("*.yaml")):
        with path.open(encoding="utf-8") as stream:
            root = yaml.compose(stream, Loader=LOADER)
        if root is None:
            continue
        top = map_of(root, {"kind", "items", "kinds", "lives"})
        kind = text_of(top["kind"]) if "kind" in top else ""
        for name, node in (map_of(top["items"]) if "items" in top else {}).items():
            item = items.setdefault(name, SampleItem(name))
            if item.declared:
                raise mistake(node, f"`{name}` is described in another file too")
            item.declared = True
            read_item(item, node)
            item.kind = item.kind or kind
        lives |= map_of(top["lives"]) if "lives" in top else {}
        for kind, nodes in (map_of(top["kinds"]) if "kinds" in top else {}).items():
            for node in list_of(nodes):
                kinds[text_of(node)] = kind
    for name, kind in kinds.items():
        item = items.setdefault(name, SampleItem(name))
        item.kind = item.kind or kind
    for name, node in lives.items():
        items.setdefault(name, SampleItem(name)).life = life_of(node)
    named = [one for item in items.values() for one in item.statements if one.value]
    given: dict[str, str] = {}
    for one in named:
        if one.value is None or one.text:
            continue
        item = items.setdefault(one.value, SampleItem(one.value))
        kind = given.setdefault(item.name, RELATIONS[one.relation][1])
        if not item.kind and kind != RELATIONS[one.relation][1]:
            raise mistake(one.node, f"`{item.name}`: say its kind, under `kinds:` in any file")
    for item in items.values():
        item.kind = item.kind or given.get(item.name, "class")
    for kind in sorted({item.kind for item in items.values()} | {"class"}):
        items.setdefault(kind, SampleItem(kind, kind="class"))
    return items


def read_ids(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as stream:
        root = yaml.compose(stream, Loader=LOADER)
    return {} if root is None else {key: text_of(one) for key, one in map_of(root).items()}


def number(entity: str) -> int:
    return int(entity[1:])


def assign_ids(items: dict[str, SampleItem], folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The id of every name, and the table of reserved ids with the new names at its end."""
    real, reserved = (read_ids(folder / f"{name}_ids.yaml") for name in ("real", "reserved"))
    for name in sorted(items.keys() - real.keys() - reserved.keys()):
        last = max(map(number, reserved.values()), default=FIRST_RESERVED - 1)
        reserved[name] = f"Q{last + 1}"
    ids = reserved | real
    for name, item in items.items():
        if item.redirect and item.redirect not in ids:
            raise MistakeError(f"`{name}` redirects to `{item.redirect}`, which is not described")
    if len(set(ids.values())) != len(ids):
        raise MistakeError("real_ids.yaml and reserved_ids.yaml: an id stands there twice")
    return ids, reserved


def digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def statement_id(entity: str, *parts: str) -> str:
    code = digest(entity, *parts).upper()
    return f"{entity}${code[:8]}-{code[8:12]}-4{code[13:16]}-A{code[17:20]}-{code[20:32]}"


def item_value(entity: str, numeric_only: bool = False) -> dict[str, Any]:
    value: dict[str, Any] = {"entity-type": "item", "numeric-id": number(entity)}
    if not numeric_only:
        value["id"] = entity
    return {"value": value, "type": "wikibase-entityid"}


def snak(relation: str, value: dict[str, Any] | None, datatype: str) -> dict[str, Any]:
    if value is None:
        return {"snaktype": "somevalue", "property": relation, "datatype": datatype}
    return {"snaktype": "value", "property": relation, "datavalue": value, "datatype": datatype}


def qualifier(name: str, point: SampleTime) -> dict[str, Any]:
    found = {"snaktype": point.snak, "property": name}
    code = digest(name, repr(point))[:40]
    if point.snak != "value":
        return found | {"hash": code, "datatype": "time"}
    value = {
        "time": point.time,
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": point.precision,
        "calendarmodel": f"http://www.wikidata.org/entity/{CALENDARS[point.calendar]}",
    }
    datavalue = {"value": value, "type": "time"}
    return found | {"hash": code, "datavalue": datavalue, "datatype": "time"}


def statement(
    one: SampleStatement, stated: Qualifiers, code: str, ids: dict[str, str]
) -> dict[str, Any]:
    value, datatype = None, "wikibase-item"
    if one.text:
        value, datatype = {"value": one.value, "type": "string"}, "string"
    elif one.value is not None:
        value = item_value(ids[one.value], one.numeric_only)
    written: dict[str, Any] = {
        "mainsnak": snak(one.relation, value, datatype),
        "type": "statement",
    }
    if stated:
        written["qualifiers"] = {
            name: [qualifier(name, point) for point in points] for name, points in stated.items()
        }
        written["qualifiers-order"] = list(stated)
    return written | {"id": code, "rank": one.rank}


def claims_of(item: SampleItem, snapshot: str, ids: dict[str, str]) -> dict[str, Any]:
    entity = ids[item.name]
    if item.bare:
        return {}
    claims: dict[str, Any] = {
        "P31": [
            {
                "mainsnak": snak("P31", item_value(ids[item.kind]), "wikibase-item"),
                "type": "statement",
                "id": statement_id(entity, "P31"),
                "rank": "normal",
            }
        ]
    }
    ends = BORN_DIED if item.kind == "human" else FOUNDED_DISSOLVED
    for relation, point in zip(ends, item.life, strict=True):
        if point and not point.after(day_of(snapshot)):
            claims[relation] = [
                {
                    "mainsnak": {
                        k: v for k, v in qualifier(relation, point).items() if k != "hash"
                    },
                    "type": "statement",
                    "id": statement_id(entity, relation),
                    "rank": "normal",
                }
            ]
    seen: dict[tuple[str, str], int] = {}
    for one in item.statements:
        key = (one.relation, one.value or "")
        seen[key] = seen.get(key, 0) + 1
        code = statement_id(entity, *key, str(seen[key]))
        stated = one.on(snapshot)
        if stated is not None:
            claims.setdefault(one.relation, []).append(statement(one, stated, code, ids))
    return claims


def terms(values: dict[str, str]) -> dict[str, Any]:
    return {code: {"language": code, "value": value} for code, value in values.items()}


def labels_of(item: SampleItem, mul_exists: bool) -> dict[str, str]:
    name = item.label or re.sub(r" \([^()]*\)$", "", item.name)
    if item.labels:
        return item.labels
    if item.mul and mul_exists:
        return {"mul": name}
    if item.kind == "human":
        return dict.fromkeys(("de", "en", "es", "fr"), name)
    return {"en": name}


def sitelinks_of(item: SampleItem) -> dict[str, Any]:
    title = item.enwiki or item.label or item.name
    title = title if item.enwiki else title[:1].upper() + title[1:]
    base = PAGES.get(item.kind, 20)
    pages = item.wikis if item.wikis >= 0 else base + int(digest(item.name)[:4], 16) % base
    sites = [f"{code}wiki" for code in WIKIS[:pages]]
    return {
        site: {"site": site, "title": title, "badges": []}
        for site in sorted(sites)
        if site != "enwiki" or item.enwiki != "none"
    }


def entity_line(item: SampleItem, snapshot: str, ids: dict[str, str]) -> dict[str, Any]:
    entity = ids[item.name]
    if item.redirect:
        return {"entity": entity, "redirect": ids[item.redirect]}
    mul_exists = snapshot >= "2024"  # when Wikidata got the `mul` code
    aliases = {"en": item.aliases, "mul": item.mul_aliases}
    if not mul_exists:
        aliases = {"en": item.aliases + item.mul_aliases}
    description = item.description or f"sample {item.kind}"
    parts: dict[str, Any] = {
        "labels": {} if item.bare else terms(labels_of(item, mul_exists)),
        "descriptions": {} if item.bare else terms({"en": description}),
        "aliases": {
            code: [{"language": code, "value": value} for value in values]
            for code, values in aliases.items()
            if values
        },
        "claims": claims_of(item, snapshot, ids),
        "sitelinks": {} if item.bare else sitelinks_of(item),
    }
    # Dumps of the time wrote an empty map as a list; a few still do.
    empty: Any = [] if item.bare or not mul_exists else {}
    parts = {key: value or empty for key, value in parts.items()}
    seen = int(digest(item.name, snapshot)[:8], 16)
    day = f"{snapshot[:4]}-{snapshot[4:6]}-{1 + seen % int(snapshot[6:]):02}"
    modified = f"{day}T{seen % 23:02}:{seen % 59:02}:{seen % 57:02}Z"
    revision = int(snapshot) * 100 + seen % 99_999_999
    head = {"type": "item", "id": entity}
    return head | parts | {"lastrevid": revision, "modified": modified}


def property_lines() -> Iterator[dict[str, Any]]:
    named = {name: (label, "wikibase-item") for name, (label, _) in RELATIONS.items()}
    for name, (label, datatype) in (named | OTHER_PROPERTIES).items():
        yield {
            "type": "property",
            "datatype": datatype,
            "id": name,
            "labels": terms({"en": label}),
            "descriptions": terms({"en": f"sample property: {label}"}),
            "aliases": {},
            "claims": {},
            "lastrevid": FIRST_RESERVED + number(name),
            "modified": "2022-12-01T00:00:00Z",
        }


def lexeme_line(ids: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "lexeme",
        "id": "L900000000",
        "lemmas": terms({"en": "minister"}),
        "lexicalCategory": ids["noun"],
        "language": ids["English"],
        "claims": {},
        "forms": [],
        "senses": [],
        "lastrevid": FIRST_RESERVED,
        "modified": "2022-12-01T00:00:00Z",
    }


def in_snapshot(items: dict[str, SampleItem], snapshot: str) -> set[str]:
    """Items with a statement in this snapshot, and all that these and other items point to."""
    names = {item.name for item in items.values() if item.redirect or item.bare or item.labels}
    for item in items.values():
        stated = [one for one in item.statements if one.on(snapshot) is not None]
        if stated or (item.declared and not item.statements):
            names.add(item.name)
        names |= {one.value for one in stated if one.value and not one.text}
    names |= {items[name].kind for name in names}
    return names | {"class"}


def dump(items: dict[str, SampleItem], snapshot: str, ids: dict[str, str]) -> bytes:
    names = [name for name in in_snapshot(items, snapshot) if items[name].in_dump]
    lines = [entity_line(items[name], snapshot, ids) for name in names]
    lines += [*property_lines(), lexeme_line(ids)]
    lines.sort(key=lambda line: (number(line.get("id") or line["entity"]), line.get("id", "")))
    written = [json.dumps(line, separators=(",", ":")) for line in lines]
    return gzip.compress(("[\n" + ",\n".join(written) + "\n]\n").encode(), 9, mtime=0)


def build(folder: Path = HERE) -> dict[str, bytes]:
    """The content of every file that this script writes, by name."""
    items = read_facts(folder / "facts")
    ids, reserved = assign_ids(items, folder)
    table = "# Written by make.py: the id of every name that has no real one. Never change an id.\n"
    ordered = dict(sorted(reserved.items(), key=lambda pair: number(pair[1])))
    table += yaml.safe_dump(ordered, allow_unicode=True, sort_keys=False, width=1000)
    files = {"reserved_ids.yaml": table.encode()}
    for snapshot in SNAPSHOTS:
        files[f"wikidata-{snapshot}-all.json.gz"] = dump(items, snapshot, ids)
    return files


def main() -> int:
    known = read_ids(HERE / "reserved_ids.yaml").keys()
    try:
        files = build()
    except (MistakeError, yaml.YAMLError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, content in files.items():
        (HERE / name).write_bytes(content)
    table = read_ids(HERE / "reserved_ids.yaml")
    for name in table.keys() - known:
        print(f"new name: {name} = {table[name]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
