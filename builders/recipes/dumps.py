"""Which days publishers have dumps of, as their own listings say it, and where a day's dump is.

An input may be named by `latest` or by a day, `2026-11-09`, in the place of a path. It becomes the
address of the dump of that day before anything else is done, so that no result depends on when it
was made without saying so. `sample` names the files that come with the program.

Publishers list their dumps as folders named by days. A day can lack a dump, because it has other
files, and a dump can be unfinished: Wikidata states the checksums of a dump when it is whole, and
Wikipedia states of each part whether it is done.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core.addresses import parse_address, without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.inputs import INPUTS, Kind
from factdrift.builders.core.limits import LARGEST_LISTING
from factdrift.builders.core.listings import ListedName, read_checksums, read_listing
from factdrift.builders.core.remote import Checksum, NoSuchFileError, read_whole

__outside_step_keys__ = True

Say = Callable[[str], None]

LATEST, SAMPLE = "latest", "sample"
_SAMPLES: Mapping[str, Path] = {
    "older": resource("samples/wikidata/wikidata-20230102-all.json.gz"),
    "wikidata": resource("samples/wikidata/wikidata-20260202-all.json.gz"),
    "pages": resource("samples/wikipedia/enwiki-20260201-pages-articles-multistream.xml.bz2"),
    "news": resource("samples/news"),
}
"""Input, else kind of inputs -> what of the program's own data `sample` means."""
LANGUAGE = "en"
"""The language of Wikipedia's dumps where none is named; other pages are refused by recipes."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""`2026-11-09`, not `20261109`, which may be a folder."""
_YEAR = re.compile(r"(?:19|20)\d\d")
"""`2024`: archives of news are of whole years."""
_DAY_FOLDER = re.compile(r"(\d{4})(\d\d)(\d\d)/")
"""`20261109/`, not `latest/`."""
_WIKIDATA_FILE = re.compile(r"wikidata-(\d{4})(\d\d)(\d\d)-all\.json\.(gz|bz2)")
"""`wikidata-20261109-all.json.gz`, not `…-lexemes.json.gz`; its day can be later than its folder's.
"""
_NEWS_FILE = re.compile(r"news-docs\.((?:19|20)\d\d)\.[a-z]{2,3}\.filtered\.gz")
"""`news-docs.2020.en.filtered.gz`."""
_LONGEST_DUMP = timedelta(days=10)
"""How much later than its folder a dump may be named: one is made in less than a week."""
_SHOWN_DAYS = 6
"""Days that an error names: more than a month of Wikidata's."""
_ALGORITHMS = ("sha1", "md5")
"""The checksums that are published, the one that is compared first."""
_ARTICLES = (
    # the stream that several processes can read; the larger wikis have it in a job of its own
    ("articlesmultistreamdumprecombine", "-pages-articles-multistream.xml.bz2"),
    ("articlesmultistreamdump", "-pages-articles-multistream.xml.bz2"),
    ("articlesdumprecombine", "-pages-articles.xml.bz2"),
    ("articlesdump", "-pages-articles.xml.bz2"),
)
"""The jobs of a Wikipedia dump that write its articles as one file, and the end of its name."""


class DumpFile(NamedTuple):
    """A file of a dump; `is_exact`: its size is not rounded. `checksums` by algorithm."""

    name: str
    address: str
    size: int | None = None
    is_exact: bool = False
    checksums: Mapping[str, str] = {}


class PublishedDump(NamedTuple):
    """The dump of a day, or the archive of a year; `lacks` says what is not finished of it."""

    day: date
    files: tuple[DumpFile, ...]
    lacks: str = ""


