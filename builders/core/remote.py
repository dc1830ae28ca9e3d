"""Inputs that lie elsewhere: `https://…`, `s3://…`, `gs://…` and whatever else fsspec knows.

A release is known by the sha256 of its inputs, before anything is read of them; processes read a
file at several places, and Parquet and bz2 are read from their end or in the middle. So each file
is fetched once, as a stream, into the build folder, and then is a local one. What is there is
taken up while the server says that it has not changed, and a fetch that was stopped goes on where
it was.

`http` and `https` need no further package; others need fsspec's package for them, and take their
keys from where that package does (`AWS_PROFILE`, `~/.aws`, …). Users, passwords and all that
stands behind `?` in an address are never shown, written or hashed: they may be keys.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

import requests
from urllib3.exceptions import HTTPError

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked, sync
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.http import (
    RETRY_STATUSES,
    RetryError,
    RetryPolicy,
    retry,
    retry_after,
    within,
)
from factdrift.builders.core.inputs import is_remote, plain
from factdrift.builders.core.progress import progress

T = TypeVar("T")

POLICY = RetryPolicy(timeout=15.0, longest_wait=120.0, give_up=45.0, least_bytes=1 << 14)
"""A server that sends nothing is given up within a minute; what it sends begins the count anew."""
_PATTERN = re.compile(r"[*\[]")
_PIECE = 1 << 20
_LISTING = 16 << 20
"""Bytes of a page of links that are read."""
_VERSION_FIELDS = frozenset(
    "etag lastmodified last_modified mtime modified updated generation".split()
)
"""What servers say by which a file is known to have changed, as fsspec's packages call it."""


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

    An address names a file, a pattern (`*`, `[…]` in its last part) or, with `/` at its end, a
    folder, of which the files whose name is `taken` are fetched, with `deep` those of its folders,
    too. `UserError`: no such file, refused, no package for it, no room, or still nothing when
    the policy ends.
    """
    found: list[str] = []
    seen: dict[Path, str] = {}
    for text in given:
        if not is_remote(text):
            found.append(text)
        elif text.lower().startswith("file://"):
            found.append(unquote(text[len("file://") :]))
        else:
            for address, path in _fetch_named(text, folder, taken, deep, policy, say):
                if seen.setdefault(path, address) != address:
                    message = "two addresses that differ only in what is not shown"
                    hint = "give their files other names"
                    raise UserError(message, where=plain(text), hint=hint)
                found.append(str(path))
    return found


def _fetch_named(
    given: str,
    folder: Path,
    taken: Callable[[str], bool],
    deep: bool,
    policy: RetryPolicy,
    say: Callable[[str], None],
) -> Iterator[tuple[str, Path]]:
    """The address and the local copy of each file that is named."""

    def again(call: Callable[[int], T]) -> T:
        return retry(call, policy, where=plain(given), hint=_LATER, report=say)

    is_web = given.lower().startswith(("http://", "https://"))
    files: _Files = _Web(given, policy) if is_web else again(lambda _: _Fsspec(given))
    for address, path in again(lambda _: [*_named(given, files, folder, taken, deep)]):
        with locked(path.parent):
            _fetch(files, again, policy.least_bytes, address, path, say)
        yield address, path


def _named(
    given: str, files: "_Files", folder: Path, taken: Callable[[str], bool], deep: bool
) -> Iterator[tuple[str, Path]]:
    """The addresses of the files that are named, and where each belongs."""
    clean = plain(given)
    if clean.count("/") < 3:
        raise UserError("no file is named", where=clean)
    base, pattern = clean[: clean.rindex("/") + 1], clean[clean.rindex("/") + 1 :]
    below = folder / digest(base)
    if pattern and not _PATTERN.search(pattern):
        yield given, below / _safe(unquote(pattern) if isinstance(files, _Web) else pattern)
        return
    names = files.names(base, deep)
    chosen = [
        name
        for name in sorted(names)
        if (fnmatchcase(name, pattern) if pattern else taken(name.rpartition("/")[2]))
    ]
    if not chosen:
        what = "of this pattern" if pattern else "of this kind in this folder"
        raise UserError(f"no file {what}", where=clean)
    for name in chosen:
        yield files.address(name), below / name


def _safe(name: str) -> str:
    """A name as a file of ours; `UserError` where it leads elsewhere."""
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in name.split("/")):
        raise UserError(f"a name that cannot be kept: {name!r}")
    return name


class _Head(NamedTuple):
    """How large a file is, and a fingerprint that stays while it does not change; None: unknown."""

    size: int | None
    version: str | None


_Try = Callable[[Callable[[int], T]], T]
_LATER = "run it again later: what was fetched is kept"


def _fetch(
    files: "_Files",
    again: _Try[Any],
    least: int,
    address: str,
    path: Path,
    say: Callable[[str], None],
) -> None:
    """One file, whole, at `path`; a file that is there and has not changed is left alone."""
    where = plain(address)
    part, note = path.with_name(f".{path.name}.part"), path.with_name(f".{path.name}.json")
    head = again(lambda _: files.look(address))
    known = _known(note) if head.version else None
    if known == head.version is not None and path.is_file() and path.stat().st_size == head.size:
        return
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if known != head.version or head.version is None:
            part.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        note.write_text(json.dumps({"version": head.version}), "utf-8")
        _check_room(path.parent, head.size, part)
    say(f"  {where} is fetched to {shown(path)}")
    reached = 0
    with progress(head.size, "B", f"fetch {path.name}") as bar:

        def stretch(_: int) -> bool:
            """Read on; whether the file is whole. False: it broke off, but went far enough."""
            nonlocal reached
            start = part.stat().st_size if part.is_file() and head.version else 0
            before = max(reached, start)
            if start and start == head.size:
                return True
            try:
                with part.open("r+b" if start else "wb") as file:
                    end = -1
                    for at, piece in files.read(address, start, head):
                        if at != end:  # the first piece
                            file.seek(at)
                            file.truncate()
                        file.write(piece)
                        end = at + len(piece)
                        bar.advance(max(end - reached, 0))
                        reached = max(end, reached)
                if head.size is not None and part.stat().st_size < head.size:
                    raise RetryError("an answer that breaks off")
            except RetryError:
                if reached - before >= least:
                    return False
                raise
            if head.size is not None and part.stat().st_size > head.size:
                part.unlink()
                raise RetryError("more bytes than the file has")
            return True

        with disk_errors(path):
            while not again(stretch):
                pass
            sync(part)
            part.replace(path)


def _known(note: Path) -> str | None:
    try:
        version = json.loads(note.read_text("utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


def _check_room(folder: Path, size: int | None, part: Path) -> None:
    free = shutil.disk_usage(folder).free + (part.stat().st_size if part.is_file() else 0)
    if size is not None and size > free:
        text = f"no room for {size / 1e9:.1f} GB: {free / 1e9:.1f} GB are free"
        raise UserError(text, where=shown(folder), hint="--build names another folder")


class _Web:
    """Files of a web server, with requests; a folder is a page of links."""

    def __init__(self, given: str, policy: RetryPolicy) -> None:
        self._given, self._policy = urlsplit(given), policy
        self._session = requests.Session()

    def address(self, name: str) -> str:
        base = self._given.path[: self._given.path.rindex("/") + 1]
        return urlunsplit(self._given._replace(path=base + quote(name)))

    def names(self, base: str, deep: bool) -> list[str]:
        if deep:
            text = "folders of folders are not listed by web servers"
            raise UserError(text, where=base, hint="give the address of each file")
        with self._get(self.address(""), {}) as response:
            page = bytearray()
            for piece in self._pieces(response, unpacked=True):
                page += piece
                if len(page) >= _LISTING:
                    break
        links = _Links()
        links.feed(page[:_LISTING].decode("utf-8", "replace"))
        found: dict[str, None] = {}
        for link in links.found:
            linked = plain(urljoin(base, link))
            name = unquote(linked[len(base) :])
            if linked.startswith(base) and name and "/" not in name:
                found[_safe(name)] = None
        return list(found)

    def look(self, address: str) -> _Head:
        with self._get(address, {}) as response:
            return _head(response)

    def read(self, address: str, start: int, head: _Head) -> Iterator[tuple[int, bytes]]:
        wanted = {"Range": f"bytes={start}-"} if start else {}
        with self._get(address, wanted) as response:
            at = start if response.status_code == 206 else 0
            if at and not str(response.headers.get("Content-Range")).startswith(f"bytes {at}-"):
                raise RetryError("another part of the file than asked for")
            now = _head(response)
            if now.version != head.version or (now.size is not None and now.size + at != head.size):
                hint = "run it again: the new file is fetched"
                raise UserError("it changed while it was read", where=plain(address), hint=hint)
            for piece in self._pieces(response):
                yield at, piece
                at += len(piece)

    def _pieces(self, response: requests.Response, unpacked: bool = False) -> Iterator[bytes]:
        """What has come, as it comes. `RetryError`: it breaks off, or comes too slowly."""
        seconds, least = self._policy.timeout, self._policy.least_bytes
        begun, came = time.monotonic(), 0
        while True:
            try:
                piece = response.raw.read1(_PIECE, decode_content=unpacked)
            except (HTTPError, OSError) as error:
                reason = "an answer that breaks off"
                raise RetryError(f"{reason} ({type(error).__name__})") from None
            if not piece:
                return
            came += len(piece)
            yield piece
            if time.monotonic() - begun >= seconds:
                if came < least:
                    raise RetryError(f"too slow: {came:,} bytes in {seconds:g} seconds")
                begun, came = time.monotonic(), 0

    @contextmanager
    def _get(self, address: str, headers: dict[str, str]) -> Iterator[requests.Response]:
        where = plain(address)
        timeout = (min(10.0, self._policy.timeout), self._policy.timeout)

        def begun() -> requests.Response:
            return self._session.get(
                address,
                headers={"Accept-Encoding": "identity", **headers},
                stream=True,
                timeout=timeout,
            )

        try:
            response = within(sum(timeout), begun)
        except TimeoutError:
            self._session = requests.Session()  # that one is still at it
            raise RetryError("out of time") from None
        except requests.exceptions.InvalidURL:
            raise UserError("not an address", where=where) from None
        except requests.TooManyRedirects:
            raise UserError("the server sends callers round in circles", where=where) from None
        except requests.RequestException as error:  # its text has the whole address
            raise RetryError(f"out of reach ({type(error).__name__})") from None
        with response:
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


class _Links(HTMLParser):
    """The addresses that a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [text for name, text in attrs if (tag, name) == ("a", "href") and text]


