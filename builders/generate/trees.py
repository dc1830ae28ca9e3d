"""A parsed article as tokens with heads and children, and the names in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise

from factdrift.builders.generate.gazetteer import Gazetteer
from factdrift.builders.rows import Article, Parse
from factdrift.builders.text.data import words
from factdrift.builders.text.dates import MONTHS, WEEKDAYS
from factdrift.builders.text.en.answers import TITLES
from factdrift.builders.text.en.lexicon import COUNTRIES, DEMONYMS, PLACES
from factdrift.builders.text.en.nouns import FIRST_WORDS, KNOWN, LAST_WORDS, ROLES, STATES

NAMED = frozenset(
    ("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW", "NAME")
)
"""Labels of names; the gazetteer's names without a kind are `NAME`."""
_POLITE = words("Mr Mrs Ms Miss Dr Sir Shri Smt Hon Honourable Honorable")
RANKS = _POLITE | {title.split()[-1] for title in TITLES} - words(
    "King Queen Prince Princess Pope Emperor Sultan Emir Saint Duke Duchess Father Sister State"
    " Charge Lady Lord Count Baron Private"
)
"""Last words of titles that are no part of a person's name."""
_TITLE_WORDS = {word for title in TITLES for word in title.split()}
_DAYS = frozenset((*WEEKDAYS, *MONTHS))


@dataclass(slots=True, eq=False, repr=False)
class Token:
    """One token; `label` is that of the entity that it is a part of."""

    at: int
    text: str
    tag: str
    dep: str
    lemma: str
    start: int
    end: int
    sentence: int
    first: bool
    """Whether it opens its sentence."""
    label: str = ""
    name: "Name | None" = None
    prev: "Token | None" = None
    next: "Token | None" = None
    head: "Token" = field(init=False)
    children: "list[Token]" = field(default_factory=list)

    @property
    def lower(self) -> str:
        """Its text in small letters."""
        return self.text.lower()

    def subtree(self) -> "list[Token]":
        """It and all that depends on it, in order."""
        found = [self]
        for one in found:
            found += one.children
        return sorted(found, key=lambda t: t.at)

    def having(self, *deps: str) -> "list[Token]":
        """Its children of these kinds."""
        return [child for child in self.children if child.dep in deps]


@dataclass(slots=True, eq=False, repr=False)
class Name:
    """A name, number, or time in one place: `text[start:end]` without article and possessive."""

    label: str
    tokens: Sequence[Token]
    text: str
    full: str = ""
    """The longest form of a person's name in the article; what an acronym stands for there."""
    longest: "Name | None" = None
    """Where the longest form of a person's name stands first, if that is not here."""

    @property
    def bare(self) -> list[Token]:
        """Its tokens without Mr, Ms and ranks, which tell no more of whom."""
        return list(dropwhile(lambda t: t.text.rstrip(".") in RANKS, self.tokens))

    @property
    def plain(self) -> str:
        """Its text without Mr, Ms and ranks."""
        return self.text[self.bare[0].start - self.start :] if self.bare else self.text

    @property
    def start(self) -> int:
        """First character in the article."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The character after the last."""
        return self.tokens[-1].end

    @property
    def root(self) -> Token:
        """The token that the others depend on."""
        inside = {id(t) for t in self.tokens}
        return next((t for t in self.tokens if id(t.head) not in inside or t.head is t), self.last)

    @property
    def last(self) -> Token:
        """Its last token."""
        return self.tokens[-1]


@dataclass(frozen=True)
class Tree:
    """The sentences of an article, without the headline, and its names."""

    article: Article
    sentences: Sequence[Sequence[Token]]
    names: Sequence[Name]


def tree(article: Article, parse: Parse, known: Gazetteer | None = None) -> Tree:
    """The parse of an article with its names: the pipeline's, and known ones beside them."""
    tokens: list[Token] = []
    bounds = [*parse.sentences, len(parse.starts)]
    sentences = []
    for n in range(len(parse.sentences)):
        for i in range(bounds[n], bounds[n + 1]):
            start, end = parse.starts[i], parse.ends[i]
            tokens.append(
                Token(
                    i, article.text[start:end], parse.tags[i], parse.deps[i], parse.lemmas[i],
                    start, end, n + 1, i == bounds[n],
                )
            )  # fmt: skip
        sentences.append(tokens[bounds[n] : bounds[n + 1]])
        for before, token in pairwise(sentences[-1]):
            token.prev, before.next = before, token
    for token, head in zip(tokens, parse.heads, strict=True):
        token.head = tokens[head]
        if token.head is not token:
            token.head.children.append(token)
    found: list[Name] = []
    for sentence in sentences:
        if sentence:
            found += _names(article, parse, sentence, known)
    _settle(found, tokens)
    _know_openers(tokens)
    return Tree(article, sentences, found)


