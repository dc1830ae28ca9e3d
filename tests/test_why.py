"""`factdrift why`: what stands behind a row is found, drawn, said; planted mistakes are told."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, Input, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import Workspace
from factdrift.builders.core.tidy import note_use
from factdrift.builders.release.manifest import load_manifest, own_sha256
from factdrift.builders.release.publish import write_release
from factdrift.builders.release.why.drawing import WIDTH, bar, span_of, svg, year_line
from factdrift.builders.release.why.explain import Explanation, WhySources, explain
from factdrift.builders.release.why.histories import AskedTime, FactHistory, Term, item_address
from factdrift.builders.release.why.tables import build_folder
from factdrift.builders.release.why.texts import readable_article
from factdrift.builders.release.why.words import days_text, lines, plain_data, stretch_text
from factdrift.builders.rows import Answer, Dropped, Entity, Segment, Statement
from factdrift.builders.wmt.index import index_archive
from factdrift.builders.wmt.read import read_articles
from tests.conftest import ROOT, run_cli
from tests.plain_articles import write_plain_news
from tests.release_sample import SAMPLED, Sample, cloze, from_rows, meta, segment
from tests.tables import read_table

CASES = read_table("why")
HOSTILE = "\x1b[31mred\u202e<b>&\"'"
"""A label of a stranger: it colours a terminal, turns text around, and is markup."""


def day(text: str) -> date:
    return date.fromisoformat(text)


def day_or_none(text: str | None) -> date | None:
    return day(text) if text else None


def club(club_number: int) -> Answer:
    return Answer(f"Q{club_number}", f"Club {club_number}", ())


def term_of(club_number: int, start: str, end: str | None, **changes: Any) -> Segment:
    """Person 1 played for club `club_number` from one day to another."""
    last = day(end or "2026-02-02")
    dates = {"start_first": day(start), "start_last": day(start)}
    values = {"subject": "Q1", "object": f"Q{club_number}", "statements": (f"Q1${club_number}",)}
    ends = {"end_first": last, "end_last": last, "end_open": end is None}
    return segment(1, **{**values, **dates, **ends, **changes})


TERMS = (
    term_of(10, "2015-07-01", "2021-06-30"),
    term_of(11, "2021-07-01", "2022-12-31"),
    term_of(12, "2023-01-01", None),
)
ROW = cloze(
    1,
    "updated",
    id="aaaa000000000001",
    answers=(club(11),),
    targets=("Club 11",),
    previous_answers=(club(10),),
    added=("Q11",),
    removed=("Q10",),
)


def release_of(
    folder: Path,
    *clozes: Any,
    terms: tuple[Segment, ...] = TERMS,
    more_drops: Sequence[Dropped] = (),
) -> Path:
    """A release of clozes with their timelines, and one comparison that was left out."""
    drops = [
        Dropped("diff", "possible_holder", "Q1/P54/2022Q4", "Q1", "P54", "2022Q4", None, "Q11"),
        Dropped("mine", "contradictory", "Q1$99", "Q1", "P54", None, None, "P580 2031"),
        Dropped("length", "too_long", "bbbb000000000002", None, None, None, 0.5, "many words"),
        *more_drops,
    ]
    tables = [Table("updated", rows.Cloze, "Rows.", {"2021Q3": from_rows(rows.Cloze, clozes)})]
    if terms:
        tables.append(Table("timelines", Segment, "Terms.", {"full": from_rows(Segment, terms)}))
    dataset = Dataset(tuple(tables), dropped=(from_rows(Dropped, drops),))
    return write_release(dataset, meta(Sample({})), folder, "1.0.0").folder


def statement(number: int, **changes: Any) -> Statement:
    values: dict[str, Any] = {
        "statement": f"Q1${number}",
        "subject": "Q1",
        "relation": "P54",
        "object": f"Q{number}",
        "start_first": day("2015-07-01"),
        "start_last": day("2015-07-01"),
        "end_first": None,
        "end_last": None,
        "end_open": True,
        "sighting": False,
        "rank": "normal",
        "reason": None,
        "kind": None,
        "snapshot": day("2026-02-02"),
    }
    return Statement(**{**values, **changes})


def stated_days(start: str, end: str) -> dict[str, Any]:
    """The columns of a stretch with exact days."""
    starts = {"start_first": day(start), "start_last": day(start)}
    return {**starts, "end_first": day(end), "end_last": day(end), "end_open": False}


def entity(name: str, label: str, **changes: Any) -> Entity:
    return replace(Entity(name, label, (), None, 1, 1, 1), **changes)


def build_of(folder: Path, release: Path, *entities: Entity) -> Path:
    """A build folder with a mined dump that the release was made from."""
    mined = folder / "mine-0123456789abcdef"
    mined.mkdir(parents=True)
    no_days = {"start_first": None, "start_last": None}
    mined_statements = [
        statement(10, **stated_days("2015-07-01", "2021-06-30")),
        statement(11, rank="preferred", **stated_days("2021-07-01", "2022-12-31")),
        statement(99, reason="contradictory", **no_days),
    ]
    write_sorted(mined / "statements.parquet", Statement, mined_statements, "statement")
    write_sorted(mined / "entities.parquet", Entity, entities, "id")
    (mined / "mined.json").write_text('{"snapshot": "2026-02-02"}')
    (folder / "used").mkdir()
    note = {"release": str(release.resolve()), "steps": ["0123456789abcdef"]}
    (folder / "used/sample.json").write_text(json.dumps(note))
    return folder


PEOPLE = (
    entity("Q1", "Person 1", began_first=day("1990-01-01"), began_last=day("1990-12-31")),
    *(entity(f"Q{number}", f"Club {number}") for number in (10, 11, 12, 99)),
    entity("P54", "member of sports team"),
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_of(tmp_path_factory.mktemp("why"), ROW)


@pytest.fixture(scope="module")
def build(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_of(tmp_path_factory.mktemp("build") / "build", release, *PEOPLE)


def wrong(explanation: Explanation) -> list[str]:
    return [check.words for check in explanation.checks if not check.agrees]


def test_a_row_with_all_that_is_behind_it(release: Path, build: Path) -> None:
    explanation = explain(ROW.id, release, WhySources(build))
    assert wrong(explanation) == [] and explanation.missing == ()
    (history,) = explanation.histories
    assert (history.subject_label, history.relation_label) == ("Person 1", "member of sports team")
    assert history.address == "https://www.wikidata.org/wiki/Q1#P54"
    assert [term.holds for term in history.terms] == ["not", "surely", "not"]
    assert {(line.statement, line.rank, line.reason) for line in history.statements} == {
        ("Q1$10", "normal", None),
        ("Q1$11", "preferred", None),
        ("Q1$99", "normal", "contradictory"),
    }
    text = "\n".join(lines(explanation))
    for words in CASES["said of the row"]:
        assert words in text
    assert plain_data(explanation)["histories"][0]["terms"][1]["start_first"] == "2021-07-01"


def test_without_the_build_the_release_tells_what_it_has(release: Path, tmp_path: Path) -> None:
    explanation = explain(ROW.id, release, WhySources(tmp_path / "none"))
    assert [term.object for term in explanation.histories[0].terms] == ["Q10", "Q11", "Q12"]
    assert wrong(explanation) == []
    (missing,) = explanation.missing
    assert "ranks, gaps and lives" in missing and "--dump mined" in missing


def test_a_build_of_another_release_gives_its_mined_dump(
    release: Path, build: Path, tmp_path: Path
) -> None:
    """The tables of a dump are the same for all releases; other steps are not."""
    moved = Path(shutil.copytree(release, tmp_path / "moved"))
    assert explain(ROW.id, moved, WhySources(build)).histories[0].statements
    mined_folder = str(next(build.glob("mine-*")))
    explained = explain(ROW.id, release, WhySources(tmp_path, mined=[mined_folder]))
    assert explained.histories[0].statements and explained.missing == ()
    with pytest.raises(UserError, match="no mined folder") as error:
        explain(ROW.id, release, WhySources(tmp_path, mined=["dump.json.gz"]))
    assert "factdrift mine dump.json.gz" in str(error.value)


def test_the_steps_of_an_older_release_are_found(tmp_path: Path) -> None:
    """A newer version in the same build folder leaves them where they are."""
    older, newer, build = (tmp_path / name for name in ("r/d/1.0.0", "r/d/2.0.0", "build"))
    release_of(tmp_path / "made", ROW, terms=())
    for folder in (older, newer):
        shutil.copytree(tmp_path / "made/sample/1.0.0", folder)
    (newer / "manifest.json").write_text((older / "manifest.json").read_text() + "\n")
    build_of(build, older, *PEOPLE)
    steps = {older: "timelines-1111111111111111", newer: "timelines-2222222222222222"}
    for folder, step in steps.items():
        (build / step).mkdir()
        terms = TERMS if folder == older else TERMS[:1]
        write_sorted(build / step / "timelines.parquet", Segment, terms, "statements")
        note_use(build, "sample", folder, [step[-16:], "0123456789abcdef"], own_sha256(folder))
    for folder, step in steps.items():
        explanation = explain(ROW.id, folder, WhySources(build))
        assert explanation.histories[0].terms_from == f"{step}/timelines.parquet"
        assert explanation.missing == ()
    shutil.rmtree(build / steps[older])  # as `factdrift clean` does
    (missing,) = explain(ROW.id, older, WhySources(build)).missing
    assert f"factdrift rebuild {older} --build {build}" in missing


def test_the_build_beside_the_releases_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`factdrift quick` makes both in a folder of its own; the one that was used goes first."""
    release_folder = release_of(tmp_path / "quick/releases", ROW)
    monkeypatch.chdir(tmp_path)
    relative_folder = release_folder.relative_to(tmp_path)
    assert build_folder(relative_folder) == Path("build")
    (tmp_path / "build").mkdir()
    build_of(tmp_path / "quick/build", release_folder, *PEOPLE)
    assert build_folder(relative_folder) == Path("quick/build")
    assert build_folder(release_folder) == tmp_path / "quick/build"


