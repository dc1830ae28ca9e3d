"""Write the sample Wikidata dumps from the facts in `facts/*.yaml`.

    python samples/wikidata/make.py

The same YAML gives the same bytes. A name that is met for the first time gets the next free
reserved id in `reserved_ids.yaml`. The format of the facts is explained in `README.md`.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
OLDEST, NEWEST = SNAPSHOTS = ("20230102", "20260202")
FIRST_RESERVED = 900_000_000
QUALIFIERS = ("P580", "P582", "P585", "P1319", "P1326", "P8554", "P8555", "P12506")
BORN_DIED, FOUNDED_DISSOLVED = ("P569", "P570"), ("P571", "P576")
CALENDARS = {"Gregorian": "Q1985727", "Julian": "Q1985786"}
# kind of an item: about how many wikis have a page on it, unless the YAML says (`wikis`)
PAGES = {"human": 30, "country": 100, "city": 80, "position": 12, "occupation": 70, "class": 40}


class MistakeError(Exception):
    """A mistake in the YAML."""


class TextLoader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Reads every scalar as text, and takes no name twice in a mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """A mapping. `MistakeError`: a key stands there twice."""
        mapping: dict[str, Any] = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            mark = node.start_mark
            raise MistakeError(f"{mark.name}:{mark.line + 1}: a name stands here twice")
        return mapping


def load(path: Path) -> dict[str, Any]:
    """The content of a YAML file; an empty one has none."""
    with path.open(encoding="utf-8") as stream:
        return yaml.load(stream, TextLoader) or {}  # noqa: S506 - texts, lists and mappings alone


_PROPERTIES = load(HERE / "properties.yaml")
RELATIONS: dict[str, tuple[str, str]] = _PROPERTIES["relations"]
WIKIS: list[str] = _PROPERTIES["wikis"].split()


@dataclass(frozen=True)
class SampleTime:
    """One qualifier value; `time` is as Wikidata writes it."""

    snak: str
    time: str = ""
    precision: int = 11
    calendar: str = "Gregorian"

    def after(self, day: str) -> bool:
        """Whether its last possible day is later than a day such as `20260202`."""
        if self.snak != "value" or self.time.startswith("-"):
            return False
        year, month, date = map(int, re.findall(r"\d+", self.time)[:3])
        if self.precision < 9:
            year += 10 ** (9 - self.precision) - 1
        return (year * 100 + (month or 12)) * 100 + (date or 31) > int(day)


Qualifiers = dict[str, list[SampleTime]]


@dataclass
class SampleStatement:
    """A statement of an item, and what other than by its dates it was on earlier days."""

    relation: str
    value: str | None  # name of the object; None: unknown
    text: bool = False  # the value is a string, not an item
    rank: str = "normal"
    numeric_only: bool = False
    stated: Qualifiers | None = None
    before: dict[str, Qualifiers | None] = field(default_factory=dict)
    """What the dumps until a day said of it instead (None: nothing), by that day."""

    def on(self, snapshot: str) -> Qualifiers | None:
        """What a dump of this day says of it; None: nothing."""
        stated = self.stated
        for last in sorted(self.before, reverse=True):
            if snapshot <= last:
                stated = self.before[last]
        if snapshot == NEWEST or stated is None:
            return stated
        return then(stated, snapshot)


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


def point_of(value: Any) -> SampleTime:
    """`2019`, `2019-07`, `2019-07-24`, `1990s`, `unknown`, `none`, or a raw mapping."""
    if isinstance(value, dict):
        calendar = value.get("calendar", "Gregorian")
        return SampleTime("value", value["time"], int(value["precision"]), calendar)
    if value in ("unknown", "none"):
        return SampleTime({"unknown": "somevalue", "none": "novalue"}[value])
    if match := re.fullmatch(r"(\d{3}0)s", value):
        return SampleTime("value", f"+{match[1]}-00-00T00:00:00Z", 8)
    form = r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?"
    if not (match := re.fullmatch(form, value)):
        raise MistakeError(f"`{value}` is no date: expected 2019, 2019-07, 2019-07-24 or 1990s")
    year, month, day = match.groups("00")
    time = f"+{year}-{month}-{day}T00:00:00Z"
    return SampleTime("value", time, 9 + (month != "00") + (day != "00"))


def ends_of(text: str) -> tuple[SampleTime | None, SampleTime | None]:
    """`first/last`: each a date, `..` (not stated) or empty (unknown)."""
    first, slash, last = (part.strip() for part in text.partition("/"))
    if not slash or "/" in last:
        raise MistakeError(f"`{text}` is no interval: expected start/end")
    start, end = (
        None if end_text == ".." else point_of(end_text or "unknown") for end_text in (first, last)
    )
    return start, end


def interval_of(text: str) -> Qualifiers | None:
    """`start/end`, one date, `undated` or `absent`."""
    if text in ("absent", "undated"):
        return None if text == "absent" else {}
    if "/" not in text:
        return {"P585": [point_of(text)]}
    boundaries = zip(("P580", "P582"), ends_of(text), strict=True)
    return {name: [point] for name, point in boundaries if point}


def then(stated: Qualifiers, day: str) -> Qualifiers | None:
    """What Wikidata said on `day`: later starts absent, later ends open."""
    starts = stated.get("P580") or stated.get("P585", [])
    if starts and all(point.after(day) for point in starts):
        return None
    known_points = {
        name: [p for p in points if not p.after(day)] for name, points in stated.items()
    }
    return {name: points for name, points in known_points.items() if points}


def statement_of(relation: str, fact: Any) -> SampleStatement:
    """A fact: `object`, `object: interval`, or a mapping of fields."""
    if isinstance(fact, str):
        return SampleStatement(relation, fact, stated={})
    if not {"object", "text", "value"} & fact.keys():
        ((name, when),) = fact.items()
        return SampleStatement(relation, name, stated=interval_of(when))
    known_fields = {"object", "text", "value", "when", "before", "rank", "form", *QUALIFIERS}
    if unknown := fact.keys() - known_fields:
        raise MistakeError(
            f"unknown field `{min(unknown)}`; known: {', '.join(sorted(known_fields))}"
        )
    stated: Qualifiers | None = {
        name: [
            point_of(point_text)
            for point_text in (fact[name] if isinstance(fact[name], list) else [fact[name]])
        ]
        for name in QUALIFIERS
        if name in fact
    }
    if "when" in fact:
        stated = interval_of(fact["when"])
    before = {OLDEST: interval_of(fact["before"])} if "before" in fact else {}
    value = fact.get("object", fact.get("text"))
    rank, numeric_only = fact.get("rank", "normal"), "form" in fact
    return SampleStatement(relation, value, "text" in fact, rank, numeric_only, stated, before)


def read_item(item: SampleItem, fields: dict[str, Any]) -> None:
    """Set what the YAML says of an item."""
    for key, value in fields.items():
        if key in RELATIONS:
            item.statements += [statement_of(key, fact) for fact in value]
        elif key in ("mul", "bare", "in_dump"):
            setattr(item, key, value == "yes")
        elif key in SampleItem.__dataclass_fields__:
            setattr(item, key, int(value) if key == "wikis" else value)
        else:
            raise MistakeError(f"unknown field `{key}`")


def add_objects(items: dict[str, SampleItem]) -> None:
    """Add the items that statements name, and give items without a kind that of their relation."""
    kind_by_relation: dict[str, str] = {}
    statements = [statement for item in items.values() for statement in item.statements]
    for statement in statements:
        if statement.text or not statement.value:
            continue
        item = items.setdefault(statement.value, SampleItem(statement.value))
        kind = RELATIONS[statement.relation][1]
        if kind_by_relation.setdefault(item.name, kind) != kind and not item.kind:
            raise MistakeError(f"`{item.name}`: say its kind, under `kinds:` in any file")
    for item in items.values():
        item.kind = item.kind or kind_by_relation.get(item.name, "class")


def read_facts(folder: Path) -> dict[str, SampleItem]:
    """Every item by name: those that the YAML describes and those that it only mentions."""
    items: dict[str, SampleItem] = {}
    kinds: dict[str, str] = {}
    lives: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        top = load(path)
        for name, fields in top.get("items", {}).items():
            item = items.setdefault(name, SampleItem(name))
            if item.declared:
                raise MistakeError(f"{path.name}: `{name}` is described in another file too")
            item.declared = True
            try:
                read_item(item, fields or {})
            except (MistakeError, ValueError, KeyError, AttributeError) as error:
                raise MistakeError(f"{path.name}: {name}: {error}") from error
            item.kind = item.kind or top.get("kind", "")
        lives |= top.get("lives", {})
        kinds |= {name: kind for kind, names in top.get("kinds", {}).items() for name in names}
    for name, kind in kinds.items():
        item = items.setdefault(name, SampleItem(name))
        item.kind = item.kind or kind
    for name, life in lives.items():
        items.setdefault(name, SampleItem(name)).life = ends_of(life)
    add_objects(items)
    for kind in sorted({item.kind for item in items.values()} | {"class"}):
        items.setdefault(kind, SampleItem(kind, kind="class"))
    return items


def number(entity: str) -> int:
    """The number of an id."""
    return int(entity[1:])


def assign_ids(items: dict[str, SampleItem], folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The id of every name, and the table of reserved ids with the new names at its end."""
    real, reserved = (load(folder / f"{name}_ids.yaml") for name in ("real", "reserved"))
    for name in sorted(items.keys() - real.keys() - reserved.keys()):
        last = max(map(number, reserved.values()), default=FIRST_RESERVED - 1)
        reserved[name] = f"Q{last + 1}"
    ids = reserved | real
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
    snaks = {"snaktype": point.snak, "property": name}
    code = digest(name, f"Point{repr(point).removeprefix('SampleTime')}")[:40]
    if point.snak != "value":
        return snaks | {"hash": code, "datatype": "time"}
    value = {
        "time": point.time,
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": point.precision,
        "calendarmodel": f"http://www.wikidata.org/entity/{CALENDARS[point.calendar]}",
    }
    datavalue = {"value": value, "type": "time"}
    return snaks | {"hash": code, "datavalue": datavalue, "datatype": "time"}


