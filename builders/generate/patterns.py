"""The backend `parse`: plain questions about what one clause says of one time.

When, who, whom, which country and where. Asked of a main clause in the past tense that says its own
time to the year, names who did it, and stands alone: no pronoun, no quotation, nothing that another
sentence has to explain, and people by the full names that the article gives. Few clauses are so.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from factdrift.builders.generate.mentions import Sentence, news_sentences
from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.data import word_set
from factdrift.builders.text.dates import DateMention, dates_in
from factdrift.builders.text.en.lexicon import COMMON, COUNTRIES, DEMONYMS, TITLES
from factdrift.builders.text.pipeline import load_pipeline

_HINT = re.compile(
    r"\b(?:[Ii]n|[Oo]n|[Dd]uring|[Bb]y|[Bb]efore|[Aa]fter) "
    r"(?:\d{1,2} )?(?:[A-Z][a-z]+\.? )?(?:\d{1,2}, )?(?:1[89]|20)\d\d\b"
)
"""A time with its preposition: what a clause that is read has."""
_LONGEST, _SHORTEST = 25, 5
"""Words of a sentence that is read."""
_TIMES = re.compile(r"\b(?:in|on|during|by|before|after|around)$", re.I)
"""A preposition of time before an event (`after the war`): nothing says when that was."""
_NAMED = frozenset(("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "NORP"))
_POINTING = word_set("""
    he she it they him her them his its their theirs i we us our my you your this that these those
    here there such same other another others latter former respectively also too not n't never both
    said says told according who whom which whose what then later earlier recently similar now last
    date allegedly reportedly
""")
_GENERAL = word_set(
    "say tell add note state claim believe think expect mean seem appear continue be have amount"
)
"""Verbs whose clause tells nothing by itself."""
_ALONE = word_set("die found bear launch discover write publish")
"""Verbs whose clause needs no more than its subject: `When did Fidel Castro die?`"""
_FINITE = ("VBD", "VBZ", "VBP", "MD")
_OF_WHAT = ("attr", "oprd")
"""Dependencies of the office that somebody takes: nobody knows of which country it is,
unless a name says so."""
_ONE_DOER = word_set("""
    become succeed replace win found discover defeat beat invent assassinate write direct buy
    acquire marry host launch design
""")
"""Verbs of actions that one person does at a time, so that `who` has one answer."""
_OF_PEOPLE = word_set(
    "succeed replace nominate dismiss appoint sign marry elect name hire beat defeat"
)
"""Verbs of what is done to people."""
_AGAIN = word_set("""
    win lose beat defeat play meet visit hold score earn make mark host criticise criticize award
    attend report rise fall grow represent support
""")
"""Verbs of actions that happen again and again, so that `when` has several answers."""
_PLACES = frozenset(word for country in COUNTRIES for word in country.split())
_CLAUSES = word_set("advcl ccomp parataxis relcl acl xcomp pcomp mark neg dep intj")


class PatternQuestion(NamedTuple):
    """One question: the answer's span in the article, and the days that its clause is about."""

    question: str
    answer: Candidate
    time: DateMention
    has_time: bool


class _Clause(NamedTuple):
    """The main clause of a parsed sentence; `time` are the places of its time phrase."""

    sentence: Sentence
    root: Any
    subject: Any
    passive: bool
    helper: Any | None
    parts: tuple[tuple[Any, ...], ...]
    time: tuple[Any, ...]
    written: DateMention


def questions(article: Article) -> list[PatternQuestion]:
    """Every question, in the order of the sentences; of a sentence one is to be asked."""
    candidates = [
        sentence
        for sentence in news_sentences(article)
        if _HINT.search(sentence.text)
        and _SHORTEST <= len(sentence.text.split()) <= _LONGEST
        and not re.search(r"[\"“”:;()\[\]]", sentence.text)
        and sentence.text.endswith(".")
    ]
    if not candidates:
        return []
    nlp = load_pipeline()
    questions_found: list[PatternQuestion] = []
    with nlp.memory_zone():
        for sentence, parsed_sentence in zip(
            candidates, nlp.pipe([sentence.text for sentence in candidates]), strict=True
        ):
            clause = _clause(sentence, parsed_sentence)
            if clause is not None:
                questions_found += _forms(clause, article)
    return questions_found


