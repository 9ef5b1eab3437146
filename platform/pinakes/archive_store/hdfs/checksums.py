"""The checksum that HDFS keeps for a file, computed from the bytes written, and read
through WebHDFS.

    each 512 bytes of a block                     CRC-32C, big-endian
    the CRCs of a block                           MD5
    the MD5s of a file's blocks, zero-padded      MD5

The zeros pad to Hadoop's buffer size: 32 bytes, doubled each time the buffer is full.
Source: Hadoop 3.4, `FileChecksumHelper`, `MD5MD5CRC32FileChecksum`; WebHDFS REST API,
GETFILECHECKSUM: a name node redirects to a data node, which asks the nodes that have the blocks.
"""

from __future__ import annotations

import hashlib
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import quote, urlencode, urlsplit

CHUNK_BYTES = 512
_ALGORITHM = re.compile(r"MD5-of-(\d+)MD5-of-(\d+)CRC32C\Z")
_DIGEST = slice(12, 28)
"""In the answer, after the bytes per CRC and the CRCs per block."""


class KeptChecksum(NamedTuple):
    """HDFS's answer: the algorithm, and the digest."""

    algorithm: str
    answer: bytes

    @property
    def comparable(self) -> bool:
        """Whether its algorithm is the one computed here."""
        match = _ALGORITHM.match(self.algorithm)
        return match is not None and int(match[2]) == CHUNK_BYTES and len(self.answer) >= 28

    @property
    def digest(self) -> bytes:
        return self.answer[_DIGEST]


class WrittenChecksum:
    """The same checksum, of the bytes that a writer passes, block by block."""

    def __init__(self, block_bytes: int) -> None:
        from google_crc32c import value

        self._crc32c: Callable[[bytes], int] = value
        self._block_bytes = block_bytes
        self._in_block = 0
        self._rest = b""
        self._block = hashlib.md5(usedforsecurity=False)
        self._blocks = b""

    def update(self, data: bytes) -> None:
        """Add the next bytes."""
        while data:
            room = self._block_bytes - self._in_block
            piece, data = data[:room], data[room:]
            self._in_block += len(piece)
            self._take(self._rest + piece)
            if self._in_block == self._block_bytes:
                self._end_block()

    def digest(self) -> bytes:
        """The MD5 of all bytes; no bytes may be added afterwards."""
        if self._in_block:
            self._end_block()
        padded = 32
        while padded < len(self._blocks):
            padded *= 2
        blocks = self._blocks.ljust(padded, b"\0")
        return hashlib.md5(blocks, usedforsecurity=False).digest()

    def _take(self, data: bytes) -> None:
        whole = len(data) - len(data) % CHUNK_BYTES
        value, size = self._crc32c, CHUNK_BYTES
        crcs = [value(data[start : start + size]) for start in range(0, whole, size)]
        self._block.update(struct.pack(f">{len(crcs)}I", *crcs))
        self._rest = data[whole:]

    def _end_block(self) -> None:
        if self._rest:
            self._block.update(struct.pack(">I", self._crc32c(self._rest)))
        self._blocks += self._block.digest()
        self._block = hashlib.md5(usedforsecurity=False)
        self._in_block, self._rest = 0, b""


_TIMEOUT_S = 30.0
_MOST_ANSWER_BYTES = 1 << 16


def kept_checksum(addresses: tuple[str, ...], path: str, user: str) -> KeptChecksum | None:
    """HDFS's checksum of a file, as this user; None if no name node's web server answers.

    Also None where it requires authentication (Kerberos): then the file is read back.
    """
    query = urlencode({"op": "GETFILECHECKSUM", "user.name": user})
    for address in addresses:
        try:
            found = json.loads(_get(f"{address}/webhdfs/v1{quote(path)}?{query}"))
            kept = found["FileChecksum"]
            return KeptChecksum(str(kept["algorithm"]), bytes.fromhex(kept["bytes"]))
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            continue  # the next may be the active one
    return None


def _get(url: str, *, redirected: bool = False) -> bytes:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        response = connection.getresponse()
        location = response.getheader("Location")
        if response.status == 307 and location and not redirected:
            return _get(location, redirected=True)
        if response.status != 200:
            raise HTTPException(f"{response.status} {response.reason}")
        return response.read(_MOST_ANSWER_BYTES)
    finally:
        connection.close()
