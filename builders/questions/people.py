"""Who and what an article names: full forms of short names, and what kind each name is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from builders.questions.lexicon import COMMON, COUNTRIES, ORG_HEADS, PLACES, words
from builders.rows import Article, Candidate

ROLES = (
    r"(?:president|prime minister|minister|chancellor|mayor|governor|king|queen|sultan|emir|pope|"
    r"leader|chairman|chairwoman|chair|chief|coach|captain|manager|director|secretary|senator|"
    r"judge|lawyer|doctor|singer|actor|actress|writer|author|player|footballer|striker|goalkeeper|"
    r"member|candidate|founder|owner|ambassador|general|professor|speaker|premier|head|nominee|"
    r"commissioner|treasurer|champion|winner|journalist|engineer|economist|physicist|chemist|"
    r"daughter|son|widow|wife|husband|brother|sister|emperor|prince|princess|astronaut)\b"
)
_NOT_SURNAMES = words("""
    Paper Report Review Program Programme Scheme Plan Products Taskforce Strategy Package Project
    Initiative Campaign Team Week Senators Members Rule System Site Fair Expo Mission Model
""")
_PERSON_VERB = re.compile(
    r"^,? ?(?:(?:became|was|is|has been|had been|remained|remains|will (?:be|become|remain)|served"
    rf" as|was (?:elected|named|appointed|sworn in|re-elected)(?: as)?),?"
    rf" (?:[a-z\-]+ ){{0,3}}{ROLES}"
    r"|was born|died|resigned|said|told|retired|married|was arrested|was sworn|took the oath|swore"
    r"|played|wrote|sang|succeeded|studied|was sentenced|scored|coached|received about \d+ percent)"
)
_TEAM_SCORE = re.compile(r"\b\d{1,2}-\d{1,2}\b")


@dataclass(slots=True)
class Cast:
    """The names of one article."""

    kinds: dict[str, str] = field(default_factory=dict)
    full: dict[str, str] = field(default_factory=dict)
    first: dict[str, Candidate] = field(default_factory=dict)

    def kind(self, name: str) -> str | None:
        return self.kinds.get(name)

    def whole(self, name: str) -> str:
        """The full form of a short name; the name itself where the article has no other."""
        return self.full.get(name, name)


def cast(article: Article, candidates: Sequence[Candidate]) -> Cast:
    """What the article's own words tell about its names."""
    out = Cast()
    entities = [c for c in candidates if c.type == "entity"]
    offsets = _offsets(article)
    for c in entities:
        out.first.setdefault(c.text, c)
        if c.label:
            out.kinds.setdefault(c.text, c.label)
        start = c.start - offsets[c.sentence]
        sentence = article.sentences[c.sentence]
        if c.label is None and start == 0 and _PERSON_VERB.match(sentence[len(c.text) :]):
            out.kinds.setdefault(c.text, "PERSON")
    texts = list(out.first)
    for name in texts:
        parts = name.split()
        last = parts[-1]
        plain = (
            last not in _NOT_SURNAMES
            and not ({*parts} & ORG_HEADS)
            and "of" not in parts
            and last not in PLACES
        )
        eastern = "-" in last and last.rpartition("-")[2].islower()
        alone = [
            t for t in texts if name.endswith(" " + t) or (eastern and name.startswith(t + " "))
        ]
        if plain and len(parts) in (2, 3, 4) and alone and name not in out.kinds:
            out.kinds[name] = "PERSON"
    for name in texts:
        longer = [t for t in texts if t != name and _short_for(name, t, out)]
        ends = [t for t in longer if not any(t != u and _short_for(t, u, out) for u in longer)]
        if len(ends) == 1 and out.first[ends[0]].sentence <= out.first[name].sentence:
            out.full[name] = ends[0]
            out.kinds[name] = out.kinds.get(ends[0], "PERSON")
        elif len(longer) > 1 and len(ends) > 1:
            out.kinds[name] = "AMBIGUOUS"
    return out


def _short_for(short: str, name: str, known: Cast) -> bool:
    """Whether `short` is the surname, or the first name, of a person or the end of a party."""
    if short in COUNTRIES or short in PLACES or short in COMMON:
        return False
    if not (
        name.endswith((" " + short, "-" + short))
        or (name.startswith(short + " ") and " " not in short)
    ):
        return False
    kind = known.kinds.get(name)
    if kind == "PERSON":
        return known.kinds.get(short) in (None, "PERSON")
    return kind == "ORG" and name.endswith(" " + short) and short.split()[-1] == "Party"


def _offsets(article: Article) -> list[int]:
    out, at = [], 0
    for sentence in article.sentences:
        out.append(at)
        at += len(sentence) + 1
    return out


def scored(text: str) -> bool:
    """Whether a text gives the score of a match: `beat Villarreal 2-1`."""
    return bool(_TEAM_SCORE.search(text))


_SPORT = re.compile(
    r"\b(?:\d{1,2}-\d{1,2}|(?:Premier|Champions|Europa|Spanish|Italian|German) [Ll]eague"
    r"|league title|FA Cup|European Cup|Super Bowl|World Series|Stanley Cup"
    r"|coach|manager|striker|midfielder|goal)\b"
)


def which(name: str, kind: str | None, rest: str) -> str | None:
    """The question word for a subject of this name: `Who`, `Which country`, …; None: unknown."""
    last = name.split()[-1]
    if name in COUNTRIES:
        return "Which country"
    if kind == "PERSON":
        return "Who"
    if last == "Party" or "Party of" in name:
        return "Which party"
    if last == "University" or name.startswith("University of"):
        return "Which university"
    if last in ("Airlines", "Airways"):
        return "Which airline"
    if last in ("Inc", "Ltd", "Corp", "Corporation", "Motors", "Company", "Holdings", "Industries"):
        return "Which company"
    if last in ("Bank",) or name.startswith("Bank of"):
        return "Which bank"
    if last in ("United", "City", "Rovers", "FC", "F.C.") and kind == "ORG":
        return "Which club"
    if last in ("Court",):
        return "Which court"
    if kind in ("ORG", "GPE") and _SPORT.search(rest) and last not in ("Association", "Council"):
        return "Which team"
    if name in ORG_HEADS:
        return None
    if kind == "ORG":
        return "Which organization"
    return None
