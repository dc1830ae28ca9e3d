"""Remote inputs: `https://…`, `s3://…`, `gs://…` and other protocols that fsspec knows.

The sha256 of each input must be known before it is read, several processes read a file at
different positions, and Parquet and bz2 are not read from beginning to end. So each file is
fetched once, as a stream, into the build folder, and is a local file from then on. It is used
again as long as the server says that it has not changed. An interrupted fetch continues where it
stopped.

`http` and `https` need no further package. Other protocols need a package of fsspec, which finds
its own keys (`AWS_PROFILE`, `~/.aws`, …). Users, passwords and everything after `?` in an address
are never shown, written or hashed, because they may be keys.

The caches of fsspec (`filecache::`, `simplecache::`) and pooch are not used: they fetch an
interrupted file from its beginning, and pooch repeats any failure, whatever `Retry-After` says.
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

from factdrift.builders.core.addresses import (
    BUCKET_SCHEMES,
    WEB_SCHEMES,
    parse_address,
    without_credentials,
)
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked
from factdrift.builders.core.growing import GrowingFile
from factdrift.builders.core.hashing import digest, file_sha256
from factdrift.builders.core.hints import install_extra
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
from factdrift.builders.core.inputs import is_remote
from factdrift.builders.core.progress import progress
from factdrift.builders.core.seals import sealed, unsealed

__outside_step_keys__ = True

T = TypeVar("T")

POLICY = RetryPolicy(timeout=15.0, longest_wait=120.0, give_up=45.0, least_bytes=1 << 14)
"""How long a server may send nothing: about a minute, counted anew after each piece of a file."""
INPUT_SCHEMES = (*WEB_SCHEMES, *BUCKET_SCHEMES)
"""The schemes of addresses that inputs can have, apart from paths."""
# `part-*.parquet`, not `part-1.parquet`; `?` begins the query of an address
_GLOB_CHARACTERS = re.compile(r"[*\[]")
_PIECE_SIZE = 1 << 20  # bytes
_LARGE = 1 << 30
"""Bytes of a file whose checksum takes a second or more."""
_VERSION_FIELDS = frozenset(
    "etag lastmodified last_modified mtime modified updated generation".split()
)
"""The fields of fsspec's packages that differ after a file has changed."""
_CHANGED_TEXT = "it changed while it was read"
_CHANGED_HINT = "run it again: the new file is fetched"


class FileHead(NamedTuple):
    """The size of a file, and a fingerprint that differs after a change; None if unknown."""

    size: int | None
    version: str | None


class Checksum(NamedTuple):
    """A checksum that a publisher states of a file: `sha1` or `md5`, and its digits."""

    algorithm: str
    digits: str


class NoSuchFileError(UserError):
    """The server has no file at this address."""


def unpublished(_: str) -> None:
    """Return no checksum, because none is known."""


def local(
    named_paths: Sequence[str],
    folder: Path,
    accepts_name: Callable[[str], bool],
    *,
    say: Callable[[str], None],
    deep: bool = False,
    policy: RetryPolicy = POLICY,
    published: Callable[[str], Checksum | None] = unpublished,
) -> list[str]:
    """Fetch the files that are named by addresses into `folder`, and return all local paths.

    An address names a file or, in a bucket, a pattern (`*` or `[…]` in its last part) or, with `/`
    at its end, a folder. From a folder the files are fetched whose name `accepts_name` accepts; if
    `deep` is true, also those in folders below it. `published` returns the checksum that is stated
    for an address, if there is one; it is asked before the file is fetched.

    Raises `UserError` if there is no such file, the server refuses it, a package or room on the
    disk is missing, the file has another checksum, or the retry policy gives up.
    """
    local_paths: dict[str, str] = {}
    for named_path in named_paths:
        clean_address = without_credentials(named_path)
        if not is_remote(named_path) or named_path.lower().startswith("file://"):
            local_path = (
                unquote(named_path[len("file://") :]) if is_remote(named_path) else named_path
            )
            local_paths[local_path] = named_path
            continue
        address_parts = parse_address(named_path, INPUT_SCHEMES)
        if clean_address.count("/") < 3:
            raise UserError("no file is named", where=clean_address)

        def again(call: Callable[[], T], where: str = clean_address) -> T:
            hint_text = "run it again later: what was fetched is kept"
            return retry(lambda _: call(), policy, where=where, hint=hint_text, report=say)

        parent_address, slash, file_name = clean_address.rpartition("/")
        folder_address = parent_address + slash
        remote_files: WebFiles | BucketFiles
        if address_parts.scheme in WEB_SCHEMES:
            if not file_name or _GLOB_CHARACTERS.search(file_name):
                hint_text = "give the address of each file"
                raise UserError(
                    "web servers do not list their folders", where=clean_address, hint=hint_text
                )
            remote_files, addresses_by_name = WebFiles(policy), {unquote(file_name): named_path}
        else:
            remote_files = again(partial(BucketFiles, named_path))
            list_addresses = partial(remote_files.addresses, named_path, accepts_name, deep)
            addresses_by_name = again(list_addresses)
        for file_name, address in addresses_by_name.items():
            local_copy = folder / digest(folder_address) / _safe(file_name)
            with locked(local_copy.parent):
                fetching = _Fetching(remote_files, again, policy.least_bytes, published, say)
                _fetch(fetching, address, local_copy)
            if local_paths.setdefault(str(local_copy), address) != address:
                error_text = "two addresses that differ only in what is not shown"
                raise UserError(
                    error_text, where=clean_address, hint="give their files other names"
                )
    return list(local_paths)


