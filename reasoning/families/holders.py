"""Families of questions about holders: chain, join, offset and neighbour."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    MARGIN,
    Family,
    Scope,
    array,
    at_quarter_end,
    candidate,
    event_starts,
    seeded_number,
    surely_within,
)
from factdrift.reasoning.states import INTERIM, PAIR, Knowledge

# Years and half years. A guess: within half a year of an event the object is mostly still that of
# the event, so no answer.
_MONTHS = (-48, -36, -24, -18, -6, 6, 18, 24, 36, 48)
"""The distances, in months, from an event to the day that an offset asks about."""
# Three of the ten, spread over them, so that an event is not asked about at every distance.
_DRAWN_PLACES = (0, 3, 7)


def _chains(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Join two or three stretches in which the only object of one is the subject of the next.

    The shortcuts follow the newest object at every hop, or the one that held for the longest time.
    """
    single_holders = scope.with_phrase(
        knowledge.states.filter(knowledge.states.objects.length() == 1), "noun"
    )
    first_hops = at_quarter_end(single_holders, scope, knowledge.seed, draws=4).join(
        knowledge.shortcuts, PAIR
    )
    first_hops = first_hops.mutate(middle=ibis._.objects[0])
    path = first_hops.filter(surely_within(first_hops, first_hops.as_of, first_hops.as_of)).select(
        *("as_of", "newest", "longest", "statements", "since", "middle"),
        start="subject",
        items=array(first_hops.subject),
        relations=array(first_hops.relation),
        first_hop="middle",
    )
    longer_path = longer_paths(path, knowledge, scope)
    return last_hop(path, knowledge, scope).union(last_hop(longer_path, knowledge, scope))