def _clause(sentence: Sentence, doc: Any) -> _Clause | None:
    """The main clause, if it says who did what at which time and stands alone."""
    date_mentions = dates_in(sentence.text).written
    if len(date_mentions) != 1 or sum(1 for _ in doc.sents) != 1:
        return None
    root = next(token for token in doc if token.dep_ == "ROOT")
    helpers = [child for child in root.children if child.dep_ in ("aux", "auxpass")]
    is_passive = root.tag_ == "VBN" and [helper_token.lower_ for helper_token in helpers] in (
        ["was"],
        ["were"],
    )
    if not (is_passive or (root.tag_ == "VBD" and not helpers)) or root.lemma_ in _GENERAL:
        return None
    subjects = [child for child in root.children if child.dep_ in ("nsubj", "nsubjpass")]
    if len(subjects) != 1 or subjects[0].i > root.i:
        return None
    subject = subjects[0]
    verb_tokens = (root, *helpers)
    if any(
        _elsewhere(token) or (token.tag_ in _FINITE and token not in verb_tokens) or _vague(token)
        for token in doc
    ):
        return None
    clause_parts: list[tuple[Any, ...]] = []
    for child in root.children:
        child_span = tuple(child.subtree)
        if child in (subject, *helpers) or child.is_punct:
            continue
        if child.dep_ in ("cc", "conj") or (root.lemma_ == "bear" and child.dep_ != "prep"):
            return None  # born Peter Edward Baker
        if child_span[-1].i < root.i and child.dep_ != "advmod" and child_span[0].i > 0:
            return None
        clause_parts.append(child_span)
    time_part = next(
        (
            part
            for part in clause_parts
            if part[0].idx <= date_mentions[0].start
            and date_mentions[0].end <= part[-1].idx + len(part[-1])
        ),
        None,
    )
    if time_part is None or not _TIMES.search(time_part[0].lower_) or time_part[0].dep_ != "prep":
        return None
    time_text = (
        sentence.text[time_part[1].idx : time_part[-1].idx + len(time_part[-1])]
        if len(time_part) > 1
        else ""
    )
    if time_text != sentence.text[date_mentions[0].start : date_mentions[0].end]:
        return None
    if (date_mentions[0].last - date_mentions[0].first).days > 366:
        return None
    beside = [token for token in subject.subtree if token.dep_ in ("appos", "conj")]
    if any(token.dep_ == "appos" or token.tag_ != "NNP" for token in beside):
        return None
    if subject.tag_ not in ("NNP", "NNPS"):
        return None  # `a plan of`, or half a noun phrase: "VECO chief executive pleaded guilty"
    other_parts = [part for part in clause_parts if part is not time_part]
    clause_tokens = [token for part in (tuple(subject.subtree), *other_parts) for token in part]
    if not _stands_alone(clause_tokens, subject) or not (other_parts or root.lemma_ in _ALONE):
        return None
    offices = [child for child in root.children if child.dep_ in _OF_WHAT and child.tag_ == "NN"]
    if any(not any(token.tag_ == "NNP" for token in child.subtree) for child in offices):
        return None
    first_helper = helpers[0] if helpers else None
    return _Clause(
        sentence,
        root,
        subject,
        is_passive,
        first_helper,
        tuple(other_parts),
        time_part,
        date_mentions[0],
    )


def _elsewhere(token: Any) -> bool:
    """Whether a word belongs to another deed: "was born in 1920 and studied law"."""
    joined_verb = token.lower_ == "and" and token.nbor().pos_ in ("VERB", "AUX")
    return joined_verb or token.dep_ in _CLAUSES or (token.dep_ == "conj" and token.pos_ == "VERB")


def _vague(token: Any) -> bool:
    """Whether a word is the object, one of many or nobody knows of whom: `suffered a stroke`."""
    if token.dep_ != "dobj":
        return False
    labels_before = [child.dep_ for child in token.children if child.i < token.i]
    has_name = any(child.tag_ in ("NNP", "NNPS", "CD") for child in token.subtree)
    bare_plural = (
        token.tag_ == "NNS" and not has_name and not {"det", "poss", "nummod"} & {*labels_before}
    )
    return bare_plural or any(child.lower_ in ("a", "an") for child in token.children)


