"""Which datasets each format of `factdrift export` takes, for messages about others."""

from collections.abc import Mapping, Sequence

TAKES: Mapping[str, tuple[str, ...]] = {
    "streamingqa": ("streamingqa",),
    "timeqa": ("timeqa",),
    "templama": ("dynamic-templama by year",),
    "dynamic-templama": ("dynamic-templama",),
    "lama": ("invariant-lama",),
    "ckl": ("invariant-lama", "updated-lama", "new-lama", "new-lama-easy"),
    "squad": ("timeqa",),
    "knowedit": ("knowledge-edits",),
    "zsre": ("knowledge-edits",),
    "mquake": ("knowledge-edits",),
    **dict.fromkeys(("beir", "dpr", "mteb"), ("as-of", "timeqa", "streamingqa with --corpus")),
    "stream": ("as-of",),
    "longmemeval": ("as-of",),
}
"""Format -> the datasets that it takes, and what else they need."""

INSTEAD: Mapping[tuple[str, str], str] = {
    ("ckl", "dynamic-templama"): (
        "UpdatedLAMA and NewLAMA are what experts found or missed in an old corpus, which "
        "dynamic-templama has not: after a vacancy, one who held before makes its `new` rows "
        "updated ones. Score its configs `updated` and `new` as they are, for factdrift fuar"
    ),
}
"""Format and dataset -> what to do instead, where one may expect that they go together."""


def _names(format_name: str) -> list[str]:
    """The datasets that a format takes, by their names alone."""
    return [name.partition(" ")[0] for name in TAKES.get(format_name, ())]


def advice(format_name: str, dataset: str) -> str:
    """What to do about a release that has nothing for a format.

    It says which datasets the format takes, what becomes of this one, and what it is good for.
    """
    if dataset in _names(format_name):
        return "its configs have no rows of this kind: a longer window or another dump may have"
    sentences = [f"{format_name} takes {_either(TAKES[format_name])}"]
    if formats := [name for name in TAKES if dataset in _names(name)]:
        sentences.append(f"{dataset} goes with --format {_either(formats)}")
    if reason := INSTEAD.get((format_name, dataset)):
        sentences.append(reason)
    return "\n  ".join(sentences)


def _either(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