def longer_paths(path: ir.Table, knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Extend each path (see `last_hop`) by a hop to an only object that it has not named."""
    single_holders = scope.with_phrase(
        knowledge.states.filter(knowledge.states.objects.length() == 1), "noun"
    )
    joined_paths = _joined(path, single_holders, knowledge)
    joined_paths = joined_paths.filter(
        ~joined_paths.items.contains(joined_paths.objects[0])
        & (joined_paths.objects[0] != joined_paths.first_hop)
    )
    return joined_paths.select(
        *("as_of", "newest", "longest", "start", "items", "first_hop", "relations"),
        statements="proof",
        since="began",
        middle=joined_paths.objects[0],
    )


def _joined(path: ir.Table, states: ir.Table, knowledge: Knowledge) -> ir.Table:
    """Extend each path by the stretches of its last object on its day, with no relation twice.

    `newest` and `longest` are followed in the same way, and are null where they lead nowhere.
    """
    next_states = states.rename(more="statements", start_of="since")
    joined_paths = path.join(next_states, [("middle", "subject")]).drop("subject")
    joined_paths = joined_paths.filter(
        surely_within(joined_paths, joined_paths.as_of, joined_paths.as_of)
    )
    joined_paths = joined_paths.filter(~joined_paths.relations.contains(joined_paths.relation))
    for shortcut_column in ("newest", "longest"):
        next_shortcuts = knowledge.shortcuts.select(
            from_="subject", by="relation", next=shortcut_column
        )
        joined_paths = joined_paths.left_join(
            next_shortcuts, [(shortcut_column, "from_"), ("relation", "by")]
        )
        joined_paths = joined_paths.drop("from_", "by", shortcut_column).rename(
            {shortcut_column: "next"}
        )
    return joined_paths.mutate(
        relations=joined_paths.relations.concat(array(joined_paths.relation)),
        proof=joined_paths.statements.concat(joined_paths.more),
        began=ibis.greatest(joined_paths.since, joined_paths.start_of),
    )


def last_hop(path: ir.Table, knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Make the chain questions that go one hop beyond these paths, to the objects that answer them.

    A row of `path` is a chain of stretches that all hold on the day `as_of`. It leads from the
    entity `start` to the entity `middle`, the object of its newest hop and the subject of the next
    one. The question names `start` and the relations. `newest` and `longest` are its shortcuts:
    where one gets without looking at the day, by the newest or the longest-held object at every
    hop. `proof` has the ids of the statements of all hops.
    """
    joined_paths = _joined(path, scope.with_phrase(knowledge.states, "ask"), knowledge)
    # What began with the hop before it is mostly the same fact told again: who became head of state
    # took the office of president on that day.
    days_between = joined_paths.since.delta(joined_paths.start_of, unit="day").abs()
    joined_paths = joined_paths.filter(
        (days_between >= MARGIN)
        & (joined_paths.objects.length() > 0)
        & ~joined_paths.objects.contains(joined_paths.start)
        & ~joined_paths.objects.contains(joined_paths.first_hop)
    )
    return candidate(
        joined_paths,
        "chain",
        subject=joined_paths.start,
        holder=joined_paths.middle,
        items=joined_paths.items,
        relations=joined_paths.relations,
        as_of=joined_paths.as_of,
        answers=joined_paths.objects,
        statements=joined_paths.proof,
        changed=joined_paths.began,
    )


def _joins(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask, for each event, about timelines that share something with it and do not change then.

    What they share is the subject that is asked about, or its country and kind. An object that it
    had at another time is not named in the question, so that nobody sees what they share.
    """
    if knowledge.links is None:
        raise ValueError("a join needs the links between timelines")
    events = event_starts(knowledge, scope)
    linked_events = events.select(*PAIR, "object").join(
        knowledge.links.filter(
            knowledge.links.o_relation.isin(list(scope.phrase_relations["ask"]))
        ),
        PAIR,
    )
    linked_events = linked_events.filter(
        (linked_events.o_by_object == "")
        & ((linked_events.by_object == "") | (linked_events.by_object == linked_events.object))
    )
    linked_events = linked_events.select(*PAIR, "object", "o_subject", "o_relation").distinct()
    events = events.select(
        *PAIR, "object", "start_first", "start_last", event_statements="statements"
    )
    linked_events = linked_events.join(events, [*PAIR, "object"])
    asked_states = knowledge.states.select(
        *("first", "last", "objects", "since", "statements"),
        o_subject="subject",
        o_relation="relation",
    )
    linked_events = linked_events.join(asked_states, ["o_subject", "o_relation"])
    # Clubs and national teams of one player are as good as two relations that share nothing.
    properties = (
        linked_events.relation.re_extract(r"^P\d+", 0),
        linked_events.o_relation.re_extract(r"^P\d+", 0),
    )
    linked_events = linked_events.filter(
        (linked_events.subject != linked_events.o_subject) | (properties[0] != properties[1])
    )
    # What began just before the event is mostly the same fact told again, as in chains.
    days_before = linked_events.start_first.delta(linked_events.since, unit="day")
    linked_events = linked_events.filter(
        surely_within(linked_events, linked_events.start_first, linked_events.start_last)
        & (days_before >= MARGIN)
        & (linked_events.objects.length() > 0)
        & ~linked_events.objects.contains(linked_events.object)
        & ~linked_events.objects.contains(linked_events.subject)
    )
    return candidate(
        linked_events,
        "join",
        wording="when",
        subject=linked_events.o_subject,
        relation=linked_events.o_relation,
        items=array(linked_events.o_subject, linked_events.subject, linked_events.object),
        relations=array(linked_events.o_relation, linked_events.relation),
        as_of=linked_events.start_last,
        answers=linked_events.objects,
        first_hop=linked_events.object,
        statements=linked_events.statements.concat(linked_events.event_statements),
        changed=ibis.greatest(linked_events.start_last, linked_events.since),
    )


def _offsets(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Move each event by drawn numbers of months and join the stretch of its own pair there."""
    events = scope.with_phrase(scope.with_phrase(event_starts(knowledge, scope), "ask"), "began")
    events = events.mutate(
        drawn=seeded_number(knowledge.seed + 1, events.subject, events.relation, events.object)
    )
    moved_events = []
    for place, month_count in enumerate(_MONTHS):
        drawn_events = events.filter(((events.drawn + place) % len(_MONTHS)).isin(_DRAWN_PLACES))
        distance = ibis.interval(months=abs(month_count))
        start_days = [drawn_events.start_first, drawn_events.start_last]
        first_day, last_day = (
            (start_day + distance if month_count > 0 else start_day - distance).cast("date")
            for start_day in start_days
        )
        moved_events.append(
            drawn_events.mutate(
                low=first_day, high=last_day, number=ibis.literal(month_count, "int64")
            )
        )
    all_moved = ibis.union(*moved_events).select(
        *(*PAIR, "low", "high", "number", "start_last"), thing="object", proof="statements"
    )
    event_states = all_moved.join(knowledge.states, PAIR)
    event_states = event_states.filter(
        surely_within(event_states, event_states.low, event_states.high)
        & (event_states.objects.length() > 0)
        & ~event_states.objects.contains(event_states.thing)
    )
    return candidate(
        event_states,
        "offset",
        wording="distance",
        items=array(event_states.subject, event_states.thing),
        as_of=event_states.high,
        number=event_states.number,
        answers=event_states.objects,
        statements=event_states.statements.concat(event_states.proof),
        first_hop=event_states.thing,
        changed=ibis.greatest(event_states.start_last, event_states.since),
    )


def _neighbours(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Pair neighbouring terms of subjects and relations whose terms surely follow one another.

    Only relations with a phrase to count are asked about. These are offices: of an office every
    holder is stated, but nobody states every employer of a person.
    """
    terms = scope.with_phrase(knowledge.terms, "count")
    start_order = ibis.window(group_by=PAIR, order_by=["start_first", "start_last", "object"])
    next_columns = (
        "object",
        "start_first",
        "start_last",
        "statements",
        "end_last",
        "once",
        "lasting",
    )
    terms = terms.mutate(
        **{f"next_{column}": terms[column].lead().over(start_order) for column in next_columns}
    )
    follows = (terms.start_last < terms.next_start_first) & (
        terms.end_last <= terms.next_start_last
    )
    terms = terms.mutate(
        row=(follows | terms.next_object.isnull()).all().over(ibis.window(group_by=PAIR))
    )
    # A longer gap may hide a holder that nobody stated. At its widest a gap may be a year, so that
    # dates of a year alone pass; at its narrowest it is no longer than an interim.
    close_together = terms.next_start_last.delta(terms.end_first, unit="day") <= 366
    close_together &= terms.next_start_first.delta(terms.end_last, unit="day") <= INTERIM
    terms = terms.filter(
        terms.row & close_together & terms.next_object.notnull() & terms.once & terms.next_once
    )
    terms = terms.filter(terms.lasting & terms.next_lasting)
    in_scope = (terms.next_start_first >= scope.first) & (terms.next_start_last <= scope.last)
    terms = terms.filter(in_scope & (terms.start_first >= scope.first))
    sides = (
        ("before", terms.object, terms.next_object),
        ("after", terms.next_object, terms.object),
    )
    side_candidates = [
        candidate(
            terms,
            "neighbour",
            wording=side,
            items=array(terms.subject, given_object),
            as_of=terms.next_start_last,
            answers=array(right_object),
            statements=terms.statements.concat(terms.next_statements),
            first_hop=given_object,
            changed=terms.next_start_last,
        )
        for side, right_object, given_object in sides
    ]
    return ibis.union(*side_candidates)


# The day stands in front: behind the path it would be that of the last hop alone.
CHAIN = Family(_chains, {"chain": ("On {day}, {path}?", "As of {day}, {path}?")})
JOIN = Family(
    _joins,
    {"when": ("{Ask 0 0} {joined}?", "{Joined_first}, {ask_joined}?")},
)
OFFSET = Family(
    _offsets,
    {
        "distance": (
            "{Offset} {began 0 0 1}, {ask 0 0}?",
            "{Ask 0 0} exactly {offset} {began 0 0 1}?",
        )
    },
)
NEIGHBOUR = Family(
    _neighbours,
    {
        "before": (
            "{Ask 0 0} directly before {name 1}?",
            "{Ask 0 0} just before {name 1}?",
        ),
        "after": ("{Ask 0 0} directly after {name 1}?", "{Ask 0 0} just after {name 1}?"),
    },
)
