"""Alignment: which names are found in a page, the rules, stated dates, files, and pairs kept."""

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.text.dates import dates_in
from factdrift.builders.text.names import all_names
from factdrift.builders.text.sentences import sentence_starts
from factdrift.builders.text.words import fold_in_place
from factdrift.builders.timeqa.alignment import (
    DROPPED_ORDER,
    Alignment,
    align_file,
    align_page,
    keep_pairs,
)
from factdrift.builders.timeqa.evidence import ObjectWords, PageStates
from factdrift.builders.timeqa.mentions import PageText
from tests import alignment_figures as measure
from tests.conftest import DATA
from tests.dumps import rows as read
from tests.histories import Interval, day, parquet
from tests.tables import column_of, columns_of, names_of, read_table

ALIGNMENT = Alignment()
BASE = names_of(fields(rows.Segment))
UNKNOWN: Interval = (None, None)
MARKED = DATA / "timeqa/human_annotated_train.json.gz"
KINDS: dict[str, rows.ParagraphKind] = {"*": "list", "|": "table", "!": "infobox"}


def page(text: str, item: str = "Q1") -> rows.Page:
    """A page of lines: `= section`, `* list`, `| table`, `! infobox`, `[[Target|shown]]`."""
    section = ""
    paragraphs = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line[0] == "=":
            section = line[2:]
            continue
        kind = KINDS.get(line[0], "text")
        body, plain, links = line[2:] if kind != "text" else line, "", []
        for piece in re.split(r"(\[\[.*?\]\])", body):
            if piece.startswith("[["):
                target, _, link_text = piece[2:-2].partition("|")
                links.append(rows.Link(len(plain), len(plain + (link_text or target)), target))
                piece = link_text or target
            plain += piece
        paragraphs.append(rows.Paragraph(kind, section, plain, tuple(links)))
    return rows.Page(item, "Subject", 7, 8, tuple(paragraphs))


def segment(start: str | None = None, end: str | None = None, of: str = "Q2") -> rows.Segment:
    """A segment; no `end`: open; an empty one: ended on an unknown day."""
    begins, ends = (day(text) if text else UNKNOWN for text in (start, end))
    is_open = end is None
    return rows.Segment(
        "Q1", "P54", of, *begins, *ends, is_open, False, False, ("Q1$a",), date(2022, 9, 15)
    )


class Names(NamedTuple):
    """The names of an object."""

    label: str
    aliases: tuple[str, ...]
    title: str | None


def align(
    text: str, pairs: Sequence[tuple[rows.Segment, Names]], settings: Alignment = ALIGNMENT
) -> list[rows.AlignedSegment]:
    """Segments aligned with the page of a text."""
    return align_page(page(text), [_named(*pair) for pair in pairs], settings)


def _named(segment_row: rows.Segment, names: Names) -> rows.NamedSegment:
    base = {name: getattr(segment_row, name) for name in BASE}
    name_columns = {
        "object_label": names.label,
        "aliases": names.aliases,
        "object_title": names.title,
    }
    return rows.NamedSegment(**base, **name_columns)  # type: ignore[arg-type]


LEEDS = Names("Leeds United F.C.", ("LUFC", "The Whites"), "Leeds United F.C.")
ANSWERS = {True: "yes", False: "no", None: ""}
TIERS: tuple[rows.EvidenceTier, ...] = ("none", "one", "both")


def _names(text: str) -> Names:
    """`label | alias | alias → title`."""
    label_and_aliases, _, title = text.partition(" → ")
    label, *aliases = label_and_aliases.split(" | ")
    return Names(label, tuple(aliases), title or None)