def _safe(file_name: str) -> str:
    """Return a name that is safe as a path below our folder; raise `UserError` if it is not."""
    if any(
        name_part in ("", ".", "..") or "\\" in name_part or "\0" in name_part
        for name_part in file_name.split("/")
    ):
        raise UserError(f"a name that cannot be kept: {file_name!r}")
    return file_name


class _Fetching(NamedTuple):
    """How files are fetched: from where, how often anew, and with which checksums."""

    remote_files: "WebFiles | BucketFiles"
    again: Callable[[Callable[[], Any]], Any]
    least_bytes: int
    published: Callable[[str], Checksum | None]
    say: Callable[[str], None]


def _fetch(fetching: _Fetching, address: str, target_path: Path) -> None:
    """Fetch one file to `target_path`, unless the file there has not changed."""
    remote_files, again, least_bytes, published, say = fetching
    where = without_credentials(address)
    version_note = target_path.with_name(f".{target_path.name}.json")
    if version_note.is_symlink():  # a planted link is not written through
        version_note.unlink()
    file_head = again(lambda: remote_files.look(address))
    known_version, checksum = _noted(version_note) if file_head.version else (None, None)
    if known_version == file_head.version is not None and _size(target_path) == file_head.size:
        if checksum in (None, _checksum(target_path, say)):  # None: fetched by an earlier version
            return
        say(f"  {display_path(target_path)} is not what was fetched, and is fetched anew")
        target_path.unlink()
    stated = published(address)
    unfinished_file = GrowingFile(
        target_path.with_name(f".{target_path.name}.part"), stated.algorithm if stated else "sha256"
    )

    def stretch() -> bool:
        """Read on and return whether the file is complete.

        If the answer breaks off after enough bytes, it is not a failure, but returns False.
        """
        if not file_head.version:
            unfinished_file.clear()
        start_byte = unfinished_file.size
        try:
            if not start_byte or start_byte != file_head.size:
                with unfinished_file.appending() as append:
                    for piece in remote_files.read(address, start_byte, file_head):
                        append(piece)
                        bar.advance(len(piece))
            if file_head.size is not None and unfinished_file.size < file_head.size:
                raise RetryError("an answer that breaks off")
        except RetryError:
            if file_head.version and unfinished_file.size - start_byte >= least_bytes:
                return False
            raise
        if file_head.size is not None and unfinished_file.size > file_head.size:
            unfinished_file.clear()
            raise RetryError("more bytes than the file has")
        return True

    with disk_errors(target_path):
        target_path.parent.mkdir(parents=True, exist_ok=True)
        if known_version != file_head.version or file_head.version is None:
            unfinished_file.clear()
        elif not unfinished_file.take_up():
            say(f"  {where}: what was fetched of it was changed since; it is fetched anew")
        target_path.unlink(missing_ok=True)
        _note(version_note, file_head.version, None)
        free_bytes = shutil.disk_usage(target_path.parent).free + unfinished_file.size
        needed_bytes = file_head.size or 0
        if needed_bytes > free_bytes:
            error_text = (
                f"no room for {needed_bytes / 1e9:.1f} GB: {free_bytes / 1e9:.1f} GB are free"
            )
            raise UserError(
                error_text,
                where=display_path(target_path.parent),
                hint="--build names another folder",
            )
        say(f"  {where} is fetched to {display_path(target_path)}")
        with progress(file_head.size, "B", f"fetch {target_path.name}") as bar:
            bar.advance(unfinished_file.size)
            while not again(stretch):
                pass
        if stated and unfinished_file.hexdigest() != stated.digits:
            fetched_digits = unfinished_file.hexdigest()
            unfinished_file.clear()
            raise differing_checksum(where, stated, fetched_digits)
        _note(version_note, file_head.version, unfinished_file.sha256())
        unfinished_file.finish(target_path)


