"""Questions from clauses: a table of patterns, each asking for one part of a clause.

Every pattern gives more than is wanted; a question is kept where it stands alone, and the best ones
are told by a score of whole numbers.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from builders.generate.clauses import (
    Clause,
    alone,
    breaks,
    clauses,
    phrase,
    relative,
    said_time,
)
from builders.generate.trees import NAMED, Name, Token, Tree, written
from builders.rows import AnswerType
from builders.text.data import words
from builders.text.dates import candidates
from builders.text.en.lexicon import COUNTRIES
from builders.text.en.nouns import FIRST_WORDS, KNOWN, LAST_WORDS, ROLES, STATES, THINGS, thing
from builders.text.en.verbs import past, past_of


@dataclass(frozen=True, slots=True)
class Span:
    """A part of an article that answers something: `text[start:end]`."""

    start: int
    end: int
    type: AnswerType
    label: str | None
    sentence: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the span that answers it, and how good it looks."""

    span: Span
    question: str
    kind: str
    score: int
    now: bool
    """Whether it is in the present tense."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a pattern gives: the answer, the question, and the tokens that it is told with."""

    span: Span
    tokens: Sequence[Token]
    text: str
    kind: str
    of: Sequence[Token]
    """The tokens of the answer."""


_ACTIVE = ("past", "present", "perfect", "future")
_PASSIVE = ("passive", "perfect_passive", "future_passive")
_CORE = ("dobj", "dative", "attr", "acomp", "oprd", "prt", "agent", "xcomp", "ccomp", "pcomp")
_LIGHT = words("""
    make take have give get do hold play face see say tell call let keep put set bring come go find
    include show use need want know mean think feel look seem turn become remain begin start
    continue try allow enable help ask leave run
    meet
""")
"""Verbs that say little without their object: `What did he make?` asks nothing."""
_NO_PLACE = words("""
    invest believe interest succeed involve specialize specialise result participate engage
    increase rise decrease include base lead play compete end lag finish rank trade own operate
    control support consist depend
""")
_BASED = words("bear headquarter base locate bury raise")
_DANGLING = ("and", "or", "but", "which", "that", "the", "a", "as", "than")
_MOTION = words(
    "travel go fly move return flee head arrive come sail relocate emigrate drive march"
)
_PAY = words("""
    pay cost raise donate invest spend lose earn receive owe contribute pledge win allocate
    provide award grant give borrow lend charge save seek demand offer commit total fetch reach
    approve request collect steal
""")
_CHANGE = words("""
    rise fall increase decrease grow drop climb decline shrink jump plunge gain surge slump tumble
    soar dip advance contract expand
""")
_TO_DO = words("""
    agree decide plan refuse promise vow threaten offer pledge fail attempt urge order vote seek
    propose resolve opt choose swear intend prepare
""")
_TOLD = words("order ask require force urge tell instruct authorize allow schedule forbid compel")
_ABOUT = {
    "call": ("for",), "focus": ("on",), "respond": ("to",), "agree": ("to", "on"),
    "comply": ("with",), "object": ("to",), "vote": ("for", "against"), "apply": ("for",),
    "lead": ("to",), "result": ("in",), "benefit": ("from",), "suffer": ("from",),
    "recover": ("from",), "contribute": ("to",), "participate": ("in",), "withdraw": ("from",),
    "apologise": ("for",), "apologize": ("for",), "campaign": ("for", "against"),
    "warn": ("of", "about", "against"), "complain": ("of", "about"), "protest": ("against",),
    "invest": ("in",), "depend": ("on",), "refer": ("to",), "rely": ("on",), "react": ("to",),
    "push": ("for",), "plead": ("for",), "appeal": ("for", "against"), "search": ("for",),
    "qualify": ("for",), "compete": ("in", "for"), "speak": ("about",), "point": ("to",),
}  # fmt: skip
"""Verbs and the prepositions that belong to them."""
_CHARGES = {
    "accuse": ("of",), "charge": ("with",), "convict": ("of",), "acquit": ("of",),
    "sentence": ("to",), "fine": ("for",), "arrest": ("for", "on"), "indict": ("on", "for"),
    "suspect": ("of",), "nominate": ("for",), "sue": ("for",), "criticize": ("for",),
    "criticise": ("for",), "praise": ("for",), "blame": ("for",), "plead": ("to",),
    "name": ("after",), "award": ("for",),
}  # fmt: skip
_UNITS = words("""
    percent per cent year years day days week weeks month months hour hours minute minutes second
    seconds dollar dollars pound pounds euro euros mile miles km kilometres kilometers metres
    meters feet point points degrees cents times million billion yards decade decades inches
    tonnes tons a.m. p.m. things ways
""")
_LENGTHS = words("years months weeks days hours minutes decades year month week day decade hour")
_NO_LENGTH = words("declare call ask order announce plan vote pay seek sentence approve sign agree")
_WHOM = ("with", "against", "under", "from", "to", "for", "by", "on")


