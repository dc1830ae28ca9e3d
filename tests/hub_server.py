"""A local server that speaks as much of the Hugging Face Hub as a push needs."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.file_server import listening

TOKEN = "hf_test"  # noqa: S105 - of this server alone


@dataclass
class Repo:
    """Commits of a dataset repository, each all its files; names of commits."""

    commits: list[dict[str, bytes]] = field(default_factory=lambda: [{".gitattributes": b""}])
    tags: dict[str, int] = field(default_factory=dict)

    def at(self, revision: str) -> dict[str, bytes]:
        return self.commits[self.tags.get(revision, -1)]


@dataclass
class Hub:
    """The repositories of a server, its address, and what it was asked."""

    url: str = ""
    repos: dict[str, Repo] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _send(self, value: Any, status: int = 200, **headers: str) -> None:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            for name, text in headers.items():
                self.send_header(name.replace("_", "-"), text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _answer(self) -> None:
            body = self._body()
            path = self.path.partition("?")[0]
            hub.asked.append(f"{self.command} {path}")
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return self._send({"error": "Invalid username or password."}, 401)
            if path == "/api/repos/create":
                told = json.loads(body)
                name = "/".join(filter(None, (told.get("organization"), told["name"])))
                place = {"url": f"{hub.url}/datasets/{name}", "name": name}
                if name in hub.repos:
                    return self._send({"error": "You already created this", **place}, 409)
                hub.repos[name] = Repo()
                return self._send(place)
            if path == "/api/validate-yaml":
                return self._send({"errors": [], "warnings": []})
            if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                content = hub.repos[found[1]].at(found[2]).get(found[3])
                if content is None:
                    return self._send({"error": "none"}, 404, X_Error_Code="EntryNotFound")
                etag = f'"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}"'
                return self._send(content, ETag=etag, X_Repo_Commit="0" * 40)
            form = r"/api/datasets/([^/]+/[^/]+)(?:/([\w-]+))?(?:/([^/]+))?(/.*)?"
            found = re.fullmatch(form, path)
            if not found or found[1] not in hub.repos:
                return self._send({"error": "none"}, 404, X_Error_Code="RepoNotFound")
            return self._send(_of_repo(hub, found[1], found[2], found[3] or "main", body))

    for method in ("GET", "POST", "HEAD", "DELETE"):
        setattr(Handler, f"do_{method}", Handler._answer)
    return Handler


def _of_repo(hub: Hub, name: str, what: str, revision: str, body: bytes) -> Any:
    """The answer to a request about a repository, which a commit or a tag changes."""
    repo, none = hub.repos[name], "0" * 40
    files = repo.at(revision)
    if what == "refs":
        tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": none} for n in repo.tags]
        return {"branches": [], "converts": [], "tags": tags}
    if what == "preupload":
        ways = {"uploadMode": "regular", "shouldIgnore": False}
        return {"files": [{"path": f["path"], **ways} for f in json.loads(body)["files"]]}
    if what == "commit":
        now = dict(repo.at("main"))
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                now[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                del now[line["value"]["path"]]
        repo.commits.append(now)
        return {"commitUrl": f"{hub.url}/datasets/{name}/commit/{none}", "commitOid": none}
    if what == "tag":
        repo.tags[json.loads(body)["tag"]] = len(repo.commits) - 1
        return {}
    if what == "tree":
        sizes = {n: len(data) for n, data in files.items()}
        return [{"type": "file", "path": n, "size": k, "oid": none} for n, k in sizes.items()]
    listed = [{"rfilename": n} for n in files]
    about = {"tags": [], "private": False, "downloads": 0, "likes": 0}
    return {"id": name, "sha": none, "siblings": listed, **about}


@contextmanager
def serve() -> Iterator[Hub]:
    """A server on a free port, without repositories."""
    hub = Hub()
    with listening(_handler(hub)) as hub.url:
        yield hub
