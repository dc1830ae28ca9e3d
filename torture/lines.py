"""Mutated lines and files over all readers: kept, or dropped and counted, or one clear message."""

import base64
import bz2
import gzip
import json
import re
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
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
from factdrift.builders.wmt.index import TABLES, index
from factdrift.scoring.predictions import read as read_predictions
from tests.annotation_workers import batch_of, submission, take
from torture import ROOT, HangsError, Outcome, not_for_ever, scratch

_SECONDS = 300
"""After which a reader is taken to hang."""
_TOKENS = (
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\t", b"\xe2\x80\xa8"),
    *(b"\\ud800", b"\\u0000", b"[" * 3000, b"a" * 70_000, b"9" * 400),
    *rb"""\ " ' { } [ ] , : < > & <!-- ]]> 1e999 -1 NaN null true ../../ =cmd| ${x} %s%n""".split(),
)
_MARKUP = tuple(
    b"[[ ]] {{ }} {| |} |- | = == ''' '' &lt;ref&gt; &lt;/ref&gt; &lt;!-- --&gt; &lt;nowiki&gt; "
    b"&lt;math&gt; [http:// * # : ; ---- __TOC__ #REDIRECT &amp;nbsp; {{{ }}} [[File: [[Category: "
    b"&lt;table&gt;".split()
)
_YAML = tuple(
    b": |- |> & * ! % @ ` [ ] { } , # ? - \\ \" ' \n \t \0 !!python/object:os.system yes 1e999 "
    b"0x1F 2019-02-30 ~ null <<: --- ...".split(b" ")
)
_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 11.5, 1e300, 10**30, "", "Q7", "\ud800", "\0", "x" * 70_000),
    *([], {}, [[]], {"id": "Q9"}, {"en": None}, [None], "2019-02-30", "+9999999-00-00T00:00:00Z"),
)
_TEXT = re.compile(rb"<text[^>]*>(.*)</text>", re.DOTALL)
Losses = Iterator[str]


