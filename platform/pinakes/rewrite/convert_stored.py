"""One ARC file to one WARC file in any archive store: verified before it is published."""

from __future__ import annotations

from pinakes.warc.source import Source

from .convert import survey_arc, warc_name
from .convert_file import Conversion, warc_pieces
from .rebuild import verify_conversion
from .stored_target import StoredTarget


def convert_stored(source: Source, to: StoredTarget) -> Conversion:
    """Convert `source`; the ARC is rebuilt from the written file to verify it.

    Raises:
        InputRefused: if `source` is not an ARC file, changed while it was read, or would
            replace another file.
        DigestMismatch: if the verification fails; nothing is published then.
        StoreUnavailable: as the stores.
    """
    survey = survey_arc(source)
    name = warc_name(survey.name, compressed=survey.compressed)
    result = Conversion(arc=source.name, warc=to.named(name))

    def check(written: Source) -> None:
        result.verified_bytes = verify_conversion(source, written)

    result.outcome = to.write(name, warc_pieces(source, survey, result), source, check)
    return result
