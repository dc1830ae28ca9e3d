"""Inputs that lie elsewhere: `https://…`, `s3://…`, `gs://…` and whatever else fsspec knows.

A release is known by the sha256 of its inputs, before anything is read of them; processes read a
file at several places, and Parquet and bz2 are read from their end or in the middle. So each file
is fetched once, as a stream, into the build folder, and then is a local one. What is there is
taken up while the server says that it has not changed, and a fetch that was stopped goes on where
it was.

`http` and `https` need no further package; others need fsspec's package for them, and take their
keys from where that package does (`AWS_PROFILE`, `~/.aws`, …). Users, passwords and all that
stands behind `?` in an address are never shown, written or hashed: they may be keys.

fsspec opens what is not http. Its caches (`filecache::`, `simplecache::`) and pooch are not used:
they begin an interrupted file anew, and pooch repeats after any failure, whatever `Retry-After`
asks for.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

import requests

from factdrift.builders.core.addresses import BUCKET_SCHEMES, WEB_SCHEMES, parse_address
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked, sync
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.http import (
    RETRY_STATUSES,
    RetryError,
    RetryPolicy,
    Sessions,
    answered,
    pieces,
    retry,
    retry_after,
)
from factdrift.builders.core.inputs import is_remote, without_credentials
from factdrift.builders.core.progress import progress

__outside_step_keys__ = True

T = TypeVar("T")

POLICY = RetryPolicy(timeout=15.0, longest_wait=120.0, give_up=45.0, least_bytes=1 << 14)
"""A server that sends nothing is given up within a minute; what it sends begins the count anew."""
INPUT_SCHEMES = (*WEB_SCHEMES, *BUCKET_SCHEMES)
"""What inputs may be named by, beside paths."""
_PATTERN = re.compile(r"[*\[]")
_PIECE = 1 << 20
_VERSION_FIELDS = frozenset(
    "etag lastmodified last_modified mtime modified updated generation".split()
)
"""What servers say by which a file is known to have changed, as fsspec's packages call it."""
_CHANGED = "it changed while it was read"
_ANEW = "run it again: the new file is fetched"


class _Head(NamedTuple):
    """How large a file is, and a fingerprint that stays while it does not change; None: unknown."""

    size: int | None
    version: str | None


def local(
    given: Sequence[str],
    folder: Path,
    taken: Callable[[str], bool],
    *,
    say: Callable[[str], None],
    deep: bool = False,
    policy: RetryPolicy = POLICY,
) -> list[str]:
    """The given paths, with the local ones of what is named by addresses, fetched into `folder`.

    An address names a file or, in a bucket, a pattern (`*`, `[…]` in its last part) or, with `/`
    at its end, a folder, of which the files whose name is `taken` are fetched, with `deep` those
    of its folders, too. `UserError`: no such file, refused, no package for it, no room, or still
    nothing when the policy ends.
    """
    local_paths: dict[str, str] = {}
    for text in given:
        clean = without_credentials(text)
        if not is_remote(text) or text.lower().startswith("file://"):
            path = unquote(text[len("file://") :]) if is_remote(text) else text
            local_paths[path] = text
            continue
        address_parts = parse_address(text, INPUT_SCHEMES)
        if clean.count("/") < 3:
            raise UserError("no file is named", where=clean)

        def again(call: Callable[[], T], where: str = clean) -> T:
            hint = "run it again later: what was fetched is kept"
            return retry(lambda _: call(), policy, where=where, hint=hint, report=say)

        base, name = clean[: clean.rindex("/") + 1], clean[clean.rindex("/") + 1 :]
        files: _Web | _Fsspec
        if address_parts.scheme in WEB_SCHEMES:
            if not name or _PATTERN.search(name):
                hint = "give the address of each file"
                raise UserError("web servers do not list their folders", where=clean, hint=hint)
            files, named = _Web(policy), {unquote(name): text}
        else:
            files = again(partial(_Fsspec, text))
            named = again(partial(files.named, text, taken, deep))
        for name, address in named.items():
            copy = folder / digest(base) / _safe(name)
            with locked(copy.parent):
                _fetch(files, again, policy.least_bytes, address, copy, say)
            if local_paths.setdefault(str(copy), address) != address:
                message = "two addresses that differ only in what is not shown"
                raise UserError(message, where=clean, hint="give their files other names")
    return list(local_paths)


