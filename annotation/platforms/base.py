"""What every platform does: write a batch, read what came back, say what became of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol, runtime_checkable

from annotation.batch import Batch, Item
from annotation.layout import Layout
from annotation.submission import Refused, Submission
from builders.errors import UserError

_OPTIONS = {"split": "split-pages"}
"""Fields of `Delivery` whose option has another name."""


@dataclass(frozen=True)
class Delivery:
    """Where answers go and how pages are dealt out, for the platforms that leave it open.

    `post`: an http(s) address that takes submissions as JSON; without it they are downloaded as a
    file. `code`: shown after submitting, for a recruiting site; `complete`: a link back to it.
    `split`: a page for each HIT instead of one page for all. `submit`: the address of the
    platform itself, such as a sandbox.
    """

    post: str | None = None
    code: str | None = None
    complete: str | None = None
    split: bool = False
    submit: str | None = None

    def check(self, platform: "Platform") -> None:
        """`UserError` where something is given that this platform would ignore."""
        given = [one.name for one in fields(self) if getattr(self, one.name)]
        ignored = [f"--{_OPTIONS.get(one, one)}" for one in given if one not in platform.heeds]
        if ignored:
            known = ", ".join(f"--{_OPTIONS.get(one, one)}" for one in platform.heeds)
            hint = f"it takes {known or 'none of these'}"
            raise UserError(f"{platform.name} cannot use {', '.join(ignored)}", hint=hint)

    def named(self, *names: str) -> dict[str, str]:
        """Those of these that are given, as `annotation.page.render` takes them."""
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


Decide = Callable[[Submission], str | None]
"""Why a submission is rejected; empty: it is approved; None: it is not known."""


class Platform(Protocol):
    """One platform. `heeds`: the fields of `Delivery` that its files depend on.

    `piecewise`: it hands out single items of a HIT, so that a submission has one of them.
    """

    name: str
    heeds: tuple[str, ...]
    piecewise: bool

    def export(
        self, batch: Batch, layout: Layout, layout_folder: Path, folder: Path, delivery: Delivery
    ) -> list[str]:
        """Write the platform's files into `folder`, which exists, and name them, relative to it.

        The batch comes without what a worker must not see: no item has `answers` or `row`, and
        attention items look like the others. `batch.folder` is where the batch will lie.
        `layout_folder` holds layout.yaml and task.html.j2. The same batch gives the same bytes.
        """

    def knows(self, path: Path) -> bool:
        """Whether a file looks like this platform's results; reads only its beginning."""

    def read(self, path: Path) -> Iterator[Submission | Refused]:
        """The submissions of a results file, streamed, in order; what is broken is `Refused`.

        `annotation.reading` has readers for CSV and JSON that do this in bounded memory.
        """

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """Write into `folder` what the platform takes to approve or reject the work in `path`.

        Names the files written, relative to `folder`; none where the platform takes none. These
        files hold the platform's own worker ids: they go back to it and nowhere else.
        """


Fits = Callable[[Sequence[Item]], bool]
"""Whether items fit into one HIT."""


@runtime_checkable
class Limited(Protocol):
    """A platform whose HITs have a size: they are packed to fit, and what fits none is left out."""

    def room(self, layout: Layout, name: str, layout_folder: Path) -> Fits:
        """What tells whether items fit into one HIT of a layout."""