def _know_openers(tokens: Sequence[Token]) -> None:
    """Make a word that opens a sentence a name where it is one within the article's others.

    The pipeline takes some names at that place for common nouns, and some nouns for names. A part
    of a longer name tells nothing: `Health officials` beside the World Health Organization.
    """

    def stands_alone(token: Token) -> bool:
        return not any(t is not None and t.tag[:3] == "NNP" for t in (token.prev, token.next))

    inside = {t.text for t in tokens if t.tag == "NNP" and not t.first and stands_alone(t)}
    small = {t.text for t in tokens if t.tag in ("NN", "NNS")} - {t.lower for t in tokens if t.name}
    for token in tokens:
        opens = token.first and token.dep == "compound" and not token.label
        if opens and token.lower in small and token.text not in inside:
            token.tag = "NN"
        if token.first and token.tag in ("NN", "NNS", "VB") and token.text in inside:
            token.tag = "NNP"


def _names(
    article: Article, parse: Parse, sentence: Sequence[Token], known: Gazetteer | None
) -> Iterator[Name]:
    spans: list[tuple[list[Token], str]] = []
    for token in sentence:
        said = parse.entities[token.at]
        if said.startswith("B-"):
            spans.append(([token], said[2:]))
        elif said and spans:
            spans[-1][0].append(token)
    taken = {token.at for tokens, _ in spans for token in tokens}
    if known is not None:
        places = [(t.start - sentence[0].start, t.end - sentence[0].start) for t in sentence]
        text = article.text[sentence[0].start : sentence[-1].end]
        for start, end, kind in known.matches(text, places):
            inside = [
                t for t, (a, b) in zip(sentence, places, strict=True) if start <= a and b <= end
            ]
            if inside and not taken & {t.at for t in inside}:
                spans.append((inside, kind or "NAME"))
    for tokens, label in sorted(spans, key=lambda span: span[0][0].at):
        while tokens and (tokens[0].lower in ("the", "a", "an") or tokens[0].tag in ("POS", ":")):
            tokens = tokens[1:]
        while tokens and (
            tokens[-1].tag in ("POS", ":", ",", "''", "``", "-RRB-")
            or (len(tokens) > 1 and label in NAMED and tokens[-1].text in WEEKDAYS)
        ):
            tokens = tokens[:-1]
        if not tokens:
            continue
        name = Name(label, tokens, article.text[tokens[0].start : tokens[-1].end])
        for token in tokens:
            token.label, token.name = label, name
        yield name


def _settle(names: list[Name], tokens: Sequence[Token]) -> None:
    """One kind for one text, and full forms for surnames.

    What is one word, and the end of a longer name elsewhere, is a `NAME` without a kind where it is
    no person: short for something that a reader does not know.
    """
    votes: dict[str, Counter[str]] = {}
    for name in names:
        votes.setdefault(name.text, Counter())[name.label] += 1
    for name in names:
        if name.label in NAMED:
            most = max(votes[name.text].values())
            best = sorted(k for k, n in votes[name.text].items() if n == most)
            label = listed(name.text) or (best[0] if len(best) == 1 else "NAME")
            if label in NAMED or label == "NORP":
                name.label = label
                for token in name.tokens:
                    token.label = label
    persons = [n for n in names if n.label == "PERSON" and _person(n)]
    whole: dict[str, dict[str, Name]] = {}
    for name in persons:
        if len(name.bare) > 1:
            whole.setdefault(name.last.text, {}).setdefault(name.plain, name)
    _spell_out(tokens)
    longer = {token.text for token in tokens if _ends_a_name(token)} - whole.keys()
    missed = []
    for token in tokens:
        headed = token.first and token.tag in ("NN", "NNS") and token.text in whole  # `Jobs`
        short = headed or (token.tag == "NNP" and _is_short(token, longer | whole.keys()))
        if short and not token.label:
            token.label, token.name = "NAME", Name("NAME", [token], token.text)
            missed.append(token.name)
    for name in (*names, *missed):
        if len(name.tokens) == 1 and name.label in NAMED and _is_short(name.last, longer):
            name.label = name.last.label = "PERSON" if name.label == "PERSON" else "NAME"
        if name.plain in whole and name.label in NAMED and listed(name.text) is None:
            name.label = "PERSON"
            for token in name.tokens:
                token.label = "PERSON"
        if name.label != "PERSON":
            continue
        if " " in name.plain:
            name.full = name.plain if _person(name) else ""
            continue
        forms = whole.get(name.last.text, {})
        if len({form.split()[0] for form in forms}) == 1:
            name.full = max(forms, key=lambda f: (len(f), f))
            name.longest = forms[name.full]


