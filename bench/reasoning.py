"""What `temporal-reasoning` must show, by code that shares nothing with it.

    python -m bench reasoning:copy_dump DUMP OUT 16
    python -m bench reasoning:guess_table RELEASE BUILD [RELEASE BUILD …]
    python -m bench reasoning:count_rows RELEASE
    python -m bench reasoning:answers_apart BUILD

`copy_dump` writes the items of a dump several times, with ids and names of their own, so that one
sees how families grow. `guess_table` tells what guesses get right over chance, with the lower end
of the 95 % interval. `answers_apart` works every candidate out over days, under several readings.
"""

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from tests.histories import timelines_with
from tests.reasoning_oracle import expected, worlds

Row = Mapping[str, Any]
READINGS = 8
"""Random readings of all dates, beside the four extreme ones."""
_CLASS_RELATIONS = ("P31", "P279")
# Ids of copies lie far above those of all items.
_STEP = 10**9
_ITEM = re.compile(r'"Q(\d+)"')  # it matches `"Q42"`
_NUMBER = re.compile(r'"numeric-id":\s*(\d+)')  # it matches `"numeric-id":42`


def copy_dump(source: str, target: str, copies: str) -> int:
    """Write the items of a dump several times; classes stay as they are. Return the lines."""
    entities = list(_entities(Path(source)))
    own_ids = {entity["id"] for entity in entities if entity["id"].startswith("Q")}
    own_ids -= {class_id for entity in entities for class_id in _classes(entity)}
    written_lines: list[str] = []
    for copy_number in range(int(copies)):
        for entity in entities:
            if copy_number == 0 or entity["id"] in own_ids:
                written_lines.append(json.dumps(_copied(entity, copy_number, own_ids)))
    with gzip.open(target, "wt", encoding="utf-8") as dump_file:
        dump_file.write("[\n" + ",\n".join(written_lines) + "\n]\n")
    return len(written_lines)


