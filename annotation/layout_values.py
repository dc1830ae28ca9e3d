"""Values that a layout names: of its choices, its conditions, its rule, and countries."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from builders.config import Loc, did_you_mean

if TYPE_CHECKING:
    from annotation.layout import Answer, Layout

COUNTRIES = frozenset(
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS
    BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE
    EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM
    HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC
    LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
    NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
    SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
    TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """.split()
)
"""ISO 3166-1 alpha-2."""
_MEANT = {"UK": "GB", "EL": "GR", "USA": "US"}


def mistaken(layout: "Layout") -> Iterator[tuple[Loc, str]]:
    """What names no value that there is, or one twice, each with its place in the layout."""
    yield from _answers(layout, ("answers",), layout.answers, {})
    rule = layout.rule
    known = _values(layout.answers[rule.of]) if rule.of and rule.of in layout.answers else None
    for number, value in enumerate(rule.accept):
        yield from _unknown(("rule", "accept", number), value, known, f"{rule.of!r}")
    for number, country in enumerate(layout.qualifications.countries):
        if country not in COUNTRIES:
            near = _MEANT.get(country.upper()) or did_you_mean(country, sorted(COUNTRIES))
            hint = f", did you mean {near!r}?" if near else ""
            place = ("qualifications", "countries", number)
            yield place, f"no country {country!r} (ISO 3166, two letters){hint}"


def _answers(
    layout: "Layout", place: Loc, answers: Mapping[str, "Answer"], before: Mapping[str, "Answer"]
) -> Iterator[tuple[Loc, str]]:
    known = dict(before)
    for name, answer in answers.items():
        here = (*place, name)
        for other, values in answer.when.items():
            for number, value in enumerate(values):
                about = _values(known[other]) if other in known else None
                yield from _unknown((*here, "when", other, number), value, about, f"{other!r}")
        for what in ("key", "value"):
            seen: set[str] = set()
            for number, choice in enumerate(answer.choices):
                own = getattr(choice, what)
                if own is not None and own in seen:
                    yield (*here, "choices", number), f"two choices have the {what} {own!r}"
                seen.add(own)
        for number, choice in enumerate(answer.choices):
            if choice.needs and choice.needs not in layout.fields:
                yield from _unknown(
                    (*here, "choices", number, "needs"),
                    choice.needs,
                    [*layout.fields],
                    "the fields",
                )
        yield from _answers(layout, (*here, "answers"), answer.answers, known)
        known[name] = answer


def _values(answer: "Answer") -> list[str] | None:
    """The values that an answer can have; None where they are in the data, or free."""
    if answer.kind == "flag":
        return ["true", "false"]
    if answer.kind not in ("choice", "choices") or answer.field:
        return None
    return [choice.value for choice in answer.choices]


def _unknown(
    place: Loc, value: str, known: list[str] | None, where: str
) -> Iterator[tuple[Loc, str]]:
    if known is not None and value not in known:
        near = did_you_mean(value, known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
        yield place, f"{value!r} is not of {where}, {hint}"
