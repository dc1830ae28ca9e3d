"""Mutated lines and files over all readers: kept, or dropped and counted, or one clear message."""

import base64
import csv
import gzip
import io
import json
import re
import shutil
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.annotation.layout import Layout, load_layout
from factdrift.builders.core.compressed import pieces
from factdrift.builders.core.config import load
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import Relation
from factdrift.builders.invariant.trex import read_trex
from factdrift.builders.recipes.recipe import Recipe
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikipedia.read import read_pages
from factdrift.builders.wmt.index import TABLES, index_archive
from factdrift.scoring.predictions import read_predictions
from tests.annotation_workers import batch_of, submission, take
from tests.simulated_workers import label_studio_export, mturk_csv, work, written
from torture import ROOT, HangsError, Outcome, not_for_ever, scratch

_SECONDS = 300
"""After which a reader is taken to hang."""
_TOKENS = (
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\t", b"\xe2\x80\xa8"),
    *(b"\\ud800", b"\\u0000", b"[" * 3000, b"a" * 70_000, b"9" * 400, b"\n"),
    # deep, long and many: over the limits of `builders.core.limits`
    *(b"[" * 100_000, b'{"a":' * 20_000, b"9" * 5000, b"." * 60_000, b"a" * 1_000_000),
    *(b"{{" * 20_000, b"&lt;!--" * 9000, b'|-\n|rowspan="99999"|a\n' * 900, b"{a: " * 20_000),
    *rb"""\ " ' { } [ ] , : < > & <!-- ]]> 1e999 -1 NaN null true ../../ =cmd| ${x} %s%n""".split(),
    *b"[[ ]] {{ }} {| |} |- | = == ''' '' &lt;ref&gt; &lt;/ref&gt; &lt;!-- --&gt; {{{ }}}".split(),
    *b"&lt;nowiki&gt; &lt;math&gt; &lt;table&gt; [http:// # ; ---- __TOC__ #REDIRECT".split(),
    *b"&amp;nbsp; [[File: [[Category: > * ! % @ ` ? - !!python/object:os.system yes 0x1F".split(),
    *b"2019-02-30 ~ <<: --- ...".split(),
)
"""What may break an encoding, JSON, XML, wiki markup or YAML."""
_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 11.5, 1e300, 10**30, "", "Q7", "\ud800", "\0", "x" * 70_000),
    *([], {}, [[]], {"id": "Q9"}, {"en": None}, [None], "2019-02-30", "+9999999-00-00T00:00:00Z"),
)
_CONFIGS: tuple[tuple[str, type[Any]], ...] = (
    *(("builders/recipes/*.yaml", Recipe), ("templates/P*.yaml", Relation)),
    ("annotation/layouts/*/layout.yaml", Layout),
)
Losses = Iterator[str]


