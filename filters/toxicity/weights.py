"""The weights inside `alt-profanity-check`: two pickles, and loading a pickle can run anything.

So their bytes are compared with those that were looked at, before the package loads them on import.
"""

from importlib.util import find_spec
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.hints import install_extra

VERSION = "1.9.1"
"""Each version is trained anew, so the project takes the one whose weights stand here."""
WEIGHTS = {
    "model.joblib": "aeafc04849d4d93db4721cf30a86ebf22085595294b8a07d51918e7fa98f538b",
    "vectorizer.joblib": "19c5200dc6a41f026e0558e2f164f5fe8d8f58e502b46b37e4385037fcfa4831",
}
"""The sha256 of the pickles of this version, as they are in its package on PyPI."""
_HINT = f"install it anew: pip install --force-reinstall --no-deps alt-profanity-check=={VERSION}"


def check_weights() -> None:
    """Raise a `UserError` unless the installed pickles are the known ones; nothing is loaded."""
    spec = find_spec("profanity_check")
    if spec is None or spec.origin is None:
        raise UserError("the scorer 'local' needs alt-profanity-check", hint=install_extra("news"))
    for name, checksum in WEIGHTS.items():
        path = Path(spec.origin).parent / "data" / name
        if file_sha256(path) != checksum:
            error_text = (
                f"these are not the weights of alt-profanity-check {VERSION}; they are not loaded"
            )
            raise UserError(error_text, where=path, hint=_HINT)
