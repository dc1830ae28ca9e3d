"""People's judgments of rows, and the decisions that follow from them."""

from dataclasses import dataclass
from typing import Annotated, Literal

# The decision of a layout's rule; `open` items still need judgments, `disputed` ones have enough.
Decision = Literal["accepted", "rejected", "disputed", "open"]


@dataclass(frozen=True, slots=True)
class Judgment:
    """The answers of one worker for one item of a batch."""

    id: Annotated[str, "content hash of batch, HIT, item and worker"]
    layout: Annotated[str, "name of the layout"]
    batch: Annotated[str, "id of the batch"]
    hit: Annotated[str, "id of the HIT within the batch"]
    item: Annotated[str, "id of the item: content hash of what was shown"]
    row: Annotated[str, "id of the row of the dataset that was shown; empty: an attention item"]
    dataset: Annotated[str, "dataset and version the row is from: `streamingqa 1.0.0`"]
    worker: Annotated[str, "salted hash of the platform's worker id; the id itself is not kept"]
    platform: Annotated[str, "platform that the answers came through"]
    assignment: Annotated[str, "salted hash of the platform's assignment id"]
    answers: Annotated[str, "JSON object: answer name -> value, keys sorted"]
    seconds: Annotated[float | None, "time spent on the item; null: not known"]
    flags: Annotated[
        tuple[str, ...], "why it is doubtful: too_fast, failed_attention, duplicate_worker, …"
    ]
    counted: Annotated[bool, "false: set aside by quality control; it votes for nothing"]
    paid: Annotated[
        bool,
        "false: the submission is not paid, by the platform's rule or as a worker's further one "
        "for the HIT",
    ] = True
    reading: Annotated[
        float | None,
        "seconds of the submission before its first item: consent, instructions and practice; "
        "null: not known",
    ] = None


@dataclass(frozen=True, slots=True)
class Gold:
    """The result of the judgments of one row by its layout's rule."""

    row: Annotated[str, "id of the row of the dataset"]
    layout: Annotated[str, "name of the layout"]
    dataset: Annotated[str, "dataset and version the row is from"]
    decision: Annotated[
        Decision,
        "accepted or rejected by the layout's rule; disputed: no agreement; open: too few yet",
    ]
    answers: Annotated[
        str,
        "JSON object: answer name -> agreed value; where they differ or are free, a list with one "
        "a judgment, null where it gave none",
    ]
    shown: Annotated[str, "JSON object: the fields that people saw"]
    judgments: Annotated[int, "counted judgments"]
    agreeing: Annotated[int, "of them, those that agree with the decision"]
    expert_saw: Annotated[
        bool, "whether an expert judged the item, or checked a worker's judgment of it"
    ] = False