def test_all_that_was_seen_is_named_and_marked(tmp_path: Path) -> None:
    drop = Dropped("diff", "rival_holders", "Q1/P54/2022Q3", "Q1", "P54", "2022Q3", None, "Q11 Q10")
    release_folder = release_of(tmp_path / "r", ROW, more_drops=[drop])
    build_of(tmp_path / "build", release_folder, *PEOPLE)
    explanation = explain("Q1/P54/2022Q3", release_folder, WhySources(tmp_path / "build"))
    text = "\n".join(lines(explanation))
    assert "what was seen  Q11 Club 11, Q10 Club 10\n" in text
    seen = re.findall(r"(Club [0-9]+): .* <- seen: (.*)", text)
    assert seen == [("Club 10", "NOT in 2022Q2"), ("Club 11", "surely then")]


def planted_row(place: int, row_changes: Mapping[str, Any]) -> Any:
    changes = {**row_changes, "id": f"cccc{place:012}"}
    for column in ("answers", "previous_answers"):
        if column in changes:
            changes[column] = tuple(Answer(item, label, ()) for item, label in changes[column])
    for column in ("targets", "added", "removed"):
        if column in changes:
            changes[column] = tuple(changes[column])
    if "period_last" in changes:
        changes["period_last"] = day(changes["period_last"])
    return replace(ROW, **changes)