def differing_checksum(where: str, stated: Checksum, fetched_digits: str) -> UserError:
    """Return the error of a file that is not what its publisher says."""
    error_text = (
        f"what came has the {stated.algorithm} {fetched_digits}, and its publisher says "
        f"{stated.digits}: it was damaged on its way, or the publisher replaced it"
    )
    return UserError(error_text, where=where, hint="run it again: it is fetched anew")


def read_whole(
    address: str, limit: int, say: Callable[[str], None], policy: RetryPolicy = POLICY
) -> bytes:
    """Return a small file of a web server.

    Raises `NoSuchFileError` if there is none, and `UserError` if it has more than `limit` bytes, if
    the server refuses it, or if the retry policy gives up.
    """
    web_files = WebFiles(policy)
    where = without_credentials(address)
    parse_address(address)

    def read(_: int) -> bytes:
        content = bytearray()
        with web_files.get(address) as response:
            for piece in pieces(response, policy.timeout, policy.least_bytes, unpacked=False):
                content += piece
                if len(content) > limit:
                    error_text = f"the file has more than {limit:,} bytes, too many for a listing"
                    raise UserError(error_text, where=where)
            size = _head(response).size
        if size is not None and len(content) < size:
            raise RetryError("an answer that breaks off")
        return bytes(content)

    return retry(read, policy, where=where, hint="run it again later", report=say)


def _user_agent() -> str:
    """Return the name of this program for servers; Wikimedia's refuse programs without a name."""
    import factdrift

    return f"factdrift/{factdrift.__version__} (python-requests/{requests.__version__})"


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _checksum(path: Path, say: Callable[[str], None]) -> str:
    """Return the sha256 of a fetched file; that of a dump takes a while, which is said."""
    size = _size(path)
    if size > _LARGE:
        say(f"  checksum of {path.name} ({size / 1e9:.1f} GB)")
    return file_sha256(path)


def _note(version_note: Path, version: str | None, checksum: str | None) -> None:
    """Write the version of a file on its server, and the sha256 of what was fetched."""
    note = sealed({"version": version, "sha256": checksum})
    version_note.write_text(json.dumps(note), "utf-8")


