"""Put a release on the Hugging Face Hub: one commit, and a tag with its version.

`push` uploads exactly the files of a release. `publish` adds the page that readers of the Hub look
for. They are two commands, because a push promises the release to the byte.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    HFValidationError,
    HTTPError,  # of whichever HTTP library the client has
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.release import card, croissant, manifest
from factdrift.builders.release.hub_page import newest_release, viewer_problems, write_page
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.task_code import compare_code
from factdrift.builders.release.verify import verify_release
from factdrift.builders.release.version import Version

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
ENDPOINT = "HF_ENDPOINT"
_HUB = "https://huggingface.co"
PAGES = Path("published")
"""The folder of releases with their pages, where none is named."""


def push(
    release_folder: Path,
    repo_name: str,
    say: Callable[[str], None],
    *,
    dry_run: bool = False,
    private: bool = False,
    own_code: bool = False,
    croissant_file: Path | None = None,
) -> None:
    """Upload exactly the files of a verified release; files that it does not have are deleted.

    `croissant_file`: where to write the Croissant document with the addresses that the files have
    on the Hub, as conferences ask for it. The token is read from the environment (`HF_TOKEN`) and
    from nowhere else. `dry_run` asks nobody and sends nothing. `UserError`: a damaged release, no
    token, a repository of something else, other content under this version, a refusal of the Hub.
    So is, unless `own_code` is set, code that is not this project's or cannot be compared: whoever
    runs the release's tasks in a harness would run it.
    """
    manifest_data = _checked_release(release_folder, repo_name, own_code)
    if (release_folder / card.OWN_CARD).is_file():
        hint_text = "factdrift publish makes it anew, and uploads it"
        raise UserError("this is a page of the Hub", where=release_folder, hint=hint_text)
    if croissant_file:
        hub_croissant = json.loads((release_folder / croissant.FILE).read_bytes())
        with replacing(croissant_file) as unfinished_files:
            manifest.write_json(
                unfinished_files, croissant.hub_document(hub_croissant, repo_name, hub_address())
            )
        say(f"  {croissant_file}: Croissant with the addresses on the Hub")
    file_paths = sorted((*manifest_data.sha256s(), manifest.FILE))
    if dry_run:
        _say_files(release_folder, file_paths, repo_name, manifest_data, say)
        return
    uploading = _Uploading(release_folder, manifest_data, repo_name, file_paths, private)
    _send(uploading, say)


def publish(
    named_folder: Path,
    repo_name: str,
    page_folder: Path | None,
    say: Callable[[str], None],
    *,
    picture: Path | None = None,
    dry_run: bool = False,
    private: bool = False,
    own_code: bool = False,
) -> Path:
    """Write a release with its page for the Hub, and upload them; return the folder of the page.

    `named_folder` is a release, or the folder of a dataset, of which the newest version is taken.
    `dry_run` writes the folder, says what would happen, and asks nobody. Otherwise as `push`; a
    version that is older than one that the Hub has is refused, for it would take its place.
    """
    release_folder = newest_release(named_folder)
    manifest_data = _checked_release(release_folder, repo_name, own_code)
    for problem in viewer_problems(release_folder):
        say(f"  {problem}")
    if page_folder is None:
        page_folder = PAGES / f"{manifest_data.dataset}-{manifest_data.version}"
    file_paths = write_page(release_folder, repo_name, hub_address(), picture, page_folder)
    say(f"  {display_path(page_folder)}: {manifest_data.version} with its page")
    if dry_run:
        _say_files(page_folder, file_paths, repo_name, manifest_data, say)
        say(
            f"would make {repo_name} if there is none, delete what it has beside these files, and "
            f"tag them {manifest_data.version}; versions before stay at their tags"
        )
    else:
        uploading = _Uploading(page_folder, manifest_data, repo_name, file_paths, private, True)
        _send(uploading, say)
        say(f"  {hub_address()}/datasets/{repo_name}")
    return page_folder


class _Uploading(NamedTuple):
    """What is uploaded to where; `newest_only`: not where the Hub has a later version."""

    folder: Path
    manifest: Manifest
    repo_name: str
    file_paths: list[str]
    private: bool
    newest_only: bool = False


def hub_address() -> str:
    """Return the address of the Hub, without `/` at its end."""
    return os.environ.get(ENDPOINT, _HUB).rstrip("/")


def _checked_release(release_folder: Path, repo_name: str, own_code: bool) -> Manifest:
    """Return the manifest of a release that may be uploaded under this name, else `UserError`."""
    _check_name(repo_name)
    release_problems = verify_release(release_folder)
    if release_problems:
        hint_text = "factdrift verify says all that is wrong"
        raise UserError(f"not whole: {release_problems[0]}", where=release_folder, hint=hint_text)
    if not own_code and (code_sentences := compare_code(release_folder).sentences()):
        hint_text = "if you have read it and mean to publish it: --own-code"
        raise UserError(code_sentences[0], where=release_folder, hint=hint_text)
    return manifest.load_manifest(release_folder)


def _say_files(
    folder: Path,
    file_paths: Sequence[str],
    repo_name: str,
    manifest_data: Manifest,
    say: Callable[[str], None],
) -> None:
    """Say which files an upload would have, and how large they are."""
    sizes = {file_path: (folder / file_path).stat().st_size for file_path in file_paths}
    for file_path, byte_count in sizes.items():
        say(f"  {file_path}: {byte_count:,} bytes")
    say(
        f"would push {len(sizes)} files, {sum(sizes.values()):,} bytes, "
        f"to {repo_name} as {manifest_data.version}"
    )


def _send(uploading: _Uploading, say: Callable[[str], None]) -> None:
    """Upload with the token of the environment, and say what was done."""
    if not (hub_token := os.environ.get(TOKEN)):
        hint_text = "a token of the Hub that may write; or look first with --dry-run"
        raise UserError(f"the environment has no {TOKEN}", hint=hint_text)
    with _refusals(uploading.repo_name):
        say(_upload(uploading, HfApi(hub_address(), hub_token)))


def _check_name(repo_name: str) -> None:
    """`UserError` unless it is a name as the Hub has them: `me/mine`."""
    with suppress(HFValidationError):
        validate_repo_id(repo_name)
        if "/" in repo_name:
            return
    raise UserError("not a name of the Hub", where=repo_name, hint="write it as me/mine")


def _upload(uploading: _Uploading, hub_client: HfApi) -> str:
    """Upload the files, unless this version is there; what was done."""
    release_folder, manifest_data, repo_name, file_paths, private, newest_only = uploading
    hub_client.create_repo(repo_name, repo_type="dataset", private=private, exist_ok=True)
    published_files = set(hub_client.list_repo_files(repo_name, repo_type="dataset"))
    if manifest.FILE in published_files:
        other_manifest = _manifest(hub_client, repo_name, "main").get("dataset")
        if other_manifest != manifest_data.dataset:
            error_text = f"holds another dataset: {other_manifest}"
            raise UserError(error_text, where=repo_name, hint="name another repository")
    elif published_files - {".gitattributes", "README.md"}:
        raise UserError("holds something else", where=repo_name, hint="name another repository")
    version_tags = {
        version_tag.name
        for version_tag in hub_client.list_repo_refs(repo_name, repo_type="dataset").tags
    }
    if manifest_data.version in version_tags:
        if _manifest(hub_client, repo_name, manifest_data.version) != json.loads(
            (release_folder / manifest.FILE).read_bytes()
        ):
            error_text = f"has other content under {manifest_data.version}"
            raise UserError(
                error_text, where=repo_name, hint="build the release under a later version"
            )
        return f"{repo_name} has {manifest_data.version} already: nothing pushed"
    later_versions = [name for name in version_tags if _is_later(name, manifest_data.version)]
    if newest_only and later_versions:
        error_text = f"has {later_versions[0]}, which is later than {manifest_data.version}"
        hint_text = "what is published now would take its place"
        raise UserError(error_text, where=repo_name, hint=hint_text)
    commit_parts: list[CommitOperationAdd | CommitOperationDelete] = [
        *(CommitOperationAdd(file_path, release_folder / file_path) for file_path in file_paths),
        *(
            CommitOperationDelete(file_path)
            for file_path in sorted(published_files - {*file_paths, ".gitattributes"})
        ),
    ]  # all in one commit: nobody sees half a release
    commit_message = f"Version {manifest_data.version}"
    hub_client.create_commit(
        repo_name, commit_parts, commit_message=commit_message, repo_type="dataset"
    )
    hub_client.create_tag(repo_name, tag=manifest_data.version, repo_type="dataset")
    return f"{len(file_paths)} files in {repo_name}, tagged {manifest_data.version}"


def _is_later(tag_name: str, version: str) -> bool:
    """Whether a tag is that of a later version; other tags are not."""
    try:
        return Version.parse(tag_name) > Version.parse(version)
    except UserError:
        return False


def _manifest(hub_client: HfApi, repo_name: str, revision: str) -> dict[str, Any]:
    """The manifest that the repository has; empty where it is none."""
    with tempfile.TemporaryDirectory() as folder:
        file_path = hub_client.hf_hub_download(
            repo_name, manifest.FILE, repo_type="dataset", revision=revision, local_dir=folder
        )
        try:
            downloaded_file = json.loads(Path(file_path).read_bytes())
        except ValueError:
            downloaded_file = {}
    return downloaded_file if isinstance(downloaded_file, dict) else {}


@contextmanager
def _refusals(repo_name: str) -> Iterator[None]:
    """Turn refusals of the Hub into `UserError`, as the user can mend them.

    Their messages cannot hold the token, which is sent in a header only.
    """
    try:
        yield
    except (HTTPError, HFValidationError, OSError) as error:
        text = " ".join(str(error).split())[:300] or type(error).__name__
        raise UserError(f"the Hub refuses: {text}", where=repo_name) from error
