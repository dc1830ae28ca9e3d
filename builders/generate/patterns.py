"""Questions from clauses: a table of patterns, each asking for one part of a clause.

Every pattern gives more than is wanted; `judging` keeps what stands alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from factdrift.builders.generate.clauses import (
    Clause,
    alone,
    breaks,
    clauses,
    coordinated,
    follows_up,
    phrase,
    relative,
    said_time,
)
from factdrift.builders.generate.judging import BASED, Asked, Made, Span, judged
from factdrift.builders.generate.kinds import OF_TEAMS, asked_with, pure
from factdrift.builders.generate.trees import NAMED, Name, Token, Tree, written
from factdrift.builders.rows import AnswerType
from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import candidates
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.en.nouns import ROLES, THINGS
from factdrift.builders.text.en.verbs import past, past_of

_ACTIVE = ("past", "present", "perfect")
_PASSIVE = ("passive", "perfect_passive")
_CORE = ("dobj", "dative", "attr", "acomp", "oprd", "prt", "agent", "xcomp", "ccomp", "pcomp")
_LIGHT = words("""
    make take have give get do hold play face see say tell call let keep put set bring come go find
    include show use need want know mean think feel look seem turn become remain begin start
    continue try allow enable help ask leave run meet pay
""")
"""Verbs that say little without their object: `What did he make?` asks nothing."""
_NO_PLACE = words("""
    invest believe interest succeed involve specialize specialise result participate engage
    increase rise decrease include base lead play compete end lag finish rank trade own operate
    control support consist depend
