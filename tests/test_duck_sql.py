"""SQL of DuckDB is what Ibis writes where it merges no SELECTs, but for the order of the shared."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import pytest
from ibis.backends.sql.compilers._compat import WITH_ARG
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler

from factdrift.builders.core.duck_sql import DuckSQL
from factdrift.builders.core.hashing import digest
from factdrift.builders.release.release import ReleaseOptions, release_all

FACTS = ibis.table(
    {
        "subject": "string",
        "relation": "string",
        "object": "string",
        "start": "date",
        "end": "date",
        "rank": "int64",
        "open": "boolean",
        "aliases": "array<string>",
    },
    name="facts",
)
NAMES = ibis.table({"id": "string", "label": "string", "rank": "int64"}, name="names")
OWN_NAMES = NAMES.select(own="id", called="label")
BY_SUBJECT = ibis.window(group_by="subject", order_by=["start", ibis.desc("rank")])
SHARED = FACTS.mutate(days=FACTS.end.delta(FACTS.start, unit="day"))
DEEP = SHARED.filter(SHARED.days > 3).mutate(number=ibis.row_number().over(BY_SUBJECT))

EXPRESSIONS: dict[str, Callable[[], ir.Table]] = {
    "a table": lambda: FACTS,
    "some columns": lambda: FACTS.select("object", "subject"),
    "all columns": lambda: FACTS.select(FACTS.columns),
    "all columns in another order": lambda: FACTS.select(FACTS.columns[::-1]),
    "a renamed column": lambda: FACTS.rename(item="subject"),
    "a value with a name": lambda: FACTS.select(FACTS.rank.name("place").cast("string").name("n")),
    "a condition": lambda: FACTS.filter(FACTS.rank > 1, FACTS.open),
    "a condition on a window": lambda: FACTS.filter(FACTS.rank.max().over(BY_SUBJECT) > 1),
    "both conditions": lambda: FACTS.filter(FACTS.open, ibis.row_number().over(BY_SUBJECT) == 0),
    "an order": lambda: FACTS.order_by([FACTS.start.desc(), FACTS.rank.asc(nulls_first=True)]),
    "distinct rows": lambda: FACTS.select("subject").distinct(),
    "distinct on a key": lambda: FACTS.distinct(on="subject", keep="first"),
    "few columns dropped": lambda: FACTS.drop("rank"),
    "most columns dropped": lambda: FACTS.drop("rank", "open", "start", "end", "aliases"),
    "nulls filled": lambda: FACTS.fill_null({"rank": 0, "object": "none"}),
    "nulls dropped": lambda: FACTS.drop_null(["start", "end"]),
    "groups": lambda: FACTS.group_by(["subject", "relation"]).agg(
        n=FACTS.count(), most=FACTS.rank.max(where=FACTS.open), names=FACTS.object.collect()
    ),
    "groups with a condition": lambda: FACTS.group_by("subject").having(FACTS.count() > 1).agg(),
    "no groups": lambda: FACTS.agg(n=FACTS.count()),
    "rows counted": lambda: FACTS.count().as_table(),
    "a limit": lambda: FACTS.order_by("subject").limit(3, offset=1),
    "a join": lambda: FACTS.join(NAMES, FACTS.object == NAMES.id),
    "a join of three": lambda: FACTS.join(NAMES, FACTS.object == NAMES.id).join(
        OWN_NAMES, FACTS.subject == OWN_NAMES.own
    ),
    "a left join": lambda: FACTS.left_join(NAMES, [FACTS.object == NAMES.id, FACTS.rank > 2]),
    "joins that choose": lambda: FACTS.semi_join(NAMES, "rank").anti_join(NAMES, "rank"),
    "a join with itself": lambda: DEEP.join(DEEP.view(), "subject"),
    "a union": lambda: FACTS.select("subject").union(NAMES.select(subject="id")),
    "a union of distinct rows": lambda: FACTS.union(FACTS.filter(FACTS.open), distinct=True),
    "a union of a query with itself": lambda: DEEP.union(DEEP),
    "a difference": lambda: FACTS.select("rank").difference(NAMES.select("rank")),
    "an intersection": lambda: FACTS.select("rank").intersect(NAMES.select("rank")),
    "a query that several read": lambda: (
        DEEP.group_by("subject").agg(n=DEEP.count()).join(DEEP, "subject")
    ),
    "shared queries that read one another": lambda: (deeper := DEEP.filter(DEEP.number > 0)).union(
        deeper.semi_join(DEEP, "subject")
    ),
    "a shared query without columns": lambda: (few := FACTS.drop("rank")).union(few),
    "a value of another query": lambda: FACTS.filter(FACTS.rank > NAMES["rank"].max().as_scalar()),
    "a column of another query": lambda: FACTS.filter(FACTS.object.isin(NAMES.id)),
    "none of a list": lambda: FACTS.filter(FACTS.rank.isin([1, 2]), ~FACTS.object.isin([])),
    "first and last of a window": lambda: FACTS.mutate(
        first=FACTS.rank.first().over(BY_SUBJECT), last=FACTS.rank.last().over(BY_SUBJECT)
    ),
    "places in a window": lambda: FACTS.mutate(
        place=ibis.rank().over(BY_SUBJECT),
        dense=ibis.dense_rank().over(BY_SUBJECT),
        quarter=ibis.ntile(4).over(BY_SUBJECT),
        before=FACTS.rank.lag(1).over(BY_SUBJECT),
        third=FACTS.rank.nth(2).over(BY_SUBJECT),
    ),
    "a window of some rows": lambda: FACTS.mutate(
        sum=FACTS.rank.sum().over(
            ibis.window(group_by="subject", order_by="start", rows=(None, -1))
        )
    ),
    "a place in a text and a list": lambda: FACTS.select(
        text=FACTS.object.find("a"), list=FACTS.aliases.index("b"), part=FACTS.object[1:3]
    ),
    "elements of a list": lambda: FACTS.select(
        mapped=FACTS.aliases.map(lambda alias: alias.upper()),
        numbered=FACTS.aliases.map(lambda alias, place: alias.length() + place),
        chosen=FACTS.aliases.filter(lambda alias, place: (place > 0) & (alias != "")),
        nothing=FACTS.aliases.filter(lambda alias: alias.isin([])),
        element=FACTS.aliases.unnest(),
    ),
    "cases": lambda: FACTS.select(
        kind=ibis.cases((FACTS.open, "open"), (FACTS.rank > 1, "high"), else_=ibis.null("string")),
        later=(FACTS.end + ibis.interval(days=1)).cast("date"),
        nested=ibis.struct({"id": FACTS.subject, "names": FACTS.aliases}),
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_text_is_that_of_ibis(name: str) -> None:
    expression = EXPRESSIONS[name]()
    ours, theirs = DuckSQL(), DuckDBCompiler()
    with selects_apart():
        our_query, their_query = ours.to_sqlglot(expression), theirs.to_sqlglot(expression)
    assert spelled_out(our_query) == spelled_out(their_query)


def test_parameters_are_filled_in() -> None:
    least_rank = ibis.param("int64")
    query = DuckSQL().to_sqlglot(FACTS.filter(FACTS["rank"] > least_rank), params={least_rank: 3})
    assert "> 3" in query.sql("duckdb")


@pytest.mark.slow
def test_the_queries_of_releases_are_those_of_ibis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared_queries: list[str] = []

    def translate(compiler: DuckSQL, op: Any, *, params: Any) -> Any:
        query = own_translate(compiler, op, params=params)
        with selects_apart():
            ibis_query = DuckDBCompiler().translate(op, params=params)
        assert spelled_out(query) == spelled_out(ibis_query)
        compared_queries.append(type(op).__name__)
        return query

    own_translate = DuckSQL.translate
    monkeypatch.setattr(DuckSQL, "translate", translate)
    options = ReleaseOptions(build=tmp_path / "build", out=tmp_path / "releases", jobs=1)
    release_all(["dynamic-templama"], options)
    assert len(compared_queries) > 30


@contextmanager
def selects_apart() -> Iterator[None]:
    """Ibis merges no SELECTs in the block."""
    fused_before = ibis.options.sql.fuse_selects
    ibis.options.sql.fuse_selects = False
    try:
        yield
    finally:
        ibis.options.sql.fuse_selects = fused_before


def spelled_out(query: Any) -> str:
    """The text of a query without what its shared queries are called, and where they stand.

    Names are numbered in the order of the text, and a shared query's is the digest of its own text.
    """
    shared_texts = {shared.alias: shared.this.sql("duckdb") for shared in query.ctes}
    main_query = query.copy()
    main_query.args.pop(WITH_ARG, None)

    def with_digests(text: str) -> str:
        numbers: dict[str, int] = {}
        digested = re.sub(
            r'"(t\d+)"(?= AS "t)',
            lambda name: (
                digest(with_digests(shared_texts[name[1]])) if name[1] in shared_texts else name[0]
            ),
            text,
        )
        return re.sub(
            r'"t\d+"', lambda name: f"q{numbers.setdefault(name[0], len(numbers))}", digested
        )

    return with_digests(main_query.sql("duckdb"))
