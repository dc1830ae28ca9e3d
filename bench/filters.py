"""How fast the search index is built and asked, and the local scorer scores.

    python -m bench.filters [articles]

Articles are made of words drawn with the frequencies of real text (Zipf); ratios, not absolute
figures, are what a noisy machine gives.
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

from factdrift.builders.rows import Article
from factdrift.filters.search_index import Index
from factdrift.filters.toxicity.local import Local

VOCABULARY = [f"w{n:x}" for n in range(100_000)]
WEIGHTS = list(accumulate(1 / (n + 1) for n in range(len(VOCABULARY))))
FIRST = date(2007, 1, 1)
QUERIES = 500
TEXTS = 20_000


def articles(count: int) -> Iterator[Article]:
    """Articles of 25 sentences of 20 words over 14 years."""
    draw = random.Random(1)
    for n in range(count):
        words = draw.choices(VOCABULARY, cum_weights=WEIGHTS, k=500)
        lines = tuple(" ".join(words[i : i + 20]) for i in range(0, 500, 20))
        day = FIRST + timedelta(n * 5000 // count)
        yield Article(f"{day:%Y%m%d}-{n:08}", day, lines, "\n".join(lines))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    began = time.perf_counter()
    for _ in articles(count):
        pass
    making = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        index = Index.build(articles(count), Path(folder) / "index")
        took = time.perf_counter() - began - making
        size = sum(p.stat().st_size for p in (Path(folder) / "index").iterdir())
        print(
            f"index: {count / took:,.0f} articles/s, {index.passages / took:,.0f} passages/s, "
            f"{size / count:,.0f} bytes an article"
        )
        draw = random.Random(2)
        asked = [
            " ".join(draw.choices(VOCABULARY, cum_weights=WEIGHTS, k=12)) for _ in range(QUERIES)
        ]
        began = time.perf_counter()
        for query in asked:
            index.search(query, FIRST + timedelta(4000), 10)
        print(f"search: {QUERIES / (time.perf_counter() - began):,.0f} queries/s of 12 words")
    scoring = Local().start(None, print)
    texts = [f"Who won the election number {n} in Croatia?" for n in range(TEXTS)]
    began = time.perf_counter()
    for i in range(0, TEXTS, 256):
        scoring.score(texts[i : i + 256])
    print(f"local scorer: {TEXTS / (time.perf_counter() - began):,.0f} questions/s")


if __name__ == "__main__":
    main()
