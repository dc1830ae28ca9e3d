"""Answers from a parsed article without a model: the likeliest sentence, the part asked for.

Nothing here knows how questions are made: a question is its words, and the word that it opens with.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from factdrift.builders.generate.trees import NAMED, Name, Token, Tree
from factdrift.builders.text.data import words
from factdrift.builders.text.dates import candidates, time_of
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.en.nouns import ROLES, STATES

_WORD = re.compile(r"[^\W_]+(?:[.,'’&-][^\W_]+)*|[$€£]")
_EMPTY = words("""
    a an the of in on at for to by with from as and or who whom whose which what when where why how
    did do does was were is are be been has have had long much many percentage age under against
    around
""")
_OPENING = re.compile(r"^(?:In|On|Around) [^,]*\d{4}, (?=[a-z])")
"""A time before the question: `In May 2017, who agreed to …`."""
_LEAST = 3, 5
"""The share of a question's words that a sentence must have to be looked at."""
_PLACES = ("GPE", "LOC", "FAC")


def answer(question: str, tree: Tree) -> str | None:
    """The words of an article that answer a question; None where no sentence is like it."""
    question = _OPENING.sub("", question)
    said = _WORD.findall(question.replace(time_of(question) or "?", " ").rstrip("?"))
    wanted = {w.lower().removesuffix("'s").removesuffix("’s") for w in said} - _EMPTY
    known = [_keys(sentence) for sentence in tree.sentences]
    often = Counter(w for keys in known for w in keys if w in wanted)
    weight = {w: 1 + (often[w] < 3) for w in wanted}
    total = sum(weight.values())
    people = {(n.start, n.end): n.full for n in tree.names if n.label == "PERSON"}
    scored = []
    for n, keys in enumerate(known):
        score = sum(weight[w] for w in wanted if w in keys)
        if score * _LEAST[1] >= total * _LEAST[0]:
            scored.append((-score, n))
    for _, n in sorted(scored)[:3]:
        sentence = tree.sentences[n]
        found = _nearest(_asked_for(question, tree, sentence), sentence, wanted)
        if found is not None:
            return people.get(found) or tree.article.text[found[0] : found[1]]
    return None


def _keys(sentence: Sequence[Token]) -> set[str]:
    found = {t.lower for t in sentence} | {t.lemma.lower() for t in sentence}
    for token in sentence:
        if token.name is not None:
            full = token.name.full or token.name.text
            found |= {w.lower() for w in _WORD.findall(full)}
    text = " ".join(t.text for t in sentence)
    return found | {w.lower() for w in _WORD.findall(text.replace(" - ", "-").replace(" 's", ""))}


Part = tuple[Sequence[Token], int, int]
"""The tokens of a possible answer, and where it starts and ends."""


def _asked_for(question: str, tree: Tree, sentence: Sequence[Token]) -> Iterator[Part]:
    """Every part of a sentence that is of the kind that a question asks for."""
    low = question.lower()
    names = {id(t.name): t.name for t in sentence if t.name is not None}
    asks = _KINDS.match(low)
    kind = str(asks.lastgroup) if asks else ""
    for name in names.values():
        if _fits(kind, low, name):
            tokens = list(name.tokens)
            if kind in ("number", "money", "share", "long"):
                tokens = sorted(
                    {t.at: t for t in (*tokens, *_before(tokens))}.values(), key=lambda t: t.at
                )
            yield tokens, tokens[0].start, tokens[-1].end
    if kind == "time":
        start = sentence[0].start
        for a, b, label in candidates(tree.article.text[start : sentence[-1].end]):
            if label in ("DAY", "MONTH", "YEAR", "DAY_OF_YEAR"):
                inside = [t for t in sentence if start + a <= t.start and t.end <= start + b]
                if inside:
                    yield inside, start + a, start + b
    for token in sentence:
        whole = [t for t in token.subtree() if t.tag not in (".", ",") or t is token]
        if not whole:
            continue
        if kind == "cause" and (
            (token.dep == "advcl" and any(c.lower == "because" for c in token.children))
            or (token.dep == "prep" and token.lower in ("because", "due"))
        ):
            first = next(t for t in whole if t.lower in ("because", "due"))
            yield [token], first.start, whole[-1].end
        elif kind == "means" and token.lower == "by" and token.having("pcomp"):
            yield [token], token.start, whole[-1].end
        elif kind == "thing" and token.dep in (
            "dobj",
            "pobj",
            "xcomp",
            "pcomp",
            "nsubj",
            "nsubjpass",
        ):
            if not (token.name and token.label == "PERSON") and token.tag[:3] not in ("PRP",):
                yield [token], whole[0].start, whole[-1].end
        elif kind == "age" and token.tag == "CD":
            yield [token], token.start, token.end