@pytest.fixture(scope="module")
def planted_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    planted_rows = [planted_row(place, case["row"]) for place, case in enumerate(CASES["planted"])]
    return release_of(tmp_path_factory.mktemp("planted"), *planted_rows)


@pytest.mark.parametrize("place", range(len(CASES["planted"])))
def test_a_planted_mistake_is_told(place: int, planted_release: Path, build: Path) -> None:
    told = wrong(explain(f"cccc{place:012}", planted_release, WhySources(build)))
    assert any(CASES["planted"][place]["told"] in words for words in told), told


def test_a_term_that_is_not_as_its_statement(tmp_path: Path) -> None:
    """The time line and the row may be wrong together: the statement tells it."""
    terms = (TERMS[0], term_of(11, "2020-07-01", "2022-12-31"), TERMS[2])
    released = release_of(tmp_path, ROW, terms=terms)
    told = wrong(explain(ROW.id, released, WhySources(build_of(tmp_path / "b", released, *PEOPLE))))
    assert "the term of “Club 11” (Q11) begins on 2020-07-01, its statement on 2021-07-01" in told


def test_a_file_that_was_changed_later_is_told(tmp_path: Path) -> None:
    released = release_of(tmp_path, ROW)
    path = released / "data/updated/2021Q3.parquet"
    pq.write_table(pq.read_table(path), path)
    assert any(
        "was changed since" in words for words in wrong(explain(ROW.id, released, WhySources()))
    )


