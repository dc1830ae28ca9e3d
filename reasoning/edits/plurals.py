"""Texts whose answer has several objects, so that they do not read as if there were one."""

import re

# It matches `which office or position did` and `of which country was`, but not `which coach led`.
_ASKED_NOUN = re.compile(
    r"(?P<before>\b(?:of|in|for|with|at|by|from) which )(?P<noun>[a-z ]+?)(?= (?:was|did|had) )"
    r"|(?P<which>\bwhich )(?P<object>[a-z ]+?)(?= (?:did|had) )",
    re.I,
)
# It matches `Who was the head coach of`, but not `Who was in office as`.
_ASKED_PERSON = re.compile(r"^Who was (?P<noun>the [a-z]+(?: [a-z]+)*?)(?= (?:of|to|in) )")
# It matches `The club that Ann Ott plays for is`, but not `The person who chairs Acme is`.
_NAMED_NOUN = re.compile(
    r"^(?P<noun>The [a-z]+(?: [a-z]+)*?)(?P<rest> (?:of|that|to which) .+) is$"
)
_CONSONANT_Y = re.compile(r"(?<=[^aeiou])y$")


def asking_for_several(text: str) -> str:
    """Return a question in the plural, where it asks for a noun.

    >>> asking_for_several("In which office or post did Ann Ott serve on 1 May 2020?")
    'In which offices or posts did Ann Ott serve on 1 May 2020?'
    >>> asking_for_several("Of which country was Ann Ott a citizen on 1 May 2020?")
    'Of which countries was Ann Ott a citizen on 1 May 2020?'
    >>> asking_for_several("Who was the chair of Acme on 1 May 2020?")
    'Who were the chairs of Acme on 1 May 2020?'
    >>> asking_for_several("Who owned Acme on 1 May 2020?")
    'Who owned Acme on 1 May 2020?'
    """

    def in_plural(match: re.Match[str]) -> str:
        nouns = match["noun"] or match["object"]
        return (match["before"] or match["which"]) + " or ".join(map(plural, nouns.split(" or ")))

    text = _ASKED_PERSON.sub(lambda match: f"Who were {plural(match['noun'])}", text)
    return _ASKED_NOUN.sub(in_plural, text, count=1)


def naming_several(text: str) -> str:
    """Return a sentence up to its object in the plural, where it names what the object is.

    >>> naming_several("The party to which Ann Ott belongs is")
    'The parties to which Ann Ott belongs are'
    >>> naming_several("The person who chairs Acme is"), naming_several("Ann Ott works for")
    ('The person who chairs Acme is', 'Ann Ott works for')
    """
    return _NAMED_NOUN.sub(lambda match: f"{plural(match['noun'])}{match['rest']} are", text)


def plural(noun: str) -> str:
    """Return the plural of a noun that templates have, all of which are regular.

    >>> plural("country"), plural("head coach")
    ('countries', 'head coaches')
    """
    if noun.endswith(("s", "sh", "ch", "x")):
        return f"{noun}es"
    return _CONSONANT_Y.sub("ie", noun) + "s"