def lines(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Mutated lines for each of the readers; what lost something is kept in `lost`."""
    for what, (count, read) in _READERS.items():
        lost: list[str] = []
        with scratch(work) as folder:
            try:
                with not_for_ever(_SECONDS):
                    lost = list(read(random, count, folder))
            except (Exception, HangsError):
                lost = [traceback.format_exc()[-3000:]]
            if lost:
                kept = work.parent / f"lost/lines-{number}-{what.replace(' ', '-')}"
                shutil.copytree(folder, kept, dirs_exist_ok=True)
        yield Outcome(what, count, tuple(lost))


# --- What can be wrong with a text ----------------------------------------------------------------


def bitten(random: Random, data: bytes, tokens: Sequence[bytes] = _TOKENS) -> bytes:
    """Bytes with one place cut out, doubled, changed, turned round or filled, or cut short."""
    start = random.randrange(len(data) + 1)
    stop = min(start + random.choice((1, 1, 2, 5, 40, 400)), len(data))
    head, middle, tail, token = data[:start], data[start:stop], data[stop:], random.choice(tokens)
    changed = (b"", middle * 2, random.randbytes(1), token, middle + token, middle[::-1])
    return random.choice([head, middle + tail, *(head + new + tail for new in changed * 2)])


def damaged(random: Random, value: Any) -> Any:
    """Plain data with one part, at any depth, removed or changed to something odd."""
    if not value or not isinstance(value, dict | list) or random.random() < 0.1:
        return random.choice(_ODD)
    places = list(value.items() if isinstance(value, dict) else enumerate(value))
    at = random.randrange(len(places))
    key, part = places.pop(at)
    places += random.choice([[], [(key, damaged(random, part))]])
    return dict(places) if isinstance(value, dict) else [part for _, part in places]


def mutated(random: Random, line: bytes) -> bytes:
    """One line with something wrong in it, mostly; it stays one line."""
    kind, made = random.random(), line
    if 0.1 <= kind < 0.55:
        with suppress(ValueError):
            text = json.dumps(damaged(random, json.loads(line)), ensure_ascii=kind < 0.3)
            made = text.encode("utf-8", "surrogatepass")
    if made == line and kind >= 0.1:
        made = bitten(random, line)
    return made.replace(b"\n", b" ")


def _mutated_news(random: Random, line: bytes) -> bytes:
    """A line of an archive of which a field, or the text in its packing, is bitten."""
    fields = line.split(b"\t")
    at = random.randrange(len(fields))
    if at and random.random() < 0.4:
        fields[at] = base64.b64encode(bitten(random, base64.b64decode(fields[at])))
        return b"\t".join(fields)
    return bitten(random, line).replace(b"\n", b" ")


# --- Readers --------------------------------------------------------------------------------------


def _column(path: Path, name: str) -> list[Any]:
    found: list[Any] = pq.read_table(path, columns=[name])[name].to_pylist()
    return found


@lru_cache
def _sample_lines(pattern: str) -> list[bytes]:
    paths = sorted(ROOT.glob(f"samples/{pattern}"))
    found = [line for path in paths for line in gzip.decompress(path.read_bytes()).splitlines()]
    return [line.strip(b",\r\n") for line in found if len(line) > 2]


def _dump(random: Random, number: int, folder: Path) -> Losses:
    good = _sample_lines("wikidata/wikidata-20260202-all.json.gz")
    # A file whose first lines are all broken is no dump; a day of an edit after the snapshot's
    # refuses all of it, as it should.
    given = [good[0], *(mutated(random, random.choice(good)) for _ in range(number - 1))]
    given = [line.replace(b'"modified"', b'"altered"') for line in given]
    path = folder / "20260202.json"
    path.write_bytes(b"[\n" + b",\n".join(given) + b"\n]\n")
    found = mine(path, folder / "out", snapshot="2026-02-02")
    counts = found.counts["counts"]
    empty = sum(not line.strip(b" \t\r\n,[]\xef\xbb\xbf") for line in given) + 2
    read = sum(counts.get(k, 0) for k in ("items", "properties", "lexemes", "other_entities"))
    bad = sum(counts.get(name, 0) for name in ("malformed_line", "line_too_long"))
    if not 0 <= counts["lines"] - empty - read - bad <= counts.get("redirects", 0):
        yield f"lines are lost: {counts}, {empty} without an entity"
    if (dropped := _column(found.dropped, "step").count("read")) != bad:
        yield f"{bad} bad lines are counted, and {dropped} are dropped"


def _archive(random: Random, number: int, folder: Path) -> Losses:
    """Lines of an archive, or JSON lines."""
    good, path, made = (
        _sample_lines("news/*.gz"),
        folder / "news-docs.2020.en.filtered",
        _mutated_news,
    )
    if random.random() < 0.3:
        path, made = folder / "news.jsonl", mutated
        fields = [line.split(b"\t") for line in good]
        texts = [{"date": f[0].decode(), "text": base64.b64decode(f[1]).decode()} for f in fields]
        good = [json.dumps(text).encode() for text in texts]
    given = [good[0], *(made(random, random.choice(good)) for _ in range(number - 1))]
    path.write_bytes(b"\n".join(given) + b"\n")
    index(path, folder / "out", near_duplicates=random.choice((0, 0, 0.8)))
    kept, dropped = (pq.read_metadata(folder / "out" / name).num_rows for name in TABLES)
    if kept + dropped != number:
        yield f"of {number} lines {kept} are kept and {dropped} dropped"


@lru_cache
def _pages() -> tuple[bytes, list[bytes]]:
    """The head of the sample export, and its articles with a text."""
    [path] = ROOT.glob("samples/wikipedia/*-multistream.xml.bz2")
    head, *rest = bz2.decompress(path.read_bytes()).split(b"<page>")
    pages = [b"<page>" + page.partition(b"</page>")[0] + b"</page>\n" for page in rest]
    return head, [page for page in pages if len(page) > 2000 and b"<ns>0</ns>" in page]


def _export(random: Random, number: int, folder: Path) -> Losses:
    """Whole pages stay whole among broken ones."""
    head, pages = _pages()
    given = []
    for n in range(number):
        page = re.sub(rb"<title>[^<]*", b"<title>Page %d" % n, random.choice(pages), count=1)
        found = _TEXT.search(page)
        if n % 2 and found and random.random() < 0.5:
            text = found[1]
            for _ in range(random.choice((1, 3, 10))):
                text = bitten(random, text, _MARKUP)
            page = page[: found.start(1)] + text + page[found.end(1) :]
        elif n % 2:
            page = bitten(random, page)
        given.append(page)
    path = folder / "enwiki-20260201-pages-articles.xml"
    path.write_bytes(head + b"".join(given) + b"</mediawiki>\n")
    wanted = [(f"Page {n}", f"Q{n + 1}") for n in range(number)]
    read_pages(path, wanted, folder / "out")
    kept = set(_column(folder / "out/pages.parquet", "title"))
    dropped = set(_column(folder / "out/dropped.parquet", "item"))
    if lost := {title for title, item in wanted if item not in dropped} - kept:
        yield f"neither kept nor dropped: {sorted(lost)[:5]}"
    if lost := {title for title, _ in wanted[::2]} - kept:
        yield f"whole pages that are not kept: {sorted(lost)[:5]}"


def _page_lines(random: Random, number: int, folder: Path) -> Losses:
    """JSON lines of text, of paragraphs and of wikitext."""
    given = [b'{"title": "Page 0", "text": "Some text."}']
    for n in range(1, number):
        text = _TEXT.search(random.choice(_pages()[1]))
        assert text
        shown = text[1].decode("utf-8", "replace")[:4000]
        forms: list[dict[str, Any]] = [
            {"wikitext": shown},
            {"text": shown, "links": [{"start": 0, "end": 3, "target": "Page 1"}]},
            {"paragraphs": [{"text": shown, "kind": "text", "section": "", "links": []}]},
        ]
        record = {"title": f"Page {n}", "page": n, "revision": 7} | random.choice(forms)
        given.append(mutated(random, json.dumps(record).encode()))
    path = folder / "pages.jsonl"
    path.write_bytes(b"\n".join(given) + b"\n")
    wanted = [(f"Page {n}", f"Q{n + 1}") for n in range(number)]
    seen = read_pages(path, wanted, folder / "out")
    dropped = _column(folder / "out/dropped.parquet", "item")
    of_lines = sum(item.startswith("pages.jsonl:") for item in dropped)
    rows = sum(bool(line.strip()) for line in given)
    if seen + of_lines < rows:
        yield f"of {rows} lines {of_lines} are dropped, {seen} seen"
    gone = {item for _, item in wanted} - set(_column(folder / "out/pages.parquet", "item"))
    if lost := gone - set(_column(folder / "out/dropped.parquet", "subject")):
        yield f"neither found nor dropped: {sorted(lost)[:5]}"


def _results(random: Random, number: int, folder: Path) -> Losses:
    """Every entry of a results file is taken or refused."""
    batch = batch_of(folder, rows=9, number=9)
    made = [submission(batch, f"w{n}", random.randrange(len(batch.hits))) for n in range(number)]
    given = [mutated(random, json.dumps(one).encode()) for one in made]
    path = folder / "results.jsonl"
    path.write_bytes(b"\n".join(given) + b"\n")
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
        try:
            found = sum(batch.num_rows for batch in read_predictions(path))
        except UserError as error:
            if f"p.jsonl:{at + 1}: " not in str(error):
                yield f"the message names another line than {at + 1}: {error}"
        else:
            if found != (filled := sum(bool(row.strip()) for row in rows)):
                yield f"{found} of {filled} predictions are read"


def _yaml(random: Random, number: int, folder: Path) -> Losses:
    """Recipes, templates and layouts: read, or told with file and line."""
    kinds: dict[str, type[Any]] = {
        "builders/recipes/*.yaml": Recipe,
        "templates/P*.yaml": Relation,
        "annotation/layouts/*/layout.yaml": Layout,
    }
    for _ in range(number):
        pattern = random.choice(list(kinds))
        source = random.choice(sorted(ROOT.glob(pattern)))
        data = source.read_bytes()
        for _ in range(random.choice((1, 1, 3))):
            data = bitten(random, data, _YAML)
        path = folder / source.name
        path.write_bytes(data)
        try:
            load(path, kinds[pattern])
        except UserError as error:
            if source.name not in str(error):
                yield f"the message names no file: {error}"


_READERS: dict[str, tuple[int, Callable[[Random, int, Path], Losses]]] = {
    "lines of a dump": (4_000, _dump),
    "lines of news": (4_000, _archive),
    "pages of an export": (80, _export),
    "JSON lines of pages": (800, _page_lines),
    "results of annotators": (200, _results),
    "lines of predictions": (2_000, _predictions),
    "recipes, templates and layouts": (20, _yaml),
}
"""How many lines a case gives each reader, and what finds the losses."""