def claim(
    mainsnak: dict[str, Any], code: str, rank: str = "normal", stated: Qualifiers | None = None
) -> dict[str, Any]:
    written: dict[str, Any] = {"mainsnak": mainsnak, "type": "statement"}
    if stated:
        written["qualifiers"] = {
            name: [qualifier(name, point) for point in points] for name, points in stated.items()
        }
        written["qualifiers-order"] = list(stated)
    return written | {"id": code, "rank": rank}


def claims_of(item: SampleItem, snapshot: str, ids: dict[str, str]) -> dict[str, Any]:
    entity = ids[item.name]
    if item.bare:
        return {}
    kind = snak("P31", item_value(ids[item.kind]), "wikibase-item")
    claims = {"P31": [claim(kind, statement_id(entity, "P31"))]}
    ends = BORN_DIED if item.kind == "human" else FOUNDED_DISSOLVED
    for relation, point in zip(ends, item.life, strict=True):
        if point and not point.after(snapshot):
            date = qualifier(relation, point)
            del date["hash"]
            claims[relation] = [claim(date, statement_id(entity, relation))]
    seen: Counter[tuple[str, str]] = Counter()
    for statement in item.statements:
        key = (statement.relation, statement.value or "")
        seen[key] += 1
        stated = statement.on(snapshot)
        if stated is None:
            continue
        value, datatype = None, "wikibase-item"
        if statement.text:
            value, datatype = {"value": statement.value, "type": "string"}, "string"
        elif statement.value is not None:
            value = item_value(ids[statement.value], statement.numeric_only)
        code = statement_id(entity, *key, str(seen[key]))
        written = claim(snak(statement.relation, value, datatype), code, statement.rank, stated)
        claims.setdefault(statement.relation, []).append(written)
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
    named = {code: values for code, values in aliases.items() if values}
    parts: dict[str, Any] = {
        "labels": {} if item.bare else terms(labels_of(item, mul_exists)),
        "descriptions": {} if item.bare else terms({"en": description}),
        "aliases": {c: [{"language": c, "value": v} for v in some] for c, some in named.items()},
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
    for name, (label, datatype) in (named | _PROPERTIES["others"]).items():
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
        stated = [statement for statement in item.statements if statement.on(snapshot) is not None]
        if stated or (item.declared and not item.statements):
            names.add(item.name)
        names |= {statement.value for statement in stated if statement.value and not statement.text}
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


def main() -> None:
    """Write the dumps and the table of ids next to this file."""
    known = load(HERE / "reserved_ids.yaml").keys()
    try:
        files = build()
    except (MistakeError, yaml.YAMLError) as error:
        raise SystemExit(str(error)) from None
    for name, content in files.items():
        (HERE / name).write_bytes(content)
    for name, entity in load(HERE / "reserved_ids.yaml").items():
        if name not in known:
            print(f"new name: {name} = {entity}")


if __name__ == "__main__":
    main()