def questions(tree: Tree) -> list[Asked]:
    """Every question of an article that stands alone, the best ones first, then by place."""
    headline = tree.article.sentences[0].casefold() if tree.article.sentences else ""
    found: list[Asked] = []
    for clause in clauses(tree):
        parts = _told(clause)
        if parts is None:
            continue
        for make in PATTERNS:
            for made in make(clause, parts):
                asked = _judged(made, clause, headline)
                if asked is not None:
                    found.append(asked)
    found.sort(key=lambda a: (-a.score, a.span.start, a.span.end, a.question))
    return found


def _told(clause: Clause) -> list[Token] | None:
    """The parts that a question is told with; None where one that cannot be left out is unfit."""
    kept = []
    for part in clause.parts:
        tokens = phrase(part)
        if part.dep == "ccomp" or (part.dep == "advcl" and not _because(part)):
            if part.dep == "ccomp":
                return None
            continue
        time = said_time(part)
        if part.dep in _CORE:
            if breaks(tokens) or relative(tokens):
                return None
            kept.append(part)
        elif time == "relative" or breaks(tokens) or (relative(tokens) and not time):
            continue
        elif part.dep in ("prep", "npadvmod", "advmod", "agent", "advcl"):
            kept.append(part)
        elif part.dep in ("punct",):
            continue
        else:
            return None
    return kept


def _because(part: Token) -> bool:
    return any(t.dep == "mark" and t.lower == "because" for t in part.children)


def _judged(made: Made, clause: Clause, headline: str) -> Asked | None:
    """The question with its score; None where it does not stand alone or says too little."""
    text = re.sub(r"\s+", " ", made.text).strip(" ,")
    if text.split()[-1] in _DANGLING:
        return None
    text = f"{text[0].upper()}{text[1:]}"
    if clause.source is not None:
        text += f", according to {written(phrase(clause.source))}"
    text += "?"
    own = {t.at for t in made.of}
    told = [t for t in made.tokens if t.at not in own]
    asked_subject = any(t.at == clause.subject.at for t in made.of)
    if not alone(told, clause.subject, asked=asked_subject) or breaks(told) or relative(told):
        return None
    names = {_named(t) for t in told} - {""}
    subject_named = any(_named(t) for t in clause.subject_tokens)
    content = [
        t
        for t in told
        if (t.tag[0] in "NVJ" or t.tag == "CD") and t.lemma not in ("be", "have", "do")
    ]
    length = len(text.split())
    if not 4 <= length <= 28:
        return None
    placed = made.kind == "where" and clause.verb.lemma in _BASED
    if len(content) < (2 if placed else 3):
        return None
    if not names and not (asked_subject and len(content) >= 6):
        return None
    thin = len(names) < 2 and len(content) < 4 and not placed
    if thin and (asked_subject or not subject_named) and made.kind != "how many":
        return None
    dated = any(t.label == "DATE" and t.text.isdigit() and len(t.text) == 4 for t in told)
    score = _KINDS[made.kind] + 2 * min(len(names), 3) + dated + (len(content) > 5)
    score += 2 * any(n.casefold() in headline for n in names) + (made.span.sentence < 4)
    score -= (len(text.split()) > 18) * 2 + (clause.kind == "reported") + 3 * clause.now
    return Asked(made.span, text, made.kind, score, clause.now)


