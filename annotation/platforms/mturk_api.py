"""MTurk's API: publish a batch, fetch what was handed in, approve and reject.

`publish` can be stopped at any time: what was made is kept in `mturk/published-<site>.jsonl` of
the batch, and the same command goes on from there without making a HIT twice. Each HIT is made
with a UniqueRequestToken, which MTurk knows for 24 hours; later, HITs that were made but not noted
are found by their RequesterAnnotation. Keys are boto3's own business and are never read here.
Source: API reference of 2017-01-17, as botocore has it.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotation.batch import Batch
from annotation.batches import LAYOUT, read_batch
from annotation.layout import Layout, load_layout
from annotation.platforms.mturk import FORMAT
from annotation.platforms.mturk_client import Site, code, explained, pages
from annotation.platforms.mturk_page import filled
from annotation.platforms.mturk_types import hit_type
from annotation.submission import decode
from builders.config import shown
from builders.errors import UserError
from builders.folders import alone, replacing
from builders.store import digest

Say = Callable[[str], None]


def publish(
    folder: Path, client: Any, site: Site, *, days: int, qualifications: Sequence[str], say: Say
) -> dict[str, int]:
    """Make the HITs of a batch that are not there yet; `made`, `found` and `known` are counted.

    `days`: how long they can be found, and how long answers wait before they are approved by
    themselves (30 at most). `qualifications`: ids that workers need besides the layout's.
    """
    batch, layout = _batch(folder)
    question = (folder / "mturk" / f"question-{site}.xml").read_text("ascii")
    log = _log(folder, site)
    counts = {"made": 0, "found": 0, "known": 0}
    total = layout.pay.per_hit * len(batch.hits) * layout.assignments
    say(f"{site}: {len(batch.hits)} HITs, {total:.2f} {layout.pay.currency} and MTurk's fees")
    with alone(folder / "mturk"), explained():
        known = _published(log)
        counts["known"] = len(known)
        missing = [hit for hit in batch.hits if hit.id not in known]
        if missing and log.exists():
            for name, made in _stray(client, batch).items():
                if name not in known:
                    _note(log, name, made)
                    known[name] = made
                    counts["found"] += 1
            missing = [hit for hit in missing if hit.id not in known]
        if not missing:
            return counts
        log.touch()
        kind = hit_type(layout, site, days, qualifications)
        type_id = client.create_hit_type(**kind)["HITTypeId"]
        for hit in missing:
            made = _create(
                client,
                batch,
                hit.id,
                HITTypeId=type_id,
                MaxAssignments=layout.assignments,
                LifetimeInSeconds=days * 86_400,
                Question=filled(question, hit, batch.id),
                RequesterAnnotation=_annotation(batch, hit.id),
                UniqueRequestToken=digest([site, batch.id, hit.id])[:64],
            )
            _note(log, hit.id, made)
            counts["made"] += 1
    return counts


def fetch(folder: Path, client: Any, site: Site, out: Path) -> tuple[Path, int]:
    """All assignments handed in for a batch, as JSON lines in `out`: the file, and how many."""
    batch, _ = _batch(folder)
    known = _published(_log(folder, site))
    if not known:
        hint = "factdrift mturk publish"
        raise UserError(f"nothing is published on {site}", where=shown(folder), hint=hint)
    path = out / f"mturk-{site}-{batch.layout}-{batch.number:04}.jsonl"
    count = 0
    with (
        explained(),
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for one in (one for hit_id in known.values() for one in _assignments(client, hit_id)):
            texts = {name: text for name, text in one.items() if isinstance(text, str)}
            file.write(json.dumps({"format": FORMAT, "site": site, **texts}) + "\n")
            count += 1
    return path, count


def decide(folder: Path, client: Any, site: Site) -> dict[str, int]:
    """Send the decisions in a folder of `--feedback`; what was decided before stays so."""
    paths = sorted(folder.glob("mturk-*-decisions.jsonl")) if folder.is_dir() else [folder]
    if not paths or not all(path.is_file() for path in paths):
        hint = "make them with: make judgments RESULTS=… FEEDBACK=folder"
        raise UserError("no decisions here", where=shown(folder), hint=hint)
    counts = {"approved": 0, "rejected": 0, "decided before": 0, "of another site": 0}
    with explained():
        for path in paths:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                _decide(client, _decision(line, path, number), site, counts)
    return counts


def _decide(client: Any, one: dict[str, str], site: Site, counts: dict[str, int]) -> None:
    if one.get("site") not in (site, ""):
        counts["of another site"] += 1
        return
    from botocore.exceptions import ClientError

    reject = one["decision"] == "reject"
    feedback = {"RequesterFeedback": one["feedback"]} if one["feedback"] else {}
    call = client.reject_assignment if reject else client.approve_assignment
    try:
        call(AssignmentId=one["AssignmentId"], **feedback)
    except ClientError as error:
        if "InvalidAssignmentState" not in code(error):
            raise
        counts["decided before"] += 1
    else:
        counts["rejected" if reject else "approved"] += 1


def _decision(line: str, path: Path, number: int) -> dict[str, str]:
    try:
        value = decode(line)
    except ValueError as error:
        raise UserError(f"not JSON: {error}", where=shown(path), line=number) from None
    keys = {"AssignmentId", "decision", "feedback", "site"}
    if (
        not isinstance(value, dict)
        or set(value) != keys
        or not all(isinstance(text, str) for text in value.values())
        or value["decision"] not in ("approve", "reject")
    ):
        raise UserError("not a decision", where=shown(path), line=number)
    return value


def _batch(folder: Path) -> tuple[Batch, Layout]:
    batch = read_batch(folder)
    if batch.platform != "mturk":
        raise UserError(f"a batch for {batch.platform}", where=shown(folder))
    return batch, load_layout(str((folder / LAYOUT).resolve()))


def _log(folder: Path, site: Site) -> Path:
    return folder / "mturk" / f"published-{site}.jsonl"


def _published(log: Path) -> dict[str, str]:
    """MTurk's ids by ours; a line that a kill has cut is passed over."""
    if not log.exists():
        return {}
    known: dict[str, str] = {}
    for line in log.read_text("utf-8").splitlines():
        try:
            one = decode(line)
            known[one["hit"]] = one["HITId"]
        except (ValueError, KeyError, TypeError):
            continue
    return known


