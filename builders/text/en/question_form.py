"""The form of a question, which has to be one plain interrogative sentence."""

import re

from factdrift.builders.text.data import word_set
from factdrift.builders.text.quotations import replace_quotations

_WH = word_set("who whom whose what which when where why how")
_AUX = word_set(
    "is are was were am do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't "
    "wouldn't shouldn't"
)
# Brackets are looked for from the first one alone (`^`): else a thousand of them are read a
# thousand times.
_NOT_PLAIN = re.compile(
    r"^[^\[]*+\[[^\]]*+\]|^[^{]*+\{[^}]*+\}"
    r"|<[A-Za-z_ ]+>|_{2,}|\bBLANK\b|\bXXX+\b"  # a slot that nobody filled
    r"|</?[a-z]+>|\*\*|`|^#+\s|\]\("  # markup
    r"|^(?:[-*•]\s|\(?\d{1,2}[.):]\s|\(?[a-zA-Z][.):]\s"  # a label
    r"|(?:[Qq]uestion|QUESTION|Q\d*|A\d*|[Aa]nswer)\b[^?]{0,3}:"
    r"|[^?]{0,60}:\s+(?:who|what|which|when|where|why|how)\b)"
    r"|(?<![A-Z])(?<!\b(?:Mr|Ms|Dr|Sr|Jr|St|vs))(?<!\b(?:Mrs|Gen|Gov|Sen|Rep|Lt\.|Inc))[.!]\s+"
    r"(?:Who|Whom|Whose|What|Which|When|Where|Why|How|Is|Are|Was|Were|Did|Does|Do|The|Here)\b"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BROKEN = ("…", "..", ",", ":", ";", "-", "–", "—")
_PAIRS = (("(", ")"), ("“", "”"), ("[", "]"))


def malformation(question: str) -> str | None:
    """The reason why a text is not one plain question, or None; quotations are not searched."""
    text = question.strip()
    unquoted_text = replace_quotations(text, lambda quotation: "Title")
    if not text.endswith("?"):
        return "no_question_mark"
    unpaired_marks = text.count('"') % 2 or any(
        text.count(opening) != text.count(closing) for opening, closing in _PAIRS
    )
    more_than_one = unquoted_text.count("?") > 1 or len(text.splitlines()) > 1
    if (
        unpaired_marks
        or more_than_one
        or unquoted_text.rstrip("? ").endswith(_BROKEN)
        or _NOT_PLAIN.search(unquoted_text)
    ):
        return "not_plain_text"
    return None if _asks(unquoted_text) else "not_a_question"


def _asks(text: str) -> bool:
    """Whether a text begins like a question, or has a question word later (`Lima is where?`)."""
    question_words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    if not question_words:
        return False
    if question_words[0] in _AUX:
        return True
    wh_index = next(
        (index for index, word in enumerate(question_words) if word.split("'")[0] in _WH), None
    )
    return wh_index is not None and question_words[0] not in _COMMANDS


_COMMANDS = word_set("tell say name give list explain describe find state write ask identify")
