"""Row keys that are names: files, inflight, crawls, runs, and qa_pairs.

    crawl/relative/path.warc.gz          files, inflight   (escaped: `text.escape_name`)
    crawl                                crawls
    +collection                          crawls: the row with the lease of a collection
    +                                    crawls: the row with the pin of the whole store
    +:sha256                             crawls: an archive file of which records were withdrawn
    +collection:queue:hex                crawls: a WACZ file to be imported
    +collection:wacz:sha256              crawls: the crawl that has this WACZ file
    +collection:crawl:crawl:name         crawls: a WACZ file of a crawl, by its name (escaped)
    +collection:seen:crawl:…             crawls: a capture that a crawler reports (`seen_keys`)
    run                                  runs
    run SP capture key SP left:right     qa_pairs

Names of crawls, collections, runs and views contain no `/`, `:`, `+` or space (`check_name`), so
the first `/` of an archive file ends its crawl, and `+` sorts before every crawl.  In
qa_pairs the run ends at the first space and the pair begins at the last.

A generation is another file, below a folder of its own: see `generation_names`.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from pinakes.errors import InputRefused, MalformedRecord

from .generation_names import has_generation_folder
from .ranges import KeyRange, prefix_range
from .text import check_name, escape_name, name_bytes, unescape_name

ALL_CRAWLS = KeyRange(b"0", None)
"""The rows of `crawls` that are crawls; those of collections sort before."""

STORE_KEY = b"+"
"""The row, in `crawls`, of what belongs to the store as a whole."""

_PAIR = re.compile(rb"([^ ]+) (.+) ([A-Za-z0-9._-]+):([A-Za-z0-9._-]+)\Z")


class PairKey(NamedTuple):
    """A pair of views of one capture, compared in one run."""

    run: str
    capture_key: bytes
    left: str
    right: str


def archive_file(crawl: str, path: str) -> str:
    """The identity of an archive file: `crawl/path`.

    Raises InputRefused for a path whose first folder is named as those of generations (`g2/`).
    """
    check_name(crawl, "a crawl")
    if not path or path.startswith("/") or has_generation_folder(path):
        raise InputRefused(
            "the path of an archive file is relative, and its first folder is not g1, g2, g2-gz, …",
            file=path,
        )
    return f"{crawl}/{path}"


def crawl_of(archive_file: str) -> str:
    """The crawl that an archive file belongs to."""
    return archive_file.partition("/")[0]


def encode_file_key(archive_file: str) -> bytes:
    """The row key of an archive file in `files` and `inflight`."""
    return escape_name(archive_file)


def decode_file_key(key: bytes) -> str:
    """The archive file of a row key."""
    return unescape_name(key)


def files_of(crawl: str, folder: str = "") -> KeyRange:
    """The archive files of a crawl, or of a folder in it (`folder/`), in `files` or `inflight`."""
    return prefix_range(check_name(crawl, "a crawl") + b"/" + escape_name(folder))


def encode_crawl_key(crawl: str) -> bytes:
    """The row key of a crawl."""
    return check_name(crawl, "a crawl")


def encode_collection_key(collection: str) -> bytes:
    """The row key, in `crawls`, of what belongs to a whole collection: its lease."""
    return b"+" + check_name(collection, "a collection")


def encode_withdrawn_key(sha256: str) -> bytes:
    """The row key, in `crawls`, of what is known of withdrawn records of an archive file that
    landed with this SHA-256 (lower-case hex)."""
    return b"+:" + sha256.encode("ascii")


def encode_queued_key(collection: str, place: str, sha256: str | None) -> bytes:
    """The row key, in `crawls`, of a WACZ file to be imported: by its place and declared hash."""
    said = b"%b\n%b" % (name_bytes(place), (sha256 or "").encode("ascii"))
    return queue_of(collection).start_row + hashlib.sha256(said).hexdigest().encode("ascii")


def queue_of(collection: str) -> KeyRange:
    """The WACZ files to be imported into a collection, in `crawls`."""
    return prefix_range(encode_collection_key(collection) + b":queue:")


def encode_wacz_key(collection: str, sha256: str) -> bytes:
    """The row key, in `crawls`, of a WACZ file that a crawl of the collection has, by SHA-256."""
    return b"%b:wacz:%b" % (encode_collection_key(collection), sha256.encode("ascii"))


def encode_wacz_file_key(collection: str, crawl: str, name: str) -> bytes:
    """The row key, in `crawls`, of a WACZ file of a crawl, by its path within that."""
    return wacz_files_of(collection, crawl).start_row + escape_name(name)


def decode_wacz_file_name(key: bytes) -> str:
    """The path of a WACZ file within its crawl, of a row key."""
    return unescape_name(key.split(b":", 3)[3])


def wacz_files_of(collection: str, crawl: str) -> KeyRange:
    """The WACZ files of a crawl, in `crawls`."""
    crawl_key = encode_crawl_key(crawl)
    return prefix_range(b"%b:crawl:%b:" % (encode_collection_key(collection), crawl_key))


def encode_run_key(run: str) -> bytes:
    """The row key of a run."""
    return check_name(run, "a run")


def encode_pair_key(key: PairKey) -> bytes:
    """The row key of a pair of views."""
    return b"%b %b %b:%b" % (
        check_name(key.run, "a run"),
        key.capture_key,
        check_name(key.left, "a view"),
        check_name(key.right, "a view"),
    )


def decode_pair_key(key: bytes) -> PairKey:
    """The parts of a row key of `qa_pairs`; Raises MalformedRecord if it is not one."""
    match = _PAIR.match(key)
    if match is None:
        raise MalformedRecord(f"not a row key of qa_pairs: {key[:200]!r}")
    run, capture_key, left, right = match.groups()
    return PairKey(run.decode("ascii"), capture_key, left.decode("ascii"), right.decode("ascii"))


def pairs_of(run: str, capture_key: bytes | None = None) -> KeyRange:
    """The pairs of a run, or of one capture in it."""
    prefix = check_name(run, "a run") + b" "
    return prefix_range(prefix if capture_key is None else b"%b%b " % (prefix, capture_key))