def _named(token: Token) -> str:
    """The name that a token is a part of; also one that the pipeline has no kind for."""
    if token.name is not None:
        return token.name.text if token.label in NAMED else ""
    return token.text if token.tag in ("NNP", "NNPS") and len(token.text) > 2 else ""


_KINDS = {
    "who": 2, "which": 3, "what": 2, "where": 3, "when": 4, "how many": 4, "how much": 5,
    "how long": 5, "why": 7, "how": 5, "whom": 3, "age": 5,
}  # fmt: skip


def _answer(tokens: Sequence[Token], kind: AnswerType, label: str) -> Span | None:
    """The span of these tokens; None where others stand between them."""
    tokens = sorted(tokens, key=lambda t: t.at)
    while tokens and tokens[-1].tag in (",", ".", "POS"):
        tokens = tokens[:-1]
    if not tokens or [t.at for t in tokens] != list(range(tokens[0].at, tokens[-1].at + 1)):
        return None
    return Span(tokens[0].start, tokens[-1].end, kind, label, tokens[0].sentence)


def _of_name(name: Name) -> Span:
    return Span(name.start, name.end, "entity", name.label, name.tokens[0].sentence)


# -- how a question is put together


def _were(clause: Clause) -> str:
    if clause.now:
        return "are" if clause.many else "is"
    return "were" if clause.many else "was"


def _past(clause: Clause) -> str | None:
    """The verb as it follows its subject; None where the simple past is not known."""
    verb = clause.verb
    if clause.form == "past":
        return verb.text
    if clause.form == "future":
        return f"will {verb.lemma}"
    if clause.now:
        return verb.text if (verb.tag == "VBP") == clause.many else None
    return past(verb.lemma) if clause.form == "present" else past_of(verb.lower)


def _own_question(word: str, clause: Clause, parts: Sequence[Token]) -> str | None:
    """A question for the subject: `Who won the prize in 2010`."""
    front, left, right = _around(clause, parts)
    many = word.startswith("How many")
    were = ("are" if many else "is") if clause.now else ("were" if many else "was")
    if clause.now and many != clause.many:
        return None
    if clause.form == "future_passive":
        were = "will be"
    if clause.form in _PASSIVE:
        said = [were, left, clause.verb.text]
    elif clause.form == "be":
        said = [were, left]
    elif verb := _past(clause):
        said = [left, verb]
    else:
        return None
    return " ".join(x for x in (word, *said, right, front) if x)


def _inverted(word: str, clause: Clause, parts: Sequence[Token], close: str = "") -> str:
    """A question for another part: `When did Apple buy Beats`."""
    front, left, right = _around(clause, parts)
    subject = written(clause.subject_tokens)
    if clause.form == "future":
        said = ["will", subject, left, clause.verb.lemma]
    elif clause.form == "future_passive":
        said = ["will", subject, left, "be", clause.verb.text]
    elif clause.form in _ACTIVE:
        did = ("do" if clause.many else "does") if clause.now else "did"
        said = [did, subject, left, clause.verb.lemma]
    elif clause.form == "be":
        said = [_were(clause), subject, left]
    else:
        said = [_were(clause), subject, left, clause.verb.text]
    return " ".join(x for x in (word, *said, close, right, front) if x)


def _around(clause: Clause, parts: Sequence[Token]) -> tuple[str, str, str]:
    """What stands before the subject, between it and the verb, and after the verb."""
    front = " ".join(written(phrase(p)) for p in parts if p.at < clause.place)
    told = [t for p in parts if p.at > clause.place for t in phrase(p)]
    left = written(t for t in told if t.at < clause.verb.at)
    return front, left, written(t for t in told if t.at > clause.verb.at)


def _tokens(clause: Clause, parts: Sequence[Token], *, subject: bool) -> list[Token]:
    found = [t for p in parts for t in phrase(p)]
    if subject:
        found += clause.subject_tokens
    return sorted([*found, clause.verb], key=lambda t: t.at)