def lines(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Mutated lines for each of the readers."""
    for what, (count, read) in _READERS.items():
        lost: list[str] = []
        with scratch(work) as folder:
            try:
                with not_for_ever(_SECONDS):
                    lost = list(read(random, count, folder))
            except (Exception, HangsError):
                lost = [traceback.format_exc()[-3000:]]
        yield Outcome(what, count, tuple(lost))


def bitten(random: Random, data: bytes) -> bytes:
    """Bytes with one place cut out, doubled, changed, turned round or filled, or cut short."""
    start = random.randrange(len(data) + 1)
    stop = min(start + random.choice((1, 1, 2, 5, 40, 400)), len(data))
    head, middle, tail, token = data[:start], data[start:stop], data[stop:], random.choice(_TOKENS)
    changed = (b"", middle * 2, random.randbytes(1), token, middle + token, middle[::-1])
    return random.choice([head, middle + tail, *(head + new + tail for new in changed * 2)])


def damaged(random: Random, value: Any) -> Any:
    """Plain data with one part, at any depth, removed or changed to something odd."""
    if not value or not isinstance(value, dict | list) or random.random() < 0.1:
        return random.choice(_ODD)
    places = list(value.items() if isinstance(value, dict) else enumerate(value))
    position = random.randrange(len(places))
    key, part = places.pop(position)
    places += random.choice([[], [(key, damaged(random, part))]])
    return dict(places) if isinstance(value, dict) else [part for _, part in places]


def mutated(random: Random, line: bytes) -> bytes:
    """A line with something wrong in it, mostly, or in its JSON or base64; it stays one line."""
    kind, changed, fields = random.random(), line, line.split(b"\t")
    if 0.1 <= kind < 0.55 and len(fields) > 1:
        position = random.randrange(1, len(fields))
        fields[position] = base64.b64encode(bitten(random, base64.b64decode(fields[position])))
        changed = b"\t".join(fields)
    elif 0.1 <= kind < 0.55:
        text = json.dumps(damaged(random, json.loads(line)), ensure_ascii=kind < 0.3)
        changed = text.encode("utf-8", "surrogatepass")
    if changed == line and kind >= 0.1:
        changed = bitten(random, line)
    return changed.replace(b"\n", b" ")


def mixed(random: Random, number: int, good: Sequence[bytes], path: Path) -> list[bytes]:
    """Write so many lines, mutated but for the first; those that are not empty."""
    first, *rest = islice(cycle(good), number)
    mixed_lines = [first, *(mutated(random, line) for line in rest)]
    path.write_bytes(b"\n".join(mixed_lines) + b"\n")
    return [line for line in mixed_lines if line.strip()]


def _column(path: Path, name: str) -> list[Any]:
    values: list[Any] = pq.read_table(path, columns=[name])[name].to_pylist()
    return values


@lru_cache
def _sample(pattern: str) -> bytes:
    """The bytes of the samples of one kind."""
    return b"".join(
        piece for path in sorted(ROOT.glob(f"samples/{pattern}")) for piece in pieces(path)
    )


def _dump(random: Random, number: int, folder: Path) -> Losses:
    # a day of an edit after the snapshot's refuses all of it, as it should
    good = _sample("wikidata/wikidata-20260202-all.json.gz").replace(b'"modified"', b'"altered"')
    path = folder / "20260202.json"
    documents = [line.rstrip(b",") for line in good.splitlines()[1:-1]]
    written_lines = mixed(random, number, documents, path)
    mined = mine(path, folder / "out", snapshot="2026-02-02")
    counts = Counter(mined.counts["counts"])
    empty = sum(not line.strip(b" \t\r\n,[]\xef\xbb\xbf") for line in written_lines)
    read = sum(counts[kind] for kind in ("items", "properties", "lexemes", "other_entities"))
    bad = counts["malformed_line"] + counts["line_too_long"]
    if not 0 <= len(written_lines) - empty - read - bad <= counts["redirects"]:
        yield f"of {len(written_lines)} lines, {empty} of them empty, some are lost: {counts}"
    if (dropped := _column(mined.dropped, "step").count("read")) != bad:
        yield f"{bad} bad lines are counted, and {dropped} are dropped"


def _archive(random: Random, number: int, folder: Path) -> Losses:
    path = folder / "news-docs.2020.en.filtered"
    mixed(random, number, _sample("news/*.gz").splitlines(), path)
    index_archive(path, folder / "out", near_duplicates=random.choice((0, 0, 0.8)))
    kept_count, dropped_count = (
        pq.read_metadata(folder / "out" / name).num_rows for name in TABLES
    )
    if kept_count + dropped_count != number:
        yield f"of {number} lines {kept_count} are kept and {dropped_count} dropped"


def _news_records() -> list[bytes]:
    """The sample news as JSON lines."""
    records = []
    for line in _sample("news/*.gz").splitlines():
        day, _, text = line.split(b"\t")
        row = {"date": day.decode(), "text": base64.b64decode(text).decode(), "title": "News"}
        records.append(json.dumps(row).encode())
    return records


def _news_lines(random: Random, number: int, folder: Path) -> Losses:
    """JSON lines of news: kept, or dropped with a reason."""
    path = folder / "news.jsonl"
    written = mixed(random, number, _news_records(), path)
    index_archive(path, folder / "out")
    kept_count, dropped_count = (
        pq.read_metadata(folder / "out" / name).num_rows for name in TABLES
    )
    if not len(written) <= kept_count + dropped_count <= number:
        yield f"of {len(written)} lines {kept_count} are kept and {dropped_count} dropped"


def _trex_lines(random: Random, number: int, folder: Path) -> Losses:
    """JSON lines of T-REx, made of the facts of the sample: kept, or dropped with a reason."""
    good = [
        {
            "sub_uri": f"Q{n}",
            "sub_label": f"Name {n}",
            "predicate_id": "P19",
            "obj_uri": "Q90",
            "obj_label": "Paris",
            "evidences": [{"masked_sentence": "x"}],
        }
        for n in range(1, 40)
    ]
    path = folder / "P19.jsonl"
    written = mixed(random, number, [json.dumps(fact).encode() for fact in good], path)
    out = folder / "out"
    out.mkdir()
    read_trex([path], ["P19"], out)
    read_count = pq.read_metadata(out / "trex.parquet").num_rows
    dropped_count = pq.read_metadata(out / "dropped.parquet").num_rows
    if read_count + dropped_count != len(written):
        yield f"of {len(written)} lines {read_count} are read and {dropped_count} dropped"


def _tables(random: Random, number: int, folder: Path) -> Losses:
    """Parquet with changed bytes: read, or told with the file's name."""
    news = [json.loads(line) for line in _news_records()[:200]]
    pages = [{"title": f"Page {n}", "text": row["text"]} for n, row in enumerate(news)]
    answers = [{"id": f"r{n}", "prediction": row["title"]} for n, row in enumerate(news)]
    for table_name, rows, read in (
        ("news.parquet", news, _read_news),
        ("pages.parquet", pages, _read_page_table),
        ("p.parquet", answers, lambda path: [*read_predictions(path)]),
    ):
        path = folder / table_name
        pq.write_table(pa.Table.from_pylist(rows), path)
        whole = path.read_bytes()
        for _ in range(number):
            path.write_bytes(bitten(random, whole))
            with _naming(table_name):
                read(path)
    yield from ()


def _read_news(path: Path) -> None:
    index_archive(path, path.parent / "out")


def _read_page_table(path: Path) -> None:
    read_pages(path, [("Page 0", "Q1")], path.parent / "out")


def _pages() -> tuple[bytes, list[bytes]]:
    """The head of the sample export, and its articles with a text."""
    head, *rest = _sample("wikipedia/*-multistream.xml.bz2").split(b"<page>")
    pages = [b"<page>" + page.partition(b"</page>")[0] + b"</page>\n" for page in rest]
    return head, [page for page in pages if len(page) > 2000 and b"<ns>0</ns>" in page]


def _read_wanted(path: Path, number: int) -> tuple[int, list[str], Losses]:
    """Read so many pages; how many were seen, what was dropped, and what was lost."""
    titles_by_item, out = (
        {f"Q{place + 1}": f"Page {place}" for place in range(number)},
        path.parent / "out",
    )
    seen = read_pages(path, [(title, item) for item, title in titles_by_item.items()], out)
    dropped = _column(out / "dropped.parquet", "item")
    known_items = {
        *_column(out / "pages.parquet", "item"),
        *_column(out / "dropped.parquet", "subject"),
    }
    return (
        seen,
        dropped,
        (f"neither kept nor dropped: {item}" for item in titles_by_item.keys() - known_items),
    )


def _export(random: Random, number: int, folder: Path) -> Losses:
    """Whole pages stay whole among broken ones."""
    head, pages = _pages()
    path, written_pages = folder / "enwiki-20260201-pages-articles.xml", []
    for place in range(number):
        page = re.sub(rb"<title>[^<]*", b"<title>Page %d" % place, random.choice(pages), count=1)
        for _ in range(random.choice((1, 3, 10)) if place % 2 else 0):
            page = bitten(random, page)
        written_pages.append(page)
    path.write_bytes(head + b"".join(written_pages) + b"</mediawiki>\n")
    yield from _read_wanted(path, number)[2]
    kept = set(_column(folder / "out/pages.parquet", "title"))
    if lost := {f"Page {place}" for place in range(0, number, 2)} - kept:
        yield f"whole pages that are not kept: {sorted(lost)[:5]}"


def _page_lines(random: Random, number: int, folder: Path) -> Losses:
    """JSON lines of text, of paragraphs and of wikitext."""
    good: list[dict[str, Any]] = [{"title": "Page 0", "text": "Some text."}]
    for n, page in zip(range(1, number), cycle(_pages()[1]), strict=False):
        shown = page.decode().partition("<text")[2][:4000]
        forms: list[dict[str, Any]] = [
            {"wikitext": shown},
            {"text": shown, "links": [{"start": 0, "end": 3, "target": "Page 1"}]},
            {"paragraphs": [{"text": shown, "kind": "text", "section": "", "links": []}]},
        ]
        good.append({"title": f"Page {n}", "page": n, "revision": 7} | random.choice(forms))
    path = folder / "pages.jsonl"
    given = mixed(random, number, [json.dumps(record).encode() for record in good], path)
    seen, dropped, lost = _read_wanted(path, number)
    of_lines = sum(item.startswith("pages.jsonl:") for item in dropped)
    if seen + of_lines < len(given):
        yield f"of {len(given)} lines {of_lines} are dropped, {seen} seen"
    yield from lost


def _results(random: Random, number: int, folder: Path) -> Losses:
    """Every entry of a results file is taken or refused."""
    batch, path = batch_of(folder, rows=9, number=9), folder / "results.jsonl"
    results = [submission(batch, f"w{n}", random.randrange(len(batch.hits))) for n in range(number)]
    submissions = mixed(random, number, [json.dumps(one).encode() for one in results], path)
    done = take(folder, path)
    if done.taken + sum(done.refused.values()) != len(submissions):
        yield f"of {len(submissions)} entries {done.taken} are taken, refused {done.refused}"


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
        predictions = ({"id": f"r{n}-{m}"} | random.choice(answers) for m in range(10))
        rows, position = [json.dumps(row).encode() for row in predictions], random.randrange(10)
        rows[position] = mutated(random, rows[position])
        path.write_bytes(b"\n".join(rows) + b"\n")
        found = filled = sum(bool(row.strip()) for row in rows)
        with _naming(f"p.jsonl:{position + 1}: "):
            found = sum(batch.num_rows for batch in read_predictions(path))
        if found != filled:
            yield f"{found} of {filled} predictions are read"


def _answers_of_models(random: Random) -> list[dict[str, Any]]:
    """Some answers that models gave, as their owners shared them."""
    path = random.choice(sorted(ROOT.glob("docs/results/*/*/answers.jsonl")))
    answer_lines = path.read_bytes().splitlines()
    return [json.loads(line) for line in random.sample(answer_lines, min(12, len(answer_lines)))]


def _as_csv(model_answers: list[dict[str, Any]]) -> bytes:
    table_text = io.StringIO()
    row_writer = csv.writer(table_text)
    row_writer.writerow(["id", "config", "split", "prediction"])
    for answer_row in model_answers:
        row_writer.writerow(
            [
                answer_row["id"],
                answer_row.get("config"),
                answer_row.get("split"),
                _first_answer(answer_row),
            ]
        )
    return table_text.getvalue().encode()


def _first_answer(answer_row: dict[str, Any]) -> str:
    model_answers = (
        answer_row.get("prediction")
        or answer_row.get("candidates")
        or [*answer_row.get("scores", ())]
        or [""]
    )
    return model_answers if isinstance(model_answers, str) else str(model_answers[0])


def _as_samples(model_answers: list[dict[str, Any]]) -> bytes:
    """As lm-eval logs them."""
    sample_rows = [
        {
            "doc_id": row_number,
            "doc": {"id": answer_row["id"]},
            "resps": [[_first_answer(answer_row)]],
        }
        | {"filtered_resps": [_first_answer(answer_row)], "filter": "none"}
        for row_number, answer_row in enumerate(model_answers)
    ]
    return b"".join(json.dumps(sample_row).encode() + b"\n" for sample_row in sample_rows)


def _as_log(model_answers: list[dict[str, Any]]) -> bytes:
    """As Inspect logs them."""
    log_archive = io.BytesIO()
    with zipfile.ZipFile(log_archive, "w", zipfile.ZIP_DEFLATED) as log_file:
        log_file.writestr("header.json", '{"version": 2, "eval": {"model": "m", "task_args": {}}}')
        for answer_row in model_answers:
            sample_output = {"completion": _first_answer(answer_row), "choices": [{}]}
            sample_row = {"id": answer_row["id"], "epoch": 1, "output": sample_output}
            log_file.writestr(f"samples/{answer_row['id']}_epoch_1.json", json.dumps(sample_row))
    return log_archive.getvalue()


_PREDICTION_FILES: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "answers.jsonl": lambda model_answers: b"\n".join(
        json.dumps(answer_row).encode() for answer_row in model_answers
    ),
    "answers.jsonl.gz": lambda model_answers: gzip.compress(
        b"\n".join(json.dumps(answer_row).encode() for answer_row in model_answers)
    ),
    "list.json": lambda model_answers: json.dumps(model_answers, indent=1).encode(),
    "map.json": lambda model_answers: json.dumps(
        {answer_row["id"]: _first_answer(answer_row) for answer_row in model_answers}
    ).encode(),
    "answers.csv": _as_csv,
    "samples_x_2026-11-27T07-14-05.648090.jsonl": _as_samples,
    "log.eval": _as_log,
}


