"""Options of the commands for work by people, as dataclasses that Python callers fill, too."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from factdrift.builders.core.addresses import parse_address, without_credentials
from factdrift.builders.core.errors import UserError

_END = "Link to show at the end."


@dataclass(frozen=True)
class Delivery:
    """Where answers go and how pages are dealt out, for the platforms that leave it open.

    `post`: an http(s) address that takes submissions as JSON; without it they are downloaded as a
    file. `code`: shown after submitting, for a recruiting site; `complete`: a link back to it.
    """

    post: Annotated[str | None, Option(help="Address that takes submissions.")] = None
    code: Annotated[str | None, Option(help="Completion code to show at the end.")] = None
    complete: Annotated[str | None, Option(help=_END)] = None
    split_pages: Annotated[
        bool, Option("--split-pages", help="A page for each HIT, not one for all.")
    ] = False
    url: Annotated[str | None, Option(help="Where the pages will be on the web.")] = None

    def check(self, platform_name: str, accepted_options: Sequence[str]) -> None:
        """`UserError` where something is given that this platform would ignore."""
        given_options = [
            option_field.name for option_field in fields(self) if getattr(self, option_field.name)
        ]
        ignored_options = [
            _option(option_name)
            for option_name in given_options
            if option_name not in accepted_options
        ]
        if ignored_options:
            hint_text = f"it takes {', '.join(map(_option, accepted_options)) or 'none of these'}"
            raise UserError(
                f"{platform_name} cannot use {', '.join(ignored_options)}", hint=hint_text
            )

    def root(self) -> str:
        """The address of the pages, with a slash at its end."""
        return f"{(web_address(self.url) or '').rstrip('/')}/"


def _option(option_name: str) -> str:
    return f"--{option_name.replace('_', '-')}"


_MARKS_OF_PAGES = re.compile(r"[\s;,'\"<>]")
"""Characters that end an address in a page or in its security policy: `;`, but not `%3B`."""


def web_address(given_address: str | None) -> str | None:
    """Return an http(s) address that people may see unchanged; `UserError` for any other text."""
    if given_address is None:
        return None
    address = parse_address(given_address)
    if address.user is not None:
        text = "an address with a user or password, which everybody who opens the page would see"
        raise UserError(text, where=without_credentials(given_address), hint="leave them out")
    if mark := _MARKS_OF_PAGES.search(address.url):
        where, hint_text = without_credentials(given_address), f"write %{ord(mark[0]):02X}"
        raise UserError(f"an address with {mark[0]!r} in it", where=where, hint=hint_text)
    return given_address


@dataclass(frozen=True, kw_only=True)
class BatchPlace:
    """For whom a batch is, and where it and what it is made from lie."""

    platform: Annotated[str, Option(help="static, prolific, mturk or label_studio.")] = "static"
    seed: Annotated[int, Option(help="Draws other rows.")] = 0
    again: Annotated[bool, Option("--again", help="Send rows once more that were sent before.")] = (
        False
    )
    delivery: Delivery = field(default_factory=Delivery)
    releases: Annotated[Path, Option(help="Where releases are.")] = Path("releases")
    build: Annotated[Path, Option(help="Where what is made for a batch is kept.")] = Path("build")
    out: Annotated[Path, Option(help="Where batches go.")] = Path("hits")
    judgments: Annotated[Path, Option(help="Where judgments are.")] = Path("judgments")
    say: Callable[[str], None] = lambda text: None


@dataclass(frozen=True, kw_only=True)
class BatchOrder(BatchPlace):
    """The order for a batch.

    `undecided` takes only rows whose gold row in `judgments` is missing, or is neither accepted nor
    rejected. `known` is a file of items with known answers, as `annotation.batch.known_items` reads
    it; they are mixed in beside those of the layout.
    """

    layout: Annotated[str, Argument(help="A layout by name, or its folder.")]
    dataset: Annotated[
        str | None,
        Option(help="A dataset, a release folder, a Parquet or JSONL file; else the layout's."),
    ] = None
    number: Annotated[int, Option("--n", min=1, help="Rows of the batch at most.")] = 100
    config: Annotated[str | None, Option(help="A config of the release.")] = None
    split: Annotated[str | None, Option(help="A split of it; by default all.")] = None
    undecided: Annotated[
        bool, Option("--open", help="Send only rows that were sent before and are not decided.")
    ] = False
    known: Annotated[
        Path | None,
        Option(help="JSON lines of fields and answers: attention items of your own."),
    ] = None
    news: Sequence[str] = ()
    pages: Path | None = None
    until: date | None = None


@dataclass(frozen=True)
class BandRule:
    """The numbers of the rule by which thresholds of toxicity are set."""

    rows: Annotated[int, Option(min=1, help="Rows a band.")] = 50
    width: Annotated[float, Option(min=0.01, max=0.5, help="Width of a band of scores.")] = 0.05
    share: Annotated[
        float, Option(min=0, max=1, help="Share of toxic rows below which a band is clean.")
    ] = 0.30


@dataclass(frozen=True, kw_only=True)
class ImportOrder:
    """How results are read, and where judgments go.

    `platform`: by default each file says itself. `feedback`: a folder for the files by which the
    platform approves or rejects work. `experts`: a file of worker ids that are experts' from now
    on. `participants`: Prolific's export of a study's participants; answers of ids that are not in
    it, and of people who returned the study, are set aside.
    """

    platform: Annotated[str | None, Option(help="Whose they are; by default each file says.")] = (
        None
    )
    experts: Annotated[Path | None, Option(help="A file of experts' worker ids, one a line.")] = (
        None
    )
    participants: Annotated[
        Path | None,
        Option(help="Prolific's export of the participants of a study, or a folder of such."),
    ] = None
    feedback: Annotated[
        Path | None, Option(help="Folder for what approves or rejects the work.")
    ] = None
    hits: Annotated[Path, Option(help="Where the batches are.")] = Path("hits")
    out: Annotated[Path, Option(help="Where judgments go.")] = Path("judgments")


PeopleAction = Literal["list", "exclude", "erase", "readmit"]


@dataclass(frozen=True, kw_only=True)
class PeopleOrder:
    """What is to be done to whom, and where the files are.

    `worker` is an id with the `platform` that it is of, or a hash as reports show it.
    """

    action: Annotated[PeopleAction, Argument(help="What to do.")] = "list"
    worker: Annotated[
        str | None, Argument(help="A worker's id, with --platform; or the hash in a report.")
    ] = None
    platform: Annotated[str | None, Option(help="The platform that the id is of.")] = None
    why: Annotated[str, Option(help="The reason, for the register.")] = ""
    hits: Annotated[Path, Option(help="Where the batches are.")] = Path("hits")
    out: Annotated[Path, Option(help="Where judgments are.")] = Path("judgments")
    results: Annotated[Path, Option(help="Where the receiver's journals are.")] = Path("results")
    releases: Annotated[Path, Option(help="Where releases are.")] = Path("releases")


@dataclass(frozen=True, kw_only=True)
class ServingOrder:
    """Which batch is served, where, and to whom.

    `minutes`: how long a HIT stays in hand, by default six times what it is paid for, at least 30.
    `code` and `complete`: what is told at the end; for Prolific the link follows from the code.
    Who has a signed link is let in; with `secured`, who has a token of Prolific, by the public
    `keys`; with `unsigned`, everybody. `most`: HITs that a link is good for. `judgments` has the
    register of people, of whom the excluded and the erased get nothing.
    """

    batch: Annotated[Path, Argument(help="The folder of a batch of pages.")]
    out: Annotated[Path, Option(help="Where results go.")] = Path("results")
    host: Annotated[str, Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[
        int, Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")
    ] = 8000
    code: Annotated[
        str | None, Option(help="Completion code, told once answers are on the disk.")
    ] = None
    complete: Annotated[str | None, Option(help=_END)] = None
    base: Annotated[str, Option(help="Path below which a proxy has it: /annotate.")] = ""
    proxy: Annotated[
        str, Option(help="Addresses whose X-Forwarded headers are believed, or *.")
    ] = "127.0.0.1"
    minutes: Annotated[
        float | None,
        Option(
            min=0.01,
            help="Minutes without a visit after which a HIT goes to others; by default six times "
            "those that it is paid for, 30 at least.",
        ),
    ] = None
    rate: Annotated[
        float,
        Option(min=0, help="Requests a second by one link, else from one address; 0: any number."),
    ] = 20.0
    unsigned: Annotated[
        bool,
        Option("--unsigned", help="Let in whoever has the address, under any id they give."),
    ] = False
    secured: Annotated[
        bool,
        Option("--secured", help="Let in who has a token of Prolific's secured parameters."),
    ] = False
    keys: Annotated[str, Option(help="Address or file of Prolific's public keys.")] = (
        "https://api.prolific.com/.well-known/study/jwks.json"
    )
    most: Annotated[
        int | None,
        Option(
            min=1,
            help="HITs that one link is good for, or one worker without; by default one in a "
            "session of a recruiting site, else any number.",
        ),
    ] = None
    judgments: Annotated[Path, Option(help="Where judgments are, with people.jsonl.")] = Path(
        "judgments"
    )

    @property
    def path(self) -> str:
        """The path of the pages on the server, with a slash at both ends."""
        return f"/{self.base.strip('/')}/".replace("//", "/")