_KINDS = re.compile(
    r"(?P<number>(?:\w+ )?how many\b)|(?P<money>(?:for )?how much\b)"
    r"|(?P<share>by what percentage\b)"
    r"|(?P<long>(?:for )?how long\b)|(?P<age>at what age\b)|(?P<cause>why\b)|(?P<means>how\b)"
    r"|(?P<time>when\b)|(?P<place>where\b)|(?P<person>(?:\w+ )?whom?\b)"
    r"|(?P<named>(?:\w+ )?which\b)|(?P<thing>what\b)"
)


def _fits(kind: str, low: str, name: Name) -> bool:
    """Whether a name is of the kind that a question asks for."""
    match kind:
        case "number":
            noun = low.partition("how many")[2].split()
            after = [name.root.head.lower, *(t.lower for t in name.root.head.children)]
            return name.label == "CARDINAL" and bool(set(noun[:6]) & set(after))
        case "money":
            return name.label == "MONEY"
        case "share":
            return name.label == "PERCENT"
        case "long":
            return name.label in ("DATE", "TIME") and any(t.tag == "CD" for t in name.tokens)
        case "place":
            return name.label in _PLACES
        case "person":
            return name.label == "PERSON"
        case "named" if re.match(r"(?:\w+ )?which (?:country|state)\b", low):
            return name.text in (COUNTRIES | STATES)
        case "named":
            beside = low.split()[1:_LONGEST_KIND]
            person = any({word, word.upper()} & ROLES for word in beside)
            return name.label in NAMED and (name.label != "PERSON" or person)
    return False


_LONGEST_KIND = 9
"""Words of a question within which `which` has its noun: `Which former England cricket captain`."""


def _before(tokens: Sequence[Token]) -> list[Token]:
    """What belongs to a number before it: more than, $, at least."""
    first = tokens[0]
    return [t for one in tokens for t in one.subtree() if t.at < first.at and t.dep != "det"]


def _nearest(
    parts: Iterator[Part], sentence: Sequence[Token], wanted: set[str]
) -> tuple[int, int] | None:
    """The part nearest to the verb that a question has most around, by the tree, then by place."""
    hit = [t for t in sentence if t.lower in wanted or t.lemma.lower() in wanted]
    verbs = [t for t in hit if t.tag.startswith("V")] or hit
    if not verbs:
        return None

    def around(verb: Token) -> int:
        inside = {t.at for t in verb.subtree()}
        near = {c.at for c in verb.children}
        return sum((t.at in inside) + (t.at in near) for t in hit)

    verb = max(verbs, key=lambda v: (around(v), -v.at))
    best: tuple[int, int, int] | None = None
    chosen = None
    for tokens, start, end in parts:
        inside = [t.lower for t in sentence if start <= t.start and t.end <= end]
        content = [w for w in inside if w not in _EMPTY and w[0].isalnum()]
        if not content or sum(w in wanted for w in content) * 2 > len(content):
            continue
        far = min(_path(t, verb) for t in tokens)
        rank = (far, min(abs(t.at - verb.at) for t in tokens), start)
        if best is None or rank < best:
            best, chosen = rank, (start, end)
    return chosen


def _path(token: Token, verb: Token) -> int:
    """Steps from a token to a verb in the tree; steps down count three times."""
    above: dict[int, int] = {}
    one, n = verb, 0
    while True:
        above[one.at] = n
        if one.head is one:
            break
        one, n = one.head, n + 1
    one, n = token, 0
    while one.at not in above:
        if one.head is one:
            return 99
        one, n = one.head, n + 1
    return n + 3 * above[one.at]
