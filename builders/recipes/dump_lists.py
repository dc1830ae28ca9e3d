"""What `factdrift dumps` prints: the dumps of each publisher as lines, or as JSON."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.recipes.dumps import (
    LANGUAGE,
    PUBLISHERS,
    DumpFile,
    Publisher,
    list_dumps,
    size_text,
)

_SHOWN_FILES = 1
"""Files of a dump that its line names; the parts of one have names that say nothing more."""


def dump_lists(
    publisher_names: Sequence[str], language: str, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Return the dumps of the named publishers, or of all, as JSON values by name.

    A publisher that cannot be read has an `error` in place of dumps. Raises `UserError` for an
    unknown name, and if no publisher can be read.
    """
    for name in publisher_names:
        if name not in PUBLISHERS:
            near_name = did_you_mean(name, list(PUBLISHERS))
            hint_text = f"did you mean {near_name}?" if near_name else "write no path here"
            error_text = f"no publisher {name!r}: there are {', '.join(PUBLISHERS)}"
            raise UserError(error_text, hint=hint_text)
    lists: dict[str, dict[str, Any]] = {}
    errors: list[UserError] = []
    for name in publisher_names or PUBLISHERS:
        publisher = PUBLISHERS[name]
        try:
            lists[name] = _described(publisher, language, say)
        except UserError as error:
            errors.append(error)
            lists[name] = {"title": publisher.title, "dumps": [], "error": str(error)}
    if len(errors) == len(lists):
        raise UserError("\n".join(dict.fromkeys(map(str, errors))))
    return lists


def _described(publisher: Publisher, language: str, say: Callable[[str], None]) -> dict[str, Any]:
    """Return what is known of a publisher and its dumps, as JSON values."""
    dumps: list[dict[str, Any]] = []
    for dump in list_dumps(publisher, say, language):
        dumps.append(
            {
                "day": publisher.label(dump),
                "finished": not dump.lacks,
                "lacks": dump.lacks,
                "files": [_file_values(dump_file) for dump_file in dump.files],
            }
        )
    # the words of an option find the English Wikipedia alone
    has_option = publisher.kind != "pages" or language == LANGUAGE
    return {
        "title": publisher.title,
        "listing": without_credentials(publisher.listing(language)),
        "option": publisher.option if has_option else None,
        "dumps": dumps,
        "error": None,
    }


def _file_values(dump_file: DumpFile) -> dict[str, Any]:
    return {
        "name": dump_file.name,
        "address": without_credentials(dump_file.address),
        "bytes": dump_file.size,
        "is_exact": dump_file.is_exact,
        "checksums": dict(dump_file.checksums),
    }


def dump_lines(lists: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the lines for people: a head for each publisher, and a line for each dump."""
    for number, values in enumerate(lists.values()):
        if number:
            yield ""
        if values["error"]:
            yield f"{values['title']}: cannot be listed"
            yield f"  {values['error']}"
            continue
        first_day = next((dump["day"] for dump in values["dumps"] if dump["finished"]), None)
        usage = f", as {values['option']} {first_day}" if values["option"] and first_day else ""
        yield f"{values['title']}{usage}: {values['listing']}"
        for dump in values["dumps"]:
            yield f"  {dump['day']}  {_contents(dump)}"


def _contents(dump: dict[str, Any]) -> str:
    """Return size, checksums and name of a dump on a line, and what it lacks."""
    files = [
        DumpFile(entry["name"], entry["address"], entry["bytes"], entry["is_exact"])
        for entry in dump["files"]
    ]
    state = f"not finished: {dump['lacks']}" if dump["lacks"] else ""
    if not files:
        return state
    sizes = [dump_file.size for dump_file in files if dump_file.size is not None]
    size = sum(sizes) if len(sizes) == len(files) else None
    size_words = size_text(files[0]._replace(size=size))
    algorithms = "+".join(dump["files"][0]["checksums"]) or "no checksum"
    more = f" and {len(files) - _SHOWN_FILES} more" if len(files) > _SHOWN_FILES else ""
    return "  ".join(filter(None, (size_words, algorithms, files[0].name + more, state)))
