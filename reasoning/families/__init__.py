"""The families of questions: each an Ibis expression over what is known, and its wordings."""

from collections.abc import Mapping

from factdrift.reasoning.families import holders, lists, terms
from factdrift.reasoning.families.base import Family

FAMILIES: Mapping[str, Family] = {
    "chain": holders.CHAIN,
    "join": holders.JOIN,
    "neighbour": holders.NEIGHBOUR,
    "order": terms.ORDER,
    "overlap": terms.OVERLAP,
    "duration": terms.DURATION,
    "offset": holders.OFFSET,
    "count": lists.COUNT,
    "when": lists.WHEN,
    "ranking": lists.RANKING,
    "set": lists.SET,
}
