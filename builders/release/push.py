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
from factdrift.builders.release.verify import verify_release

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
ENDPOINT = "HF_ENDPOINT"
_HUB = "https://huggingface.co"


def push(
    release: Path,
    repo: str,
    say: Callable[[str], None],
    *,
    dry_run: bool = False,
    private: bool = False,
    described: Path | None = None,
) -> None:
    """Upload exactly the files of a verified release; what an earlier version had besides, goes.

    `described`: write the Croissant document with the addresses that the files then have, as a
    conference asks for it. The token is read from the environment (`HF_TOKEN`) and from nowhere
    else. `dry_run` asks nobody and sends nothing. `UserError`: a damaged release, no token, a
    repository of something else, other content under this version there, or what the Hub refuses.
    """
    _check_name(repo)
    problems = verify_release(release)
    if problems:
        hint = "factdrift verify says all that is wrong"
        raise UserError(f"not whole: {problems[0]}", where=release, hint=hint)
    manifest_data = manifest.load_manifest(release)
    endpoint = os.environ.get(ENDPOINT, _HUB).rstrip("/")
    if described:
        document = json.loads((release / croissant.FILE).read_bytes())
        with replacing(described) as unfinished:
            manifest.write_json(unfinished, croissant.hub_document(document, repo, endpoint))
        say(f"  {described}: Croissant with the addresses on the Hub")
    files = {entry.path: entry.bytes for entry in manifest_data.files}
    files[manifest.FILE] = (release / manifest.FILE).stat().st_size
    if dry_run:
        for path, size in sorted(files.items()):
            say(f"  {path}: {size:,} bytes")
        total = sum(files.values())
        say(f"would push {len(files)} files, {total:,} bytes, to {repo} as {manifest_data.version}")
        return
    if not (token := os.environ.get(TOKEN)):
        hint = "a token of the Hub that may write; or look first with --dry-run"
        raise UserError(f"the environment has no {TOKEN}", hint=hint)
    with _refusals(repo):
        say(
            _push(
                release, manifest_data, repo, sorted(files), HfApi(endpoint, token), private=private
            )
        )


def _check_name(repo: str) -> None:
    """`UserError` unless it is a name as the Hub has them: `me/mine`."""
    with suppress(HFValidationError):
        validate_repo_id(repo)
        if "/" in repo:
            return
    raise UserError("not a name of the Hub", where=repo, hint="write it as me/mine")


def _push(
    release: Path,
    manifest_data: Manifest,
    repo: str,
    files: list[str],
    hub: HfApi,
    *,
    private: bool,
) -> str:
    """Upload the files, unless this version is there; what was done."""
    hub.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
    there = set(hub.list_repo_files(repo, repo_type="dataset"))
    if manifest.FILE in there:
        other_manifest = _manifest(hub, repo, "main").get("dataset")
        if other_manifest != manifest_data.dataset:
            text = f"holds another dataset: {other_manifest}"
            raise UserError(text, where=repo, hint="name another repository")
    elif there - {".gitattributes", "README.md"}:
        raise UserError("holds something else", where=repo, hint="name another repository")
    tags = {tag.name for tag in hub.list_repo_refs(repo, repo_type="dataset").tags}
    if manifest_data.version in tags:
        if _manifest(hub, repo, manifest_data.version) != json.loads(
            (release / manifest.FILE).read_bytes()
        ):
            text = f"has other content under {manifest_data.version}"
            raise UserError(text, where=repo, hint="build the release under a later version")
        return f"{repo} has {manifest_data.version} already: nothing pushed"
    parts: list[CommitOperationAdd | CommitOperationDelete] = [
        *(CommitOperationAdd(path, release / path) for path in files),
        *(CommitOperationDelete(path) for path in sorted(there - {*files, ".gitattributes"})),
    ]  # all in one commit: nobody sees half a release
    message = f"Version {manifest_data.version}"
    hub.create_commit(repo, parts, commit_message=message, repo_type="dataset")
    hub.create_tag(repo, tag=manifest_data.version, repo_type="dataset")
    return f"{len(files)} files in {repo}, tagged {manifest_data.version}"


def _manifest(hub: HfApi, repo: str, revision: str) -> dict[str, Any]:
    """The manifest that the repository has; empty where it is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = hub.hf_hub_download(
            repo, manifest.FILE, repo_type="dataset", revision=revision, local_dir=folder
        )
        try:
            downloaded = json.loads(Path(path).read_bytes())
        except ValueError:
            downloaded = {}
    return downloaded if isinstance(downloaded, dict) else {}


@contextmanager
def _refusals(repo: str) -> Iterator[None]:
    """What the Hub refuses is for the user to mend; no message holds the token, a header does."""
    try:
        yield
    except (HTTPError, HFValidationError, OSError) as error:
        text = " ".join(str(error).split())[:300] or type(error).__name__
        raise UserError(f"the Hub refuses: {text}", where=repo) from error