""")
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
    "sentence": ("to",), "fine": ("for",), "arrest": ("for",), "indict": ("on", "for"),
    "suspect": ("of",), "nominate": ("for",), "sue": ("for",), "criticize": ("for",),
    "criticise": ("for",), "praise": ("for",), "blame": ("for",), "plead": ("to",),
    "award": ("for",),
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


def questions(tree: Tree, *, drafts: bool = False) -> list[Asked]:
    """Every question of an article that stands alone, the best ones first, then by place.

    `drafts`: also whole sentences that do not, or that fit many events, behind all that do.
    """
    headline = tree.article.sentences[0].casefold() if tree.article.sentences else ""
    capitals = frozenset(_CAPITAL.findall(tree.article.text))
    body = "\n".join(tree.article.sentences[1:])
    longer = frozenset(w for pair in _PAIR.findall(body) for w in pair)
    found: list[Asked] = []
    for clause in clauses(tree):
        parts = _told(clause)
        if parts is None or (clause.now and follows_up(tree, clause.verb.sentence)):
            continue
        for make in (_who,) if _introduced(clause.subject) else PATTERNS:
            for made in make(clause, parts):
                good = judged(made, clause, headline, capitals, longer, drafts=drafts)
                if good is not None:
                    found.append(good)
    found.sort(key=lambda a: (-a.score, a.span.start, a.span.end, a.question))
    return found


_CAPITAL = re.compile(r"\b[A-Z]\w+")
_PAIR = re.compile(r"(?=\b([A-Z]\w+)\.? ([A-Z]\w+))")


def _told(clause: Clause) -> list[Token] | None:
    """The parts that a question is told with; None where one that cannot be left out is unfit."""
    if clause.verb.lemma in _PICTURES or any(
        map(_praises, (*clause.subject_tokens, *clause.whole))
    ):
        return None
    if clause.form == "past" and _no_past(clause):
        return None
    kept = []
    for part in clause.parts:
        tokens = phrase(part)
        if part.dep == "ccomp" or _hangs(part):
            return None
        if said_time(part) == "relative" or part.dep == "punct":
            continue
        if clause.verb.lemma == "bear" and part.dep not in ("prep", "npadvmod", "agent"):
            continue
        deed = any(not verb.having("nsubj") for verb in part.having("pcomp"))
        if part.lower == "with" and not deed and any(map(_tells, part.subtree())):
            continue  # `with his family attending`, `with two injured`, not `with stealing`
        if part.dep == "prep" and part.at > clause.verb.at and _cut_off(part, tokens):
            return None
        if part.dep == "advcl" and not _because(part) and not _purpose(part):
            continue
        if part.dep == "npadvmod" and part.at < clause.verb.at and not said_time(part):
            return None
        if breaks(tokens) or (relative(tokens) and not said_time(part)):
            return None
        if said_time(part) and (coordinated(part) or (clause.now and _dated(part))):
            return None  # events of a list are those of its day
        if part.dep == "prep" and part.at > clause.verb.at and _is_clause(part, tokens):
            return None
        if part.dep in _CORE or part.dep in ("npadvmod", "advmod", "agent", "advcl"):
            kept.append(part)
        elif part.dep != "prep":
            return None
        elif part.at > clause.place or (part.lower in _SCENE and not _links(part)):
            kept.append(part)
    if clause.verb.lemma in _MATCH and any(
        p.at < clause.place and said_time(p) is None for p in kept
    ):
        return None  # the match stands in front: `In a friendly in Cleveland, Belgium beat …`
    return None if sum(said_time(p) == "absolute" for p in clause.parts) > 1 else kept


_MATCH = OF_TEAMS | words("win lose draw")


def _no_past(clause: Clause) -> bool:
    """Whether a verb looks like a participle that lost its clause: `the goals agreed by Congo`."""
    return not any(p.dep in _CORE for p in clause.parts if p.dep != "agent") and any(
        p.lower == "by"
        and noun.label not in ("PERCENT", "MONEY", "CARDINAL", "QUANTITY", "DATE", "TIME")
        for p in clause.parts
        for noun in p.having("pobj")
    )


def _cut_off(part: Token, tokens: Sequence[Token]) -> bool:
    """Whether a phrase belongs to what stands around it rather than to the verb.

    `met with Mugabe representing Zimbabwe`; `took two men, from Port Harcourt, in Abia State`.
    """
    before, after = tokens[0].prev, tokens[-1].next
    if after is None:
        return False
    if part.lower == "with" and after.tag == "VBG":
        return True
    apart = before is not None and before.text == "," == after.text
    return apart and not said_time(part)


def _tells(token: Token) -> bool:
    return token.tag == "JJR" or (token.tag in ("VBG", "VBN") and token.dep != "relcl")


def _hangs(part: Token) -> bool:
    """Whether a part is cut off from its clause by a comma, or has lost what it stands for.

    `RTS falls 7%, MICEX 5%`; `invited Hudson, who was ill, to appear`; `died in on Thursday`.
    """
    tokens, whole = phrase(part), part.subtree()
    if part.dep == "prep" and tokens == [part] and len(whole) > 1:
        return True
    after_comma = [t for t in whole if t.prev is not None and t.prev.text == ","]
    if part.dep == "advcl":
        return any(t.tag == "TO" and t.head is not part for t in after_comma)
    core = part.dep in _CORE or (part.dep == "npadvmod" and not said_time(part))
    return core and part.at > part.head.at and tokens[0] in after_comma


def _dated(part: Token) -> bool:
    """Whether a part is a time with its year, and no `meeting of 2007`."""
    times = [part] if part.dep == "npadvmod" else part.having("pobj")
    return said_time(part) == "absolute" and any(t.label == "DATE" for t in times)


def _praises(token: Token) -> bool:
    """Whether a word tells what somebody thinks of a thing, or compares it with another's."""
    if token.lower == "history" and token.head.lemma == "make":
        return True
    return token.lower in _PRAISE or (token.lower == "own" and token.tag == "JJ")


_PRAISE = words(data("questions")["praise"])
_PICTURES = words(data("questions")["pictures"])


