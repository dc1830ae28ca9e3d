"""Pages as contexts: one text a page, and where the mentions of its paragraphs lie in it."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from builders import rows
from builders.timeqa.asked import Asked

LINE_END = "\n"


class Context:
    """The text of a page: its paragraphs, joined by line ends. `kept` False: ids and offsets."""

    def __init__(self, page: rows.Page, kept: bool) -> None:
        texts = [p.text for p in page.paragraphs]
        whole = LINE_END.join(texts)
        self.title = page.title
        self.sha256 = hashlib.sha256(whole.encode()).hexdigest()
        self.text = whole if kept else ""
        self._starts = [0, *accumulate(len(text) + len(LINE_END) for text in texts)]

    def spans(self, one: Asked) -> tuple[rows.Spans, tuple[int, ...]]:
        """Where the context names the answers, and the paragraph of each, in order of place."""
        places = {
            (s.paragraph, s.start, s.mention)
            for s in one.selected
            if s.paragraph is not None and s.start is not None and s.mention is not None
        }
        found = sorted(places)
        starts = tuple(self._starts[paragraph] + start for paragraph, start, _ in found)
        return rows.Spans(tuple(m for *_, m in found), starts), tuple(p for p, *_ in found)


def question(one: Asked, context: Context, split: str) -> rows.TimeQuestion:
    """The released row of a question."""
    return rows.TimeQuestion(**_values(one, context, split))


def probe(one: Asked, context: Context, split: str) -> rows.TimeProbe:
    """The released row of a probe."""
    assert one.probe_of is not None and one.probe is not None  # noqa: S101 (probes have both)
    return rows.TimeProbe(**_values(one, context, split), probe_of=one.probe_of, probe=one.probe)


_SAME: Sequence[str] = (
    "id question objects answerable difficulty specifier time_first time_last subject "
    "subject_label relation relation_label template rules verification page revision"
).split()


def _values(one: Asked, context: Context, split: str) -> dict[str, Any]:
    answers, paragraphs = context.spans(one)
    return {
        **{name: getattr(one, name) for name in _SAME},
        "split": split,
        "title": context.title,
        "context": context.text,
        "answers": answers,
        "paragraphs": paragraphs,
        "context_sha256": context.sha256,
    }
