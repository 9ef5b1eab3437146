"""One ARC file to one WARC file in any archive store: verified before it is published."""

from __future__ import annotations

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.warc.source import Source

from .convert import survey_arc, warc_name
from .convert_file import UNCHANGED, WRITTEN, Conversion, require_equal, warc_pieces
from .rebuild import verify_conversion


def convert_stored(
    source: Source, folder: ArchiveReader, out: ArchiveStore, *, place: str, inside: str, token: str
) -> Conversion:
    """Convert `source` into `out`, below `inside`; an equal file in `folder` is left as it is.

    `place` is the name of `folder`.  The ARC is rebuilt from the written file to verify it.

    Raises:
        InputRefused: if `source` is not an ARC file, changed while it was read, or would
            replace another file of `folder`.
        DigestMismatch: if the verification fails; nothing is published then.
        StoreUnavailable: as the stores.
    """
    survey = survey_arc(source)
    name = warc_name(survey.name, compressed=survey.compressed)
    target = f"{place}/{name}"
    result = Conversion(arc=source.name, warc=target)
    pieces = warc_pieces(source, survey, result)
    if folder.size(name) is not None:
        with folder.open(name) as file:
            existing = Source(file, name=target)
            require_equal(pieces, existing)
            result.verified_bytes = verify_conversion(source, existing)
        source.check_unchanged()
        result.outcome = UNCHANGED
        return result
    with out.create_aside(token) as aside:
        for piece in pieces:
            aside.file.write(piece)
        aside.crc32()  # it is on disk, and may be read
        with aside.open() as file:
            result.verified_bytes = verify_conversion(source, Source(file, name=target))
        source.check_unchanged()
        aside.publish(f"{inside}/{name}")
    result.outcome = WRITTEN
    return result