def test_what_was_left_out(release: Path, build: Path) -> None:
    sources = WhySources(build)
    comparison = explain("Q1/P54", release, sources)
    (left_out,) = comparison.left_out
    assert left_out.reason == "possible_holder" and left_out.detail_labels == {"Q11": "Club 11"}
    assert comparison.asked_time and comparison.asked_time.words == "in 2022Q4"
    assert "<- seen: surely then" in "\n".join(lines(comparison))
    gap = "\n".join(lines(explain("Q1$99", release, sources)))
    assert "Its parts contradict each other" in gap and "no fact but a gap" in gap
    by_filter = "\n".join(lines(explain("bbbb000000000002", release, sources)))
    assert "step length" in by_filter and "many words" in by_filter and "0.5" in by_filter


def test_ids_that_are_none(release: Path) -> None:
    with pytest.raises(UserError, match="ids that begin so: aaaa000000000001"):
        explain("aaaa000000000002", release, WhySources())
    with pytest.raises(UserError, match="was left out"):
        explain("", release, WhySources())
    with pytest.raises(UserError, match="there are updated, timelines"):
        explain(ROW.id, release, WhySources(), "nothing")


def test_a_strangers_labels_are_text(tmp_path: Path) -> None:
    """A terminal gets no control characters, and a picture no markup."""
    row = replace(ROW, answers=(Answer("Q11", HOSTILE, ()),), subject_label=HOSTILE)
    released = release_of(tmp_path, row)
    build = build_of(tmp_path / "build", released, entity("Q11", HOSTILE), entity("Q1", HOSTILE))
    words = (ROW.id, released, "--build", build)
    printed = run_cli("why", *words, "--svg", tmp_path / "why.svg").stdout
    assert "\x1b" not in printed and "\u202e" not in printed and "\\x1b[31mred" in printed
    told = run_cli("why", *words, "--json").stdout
    assert "\x1b" not in told and "\u202e" not in told
    assert json.loads(told)["items"][0]["label"] == HOSTILE
    drawn = ElementTree.parse(tmp_path / "why.svg").getroot()
    texts = [element.text or "" for element in drawn.iter() if element.tag.endswith("text")]
    assert any("red" in text and "<b>" in text for text in texts)
    assert {element.tag.rpartition("}")[2] for element in drawn.iter()} == {
        *("svg", "title", "rect", "text")
    }


@dataclass(frozen=True, slots=True)
class StrangeRow:
    """A row of somebody's package, whose columns have our names and hold something else."""

    id: Annotated[str, "id"]
    prompt: Annotated[str, "prompt"]
    targets: Annotated[tuple[str, ...], "targets"]
    subject: Annotated[int, "a number"]
    relation: Annotated[tuple[str, ...], "several"]
    statements: Annotated[tuple[int, ...], "numbers"]
    still_true: Annotated[tuple[str, ...], "texts"]
    answers: Annotated[str, "a text"]
    answer_ids: Annotated[str, "a text"]
    choices: Annotated[tuple[int, ...], "numbers"]
    answer_index: Annotated[int, "beyond them"]
    period: Annotated[str, "no period"]
    period_last: Annotated[str, "a text"]
    split: Annotated[tuple[str, ...], "a list"]
    time_first: Annotated[str, "a text"]
    time_last: Annotated[int, "a number"]
    as_of: Annotated[str, "a text"]
    asked_on: Annotated[date, "a day"]
    evidence: Annotated[tuple[str, ...], "texts"]
    evidence_id: Annotated[str, "no article"]
    filters: Annotated[tuple[str, ...], "of nobody"]
    start_first: Annotated[int, "a number"]
    object_label: Annotated[str, "a label"]


def test_a_row_of_a_package_gets_at_least_the_shared_part(tmp_path: Path) -> None:
    row = StrangeRow(
        *("eeee000000000001", "Who?", ("Ann",), 3, ("P1",), (1, 2), ("x",), "Ann", "Q1", (4, 5)),
        *(9, "someday", "later", ("a",), "then", 5, "now", day("2020-01-01"), ("it is so",)),
        *("an-article", ("no-such-filter",), 7, "Label"),
    )
    tables = (Table("own", StrangeRow, "R.", {"test": from_rows(StrangeRow, [row])}),)
    released = write_release(Dataset(tables), meta(Sample({})), tmp_path, "1.0.0").folder
    text = "\n".join(lines(explain(row.id, released, WhySources(tmp_path / "none"))))
    assert "Who?" in text and "no-such-filter" in text and "someday" not in text


