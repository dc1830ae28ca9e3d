"""Pairs whose subject's name gives the answer away, or belies it.

These are the modes `word` and `overlap` of `builders.text.given_away` over tables.

"Lumen Field is named after _X_" has its answer in the question, and asked of 2019 it has a false
one, because a label is the name of today. Such pairs say nothing of what a model knows.
After: the answer-overlap rule of InvariantLAMA (CKL, appendix B).
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.text.given_away import APART, PROPER, WORD


def alike(segments: ir.Table, entities: ir.Table) -> ir.Table:
    """The (subject, relation) pairs of `rows.Segment` where the label of any object, at any time,
    shares a word with the subject's label, or stands in it whole; `detail` names the objects and
    what is shared: `Q42/lumen`.
    """
    named = segments.select("subject", "relation", "object").distinct()
    for role in ("subject", "object"):
        words = entities.select(
            **{
                f"{role}_id": "id",
                f"{role}_label": "label",
                f"{role}_words": _words(entities.label),
            }
        )
        named = named.join(words, named[role] == words[f"{role}_id"]).drop(f"{role}_id")
    shared = named.subject_words.intersect(named.object_words)
    whole = _stands(named.subject_label, named.object_label) & (shared.length() == 0)
    shared = ibis.ifelse(whole, ibis.array([named.object_label.lower()]), shared)
    named = named.mutate(word=shared.unnest())
    said = (named.object + "/" + named.word).collect().unique().sort().join(" ")
    return named.group_by(["subject", "relation"]).agg(detail=said)


def overlap(subject: ir.StringColumn, answer: ir.StringColumn) -> ir.BooleanValue:
    """Whether one label stands inside the other, in any case, or both share a word.

    A name that stands whole in the other is inside it, whatever is between its words.
    """
    a, b = subject.lower(), answer.lower()
    shared = _words(subject).intersect(_words(answer)).length() > 0
    return a.contains(b) | b.contains(a) | shared | _stands(subject, answer)


def _stands(text: ir.StringColumn, name: ir.StringColumn) -> ir.BooleanValue:
    """Whether all words of a name stand side by side in a text, as they are written."""
    spaced = [" " + label.re_replace(APART, " ").strip() + " " for label in (text, name)]
    return name.re_search(PROPER) & spaced[0].contains(spaced[1])


def _words(label: ir.StringColumn) -> ir.ArrayValue:
    split = label.lower().re_split(APART)
    return split.filter(lambda word: word.length() >= WORD)
