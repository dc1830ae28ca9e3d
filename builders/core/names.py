"""Types of checked text: names that are used in paths, and licences."""

import re
from typing import Annotated

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import AfterValidator

# `two-hop.v1`, not `../two` or `.hidden`; most file systems allow 255 characters
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a name (letters, digits, -, _ and .)")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""A name that can be part of a path: letters and digits, and after the first also `-_.`."""


def _licence(text: str) -> str:
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise ValueError(
            f"{text!r} is no licence that SPDX names (CC-BY-4.0, say); "
            "write LicenseRef-NAME for any other"
        ) from None


Licence = Annotated[str, AfterValidator(_licence)]
"""An SPDX licence expression, including `LicenseRef-…`."""


def licence_page(licence: str) -> str | None:
    """Return the address of the text of a licence, or None if it is not one SPDX identifier."""
    if " " in licence or licence.startswith("LicenseRef-"):
        return None
    return f"https://spdx.org/licenses/{licence}.html"
