"""Put a release on the Hugging Face Hub: one commit, and a tag with its version."""

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

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
    made = manifest.load(release)
    endpoint = os.environ.get(ENDPOINT, _HUB).rstrip("/")
    if described:
        document = json.loads((release / croissant.FILE).read_bytes())
        with replacing(described) as unfinished:
            text = json.dumps(croissant.on_hub(document, repo, endpoint), indent=2)
            unfinished.write_text(text + "\n", encoding="utf-8")
        say(f"  {described}: Croissant with the addresses on the Hub")
    files = {entry.path: entry.bytes for entry in made.files}
    files[manifest.FILE] = (release / manifest.FILE).stat().st_size
    if dry_run:
        for path, size in sorted(files.items()):
            say(f"  {path}: {size:,} bytes")
        total = sum(files.values())
        say(f"would push {len(files)} files, {total:,} bytes, to {repo} as {made.version}")
        return
    if not (token := os.environ.get(TOKEN)):
        hint = "a token of the Hub that may write; or look first with --dry-run"
        raise UserError(f"the environment has no {TOKEN}", hint=hint)
    _push(release, made, repo, sorted(files), _Hub(endpoint, token, repo), private, say)


def _check_name(repo: str) -> None:
    """`UserError` unless it is a name as the Hub has them: `me/mine`."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    with suppress(HFValidationError):
        validate_repo_id(repo)
        if "/" in repo:
            return
    raise UserError("not a name of the Hub", where=repo, hint="write it as me/mine")


def _push(
    release: Path,
    made: Manifest,
    repo: str,
    files: list[str],
    hub: "_Hub",
    private: bool,
    say: Callable[[str], None],
) -> None:
    hub.call("create_repo", private=private, exist_ok=True)
    there = set(hub.call("list_repo_files"))
    if manifest.FILE in there:
        other = hub.manifest("main").get("dataset")
        if other != made.dataset:
            text = f"holds another dataset: {other}"
            raise UserError(text, where=repo, hint="name another repository")
    elif there - {".gitattributes", "README.md"}:
        raise UserError("holds something else", where=repo, hint="name another repository")
    tags = {tag.name for tag in hub.call("list_repo_refs").tags}
    if made.version in tags:
        if hub.manifest(made.version) != json.loads((release / manifest.FILE).read_bytes()):
            text = f"has other content under {made.version}"
            raise UserError(text, where=repo, hint="build the release under a later version")
        say(f"{repo} has {made.version} already: nothing pushed")
        return
    message = f"Version {made.version}"  # all in one commit: nobody sees half a release
    more = {"allow_patterns": files, "delete_patterns": "*", "commit_message": message}
    hub.call("upload_folder", folder_path=release, **more)
    hub.call("create_tag", tag=made.version)
    say(f"{len(files)} files in {repo}, tagged {made.version}")


class _Hub:
    """The Hub's interface for one repository; its refusals are for the user to mend."""

    def __init__(self, endpoint: str, token: str, repo: str) -> None:
        from huggingface_hub import HfApi

        self._api = HfApi(endpoint=endpoint, token=token)
        self._repo = repo

    def call(self, name: str, **more: Any) -> Any:
        """A method of `HfApi`. Messages never hold the token: it is in a header of the request."""
        import httpx
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError

        try:
            return getattr(self._api, name)(repo_id=self._repo, repo_type="dataset", **more)
        except (HfHubHTTPError, HFValidationError, httpx.HTTPError, OSError) as error:
            text = " ".join(str(error).split())[:300] or type(error).__name__
            raise UserError(f"the Hub refuses: {text}", where=self._repo) from error

    def manifest(self, revision: str) -> dict[str, Any]:
        """The manifest that the repository has; empty where it is none."""
        with tempfile.TemporaryDirectory() as folder:
            more = {"filename": manifest.FILE, "revision": revision, "local_dir": folder}
            path = Path(self.call("hf_hub_download", **more))
            try:
                found = json.loads(path.read_bytes())
            except ValueError:
                found = {}
        return found if isinstance(found, dict) else {}