def _note(log: Path, hit: str, made: str) -> None:
    with log.open("a", encoding="utf-8", newline="\n") as file:
        file.write("\n" * _cut(log) + json.dumps({"hit": hit, "HITId": made}) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _cut(log: Path) -> bool:
    """Whether the last line has no end."""
    with log.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _annotation(batch: Batch, hit: str) -> str:
    return f"factdrift {batch.id} {hit}"


def _create(client: Any, batch: Batch, hit: str, **asked: Any) -> str:
    """The id of a HIT that is made, or that an earlier call has made."""
    from botocore.exceptions import ClientError

    try:
        return str(client.create_hit_with_hit_type(**asked)["HIT"]["HITId"])
    except ClientError as error:
        if "HITALREADYEXISTS" not in code(error).upper():
            raise
        found = _stray(client, batch).get(hit)
        if found is None:
            hint = "it was made and deleted within a day: wait a day, then publish again"
            raise UserError(f"MTurk has HIT {hit} but does not list it", hint=hint) from None
        return found


def _stray(client: Any, batch: Batch) -> dict[str, str]:
    """The HITs of a batch that MTurk has, by our id."""
    wanted = {_annotation(batch, hit.id): hit.id for hit in batch.hits}
    found: dict[str, str] = {}
    for one in pages(client.list_hits, "HITs"):
        hit = wanted.get(one.get("RequesterAnnotation") or "")
        if hit:
            found.setdefault(hit, one["HITId"])
    return found


def _assignments(client: Any, hit_id: str) -> Iterator[dict[str, Any]]:
    statuses = ["Submitted", "Approved", "Rejected"]
    asked = {"HITId": hit_id, "AssignmentStatuses": statuses}
    return pages(client.list_assignments_for_hit, "Assignments", **asked)