def _safe(name: str) -> str:
    """A name as a file of ours; `UserError` where it leads elsewhere."""
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in name.split("/")):
        raise UserError(f"a name that cannot be kept: {name!r}")
    return name


def _fetch(
    files: "_Web | _Fsspec",
    again: Callable[[Callable[[], Any]], Any],
    least: int,
    address: str,
    path: Path,
    say: Callable[[str], None],
) -> None:
    """One file, whole, at `path`; a file that is there and has not changed is left alone."""
    where = without_credentials(address)
    part, note = path.with_name(f".{path.name}.part"), path.with_name(f".{path.name}.json")
    head = again(lambda: files.look(address))
    known = _known(note) if head.version else None
    if known == head.version is not None and _size(path) == head.size:
        return

    def stretch() -> bool:
        """Read on; whether the file is whole. False: it broke off, but went far enough."""
        start = _size(part) if head.version else 0
        try:
            if not start or start != head.size:
                with part.open("ab" if start else "wb") as file:
                    for piece in files.read(address, start, head):
                        file.write(piece)
                        bar.advance(len(piece))
            if head.size is not None and _size(part) < head.size:
                raise RetryError("an answer that breaks off")
        except RetryError:
            if head.version and _size(part) - start >= least:
                return False
            raise
        if head.size is not None and _size(part) > head.size:
            part.unlink()
            raise RetryError("more bytes than the file has")
        return True

    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if known != head.version or head.version is None:
            part.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        note.write_text(json.dumps({"version": head.version}), "utf-8")
        free = shutil.disk_usage(path.parent).free + _size(part)
        if (head.size or 0) > free:
            text = f"no room for {(head.size or 0) / 1e9:.1f} GB: {free / 1e9:.1f} GB are free"
            raise UserError(
                text, where=display_path(path.parent), hint="--build names another folder"
            )
        say(f"  {where} is fetched to {display_path(path)}")
        with progress(head.size, "B", f"fetch {path.name}") as bar:
            bar.advance(_size(part))
            while not again(stretch):
                pass
        sync(part)
        part.replace(path)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _known(note: Path) -> str | None:
    try:
        return str(json.loads(note.read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Web:
    """Files of a web server, with requests."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy, self._sessions = policy, Sessions()

    def look(self, address: str) -> _Head:
        with self._get(address) as response:
            return _head(response)

    def read(self, address: str, start: int, head: _Head) -> Iterator[bytes]:
        with self._get(address, {"Range": f"bytes={start}-"} if start else {}) as response:
            is_part = response.status_code == 206
            content_range = response.headers.get("Content-Range", "")
            if is_part and not content_range.startswith(f"bytes {start}-"):
                raise RetryError("another part of the file than asked for")
            now = _head(response)
            whole = now.size is not None and now.size + (start if is_part else 0)
            if now.version != head.version or whole not in (False, head.size):
                raise UserError(_CHANGED, where=without_credentials(address), hint=_ANEW)
            known = 0 if is_part else start  # bytes that come again
            seconds, least = self._policy.timeout, self._policy.least_bytes
            for piece in pieces(response, seconds, least, unpacked=False):
                yield piece[known:]
                known = max(known - len(piece), 0)

    @contextmanager
    def _get(self, address: str, more: dict[str, str] | None = None) -> Iterator[requests.Response]:
        where, headers = (
            without_credentials(address),
            {"Accept-Encoding": "identity", **(more or {})},
        )
        seconds = self._policy.timeout
        with answered(self._sessions, "GET", address, seconds, headers=headers) as response:
            status = response.status_code
            if status in RETRY_STATUSES:
                raise RetryError(f"HTTP {status}", "", retry_after(response.headers))
            if status in (401, 403):
                hint = "is its key or signature still good? sign it anew, or give user:password@"
                raise UserError(f"the server refuses it (HTTP {status})", where=where, hint=hint)
            if status in (404, 410):
                raise UserError(f"no such file (HTTP {status})", where=where)
            if status not in (200, 206):
                raise UserError(f"the server answers HTTP {status}", where=where)
            yield response


def _head(response: requests.Response) -> _Head:
    length = response.headers.get("Content-Length", "")
    version = response.headers.get("ETag") or response.headers.get("Last-Modified")
    return _Head(int(length) if length.isdigit() else None, version and digest(version))


class _Fsspec:
    """Files that fsspec reads with the package for their protocol."""

    def __init__(self, given: str) -> None:
        protocol = given.partition("://")[0].lower()
        where = without_credentials(given)
        try:
            with _errors(where):
                import fsspec

                self._files, _ = fsspec.core.url_to_fs(given)
        except ImportError as error:
            text = f"a package is needed to read {protocol}:// (pip install 'factdrift[remote]')"
            raise UserError(text, where=where, hint=str(error)) from None
        except ValueError:
            hint = "https, s3, gs, az and what else fsspec knows are read"
            raise UserError(f"{protocol}:// is not known", where=where, hint=hint) from None

    def named(self, given: str, taken: Callable[[str], bool], deep: bool) -> dict[str, str]:
        """The addresses of the files that are named, by name."""
        base, pattern = given[: given.rindex("/") + 1], given[given.rindex("/") + 1 :]
        if pattern and not _PATTERN.search(pattern):
            return {pattern: given}
        with _errors(without_credentials(base)):
            root = self._files._strip_protocol(base).rstrip("/") + "/"
            self._files.invalidate_cache()
            file_names = self._files.find(root.rstrip("/"), maxdepth=None if deep else 1)
        names = [name[len(root) :] for name in sorted(file_names) if name.startswith(root)]
        if pattern:
            chosen = [name for name in names if fnmatchcase(name, pattern)]
        else:
            chosen = [name for name in names if taken(name.rpartition("/")[2])]
        if not chosen:
            what = "of this pattern" if pattern else "of this kind in this folder"
            raise UserError(f"no file {what}", where=without_credentials(given))
        return {name: base + name for name in chosen}

    def look(self, address: str) -> _Head:
        with _errors(without_credentials(address)):
            self._files.invalidate_cache()
            info = {name.lower(): value for name, value in self._files.info(address).items()}
        if info.get("type") == "directory":
            hint = "write / at its end"
            raise UserError("this is a folder", where=without_credentials(address), hint=hint)
        version = {k: str(info[k]) for k in _VERSION_FIELDS if info.get(k) is not None}
        return _Head(info.get("size"), digest(version) if version else None)

    def read(self, address: str, start: int, head: _Head) -> Iterator[bytes]:
        where = without_credentials(address)
        if self.look(address) != head:
            raise UserError(_CHANGED, where=where, hint=_ANEW)
        with _errors(where):
            file: Any = self._files.open(address, "rb", block_size=8 * _PIECE)
        with file:
            while True:
                with _errors(where):
                    file.seek(start)
                    piece = file.read(_PIECE)
                if not piece:
                    return
                yield piece
                start += len(piece)


@contextmanager
def _errors(where: str) -> Iterator[None]:
    """What fsspec's packages raise, in our errors; their texts may hold keys and are left out."""
    try:
        yield
    except FileNotFoundError:
        raise UserError("no such file", where=where) from None
    except PermissionError:
        hint = "are your keys for it there, and still good?"
        raise UserError("the server refuses it", where=where, hint=hint) from None
    except (ImportError, ValueError, UserError):
        raise
    except Exception as error:
        if "Credential" in type(error).__name__:
            hint = "its package looks for them in the environment and in your home folder"
            raise UserError("there are no keys for it", where=where, hint=hint) from None
        if isinstance(error, OSError | EOFError) or type(error).__module__ != "builtins":
            raise RetryError(f"out of reach ({type(error).__name__})") from None
        raise
