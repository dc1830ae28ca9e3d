"""A table like PopQA's with planted mistakes, made of the raw lines of a dump of the samples.

It was written before the verdicts of `factdrift audit`, and uses nothing of the project: dates are
read from the texts in the JSON, by rules that are as plain as they can be. It takes only what these
rules can surely tell, so that its verdict of each row is a second opinion.

    python bench/planted_audit.py DUMP.json.gz TABLE.tsv GOLD.json
"""

import csv
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

Json = dict[str, Any]
Pair = tuple[str, str]
Choice = tuple[Pair, str, list[str]]
Choices = defaultdict[str, list[Choice]]

DAY = "2026-02-02"
CHANGING = ("P6", "P286", "P54", "P39", "P108", "P488", "P102", "P127", "P69", "P176", "P138")
LASTING = ("P19", "P20", "P30", "P36", "P103", "P17", "P495", "P364", "P178", "P740", "P131")
SHARED = (
    "P54",
    "P39",
    "P108",
    "P102",
    "P127",
    "P937",
    "P106",
    "P138",
    "P27",
    "P1001",
    "P47",
    "P527",
)
ALONE = ("P6", "P286", "P488", "P35")
"""Relations that have one object at a time; two that are open are nobody's answer."""
COLUMNS = ("id", "subj", "prop", "obj", "subj_id", "prop_id", "obj_id", "s_aliases", "o_aliases",
           "s_uri", "o_uri", "s_wiki_title", "o_wiki_title", "s_pop", "o_pop", "question",
           "possible_answers")  # fmt: skip
COUNTS = {
    "still true": 120,
    "true before": 90,
    "never stated": 70,
    "one of several": 40,
    "in doubt": 25,
    "silent": 15,
    "not in the dump": 25,
    "not linked": 15,
}
SILENT = {"silent": "not in the dump"}
"""The verdict where the dump has the subject, and states nothing of the property."""


def entities(path: str) -> Iterator[Json]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            text = line.strip().rstrip(",")
            if text not in ("[", "]", ""):
                with suppress(ValueError):
                    yield json.loads(text)


def english(terms: Any, name: str) -> str | None:
    if isinstance(terms, dict):
        return (terms.get("en") or terms.get("mul") or {}).get(name)
    return None


def span(snak: Json) -> tuple[str, str] | None:
    """The first and the last day of a time, as texts; None where it is none."""
    if snak.get("snaktype") != "value":
        return None
    value = snak["datavalue"]["value"]
    text, precision = value["time"], value["precision"]
    if text[0] != "+" or precision < 9 or "1985786" in value["calendarmodel"]:
        return None
    year, month, day = text[1:11].split("-")
    if precision == 9:
        return f"{year}-01-01", f"{year}-12-31"
    if precision == 10:
        return f"{year}-{month}-01", f"{year}-{month}-28"
    return (f"{year}-{month}-{day}",) * 2


def read_statements(path: str) -> tuple[Json, Json, dict[Pair, list[Json]], set[str]]:
    """Labels, aliases and statements by subject and property: object, rank, start, end, odd."""
    labels: Json = {}
    aliases: Json = {}
    pairs: defaultdict[Pair, list[Json]] = defaultdict(list)
    ended: set[str] = set()
    for entity in entities(path):
        name = entity.get("id")
        if not name or "redirect" in entity:
            continue
        labels[name] = english(entity.get("labels"), "value")
        alias_terms = entity.get("aliases")
        aliases[name] = (
            [alias["value"] for alias in (alias_terms.get("en") or [])]
            if isinstance(alias_terms, dict)
            else []
        )
        claims = entity.get("claims")
        if name[0] != "Q" or not isinstance(claims, dict):
            continue
        if "P570" in claims or "P576" in claims:
            ended.add(name)
        for relation, statements in claims.items():
            for statement in statements:
                snak = statement["mainsnak"]
                odd = snak.get("snaktype") != "value"
                kind = None if odd else snak["datavalue"]["type"]
                if kind not in (None, "wikibase-entityid"):
                    continue
                value = {} if odd else snak["datavalue"]["value"]
                target = None if odd else value.get("id") or f"Q{value['numeric-id']}"
                times = statement.get("qualifiers")
                times = times if isinstance(times, dict) else {}
                times = {
                    key: snaks
                    for key, snaks in times.items()
                    if key in ("P580", "P582", "P585", "P1319", "P1326", "P8554", "P8555", "P12506")
                }
                dates: Json = {
                    key: [span(time_snak) for time_snak in snaks] for key, snaks in times.items()
                }
                odd = odd or any(len(spans) != 1 or spans[0] is None for spans in dates.values())
                odd = (
                    odd
                    or not dates.keys() <= {"P580", "P582"}
                    or ("P582" in dates and "P580" not in dates)
                )
                start, end = ((dates.get(key) or [None])[0] for key in ("P580", "P582"))
                pairs[name, relation].append({
                    "object": target, "rank": statement.get("rank") or "normal", "start": start,
                    "end": end, "odd": odd, "dated": bool(dates),
                })  # fmt: skip
    return labels, aliases, pairs, ended


