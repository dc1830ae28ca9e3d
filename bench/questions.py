"""Figures of the gazetteer and the candidates: `python -m bench.questions [MILLIONS OF NAMES]`."""

import base64
import gzip
import random
import resource
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from factdrift.builders.generate.candidates import ParseFinder
from factdrift.builders.generate.gazetteer import Gazetteer
from factdrift.builders.generate.parses import parse
from factdrift.builders.rows import Article
from factdrift.builders.text.pipeline import pipeline

NEWS = Path("samples/news")


def made_up(count: int) -> Iterator[tuple[str, str | None]]:
    """Names of two to four made-up words; about as long as labels of Wikidata."""
    rng = random.Random(1)
    ends = ["ova", "ski", "man", "son", "berg", "ton", "ley", "ard", "ini"]
    starts = [a + b for a in ("Bar", "Kel", "Mor", "Tan", "Sol") for b in ("an", "el", "ir", "os")]
    parts = [s + c + e for s in starts for c in "bdgkmnrtvz" for e in ends]
    for _ in range(count):
        yield " ".join(rng.choices(parts, k=rng.randint(2, 4))), "PERSON"


def articles() -> Iterator[Article]:
    """The sample news."""
    for path in sorted(NEWS.glob("news-docs.*.gz")):
        for n, line in enumerate(gzip.decompress(path.read_bytes()).decode().splitlines()):
            day, split, _ = line.split("\t")
            rows = tuple(base64.b64decode(split).decode().splitlines())
            yield Article(f"{day}-{n}", date.fromisoformat(day), rows, "\n".join(rows))


def memory() -> float:
    """Largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one figure a line."""
    count = int(float(sys.argv[1] if len(sys.argv) > 1 else 2) * 1e6)
    before = memory()
    start = time.perf_counter()
    for _ in made_up(count):
        pass
    making = time.perf_counter() - start
    start = time.perf_counter()
    known = Gazetteer.build(made_up(count))
    took = time.perf_counter() - start - making
    size = (known.hashes.nbytes + known.kinds.nbytes) / 1e6
    print(f"build: {count:,} names in {took:.1f} s, {size:.0f} MB kept, ", end="")
    print(f"{memory() - before:.0f} MB at the peak")
    news = list(articles())
    texts = [s for a in news for s in a.sentences]
    tokens = [[(t.idx, t.idx + len(t)) for t in pipeline().tokenizer(s)] for s in texts]
    start = time.perf_counter()
    for text, toks in zip(texts, tokens, strict=True):
        known.matches(text, toks)
    took = time.perf_counter() - start
    print(f"match: {sum(map(len, tokens)) / took:,.0f} tokens a second")
    start = time.perf_counter()
    parses = {a.id: parse(a) for a in news}
    print(f"parse: {len(news) / (time.perf_counter() - start):,.1f} articles a second")
    finder = ParseFinder(known, lambda a: parses[a.id])
    start = time.perf_counter()
    found = [finder.find(a) for a in news]
    asked = sum(len(finder.read(a).asked) for a in news)
    took = time.perf_counter() - start
    print(f"questions: {asked:,} asked, {sum(map(len, found)):,} candidates, ", end="")
    print(f"{len(news) / took:,.0f} articles a second")


if __name__ == "__main__":
    main()
