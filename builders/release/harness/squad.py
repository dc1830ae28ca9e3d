"""Exact match and token F1 after SQuAD's normalisation, the best over the accepted answers.

This file needs nothing but Python. Source: Rajpurkar et al. 2016, section 6.1; of a question with
no accepted answer, saying so is right and any other answer is wrong (Chen et al. 2021, TimeQA).
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

NOTHING = ("", "unanswerable", "no answer", "unknown", "i dont know")
"""What says that there is no answer, after normalisation."""
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single spaces."""
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def exact_match(prediction: str, targets: Sequence[str]) -> float:
    """1 or 0; no targets: whether the prediction says that there is no answer."""
    answer = normalised(prediction)
    return float(answer in (map(normalised, targets) if targets else NOTHING))


def f1(prediction: str, targets: Sequence[str]) -> float:
    """The best overlap in words with a target, from 0 to 1; no targets: as `exact_match`."""
    if not targets:
        return exact_match(prediction, targets)
    answer = normalised(prediction).split()
    return max(_overlap(answer, normalised(target).split()) for target in targets)


def _overlap(answer: Sequence[str], right: Sequence[str]) -> float:
    if not answer or not right:
        return float(answer == right)
    common = sum((Counter(answer) & Counter(right)).values())
    return 2 * common / (len(answer) + len(right))


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """What lm-eval asks for: the scores of a row, given what the model wrote."""
    answer, targets = results[0].strip(), doc["targets"]
    return {"exact_match": exact_match(answer, targets), "f1": f1(answer, targets)}