def plain(labels: Json, pair: Pair, statements: Sequence[Json]) -> bool:
    """Whether nothing about a pair is odd, so that these rules can tell what holds."""
    if not labels.get(pair[0]):
        return False
    return all(
        not statement["odd"] and statement["rank"] == "normal" and labels.get(statement["object"])
        for statement in statements
    )


def overlap(statements: Sequence[Json]) -> bool:
    dated = sorted(
        (statement["start"][0], (statement["end"] or (DAY, DAY))[1], statement["object"])
        for statement in statements
    )
    return any(
        earlier[1] >= later[0] and earlier[2] != later[2] for earlier, later in pairwise(dated)
    )


def holds(statement: Json) -> bool:
    return statement["start"][1] <= DAY and (not statement["end"] or statement["end"][0] >= DAY)


def over(statement: Json) -> bool:
    return statement["end"] is not None and statement["end"][1] < DAY


def all_choices(
    labels: Json, pairs: Mapping[Pair, list[Json]], ended: set[str], draw: Random
) -> Choices:
    """All that could be planted, by verdict: (pair, object, what holds)."""
    choices_by_verdict: Choices = defaultdict(list)
    objects_by_relation: defaultdict[str, list[str]] = defaultdict(list)
    for (_, relation), statements in pairs.items():
        objects_by_relation[relation] += [
            statement["object"] for statement in statements if labels.get(statement["object"])
        ]
    for pair in sorted(pairs):
        subject, relation = pair
        statements = pairs[pair]
        if not labels.get(subject):
            continue
        ids = {statement["object"] for statement in statements}
        if subject in ended or (ids & ended and relation in CHANGING):
            continue
        if not plain(labels, pair, statements):
            doubtful(choices_by_verdict, pair, statements, labels)
            continue
        dated = [statement for statement in statements if statement["dated"]]
        if (
            dated
            and len(dated) == len(statements)
            and all(statement["start"] for statement in statements)
        ):
            now = sorted({statement["object"] for statement in statements if holds(statement)})
            unsure = [
                statement
                for statement in statements
                if not holds(statement) and not over(statement)
            ]
            if unsure:
                if relation in CHANGING:
                    choices_by_verdict["in doubt"].append((pair, unsure[0]["object"], []))
                continue
            if relation in CHANGING and len(now) == 1 and not overlap(statements):
                choices_by_verdict["still true"].append((pair, now[0], now))
                past = sorted({statement["object"] for statement in statements} - set(now))
                if past:
                    choices_by_verdict["true before"].append((pair, draw.choice(past), now))
                choices_by_verdict["never stated"].append(
                    (pair, wrong(draw, objects_by_relation, labels, relation, ids), now)
                )
            if relation in SHARED and relation not in ALONE and len(now) > 1:
                choices_by_verdict["one of several"].append((pair, draw.choice(now), now))
            if relation in ALONE and len(now) > 1:
                choices_by_verdict["in doubt"].append((pair, draw.choice(now), []))
        elif not dated and relation in LASTING and len(ids) == 1:
            target = statements[0]["object"]
            choices_by_verdict["still true"].append((pair, target, [target]))
            choices_by_verdict["never stated"].append(
                (pair, wrong(draw, objects_by_relation, labels, relation, ids), [target])
            )
        elif not dated and relation in SHARED and len(ids) > 1 and relation in ("P47", "P527"):
            now = sorted(ids)
            choices_by_verdict["one of several"].append((pair, draw.choice(now), now))
    return choices_by_verdict


