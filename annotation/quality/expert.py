"""Per-worker batches: a few items of each drawn for an expert, all of it accepted or rejected."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.draw import order_of
from annotation.layout import Layout
from annotation.quality.flags import EXPERT, REJECTED_BATCH
from annotation.quality.values import compared, said, same
from builders.rows import Judgment

_SEED = 0


@dataclass(frozen=True)
class Share:
    """A worker's part of a batch of HITs. `drawn` are the judgments that the expert looks at.

    `verdicts`: of each, whether it was found right; None: the expert has not judged it yet.
    """

    batch: str
    worker: str
    judgments: tuple[Judgment, ...]
    drawn: tuple[Judgment, ...]
    verdicts: tuple[bool | None, ...]

    @property
    def accepted(self) -> bool | None:
        """All that was drawn was found right; one wrong rejects the whole; None: not known yet."""
        if False in self.verdicts:
            return False
        return None if None in self.verdicts else True


def shares(
    layout: Layout, judgments: Collection[Judgment], verdicts: Mapping[str, bool] | None = None
) -> list[Share]:
    """The parts of all workers but experts, by batch and worker.

    `rule.sampled` items of each are drawn by a hash of batch, worker and item; those that an
    expert was sent in another batch, or that `verdicts` name, stay drawn when a part grows.
    `verdicts`, by the id of a judgment, are what an expert wrote into the table of checks; without
    one, a drawn judgment is right if it agrees with one of an expert for the same item, in
    `rule.of` or in all compared answers. Where a layout compares none, only the table tells.
    """
    by_item: dict[str, list[Judgment]] = {}
    parts: dict[tuple[str, str], list[Judgment]] = {}
    for one in sorted(judgments, key=lambda one: one.id):
        if one.row and one.counted and EXPERT in one.flags:
            by_item.setdefault(one.item, []).append(one)
        elif one.row and (one.counted or REJECTED_BATCH in one.flags):
            parts.setdefault((one.batch, one.worker), []).append(one)
    found = []
    for (batch, worker), part in sorted(parts.items()):
        order = sorted(part, key=lambda one: (order_of(_SEED, batch, worker, one.item), one.id))
        words = [_verdict(layout, one, by_item, verdicts or {}) for one in order]
        kept = [
            n
            for n, one in enumerate(order)
            if n < layout.rule.sampled
            or one.id in (verdicts or {})
            or (words[n] is not None and any(o.batch != batch for o in by_item[one.item]))
        ]
        drawn, said_of = tuple(order[n] for n in kept), tuple(words[n] for n in kept)
        found.append(Share(batch, worker, tuple(part), drawn, said_of))
    return found


def waiting(found: Sequence[Share]) -> Iterator[Judgment]:
    """The drawn judgments that an expert has still to look at."""
    for share in found:
        for one, verdict in zip(share.drawn, share.verdicts, strict=True):
            if verdict is None and share.accepted is None:
                yield one


def agree(layout: Layout, one: Judgment, other: Judgment) -> bool:
    """Whether two judgments agree: in `rule.of`, or in all answers that are compared."""
    asked = {layout.rule.of: layout.answers[layout.rule.of]} if layout.rule.of else compared(layout)
    first, second = said(one), said(other)
    return all(same(a, first.get(name), second.get(name)) for name, a in asked.items())


def _verdict(
    layout: Layout,
    one: Judgment,
    by_item: Mapping[str, Sequence[Judgment]],
    verdicts: Mapping[str, bool],
) -> bool | None:
    if one.id in verdicts:
        return verdicts[one.id]
    experts = by_item.get(one.item, ())
    if not experts or not compared(layout):
        return None
    return any(agree(layout, one, expert) for expert in experts)
