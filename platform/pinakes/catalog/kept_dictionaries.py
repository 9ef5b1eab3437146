"""Zstandard dictionaries that a collection keeps, in the archive store.

    +news/0001-1839201377-9f86d081884c7d65.dict
     └──┘ └──┘ └────────┘ └──────────────┘
collection  │     id      the first 16 hex digits of its SHA-256
          number: the highest is in use

No crawl begins with `+`.  The names are all there is: no row says anything of a dictionary, and no
file needs one that is kept, since each holds its own (docs/adr/0043-dictionaries.md).
"""

from __future__ import annotations

import hashlib
import re
from contextlib import closing
from io import BytesIO
from typing import NamedTuple

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.warc.compression.zstd_format import LIMIT_BYTES

_NAME = re.compile(
    r"\+([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([0-9]{4,9})-([0-9]{1,10})-([0-9a-f]{16})\.dict\Z"
)
_ID = slice(4, 8)
NOT_AS_NAMED = "not the dictionary that it is named after: see `pinakes fsck`"


class KeptDictionary(NamedTuple):
    """A dictionary of a collection, by its name."""

    collection: str
    number: int
    dictionary_id: int
    sha256_start: str

    @property
    def name(self) -> str:
        """Its name in the archive store."""
        return f"+{self.collection}/{self.number:04}-{self.dictionary_id}-{self.sha256_start}.dict"


def parse_kept_name(name: str) -> KeptDictionary | None:
    """What a file of the archive store is, if it is a kept dictionary."""
    found = _NAME.match(name)
    if found is None:
        return None
    collection, number, dictionary_id, sha256_start = found.groups()
    return KeptDictionary(collection, int(number), int(dictionary_id), sha256_start)


def kept_dictionaries(archive: ArchiveStore, collection: str) -> list[KeptDictionary]:
    """All that a collection keeps, the one in use last; one listing."""
    names = (parse_kept_name(stored.name) for stored in archive.list(f"+{collection}"))
    return sorted(kept for kept in names if kept is not None)


def read_kept(archive: ArchiveReader, kept: KeptDictionary) -> bytes:
    """Its bytes, compared with its name.

    Raises:
        DigestMismatch: they are others.
        InputRefused: it is not there.
    """
    with closing(archive.open(kept.name)) as file:
        content = file.read(LIMIT_BYTES + 1)
    if not _is_named(content, kept):
        raise DigestMismatch(NOT_AS_NAMED, file=kept.name)
    return content


def keep_dictionary(
    archive: ArchiveStore, collection: str, content: bytes, *, token: str
) -> KeptDictionary:
    """Keep a dictionary for a collection, to be used from now on; idempotent.

    Two processes that do so at once keep both: one number may be there twice, and the higher id
    is in use.

    Raises:
        DigestMismatch: what was stored is not what was read, and nothing was published; or the
            one that is kept already is not what its name says.
        StoreUnavailable: as the store does.
    """
    there = kept_dictionaries(archive, collection)
    digest = hashlib.sha256(content).hexdigest()
    identity = (int.from_bytes(content[_ID], "little"), digest[:16])
    if there and (there[-1].dictionary_id, there[-1].sha256_start) == identity:
        read_kept(archive, there[-1])
        return there[-1]
    number = there[-1].number + 1 if there else 1
    kept = KeptDictionary(collection, number, *identity)
    try:
        publish_copy(archive, BytesIO(content), kept.name, token=token)
    except InputRefused:
        if archive.size(kept.name) is None:
            raise
    return kept


def _is_named(content: bytes, kept: KeptDictionary) -> bool:
    is_same = hashlib.sha256(content).hexdigest().startswith(kept.sha256_start)
    return is_same and int.from_bytes(content[_ID], "little") == kept.dictionary_id