def _made(
    clause: Clause,
    rest: Sequence[Token],
    span: Span,
    word: str,
    kind: str,
    of: Sequence[Token],
    close: str = "",
) -> Made:
    """What a pattern gives that asks for another part than the subject."""
    told = _tokens(clause, rest, subject=True)
    return Made(span, told, _inverted(word, clause, rest, close), kind, of)


def _rest(parts: Sequence[Token], *without: Token) -> list[Token]:
    return [p for p in parts if all(p is not w for w in without)]


# -- what is asked with


def asked_with(name: Name, verb: Token) -> str | None:
    """`Who`, `Which airline`, …: how a question asks for a name; None where its kind is unknown.

    `verb`: what the name does, or what is done to it: teams beat each other.
    """
    root = name.root
    if name.label == "PERSON":
        return "Who" if name.full and not _is_thing(name) else None
    if verb.lemma in _OF_TEAMS and any(c.label == "PERSON" for c in verb.children):
        return None
    if verb.lemma in _OF_TEAMS and name.label in ("ORG", "GPE"):
        return "Which team"
    if name.text in COUNTRIES:
        return "Which country"
    if name.text in STATES:
        return "Which state"
    before = [c for c in root.children if c.dep in ("compound", "nmod") and c.lower in THINGS]
    before = [c for c in before if c.tag == "NN" and c.label not in NAMED]
    if before:
        noun = thing(before[-1].lower)
        where = [c for c in root.children if c.label == "NORP" and c.dep in ("amod", "compound")]
        return " ".join(["Which", *(c.text for c in where[:1]), str(noun)])
    if name.text in KNOWN:
        return f"Which {KNOWN[name.text]}"
    for aside in root.having("appos"):
        if aside.tag == "NN" and aside.lower in THINGS:
            return f"Which {thing(aside.lower)}"
    parts = name.text.split()
    if len(parts) > 1 and parts[-1] in LAST_WORDS:
        return f"Which {LAST_WORDS[parts[-1]]}"
    if len(parts) > 1 and parts[0] in FIRST_WORDS:
        return f"Which {FIRST_WORDS[parts[0]]}"
    if (
        name.label == "ORG"
        and not _NO_BODIES & set(parts)
        and (len(parts) > 1 or (name.text.isupper() and len(name.text) > 2))
    ):
        capital = all(t.tag in ("NNP", "NNPS", "IN", "CC", "DT", "HYPH") for t in name.tokens)
        return _SOME if capital and parts[0] not in COUNTRIES else None
    return None


_NO_BODIES = words("""
    Award Awards Cup League Prize Championship Championships Games Bowl Open Act Trophy Program
    Programme Law Bill Agreement Treaty Plan Package Initiative Project Fund Report Review Deal Pact
    Lake River Park Island Street Road Building Bridge One Two Summit Conference Forum Convention
""")
"""What ends names of things that do nothing themselves."""
_OF_TEAMS = words("beat defeat thrash trounce outscore")


_SOME = "Which organization"
"""What is asked with for an organization of no known kind, where it does something itself."""


def _is_thing(name: Name) -> bool:
    return any(
        c.lower in THINGS and c.tag == "NN"
        for c in name.root.children
        if c.dep in ("compound", "nmod", "appos")
    )


def _pure(token: Token) -> Name | None:
    """The name that a noun phrase is, with no more than titles and origins before it."""
    name = token.name
    if name is None or name.label not in NAMED or name.root is not token:
        return None
    inside = {t.at for t in name.tokens}
    before = name.tokens[0].prev
    if before is not None and (before.end == name.start or before.tag == "POS"):
        return None
    if any((c.dep == "punct" and c.text == "(") or c.dep == "case" for c in token.children):
        return None
    for child in phrase(token):
        if child.at in inside or child is token:
            continue
        if child.at > name.last.at:
            return None
        if child.dep not in ("compound", "amod", "det", "nmod", "punct"):
            return None
        if child.dep == "det" and child.lower != "the":
            return None
        if child.label in NAMED and child.dep == "compound" and name.label != "PERSON":
            return None
    return name


# -- the patterns