def _entities(dump_path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(dump_path, "rt", encoding="utf-8") as dump_file:
        for line in dump_file:
            entity_text = line.strip().rstrip(",")
            if entity_text.startswith("{") and "id" in (entity := json.loads(entity_text)):
                yield entity


def _classes(entity: Row) -> Iterator[str]:
    all_claims = entity.get("claims") or {}
    for relation_id in _CLASS_RELATIONS if isinstance(all_claims, dict) else ():
        for claim in all_claims.get(relation_id, ()):
            value = claim["mainsnak"].get("datavalue", {}).get("value", {})
            if isinstance(value, dict) and "id" in value:
                yield value["id"]


def _copied(entity: dict[str, Any], copy_number: int, own_ids: set[str]) -> dict[str, Any]:
    """Return an entity with the ids and names of a copy; the first one is the entity itself."""
    if copy_number == 0:
        return entity

    def moved(found: re.Match[str]) -> str:
        if f"Q{found[1]}" not in own_ids:
            return found[0]
        return found[0].replace(found[1], str(int(found[1]) + copy_number * _STEP))

    entity_text = _NUMBER.sub(moved, _ITEM.sub(moved, json.dumps(entity)))
    copied_entity: dict[str, Any] = json.loads(entity_text)
    mark = f" {chr(ord('A') + copy_number % 26)}{copy_number}"
    for label in (copied_entity.get("labels") or {}).values():
        label["value"] += mark
    links = copied_entity.get("sitelinks")
    for link in links.values() if isinstance(links, dict) else ():
        link["title"] += mark
    return copied_entity | {"aliases": {}}


def answers_apart(build: str) -> dict[str, list[int]]:
    """Return for each family the number of candidates, and of those that days answer otherwise."""
    candidates = _table(_newest(Path(build), "reasoning-candidates") / "candidates.parquet")
    statements = {statement for row in candidates for statement in row["statements"]}
    relations = {relation for row in candidates for relation in row["relations"]}
    all_worlds = worlds(*timelines_with(Path(build), relations, statements), READINGS)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in candidates:
        counts[row["family"]][0] += 1
        answer = expected(row)
        counts[row["family"]][1] += any(world.answer(row) != answer for world in all_worlds)
    return dict(counts)


def count_rows(release: str) -> dict[str, int]:
    """Return the number of rows of each family and number of hops."""
    questions = _table(*Path(release).glob("data/questions/*.parquet"))
    return dict(Counter(f"{row['family']} {row['hops']}" for row in questions))


class GuessLine(NamedTuple):
    """What a guess gets right in a family, in per cent; `low` is the lower end over chance."""

    family: str
    guess: str
    rows: int
    right: float
    chance: float
    low: float


def guess_table(*paths: str) -> list[GuessLine]:
    """Return the three best guesses of each family over pairs of a release and its build."""
    hits: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for release, build in zip(paths[::2], paths[1::2], strict=True):
        folder = _newest(Path(build), "reasoning-candidates")
        candidates = {row["id"]: row for row in _table(folder / "candidates.parquet")}
        terms: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for segment in _table(folder / "terms.parquet"):
            terms[segment["subject"], segment["relation"]].append(segment)
        for row in _table(*Path(release).glob("data/with_evidence/*.parquet")):
            candidate = candidates[row["question_id"]]
            segments = terms[candidate["holder"], candidate["relation"]]
            for guess, hit, chance in _row_guesses(row, candidate, segments):
                hits[row["family"], guess].append((hit, chance))
    lines: dict[str, list[GuessLine]] = defaultdict(list)
    for (family, guess), pairs in hits.items():
        lines[family].append(_guess_line(family, guess, pairs))
    return [
        line
        for family in sorted(lines)
        for line in sorted(lines[family], key=lambda line: line.chance - line.right)[:3]
    ]


def _guess_line(family: str, guess: str, pairs: Sequence[tuple[float, float]]) -> GuessLine:
    row_count = len(pairs)
    right = sum(hit for hit, _ in pairs) / row_count
    chance = sum(chance for _, chance in pairs) / row_count
    variance = sum((hit - chance_share - right + chance) ** 2 for hit, chance_share in pairs)
    error = math.sqrt(variance) / row_count
    percents = (round(100 * share, 1) for share in (right, chance, right - chance - 1.96 * error))
    return GuessLine(family, guess, row_count, *percents)


def _row_guesses(
    row: Row, candidate: Row, segments: Sequence[Row]
) -> Iterator[tuple[str, float, float]]:
    """Yield the name, the hit and the chance of every guess about a row."""
    if row["answer_kind"] == "yes_no":
        yield "yes", float(row["targets"][0] == "yes"), 0.5
    elif row["answer_kind"] in ("item", "date") and row["wording"] != "longer":
        is_date = row["answer_kind"] == "date"
        right_ids = {candidate["items"][1]} if is_date else set(candidate["answers"])
        named_ids = set() if is_date else set(candidate["items"])
        open_segments = [segment for segment in segments if segment["object"] not in named_ids]
        chance = len(right_ids) / len({segment["object"] for segment in open_segments})
        year = candidate["as_of"].year if row["family"] == "chain" else None
        for guess, objects in _guessed_objects(open_segments, year):
            yield guess, len(right_ids & set(objects)) / len(set(objects)), chance
    elif row["family"] == "ranking":
        yield "as named", float(candidate["answers"] == candidate["items"][1:]), 1 / 6
    if row["choices"]:
        right_choice = row["choices"][row["answer_index"]]
        for guess, choices in _guessed_choices(row["choices"], row["answer_kind"]):
            yield (
                f"choice: {guess}",
                (right_choice in choices) / len(choices),
                1 / len(row["choices"]),
            )


def _guessed_objects(
    segments: Sequence[Row], year: int | None
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the objects that each guess takes from a timeline."""

    def start(segment: Row) -> date:
        return segment["start_last"] or segment["start_first"] or date.min

    by_start = [
        segment["object"]
        for segment in sorted(segments, key=lambda segment: (start(segment), segment["object"]))
    ]
    newest_first = list(dict.fromkeys(reversed(by_start)))
    yield "first", by_start[:1]
    yield "newest", newest_first[:1]
    if len(newest_first) > 1:
        yield "one before the newest", newest_first[1:2]
    lengths = [((segment["end_first"] or date.max) - start(segment)).days for segment in segments]
    yield "longest", _best(segments, lengths, max(lengths))
    object_counts = Counter(by_start)
    counts = [object_counts[segment["object"]] for segment in segments]
    yield "most frequent", _best(segments, counts, max(counts))
    if year is not None:
        distances = [abs(start(segment).year - year) for segment in segments]
        yield "nearest year", _best(segments, distances, min(distances))


def _best(segments: Iterable[Row], values: Iterable[int], best_value: int) -> list[str]:
    return [
        segment["object"]
        for segment, value in zip(segments, values, strict=True)
        if value == best_value
    ]


def _guessed_choices(
    choices: Sequence[str], answer_kind: str
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the choices that each guess takes by their words, their size and their place."""
    lengths = [len(choice) for choice in choices]
    mean_length = sum(lengths) / len(lengths)
    likeness = [
        sum(SequenceMatcher(None, choice, other).ratio() for other in choices) for choice in choices
    ]
    measures: dict[str, list[float]] = {
        "shortest": [-length for length in lengths],
        "longest text": list(lengths),
        "odd length": [abs(length - mean_length) for length in lengths],
        "odd one out": [-value for value in likeness],
        "most alike": likeness,
    }
    for guess, values in measures.items():
        yield (
            guess,
            [choice for choice, value in zip(choices, values, strict=True) if value == max(values)],
        )
    for place, choice in enumerate(choices):
        yield f"place {place + 1}", [choice]
    if answer_kind in ("number", "date"):
        for place, choice in enumerate(sorted(choices, key=_size)):
            yield f"by size {place + 1}", [choice]


def _size(text: str) -> float:
    """Return a number, or a date at any precision, as a number."""
    for form in ("%d %B %Y", "%B %Y", "%Y"):
        try:
            return float(datetime.strptime(text, form).toordinal())
        except ValueError:
            continue
    return float(text)


def _table(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def _newest(build: Path, step: str) -> Path:
    """Return the folder of a step that was made last."""
    return max(build.glob(f"{step}-*"), key=lambda folder: folder.stat().st_mtime)
