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
"""What says that there is no answer, once normalised."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """A text in lower case, without ASCII punctuation, English articles and further spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def normalize_or_keep(text: str) -> str:
    """The normalized text; where nothing is left (`The The`), the text in lower case."""
    return normalize_answer(text) or " ".join(text.lower().split())


def exact_match(answer: str | None, references: Sequence[str]) -> float:
    """1 if an answer is one of the references once normalised, else 0; None is no answer.

    Without references: whether it says that there is no answer.
    """
    accepted_texts = map(normalize_answer, references) if references else NO_ANSWER_TEXTS
    return float(answer is not None and normalize_answer(answer) in accepted_texts)


def f1(answer: str | None, references: Sequence[str]) -> float:
    """The best F1 of an answer's words with a reference's, from 0 to 1; without any `exact_match`.

    Where either has no words left, 1 if neither has, else 0.
    """
    if answer is None or not references:
        return exact_match(answer, references)
    answer_words = normalize_answer(answer).split()
    return max(
        token_f1(answer_words, normalize_answer(reference).split()) for reference in references
    )


def token_f1(answer_words: Sequence[str], reference_words: Sequence[str]) -> float:
    """The F1 of two lists of normalised words."""
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    common_count = (Counter(answer_words) & Counter(reference_words)).total()
    return 2 * common_count / (len(answer_words) + len(reference_words))


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """What lm-eval asks for: the scores of a row, given what the model wrote."""
    answer, targets = results[0].strip(), doc["targets"]
    return {"exact_match": exact_match(answer, targets), "f1": f1(answer, targets)}