def _is_clause(part: Token, tokens: Sequence[Token]) -> bool:
    """Whether a phrase is the head of a clause or cut: `after the home burns`, `for using`."""
    after = tokens[-1].next
    cut = any(t.tag == "VBG" and not t.children for t in part.having("pcomp"))
    torn_ = any(
        t.prev is not None
        and t.prev.text == ","
        and t.prev.at not in {x.at for x in tokens}
        and t.prev.prev in tokens
        for t in tokens
    )
    return cut or torn_ or (after is not None and after.tag in ("VBZ", "VBP", "VBD", "MD"))


def _links(part: Token) -> bool:
    """Whether a phrase only leads on from before, or tells a field: `in addition`, `in tennis`."""
    inside = phrase(part)[1:]
    field = part.lower == "in" and all(t.tag == "NN" and not t.label for t in inside)
    return field or any(t.lemma in _LINKS for t in part.having("pobj", "amod"))


_LINKS = words("addition particular fact total turn example instance short part return general")


_SCENE = words("in at on during after following for under near before within")
"""Prepositions of phrases before the subject that may also stand at the end."""


def _purpose(part: Token) -> bool:
    return part.at > part.head.at and any(t.tag == "TO" for t in part.having("aux"))


def _because(part: Token) -> bool:
    return any(t.dep == "mark" and t.lower == "because" for t in part.children)


def _answer(tokens: Sequence[Token], kind: AnswerType, label: str) -> Span | None:
    """The span of these tokens; None where others stand between them."""
    tokens = sorted(tokens, key=lambda t: t.at)
    while tokens and tokens[-1].tag in (",", ".", "POS"):
        tokens = tokens[:-1]
    if not tokens or [t.at for t in tokens] != list(range(tokens[0].at, tokens[-1].at + 1)):
        return None
    if tokens[-1].tag in ("IN", "TO", "DT", "CC", "VB") or _joined_on(tokens[-1]):
        return None  # `worries over`, whose end the parser gave to another word
    return Span(tokens[0].start, tokens[-1].end, kind, label, tokens[0].sentence)


def _joined_on(token: Token) -> bool:
    """Whether more of the same kind follows a phrase, if behind a bracket: `the Act (V.) and`."""
    after = token.next
    if after is not None and after.text == "(":
        while after is not None and after.text != ")":
            after = after.next
        after = after.next if after is not None else None
    beyond = after.next if after is not None and after.tag == "CC" else None
    return beyond is not None and beyond.tag[:2] not in ("VB", "RB", "MD")


def _of_name(name: Name) -> Span:
    """The span of a name; a person's longest form, without Mr and ranks, wherever it stands."""
    tokens = (name.longest or name).bare if name.label == "PERSON" else name.tokens
    return Span(tokens[0].start, tokens[-1].end, "entity", name.label, tokens[0].sentence)


# -- how a question is put together


def _were(clause: Clause) -> str:
    return "were" if clause.many else "was"


def _past(clause: Clause) -> str | None:
    """The verb as it follows its subject; None where the simple past is not known."""
    verb = clause.verb
    if clause.form == "past":
        return verb.text
    return past(_base(verb)) if clause.form == "present" else past_of(verb.lower)


def _base(verb: Token) -> str:
    """The infinitive; that of `spares` is no `spar`, whatever the pipeline thinks."""
    lemma = verb.lemma
    forms = [lemma, f"{lemma}s", f"{lemma[:-1]}ies"]
    if lemma.endswith(_HISSES):
        forms.append(f"{lemma}es")
    known = verb.tag != "VBZ" or verb.lower in forms or len(lemma) < 3
    return lemma if known else verb.lower[:-1]


_HISSES = ("s", "x", "z", "ch", "sh", "o")
"""Ends of verbs that take `es` in the present: `fines` is of `fine`, not of `fin`."""


def _own_question(word: str, clause: Clause, parts: Sequence[Token]) -> str | None:
    """A question for the subject: `Who won the prize in 2010`."""
    front, left, right = _around(clause, parts)
    were = "were" if word.startswith("How many") else "was"
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
    if clause.form in _ACTIVE:
        said = ["did", subject, left, _base(clause.verb)]
    elif clause.form == "be":
        said = [_were(clause), subject, left]
    else:
        said = [_were(clause), subject, left, clause.verb.text]
    return " ".join(x for x in (word, *said, close, right, front) if x)