@dataclass(frozen=True)
class Publisher:
    """A publisher of dumps.

    `address` is that of the folder with its listing, which the environment variable `variable`
    replaces by that of a mirror. `kind` is the kind of inputs that it has, and `option` one of
    those. `dumps` yields the dumps in such a folder, the newest first, from a day backwards.
    """

    name: str
    title: str
    kind: Kind
    option: str
    address: str
    variable: str
    dumps: Callable[[str, date | None, Say], Iterator[PublishedDump]]

    def listing(self, language: str = LANGUAGE) -> str:
        """Return the address of the listing, with `/` at its end."""
        address = os.environ.get(self.variable) or self.address
        parse_address(address)
        folder_address = address.rstrip("/") + "/"
        return (
            folder_address + _wiki_name(language) + "/" if self.kind == "pages" else folder_address
        )

    def label(self, dump: PublishedDump) -> str:
        """Return how a dump is named on the command line: by its day, or by its year."""
        return str(dump.day.year) if self.kind == "news" else dump.day.isoformat()


def _wiki_name(language: str) -> str:
    """Return the name of a Wikipedia in dumps: `enwiki`, and `zh_yuewiki` for `zh-yue`."""
    if not re.fullmatch(r"[a-z]{2,12}(-[a-z]{1,12})*", language):
        hint_text = "write it as in the address of the Wikipedia: en, de, simple, zh-yue"
        raise UserError(f"not a language: {language!r}", hint=hint_text)
    return language.replace("-", "_") + "wiki"


# --- Listings -------------------------------------------------------------------------------------


def _day_folders(listing_address: str, until: date | None, say: Say) -> Iterator[tuple[date, str]]:
    """Yield day and address of each folder of a listing that is named by a day, newest first."""
    folders: dict[date, str] = {}
    for listed in read_listing(listing_address, say):
        if name_match := _DAY_FOLDER.fullmatch(listed.name):
            folder_day = _calendar_day(name_match.groups())
            if folder_day and (until is None or folder_day <= until):
                folders[folder_day] = listing_address + listed.name
    yield from sorted(folders.items(), reverse=True)


def _calendar_day(digits: Sequence[str]) -> date | None:
    """Return the day of year, month and day in digits; None if there is no such day."""
    try:
        return date(*map(int, digits[:3]))
    except ValueError:
        return None


def _wikidata_dumps(listing_address: str, until: date | None, say: Say) -> Iterator[PublishedDump]:
    """Yield the dumps of all entities as JSON; most days have other files alone."""
    for _, folder_address in _day_folders(listing_address, until, say):
        by_day: dict[date, dict[str, ListedName]] = {}
        for listed in read_listing(folder_address, say):
            if name_match := _WIKIDATA_FILE.fullmatch(listed.name):
                file_day = _calendar_day(name_match.groups())
                if file_day and (until is None or file_day <= until):
                    by_day.setdefault(file_day, {})[name_match[4]] = listed
        for file_day, packings in sorted(by_day.items(), reverse=True):
            listed = packings.get("gz") or packings["bz2"]  # gz is read twice as fast
            checksums = _stated_sums(folder_address, listed.name, say)
            dump_file = DumpFile(
                listed.name, folder_address + listed.name, listed.size, listed.is_exact, checksums
            )
            yield PublishedDump(
                file_day, (dump_file,), "" if checksums else "no checksum is published yet"
            )


def _stated_sums(folder_address: str, file_name: str, say: Say) -> dict[str, str]:
    """Return the checksums that the lists of a folder state of a file, by algorithm."""
    dump_name = "-".join(file_name.split("-")[:2])
    checksums: dict[str, str] = {}
    for algorithm in _ALGORITHMS:
        try:
            listed_sums = read_checksums(f"{folder_address}{dump_name}-{algorithm}sums.txt", say)
        except NoSuchFileError:
            continue
        if file_name in listed_sums:
            checksums[algorithm] = listed_sums[file_name]
    return checksums


def _wikipedia_dumps(listing_address: str, until: date | None, say: Say) -> Iterator[PublishedDump]:
    """Yield the dumps of articles; a dump that has just begun says nothing of itself yet."""
    for folder_day, folder_address in _day_folders(listing_address, until, say):
        try:
            jobs = _dump_jobs(folder_address, say)
        except NoSuchFileError:
            yield PublishedDump(folder_day, (), "it says nothing of its state yet")
            continue
        yield _articles(folder_day, folder_address, jobs)


