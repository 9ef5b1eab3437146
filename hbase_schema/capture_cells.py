"""Cells of `captures` and `digests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .cells import named

REVISIT_MIME = "warc/revisit"
FIRST_GENERATION = 1
FACTS_LEAD, NAME_LEAD, NAME_END = b'{"v":2,', b',"filename":"', b'","type":"'
"""In a `m:capture`: its beginning, and what stands before and after the name of its file."""
_SHA1 = "sha1:"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFacts:
    """`m:capture`: the record as landed.  Written once; a later move only adds a location.

    The first fields, up to `archive_file`, are those of a CDXJ line, under its keys and in its
    order, numbers as text: an answer of the CDX server is cut out of this cell as it is stored.

        {"v":2,"url":...,"mime":...,"status":...,"digest":...,"length":...,"offset":...,
        "filename":...,"type":...,"date":...,

    `date` and `target_uri` are as written in the record.  `digest` is SHA-1 of the stored body
    in Base32, or, without `payload_sha256`, the declared one.  `offset` and `length` are those of
    the compressed member in generation 1, and `inner_offset` is where the record begins in the
    inflated member; None if only a later generation is known.  `mime` of a revisit is
    `warc/revisit`, and `revisit_media_type` its own.

    Computed digests are labelled text: of the stored body, and of the de-chunked body if it
    really is chunked.  `declared_digest` is that of the record as written, and `declared_over` the
    bytes that it fits: `stored`, `dechunked`, `decoded`, or `none`.  `skip` is why the record takes
    no part in dedupe; None if it does.  `refers_to_*` and `profile` are those of a revisit that
    was landed.

    Version 1 had no location, and other keys and an other order of fields.
    """

    COLUMN: ClassVar[bytes] = b"m:capture"
    VERSION: ClassVar[int] = 2

    target_uri: str = named("url")
    mime: str | None = None
    status: int | None = named("status", default=None, as_text=True)
    digest: str | None = None
    length: int | None = named("length", default=None, as_text=True)
    offset: int | None = named("offset", default=None, as_text=True)
    archive_file: str = named("filename")
    type: str
    date: str
    ordinal: int
    inner_offset: int = 0
    record_id: str | None = None
    revisit_media_type: str | None = named("media_type", default=None)
    method: str | None = None
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

    @property
    def media_type(self) -> str | None:
        """The media type as the record says."""
        return self.revisit_media_type if self.type == "revisit" else self.mime

    @property
    def payload_sha1(self) -> str | None:
        """SHA-1 of the stored body, labelled; None if it was not computed, as of a revisit."""
        return f"{_SHA1}{self.digest}" if self.payload_sha256 is not None else None

    @classmethod
    def upgraded(cls, version: int, content: dict[str, Any]) -> dict[str, Any]:
        """Version 1 as version 2."""
        media_type, sha1 = content.pop("media_type", None), content.pop("payload_sha1", None)
        if content.get("type") == "revisit":
            content |= {"mime": REVISIT_MIME}
            if media_type is not None:
                content["media_type"] = media_type
        elif media_type is not None:
            content["mime"] = media_type
        digest = sha1 if sha1 is not None else content.get("declared_digest")
        if digest is not None:
            content["digest"] = cdx_digest(digest)
        for key, old in (("url", "target_uri"), ("filename", "archive_file")):
            if old in content:
                content[key] = content.pop(old)
        return content


def cdx_digest(digest: str) -> str:
    """A digest as indexes write it: SHA-1 in Base32 without its label."""
    return digest[5:] if digest.startswith(_SHA1) and len(digest) == 37 else digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalLine:
    """`m:cdx`: an index line of an archive that is stored elsewhere, as a client gave it.

    A row has either this or a `m:capture`.  The fields up to `more` are those of its CDXJ line;
    `more` is JSON of others that it had.
    """

    COLUMN: ClassVar[bytes] = b"m:cdx"
    VERSION: ClassVar[int] = 1

    url: str
    mime: str | None = None
    status: str | None = None
    digest: str | None = None
    length: str | None = None
    offset: str | None = None
    filename: str
    redirect: str | None = None
    robots: str | None = None
    collection: str
    more: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """`m:location.N`: the place of the record in generation N, from 2 on.

    That in generation 1 is in `m:capture`; those landed before version 2 of that have it here.

    `offset` and `length` are those of the compressed member; `inner_offset` is where the
    record begins in the inflated member, if it is not alone in it.  `ending` is that of the
    generation's stored file (`generation_names`), if the file landed with another: with it, the
    row alone gives the name.  Version 1 had none.
    """

    COLUMN: ClassVar[bytes] = b"m:location."
    VERSION: ClassVar[int] = 2

    offset: int
    length: int
    inner_offset: int = 0
    ending: str | None = None


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
    """`r:capture`: the capture that has this digest, over its `stored` or `dechunked` body; in a
    row of what a revisit refers to, the revisit, and `body` says nothing."""

    COLUMN: ClassVar[bytes] = b"r:capture"
    VERSION: ClassVar[int] = 1

    capture_key: str
    body: str = "stored"