def _stands_alone(tokens: Sequence[Any], subject: Any) -> bool:
    """Whether nothing points out of the clause, and its subject has a name."""
    if any(
        token.lower_ in _POINTING or token.tag_ in ("PRP", "PRP$", "WDT", "WP", "DT-WH")
        for token in tokens
    ):
        return False
    name_tokens = [token for token in subject.subtree if token.tag_ in ("NNP", "NNPS")]
    if not any(token.ent_type_ in _NAMED for token in name_tokens) and name_tokens != list(
        subject.subtree
    ):
        return False
    for token in tokens:
        if token.lower_ in ("the", "a", "an") and token.head.tag_ in ("NN", "NNS"):
            identifying = [
                child
                for child in token.head.subtree
                if child.ent_type_ in _NAMED or child.tag_ == "CD"
            ]
            if token.lower_ == "the" and not identifying:
                return False
        if token.ent_type_ in ("DATE", "TIME"):
            return False
    return True


def _forms(clause: _Clause, article: Article) -> Iterator[PatternQuestion]:
    """Every question about a clause."""
    root, subject = clause.root, clause.subject
    article_body = article.text[len(article.sentences[0]) :]
    name_tokens = list(subject.subtree)
    bare_name = [
        token
        for token in name_tokens
        if token.text.casefold() not in _TITLES and token.dep_ != "det"
    ]
    has_title = (
        _is(bare_name, "PERSON")
        and name_tokens[-1] is bare_name[-1]
        and len(name_tokens) > len(bare_name)
    )
    shown_name = bare_name if has_title else name_tokens

    def said(tokens: Sequence[Any]) -> str | None:
        return _wording(tokens, article_body)

    late_parts = [part for part in clause.parts if part[0].i > root.i]
    early_text = _text(
        [
            token
            for part in clause.parts
            if part[-1].i < root.i
            for token in part
            if token.i > subject.i
        ]
    )
    time_text = _text(clause.time)
    time_text = (
        time_text[:1].lower() + time_text[1:] if root.lemma_ != "bear" else ""
    )  # nobody is born twice
    past_verb = f"{clause.helper.text if clause.helper else ''} {early_text} {root.text}"
    did_clause = f"{clause.helper.text} <who>" if clause.helper else "did <who>"
    base_verb = f"{early_text} {root.text if clause.passive else root.lemma_}"

    def ask(
        form: str,
        answer_span: Sequence[Any],
        answer_type: AnswerType,
        entity_label: str,
        *parts: Sequence[Any],
    ) -> Iterator[PatternQuestion]:
        subject_text = said(shown_name) if "<who>" in form else ""
        rest_text = said([token for part in parts for token in part])
        if subject_text is None or rest_text is None:
            return
        filled_form = form.replace("<who>", subject_text).replace("<rest>", rest_text)
        question = " ".join(filled_form.split()) + "?"
        question = question[0].upper() + question[1:]
        if not _covers(question, clause, answer_span) or re.search(r"\bv\.|\bet al\b", question):
            return
        start, end = answer_span[0].idx, answer_span[-1].idx + len(answer_span[-1])
        sentence_start, answer_text = clause.sentence.start, clause.sentence.text[start:end]
        answer = Candidate(
            sentence_start + start,
            sentence_start + end,
            answer_text,
            answer_type,
            entity_label,
            clause.sentence.line,
        )
        yield PatternQuestion(
            question, answer, clause.written, bool(time_text) and answer_type != "date"
        )

    if root.lemma_ in _ONE_DOER and not clause.passive and bare_name:
        if _text(bare_name) not in COUNTRIES:
            if (
                _is(bare_name, "PERSON")
                and len(bare_name) > 1
                and len(name_tokens) - len(bare_name) <= 2
            ):
                yield from ask(
                    f"who {past_verb} <rest> {time_text}",
                    bare_name,
                    "entity",
                    "PERSON",
                    *late_parts,
                )
        else:
            yield from ask(
                f"which country {past_verb} <rest> {time_text}",
                bare_name,
                "entity",
                "GPE",
                *late_parts,
            )
    if clause.time[0].lower_ in ("in", "on") and root.lemma_ not in _AGAIN:
        yield from ask(
            f"when {did_clause} {base_verb} <rest>", clause.time[1:], "date", "DATE", *late_parts
        )
    for part in late_parts:
        other_parts = [late_part for late_part in late_parts if late_part is not part]
        head = next(token for token in part if token.head == root)
        question_tail = f"{did_clause} {base_verb} <rest> {time_text}"
        is_person = head.dep_ == "dobj" and _is(part, "PERSON") and len(part) > 1
        if is_person and root.lemma_ in _OF_PEOPLE:
            yield from ask(f"whom {question_tail}", part, "entity", "PERSON", *other_parts)
        if head.dep_ == "prep" and head.lower_ in ("in", "at") and _is(part[1:], "GPE", "FAC"):
            yield from ask(f"where {question_tail}", part[1:], "entity", "GPE", *other_parts)


