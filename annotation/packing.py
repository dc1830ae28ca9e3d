"""Items into HITs."""

from collections.abc import Iterator, Sequence

from annotation.batch import Hit, Item
from annotation.draw import order_of
from annotation.layout import Layout
from builders.store import digest


def pack(
    items: Sequence[Item], groups: Sequence[str], known: Sequence[Item], layout: Layout, seed: int
) -> tuple[Hit, ...]:
    """Items in HITs of `items_per_hit`, in order; groups stay whole where they fit into a HIT.

    A HIT gets one of the `known` items, at a place that its hash gives.
    """
    hits = []
    for part in _parts(items, groups, layout.items_per_hit):
        inside = list(part)
        if known:
            own = order_of(seed, *(item.id for item in part))
            inside.insert(own % (len(part) + 1), known[(own >> 32) % len(known)])
        hits.append(Hit(digest([seed, [item.id for item in inside]]), tuple(inside)))
    return tuple(hits)


def _parts(items: Sequence[Item], groups: Sequence[str], size: int) -> Iterator[list[Item]]:
    """Greedy: a group that does not fit any more begins a HIT; one that never fits is cut."""
    by_group: dict[str, list[Item]] = {}
    for n, (item, group) in enumerate(zip(items, groups, strict=True)):
        by_group.setdefault(group or str(n), []).append(item)
    part: list[Item] = []
    for group_items in by_group.values():
        if part and len(part) + len(group_items) > size:
            yield part
            part = []
        for item in group_items:
            part.append(item)
            if len(part) == size:
                yield part
                part = []
    if part:
        yield part
