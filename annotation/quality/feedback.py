"""What is said back to the worker of a submission."""

from collections.abc import Mapping, Sequence

from annotation.batch import Item
from annotation.layout import Layout
from annotation.matching import DUPLICATE
from annotation.quality.expert import Share
from annotation.quality.flags import ACCEPTED_BATCH, FAILED_ATTENTION, failures
from builders.rows import Judgment


def reason(
    layout: Layout,
    submission: Sequence[Judgment],
    items: Mapping[str, Item],
    shares: Sequence[Share] = (),
) -> str | None:
    """Why the submission is rejected; empty: approved; None: an expert has not checked it yet.

    Two things reject: an item with a known answer that was failed, and an expert's check of the
    worker's batch. Work that is fast, monotonous or done twice is flagged for people to look at,
    and approved.
    """
    if any(FAILED_ATTENTION in one.flags for one in submission):
        return _failed(layout, submission, items)
    if layout.rule.by != "sampled" or any(DUPLICATE in one.flags for one in submission):
        return ""
    ids = {one.id for one in submission}
    for share in shares:
        if ids & {one.id for one in share.judgments}:
            if share.accepted is None:
                passed = all(ACCEPTED_BATCH in one.flags for one in submission if one.row)
                return "" if passed else None
            return "" if share.accepted else _rejected(share)
    return ""


def _failed(layout: Layout, submission: Sequence[Judgment], items: Mapping[str, Item]) -> str:
    names = {name for one in submission for name in failures(layout, one, items)}
    asked = [one.label for name, one in layout.answers.items() if name in names]
    return (
        "This HIT holds an item whose answer is known and follows from the instructions. "
        f"It was answered otherwise: {'; '.join(asked)}"
    )


def _rejected(share: Share) -> str:
    wrong = share.verdicts.count(False)
    checked = wrong + share.verdicts.count(True)
    return (
        f"An expert checked {checked} of your {len(share.judgments)} items of this batch, "
        f"drawn at random, and found {wrong} not to follow the instructions. "
        "All of your work on a batch is accepted or rejected together"
    )
