"""Where people work: one file a platform, listed here."""

from annotation.platforms.base import Delivery, Platform


PLATFORMS: dict[str, Platform] = {
    # "static": Static(),
}
"""By name, as the command line has them. Results are offered to them from the last to the first;
`static` takes what no other knows."""

__all__ = ["PLATFORMS", "Delivery", "Platform"]
