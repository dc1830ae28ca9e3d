"""Templates to text: the query with a blank, and the sentence with its answer.

A template holds one subject and one object in angle brackets. `<object>` is the bare label;
`<the object>` puts "the" where the name takes it (the Labour Party, but Fidesz); `<an object>`
or `<a object>` puts the article by sound (an actor). In a query the blank stands for the object
*and its article*, so that no article gives the answer away. Labels are data: whatever they hold
is printed as it is and never read as a placeholder.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from factdrift.builders.core.config import did_you_mean
from factdrift.builders.text.en.articles import a_or_an, takes_the

BLANK = "_X_"

# It matches `{subject}` and `[the object]`, but not `{name}`.
_BRACES = re.compile(r"([{\[](?:(?:the|an?) )?(subject|object|time)[}\]])")
# Words in lower case that begin a name: de Havilland, van der Waals force, al-Nahda.
_PARTICLES = re.compile(
    "al|bin|da?|del?|della|den|der|di|dos?|du|el|ibn|la|le|te|ten|ter|van|von|y|zu"
)
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?![^\s,;:)/-])")
# It matches ` (India)` in `Minister of Finance (India)`.
_BRACKET = re.compile(r" \([^()]*\)$")
_STOPS = (".", "!", "?", "…")


ArticleWord = Literal["", "the", "a"]
Role = Literal["subject", "object", "time"]
_CLOZE: tuple[Role, ...] = ("subject", "object")
QUESTION_ROLES: tuple[Role, ...] = ("subject", "time")
"""The roles in the template of a question, which has no object."""


class Placeholder(NamedTuple):
    """A placeholder of a template.

    `role` says whether the subject, the object or a time fills it. `article` is the grammatical
    article that the template has before it: `the`, `a` or none.
    """

    role: Role
    article: ArticleWord


_ARTICLES: tuple[tuple[str, ArticleWord], ...] = (
    ("", ""),
    ("the ", "the"),
    ("a ", "a"),
    ("an ", "a"),
)


Part = str | Placeholder
Articles = Mapping[str, bool]
_BY_NAME: Articles = {}


@cache
def parse_template(template: str, roles: tuple[Role, ...] = _CLOZE) -> tuple[Part, ...]:
    """The fixed texts and placeholders of a template, in order, with one placeholder a role.

    Raises one ValueError for all placeholders that are unknown, missing or repeated.
    """
    parts: list[Part] = []
    mistakes: list[str] = []
    meant_roles: set[str] = set()
    for index, template_part in enumerate(re.split(r"(<[^<>]*>)", template)):
        if index % 2:
            try:
                parts.append(_placeholder(template_part, roles))
            except ValueError as error:
                mistakes.append(str(error))
                meant_roles |= {role for role in roles if f"{role}>?" in mistakes[-1]}
        elif template_part:
            parts.append(template_part)
            mistakes += _text_mistakes(template_part)
            meant_roles.update(role for _, role in _BRACES.findall(template_part))
    mistakes += _role_mistakes(parts, roles, meant_roles)
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return tuple(parts)


def _text_mistakes(text: str) -> list[str]:
    """What is wrong in a text between placeholders."""
    if "<" in text or ">" in text:
        return [f"an angle bracket without its partner: {text.strip()}"]
    return [f"write <{role}> for {braced}" for braced, role in _BRACES.findall(text)]


def _role_mistakes(
    parts: Sequence[Part], roles: Sequence[Role], meant_roles: Collection[str]
) -> list[str]:
    """The placeholders that are missing or repeated; what is misspelt is not missing, too."""
    roles_found = [part.role for part in parts if isinstance(part, Placeholder)]
    mistakes: list[str] = []
    for role in roles:
        count = roles_found.count(role)
        if count > 1 or (count == 0 and role not in meant_roles):
            how_many = "more than one" if count else "no"
            mistakes.append(f"{how_many} <{role}>; a template has exactly one")
    return mistakes


def query(
    template: str, subject_label: str, blank: str = BLANK, articles: Articles = _BY_NAME
) -> str:
    """The template with its subject, and one blank for the object and its article.

    `articles` says of a name, here and below, whether it takes "the" where a template wants the
    article. For names that it lacks, the form of the name decides.

    >>> query("<subject> is <an object> by profession.", "Tom Hanks")
    'Tom Hanks is _X_ by profession.'
    """
    return _text(parse_template(template), subject_label, None, blank, articles)


def written_subject(template: str, subject_label: str, articles: Articles = _BY_NAME) -> str:
    """The subject as `query` writes it: with a capital where a common noun begins the text.

    >>> written_subject("<subject> is a kind of <object>.", "violin")
    'Violin'
    >>> written_subject("The kind of <subject> is <object>.", "violin")
    'violin'
    """
    first_part = parse_template(template)[0]
    if not isinstance(first_part, Placeholder) or first_part.role != "subject":
        return subject_label
    return (
        subject_label if _article(first_part, subject_label, articles) else _capital(subject_label)
    )


def sentence(
    template: str, subject_label: str, object_label: str, articles: Articles = _BY_NAME
) -> str:
    """The template with subject and object as good English.

    >>> sentence("<subject> is <an object> by profession.", "Tom Hanks", "actor")
    'Tom Hanks is an actor by profession.'
    """
    return _text(parse_template(template), subject_label, object_label, "", articles)


def question(template: str, subject_label: str, time: str, articles: Articles = _BY_NAME) -> str:
    """The question with its subject and its time; the time contains its own preposition.

    >>> question("Which team did <subject> play for <time>?", "Cristiano Ronaldo", "in 2020")
    'Which team did Cristiano Ronaldo play for in 2020?'
    """
    return _text(parse_template(template, QUESTION_ROLES), subject_label, time, "", articles)


def parse_phrase(template: str) -> tuple[Part, ...]:
    """The parts of a template for part of a sentence: with a subject, an object, or both."""
    roles = tuple(role for role in _CLOZE if f"{role}>" in template)
    return parse_template(template, roles or _CLOZE)


def phrase(
    template: str, subject: str, object_label: str = "", articles: Articles = _BY_NAME
) -> str:
    """The text of a part of a sentence; a subject that begins with "the " keeps its article.

    >>> phrase("the head coach of <the subject>", "the team that Jude Bellingham played for")
    'the head coach of the team that Jude Bellingham played for'
    """
    articles = {subject: False} if subject.startswith("the ") else articles
    parts = parse_phrase(template)
    phrase_text = _text(("\0", *parts), subject, object_label, "", articles)
    return phrase_text[1:]


def object_last(template: str) -> bool:
    """Whether only punctuation follows the object, as left-to-right models need it."""
    *_, part_before, last_part = ("", *parse_template(template))
    object_part = (
        part_before if isinstance(last_part, str) and not re.search(r"\w", last_part) else last_part
    )
    return isinstance(object_part, Placeholder) and object_part.role == "object"


def _placeholder(text: str, roles: tuple[Role, ...]) -> Placeholder:
    placeholders: dict[str, Placeholder] = {
        f"<{article}{role}>": Placeholder(role, kind)
        for role in roles
        for article, kind in (_ARTICLES if role != "time" else _ARTICLES[:1])
    }
    if text not in placeholders:
        near_miss = did_you_mean(f"<{' '.join(text[1:-1].split())}>", placeholders)
        names_hint = (
            f"did you mean {near_miss}?" if near_miss else f"there are {', '.join(placeholders)}"
        )
        raise ValueError(f"unknown placeholder {text}, {names_hint}")
    return placeholders[text]


def _text(
    parts: tuple[Part, ...], subject: str, answer: str | None, blank: str, articles: Articles
) -> str:
    """Joins the parts; `answer` None prints `blank` in its place."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            # One full stop where a name ends with its own: "… Manchester United F.C."
            text += part[1:] if part.startswith(".") and text.endswith(_STOPS) else part
            continue
        label = subject if part.role == "subject" else answer
        if label is None:
            text += blank
        elif article := _article(part, label, articles):
            text += f"{article if text else article.capitalize()} {label}"
        else:
            text += label if text else _capital(label)
    return text


def _article(placeholder: Placeholder, label: str, articles: Articles) -> str:
    if placeholder.article == "the":
        # What stands in brackets behind a name, as its country, does not change its article.
        name = _BRACKET.sub("", label)
        article = articles.get(label, articles.get(name))
        return "the" if (takes_the(name) if article is None else article) else ""
    return a_or_an(label) if placeholder.article else ""


def _capital(label: str) -> str:
    """A label that begins a sentence.

    Only a plain lower-case word is a common noun (politician); a capital, digit or stop inside
    the first word (iPhone, will.i.am) or a particle before a name (de Havilland) is spelling.
    """
    first_word = _PLAIN_WORD.match(label)
    if not first_word or first_word[0] != first_word[0].lower():
        return label
    is_particle = _PARTICLES.fullmatch(re.split("['’-]", first_word[0])[0])
    capital = label[0].upper()
    if len(capital) > 1 or (is_particle and label != label.lower()):
        return label
    return capital + label[1:]