def _dump_jobs(folder_address: str, say: Say) -> Mapping[str, Mapping[str, Any]]:
    """Return the jobs in `dumpstatus.json`; `UserError` if it is not what Wikimedia writes."""
    address = f"{folder_address}dumpstatus.json"
    try:
        status = json.loads(read_whole(address, LARGEST_LISTING, say))
        jobs = {name: dict(job) for name, job in status["jobs"].items()}
        for job in jobs.values():
            job["files"] = {name: dict(entry) for name, entry in (job.get("files") or {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        error_text = "this is not the state of a dump as Wikimedia writes it"
        hint_text = "run it again later, or name another day"
        raise UserError(error_text, where=without_credentials(address), hint=hint_text) from None
    return jobs


def _articles(
    folder_day: date, folder_address: str, jobs: Mapping[str, Mapping[str, Any]]
) -> PublishedDump:
    """Return the articles of a dump: one file where that is finished, else all of its parts."""
    wiki_name = folder_address.rstrip("/").split("/")[-2]
    dump_name = f"{wiki_name}-{folder_day:%Y%m%d}"
    for job_name, name_end in _ARTICLES:
        job = jobs.get(job_name, {})
        file_name = dump_name + name_end
        if job.get("status") == "done" and file_name in job["files"]:
            return PublishedDump(
                folder_day, (_stated_file(folder_address, file_name, job["files"][file_name]),)
            )
    job = jobs.get("articlesmultistreamdump", {})
    # `enwiki-20261101-pages-articles-multistream1.xml-p1p41242.bz2`, not its index
    part_name = re.compile(
        rf"{re.escape(dump_name)}-pages-articles-multistream\d+\.xml-p\d+p\d+\.bz2"
    )
    part_names = [name for name in sorted(job.get("files", ())) if part_name.fullmatch(name)]
    if job.get("status") == "done" and part_names:
        parts = (_stated_file(folder_address, name, job["files"][name]) for name in part_names)
        return PublishedDump(folder_day, tuple(parts))
    state = " ".join(str(job.get("status", "not begun")).split())[:40]
    return PublishedDump(folder_day, (), f"its articles are {state}")


def _stated_file(folder_address: str, file_name: str, entry: Mapping[str, Any]) -> DumpFile:
    """Return a file of a dump as its state describes it."""
    size = entry.get("size")
    checksums = {
        algorithm: str(entry[algorithm]) for algorithm in _ALGORITHMS if entry.get(algorithm)
    }
    is_exact = isinstance(size, int)
    return DumpFile(
        file_name, folder_address + file_name, size if is_exact else None, is_exact, checksums
    )


def _news_archives(listing_address: str, until: date | None, say: Say) -> Iterator[PublishedDump]:
    """Yield the archives of years, the newest first; no checksums are published."""
    archives: list[PublishedDump] = []
    for listed in read_listing(listing_address, say):
        if name_match := _NEWS_FILE.fullmatch(listed.name):
            last_day = date(int(name_match[1]), 12, 31)
            if until is None or last_day <= until:
                address = listing_address + listed.name
                dump_file = DumpFile(listed.name, address, listed.size, listed.is_exact)
                archives.append(PublishedDump(last_day, (dump_file,)))
    yield from sorted(archives, key=lambda archive: archive.day, reverse=True)


PUBLISHERS: Mapping[str, Publisher] = {
    publisher.name: publisher
    for publisher in (
        Publisher(
            *("wikidata", "Wikidata, all entities as JSON", "wikidata", "--dump"),
            "https://dumps.wikimedia.org/wikidatawiki/entities/",
            "FACTDRIFT_DUMPS_WIKIDATA",
            _wikidata_dumps,
        ),
        Publisher(
            *("wikipedia", "Wikipedia, articles", "pages", "--pages"),
            "https://dumps.wikimedia.org/",
            "FACTDRIFT_DUMPS_WIKIPEDIA",
            _wikipedia_dumps,
        ),
        Publisher(
            *("news", "WMT News Crawl, English documents", "news", "--news"),
            "https://data.statmt.org/news-crawl/doc/en/",
            "FACTDRIFT_DUMPS_NEWS",
            _news_archives,
        ),
    )
}
"""All publishers, with the addresses of their listings."""
_BY_KIND = {publisher.kind: publisher for publisher in PUBLISHERS.values()}
_NEWS_LOGIN = (
    "WMT gives user and password with its archives; name them in FACTDRIFT_DUMPS_NEWS="
    "https://USER:PASSWORD@data.statmt.org/news-crawl/doc/en/"
)


def list_dumps(publisher: Publisher, say: Say, language: str = LANGUAGE) -> list[PublishedDump]:
    """Return all dumps of a publisher, the newest first.

    Raises `UserError` if the listing cannot be read, or has none.
    """
    listing_address = publisher.listing(language)
    say(f"  {without_credentials(listing_address)} is asked")
    dumps = list(_read_dumps(publisher, listing_address, None, say))
    if not dumps:
        raise _no_dumps(publisher, listing_address)
    return dumps


def _read_dumps(
    publisher: Publisher, listing_address: str, until: date | None, say: Say
) -> Iterator[PublishedDump]:
    """Yield the dumps of a publisher; its errors say what can be done."""
    try:
        yield from publisher.dumps(listing_address, until, say)
    except NoSuchFileError:
        raise _no_dumps(publisher, listing_address) from None
    except UserError as error:
        if publisher.kind == "news" and "refuses it" in str(error):
            where = without_credentials(listing_address)
            raise UserError("the server wants a password", where=where, hint=_NEWS_LOGIN) from None
        raise


def _no_dumps(publisher: Publisher, listing_address: str) -> UserError:
    hint_text = f"has it moved? {publisher.variable} names the folder, or that of a mirror"
    where = without_credentials(listing_address)
    return UserError(f"no dump of {publisher.title} is listed here", where=where, hint=hint_text)


# --- Inputs ---------------------------------------------------------------------------------------


def is_day_word(kind: Kind, text: str) -> bool:
    """Whether an input of this kind is named by `latest`, `sample` or a day, or a year for news.

    A path of that name that exists is meant itself.
    """
    day_word = _YEAR if kind == "news" else _DAY
    names_day = text in (LATEST, SAMPLE) or day_word.fullmatch(text) is not None
    return kind in _BY_KIND and names_day and not Path(text).exists()


def find_addresses(
    kind: Kind, paths: Iterable[str], say: Say, input_name: str | None = None
) -> list[str]:
    """Return the paths of an input with the addresses of dumps in the place of days.

    The sample of an input (`older`) may be another one than that of its kind.
    Raises `UserError` if there is no finished dump of such a day.
    """
    addresses: list[str] = []
    for path in paths:
        if not is_day_word(kind, path):
            addresses.append(path)
            continue
        if path == SAMPLE:
            addresses.append(str(_SAMPLES.get(input_name or kind) or _SAMPLES[kind]))
            continue
        publisher = _BY_KIND[kind]
        dump = _find_dump(publisher, path, say)
        for dump_file in dump.files:
            size = f", {size_text(dump_file)}" if dump_file.size is not None else ""
            address = without_credentials(dump_file.address)
            say(f"  {path}: {publisher.title}, {publisher.label(dump)}: {address}{size}")
            addresses.append(dump_file.address)
    return addresses


def resolve_inputs(
    given_paths: Mapping[str, Sequence[str]], kinds: Mapping[str, Kind], say: Say
) -> dict[str, list[str]]:
    """Return the paths of inputs, by name, with addresses in the place of days.

    `kinds` are those of inputs that only a recipe knows.
    """
    resolved: dict[str, list[str]] = {}
    for name, paths in given_paths.items():
        kind = INPUTS[name].kind if name in INPUTS else kinds.get(name)
        resolved[name] = find_addresses(kind, paths, say, name) if kind else list(paths)
    return resolved


def _find_dump(publisher: Publisher, day_word: str, say: Say) -> PublishedDump:
    """Return the newest finished dump, or that of a day; one without checksums is taken, too."""
    listing_address = publisher.listing()
    if day_word == LATEST:
        dump = None
        for dump in _read_dumps(publisher, listing_address, None, say):
            if not dump.lacks:
                return dump
            say(f"  {publisher.label(dump)} is passed over: {dump.lacks}")
        if dump is None:
            raise _no_dumps(publisher, listing_address)
        error_text = f"{publisher.title}: no dump that is listed is finished"
        hint_text = "a day by its name, as 2026-11-09, is taken without a checksum, too"
        raise UserError(error_text, where=without_credentials(listing_address), hint=hint_text)
    day = _asked_day(day_word)
    for dump in _read_dumps(publisher, listing_address, day, say):
        if dump.day == day and dump.files:
            if dump.lacks:
                say(f"  {day_word}: {dump.lacks}, so that what comes cannot be compared")
            return dump
        if dump.day == day:
            hint_text = f"wait for it, or take another day: {_some_days(publisher, say)}"
            error_text = f"{publisher.title}: the dump of {day_word} is not finished: {dump.lacks}"
            raise UserError(error_text, hint=hint_text)
        if dump.day < day - _LONGEST_DUMP:
            break
    error_text = f"{publisher.title}: no dump of {day_word}"
    hint_text = (
        f"there are {_some_days(publisher, say)}; `factdrift dumps {publisher.name}` lists all. "
        "Publishers remove old dumps: name the file, if you have it"
    )
    raise UserError(error_text, where=without_credentials(listing_address), hint=hint_text)


def _asked_day(day_word: str) -> date:
    """Return the day that a word names, the last of a year; `UserError` if there is no such day."""
    try:
        return date.fromisoformat(f"{day_word}-12-31" if len(day_word) == 4 else day_word)
    except ValueError:
        raise UserError(f"not a day: {day_word}", hint="write 2026-11-09, or latest") from None


def _some_days(publisher: Publisher, say: Say) -> str:
    """Return the newest days of finished dumps, for a message."""
    dumps = _read_dumps(publisher, publisher.listing(), None, say)
    finished = (publisher.label(dump) for dump in dumps if not dump.lacks)
    return ", ".join(islice(finished, _SHOWN_DAYS)) or "none"


def size_text(dump_file: DumpFile) -> str:
    """Return the size of a file in GB or MB, and whether it is rounded."""
    if dump_file.size is None:
        return "size unknown"
    size, unit = (
        (dump_file.size / 1e9, "GB") if dump_file.size >= 1e9 else (dump_file.size / 1e6, "MB")
    )
    return f"{'' if dump_file.is_exact else 'about '}{size:,.1f} {unit}"


# --- Checksums ------------------------------------------------------------------------------------


def published_checksum(address: str, say: Say) -> Checksum | None:
    """Return the checksum that a publisher states of the file at an address, if it does.

    Also where the address was typed: what lies below a publisher's listing is compared.
    """
    folder_address, slash, file_name = address.rpartition("/")
    for publisher in PUBLISHERS.values():
        if publisher.kind == "news" or not _lies_below(address, publisher):
            continue
        try:
            if publisher.kind == "wikidata":
                checksums = _stated_sums(folder_address + slash, file_name, say)
            else:
                checksums = _sums_of_jobs(folder_address + slash, file_name, say)
        except NoSuchFileError:
            continue
        for algorithm in _ALGORITHMS:
            if algorithm in checksums:
                return Checksum(algorithm, checksums[algorithm])
    return None


def _lies_below(address: str, publisher: Publisher) -> bool:
    base_address = os.environ.get(publisher.variable) or publisher.address
    return without_credentials(address).startswith(without_credentials(base_address))


def _sums_of_jobs(folder_address: str, file_name: str, say: Say) -> dict[str, str]:
    """Return the checksums that the state of a dump has of a file, by algorithm."""
    for job in _dump_jobs(folder_address, say).values():
        if file_name in job["files"]:
            dump_file = _stated_file(folder_address, file_name, job["files"][file_name])
            return dict(dump_file.checksums)
    return {}