# --- Words and drawings --------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "last", "words"), CASES["days"])
def test_days_at_their_precision(first: str | None, last: str | None, words: str) -> None:
    assert days_text(day_or_none(first), day_or_none(last)) == words


def test_a_made_up_item_has_no_page_and_a_stretch_has_one_pair_of_ends() -> None:
    assert item_address("Q900000000", "P6") == ""
    assert item_address("Q899999999", "P54-club").endswith("/Q899999999#P54")
    vague_start = "between 2018-01-01 and 2018-10-29"
    assert stretch_text(vague_start, "2018-10-29") == f"a day {vague_start} until 2018-10-29"
    assert stretch_text("2018", "no end") == "2018 to no end"


def drawn(start: tuple[str | None, str | None], end: tuple[str | None, str | None]) -> Term:
    days = [day_or_none(text) for text in (*start, *end)]
    return Term(
        "Q1", "One", days[0], days[1], days[2], days[3], False, False, False, None, None, ()
    )


def test_a_bar_tells_what_is_sure_from_what_may_be() -> None:
    sure = drawn(("2000-01-01", "2000-01-01"), ("2009-12-31", "2009-12-31"))
    coarse = drawn(("2004-01-01", "2005-12-31"), ("2009-12-31", "2009-12-31"))
    unknown = drawn((None, None), ("2004-12-31", "2004-12-31"))
    span = span_of([sure, coarse], None)
    assert span is not None
    assert bar(sure, span) == "█" * WIDTH
    drawing = bar(coarse, span)
    assert drawing.strip() == "░" * drawing.count("░") + "█" * drawing.count("█")
    assert 7 <= drawing.count("░") <= 10 and drawing.startswith(" " * 16)
    assert bar(unknown, span).startswith("░░░")
    assert bar(replace(sure, rival=True), span) == "░" * WIDTH
    assert year_line(span).startswith("2000") and year_line(span).split() == sorted(
        {*year_line(span).split()}
    )
    assert span_of([drawn((None, None), (None, None))], None) is None


def test_a_picture_of_many_terms_stays_small() -> None:
    many = tuple(
        drawn((f"{year}-01-01", f"{year}-01-01"), (f"{year}-12-31", f"{year}-12-31"))
        for year in range(1500, 1900)
    )
    history = FactHistory("Q1", "One", "P6", "head", "", many, "timelines", (), (), ())
    picture = svg("Many", [history], AskedTime(day("1899-06-01"), day("1899-06-01"), "then"))
    assert picture.count("<text") < 60
    ElementTree.fromstring(picture)


# --- Texts ---------------------------------------------------------------------------------------


def news_release(folder: Path, article: rows.Article, archive: Path, **changes: Any) -> Path:
    """A release with what news became: questions of one article, and words to leave out."""
    answer = "about 24.5 percent"
    values: dict[str, Any] = {
        "id": "dddd000000000001",
        "evidence_id": article.id,
        "article_day": article.day,
        "questions": ("How much did Sinn Féin receive?",),
        "answers": (answer,),
        "generator": "drafts",
    }
    cloze_values: dict[str, Any] = {
        "id": "dddd000000000003",
        "prompt": "As of February 10, 2020: Sinn Féin received [BLANK] of the votes.",
        "targets": (answer,),
        "evidence_id": article.id,
        "article_day": article.day,
        "cloze": "Sinn Féin received [BLANK] of the votes.",
        "new_answer": answer,
        "answer_start": article.text.index(answer),
        "question": "How much?",
        "generated_question": "How much?",
        "prediction": None,
        "predictor": None,
        "doubts": (),
        "search": "",
    }
    asked_time = rows.ArticleQuestions(**{**values, **changes})
    words = rows.ArticleWords("dddd000000000002", article.id, article.day, ("Ireland", "Atlantis"))
    clozes = [rows.NewsCloze(**cloze_values)]
    clozes.append(replace(clozes[0], id="dddd000000000004", answer_start=3))
    tables = (
        Table(
            "questions",
            rows.ArticleQuestions,
            "Q.",
            {"full": from_rows(type(asked_time), [asked_time])},
        ),
        Table("words", rows.ArticleWords, "W.", {"full": from_rows(type(words), [words])}),
        Table("clozes", rows.NewsCloze, "C.", {"full": from_rows(rows.NewsCloze, clozes)}),
    )
    archive_input = Input(
        "news", archive.name, file_sha256(archive), archive.stat().st_size, "CC0-1.0"
    )
    release_meta = replace(meta(Sample({})), inputs=(archive_input,))
    return write_release(Dataset(tables), release_meta, folder, "1.0.0").folder


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    news = write_plain_news(tmp_path_factory.mktemp("news"))
    return next(news.glob("*.2020.*"))


