"""Where people work: one module for each platform, listed here, and plug-ins of other packages.

A package adds a platform by an entry point of the group `factdrift.platforms`, for example
`crowd = "my_package:Crowd"`. The commands `hits`, `judgments` and `receive` treat it like ours.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from factdrift.annotation.platforms.base import Platform, Recognition
from factdrift.annotation.platforms.label_studio import LabelStudio
from factdrift.annotation.platforms.mturk import MTurk
from factdrift.annotation.platforms.prolific import Prolific
from factdrift.annotation.platforms.static import Static
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.extensions import ExtensionPoint

# The platforms of this package, by the name that `--platform` gives.
PLATFORMS: Mapping[str, type[Platform]] = {
    "static": Static,
    "prolific": Prolific,
    "mturk": MTurk,
    "label_studio": LabelStudio,
}
# The platform that reads a file which no platform recognises, and refuses it line by line.
READS_WHATEVER_IS_LEFT = "static"


def _is_platform(candidate: object) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, Platform)


ALL_PLATFORMS: ExtensionPoint[type[Platform]] = ExtensionPoint(
    kind="platform", ours=PLATFORMS, accepts=_is_platform, expected="a Platform"
)


@cache
def find_platform(platform_name: str) -> Platform:
    """The platform of a name.

    `UserError`: no platform has the name, or the package that offers it is broken.
    """
    named_platform = ALL_PLATFORMS.find(platform_name)()
    if named_platform.name != platform_name:
        error_text = f"the platform {platform_name!r} calls itself {named_platform.name!r}"
        raise UserError(error_text, hint="the class and its entry point need the same name")
    return named_platform


def is_piecewise(platform_name: str) -> bool:
    """Whether a submission of the platform holds one item of a HIT, not all of them."""
    return find_platform(platform_name).piecewise


def detect_platform(
    results_path: Path, platform_of_batch: Callable[[], str | None], say: Callable[[str], None]
) -> Platform:
    """The platform whose results a file holds.

    The platform that recognises the file with the greatest certainty is taken, whatever the order
    of the table. Where several are equally certain, as those are whose workers use our own pages,
    `platform_of_batch` decides: it returns the platform of the batch that the file names, or None.
    A file that no platform recognises goes to `static`, which reports what is wrong in each line.

    A plug-in that cannot be loaded is passed over, and `say` hears why. `UserError`: two or more
    platforms are equally certain, and nothing else decides.
    """
    certainty_by_name: dict[str, Recognition] = {}
    for platform_name in ALL_PLATFORMS.names():
        try:
            certainty_by_name[platform_name] = find_platform(platform_name).recognises(results_path)
        except UserError as error:
            if platform_name in PLATFORMS:
                raise
            say(f"  {error}")
    highest_certainty = max(certainty_by_name.values())
    if highest_certainty is Recognition.NO:
        return find_platform(READS_WHATEVER_IS_LEFT)
    candidate_names = [
        platform_name
        for platform_name, own_certainty in certainty_by_name.items()
        if own_certainty == highest_certainty
    ]
    if len(candidate_names) == 1:
        return find_platform(candidate_names[0])
    from_batch = platform_of_batch()
    if from_batch in candidate_names:
        return find_platform(from_batch)
    if READS_WHATEVER_IS_LEFT in candidate_names:
        return find_platform(READS_WHATEVER_IS_LEFT)
    error_text = f"may be results of {' or '.join(sorted(candidate_names))}"
    raise UserError(error_text, where=display_path(results_path), hint="name one with --platform")
