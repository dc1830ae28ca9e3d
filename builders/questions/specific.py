"""Whether a question can be understood without its article."""

import re

from builders.questions.lexicon import COUNTRIES, DEMONYMS, MONTHS, PLACES, WEEKDAYS, words

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*|,")
_POINTING = re.compile(
    r"\b(?:this|that|these|those|he|she|it|they|him|them|his|her|hers|their|theirs|its|again|also|"
    r"there|here|respectively|same|other|others|another|both|former|latter|our|my|your|previous|following|such|so|then)\b"
)
_OWN = re.compile(r"\b(?:his|her|its|their)\b")
_LINKS = words("""
    of in for at from on between to against with by into over among as
""")
_TIES = frozenset({"of", "for", "between", "from", "against"})
_KNOWN = words("""
    oath world universe moon sun internet euro pound dollar end age way sea season title office
    first second third last next most youngest oldest largest biggest highest longest men women
    country nation
""") - {"season", "title", "country", "nation", "office"}
_GENERIC = words("""
    I The Government Council Cabinet Prime Minister Ministers President Vice House Parliament
    Commission Committee Senate Department State States Royal Interim Report Act Bill Opposition Compliance Chief Defence Defense Force Army Navy Police Progressive Labour Labor
    Liberal Conservative National Democratic Socialist Communist Green Party Republican People Federal
    Supreme High Central Joint Security Adviser Advisor Foreign Affairs Relations Finance Independent Staff Agriculture Transport Environment Energy Labour Culture Science Industry
    Commerce Treasury Immigration Social Infrastructure
    Election Electoral Health Education Trade Services Criminal Chairperson Budget Intelligence Judiciary Congress
    Secretary Board Court Speaker Mr Mrs Ms Dr Governor Commissioner Chairman Agreement Fund
    Program Programme Review Summit Treaty Office Agency Plan Justice Head General
""")
_VAGUE = re.compile(
    r"\b(?:is|are|was|were) (?:one of|on track|a close|an? (?:good|great|key|important|pilot|major)"
    r"|alleged|expected|currently|among|pleased|proud|honou?red|delighted|committed|responsible)\b"
    r"|\b(?:currently|several|various|certain|many|recent|recently|subsequently|thereafter"
    r"|the [A-Z]\w+ (?:nation|country|state|city|capital|region|province|firm|company|island)\b(?! of)"
    r"|the last (?:match|game|round|minute)|today|ago)\b"
)
_EVENTS = words("""
    election elections final title race league referendum award awards prize competition
    tournament championship championships primary primaries caucuses festival summit war coup
    earthquake attack attacks bombing bombings debate seat case protests game match treaty medal
    record contract law ban embassy border bridge runner-up series friendship constituency seats
    invasion visit
""")
_PLACE = re.compile(
    r"\b(?:"
    + "|".join(sorted(map(re.escape, PLACES | COUNTRIES), key=lambda p: (-len(p), p)))
    + r")\b"
)
_EVERYWHERE = words("U.S COVID-19 UN EU U.S. US UK President Minister Prime")
_SMALL = _LINKS | words("""
    a an the and or did does do was is were are has had have be been by who whom which what where
    when in how day year did country company state up down off out also his her its
""")
_SOLE = re.compile(r"\b(?:19|20)\d\d\b")


def named(text: str) -> bool:
    """Whether a text holds a name: a capital that is no date and no demonym, not at its start."""
    words = _WORD.findall(text)
    names = [w for w in words[1:] if w[0].isupper() and w not in WEEKDAYS and w not in MONTHS]
    return any(w not in DEMONYMS and w not in _GENERIC for w in names)


def specific(question: str, *, own: bool) -> bool:
    """Whether a question names what it is about and points to nothing outside.

    `own`: the subject is in the question, so that `its` can mean it.
    """
    body = question.rstrip("?")
    checked = _OWN.sub("", body) if own else body
    if _PORTFOLIO.search(body) and not _nation(body):
        return False
    if _POINTING.search(checked) or _VAGUE.search(body) or not named(body):
        return False
    words = _WORD.findall(body)
    return all(_definite(words, i) for i, w in enumerate(words) if w.lower() == "the")


def enough(question: str) -> bool:
    """Whether a question has the words that find its event: a lone place or verb does not."""
    body, places = _PLACE.subn("", question.rstrip("?"))
    score = min(1.5, 0.75 * places)
    for word in _WORD.findall(body)[1:]:
        if word == "," or word.lower() in _SMALL:
            continue
        score += 1.5 if word[0].isupper() and word not in _EVERYWHERE else 1.0
    return score >= 3.7 or (score >= 2.7 and bool(_SOLE.search(question)))


_PORTFOLIO = re.compile(
    r"\b(?:Minister|Secretary) (?:for|of) (?!State\b)|\bLeader of the Opposition\b"
)


def _nation(text: str) -> bool:
    """Whether a text says of which country, or of what else, a minister is."""
    found = [w.removesuffix("'s").removesuffix("’s") for w in _WORD.findall(text)]
    pairs = {*found, *map(" ".join, zip(found, found[1:], strict=False))}
    return bool(pairs & (PLACES | COUNTRIES | DEMONYMS | {"Department", "U.S", "Republic", "NATO"}))


def _definite(words: list[str], i: int) -> bool:
    """Whether `the …` at `i` says which: a name in it, or an attached phrase that says."""
    for j in range(i + 1, len(words)):
        word = words[j]
        if word[0].isupper() or _SOLE.fullmatch(word):
            return True
        if word in _LINKS:
            if j == i + 1:
                return False
            tied = words[j - 1] in _EVENTS and word != "as"
            if word not in _TIES and not tied:
                return False
            rest = words[j + 1 : j + 5]
            named_soon = any(w[0].isupper() or _SOLE.fullmatch(w) for w in rest)
            return named_soon or ((word == "of" and rest[:1] != ["the"]) and len(rest) > 0)
        if re.sub(r"['’]s$", "", word) in _KNOWN or word == ",":
            return word != ","
    return False
