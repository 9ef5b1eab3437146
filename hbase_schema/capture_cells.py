"""Cells of `captures` and `digests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFacts:
    """`m:capture`: the record as landed.  Written once; a later move changes only locations.

    `date` and `target_uri` are as written in the record.  Computed digests are labelled
    text: of the stored body, and of the de-chunked body if it really is chunked.
    `declared_digest` is that of the record as written, and `declared_over` the bytes that it
    fits: `stored`, `dechunked`, `decoded`, or `none`.  `skip` is why the record takes no part
    in dedupe; None if it does.  `refers_to_*` and `profile` are those of a revisit that was
    landed.
    """

    COLUMN: ClassVar[bytes] = b"m:capture"
    VERSION: ClassVar[int] = 1

    type: str
    target_uri: str
    date: str
    archive_file: str
    ordinal: int
    record_id: str | None = None
    media_type: str | None = None
    status: int | None = None
    method: str | None = None
    payload_sha1: str | None = None
    payload_sha256: str | None = None
    payload_size: int | None = None
    dechunked_sha1: str | None = None
    dechunked_sha256: str | None = None
    declared_digest: str | None = None
    declared_over: str | None = None
    skip: str | None = None
    profile: str | None = None
    refers_to_target_uri: str | None = None
    refers_to_date: str | None = None
    refers_to_id: str | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """`m:location.N`: the place of the record in generation N.

    `offset` and `length` are those of the compressed member; `inner_offset` is where the
    record begins in the inflated member, if it is not alone in it.
    """

    COLUMN: ClassVar[bytes] = b"m:location."
    VERSION: ClassVar[int] = 1

    offset: int
    length: int
    inner_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedView:
    """`x:view`: what was extracted from the body, and where its text is stored."""

    COLUMN: ClassVar[bytes] = b"x:view"
    VERSION: ClassVar[int] = 1

    detected_type: str | None = None
    charset: str | None = None
    language: str | None = None
    title: str | None = None
    text_file: str | None = None
    text_offset: int | None = None
    text_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeMark:
    """`d:dedupe`: what a dedupe run decided about this capture.

    Copy number 1 is an original, which refers to nothing.  `refers_to_key` is the row key of
    the original, so that the duplicates of an original can be listed from the rows of its
    digest; the other fields are those of the revisit, character for character.
    """

    COLUMN: ClassVar[bytes] = b"d:dedupe"
    VERSION: ClassVar[int] = 1

    run: str
    hash_extension: int
    copy_number: int
    refers_to_key: str | None = None
    refers_to_target_uri: str | None = None
    refers_to_date: str | None = None
    refers_to_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """`d:pin`: something refers to this record; it is neither rewritten nor removed.

    A separate cell, since another act writes it than the decision.
    """

    COLUMN: ClassVar[bytes] = b"d:pin"
    VERSION: ClassVar[int] = 1

    run: str
    pinned: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QaVerdict:
    """`q:verdict`: how the capture renders, by the last QA run that included it."""

    COLUMN: ClassVar[bytes] = b"q:verdict"
    VERSION: ClassVar[int] = 1

    run: str
    verdict: str
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestEntry:
    """`r:capture`: the capture that has this digest, over its `stored` or `dechunked` body."""

    COLUMN: ClassVar[bytes] = b"r:capture"
    VERSION: ClassVar[int] = 1

    capture_key: str
    body: str = "stored"
