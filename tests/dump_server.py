"""The listings of dumps as Wikimedia's and WMT's servers write them, for files of ours."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.file_server import ServedFiles, serve_files

WIKIDATA = "/wikidatawiki/entities/"
NEWS = "/news-crawl/doc/en/"


def nginx_listing(path: str, sizes: dict[str, int | None]) -> bytes:
    """A listing as nginx writes it: exact sizes, and long names cut in what is shown."""
    lines = []
    for name, size in sorted(sizes.items()):
        shown = name if len(name) <= 50 else f"{name[:47]}..>"
        size_column = "-" if size is None else str(size)
        gap = " " * (51 - len(shown))
        lines.append(f'<a href="{name}">{shown}</a>{gap}12-Nov-2026 04:31 {size_column:>19}\r\n')
    head = f"<html>\r\n<head><title>Index of {path}</title></head>\r\n<body>\r\n"
    title = f'<h1>Index of {path}</h1><hr><pre><a href="../">../</a>\r\n'
    return (head + title + "".join(lines) + "</pre><hr></body>\r\n</html>\r\n").encode()


def apache_listing(path: str, sizes: dict[str, str]) -> bytes:
    """A listing as Apache writes it: a table with rounded sizes, whose heads sort it."""
    rows = [
        '<tr><th valign="top"><img src="/icons/blank.gif" alt="[ICO]"></th>'
        '<th><a href="?C=N;O=D">Name</a></th><th><a href="?C=S;O=A">Size</a></th></tr>',
        f'<tr><td>&nbsp;</td><td><a href="{path.rstrip("/").rpartition("/")[0]}/">'
        'Parent Directory</a></td><td>&nbsp;</td><td align="right">  - </td></tr>',
    ]
    for name, size in sorted(sizes.items()):
        rows.append(
            f'<tr><td valign="top"><img src="/icons/compressed.gif" alt="[   ]"></td>'
            f'<td><a href="{name}">{name[:20]}..&gt;</a></td>'
            f'<td align="right">2025-02-04 12:57  </td><td align="right">{size}</td>'
            "<td>&nbsp;</td></tr>"
        )
    table = "\n".join(rows)
    return (
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">\n<html>\n <head>\n  '
        f"<title>Index of {path}</title>\n </head>\n <body>\n<table>\n{table}\n</table>\n"
        "</body></html>\n"
    ).encode()


@dataclass
class DumpServer:
    """The files of a server, whose listings are written anew after each change."""

    served: ServedFiles
    folders: dict[str, dict[str, int | None]] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put(self, path: str, data: bytes) -> None:
        """Serve a file, and list it."""
        self.served.files[path] = data
        folder, _, name = path.rpartition("/")
        self.list_name(f"{folder}/", name, len(data))

    def list_name(self, folder: str, name: str, size: int | None) -> None:
        """List a name in a folder, and the folder above it where it is one of a day."""
        self.folders.setdefault(folder, {})[name] = size
        self.served.files[folder] = nginx_listing(folder, self.folders[folder])
        above, _, folder_name = folder.rstrip("/").rpartition("/")
        if folder_name.isdigit() and f"{folder_name}/" not in self.folders.get(f"{above}/", {}):
            self.list_name(f"{above}/", f"{folder_name}/", None)

    def wikidata(
        self, day: str, data: bytes = b"", *, folder: str = "", end: str = "", sums: bool = True
    ) -> str:
        """Serve a dump of Wikidata of a day, `20261109`, with its checksums; return its path."""
        name = f"wikidata-{day}-{end or 'all.json.gz'}"
        folder_path = f"{WIKIDATA}{folder or day}/"
        self.put(folder_path + name, data)
        for algorithm in ("sha1", "md5") if sums else ():
            digits = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
            self.put(f"{folder_path}wikidata-{day}-{algorithm}sums.txt", _sums({name: digits}))
        return folder_path + name

    def wikipedia(
        self, wiki: str, day: str, files: dict[str, bytes], status: str = "done", job: str = ""
    ) -> None:
        """Serve a Wikipedia's dump of a day: the ends of its files' names, with their content."""
        folder = f"/{wiki}/{day}/"
        entries: dict[str, Any] = {}
        for name_end, data in files.items():
            name = f"{wiki}-{day}-{name_end}"
            entries[name] = {"url": f"https://elsewhere.example{folder}{name}"}
            if status == "done":
                self.put(folder + name, data)
                digits = hashlib.new("sha1", data, usedforsecurity=False).hexdigest()
                entries[name] |= {"size": len(data), "sha1": digits}
        jobs = self.states.setdefault(folder, {"version": "0.8", "jobs": {}})["jobs"]
        jobs[job or "articlesmultistreamdump"] = {
            "status": status,
            "updated": "2026-11-03 02:01:57",
            "files": entries,
        }
        self.put(f"{folder}dumpstatus.json", json.dumps(self.states[folder]).encode())

    def news(self, sizes: dict[str, str]) -> None:
        """List archives of news."""
        self.served.files[NEWS] = apache_listing(NEWS, sizes)


def _sums(digits_by_name: dict[str, str]) -> bytes:
    return "".join(f"{digits}  {name}\n" for name, digits in digits_by_name.items()).encode()


@contextmanager
def serve_dumps(patch: pytest.MonkeyPatch) -> Iterator[DumpServer]:
    """A server in the place of all publishers."""
    with serve_files() as served:
        patch.setenv("FACTDRIFT_DUMPS_WIKIDATA", served.url + WIKIDATA)
        patch.setenv("FACTDRIFT_DUMPS_WIKIPEDIA", served.url)
        patch.setenv("FACTDRIFT_DUMPS_NEWS", served.url + NEWS)
        yield DumpServer(served)
