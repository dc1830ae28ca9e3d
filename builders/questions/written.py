"""Questions that people wrote, from the gold rows of the layout `write_questions`.

After: StreamingQA (paper 000), section 2.4.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builders import rows
from builders.gold import told
from builders.questions.candidates import Finder, sentence_starts
from builders.questions.english.dates import dates
from builders.store import digest, row_id
from filters.base import Item
from filters.words import tokens

LAYOUT = "write_questions"
PEOPLE = "people"
_SEEN = ("question_day", "article_day", "article")
_SHORT = 3
"""Letters of a word between those of names: of, the, and, bin."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Written:
    """What people wrote for one draw: each question with the answers that were given to it.

    `seen`: a checksum of the days and the article that they were shown.
    """

    draw: str
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    seen: str


def read_written(gold: rows.Gold) -> Written | None:
    """The questions of a gold row, each once; None where it is none of this layout's."""
    answers, shown = told(gold) or ({}, {})
    found: dict[str, dict[str, None]] = {}
    for one in _entries(answers.get("questions")):
        pair = [one.get(name) for name in ("question", "answer")]
        texts = [" ".join(text.split()) for text in pair if isinstance(text, str)]
        if len(texts) < 2 or not all(texts):
            return None
        found.setdefault(texts[0], {})[texts[1]] = None
    seen = [shown.get(name) for name in _SEEN]
    if not found or not all(isinstance(text, str) for text in seen):
        return None
    questions = tuple((question, tuple(given)) for question, given in found.items())
    return Written(gold.row, questions, digest(seen))


def _entries(value: object) -> Iterator[Mapping[str, Any]]:
    """The entries of one worker's group, or of each of several workers'."""
    for one in value if isinstance(value, list) else ():
        if isinstance(one, Mapping):
            yield one
        elif isinstance(one, list):
            yield from _entries(one)


def written_items(
    articles: Iterable[rows.Article],
    draws: Mapping[str, Iterable[rows.Draw]],
    written: Mapping[str, Written],
    finder: Finder,
    counts: Counter[str],
) -> Iterator[tuple[Item, tuple[str, ...]]]:
    """Each written question with its article, and all its answers.

    `draws` holds the draws by article id. `counts`: `taken` or `changed`, where people were shown
    another day or text than the draw has now, one a draw.
    """
    for article in articles:
        found: list[rows.Candidate] | None = None
        for draw in draws[article.id]:
            one = written[draw.id]
            days = draw.question_day.isoformat(), draw.article_day.isoformat()
            if one.seen != digest([*days, article.text]):
                counts["changed"] += 1
                continue
            counts["taken"] += 1
            found = list(finder.find(article)) if found is None else found
            for text, answers in one.questions:
                id_ = row_id(draw.id, "written", text)
                answer = placed(answers[0], article, found)
                yield Item(rows.Question(id_, draw, text, answer, PEOPLE), article), answers


def placed(answer: str, article: rows.Article, found: Iterable[rows.Candidate]) -> rows.Candidate:
    """An answer where the article has it, with its type.

    Where the article does not have it, `start` and `end` are -1 and the text is as it was
    written; else it is spelled as in the article. The type is that of a candidate with the same
    words; else a date is a `date`, capitalised words with short ones between them are an
    `entity`, and the rest is a `phrase`.
    """
    words = tokens(answer)
    alike = [c for c in found if words and tokens(c.text) == words]
    start = _find(answer, article.text)
    if start < 0 and alike:
        return alike[0]
    same = next((c for c in alike if c.start == start), alike[0] if alike else None)
    end = start + len(answer) if start >= 0 else -1
    text = article.text[start:end] if start >= 0 else answer
    sentence = max((n for n, at in enumerate(sentence_starts(article)) if at <= start), default=0)
    kind = same.type if same else _type(answer)
    return rows.Candidate(start, end, text, kind, same.label if same else None, sentence)


def _find(answer: str, text: str) -> int:
    """Where an article has an answer as whole words, else -1."""
    whole = rf"(?<!\w){re.escape(answer)}(?!\w)"
    found = re.search(whole, text) or re.search(whole, text, re.IGNORECASE)
    return found.start() if found else -1


def _type(answer: str) -> rows.AnswerType:
    whole = any(start == 0 and end == len(answer) for start, end, _ in dates(answer))
    if whole or _YEAR.fullmatch(answer):
        return "date"
    written = answer.split()
    named = [any(c.isupper() for c in word) for word in written]
    between = all(name or len(word) <= _SHORT for name, word in zip(named, written, strict=True))
    return "entity" if named[0] and named[-1] and between else "phrase"
