"""The form in which an act writes the files of a collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO

from zstandard import ZstdCompressionDict

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.kept_dictionaries import kept_dictionaries, read_kept
from pinakes.hbase_schema.generation_names import GZIP, PLAIN, ZSTD
from pinakes.rewrite.recompress import GZIP as GZIP_FORM
from pinakes.rewrite.recompress import PLAIN as PLAIN_FORM
from pinakes.rewrite.recompress import MemberForm, zstd_form
from pinakes.warc.compression.gzip_members import NAME as GZIP_NAME
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.compression.zstd_frames import NAME as ZSTD_NAME
from pinakes.warc.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredForm:
    """`compression` is as `members.compression_of` has it, `ending` that of names of such files.

    `level` is that of Zstandard.  `dictionary` is the name of the one that the collection keeps,
    where that is used.
    """

    compression: str | None
    ending: str
    form: MemberForm
    level: int | None = None
    dictionary_content: bytes | None = None
    dictionary: str | None = None


IN_GZIP = StoredForm(compression=GZIP_NAME, ending=GZIP, form=GZIP_FORM)
UNCOMPRESSED = StoredForm(compression=None, ending=PLAIN, form=PLAIN_FORM)


def in_zstd(level: int, dictionary: ZstdCompressionDict | None) -> StoredForm:
    """A frame a record; `Raises` ConfigError for a level or dictionary that cannot be used."""
    return StoredForm(
        compression=ZSTD_NAME,
        ending=ZSTD,
        form=zstd_form(level, dictionary),
        level=level,
        dictionary_content=None if dictionary is None else dictionary.as_bytes(),
    )


def in_zstd_as_kept(archive: ArchiveStore, collection: str, level: int) -> StoredForm:
    """The same, with the dictionary that a collection keeps, if it keeps one.

    Raises:
        DigestMismatch: it is not the one that it is named after.
        ConfigError: as `in_zstd`.
    """
    kept = kept_dictionaries(archive, collection)
    if not kept:
        return in_zstd(level, None)
    name = kept[-1].name
    dictionary = dictionary_in(Source(BytesIO(read_kept(archive, kept[-1])), name=name))
    return replace(in_zstd(level, dictionary), dictionary=name)