def _noted(version_note: Path) -> tuple[str | None, str | None]:
    """Return the version and the sha256 in a note; None for what it does not say.

    Notes of versions before 0.3 have neither a sha256 nor a seal.
    """
    try:
        content = version_note.read_bytes()
        note = unsealed(content)
        if note is None and json.loads(content).keys() == {"version"}:
            note = json.loads(content)
        return (str(note["version"]), note.get("sha256")) if note else (None, None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, None


class WebFiles:
    """The files of a web server, read with requests."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy, self._sessions = policy, Sessions()

    def look(self, address: str) -> FileHead:
        with self.get(address) as response:
            return _head(response)

    def read(self, address: str, start_byte: int, file_head: FileHead) -> Iterator[bytes]:
        with self.get(address, {"Range": f"bytes={start_byte}-"} if start_byte else {}) as response:
            is_part = response.status_code == 206  # else it ignores ranges and sends the whole
            content_range = response.headers.get("Content-Range", "")
            if is_part and not content_range.startswith(f"bytes {start_byte}-"):
                raise RetryError("another part of the file than asked for")
            current_head = _head(response)
            whole_size = current_head.size is not None and current_head.size + (
                start_byte if is_part else 0
            )
            if current_head.version != file_head.version or whole_size not in (
                False,
                file_head.size,
            ):
                raise UserError(
                    _CHANGED_TEXT, where=without_credentials(address), hint=_CHANGED_HINT
                )
            repeated_bytes = 0 if is_part else start_byte  # bytes to skip
            seconds, least_bytes = self._policy.timeout, self._policy.least_bytes
            for piece in pieces(response, seconds, least_bytes, unpacked=False):
                yield piece[repeated_bytes:]
                repeated_bytes = max(repeated_bytes - len(piece), 0)

    @contextmanager
    def get(
        self, address: str, more_headers: dict[str, str] | None = None
    ) -> Iterator[requests.Response]:
        """Yield the answer to a request, whose body is not packed for the way."""
        where = without_credentials(address)
        # a packed body would have another length, and no part of it could be asked for
        headers = {
            "Accept-Encoding": "identity",
            "User-Agent": _user_agent(),
            **(more_headers or {}),
        }
        seconds = self._policy.timeout
        with answered(self._sessions, "GET", address, seconds, headers=headers) as response:
            status = response.status_code
            if status in RETRY_STATUSES:
                raise RetryError(f"HTTP {status}", "", retry_after(response.headers))
            if status in (401, 403):
                hint_text = (
                    "is its key or signature still good? sign it anew, or give user:password@"
                )
                raise UserError(
                    f"the server refuses it (HTTP {status})", where=where, hint=hint_text
                )
            if status in (404, 410):
                raise NoSuchFileError(f"no such file (HTTP {status})", where=where)
            if status not in (200, 206):
                raise UserError(f"the server answers HTTP {status}", where=where)
            yield response


def _head(response: requests.Response) -> FileHead:
    length_text = response.headers.get("Content-Length", "")
    version = response.headers.get("ETag") or response.headers.get("Last-Modified")
    return FileHead(
        int(length_text) if length_text.isdigit() else None, version and digest(version)
    )


class BucketFiles:
    """Files that fsspec reads with its package for their protocol."""

    def __init__(self, named_address: str) -> None:
        protocol = named_address.partition("://")[0].lower()
        where = without_credentials(named_address)
        try:
            with _errors(where):
                import fsspec

                self._files, _ = fsspec.core.url_to_fs(named_address)
        except ImportError as error:
            error_text = f"a package is needed to read {protocol}:// ({error})"
            raise UserError(error_text, where=where, hint=install_extra("remote")) from None
        except ValueError:
            hint_text = "https, s3, gs, az and what else fsspec knows are read"
            raise UserError(f"{protocol}:// is not known", where=where, hint=hint_text) from None

    def addresses(
        self, named_address: str, accepts_name: Callable[[str], bool], deep: bool
    ) -> dict[str, str]:
        """Return the addresses of the named files, by name."""
        parent_address, slash, pattern = named_address.rpartition("/")
        folder_address = parent_address + slash
        if pattern and not _GLOB_CHARACTERS.search(pattern):
            return {pattern: named_address}
        with _errors(without_credentials(folder_address)):
            root_path = self._files._strip_protocol(folder_address).rstrip("/") + "/"
            self._files.invalidate_cache()
            file_names = self._files.find(root_path.rstrip("/"), maxdepth=None if deep else 1)
        inner_names = [
            inner_name[len(root_path) :]
            for inner_name in sorted(file_names)
            if inner_name.startswith(root_path)
        ]
        if pattern:
            chosen_names = [
                inner_name for inner_name in inner_names if fnmatchcase(inner_name, pattern)
            ]
        else:
            chosen_names = [
                inner_name
                for inner_name in inner_names
                if accepts_name(inner_name.rpartition("/")[2])
            ]
        if not chosen_names:
            missing_kind = "of this pattern" if pattern else "of this kind in this folder"
            raise UserError(f"no file {missing_kind}", where=without_credentials(named_address))
        return {inner_name: folder_address + inner_name for inner_name in chosen_names}

    def look(self, address: str) -> FileHead:
        with _errors(without_credentials(address)):
            self._files.invalidate_cache()
            file_info = {name.lower(): value for name, value in self._files.info(address).items()}
        if file_info.get("type") == "directory":
            hint_text = "write / at its end"
            raise UserError("this is a folder", where=without_credentials(address), hint=hint_text)
        version_fields = {
            field_name: str(file_info[field_name])
            for field_name in _VERSION_FIELDS
            if file_info.get(field_name) is not None
        }
        return FileHead(file_info.get("size"), digest(version_fields) if version_fields else None)

    def read(self, address: str, start_byte: int, file_head: FileHead) -> Iterator[bytes]:
        where = without_credentials(address)
        if self.look(address) != file_head:
            raise UserError(_CHANGED_TEXT, where=where, hint=_CHANGED_HINT)
        with _errors(where):
            # larger blocks than pieces, so that a bucket answers few requests
            file: Any = self._files.open(address, "rb", block_size=8 * _PIECE_SIZE)
        with file:
            while True:
                with _errors(where):
                    file.seek(start_byte)
                    piece = file.read(_PIECE_SIZE)
                if not piece:
                    return
                yield piece
                start_byte += len(piece)


@contextmanager
def _errors(where: str) -> Iterator[None]:
    """Turn errors of fsspec's packages into ours, without their texts, which can contain keys."""
    try:
        yield
    except FileNotFoundError:
        raise UserError("no such file", where=where) from None
    except PermissionError:
        hint_text = "are your keys for it there, and still good?"
        raise UserError("the server refuses it", where=where, hint=hint_text) from None
    except (ImportError, ValueError, UserError):
        raise
    except Exception as error:
        if "Credential" in type(error).__name__:
            hint_text = "its package looks for them in the environment and in your home folder"
            raise UserError("there are no keys for it", where=where, hint=hint_text) from None
        if isinstance(error, OSError | EOFError) or type(error).__module__ != "builtins":
            raise RetryError(f"out of reach ({type(error).__name__})") from None
        raise
