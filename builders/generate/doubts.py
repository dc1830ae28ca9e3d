"""Signs that a sentence was parsed wrongly or written badly, seen without understanding it.

The pipeline does not say how sure it is of a parse. Many wrong parses show all the same:
words left out of a question that no comma sets off, unlike things joined by `and`, a comma gone
between two nouns, names that run into each other.
"""

from collections.abc import Collection, Iterator, Sequence

from factdrift.builders.generate.clauses import LOST, Clause, said_time
from factdrift.builders.generate.evidence import is_day
from factdrift.builders.generate.trees import NAMED, Token, listed
from factdrift.builders.text.en.lexicon import COUNTRIES

_MARKS = (",", ":", "-LRB-", "-RRB-", "``", "''")
_OPENS, _CLOSES = (",", "(", "[", "“", '"', "``"), (",", ")", "]", "”", '"', "''", ".")
_SMALL = ("IN", "TO", "DT", "RB", "CC", "WP", "WDT", "PRP", "POS", "RP", "``", "''", ",")
_NOMINAL = ("NN", "NNS", "NNP", "NNPS", "CD", "DT", "PRP$", "JJ", "PRP")


def gap(told: Sequence[Token], answer: Sequence[Token], clause: Clause) -> bool:
    """Whether words are left out of a question that no comma or bracket sets off.

    They may belong to what is told: `people in Taiwan [after a bomb exploded]`. Times, small words
    and the first of two joined verbs may go.
    """
    mine = [*told, *answer, *clause.auxiliaries, clause.verb]
    for time in (p for p in clause.verb.children if said_time(p) or is_day(p)):
        mine += time.subtree()
    for part in clause.parts:
        mine += (t for child in part.subtree() if is_day(child) for t in child.subtree())
    mine = [t for t in mine if t.tag not in _MARKS and t.sentence == clause.verb.sentence]
    there = {t.at for t in mine}
    tokens = [t for t in sentence(clause.verb) if min(there) <= t.at <= max(there)]
    if not all(_free(run, clause) for run in _missing(tokens, there)):
        return True
    after = tokens[-1].next
    joined = any(t.tag[0] == "V" for t in clause.verb.having("conj"))
    beyond = after.next if after is not None and after.text == "," else None
    if beyond is not None and beyond.tag == "CC" and not joined:
        return True
    if after is not None and after.text not in _CLOSES and after.text not in _OPENS:
        small = after.tag in ("CC", "RB") or after.lower == "according"
        if not (small and (after.tag != "CC" or joined)):
            return True
    before = tokens[0].prev
    if before is None or clause.named or clause.kind in ("reported", "relative"):
        return False
    if before.text == "," and _names_too(before.prev):
        return True
    return before.tag not in ("CC", ",", "RB", "''", "-RRB-") and not said_time(before)


def _names_too(token: Token | None) -> bool:
    """Whether what ends here, from the comma before it on, is a subject, too: `the Premier and`."""
    first = token
    while first is not None and first.prev is not None and first.prev.text != ",":
        first = first.prev
    return first is not None and first.tag in ("DT", "NNP") and not said_time(first)


def sentence(token: Token) -> Iterator[Token]:
    """The tokens of a sentence, in order; `token` is one of them."""
    while token.prev is not None:
        token = token.prev
    at: Token | None = token
    while at is not None:
        yield at
        at = at.next


def _missing(tokens: Sequence[Token], there: Collection[int]) -> Iterator[list[Token]]:
    """The runs of tokens that are not there."""
    run: list[Token] = []
    for token in tokens:
        if token.at not in there:
            run.append(token)
        elif run:
            yield run
            run = []


def _free(run: Sequence[Token], clause: Clause) -> bool:
    if all(t.tag in _SMALL or t.lower in LOST for t in run) and len(run) < 4:
        return True
    if run[0].text in _OPENS and run[-1].text in _CLOSES:
        return True
    return run[-1].tag == "CC" and clause.kind == "joined" and run[-1].at < clause.verb.at


def joins_unlike(told: Sequence[Token]) -> bool:
    """Whether `and` joins a name and what is none, or only one of the two is counted.

    `five children in a church bus and two drivers`: whose second part is not the bus's.
    """
    for t in told:
        for other in t.having("conj"):
            if t.tag[0] != "N" or other.tag[0] != "N":
                continue
            if bool(t.having("nummod")) != bool(other.having("nummod")):
                return True
            if (t.label in NAMED) != (other.label in NAMED):
                return True
    return False


def comma_gone(told: Sequence[Token], verb: Token) -> bool:
    """Whether two nouns after the verb stand together that a comma parts: `its plant the Hub`."""
    there = {t.at for t in told}
    for t in told:
        if t.at < verb.at or t.tag not in _NOMINAL:
            continue
        before, comma = t.prev, False
        while before is not None and before.at not in there:
            comma = comma or before.text == ","
            before = before.prev
        if comma and before is not None and before.tag in _NOMINAL:
            return True
    return False


def runs_together(told: Sequence[Token]) -> bool:
    """Whether words stand together that cannot: something between them, or of them, is lost.

    `Pakistan Pervez Musharraf`, `Pakistan President Musharraf of Pakistan`, `WASHINGTONA`, `died in
    on Thursday`, `an President`, `a taxpayers withdrawal`.
    """
    lands = [t.text for t in told if t.text in COUNTRIES]
    if len(lands) > len(set(lands)):
        return True
    for t in told:
        after = t.next
        name = after.text[:2].istitle() and after.text[0] not in "AEIOUH" if after else False
        if t.lower == "an" and name:
            return True
        if (
            t.tag == "NNS"
            and t.dep == "compound"
            and any(c.lower in ("a", "an") for c in t.head.children)
        ):
            return True
        if t.text.isalpha() and t.text.isupper() and len(t.text) > _LONGEST_ACRONYM:
            return True
        if after is not None and after.label == "PERSON" and t.text in COUNTRIES:
            return True
        if t.dep == "prep" and after is not None and after.lower == t.lower:
            return True
        if t.dep == "prep" and t.children and all(c.dep == "prep" for c in t.children):
            return t.lower not in ("from", "out", "up", "because", "such", "as", "due", "according")
    return False


_LONGEST_ACRONYM = 8


def renewed(told: Sequence[Token]) -> bool:
    """Whether a surname is told who its bearer is, who may be another one: `Ballo, a student`."""
    return any(
        t.label == "PERSON" and t.name is not None and len(t.name.bare) == 1 and t.having("appos")
        for t in told
    )


def part_of_name(told: Sequence[Token], longer: Collection[str]) -> bool:
    """Whether one word stands for what the article calls by more: `Omni` for Omni Home Health.

    `longer`: the words that stand beside another capital somewhere in the article.
    """
    return any(
        t.name is not None
        and t.label in NAMED
        and t.label != "PERSON"
        and len(t.name.text.split()) == 1
        and not t.name.full
        and not t.text.isupper()
        and t.text in longer
        and listed(t.text) is None
        and not any(n is not None and n.tag.startswith("NNP") for n in (t.prev, t.next))
        for t in told
    )


def lost_apostrophe(told: Sequence[Token], capitals: Collection[str]) -> bool:
    """Whether a name ends with an `s` without which it stands in the article: `Leodans Board`."""
    return any(
        t.text[0].isupper()
        and t.text.endswith("s")
        and t.text[:-1] in capitals
        and t.next is not None
        and t.next.tag[0] in "NJ"
        and not (t.prev is not None and t.prev.tag == "NNP")
        for t in told
        if len(t.text) > 4
    )
