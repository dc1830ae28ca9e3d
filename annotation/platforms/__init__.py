"""Where people work: one module a platform, listed here."""

from factdrift.annotation.layout import near_hint
from factdrift.annotation.platforms.base import Platform
from factdrift.annotation.platforms.label_studio import LabelStudio
from factdrift.annotation.platforms.mturk import MTurk
from factdrift.annotation.platforms.prolific import Prolific
from factdrift.annotation.platforms.static import Static
from factdrift.builders.core.errors import UserError

PLATFORMS: dict[str, Platform] = {
    "mturk": MTurk(),
    "label_studio": LabelStudio(),
    "static": Static(),
    "prolific": Prolific(),
}
"""By name, as the command line has them. A results file goes to the first that knows it; `static`
takes what no other knows, and gives it to `prolific` where the batch was for that."""


def find_platform(name: str) -> Platform:
    if name not in PLATFORMS:
        raise UserError(f"no platform {name!r}", hint=near_hint(name, PLATFORMS))
    return PLATFORMS[name]
