"""The HTML that a layout's template writes: it is parsed, checked, and written anew.

Only the elements and attributes that are listed here are taken. What goes onto the page is written
from what was parsed, so that no browser reads it in another way than this parser.
"""

import re
from html import escape
from html.parser import HTMLParser
from urllib.parse import urlsplit

_STRUCTURE = """
    address article aside blockquote br caption col colgroup dd details div dl dt figcaption figure
    footer h1 h2 h3 h4 h5 h6 header hr li ol p pre section summary table tbody td tfoot th thead tr
    ul wbr
"""
_IN_A_LINE = """
    a abbr b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strong sub
    sup time u var
"""
TAKEN_ELEMENTS = frozenset(f"{_STRUCTURE} {_IN_A_LINE}".split())
_EMPTY_ELEMENTS = frozenset(["br", "col", "hr", "wbr"])
# Elements that HTML lets end by themselves.
_SELF_ENDING = frozenset("caption colgroup dd dt li p rp rt tbody td tfoot th thead tr".split())
TAKEN_ATTRIBUTES = frozenset(
    """
    class colspan data-answer data-label data-show datetime dir headers hidden id lang open
    reversed role rowspan scope start title translate type value
    """.split()
)
_HIGHEST_SPAN = 1000
"""The most rows or columns that a cell may span; HTML itself takes no more columns."""
_LINK_SCHEMES = ("http", "https", "mailto")
_OWN_IDS = "layout-"
"""Ids of a layout begin so, because the script of the page finds its own parts by their ids."""


class MarkupError(Exception):
    """HTML that is not taken; its arguments: what is wrong, and a text by which it can be found."""


def checked_markup(html_text: str) -> tuple[str, list[str]]:
    """Return HTML written anew from its taken parts, and the names of the answers placed in it.

    Comments are left out. Raises `MarkupError` for everything else that is not taken.
    """
    parser = _TaskParser()
    parser.feed(html_text)
    parser.close()
    if parser.open_elements:
        element = parser.open_elements[-1]
        raise MarkupError(f"<{element}> is never closed", f"<{element}")
    return "".join(parser.written), parser.placed_answers


class _TaskParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.written: list[str] = []
        self.placed_answers: list[str] = []
        self.open_elements: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAKEN_ELEMENTS:
            raise MarkupError(f"<{_word(tag)}> is not allowed in a layout", f"<{tag}")
        tag_text = f"<{tag}"
        for attribute_name, attribute_value in attrs:
            if problem := _attribute_problem(tag, attribute_name, attribute_value or ""):
                raise MarkupError(problem, attribute_name)
            if attribute_name == "data-answer":
                self.placed_answers.append(attribute_value or "")
            tag_text += f" {attribute_name}"
            if attribute_value is not None:
                tag_text += f'="{escape(attribute_value)}"'
        if tag == "a":  # a page's address names the worker, which no other site learns
            tag_text += ' rel="noreferrer noopener"'
        self.written.append(f"{tag_text}>")
        if tag not in _EMPTY_ELEMENTS and tag not in _SELF_ENDING:
            self.open_elements.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read `<div/>` as `<div>`, as browsers do."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _EMPTY_ELEMENTS or tag not in TAKEN_ELEMENTS:
            raise MarkupError(f"</{_word(tag)}> closes nothing", f"</{tag}")
        if tag not in _SELF_ENDING and (not self.open_elements or self.open_elements.pop() != tag):
            raise MarkupError(f"</{tag}> closes nothing, or is at a wrong place", f"</{tag}")
        self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.written.append(escape(data, quote=False))

    def handle_entityref(self, name: str) -> None:
        self.written.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.written.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        """Leave a comment out."""

    def handle_decl(self, decl: str) -> None:
        raise MarkupError("<!…> is not allowed in a layout", "<!")

    def handle_pi(self, data: str) -> None:
        raise MarkupError("<?…> is not allowed in a layout", "<?")

    def unknown_decl(self, data: str) -> None:
        raise MarkupError("<!…> is not allowed in a layout", "<![")


def _attribute_problem(tag: str, attribute_name: str, attribute_value: str) -> str | None:
    """What is wrong with an attribute, or None if it is taken."""
    if attribute_name == "href" and tag == "a":
        if not _is_plain_link(attribute_value):
            return f"not a link that a layout can have: {_word(attribute_value)!r}"
    elif attribute_name not in TAKEN_ATTRIBUTES and not re.fullmatch(
        # `aria-label`, not `aria-` or `onclick`
        r"aria-[a-z]+",
        attribute_name,
    ):
        return f"{_word(attribute_name)}=… is not allowed in a layout"
    elif attribute_name == "id" and not attribute_value.startswith(_OWN_IDS):
        return f"an id in a layout begins with {_OWN_IDS!r}, not {_word(attribute_value)!r}"
    elif attribute_name in ("colspan", "rowspan") and not (
        attribute_value.isdecimal()
        and len(attribute_value) < 5
        and int(attribute_value) <= _HIGHEST_SPAN
    ):
        return f"{attribute_name} is a number up to {_HIGHEST_SPAN:,}"
    return None


def _is_plain_link(address: str) -> bool:
    """Whether a link leads to a page, a mail address or a place of a layout's own."""
    if not address.isprintable() or "\\" in address or address != address.strip():
        return False
    try:
        return address.startswith(f"#{_OWN_IDS}") or urlsplit(address).scheme in _LINK_SCHEMES
    except ValueError:  # brackets that hold no IPv6 address
        return False


def _word(text: str) -> str:
    """A word of HTML for a message, with its end left out if it is long."""
    return text if len(text) <= 60 else f"{text[:60]}…"