def _around(clause: Clause, parts: Sequence[Token]) -> tuple[str, str, str]:
    """What stands before the subject, between it and the verb, and after the verb."""
    before = [p for p in parts if p.at < clause.place]
    if sum(len(phrase(p)) for p in parts if p.at > clause.verb.at) > _FAR:
        before = [p for p in before if said_time(p)]
    told = [t for p in parts if p.at > clause.place for t in phrase(p)]
    left = written(t for t in told if t.at < clause.verb.at)
    front = " ".join(written(phrase(p)) for p in before)
    return front, left, written(t for t in told if t.at > clause.verb.at)


_FAR = 9
"""Words after the verb, behind which only a time is understood that stood before the subject."""


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


def _named(
    clause: Clause,
    rest: Sequence[Token],
    name: Name,
    word: str,
    kind: Sequence[Token],
    of: Sequence[Token],
) -> Made:
    """What a pattern gives that asks for a name other than the subject; `kind` is told of it."""
    told = [*_tokens(clause, rest, subject=True), *kind]
    text = _inverted(word, clause, rest)
    return Made(_of_name(name), told, text, _which(word), _rest(of, *kind))


def _rest(parts: Sequence[Token], *without: Token) -> list[Token]:
    return [p for p in parts if all(p is not w for w in without)]


# -- the patterns


