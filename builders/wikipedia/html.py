"""Text that is HTML: recognised, and read as lines with links."""

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

from factdrift.builders.rows import Link
from factdrift.builders.wikipedia.titles import normalise_title

# Closing tags alone: `a <b> c` may be a formula, `</b>` is none.
_CLOSING = re.compile(
    r"</(?:a|b|i|p|em|li|ol|td|th|tr|ul|div|dl|h[1-6]|sup|sub|span|table|body|html|head|section|strong)\s*>",
    re.I,
)
_LINE_TAGS = frozenset(
    "p div br li ul ol dl dt dd tr table h1 h2 h3 h4 h5 h6 section blockquote body html".split()
)
_UNSEEN = frozenset("script style head title noscript template".split())
# `/wiki/Leeds#History`, `./Leeds`, `https://en.m.wikipedia.org/wiki/Leeds`; no other site.
_TARGET = re.compile(r"(?:https?://en\.(?:m\.)?wikipedia\.org)?(?:/wiki/|\./)([^?#]+)(?:[?#].*)?")


def is_html(text: str) -> bool:
    """Whether a text has closing tags of HTML."""
    return "</" in text and _CLOSING.search(text) is not None


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.length = 0
        self.links: list[Link] = []
        self.open: tuple[int, str] | None = None
        self.hidden = 0

    def put(self, text: str) -> None:
        if not self.hidden:
            self.pieces.append(text)
            self.length += len(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LINE_TAGS:
            self.put("\n")
        self.hidden += tag in _UNSEEN
        target_match = _TARGET.fullmatch(dict(attrs).get("href") or "") if tag == "a" else None
        self.open = (
            (self.length, normalise_title(unquote(target_match[1]))) if target_match else None
        )

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN and self.hidden:
            self.hidden -= 1
        if tag == "a" and self.open:
            start, target = self.open
            if target and self.length > start:
                self.links.append(Link(start, self.length, target))
            self.open = None
        if tag in _LINE_TAGS:
            self.put("\n")

    def handle_data(self, data: str) -> None:
        self.put(data.replace("\n", " "))


def html_to_text(text: str) -> tuple[str, list[Link]]:
    """Return the text that a browser shows of HTML, a paragraph a line, and its links to pages."""
    reader = _Reader()
    marked_up, unmarked = _before_last_tag(text)
    reader.feed(marked_up)
    reader.close()
    reader.put(unescape(unmarked).replace("\n", " "))
    return "".join(reader.pieces), reader.links


def _before_last_tag(text: str) -> tuple[str, str]:
    """A text up to its last tag, and what follows, in which no tag can end any more.

    A comment without an end hides what follows it, as in a browser. The parser of the standard
    library reads all of a text again for every comment and every tag without an end.
    """
    comment = text.find("<!--", text.rfind("-->") + 1)
    if comment >= 0:
        text = text[:comment]
    last_end = text.rfind(">") + 1
    return text[:last_end], text[last_end:]
