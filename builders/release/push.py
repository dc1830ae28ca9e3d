"""Put a release on the Hugging Face Hub: one commit, and a tag with its version."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    HFValidationError,
    HTTPError,  # of whichever HTTP library the client has
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.release import croissant, manifest
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.task_code import compare_code
from factdrift.builders.release.verify import verify_release

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
ENDPOINT = "HF_ENDPOINT"
_HUB = "https://huggingface.co"


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
    _check_name(repo_name)
    release_problems = verify_release(release_folder)
    if release_problems:
        hint_text = "factdrift verify says all that is wrong"
        raise UserError(f"not whole: {release_problems[0]}", where=release_folder, hint=hint_text)
    if not own_code and (code_sentences := compare_code(release_folder).sentences()):
        hint_text = "if you have read it and mean to publish it: --own-code"
        raise UserError(code_sentences[0], where=release_folder, hint=hint_text)
    manifest_data = manifest.load_manifest(release_folder)
    endpoint = os.environ.get(ENDPOINT, _HUB).rstrip("/")
    if croissant_file:
        hub_croissant = json.loads((release_folder / croissant.FILE).read_bytes())
        with replacing(croissant_file) as unfinished_files:
            manifest.write_json(
                unfinished_files, croissant.hub_document(hub_croissant, repo_name, endpoint)
            )
        say(f"  {croissant_file}: Croissant with the addresses on the Hub")
    file_entries = {entry.path: entry.bytes for entry in manifest_data.files}
    file_entries[manifest.FILE] = (release_folder / manifest.FILE).stat().st_size
    if dry_run:
        for file_path, byte_count in sorted(file_entries.items()):
            say(f"  {file_path}: {byte_count:,} bytes")
        total_bytes = sum(file_entries.values())
        say(
            f"would push {len(file_entries)} files, {total_bytes:,} bytes, "
            f"to {repo_name} as {manifest_data.version}"
        )
        return
    if not (hub_token := os.environ.get(TOKEN)):
        hint_text = "a token of the Hub that may write; or look first with --dry-run"
        raise UserError(f"the environment has no {TOKEN}", hint=hint_text)
    with _refusals(repo_name):
        say(
            _push(
                release_folder,
                manifest_data,
                repo_name,
                sorted(file_entries),
                HfApi(endpoint, hub_token),
                private=private,
            )
        )


def _check_name(repo_name: str) -> None:
    """`UserError` unless it is a name as the Hub has them: `me/mine`."""
    with suppress(HFValidationError):
        validate_repo_id(repo_name)
        if "/" in repo_name:
            return
    raise UserError("not a name of the Hub", where=repo_name, hint="write it as me/mine")


def _push(
    release_folder: Path,
    manifest_data: Manifest,
    repo_name: str,
    file_entries: list[str],
    hub_client: HfApi,
    *,
    private: bool,
) -> str:
    """Upload the files, unless this version is there; what was done."""
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
    commit_parts: list[CommitOperationAdd | CommitOperationDelete] = [
        *(CommitOperationAdd(file_path, release_folder / file_path) for file_path in file_entries),
        *(
            CommitOperationDelete(file_path)
            for file_path in sorted(published_files - {*file_entries, ".gitattributes"})
        ),
    ]  # all in one commit: nobody sees half a release
    commit_message = f"Version {manifest_data.version}"
    hub_client.create_commit(
        repo_name, commit_parts, commit_message=commit_message, repo_type="dataset"
    )
    hub_client.create_tag(repo_name, tag=manifest_data.version, repo_type="dataset")
    return f"{len(file_entries)} files in {repo_name}, tagged {manifest_data.version}"


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
