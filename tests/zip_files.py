"""Zip archives as Inspect writes them: packed by zstd, which Python's module cannot write."""

import zlib

import zstandard


def zip_with_zstd(files: dict[str, bytes]) -> bytes:
    """An archive of these files (APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16)."""
    body, directory = b"", b""
    for name, data in files.items():
        packed = zstandard.compress(data)
        sizes = b"".join(
            zip_number.to_bytes(4, "little")
            for zip_number in (zlib.crc32(data), len(packed), len(data))
        )
        name_size = len(name).to_bytes(2, "little")
        common = b"\x14\0\0\0\x5d\0\0\0\0\0" + sizes + name_size + b"\0\0"
        directory += b"PK\x01\x02\x14\0" + common + b"\0" * 10 + len(body).to_bytes(4, "little")
        directory += name.encode()
        body += b"PK\x03\x04" + common + name.encode() + packed
    count = len(files).to_bytes(2, "little")
    sizes = len(directory).to_bytes(4, "little") + len(body).to_bytes(4, "little")
    return body + directory + b"PK\x05\x06\0\0\0\0" + count + count + sizes + b"\0\0"
