"""The families of questions: each an Ibis expression over what is known, and its wordings."""

from collections.abc import Mapping

from factdrift.reasoning.families.amount import Count, Duration
from factdrift.reasoning.families.base import Family
from factdrift.reasoning.families.chain import Chain
from factdrift.reasoning.families.compare import Order, Overlap
from factdrift.reasoning.families.join import Join, Offset
from factdrift.reasoning.families.neighbour import Neighbour

FAMILIES: Mapping[str, Family] = {
    "chain": Chain(),
    "join": Join(),
    "neighbour": Neighbour(),
    "order": Order(),
    "overlap": Overlap(),
    "duration": Duration(),
    "offset": Offset(),
    "count": Count(),
}
