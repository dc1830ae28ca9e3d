"""Pages of Wikipedia as plain text with links."""

from dataclasses import dataclass
from typing import Annotated, Literal

ParagraphKind = Literal["text", "list", "table", "infobox"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a paragraph: `text[start:end]` is what is shown."""

    start: Annotated[int, "first character in the paragraph's text"]
    end: Annotated[int, "character after the last"]
    target: Annotated[str, "title of the page it leads to, redirects resolved where known"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, a list item, or a row of a table or infobox, without markup."""

    kind: Annotated[ParagraphKind, "text, list, table or infobox"]
    section: Annotated[str, "titles of the sections that hold it, joined by ` / `; empty: lead"]
    text: Annotated[str, "one line of plain text; its place in the page counts from 0"]
    links: Annotated[tuple[Link, ...], "links to pages, in order, not overlapping"]


@dataclass(frozen=True, slots=True)
class UnlistedTemplate:
    """A template that the reader's lists do not name, counted over all pages."""

    template: Annotated[str, "name of the template in small letters"]
    uses: Annotated[int, "how often it stands in the pages"]
    texts_shown: Annotated[int, "how often text of its arguments is shown"]
    texts_missing: Annotated[int, "how often it stands in the text and shows nothing"]
    pages: Annotated[int, "pages in which it stands"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an encyclopedia in one revision."""

    item: Annotated[str, "Wikidata id whose sitelink the page is"]
    title: Annotated[str, "title of the page, with spaces"]
    page: Annotated[int, "page id; 0: not given"]
    revision: Annotated[int, "revision id; 0: not given"]
    paragraphs: Annotated[tuple[Paragraph, ...], "what the page says, in order"]
