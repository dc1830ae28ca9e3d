"""Mutated lines and files over all readers: kept, or dropped and counted, or one clear message."""

import base64
import bz2
import gzip
import json
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from factdrift.annotation.layout import Layout
from factdrift.builders.core.config import load
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import Relation
from factdrift.builders.recipes.recipe import Recipe
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikipedia.read import read_pages
from factdrift.builders.wmt.index import index
from factdrift.scoring.predictions import read as read_predictions
from tests.annotation_workers import batch_of, submission, take
from torture import ROOT, HangsError, Outcome, not_for_ever, scratch
from torture.mutations import bitten, damaged

_SAMPLES = ROOT / "samples"
_SECONDS = 300
"""After which a reader is taken to hang."""
Losses = Iterator[str]


def lines(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Mutated lines for each of the readers; what lost something is kept in `lost`."""
    for name, (what, count, read) in _READERS.items():
        lost: list[str] = []
        with scratch(work) as folder:
            try:
                with not_for_ever(_SECONDS):
                    lost = list(read(random, count, folder))
            except (Exception, HangsError):
                lost = [traceback.format_exc()[-3000:]]
            if lost:
                kept = work.parent / f"lost/lines-{number}-{name}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
        yield Outcome(what, count, tuple(lost))


def mutated(random: Random, line: bytes) -> bytes:
    """One line with something wrong in it, mostly; it stays one line."""
    kind, made = random.random(), line
    if 0.1 <= kind < 0.55:
        with suppress(ValueError):
            value = damaged(random, json.loads(line))
            text = json.dumps(value, ensure_ascii=random.random() < 0.5)
            made = text.encode("utf-8", "surrogatepass")
    if made == line and kind >= 0.1:
        made = bitten(random, line)
    return made.replace(b"\n", b" ")


def _write(path: Path, given: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(given) + b"\n")
    return path


@lru_cache
def _entities() -> list[bytes]:
    path = _SAMPLES / "wikidata/wikidata-20260202-all.json.gz"
    found = [line.strip(b",\r\n") for line in gzip.decompress(path.read_bytes()).splitlines()]
    return [line for line in found if len(line) > 2]


def _dump(random: Random, number: int, folder: Path) -> Losses:
    good = _entities()
    given = [mutated(random, random.choice(good)) for _ in range(number - 1)]
    given.insert(0, good[0])  # a file whose first lines are all broken is no dump
    random.shuffle(given[1:])
    # A day of an edit after the snapshot's refuses the whole dump, as it should.
    given = [line.replace(b'"modified"', b'"altered"') for line in given]
    path = folder / "20260202.json"
    path.write_bytes(b"[\n" + b",\n".join(given) + b"\n]\n")
    found = mine(path, folder / "out", snapshot="2026-02-02")
    counts = found.counts["counts"]
    empty = sum(not line.strip(b" \t\r\n,[]\xef\xbb\xbf") for line in given) + 2
    read = sum(counts.get(name, 0) for name in _ENTITIES)
    bad = sum(counts.get(name, 0) for name in ("malformed_line", "line_too_long"))
    redirects = counts.get("redirects", 0)
    if not read + bad <= counts["lines"] - empty <= read + bad + redirects:
        yield f"lines are lost: {counts}, {empty} without an entity"
    dropped = pq.read_table(found.dropped, columns=["step"])["step"].to_pylist()
    if dropped.count("read") != bad:
        yield f"{bad} bad lines are counted, and {dropped.count('read')} are dropped"


_ENTITIES = ("items", "properties", "lexemes", "other_entities")


@lru_cache
def _news() -> list[bytes]:
    paths = sorted((_SAMPLES / "news").glob("*.gz"))
    return [line for path in paths for line in gzip.decompress(path.read_bytes()).splitlines()]


def _archive(random: Random, number: int, folder: Path) -> Losses:
    good = _news()
    if random.random() < 0.3:
        good = [_news_record(line) for line in good]
        given = [mutated(random, random.choice(good)) for _ in range(number)]
        path = folder / "news.jsonl"
    else:
        given = [_mutated_news(random, random.choice(good)) for _ in range(number)]
        path = folder / "news-docs.2020.en.filtered"
    given[0] = good[0]
    path.write_bytes(b"\n".join(given) + b"\n")
    near = random.choice((0, 0, 0.8))
    counts = index(path, folder / "out", near_duplicates=near)
    kept = pq.read_metadata(folder / "out/articles.parquet").num_rows
    dropped = pq.read_metadata(folder / "out/dropped.parquet").num_rows
    if counts["lines"] != number or kept + dropped != number:
        yield f"of {number} lines {kept} are kept and {dropped} dropped: {counts}"
    if (kept, dropped) != (counts["articles"], sum(counts["dropped"].values())):
        yield f"{kept} kept and {dropped} dropped, but counted are {counts}"


def _news_record(line: bytes) -> bytes:
    day, text = line.split(b"\t")[:2]
    record = {"date": day.decode(), "text": base64.b64decode(text).decode()}
    return json.dumps(record).encode()


def _mutated_news(random: Random, line: bytes) -> bytes:
    """A field, or the text in its packing, is bitten."""
    if random.random() < 0.5:
        return bitten(random, line).replace(b"\n", b" ")
    fields = line.split(b"\t")
    at = random.randrange(len(fields))
    with_text = at > 0 and random.random() < 0.7
    data = bitten(random, base64.b64decode(fields[at]) if with_text else fields[at])
    fields[at] = base64.b64encode(data) if with_text else data.replace(b"\n", b" ")
    return b"\t".join(fields)


@lru_cache
def _pages() -> tuple[bytes, list[bytes]]:
    """The head of the sample export, and its articles with a text."""
    path = next((_SAMPLES / "wikipedia").glob("*-multistream.xml.bz2"))
    data = bz2.decompress(path.read_bytes())
    head, *rest = data.split(b"<page>")
    pages = [b"<page>" + page.partition(b"</page>")[0] + b"</page>\n" for page in rest]
    return head, [page for page in pages if len(page) > 2000 and b"<ns>0</ns>" in page]


_TITLE = re.compile(rb"<title>([^<]*)</title>")
_TEXT = re.compile(rb"<text[^>]*>(.*)</text>", re.DOTALL)


def _export(random: Random, number: int, folder: Path) -> Losses:
    """Whole pages stay whole among broken ones."""
    head, pages = _pages()
    given, whole = [], set()
    for n in range(number):
        page = random.choice(pages)
        title = _TITLE.search(page)
        assert title
        page = page.replace(title[0], b"<title>Page %d</title>" % n)
        if n % 2:
            page = _with_text(random, page) if random.random() < 0.5 else bitten(random, page)
        else:
            whole.add(f"Page {n}")
        given.append(page)
    path = folder / "enwiki-20260201-pages-articles.xml"
    path.write_bytes(head + b"".join(given) + b"</mediawiki>\n")
    wanted = [(f"Page {n}", f"Q{n + 1}") for n in range(number)]
    read_pages(path, wanted, folder / "out")
    kept = set(pq.read_table(folder / "out/pages.parquet", columns=["title"])["title"].to_pylist())
    named = pq.read_table(folder / "out/dropped.parquet")["item"].to_pylist()
    gone = {f"Page {int(item[1:]) - 1}" for item in named if re.fullmatch(r"Q\d+", item)}
    if lost := {title for title, _ in wanted} - kept - gone:
        yield f"neither kept nor dropped: {sorted(lost)[:5]}"
    if lost := whole - kept:
        yield f"whole pages that are not kept: {sorted(lost)[:5]}"


def _with_text(random: Random, page: bytes) -> bytes:
    found = _TEXT.search(page)
    if not found:
        return bitten(random, page)
    made = page[found.start(1) : found.end(1)]
    for _ in range(random.choice((1, 3, 10))):
        made = bitten(random, made, _MARKUP)
    return page[: found.start(1)] + made + page[found.end(1) :]


_MARKUP = tuple(
    b"[[ ]] {{ }} {| |} |- | = == ''' '' &lt;ref&gt; &lt;/ref&gt; &lt;!-- --&gt; &lt;nowiki&gt; "
    b"&lt;math&gt; [http:// * # : ; ---- __TOC__ #REDIRECT &amp;nbsp; {{{ }}} [[File: [[Category: "
    b"&lt;table&gt;".split()
)


def _page_lines(random: Random, number: int, folder: Path) -> Losses:
    """JSON lines of text, of paragraphs and of wikitext."""
    _, pages = _pages()
    given = []
    for n in range(number):
        text = _TEXT.search(random.choice(pages))
        record: dict[str, Any] = {"title": f"Page {n}", "page": n, "revision": 7}
        assert text
        shown = text[1].decode("utf-8", "replace")[:4000]
        kind = random.randrange(3)
        if kind == 0:
            record["wikitext"] = shown
        elif kind == 1:
            record |= {"text": shown, "links": [{"start": 0, "end": 3, "target": "Page 1"}]}
        else:
            record["paragraphs"] = [{"text": shown, "kind": "text", "section": "", "links": []}]
        given.append(mutated(random, json.dumps(record).encode()))
    given[0] = b'{"title": "Page 0", "text": "Some text."}'
    path = _write(folder / "pages.jsonl", given)
    wanted = [(f"Page {n}", f"Q{n + 1}") for n in range(number)]
    counts = read_pages(path, wanted, folder / "out")
    dropped = pq.read_table(folder / "out/dropped.parquet")["item"].to_pylist()
    of_lines = sum(item.startswith("pages.jsonl:") for item in dropped)
    rows = sum(bool(line.strip()) for line in given)
    if counts["articles"] + counts["redirects"] + of_lines < rows:
        yield f"of {rows} lines {of_lines} are dropped: {counts}"
    if counts["found"] + counts["not_found"] != counts["wanted"]:
        yield f"found and not found do not add up: {counts}"


def _results(random: Random, number: int, folder: Path) -> Losses:
    """Every entry of a results file is taken or refused."""
    batch = batch_of(folder, rows=9, number=9)
    given = []
    for n in range(number):
        made = submission(batch, f"w{n}", random.randrange(len(batch.hits)))
        given.append(mutated(random, json.dumps(made).encode()))
    path = _write(folder / "results.jsonl", given)
    done = take(folder, path)
    entries = sum(bool(line.strip()) for line in given)
    if done.taken + sum(done.refused.values()) != entries:
        yield f"of {entries} entries {done.taken} are taken, refused {done.refused}"


def _predictions(random: Random, number: int, folder: Path) -> Losses:
    """A file with a broken line is refused with the line's number; others are read whole."""
    answers: list[dict[str, Any]] = [
        {"prediction": "Paris"},
        {"candidates": ["Paris", "Rome"]},
        {"scores": {"Paris": -1.2, "Rome": -3.4}},
        {"choice_scores": [0.5, 1.5], "evidence": ["d1"], "prompt_sha256": "0123456789abcdef"},
    ]
    path = folder / "p.jsonl"
    for n in range(number // 10):
        rows = [json.dumps({"id": f"r{n}-{m}"} | random.choice(answers)).encode() for m in range(9)]
        at = random.randrange(9)
        rows.insert(at, mutated(random, rows[at]))
        path.write_bytes(b"\n".join(rows) + b"\n")
        filled = sum(bool(row.strip()) for row in rows)
        try:
            found = sum(batch.table.num_rows for batch in read_predictions(path))
        except UserError as error:
            if f"p.jsonl:{at + 1}: " not in str(error):
                yield f"the message names another line than {at + 1}: {error}"
                return
        else:
            if found != filled:
                yield f"{found} of {filled} predictions are read"
                return


def _yaml(random: Random, number: int, folder: Path) -> Losses:
    """Recipes, templates and layouts: read, or told with file and line."""
    kinds: list[tuple[str, type[Any]]] = [
        ("builders/recipes/*.yaml", Recipe),
        ("templates/P*.yaml", Relation),
        ("annotation/layouts/*/layout.yaml", Layout),
    ]
    for _ in range(number):
        pattern, model = random.choice(kinds)
        source = random.choice(sorted(ROOT.glob(pattern)))
        data = source.read_bytes()
        for _ in range(random.choice((1, 1, 3))):
            data = bitten(random, data, _YAML)
        path = folder / source.name
        path.write_bytes(data)
        try:
            load(path, model)
        except UserError as error:
            if source.name not in str(error):
                yield f"the message names no file: {error}"
                return


_YAML = tuple(
    b": |- |> & * ! % @ ` [ ] { } , # ? - \\ \" ' \n \t \0 !!python/object:os.system yes 1e999 "
    b"0x1F 2019-02-30 ~ null <<: --- ...".split(b" ")
)

_READERS: dict[str, tuple[str, int, Callable[[Random, int, Path], Losses]]] = {
    "dump": ("lines of a dump", 4_000, _dump),
    "news": ("lines of news", 4_000, _archive),
    "export": ("pages of an export", 80, _export),
    "pages": ("JSON lines of pages", 800, _page_lines),
    "results": ("results of annotators", 200, _results),
    "predictions": ("lines of predictions", 2_000, _predictions),
    "yaml": ("recipes, templates and layouts", 20, _yaml),
}
"""Each reader in words, how many lines a case gives it, and what finds the losses."""
