"""Where people work: one file a platform, listed here."""

from annotation.platforms.base import Decide, Delivery, Fits, Limited, Platform
from annotation.platforms.label_studio import LabelStudio
from annotation.platforms.mturk import MTurk
from annotation.platforms.static import Static

PLATFORMS: dict[str, Platform] = {
    "mturk": MTurk(),
    "label_studio": LabelStudio(),
    "static": Static(),
}
"""By name, as the command line has them. A results file goes to the first that knows it, `static`
last: it takes what no other knows."""

__all__ = ["PLATFORMS", "Decide", "Delivery", "Fits", "Limited", "Platform"]
