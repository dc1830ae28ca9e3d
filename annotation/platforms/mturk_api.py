"""MTurk's API: publish a batch, fetch what was handed in, approve and reject.

`publish` can be stopped at any time: what was made is kept in `mturk/published-<site>.jsonl` of
the batch, and the same command goes on from there without making a HIT twice. Each HIT is made
with a UniqueRequestToken, which MTurk knows for 24 hours; later, HITs that were made but not noted
are found by their RequesterAnnotation. Keys are boto3's own business and are never read here.
Source: API reference of 2017-01-17, as botocore has it.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from factdrift.annotation.batch import LAYOUT_COPY, Batch, read_batch
from factdrift.annotation.layout import Layout, Qualifications, load_layout
from factdrift.annotation.platforms.mturk import FORMAT, filled
from factdrift.annotation.submission import decode
from factdrift.builders.core.config import Strict, shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked, replacing
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.steps import Say

Site = Literal["sandbox", "production"]
ENDPOINTS: dict[Site, str] = {
    "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    "production": "https://mturk-requester.us-east-1.amazonaws.com",
}
CLOSED = (
    "MTurk takes no new requesters since 30 July 2026: this works with an account there that is "
    "older, linked to your AWS account; without one, use --platform static"
)
_PAGE = 100
"""Most results of one call."""
APPROVED_PERCENT = "000000000000000000L0"
APPROVED_HITS = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
"""Qualification types that MTurk has itself; source: QualificationRequirement of its reference."""
_LONGEST = {"Title": 128, "Description": 2000}
_MOST_DAYS = 30


class AssignmentDecision(Strict):
    """A line of a file of decisions, as `--feedback` writes it."""

    AssignmentId: str
    site: str
    decision: Literal["approve", "reject"]
    feedback: str


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
    with disk_errors(folder / "mturk"), locked(folder / "mturk"), api_errors():
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
        api_errors(),
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
    with api_errors():
        for path in paths:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                _decide(client, _decision(line, path, number), site, counts)
    return counts


def _decide(client: Any, one: AssignmentDecision, site: Site, counts: dict[str, int]) -> None:
    if one.site not in (site, ""):
        counts["of another site"] += 1
        return
    from botocore.exceptions import ClientError

    reject = one.decision == "reject"
    feedback = {"RequesterFeedback": one.feedback} if one.feedback else {}
    call = client.reject_assignment if reject else client.approve_assignment
    try:
        call(AssignmentId=one.AssignmentId, **feedback)
    except ClientError as error:
        if "InvalidAssignmentState" not in error_code(error):
            raise
        counts["decided before"] += 1
    else:
        counts["rejected" if reject else "approved"] += 1


def _decision(line: str, path: Path, number: int) -> AssignmentDecision:
    try:
        value = decode(line)
    except ValueError as error:
        raise UserError(f"not JSON: {error}", where=shown(path), line=number) from None
    try:
        return AssignmentDecision.model_validate(value)
    except ValidationError:
        raise UserError("not a decision", where=shown(path), line=number) from None


def _batch(folder: Path) -> tuple[Batch, Layout]:
    batch = read_batch(folder)
    if batch.platform != "mturk":
        raise UserError(f"a batch for {batch.platform}", where=shown(folder))
    return batch, load_layout(str((folder / LAYOUT_COPY).resolve()))


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
    """Add a line, also after one that a kill has cut."""
    before = log.read_text("utf-8")
    with log.open("a", encoding="utf-8", newline="\n") as file:
        file.write(
            "\n" * (before[-1:] not in ("", "\n")) + json.dumps({"hit": hit, "HITId": made}) + "\n"
        )
        file.flush()
        os.fsync(file.fileno())


def _annotation(batch: Batch, hit: str) -> str:
    return f"factdrift {batch.id} {hit}"


def _create(client: Any, batch: Batch, hit: str, **asked: Any) -> str:
    from botocore.exceptions import ClientError

    try:
        return str(client.create_hit_with_hit_type(**asked)["HIT"]["HITId"])
    except ClientError as error:
        if "HITALREADYEXISTS" not in error_code(error).upper():
            raise
        found = _stray(client, batch).get(hit)
        if found is None:
            hint = "it was made and deleted within a day: wait a day, then publish again"
            raise UserError(f"MTurk has HIT {hit} but does not list it", hint=hint) from None
        return found


def _stray(client: Any, batch: Batch) -> dict[str, str]:
    wanted = {_annotation(batch, hit.id): hit.id for hit in batch.hits}
    found: dict[str, str] = {}
    for one in all_pages(client.list_hits, "HITs"):
        hit = wanted.get(one.get("RequesterAnnotation") or "")
        if hit:
            found.setdefault(hit, one["HITId"])
    return found


def _assignments(client: Any, hit_id: str) -> Iterator[dict[str, Any]]:
    statuses = ["Submitted", "Approved", "Rejected"]
    asked = {"HITId": hit_id, "AssignmentStatuses": statuses}
    return all_pages(client.list_assignments_for_hit, "Assignments", **asked)


def hit_type(
    layout: Layout, site: str, days: int, qualifications: Sequence[str] = ()
) -> dict[str, Any]:
    """What CreateHITType takes.

    On the sandbox, where nobody has a record of work, the layout's qualifications are left out.
    `UserError` where MTurk would not take it.
    """
    if layout.pay.currency != "USD":
        raise UserError(f"MTurk pays in USD, the layout in {layout.pay.currency}")
    if layout.pay.per_hit != round(layout.pay.per_hit, 2):
        raise UserError(f"MTurk pays whole cents, the layout {layout.pay.per_hit} USD")
    if not 1 <= days <= 365:
        raise UserError(f"HITs last 1 to 365 days, not {days}")
    texts = {"Title": layout.title, "Description": layout.summary}
    for name, longest in _LONGEST.items():
        if len(texts[name]) > longest:
            raise UserError(f"MTurk takes {longest} characters of {name.lower()}")
        if any(ord(c) > 0xFFFF for c in texts[name]):
            raise UserError(f"MTurk takes no emoji in a {name.lower()}")
    minutes = max(30, int(layout.pay.minutes_per_hit * 6))
    made = {
        **texts,
        "Reward": f"{layout.pay.per_hit:.2f}",
        "AssignmentDurationInSeconds": minutes * 60,
        "AutoApprovalDelayInSeconds": min(days, _MOST_DAYS) * 86_400,
    }
    wanted = [_requirement(one, "Exists") for one in qualifications]
    if site == "production":
        wanted = _layout_requirements(layout.qualifications, bool(qualifications)) + wanted
    if len(wanted) > 10:
        raise UserError(f"MTurk takes 10 qualifications, not {len(wanted)}")
    return {**made, **({"QualificationRequirements": wanted} if wanted else {})}


def _layout_requirements(asked: Qualifications, given: bool) -> list[dict[str, Any]]:
    if asked.expert and not given:
        hint = "make a qualification for them on MTurk and name it with --qualification"
        raise UserError("this layout is for experts, whom MTurk does not know", hint=hint)
    found = []
    if asked.approval_percent:
        percent = {"IntegerValues": [asked.approval_percent]}
        found.append(_requirement(APPROVED_PERCENT, "GreaterThanOrEqualTo", **percent))
    if asked.approved_hits:
        hits = {"IntegerValues": [asked.approved_hits]}
        found.append(_requirement(APPROVED_HITS, "GreaterThanOrEqualTo", **hits))
    if asked.countries:
        places = {"LocaleValues": [{"Country": country} for country in asked.countries]}
        found.append(_requirement(LOCALE, "In", **places))
    if asked.adult:
        found.append(_requirement(ADULT, "EqualTo", IntegerValues=[1]))
    return found


def _requirement(qualification: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": qualification, "Comparator": comparator, **values}


def connect(site: Site, endpoint: str | None = None) -> Any:
    """A boto3 client for a site; never for production unless that is the site."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise UserError("the API of MTurk needs boto3", hint="pip install boto3") from None
    config = Config(
        retries={"mode": "standard", "max_attempts": 8}, connect_timeout=20, read_timeout=60
    )
    address = endpoint or ENDPOINTS[site]
    with api_errors():
        session = boto3.session.Session(region_name="us-east-1")
        return session.client("mturk", endpoint_url=address, config=config)


def all_pages(call: Callable[..., dict[str, Any]], name: str, **asked: Any) -> Iterator[Any]:
    token: dict[str, str] = {}
    while True:
        answer = call(MaxResults=_PAGE, **asked, **token)
        yield from answer.get(name, [])
        if not answer.get("NextToken"):
            return
        token = {"NextToken": answer["NextToken"]}


def error_code(error: Any) -> str:
    answer = error.response
    return f"{answer.get('TurkErrorCode') or ''} {answer.get('Error', {}).get('Message') or ''}"


@contextmanager
def api_errors() -> Iterator[None]:
    """What goes wrong between here and MTurk is for the user to mend."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except NoCredentialsError:
        hint = "set them up as for any AWS tool: environment, ~/.aws or a role"
        raise UserError("boto3 finds no AWS credentials", hint=hint) from None
    except (ClientError, BotoCoreError) as error:
        text = re.sub(r"\bA[KS]IA[A-Z0-9]{8,}", "…", str(error))[:400]
        raise UserError(f"MTurk: {text}", hint=f"run it again to go on; {CLOSED}") from None