_TITLES = frozenset(title.casefold() for title in TITLES)
_NO_NAMES = TITLES | COMMON | DEMONYMS | _PLACES


def _is(span: Sequence[Any], *labels: str) -> bool:
    """Whether a span is one name of these kinds, all of it."""
    entity_types = {token.ent_type_ for token in span}
    begin_count = sum(token.ent_iob_ == "B" for token in span)
    return (
        bool(span) and len(entity_types) == 1 and entity_types <= set(labels) and begin_count == 1
    )


def _wording(tokens: Sequence[Any], article_text: str) -> str | None:
    """Words inside a sentence, people by their full names; None where the article has not one."""
    names_by_index: dict[int, str] = {}
    for token in tokens:
        neighbours = [
            token.doc[index] for index in (token.i - 1, token.i + 1) if 0 <= index < len(token.doc)
        ]
        own_types = ("ORG", "GPE") if token.ent_type_ in ("ORG", "GPE") else ()
        stands_alone = not any(
            neighbour.text[0].isupper()
            and (neighbour.text not in TITLES or neighbour.ent_type_ in own_types)
            for neighbour in neighbours
        )
        if (
            token.text[0].isupper()
            and stands_alone
            and token.text not in COUNTRIES
            and token.ent_type_ != "DATE"
        ):
            full_names = _full_names(token.text, article_text)
            is_person = token.ent_type_ == "PERSON" or (
                not token.ent_type_ and token.dep_.startswith("nsubj")
            )
            has_role = token.dep_ in ("nsubj", "nsubjpass", "dobj", "conj")
            if (
                len(full_names) > 1
                or full_names == {token.text}
                or (not full_names and is_person)
                or (full_names and not has_role)
            ):
                return None
            names_by_index[token.i] = full_names.pop() if full_names else token.text
    if not tokens:
        return ""
    text = _text(tokens, names_by_index)
    return text[:1].lower() + text[1:] if tokens[0].lower_ == "the" else text


def _full_names(last_word: str, article_text: str) -> set[str]:
    """The names in an article that end in a word; itself where it has but a title."""
    names = set()
    for match in re.finditer(rf"(?:[A-Z][\w'’-]+ ){{1,3}}{re.escape(last_word)}\b", article_text):
        *words_before, _ = match[0].split()
        name_starts = [index for index, word in enumerate(words_before) if word in _NO_NAMES]
        names.add(" ".join((*words_before[name_starts[-1] + 1 if name_starts else 0 :], last_word)))
    return {name for name in names if name != last_word} or names


def _text(tokens: Sequence[Any], names_by_index: Mapping[int, str] = MappingProxyType({})) -> str:
    """The text of tokens with the blanks that they had, in order; of some the names in place."""
    ordered_tokens = sorted(tokens, key=lambda token: token.i)
    text = ""
    for index, token in enumerate(ordered_tokens, 1):
        is_parted = index < len(ordered_tokens) and ordered_tokens[index].i > token.i + 1
        text += names_by_index.get(token.i, token.text) + (" " if is_parted else token.whitespace_)
    return text.strip(" ,")


def _covers(question: str, clause: _Clause, answer_tokens: Sequence[Any]) -> bool:
    """Whether a question and its answer have half of the sentence's content words."""
    doc = clause.root.doc
    content_words = [
        token for token in doc if token.pos_ in ("NOUN", "PROPN", "VERB", "NUM", "ADJ")
    ]
    question_words = {
        *question.lower().split(),
        *(word.strip("?,.") for word in question.lower().split()),
    }
    answer_indexes = {token.i for token in answer_tokens}
    covered_words = [
        token
        for token in content_words
        if token.i in answer_indexes or {token.lower_, token.lemma_.lower()} & question_words
    ]
    return 2 * len(covered_words) >= len(content_words)