def _who(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The subject, where it is a name."""
    if (clause.form == "be" and not _striking(clause)) or clause.verb.lemma == "bear":
        return
    if clause.kind == "relative":
        name = clause.subject.name
    else:
        name = None if clause.named else pure(clause.subject) or _called(clause.subject)
    asked = asked_with(name, clause.verb) if name else None
    if name is None or asked is None or _in_a_team(clause, parts):
        return
    word, kind = asked
    if _introduced(clause.subject):
        kind = phrase(clause.subject)[1:]
        word = f"Which {written(kind)}"
    text = _own_question(word, clause, parts)
    if text:
        told = [*_tokens(clause, parts, subject=False), *kind]
        yield Made(_of_name(name), told, text, _which(word), _rest(phrase(clause.subject), *kind))


def _in_a_team(clause: Clause, parts: Sequence[Token]) -> bool:
    """Whether somebody won with a team, so that many others did, too."""
    beside = (n for p in parts if p.lower == "with" for n in p.having("pobj"))
    return clause.verb.lemma == "win" and any(n.label in ("ORG", "GPE") for n in beside)


def _which(word: str) -> str:
    return "who" if word == "Who" else "which"


def _called(subject: Token) -> Name | None:
    """The person that a subject is said to be: `the head of the bank, Robert Zoellick, went`."""
    names = [a.name for a in subject.having("appos") if a.label == "PERSON" and a.name]
    if len(names) != 1 or subject.label in NAMED or any(t.dep == "cc" for t in phrase(subject)):
        return None
    return names[0] if pure(names[0].root) is not None else None


def _introduced(subject: Token) -> bool:
    """Whether somebody is named beside what he is: `a Dutch engineer, Richard Wright, …`."""
    some = any(c.lower in ("a", "an") for c in subject.having("det"))
    return some and _called(subject) is not None


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
            name = pure(noun)
            asked = asked_with(name, clause.verb) if name else None
            verb = past_of(clause.verb.lower)
            if name is None or asked is None or verb is None or clause.verb.having("oprd"):
                continue
            word, kind = asked
            rest = _rest(parts, agent)
            front, left, right = _around(clause, rest)
            subject = written(clause.subject_tokens)
            text = " ".join(x for x in (word, left, verb, subject, right, front) if x)
            told = [*_tokens(clause, rest, subject=True), *kind]
            yield Made(_of_name(name), told, text, _which(word), _rest(phrase(noun), *kind))


def _object(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The object: a name, or a thing that the verb says enough about."""
    if clause.form not in _ACTIVE:
        return
    for noun in (p for p in parts if p.dep == "dobj"):
        rest = _rest(parts, noun)
        if any(p.dep in ("xcomp", "oprd", "dative", "ccomp", "dobj") for p in rest):
            continue
        if any(_may_belong(p, noun) for p in rest):
            continue
        name = pure(noun)
        asked = asked_with(name, clause.verb) if name else None
        if name is not None and asked is not None:
            yield _named(clause, rest, name, *asked, phrase(noun))
        elif name is not None and name.label in ("LAW", "WORK_OF_ART", "EVENT"):
            yield _made(clause, rest, _of_name(name), "What", "what", phrase(noun))
        elif name is None and _thing_asked(clause, noun):
            span = _answer(phrase(noun), "phrase", "OBJECT")
            before = phrase(noun)[0].prev
            whole = before is not None and before.tag[0] in "VRITC"
            if span is not None and whole:
                yield _made(clause, rest, span, "What", "what", phrase(noun))


def _may_belong(part: Token, noun: Token) -> bool:
    """Whether a part of a clause may as well belong to the noun that it follows."""
    before = phrase(part)[0].prev
    while before is not None and (before.label in ("DATE", "TIME") or before.text == ","):
        before = before.prev
    if before is None or before.at != phrase(noun)[-1].at:
        return False
    if part.dep != "prep":
        return part.dep == "advcl"
    if part.lower in ("to", "into"):
        return part.head.lemma not in _TO_WHOM
    if said_time(part) or part.lower in ("during", "after", "before", "following"):
        return False
    return part.lower != "in" or not any(x.label in _PLACES for x in part.having("pobj"))


_TO_WHOM = words(data("questions")["to_whom"])


def _what(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """The thing that something was done to: `What was unveiled by Kevin Rudd in Canberra`."""
    if clause.form not in _PASSIVE or clause.named or not _a_thing(clause.subject):
        return
    span = _answer(phrase(clause.subject), "phrase", "SUBJECT")
    text = _own_question("What", clause, parts)
    if any(p.dep == "prep" and p.lower == "of" for p in parts):
        return  # `artist impressions were released of the clinic`
    if span is not None and text and not any(p.dep == "oprd" for p in parts):
        told = _tokens(clause, parts, subject=False)
        yield Made(span, told, text, "what", phrase(clause.subject))


def _thing_asked(clause: Clause, noun: Token) -> bool:
    """Whether `What did … ?` asks for this object well."""
    return clause.verb.lemma not in _LIGHT and _a_thing(noun)


def _a_thing(noun: Token) -> bool:
    """Whether a noun phrase is about a thing, and says by itself which one."""
    tokens = phrase(noun)
    if noun.tag not in ("NN", "NNS") or not 2 <= len(tokens) <= 14:
        return False
    if noun.lemma in ROLES | THINGS | _NO_ANSWER:
        return False
    if any(t.tag in ("JJR", "JJS", "RBR", "RBS") or t.lower in _SOME for t in tokens):
        return False
    if noun.lemma in _OF_WHAT_ELSE and not any(t.label in NAMED for t in tokens):
        return False
    if any(t.label in ("PERCENT", "CARDINAL", "QUANTITY", "DATE", "TIME") for t in tokens):
        return False
    if any(t.tag in ("PRP", "PRP$", "WP", "WDT") for t in tokens):
        return False
    if sum(t.tag[:2] in ("NN", "JJ", "VB") for t in tokens) < 2:
        return False
    return alone(tokens, None, asked=False) and not breaks(tokens)


_SOME = words("several many some numerous few")
_NO_ANSWER = words("""
    people man woman child region area country statement letter claim effort action step measure
    issue matter thing way number part role support concern work question report decision change
    response comment condolence sympathy thanks supporter activist protester resident citizen
    place time point idea position view detainee inmate prisoner migrant refugee passenger victim
    suspect soldier officer employee worker student government case turnout level amount degree
    share majority sum
""")
"""Nouns that answer nothing, whatever stands beside them."""
_OF_WHAT_ELSE = words("""
    agreement testimony complaint visit assistance finding order deal talk meeting discussion
    strike investment business program service
""")
"""Nouns that answer only with a name: `an historic agreement` is none."""


_PLACES = ("GPE", "LOC", "FAC")


def _where(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A place: `Where was Zapata born`."""
    if clause.form == "be":
        return
    for prep in (p for p in parts if p.dep == "prep"):
        motion = prep.lower == "to" and clause.verb.lemma in _MOTION
        if not (prep.lower in ("in", "at") or motion) or clause.verb.lemma in _NO_PLACE:
            continue
        for noun in prep.having("pobj"):
            name = noun.name
            if name is None or name.label not in _PLACES or name.root is not noun:
                continue
            if prep.lower == "at" and name.label == "GPE":
                continue
            if name.text in COUNTRIES and clause.verb.lemma not in _MOTION | BASED:
                continue
            if any(x.label in _PLACES for p in parts if p.dep == "dobj" for x in phrase(p)):
                continue
            if clause.subject.label in _PLACES:
                continue
            if any(
                (c.dep not in ("det", "appos", "punct", "prep") or c.lower == "of")
                and c.at not in {t.at for t in name.tokens}
                for c in noun.children
            ):
                continue
            if any(
                p is not prep
                and p.dep == "prep"
                and said_time(p) is None
                and any(
                    x.label in _PLACES or (p.lower in ("in", "at", "near") and x.tag == "NNP")
                    for x in phrase(p)
                )
                for p in parts
            ):
                continue
            rest = _rest(parts, prep)
            yield _made(clause, rest, _of_name(name), "Where", "where", phrase(prep))


def _when(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A date that says its own day, month or year; what is told as of today has another."""
    if clause.form == "be" or clause.now:
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
            if label not in ("DAY", "MONTH", "YEAR") or b != len(text):
                continue
            if text[:a].strip().lower() not in ("in", "on", "in early", "in late", ""):
                continue
            rest = _rest(parts, part)
            if any(said_time(p) or p.at > part.at > clause.verb.at for p in rest):
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
            if (
                whole[-1].tag == "CD"
                and whole[-1].at < noun.at
                and whole[0].lower not in ("also", "only", "just")
            ):
                return whole
    return None


def _how_many(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A number of things that did something, or that something was done to."""
    nouns = [] if clause.named else [clause.subject]
    if clause.form in _ACTIVE and clause.verb.lemma not in _SPEAK:
        nouns += [p for p in parts if p.dep == "dobj"]
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
        if any(p.lower in ("with", "of") and _may_belong(p, noun) for p in parts):
            continue
        cut = {t.at for t in whole}
        thing_ = [t for t in phrase(noun) if t.at not in cut]
        if noun is not clause.subject and len([t for t in thing_ if t.at > noun.at]) > _TAIL:
            continue
        if any(t.lower in ("percent", "million", "billion") for t in thing_):
            continue
        if any(p.lower in _AFTER_ALL for p in noun.having("prep")):
            continue  # `recalls 40 cars due to a fault`
        late = [t for t in noun.children if t.at > noun.at and t.tag in ("JJ", "VBN")]
        if noun is not clause.subject and any(not t.children for t in late):
            continue  # `leaves three people dead`
        if noun.lemma in _OF_WHAT and not noun.having("prep", "compound"):
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


_SPEAK = words("report say announce claim estimate surpass exceed pass top reach")
_OF_WHAT = words("case death infection fatality")
_AFTER_ALL = words("due because over after amid following")
"""Prepositions of phrases about the deed rather than about what is counted."""
_TAIL = 5
"""Words after a noun that may stand between `How many` and `did`."""


def _in_how_many(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A number after a preposition: `In how many countries did Renault sell cars`."""
    for prep in (p for p in parts if p.dep == "prep" and p.lower in ("in", "from", "to")):
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
            if phrase(noun)[-1] is not noun:
                continue  # `one day due to a fault`
            span = _answer(phrase(noun), "phrase", "DURATION")
            if span is None or any(t.tag == "POS" for t in phrase(noun)):
                continue
            rest = _rest(parts, prep)
            if any(p.lower in ("until", "till", "from", "since", "through") for p in rest):
                continue
            yield _made(clause, rest, span, "For how long", "how long", phrase(prep))


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
        if any(t is not None and t.tag == "RB" for t in (tokens[0], tokens[0].prev)):
            continue  # only because, reportedly due to
        span = _answer(tokens, "phrase", "CAUSE")
        if span is None:
            continue
        rest = _rest(parts, part)
        if all(p.at < part.at or said_time(p) for p in rest):
            yield _made(clause, rest, span, "Why", "why", tokens)


def _how(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """A means: `by winning the election`."""
    if clause.form == "be":
        return
    for prep in (p for p in parts if p.dep in ("prep", "agent") and p.lower == "by"):
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
            name = pure(noun)
            if name is None:
                continue
            if name.label not in ("PERSON", "ORG") and name.text not in COUNTRIES:
                continue
            if name.text in COUNTRIES and prep.lower not in ("with", "against", "to", "from"):
                continue
            asked = asked_with(name, clause.verb)
            if asked is None or (prep.lower == "on" and clause.verb.lemma == "call"):
                continue
            word, kind = asked
            lead = f"{prep.lower} {'whom' if word == 'Who' else 'w' + word[1:]}"
            made = _named(clause, _rest(parts, prep), name, lead, kind, phrase(prep))
            yield replace(made, kind="whom")


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
        if (
            tokens[0].lower in ("prison", "jail")
            or not 1 <= len(tokens) <= 14
            or any(t.tag in ("PRP",) for t in tokens)
        ):
            continue
        if prep.lower == "for" and any(t.label in ("DATE", "TIME") for t in tokens[:3]):
            continue
        span = _answer(tokens, "phrase", "CHARGE")
        if span is None:
            continue
        if any(p.dep == "agent" or (p.lower == "to" and p is not prep) for p in parts):
            continue
        kept = [p for p in parts if p.dep == "dobj" or p.lower == "guilty"]
        closing = [prep, *(t for p in kept for t in phrase(p))]
        rest = _rest(parts, prep, *kept)
        told = [*_tokens(clause, rest, subject=True), *closing]
        text = _inverted("What", clause, rest, written(closing))
        yield Made(span, told, text, "what", tokens)


def _to_do(clause: Clause, parts: Sequence[Token]) -> Iterator[Made]:
    """What somebody agreed, refused, or was ordered to do."""
    if clause.verb.lemma not in _WILL or any(p.dep in ("dobj", "dative") for p in parts):
        return
    for aim in (p for p in parts if p.dep == "xcomp" and p.at > clause.verb.at):
        to = [t for t in aim.having("aux") if t.tag == "TO"]
        tokens = phrase(aim)
        if aim.having("agent") or any(t.text == "," for t in tokens):
            continue
        if not to or tokens[0] is not to[0] or not 4 <= len(tokens) <= _LONGEST_AIM:
            continue
        if not alone(tokens, clause.subject, asked=False) or breaks(tokens) or relative(tokens):
            continue
        span = _answer(tokens[1:], "phrase", "AIM")
        if span is not None and aim.tag == "VB":
            rest = _rest(parts, aim)
            yield _made(clause, rest, span, "What", "what", tokens, close="to do")


_WILL = words(
    "agree refuse promise pledge threaten vow offer order vote decide force allow require"
)
_LONGEST_AIM = 16


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
    _who, _active, _what, _object, _where, _when, _how_many, _in_how_many, _how_much, _how_long,
    _why, _how, _whom, _about, _charged, _to_do, _age,
)  # fmt: skip
