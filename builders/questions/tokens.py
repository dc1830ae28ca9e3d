"""Word tokens with character offsets; hyphens and inner apostrophes stay inside a word."""

import re
import unicodedata

TOKEN = re.compile(
    r"(?:[A-Z]\.){2,}|(?<!\w)(?:Mrs?|Ms|Dr|Sens?|Reps?|Gov|Gen|Lt|Col|Maj|Capt|Sgt|Adm|Brig|Rev|Hon|Cmdr"
    r"|St|Jr|Sr|Inc|Corp|Co|Ltd|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\.|['’]s\b"
    r"|\w+(?:[-–'’&]\w+)*?(?=['’]s\b)|\w+(?:[-–'’&]\w+)*|[^\w\s]"
)


def spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each token of `text`."""
    return [m.span() for m in TOKEN.finditer(text)]


def normal(name: str) -> str:
    """`name` as keys have it: NFC, plain apostrophes and hyphens, single blanks."""
    plain = name.replace("’", "'").replace("–", "-").replace("‑", "-")
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", plain)
    return " ".join(plain.split())


def capital(word: str) -> bool:
    """Whether a word starts as a name does: a capital, or a small prefix before one (`al-Sisi`)."""
    return word[:1].isupper() or (word[:3] in ("al-", "el-") and word[3:4].isupper())