class _Fsspec:
    """Files that fsspec reads with the package for their protocol."""

    def __init__(self, given: str) -> None:
        protocol = given.partition("://")[0].lower()
        where, self._base = plain(given), given[: given.rindex("/") + 1]
        try:
            import fsspec
        except ImportError:
            hint = "pip install 'factdrift[remote]'"
            raise UserError("fsspec is needed to read this", where=where, hint=hint) from None
        try:
            with _errors(where):
                self._files, _ = fsspec.core.url_to_fs(given)
        except ImportError as error:
            text = f"a package is needed to read {protocol}://"
            raise UserError(text, where=where, hint=str(error)) from None
        except ValueError:
            hint = "https, s3, gs, az and what else fsspec knows are read"
            raise UserError(f"{protocol}:// is not known", where=where, hint=hint) from None

    def address(self, name: str) -> str:
        return self._base + name

    def names(self, base: str, deep: bool) -> list[str]:
        with _errors(base):
            root = self._files._strip_protocol(base).rstrip("/") + "/"
            self._files.invalidate_cache()
            found = self._files.find(root.rstrip("/"), maxdepth=None if deep else 1)
        return [_safe(name[len(root) :]) for name in found if name.startswith(root)]

    def look(self, address: str) -> _Head:
        with _errors(plain(address)):
            self._files.invalidate_cache()
            info = self._files.info(address)
        if info.get("type") == "directory":
            hint = "write / at its end"
            raise UserError("this is a folder", where=plain(address), hint=hint)
        version = {
            k.lower(): str(v)
            for k, v in info.items()
            if k.lower() in _VERSION_FIELDS and v is not None
        }
        return _Head(info.get("size"), digest(version) if version else None)

    def read(self, address: str, start: int, head: _Head) -> Iterator[tuple[int, bytes]]:
        where = plain(address)
        if self.look(address) != head:
            hint = "run it again: the new file is fetched"
            raise UserError("it changed while it was read", where=where, hint=hint)
        with _errors(where):
            file: Any = self._files.open(address, "rb", block_size=8 * _PIECE)
        with file:
            at = start
            while True:
                with _errors(where):
                    file.seek(at)
                    piece = file.read(_PIECE)
                if not piece:
                    return
                yield at, piece
                at += len(piece)


_Files = _Web | _Fsspec


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
