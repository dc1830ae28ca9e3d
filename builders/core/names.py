"""Checked text: names that may become paths, and licences."""

import re
from typing import Annotated

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import AfterValidator

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a name (letters, digits, -, _ and .)")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""A name that may become part of a path: letters and digits, and `-`, `_`, `.` after the first."""


def _licence(text: str) -> str:
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise ValueError(
            f"{text!r} is no licence that SPDX names (CC-BY-4.0, say); "
            "write LicenseRef-NAME for any other"
        ) from None


Licence = Annotated[str, AfterValidator(_licence)]
"""A licence as SPDX names it, or `LicenseRef-…`."""


def licence_page(licence: str) -> str | None:
    """The address of a licence's text; none where it has no SPDX id of its own."""
    if " " in licence or licence.startswith("LicenseRef-"):
        return None
    return f"https://spdx.org/licenses/{licence}.html"