@pytest.fixture(scope="module")
def article(archive: Path) -> rows.Article:
    index_archive([archive], archive.parent / "index")
    of_day = [("day", "=", day("2020-02-10"))]
    (reference,) = pq.read_table(
        archive.parent / "index/articles.parquet", filters=of_day
    ).to_pylist()
    return next(read_articles([archive], [reference["id"]]))


def test_an_article_with_its_spans(archive: Path, article: rows.Article, tmp_path: Path) -> None:
    released = news_release(tmp_path / "releases", article, archive)
    archive_sources = WhySources(tmp_path, news=[str(archive)])
    asked_time = explain("dddd000000000001", released, archive_sources)
    assert wrong(asked_time) == [] and asked_time.missing == ()
    assert ">>about 24.5 percent<<" in "\n".join(lines(asked_time))
    assert "How much did Sinn Féin receive? answer “about 24.5 percent”" in "\n".join(
        lines(asked_time)
    )
    assert wrong(explain("dddd000000000002", released, archive_sources)) == [
        "the text does not have “Atlantis” there"
    ]
    assert wrong(explain("dddd000000000003", released, archive_sources)) == []
    (told,) = wrong(explain("dddd000000000004", released, archive_sources))
    assert told.endswith("not “about 24.5 percent”")
    # without a build and an archive the words say which one to name
    (missing,) = explain("dddd000000000001", released, WhySources(tmp_path)).missing
    assert "--news" in missing and "2020" in missing


def test_an_archive_that_the_build_read_is_found(
    archive: Path, article: rows.Article, tmp_path: Path
) -> None:
    released = news_release(tmp_path / "releases", article, archive, article_day=day("2019-01-01"))
    workspace = Workspace(tmp_path / "build", print)
    workspace.root.mkdir()
    workspace.checksum(archive)
    explanation = explain("dddd000000000001", released, WhySources(workspace.root))
    assert explanation.texts[0].text == article.text
    assert wrong(explanation) == ["the article is of 2020-02-10, `article_day` says 2019-01-01"]


@pytest.mark.parametrize("dataset", SAMPLED)
def test_rows_of_the_sample_agree_with_what_is_behind_them(dataset: str, sample: Path) -> None:
    """No check tells of a mistake where there is none, and nothing is missing."""
    release = sample / "releases" / dataset / "1.0.0"
    manifest = load_manifest(release)
    splits = [split for config in manifest.configs for split in config.splits]
    split = next(split for split in splits if split.rows)
    row_id = pq.read_table(release / split.file, columns=["id"])["id"][0].as_py()
    explanation = explain(readable_article(row_id), release, WhySources(sample / "build"))
    assert wrong(explanation) == [] and explanation.missing == ()
    assert explanation.histories or explanation.texts
    (dropped,) = pq.read_table(release / "dropped.parquet").slice(0, 1).to_pylist()
    left_out = explain(dropped["item"], release, WhySources(sample / "build")).left_out
    assert left_out[0].sentence.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("dataset", SAMPLED)
def test_many_rows_of_the_sample_agree(dataset: str, sample: Path) -> None:
    release = sample / "releases" / dataset / "1.0.0"
    for config in load_manifest(release).configs:
        for split in [split for split in config.splits if split.rows][-2:]:
            table = pq.read_table(release / split.file)
            for row_id in table["id"].to_pylist()[-3:] if "id" in table.column_names else ():
                name = readable_article(row_id)
                explanation = explain(name, release, WhySources(sample / "build"), config.name)
                assert (wrong(explanation), explanation.missing) == ([], ()), name


def test_the_row_of_the_documentation(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`docs/why.md` shows what the command prints, to the letter."""
    text = (ROOT / "docs/why.md").read_text("utf-8")
    block = re.search(r"```sh\nfactdrift (why [^\n]*)\n```\n\n```text\n(.*?)```", text, re.S)
    assert block
    monkeypatch.chdir(sample)
    assert run_cli(*block[1].split(), cwd=sample).stdout == block[2]
