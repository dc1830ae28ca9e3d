"""The plain way to score, for `bench.score`: what one writes in an hour, without an import of ours.

`python bench/score_loop.py RELEASE PREDICTIONS OUT` reads the release into a dictionary and each
line of the predictions with the standard library, normalises as SQuAD does, takes the best exact
match and F1 over the answers, and writes their means by config and split as JSON.
"""

import json
import re
import string
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq

PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(text: str) -> str:
    """A text in lower case, without punctuation, articles and further spaces."""
    text = re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(PUNCTUATION))
    return " ".join(text.split())


def f1(answer_words: list[str], target_words: list[str]) -> float:
    """The harmonic mean of precision and recall of words."""
    common = sum((Counter(answer_words) & Counter(target_words)).values())
    return 2 * common / (len(answer_words) + len(target_words)) if common else 0.0


def score(release: Path, predictions: Path) -> dict[str, list[float]]:
    """Config and split -> the mean exact match and the mean F1."""
    rows = {}
    for path in sorted(release.glob("data/*/*.parquet")):
        place = f"{path.parent.name}/{path.stem}"
        table = pq.read_table(path, columns=["id", "targets"])
        for row in table.to_pylist():
            rows[row["id"]] = (place, row["targets"])
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    with predictions.open(encoding="utf-8") as lines:
        for line in lines:
            prediction = json.loads(line)
            place, targets = rows[prediction["id"]]
            answer = normalize(prediction["prediction"])
            forms = [normalize(target) for target in targets]
            split = sums[place]
            split[0] += 1
            split[1] += max(answer == form for form in forms)
            split[2] += max(f1(answer.split(), form.split()) for form in forms)
    return {place: [exact / n, best / n] for place, (n, exact, best) in sums.items()}


if __name__ == "__main__":
    release, predictions, out = map(Path, sys.argv[1:])
    out.write_text(json.dumps(score(release, predictions)), encoding="utf-8")