def _prediction_files(random: Random, number: int, folder: Path) -> Losses:
    """Damaged files of every form: read, or refused with the file's name."""
    for _ in range(number):
        name = random.choice([*_PREDICTION_FILES])
        path = folder / name
        path.write_bytes(bitten(random, _PREDICTION_FILES[name](_answers_of_models(random))))
        with _naming(name):
            for row_batch in read_predictions(path):
                row_batch.validate()
    yield from ()


def _result_files(random: Random, number: int, folder: Path) -> Losses:
    """Damaged result files of three platforms: entries are taken or refused, or the file is."""
    layout = load_layout("verify_facts")
    for platform in ("mturk", "label_studio"):
        platform_folder = folder / platform
        hit_batch = written(platform_folder / "hits", "verify_facts", platform)
        made_submissions = work(hit_batch, layout)
        whole_path = platform_folder / ("results.csv" if platform == "mturk" else "results.json")
        if platform == "mturk":
            mturk_csv(made_submissions, hit_batch, whole_path)
        else:
            label_studio_export(made_submissions, hit_batch, layout, whole_path)
        whole_bytes = whole_path.read_bytes()
        for case_number in range(number // 2):
            whole_path.write_bytes(bitten(random, whole_bytes))
            with _naming(whole_path.name):
                take(platform_folder, whole_path, out=f"judgments-{case_number}")
            shutil.rmtree(platform_folder / f"judgments-{case_number}", ignore_errors=True)
    yield from ()


def _yaml(random: Random, number: int, folder: Path) -> Losses:
    """Recipes, templates and layouts: read, or told with the file's name."""
    for pattern, model in random.choices(_CONFIGS, k=number):
        source = random.choice(sorted(ROOT.glob(pattern)))
        path = folder / source.name
        path.write_bytes(bitten(random, source.read_bytes()))
        with _naming(source.name):
            load(path, model)
    yield from ()


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """What is refused is refused with its place."""
    try:
        yield
    except UserError as error:
        assert place in str(error), f"the message does not name {place}: {error}"


_READERS: dict[str, tuple[int, Callable[[Random, int, Path], Losses]]] = {
    "lines of a dump": (4_000, _dump),
    "lines of news": (4_000, _archive),
    "pages of an export": (80, _export),
    "JSON lines of pages": (800, _page_lines),
    "results of annotators": (200, _results),
    "lines of predictions": (2_000, _predictions),
    "files of predictions": (100, _prediction_files),
    "result files of platforms": (6, _result_files),
    "recipes, templates and layouts": (40, _yaml),
    "JSON lines of news": (2_000, _news_lines),
    "lines of T-REx": (1_000, _trex_lines),
    "Parquet of news, pages and predictions": (30, _tables),
}
"""How many lines a case gives each reader, and what finds the losses."""