def _spell_out(tokens: Sequence[Token]) -> None:
    """Give acronyms the name before the brackets in which the article explains them."""
    known: dict[str, str] = {}
    for token in tokens:
        bracket = token.prev
        before = bracket.prev if bracket is not None and bracket.text == "(" else None
        closed = token.next is not None and token.next.text == ")"
        if before is None or before.name is None or not closed or not token.text.isupper():
            continue
        starts = "".join(t.text[0] for t in before.name.tokens if t.text[0].isupper())
        if before is before.name.last and before.label in NAMED and starts.endswith(token.text):
            known[token.text] = before.name.text
    for token in tokens:
        if token.text not in known or listed(token.text) is not None:
            continue
        if token.name is None:
            token.label, token.name = "ORG", Name("ORG", [token], token.text)
        if len(token.name.tokens) == 1 and token.label != "PERSON":
            token.name.full = known[token.text]


def _ends_a_name(token: Token) -> bool:
    """Whether a word is the end of a name of two words: a capital before it, and none after."""
    before, after = token.prev, token.next
    if token.tag != "NNP" or before is None or before.tag != "NNP" or before.first:
        return False
    if before.text in TITLES or before.text.isupper() or before.end + 1 != token.start:
        return False
    return after is None or after.tag not in ("NNP", "NNPS")


def _is_short(token: Token, longer: Set[str]) -> bool:
    """Whether one word stands by itself for a longer name that the article has."""
    alone = not any(
        near is not None and near.tag in ("NNP", "NNPS") and near.text not in RANKS
        for near in (token.prev, token.next)
    )
    return alone and token.text in longer - RANKS and listed(token.text) is None


def _person(name: Name) -> bool:
    """Whether the words of a name can be a person's."""
    parts = name.text.split()
    good = all(t.tag in ("NNP", "HYPH", "NNPS", "NN") or len(t.text) < 4 for t in name.tokens)
    capitals = parts[0][0].isupper() and parts[-1][:1].isupper()
    odd = any(not (c.isalpha() or c in " .'’-") for c in name.text)
    return (
        good
        and capitals
        and not odd
        and len(parts) < 5
        and not set(parts) & {"v.", "vs.", "v", "vs"}
        and not (set(parts) & (DEMONYMS | _DAYS | COUNTRIES))
        and not any(len(p) > 2 and p.isupper() for p in parts)
    )


def listed(name: str) -> str | None:
    """The label of a name that lists know."""
    if name in COUNTRIES or name in STATES or name in PLACES:
        return "GPE"
    if name in DEMONYMS:
        return "NORP"
    if name in KNOWN:
        return "ORG"
    parts = name.split()
    if len(parts) > 1 and (parts[-1] in LAST_WORDS or parts[0] in FIRST_WORDS):
        return "ORG"
    return None


def _needless(token: Token) -> bool:
    """Whether a word tells nothing before a person's name: Mr, the article of `the Premier X`."""
    title = token.lower == "the" and (token.prev is None or token.prev.tag != "IN")
    skipped = _TITLE_WORDS if title else _POLITE
    if not title and token.text.rstrip(".") not in _POLITE:
        return False
    after = token.next
    while after is not None and after.text.rstrip(".") in skipped:
        after = after.next
    return after is not None and after.label == "PERSON" and (after is not token.next or not title)


def written(tokens: Iterable[Token]) -> str:
    """Tokens as text: blanks as they were, surnames in full, no comma where something is gone."""
    kept = sorted({t.at: t for t in tokens}.values(), key=lambda t: t.at)
    there = {t.at for t in kept}
    kept = [
        t
        for t in kept
        if t.text not in (",", "–", "-", "--", "—") or (t.at - 1 in there and t.at + 1 in there)
    ]
    out = ""
    last: Token | None = None
    for t in kept:
        near = last is not None and last.at + 1 == t.at and last.end == t.start
        text = t.text
        if _needless(t):
            continue
        known = t.label in (*NAMED, "NORP") or t.text in DEMONYMS
        office = t.next is not None and t.next.text.islower() and t.next.lower in ROLES
        common = t.tag not in ("NNP", "NNPS") or (not t.label and (t.dep == "amod" or office))
        if t.first and common and not known and not any(c.isupper() for c in text[1:]):
            text = text[0].lower() + text[1:]
        if t.name is not None and t is t.name.last and len(t.name.bare) == 1:
            text = t.name.full or text
        gone = t.prev
        if last is not None and gone is not None and gone.prev is last and not near:
            close = last.end == gone.start and gone.end == t.start
            if close and gone.tag in ("HYPH", ":", "SYM"):  # the score of a match
                out, near = out + gone.text, True
        out += text if near or not out else f" {text}"
        last = t
    return out
