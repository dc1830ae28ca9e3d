"""A local server that plays the documented API of the Hugging Face Hub, for one repository."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.file_server import QuietHandler, serve_requests

TOKEN = "hf_test"  # noqa: S105 - of this server alone


@dataclass
class HubRepository:
    """The commits of one dataset repository, each all its files, and the number of each tag."""

    name: str = "me/mine"
    url: str = ""
    commits: list[dict[str, bytes]] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    visibility: str | None = None
    asked: list[str] = field(default_factory=list)

    def number(self, revision: str) -> int:
        """The number of the commit that a branch, a tag or an id names."""
        last_commit = len(self.commits) - 1
        named = {"main": last_commit, **self.tags}
        return named[revision] if revision in named else int(revision, 16)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """Status and JSON of an answer; bytes for a file."""
        _, _, action = path.partition(f"/api/datasets/{self.name}")
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        if not self.commits:
            return 404, {"error": "Repository not found"}
        if file_match := re.fullmatch(rf"/datasets/{self.name}/resolve/([^/]+)/(.+)", path):
            return self._file(*file_match.groups())
        if action == "/refs":
            tags = [
                {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": f"{number:040x}"}
                for tag, number in self.tags.items()
            ]
            return 200, {"branches": [], "converts": [], "tags": tags}
        verb, _, revision = action.strip("/").partition("/")
        return self._about(verb, unquote(revision), method, body)

    def _create(self, order: Any) -> tuple[int, Any]:
        assert order["type"] == "dataset"
        url = f"{self.url}/datasets/{self.name}"
        if self.commits:
            return 409, {"error": "You already created this dataset repo", "url": url}
        self.commits, self.visibility = [{".gitattributes": b""}], order.get("visibility")
        return 200, {"url": url}

    def _file(self, revision: str, path: str) -> tuple[int, Any]:
        files = self.commits[self.number(revision)]
        return (200, files[path]) if path in files else (404, {"error": "Entry not found"})

    def _about(self, verb: str, revision: str, method: str, body: bytes) -> tuple[int, Any]:
        files = self.commits[self.number(revision)]
        if verb == "tree":
            return 200, [
                {"type": "file", "path": path, "size": len(data), "oid": _oid(data)}
                for path, data in files.items()
            ]
        if verb == "revision":
            siblings = [{"rfilename": path} for path in files]
            commit_id = f"{self.number(revision):040x}"
            return 200, {"id": self.name, "sha": commit_id, "siblings": siblings}
        assert method == "POST", verb
        if verb == "preupload":
            return 200, {
                "files": [
                    {"path": entry["path"], "uploadMode": "regular", "shouldIgnore": False}
                    for entry in json.loads(body)["files"]
                ]
            }
        if verb == "tag":
            self.tags[json.loads(body)["tag"]] = self.number(revision)
            return 200, {}
        assert verb == "commit", verb
        return self._commit(files, [json.loads(line) for line in body.splitlines()])

    def _commit(self, files: dict[str, bytes], operations: list[Any]) -> tuple[int, Any]:
        changed_files = dict(files)
        for operation in operations:
            values = operation["value"]
            if operation["key"] == "file":
                changed_files[values["path"]] = base64.b64decode(values["content"])
            elif operation["key"] == "deletedFile":
                del changed_files[values["path"]]
        self.commits.append(changed_files)
        commit_id = f"{len(self.commits) - 1:040x}"
        url = f"{self.url}/datasets/{self.name}/commit/{commit_id}"
        return 200, {"success": True, "commitOid": commit_id, "commitUrl": url, "hookOutput": ""}


def _oid(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _handler(repository: HubRepository) -> type[QuietHandler]:
    class HubHandler(QuietHandler, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(b"")

        def do_HEAD(self) -> None:
            self.reply(b"")

        def post(self, body: bytes) -> None:
            self.reply(body)

        def reply(self, body: bytes) -> None:
            path = unquote(urlsplit(self.path).path)
            repository.asked.append(f"{self.command} {path}")
            writes = self.command == "POST"
            if writes and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                status, answer = 401, {"error": "Invalid username or password."}
            else:
                status, answer = repository.answer(self.command, path, body)
            is_file = isinstance(answer, bytes)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            headers = {
                "Content-Type": "application/octet-stream" if is_file else "application/json"
            }
            if is_file:
                commit_id = f"{repository.number(path.split('/')[5]):040x}"
                headers |= {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": commit_id}
                headers["Content-Length"] = str(len(data))
            self.send(status, b"" if self.command == "HEAD" else data, headers)

    return HubHandler


@contextmanager
def serve_hub() -> Iterator[HubRepository]:
    """A Hub on this machine without a repository yet."""
    repository = HubRepository()
    with serve_requests(_handler(repository)) as repository.url:
        yield repository