@pytest.mark.parametrize("case", read_table("alignment_cases"), ids=lambda case: case[0] or case[4])
def test_one_segment_and_its_page(case: tuple[str, ...]) -> None:
    _, names, start, end, text, *expected = case
    segment_row = segment(start or None, None if end == "open" else end)
    [row] = align(text, [(segment_row, _names(names) if names else LEEDS)])
    stated_answers = [ANSWERS[row.start_stated], ANSWERS[row.end_stated]]
    place = "" if row.paragraph is None else str(row.paragraph)
    results = [row.rule, place, row.mention or "", *stated_answers, ANSWERS[row.contradicted]]
    assert results == expected
    assert row.evidence == TIERS[stated_answers.count("yes")]
    assert (row.page, row.revision, row.verification) == (7, 8, "automatic")
    assert (row.score is not None) == (row.rule == "similar")
    if row.paragraph is not None:
        assert page(text).paragraphs[row.paragraph].text[row.start : row.end] == row.mention


SEVERAL: dict[str, tuple[str, list[str]]] = {
    "each its own": (
        "He joined Leeds United in 2003. He rejoined Leeds United in 2012.", ["0:10", "0:44"]),
    "whatever the order": (
        "He rejoined Leeds United in 2012. He joined Leeds United in 2003.", ["0:44", "0:12"]),
    "rows of a table": (
        "| 2003–2005; Leeds United\n| 2012–2014; Leeds United", ["0:11", "1:11"]),
    "seasons in headings": (
        "= Career / 2003–2005\nHe joined Leeds United.\n= Career / 2012\nHe joined Leeds United.",
        ["0:10", "1:10"]),
    "one mention for two": (
        "He was with Leeds United from 2003 to 2005 and from 2012 to 2014.", ["0:12", "0:12"]),
    "a mention without dates": ("He was twice with Leeds United.", ["0:18", "0:18"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SEVERAL.values(), ids=SEVERAL)
def test_two_segments_of_one_object(text: str, expected: list[str]) -> None:
    both = [(segment("2003", "2005"), LEEDS), (segment("2012", "2014"), LEEDS)]
    assert [f"{row.paragraph}:{row.start}" for row in align(text, both)] == expected


NAMING: list[tuple[str, str, str, Names, set[int]]] = [
    ("the label, an alias, a surname",
     "Ann Smith.\nSmith led.\nNobody.\nThe Chief came.", "Bo Lee",
     Names("Ann Smith", ("The Chief",), None), {0, 1, 3}),
    ("another form", "The Province of Hanover.\nHull.", "Bo Lee",
     Names("Hanover", (), None), {0}),
    ("initials", "At the CWI.\nHull.", "Bo Lee",
     Names("Centrum Wiskunde & Informatica", (), None), {0}),
    ("not a kind of things, nor a word of the subject",
     "The University of Hull.\nThe University of Leeds.", "Hull Museum",
     Names("University of Leeds", (), None), {1}),
    ("all of a label without such words", "The party began.\nThe new party of old.", "Bo Lee",
     Names("The New Party", (), None), {1}),
    ("what a link leads to", "He joined [[Leeds United F.C.|them]].\nHull.", "Bo Lee", LEEDS, {0}),
    ("a section's title", "= Leeds\nHe played.\n= Hull\nHe played.", "Bo Lee", LEEDS, {0}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "subject", "names", "expected"),
    [name[1:] for name in NAMING],
    ids=[name[0] for name in NAMING],
)
def test_paragraphs_that_may_name_an_object(
    text: str, subject: str, names: Names, expected: set[int]
) -> None:
    [row] = align(text, [(segment("2003", "2005"), names)])
    assert PageStates(PageText(page(text))).naming(ObjectWords(row, subject)) == expected


def test_the_days_that_a_page_states() -> None:
    text = (
        "Ann Lee (1950-2020) sang.\nHe joined Leeds United in 2003. He was born in 1998.\n"
        "In 1990 he sang, since 1992 well.\nIn the 1980s he slept.\n= Clubs\n* Hull, 1999\n"
        "* Leeds United, 2003\n= Other\n* 1991"
    )
    states = PageStates(PageText(page(text)))
    [row] = align(text, [(segment("2003", "2005"), LEEDS)])
    assert [first.year for first, _ in states.dates_near_evidence([row])] == [
        1990,
        1992,
        1992,
        2003,
    ]
    listed_row = replace(row, paragraph=5)
    assert [first.year for first, _ in states.dates_near_evidence([listed_row])] == [1999, 2003]
    assert states.lengths == (4, 11, 7, 5, 2, 3, 1)


def test_a_name_of_two_objects_is_no_name() -> None:
    hull, leeds = segment(of="Q3"), segment(of="Q2")
    both = [
        (leeds, Names("Leeds United F.C.", ("United",), None)),
        (hull, Names("Hull United F.C.", ("United",), None)),
    ]
    results = align("He joined United.", both)
    assert [row.rule for row in results] == ["none", "none"]
    [single_mention] = align("He joined United.", both[:1])
    assert single_mention.rule == "name"


def test_similarity_has_a_threshold() -> None:
    text, object_names = "* University of Upper Leuna", Names("University of Lower Leuna", (), None)
    low = align(text, [(segment(), object_names)], Alignment(min_similarity=0.1))[0]
    high = align(text, [(segment(), object_names)], Alignment(min_similarity=0.99))[0]
    assert (low.rule, high.rule) == ("similar", "none")
    assert low.score is not None
    assert 0.5 < low.score < 1


def test_the_cosine_by_hand() -> None:
    """Two passages, three words a name: the weights are ln(3/3)+1 = 1 and ln(3/2)+1 = 1.405."""
    omega = Names("alpha beta omega", (), None)
    [row] = align("* alpha beta gamma\n* alpha delta", [(segment(), omega)])
    seen_weight, once, never = 1.0, 1.4054651081, 2.0986122887
    dot = seen_weight**2 + once**2
    length = (seen_weight**2 + once**2 + never**2) ** 0.5 * (seen_weight**2 + 2 * once**2) ** 0.5
    assert row.score == pytest.approx(dot / length, abs=1e-6)
    assert (row.paragraph, row.mention) == (0, "alpha beta")


@pytest.mark.slow
@pytest.mark.skipif(not MARKED.is_file(), reason=f"no {MARKED}; set FACTDRIFT_DATA")
def test_what_people_marked_is_found() -> None:
    counts = measure.counted(MARKED)
    both = counts["develop"] + counts["held back"]
    assert both["answers"] > 1000
    assert both["any"] > 0.97 * both["answers"]
    assert both["nearest: top 1"] > 0.84 * both["answers"]
    assert both["recurring: top 1"] > 0.64 * both["recurring"]


def test_the_measure_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = (
        '[{"link": "/wiki/X", "type": "P54", "paras": ["X", "He played for A . B . Town , in '
        '2003 ."], "questions": [["Who did X play for in 2003?", [{"para": 1, "from": 14, '
        '"end": 24, "answer": "A . B . Town"}]]]}]'
    )
    file = tmp_path / "marked.json"
    file.write_text(record.replace('"end": 24', '"end": 26'))
    measure.main(file)
    printed_table = capsys.readouterr().out
    assert re.search(r"exact span +\d+ +[\d.]+% +\d+ +[\d.]+% +1 100\.0%", printed_table)


@pytest.mark.parametrize(("label", "text", "expected"), read_table("names_in_pages"))
def test_names(label: str, text: str, expected: str) -> None:
    paragraphs = (rows.Paragraph("text", "", "Não é.", ()), rows.Paragraph("text", "", text, ()))
    results = PageText(rows.Page("Q1", "T", 1, 1, paragraphs)).named_mentions(
        all_names(label, (), None), None
    )
    for mention in results:
        assert mention.paragraph == 1
    assert "; ".join(text[mention.start : mention.end] for mention in results) == expected


def test_folding_keeps_the_length() -> None:
    text = "".join(
        map(chr, [*range(32, 0x3000), *range(0xFB00, 0x10000), *range(0x1D400, 0x1D800)])
    )
    text = "".join(character for character in text if not "\ud800" <= character <= "\udfff")
    assert len(fold_in_place(text)) == len(text)
    assert fold_in_place("Łódź ÉCOLE İstanbul") == "lodz ecole istanbul"


@pytest.mark.parametrize(("text", "expected", "stretches"), read_table("date_cases"))
def test_dates(text: str, expected: str, stretches: str) -> None:
    results = dates_in(f"It was {text}.")
    assert (
        " ".join(written(date_mention.first, date_mention.last) for date_mention in results.written)
        == expected
    )
    for date_mention in results.written:
        assert f"It was {text}."[date_mention.start : date_mention.end].strip()
    first = {
        date_mention.first: written(*date_mention[2:]) for date_mention in reversed(results.written)
    }
    last = {
        date_mention.last: written(*date_mention[2:]) for date_mention in reversed(results.written)
    }
    ends = [
        f"{first.get(stretch.first, '..')}/{last.get(stretch.last, '..')}"
        for stretch in results.stretches
    ]
    assert " ".join(ends) == stretches


def written(first: date, last: date) -> str:
    """A date at its precision; `199X` is a decade."""
    if (last - first).days > 366:
        return f"{first.year // 10}X"
    return next(
        form for form in (f"{first:%Y}", f"{first:%Y-%m}", str(first)) if day(form) == (first, last)
    )


def test_sentences() -> None:
    text = "He met Dr. A. Smith at U.S. Steel. Then he left! It ended in Jan. 2003."
    starts = sentence_starts(text)
    assert [text[stretch:].split()[0] for stretch in starts] == ["He", "Then", "It"]


def named(subject: str, object_id: str, label: str) -> rows.NamedSegment:
    segment_row = _named(segment("2003", "2009", object_id), Names(label, (), None))
    return replace(segment_row, subject=subject, statements=(f"{subject}${object_id}",))


def made(folder: Path, count: int) -> tuple[Path, Path]:
    """Pages of some of `count` subjects, of Q9 before Q10, and segments of others too."""
    rng = random.Random(3)
    pages, segments = [], []
    for name in range(1, count + 1):
        clubs = rng.sample(["Leeds United", "Hull City", "Aston Villa", "Bury"], 3)
        if rng.random() < 0.8:
            text = (
                f"Subject {name}.\nHe was with {clubs[0]} from 2003 to 2009.\n* {clubs[1]} (2003)"
            )
            pages.append(page(text, f"Q{name}"))
        if rng.random() < 0.8:
            segments += [
                named(f"Q{name}", f"Q{club_number}", club) for club_number, club in enumerate(clubs)
            ]
    return (
        parquet(folder / "pages.parquet", rows.Page, pages, 7),
        parquet(folder / "segments.parquet", rows.NamedSegment, segments, 11),
    )


def test_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 120)
    for jobs in (1, 2):
        align_file(pages, segments, tmp_path / str(jobs), Alignment(), jobs)
    for name in ("aligned.parquet", "dropped.parquet"):
        segment_row, two = ((tmp_path / str(job_count) / name).read_bytes() for job_count in (1, 2))
        assert segment_row == two
    results, dropped_rows = (
        read(tmp_path / "1" / f"{table_name}.parquet") for table_name in ("aligned", "dropped")
    )
    known_subjects, expected = set(column_of(read(pages), "item")), read(segments)
    assert [{table_name: row[table_name] for table_name in BASE} for row in results] == [
        {table_name: stretch[table_name] for table_name in BASE}
        for stretch in expected
        if stretch["subject"] in known_subjects
    ]
    left_segments = [stretch for stretch in expected if stretch["subject"] not in known_subjects]
    assert columns_of(dropped_rows, "step", "reason", "item", "detail") == [
        (
            "align",
            "no_page",
            f"{stretch['subject']}/P54/{stretch['object']}",
            stretch["statements"][0],
        )
        for stretch in left_segments
    ]
    assert min(len(results), len(dropped_rows)) > 20
    assert column_of(results, "rule") == ["name", "name", "none"] * (len(results) // 3)


EDGES: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    ("no pages", [], ["Q1", "Q2"], [], ["Q1", "Q2"]),
    ("no segments", ["Q1"], [], [], []),
    ("before, between and after", ["Q5", "Q10"], ["Q4", "Q5", "Q7", "Q10", "Q11"], ["Q5", "Q10"],
     ["Q4", "Q7", "Q11"]),
    ("by number", ["Q9", "Q10"], ["Q9", "Q10"], ["Q9", "Q10"], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("items", "subjects", "aligned_subjects", "left_segments"),
    [edge_case[1:] for edge_case in EDGES],
)
def test_edges(
    tmp_path: Path,
    items: list[str],
    subjects: list[str],
    aligned_subjects: list[str],
    left_segments: list[str],
) -> None:
    pages = parquet(tmp_path / "p", rows.Page, [page("Text.", item_id) for item_id in items])
    ones = [named(stretch, "Q1", "Hull") for stretch in subjects]
    segments = parquet(tmp_path / "s", rows.NamedSegment, ones)
    align_file(pages, segments, tmp_path / "out", Alignment())
    assert column_of(read(tmp_path / "out/aligned.parquet"), "subject") == aligned_subjects
    assert column_of(read(tmp_path / "out/dropped.parquet"), "subject") == left_segments


def kept(
    duck: Engine, folder: Path, pairs: dict[tuple[str, str], str], cap: int | None, seed: int = 1
) -> tuple[set[tuple[str, str]], dict[str, tuple[str, float, str]]]:
    """Pairs that stay and drops, of pairs given by the first letters of their segments' rules."""
    names: dict[str, rows.AlignmentRule] = {
        "l": "link", "n": "name", "s": "similar", "-": "none",
    }  # fmt: skip
    path = folder / "aligned.parquet"
    [bare] = align("Nothing.", [(segment(), LEEDS)])
    some = [
        replace(
            bare, subject=subject, relation=relation, object=f"Q{club_number}", rule=names[letter]
        )
        for (subject, relation), rules in pairs.items()
        for club_number, letter in enumerate(rules)
    ]
    parquet(path, rows.AlignedSegment, some)
    settings = Alignment(pairs_per_relation=cap)
    segments, dropped_rows = keep_pairs(duck.read(path, rows.AlignedSegment), settings, seed)
    duck.write(dropped_rows, folder / "d.parquet", rows.Dropped, DROPPED_ORDER)
    order = ("subject", "relation", "object")
    duck.write(segments, folder / "k.parquet", rows.AlignedSegment, order)
    left_segments = set(columns_of(read(folder / "k.parquet"), "subject", "relation"))
    assert sum(len(pairs[page_row]) for page_row in left_segments) == len(
        read(folder / "k.parquet")
    )
    drops = read(folder / "d.parquet")
    assert set(column_of(drops, "step")) <= {"align"}
    return left_segments, {
        drop["item"]: (drop["reason"], drop["score"], drop["detail"]) for drop in drops
    }


def test_more_than_half_missing(duck: Engine, tmp_path: Path) -> None:
    pairs = {("Q1", "P54"): "l-", ("Q2", "P54"): "n--", ("Q3", "P54"): "-", ("Q4", "P6"): "sln"}
    left_segments, drops = kept(duck, tmp_path, pairs, None)
    assert left_segments == {("Q1", "P54"), ("Q4", "P6")}
    assert drops == {
        "Q2/P54": ("not_in_page", pytest.approx(2 / 3), "2 of 3 segments are not in the page"),
        "Q3/P54": ("not_in_page", 1.0, "1 of 1 segments are not in the page"),
    }


def test_a_relation_is_cut_to_its_cap_by_hash(duck: Engine, tmp_path: Path) -> None:
    pairs = {(f"Q{name}", "P54"): "l" for name in range(40)} | {
        ("Q7", "P6"): "n",
        ("Q8", "P54"): "--",
    }
    left_segments, drops = kept(duck, tmp_path, pairs, 10, seed=5)

    def chance(subject: str) -> str:
        return hashlib.sha256(f"5\t{subject}\tP54".encode()).hexdigest()

    good = [f"Q{name}" for name in range(40) if name != 8]
    assert left_segments == {(stretch, "P54") for stretch in sorted(good, key=chance)[:10]} | {
        ("Q7", "P6")
    }
    assert drops["Q8/P54"][0] == "not_in_page"
    assert [row for row, *_ in drops.values()].count("over_cap") == 29
    other_pairs, _ = kept(duck, tmp_path, pairs, 10, seed=6)
    assert other_pairs != left_segments