def wrong(
    draw: Random, objects_by_relation: Json, labels: Json, relation: str, ids: set[str]
) -> str:
    names = {labels[name] for name in ids}
    pool = sorted(
        {
            name
            for name in objects_by_relation[relation]
            if name not in ids and labels[name] not in names
        }
    )
    return draw.choice(pool) if pool else "Q42"


def doubtful(
    choices_by_verdict: Choices, pair: Pair, statements: Sequence[Json], labels: Json
) -> None:
    """Rows whose answer the dump states in a way that tells nothing of the day."""
    for statement in statements:
        if not statement["object"] or not labels.get(statement["object"]):
            continue
        same = [
            other_statement
            for other_statement in statements
            if other_statement["object"] == statement["object"]
        ]
        if len(same) > 1:
            continue
        if statement["rank"] == "deprecated" or (not statement["dated"] and pair[1] in CHANGING):
            choices_by_verdict["in doubt"].append((pair, statement["object"], []))


def planted(path: str) -> tuple[list[tuple[str, Pair, str, list[str]]], Json, Json]:
    draw = Random(46)
    labels, aliases, pairs, ended = read_statements(path)
    labels.setdefault("Q42", "Douglas Adams")
    choices_by_verdict = all_choices(labels, pairs, ended, draw)
    silent = [name for name, label in sorted(labels.items()) if name[0] == "Q" and label]
    silent_pairs = [
        (name, relation)
        for name in silent
        for relation in ("P6", "P54", "P26")
        if (name, relation) not in pairs
    ]
    picks = {
        verdict: draw.sample(rows, min(len(rows), COUNTS[verdict]))
        for verdict, rows in sorted(choices_by_verdict.items())
    }
    picks["silent"] = [(pair, "Q42", []) for pair in draw.sample(silent_pairs, COUNTS["silent"])]
    planted_rows = [row for rows in picks.values() for row in rows]
    for verdict in ("not in the dump", "not linked"):
        picks[verdict] = draw.sample(planted_rows, COUNTS[verdict])
    lacking = sum(COUNTS.values()) - sum(map(len, picks.values()))
    spare = [row for row in choices_by_verdict["still true"] if row not in picks["still true"]]
    picks["still true"] += draw.sample(spare, min(lacking, len(spare)))
    rows = [
        (verdict, *row) for verdict, planted_rows in sorted(picks.items()) for row in planted_rows
    ]
    draw.shuffle(rows)
    return rows, labels, aliases


def table_row(
    number: int, verdict: str, pair: Pair, target: str, labels: Json, aliases: Json, draw: Random
) -> Json:
    subject, relation = pair
    label = labels.get(target) or target
    uri = f"http://www.wikidata.org/entity/{subject}"
    if verdict == "not in the dump":
        uri = f"http://www.wikidata.org/entity/Q{7700000000 + number}"
    if verdict == "not linked":
        uri = draw.choice(["", "N/A", "http://en.wikipedia.org/wiki/Spain"])
    by_id = draw.random() < 0.6
    answers = [label, *aliases.get(target, [])]
    if not by_id and draw.random() < 0.3:
        answers = [f" the {label.lower()}."]
    return {
        "id": number, "subj": labels.get(subject) or "?", "prop": labels.get(relation) or "spouse",
        "obj": label, "subj_id": number * 7, "prop_id": number % 16, "obj_id": number * 11,
        "s_aliases": "[]", "o_aliases": json.dumps(aliases.get(target, [])), "s_uri": uri,
        "o_uri": f"http://www.wikidata.org/entity/{target}" if by_id else "",
        "s_wiki_title": labels.get(subject), "o_wiki_title": label, "s_pop": 100, "o_pop": 10,
        "question": f"What is the {labels.get(relation)} of {labels.get(subject)}?",
        "possible_answers": json.dumps(answers),
    }  # fmt: skip


def main(dump: str, table: str, gold: str) -> None:
    rows, labels, aliases = planted(dump)
    draw = Random(47)
    with Path(table).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for number, (verdict, pair, target, _) in enumerate(rows, 1):
            writer.writerow(table_row(number, verdict, pair, target, labels, aliases, draw))
    verdicts = {
        str(number): {
            "verdict": SILENT.get(verdict, verdict),
            "pair": pair,
            "answer": target,
            "now": now,
        }
        for number, (verdict, pair, target, now) in enumerate(rows, 1)
    }
    Path(gold).write_text(json.dumps(verdicts, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
