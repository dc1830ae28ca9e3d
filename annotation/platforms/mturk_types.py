"""A layout as a HIT type: title, pay, times, and who may work on it."""

from collections.abc import Sequence
from typing import Any

from annotation.layout import Layout, Qualifications
from builders.errors import UserError

APPROVED_PERCENT = "000000000000000000L0"
APPROVED_HITS = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
"""Qualification types that MTurk has itself; source: QualificationRequirement of its reference."""
_LONGEST = {"Title": 128, "Description": 2000}
_MOST_DAYS = 30


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
    wanted = [_wants(one, "Exists") for one in qualifications]
    if site == "production":
        wanted = _own(layout.qualifications, bool(qualifications)) + wanted
    if len(wanted) > 10:
        raise UserError(f"MTurk takes 10 qualifications, not {len(wanted)}")
    return {**made, **({"QualificationRequirements": wanted} if wanted else {})}


def _own(asked: Qualifications, given: bool) -> list[dict[str, Any]]:
    if asked.expert and not given:
        hint = "make a qualification for them on MTurk and name it with --qualification"
        raise UserError("this layout is for experts, whom MTurk does not know", hint=hint)
    found = []
    if asked.approval_percent:
        percent = {"IntegerValues": [asked.approval_percent]}
        found.append(_wants(APPROVED_PERCENT, "GreaterThanOrEqualTo", **percent))
    if asked.approved_hits:
        hits = {"IntegerValues": [asked.approved_hits]}
        found.append(_wants(APPROVED_HITS, "GreaterThanOrEqualTo", **hits))
    if asked.countries:
        places = {"LocaleValues": [{"Country": country} for country in asked.countries]}
        found.append(_wants(LOCALE, "In", **places))
    if asked.adult:
        found.append(_wants(ADULT, "EqualTo", IntegerValues=[1]))
    return found


def _wants(qualification: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": qualification, "Comparator": comparator, **values}
