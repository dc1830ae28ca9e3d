"""Rule (c) of the alignment: the passage that is like a name, and names no other thing."""

import re
from collections.abc import Sequence
from functools import cached_property, partial

from builders.timeqa.mentions import Mention, PageText
from builders.timeqa.similarity import Passages, Similar
from builders.timeqa.spelling import Name, without_bracket, words

_OF = re.compile(r"\s+of (?:the )?([^\W\d_][\w'’.&-]*)")


class Alike:
    """The passages of a page that are like the names of one of its objects.

    `own`: its names and the title of its page; `others`: those of the subject's other objects.
    """

    def __init__(
        self,
        text: PageText,
        passages: Passages,
        own: tuple[Sequence[Name], str | None],
        others: Sequence[tuple[Sequence[Name], str | None]],
    ) -> None:
        self._text, self._passages = text, passages
        self._names, self._title = own
        self._others = others

    def best(self, least: float, but: set[int]) -> Similar | None:
        """The best by the names of at least two words, outside the paragraphs `but`."""
        near = [
            self._passages.nearest(n.text, least, but, partial(self._names_another, n))
            for n in self._names
            if len(n.words) > 1 and not n.weak
        ]
        return max((n for n in near if n), key=lambda n: (n.score, -n.paragraph), default=None)

    @cached_property
    def _elsewhere(self) -> list[Mention]:
        """Where the page names other objects, or links to any other page."""
        own = {n.words for n in self._names}
        links = (
            Mention(n, link.start, link.end, linked=True)
            for n, paragraph in enumerate(self._text.page.paragraphs)
            for link in paragraph.links
            if link.target != self._title and words(without_bracket(link.target)) not in own
        )
        named = (m for names, title in self._others for m in self._text.named(names, title)[0])
        return [*links, *named]

    def _names_another(self, name: Name, near: Similar) -> bool:
        """Whether a window is in the name of another thing, or goes on as one ("of Canada").

        What stands inside the window and is made of the name's own words does not count: a bank,
        in the title of its governor.
        """
        line, known = self._text.texts[near.paragraph], set(name.words)
        beyond = _OF.match(line, near.end)
        if beyond and beyond[1][0].isupper() and not known.issuperset(words(beyond[1])):
            return True
        for m in self._elsewhere:
            if m.paragraph != near.paragraph or m.start >= near.end or m.end <= near.start:
                continue
            inside = near.start <= m.start and m.end <= near.end
            whole = (m.start, m.end) == (near.start, near.end)
            if whole or not inside or not known.issuperset(words(line[m.start : m.end])):
                return True
        return False
