"""Exact match and F1 of short answers, as SQuAD scores them (Rajpurkar et al. 2016, section 6.1).

Releases have a copy of this file for harnesses: it needs nothing but Python. Of a question with no
accepted answer, saying so is right and any other answer is wrong (Chen et al. 2021, TimeQA).
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

NO_ANSWER_TEXTS = ("", "unanswerable", "no answer", "unknown", "i dont know")
"""Normalized texts that say that there is no answer."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """A text in lower case, without ASCII punctuation and English articles, in single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def normalize_or_keep(text: str) -> str:
    """The normalized text; where nothing is left (`The The`), the text in lower case."""
    return normalize_answer(text) or " ".join(text.lower().split())


def exact_match(answer: str | None, references: Sequence[str]) -> float:
    """1 if the normalized answer equals a normalized reference, else 0; None is no answer.

    Without references, an answer is right if it says that there is no answer.
    """
    accepted_texts = map(normalize_answer, references) if references else NO_ANSWER_TEXTS
    return float(answer is not None and normalize_answer(answer) in accepted_texts)


def f1(answer: str | None, references: Sequence[str]) -> float:
    """The best F1 between the words of an answer and of a reference, from 0 to 1.

    Without references it is `exact_match`. Where one side has no words after normalisation, it is 1
    if the other has none either, else 0.
    """
    if answer is None or not references:
        return exact_match(answer, references)
    answer_words = normalize_answer(answer).split()
    return max(
        token_f1(answer_words, normalize_answer(reference).split()) for reference in references
    )


def token_f1(answer_words: Sequence[str], reference_words: Sequence[str]) -> float:
    """The F1 of two lists of normalized words."""
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    common_count = (Counter(answer_words) & Counter(reference_words)).total()
    return 2 * common_count / (len(answer_words) + len(reference_words))


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The scores of a row, given the output of a model; lm-eval calls this function."""
    answer, targets = results[0].strip(), doc["targets"]
    return {"exact_match": exact_match(answer, targets), "f1": f1(answer, targets)}
