"""Items into HITs."""

from collections.abc import Iterator, Sequence

from annotation.batch import Hit, Item
from annotation.draw import order_of
from annotation.layout import Layout
from annotation.platforms import Fits
from builders.store import digest


def everything_fits(items: Sequence[Item]) -> bool:
    """Of platforms that take HITs of any size."""
    return True


def pack(
    items: Sequence[Item],
    groups: Sequence[str],
    known: Sequence[Item],
    layout: Layout,
    seed: int,
    fits: Fits | None = None,
) -> tuple[Hit, ...]:
    """Items in HITs of `items_per_hit`, in order; groups stay whole where they fit into a HIT.

    A HIT gets one of the `known` items, at a place that its hash gives. A HIT ends early where
    with the next item, and any of the known ones, it would not fit.
    """
    hits = []
    for part in _parts(items, groups, layout.items_per_hit, _with(known, fits or everything_fits)):
        inside = list(part)
        if known:
            own = order_of(seed, *(item.id for item in part))
            inside.insert(own % (len(part) + 1), known[(own >> 32) % len(known)])
        hits.append(Hit(digest([seed, [item.id for item in inside]]), tuple(inside)))
    return tuple(hits)


def fitting(
    items: Sequence[Item], groups: Sequence[str], known: Sequence[Item], fits: Fits
) -> tuple[list[Item], list[str]]:
    """The items that fit into a HIT of their own, with their groups."""
    alone = _with(known, fits)
    kept = [(i, g) for i, g in zip(items, groups, strict=True) if alone([i])]
    return [item for item, _ in kept], [group for _, group in kept]


def _with(known: Sequence[Item], fits: Fits) -> Fits:
    """Whether items fit together with the largest of the known ones."""
    largest = sorted(known, key=lambda item: len(str(item.fields)))[-1:]
    return lambda items: fits([*items, *largest])


def _parts(
    items: Sequence[Item], groups: Sequence[str], size: int, fits: Fits
) -> Iterator[list[Item]]:
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
            if part and not fits([*part, item]):
                yield part
                part = []
            part.append(item)
            if len(part) == size:
                yield part
                part = []
    if part:
        yield part