def _who(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The subject, where it is a name."""
    if clause.form == "be" and not _striking(clause):
        return
    if clause.kind == "relative":
        name = clause.subject.name
    else:
        name = None if clause.named else _pure(clause.subject)
    word = asked_with(name, clause.verb) if name else None
    if name is None or word is None:
        return
    text = _own_question(word, clause, parts)
    if text:
        kind = "who" if word == "Who" else "which"
        told = _tokens(clause, parts, subject=False)
        yield Made(_of_name(name), told, text, kind, phrase(clause.subject))


def _striking(clause: Clause) -> bool:
    """Whether what somebody was is told of nobody else: the first woman, the oldest city."""
    return any(
        t.tag == "JJS" or t.lower in ("first", "only")
        for part in clause.verb.having("attr")
        for t in part.children
    )


def _active(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The agent of a passive clause, asked in the active: `Who founded Apple`."""
    if clause.form not in _PASSIVE or clause.named:
        return
    for agent in (p for p in parts if p.dep == "agent"):
        for noun in agent.having("pobj"):
            name = _pure(noun)
            word = asked_with(name, clause.verb) if name else None
            verb = past_of(clause.verb.lower)
            if (
                name is None
                or word is None
                or verb is None
                or clause.now
                or clause.verb.having("oprd", "xcomp")
            ):
                continue
            rest = _rest(parts, agent)
            front, left, right = _around(clause, rest)
            subject = written(clause.subject_tokens)
            text = " ".join(x for x in (word, left, verb, subject, right, front) if x)
            kind = "who" if word == "Who" else "which"
            told = _tokens(clause, rest, subject=True)
            yield Made(_of_name(name), told, text, kind, phrase(noun))


def _object(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The object: a name, or a thing that the verb says enough about."""
    if clause.form not in _ACTIVE:
        return
    for noun in (p for p in parts if p.dep == "dobj"):
        rest = _rest(parts, noun)
        if any(p.dep in ("xcomp", "oprd", "dative", "ccomp") for p in rest):
            continue
        name = _pure(noun)
        word = asked_with(name, clause.verb) if name else None
        if name is not None and word is not None and word != _SOME:
            kind = "who" if word == "Who" else "which"
            yield _made(clause, rest, _of_name(name), word, kind, phrase(noun))
        elif name is None and rest and _thing_asked(clause, noun):
            span = _answer(phrase(noun), "phrase", "OBJECT")
            if span is not None:
                yield _made(clause, rest, span, "What", "what", phrase(noun))


def _thing_asked(clause: Clause, noun: Token) -> bool:
    """Whether `What did … ?` asks for this object well."""
    return clause.verb.lemma not in _LIGHT and _a_thing(noun)


def _a_thing(noun: Token) -> bool:
    """Whether a noun phrase is about a thing, and says by itself which one."""
    tokens = phrase(noun)
    if noun.tag not in ("NN", "NNS") or not 2 <= len(tokens) <= 9:
        return False
    if noun.lower in ROLES or noun.lower in ("people", "man", "woman", "men", "women", "children"):
        return False
    if any(t.label in ("MONEY", "PERCENT", "CARDINAL", "QUANTITY", "DATE", "TIME") for t in tokens):
        return False
    if any(t.tag in ("PRP", "PRP$", "WP", "WDT") for t in tokens):
        return False
    if sum(t.tag[:2] in ("NN", "JJ", "VB") for t in tokens) < 2:
        return False
    return alone(tokens, None, asked=False) and not breaks(tokens)


def _where(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A place: `Where was Zapata born`."""
    if clause.form == "be":
        return
    for prep in (p for p in parts if p.dep == "prep"):
        motion = prep.lower == "to" and clause.verb.lemma in _MOTION
        if not (prep.lower in ("in", "at", "near") or motion) or clause.verb.lemma in _NO_PLACE:
            continue
        for noun in prep.having("pobj"):
            name = noun.name
            if name is None or name.label not in ("GPE", "LOC", "FAC") or name.root is not noun:
                continue
            if prep.lower == "at" and name.label == "GPE":
                continue
            if any(
                c.dep not in ("det", "appos", "punct", "prep")
                and c.at not in {t.at for t in name.tokens}
                for c in noun.children
            ):
                continue
            if any(
                p is not prep
                and p.dep == "prep"
                and said_time(p) is None
                and any(x.label in ("GPE", "LOC", "FAC") for x in phrase(p))
                for p in parts
            ):
                continue
            rest = _rest(parts, prep)
            yield _made(clause, rest, _of_name(name), "Where", "where", phrase(prep))


def _when(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A date that says its own day, month or year."""
    if clause.form == "be":
        return
    for part in clause.parts:
        if part.dep not in ("prep", "npadvmod") or said_time(part) is None:
            continue
        if part.dep == "prep" and part.lower not in ("in", "on"):
            continue
        tokens = phrase(part)
        first, last = tokens[0].start, tokens[-1].end
        text = _source(part)[first - _offset(part) : last - _offset(part)]
        for a, b, label in candidates(text):
            if label not in ("DAY", "MONTH", "YEAR", "DAY_OF_YEAR") or b != len(text):
                continue
            if text[:a].strip().lower() not in ("in", "on", "in early", "in late", ""):
                continue
            rest = _rest(parts, part)
            if any(said_time(p) for p in rest):
                continue
            span = Span(first + a, first + b, "date", label, part.sentence)
            yield _made(clause, rest, span, "When", "when", tokens)


def _source(token: Token) -> str:
    """The sentence of a token as text, from its first token on."""
    root = token
    while root.head is not root:
        root = root.head
    tokens = root.subtree()
    out, at = "", tokens[0].start
    for t in tokens:
        out += " " * (t.start - at - len(out)) + t.text
    return out


def _offset(token: Token) -> int:
    root = token
    while root.head is not root:
        root = root.head
    return min(t.start for t in root.subtree())


def _number(noun: Token) -> list[Token] | None:
    """The number before a noun with all that belongs to it: `more than 20`."""
    for child in noun.having("nummod"):
        if child.label == "CARDINAL" and child.tag == "CD" and child.lower not in ("one", "zero"):
            tokens = child.name.tokens if child.name else [child]
            whole = sorted(
                {t.at: t for t in (*child.subtree(), *tokens)}.values(), key=lambda t: t.at
            )
            if whole[-1].at < noun.at:
                return whole
    return None


def _how_many(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A number of things that did something, or that something was done to."""
    nouns = [] if clause.named else [clause.subject]
    nouns += [p for p in parts if p.dep == "dobj" and clause.form in _ACTIVE]
    for noun in nouns:
        found = _number(noun)
        if (
            found is None
            or noun.tag != "NNS"
            or noun.lower in _UNITS
            or noun.having("conj", "poss")
        ):
            continue
        whole = found
        if any(c.dep == "det" or c.lower in ("other", "more", "additional") for c in noun.children):
            continue
        span = _answer(whole, "phrase", "CARDINAL")
        if span is None:
            continue
        cut = {t.at for t in whole}
        thing_ = [t for t in phrase(noun) if t.at not in cut]
        if any(t.lower in ("percent", "million", "billion") for t in thing_):
            continue
        word = f"How many {written(thing_)}"
        if noun is clause.subject:
            text = _own_question(word, clause, parts)
            tokens = [*_tokens(clause, parts, subject=False), *thing_]
        else:
            rest = _rest(parts, noun)
            text = _inverted(word, clause, rest)
            tokens = [*_tokens(clause, rest, subject=True), *thing_]
        if text:
            yield Made(span, tokens, text, "how many", whole)


def _in_how_many(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A number after a preposition: `In how many countries did Renault sell cars`."""
    for prep in (p for p in parts if p.dep == "prep" and p.lower in ("in", "from", "to", "with")):
        for noun in prep.having("pobj"):
            whole = _number(noun)
            if whole is None or noun.tag != "NNS" or noun.lower in _UNITS:
                continue
            if noun.having("conj", "poss", "det") or noun.label in ("DATE", "TIME", "QUANTITY"):
                continue
            span = _answer(whole, "phrase", "CARDINAL")
            if span is None:
                continue
            cut = {t.at for t in whole}
            counted = [t for t in phrase(noun) if t.at not in cut]
            rest = _rest(parts, prep)
            word = f"{prep.lower} how many {written(counted)}"
            told = [*_tokens(clause, rest, subject=True), *counted]
            yield Made(span, told, _inverted(word, clause, rest), "how many", whole)


def _how_much(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """Money that was paid, or the share by which something rose."""
    for part in parts:
        if part.dep == "dobj" and clause.verb.lemma in _PAY and clause.form in _ACTIVE:
            span = _amount(part, "MONEY")
            rest = _rest(parts, part)
            for_ = any(p.dep in ("prep", "xcomp") and said_time(p) is None for p in rest)
            if span and for_ and not part.having("prep", "acl", "relcl"):
                yield _made(clause, rest, span[0], "How much", "how much", span[1])
        if part.dep == "prep" and part.lower in ("for", "at", "by"):
            for noun in part.having("pobj"):
                label = "PERCENT" if part.lower == "by" else "MONEY"
                span = _amount(noun, label)
                if not span or noun.having("prep", "acl", "relcl"):
                    continue
                rest = _rest(parts, part)
                if part.lower == "by" and clause.verb.lemma in _CHANGE:
                    word = "By what percentage"
                elif part.lower == "for" and clause.verb.lemma in (
                    "sell",
                    "buy",
                    "acquire",
                    "purchase",
                ):
                    word = "For how much"
                else:
                    continue
                yield _made(clause, rest, span[0], word, "how much", phrase(part))
        if (
            part.dep in ("npadvmod", "dobj")
            and clause.verb.lemma in _CHANGE
            and clause.form in _ACTIVE
        ):
            span = _amount(part, "PERCENT")
            if span:
                rest = _rest(parts, part)
                yield _made(clause, rest, span[0], "By what percentage", "how much", span[1])


def _amount(noun: Token, label: str) -> tuple[Span, Sequence[Token]] | None:
    name = noun.name
    if noun.label != label or name is None or name.root is not noun:
        return None
    tokens = [t for t in noun.subtree() if t.at <= name.last.at]
    span = _answer(tokens, "phrase", label)
    return (span, phrase(noun)) if span else None


def _how_long(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """How long something lasted: `for three years`."""
    if clause.form == "be" or clause.verb.lemma in _NO_LENGTH:
        return
    for prep in (p for p in clause.parts if p.dep == "prep" and p.lower == "for"):
        for noun in prep.having("pobj"):
            if noun.label not in ("DATE", "TIME") or noun.lower not in _LENGTHS:
                continue
            if not any(t.tag == "CD" for t in noun.subtree()) or noun.having(
                "prep", "acl", "relcl"
            ):
                continue
            if any(t.lower in ("first", "last", "next", "past", "the") for t in noun.subtree()):
                continue
            span = _answer(phrase(noun), "phrase", "DURATION")
            if span is None or any(t.tag == "POS" for t in phrase(noun)):
                continue
            rest = _rest(parts, prep)
            yield _made(clause, rest, span, "How long", "how long", phrase(prep))


def _why(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A reason, where the article says `because`."""
    for part in parts:
        tokens = phrase(part)
        if part.dep == "advcl" and _because(part):
            first = next(t for t in part.children if t.dep == "mark" and t.lower == "because")
            tokens = [t for t in part.subtree() if t.at >= first.at]
        elif not (part.dep == "prep" and part.lower in ("because", "due") and len(tokens) > 2):
            continue
        if len(tokens) > 20 or part.at < clause.verb.at:
            continue
        span = _answer(tokens, "phrase", "CAUSE")
        if span is None:
            continue
        rest = _rest(parts, part)
        yield _made(clause, rest, span, "Why", "why", tokens)


def _how(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A means: `by winning the election`."""
    if clause.form == "be":
        return
    for prep in (p for p in parts if p.dep in ("prep", "agent") and p.lower == "by"):
        if prep.at < clause.verb.at:
            continue
        for verb in prep.having("pcomp"):
            tokens = prep.subtree()
            if verb.tag != "VBG" or len(tokens) > 14:
                continue
            span = _answer(tokens, "phrase", "MEANS")
            if span is None:
                continue
            rest = _rest(parts, prep)
            yield _made(clause, rest, span, "How", "how", tokens)


def _whom(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """Somebody or something after a preposition: `With whom did Merkel meet`."""
    if clause.form == "be":
        return
    for prep in (p for p in parts if p.dep in ("prep", "dative") and p.lower in _WHOM):
        for noun in prep.having("pobj"):
            name = _pure(noun)
            if name is None or name.label not in ("PERSON", "ORG"):
                continue
            word = asked_with(name, clause.verb)
            if word is None or word == _SOME:
                continue
            rest = _rest(parts, prep)
            lead = f"{prep.lower} {'whom' if word == 'Who' else 'w' + word[1:]}"
            yield _made(clause, rest, _of_name(name), lead, "whom", phrase(prep))


def _to_do(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """What somebody agreed, refused, or was ordered to do."""
    wanted = _TO_DO if clause.form in _ACTIVE else _TOLD if clause.form in _PASSIVE else ()
    if clause.verb.lemma not in wanted:
        return
    for part in (p for p in parts if p.dep == "xcomp" and p.tag == "VB"):
        mark = [c for c in part.children if c.dep == "aux" and c.lower == "to"]
        if not mark or part.having("nsubj"):
            continue
        tokens = [t for t in phrase(part) if t.at > mark[0].at]
        rest = _rest(parts, part)
        if not 3 <= len(tokens) <= 14 or any(p.dep == "dobj" for p in rest):
            continue
        if any(t.tag in ("PRP",) for t in tokens) or part.having("neg"):
            continue
        span = _answer(tokens, "phrase", "ACTION")
        if span is None:
            continue
        before = [p for p in rest if p.at < part.at]
        if len(before) != len(rest) or not (rest or len(tokens) > 3):
            continue
        yield _made(clause, rest, span, "What", "what", tokens, close="to do")


def _about(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """What somebody called for, focused on, suffered from."""
    wanted = _ABOUT.get(clause.verb.lemma, ())
    if not wanted or clause.form not in _ACTIVE or any(p.dep == "dobj" for p in parts):
        return
    for prep in (p for p in parts if p.dep == "prep" and p.lower in wanted):
        for noun in prep.having("pobj"):
            if noun.name is not None or not _a_thing(noun):
                continue
            span = _answer(phrase(noun), "phrase", "OBJECT")
            rest = _rest(parts, prep)
            if span is None or any(p.at > prep.at and said_time(p) is None for p in rest):
                continue
            rest = [p for p in rest if p.at < prep.at]
            yield _made(clause, rest, span, "What", "what", phrase(noun), close=prep.lower)


def _charged(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """What somebody was accused of, sentenced to, fined for."""
    wanted = _CHARGES.get(clause.verb.lemma, ())
    if not wanted or (clause.form not in _PASSIVE and clause.verb.lemma != "plead"):
        return
    for prep in (p for p in parts if p.dep == "prep" and p.lower in wanted):
        tokens = [t for t in phrase(prep) if t.at > prep.at]
        if not 1 <= len(tokens) <= 14 or any(t.tag in ("PRP",) for t in tokens):
            continue
        if prep.lower == "for" and any(t.label in ("DATE", "TIME") for t in tokens[:3]):
            continue
        span = _answer(tokens, "phrase", "CHARGE")
        if span is None:
            continue
        rest = _rest(parts, prep)
        yield _made(clause, rest, span, "What", "what", tokens, close=prep.lower)


def _age(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """`at the age of 90`."""
    for prep in (p for p in parts if p.dep == "prep" and p.lower == "at"):
        for noun in (n for n in prep.having("pobj") if n.lower == "age"):
            for of in noun.having("prep"):
                for number in (n for n in of.having("pobj") if n.tag == "CD"):
                    rest = _rest(parts, prep)
                    span = _answer([number], "phrase", "AGE")
                    if span:
                        yield _made(clause, rest, span, "At what age", "age", phrase(prep))


Pattern = Callable[[Clause, Sequence[Token]], Iterator[Made]]
PATTERNS: Sequence[Pattern] = (
    _who, _active, _object, _where, _when, _how_many, _in_how_many, _how_much, _how_long, _why,
    _how, _whom, _to_do, _about, _charged, _age,
)  # fmt: skip
