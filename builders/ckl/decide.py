"""The decision rule of UpdatedLAMA and NewLAMA, in one place."""

from typing import Literal, NamedTuple

Fate = Literal["updated", "new", "discarded", "refused"]


class Verdict(NamedTuple):
    """What becomes of a cloze, and the short reason."""

    fate: Fate
    reason: str


def decide(
    supported: str | None, prediction_is: str | None, found: str | None, other_is: str | None
) -> Verdict:
    """What an expert's answers come to (Jang et al. 2022, appendix B, steps 4 and 5).

    `supported`, yes or no: the old corpus says what the model predicted; then `prediction_is`,
    same or different: that, and the new answer. Otherwise `found`, yes or no: the old corpus says
    something else; then `other_is`, same or different: that, and the new answer. None: not
    answered. An answer that is missing, that is neither, or that was not asked is refused.
    """
    path = (supported, prediction_is, found, other_is)
    if path in _RULE:
        return _RULE[path]
    asked = {"supported": (supported, ("yes", "no"))}
    if supported == "yes":
        asked["prediction_is"] = (prediction_is, ("same", "different"))
    if supported == "no":
        asked["found"] = (found, ("yes", "no"))
        if found == "yes":
            asked["other_is"] = (other_is, ("same", "different"))
    for name, (value, known) in asked.items():
        if value is None:
            return Verdict("refused", f"missing_{name}")
        if value not in known:
            return Verdict("refused", f"unknown_{name}")
    return Verdict("refused", "contradictory")


_RULE = {
    ("yes", "different", None, None): Verdict("updated", "supported"),
    ("yes", "same", None, None): Verdict("discarded", "known_prediction"),
    ("no", None, "no", None): Verdict("new", "not_found"),
    ("no", None, "yes", "different"): Verdict("updated", "found"),
    ("no", None, "yes", "same"): Verdict("discarded", "known_answer"),
}
