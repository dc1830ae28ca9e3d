"""The page of a release on the Hub: its card with a picture, code that loads it, and its changes.

The page is the release with a few files more. The manifest and all that it lists stay as they are;
only `README.md`, which the Hub shows, is the page, and the card that the manifest means lies beside
it as `CARD.md`. So a release that was fetched from the Hub is the same release: it is verified,
compared and rebuilt by its manifest.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Plot
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, disk_errors
from factdrift.builders.core.schema import reading
from factdrift.builders.release import card, manifest
from factdrift.builders.release.card import CHANGES, OWN_CARD, PICTURE
from factdrift.builders.release.changelog import VersionEntry, changelog, changes_text
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.plots import draw_plot
from factdrift.builders.release.version import published_versions

_SHOWN_VERSIONS = 5
"""Versions that the page names; `CHANGELOG.md` has all."""
_FIRST_PICTURE = re.compile(r"^!\[[^\n\]]*\]\(plots/[\w.-]+\)$", re.MULTILINE)
"""A picture of a card: `![Rows a quarter](plots/rows.png)`."""
_FIRST_SECTION = re.compile(r"^## ", re.MULTILINE)
"""The line after the beginning of a card: `## Motivation`."""
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
"""The YAML before a card: `---`, its lines, `---`."""
_LARGEST_GROUP = 300_000_000
"""Bytes of a row group of Parquet, not packed, over which the Hub's viewer shows no rows."""
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"


def write_page(
    release_folder: Path, repo_name: str, endpoint: str, picture: Path | None, page_folder: Path
) -> list[str]:
    """Write the files of a release and its page into a folder; return their paths in it.

    `picture` is a PNG for the top of the page; without it, it is the card's first plot, or one of
    the number of rows. Raises `UserError` if the folder holds something that is no page.
    """
    release_manifest = manifest.load_manifest(release_folder)
    is_own = release_folder.resolve().is_relative_to(page_folder.resolve())
    if is_own or (page_folder.exists() and not (page_folder / OWN_CARD).is_file()):
        error_text = "there is something here that is no page of an earlier run"
        raise UserError(error_text, where=display_path(page_folder), hint="name another --to")
    entries = changelog(release_folder)
    with disk_errors(page_folder):
        if page_folder.exists():
            shutil.rmtree(page_folder)
        with atomic_folder(page_folder) as unfinished_folder:
            for listed_path in [*release_manifest.sha256s(), manifest.FILE]:
                page_path = unfinished_folder / listed_path
                page_path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(manifest.locate_file(release_folder, listed_path), page_path)
            own_card = card_file(release_folder).read_text("utf-8")
            (unfinished_folder / OWN_CARD).write_text(own_card, "utf-8")
            shown_picture = _picture(own_card, release_manifest, picture, unfinished_folder)
            (unfinished_folder / CHANGES).write_text(changes_text(entries), "utf-8")
            page = _page(own_card, shown_picture, release_manifest, repo_name, endpoint, entries)
            (unfinished_folder / card.FILE).write_text(page, "utf-8")
    page_paths = (path for path in page_folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(page_folder).as_posix() for path in page_paths)


def card_file(release_folder: Path) -> Path:
    """Return the card that the manifest means, also where a page took its place."""
    own_card = release_folder / OWN_CARD
    return own_card if own_card.is_file() else release_folder / card.FILE


def newest_release(folder: Path) -> Path:
    """Return a release folder itself, or the newest version in the folder of a dataset."""
    if not (folder / manifest.FILE).exists() and (versions := published_versions(folder)):
        return folder / str(versions[-1])
    return folder


def viewer_problems(release_folder: Path) -> Iterator[str]:
    """Yield a line for each file of which the Hub's viewer would show no rows."""
    for config in manifest.load_manifest(release_folder).configs:
        for split in config.splits:
            with reading(manifest.locate_file(release_folder, split.file)) as parquet_file:
                metadata = parquet_file.metadata
                sizes = [
                    metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)
                ]
            if max(sizes, default=0) > _LARGEST_GROUP:
                yield f"{split.file}: {max(sizes):,} bytes in a row group, too many for the viewer"


# --- Page -----------------------------------------------------------------------------------------


def _picture(
    own_card: str, release_manifest: Manifest, picture: Path | None, page_folder: Path
) -> str:
    """Return the Markdown of the picture at the top, which is put into the folder if need be."""
    if picture is None and (first_picture := _FIRST_PICTURE.search(own_card)):
        return first_picture[0]
    target_path = page_folder / PICTURE
    target_path.parent.mkdir(parents=True, exist_ok=True)
    if picture is not None:
        content = picture.read_bytes()
        if not content.startswith(_PNG_HEAD):
            raise UserError("not a picture in PNG", where=display_path(picture))
        target_path.write_bytes(content)
        return f"![{card.escape_markdown(release_manifest.title)}]({PICTURE})"
    counts = {
        config.name: {split.name: split.rows for split in config.splits}
        for config in release_manifest.configs
    }
    title = "Rows of each config, by split"
    draw_plot(Plot("picture", "periods", title, "", counts), target_path)
    return f"![{title}]({PICTURE})"


def _page(
    own_card: str,
    shown_picture: str,
    release_manifest: Manifest,
    repo_name: str,
    endpoint: str,
    entries: Sequence[VersionEntry],
) -> str:
    """Return the card with a picture after its summary, and sections before its first."""
    front_matter = _FRONT_MATTER.match(own_card)
    body = own_card[front_matter.end() if front_matter else 0 :]
    first_section = _FIRST_SECTION.search(body)
    head_end = first_section.start() if first_section else len(body)
    loading = _loading_lines(release_manifest, repo_name)
    address = f"{endpoint}/datasets/{repo_name}"
    changes = [f"Every version stays at its tag; [all changes]({CHANGES}).", ""]
    for entry in entries[:_SHOWN_VERSIONS]:
        changes.append(f"- [{entry.version}](<{address}/tree/{entry.version}>): {entry.line}")
    sections = [
        *(shown_picture, "## Load it", card.code_block("\n".join(loading), "python")),
        *("## Versions on the Hub", "\n".join(changes)),
    ]
    return "".join(
        (
            front_matter[0] if front_matter else "",
            body[:head_end].rstrip() + "\n\n",
            "\n\n".join(sections) + "\n\n",
            body[head_end:],
        )
    )


def _loading_lines(release_manifest: Manifest, repo_name: str) -> Iterator[str]:
    """Yield the code that loads each config, from the newest version and from this one."""
    yield "from datasets import load_dataset"
    yield ""
    full_configs: list[tuple[str, str]] = []
    for config_entry in release_manifest.configs:
        full_splits = [split.name for split in config_entry.splits if split.rows]
        full_configs += [(config_entry.name, name) for name in full_splits[-1:]]
    for config, split in full_configs:
        yield f'rows = load_dataset("{repo_name}", "{config}", split="{split}")'
    if full_configs:
        config, split = full_configs[0]
        yield ""
        yield "# this very version, whatever comes after it"
        place = f'"{repo_name}", "{config}", split="{split}"'
        yield f'rows = load_dataset({place}, revision="{release_manifest.version}")'
