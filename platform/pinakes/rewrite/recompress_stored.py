"""One archive file to one in another compression, in any archive store."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.archive_store.located import output_name
from pinakes.warc.source import Source

from .member_forms import MemberForm
from .recompress import require_same
from .recompress_file import (
    TOO_LITTLE,
    Recompression,
    SavesTooLittleError,
    member_pieces,
    worthwhile,
)
from .stored_target import StoredTarget


def recompress_stored(
    source: Source,
    form: MemberForm,
    to: StoredTarget,
    *,
    min_saving: float = 0,
    reads: Callable[[Source], None] = lambda written: None,
) -> Recompression:
    """Write `source` in another form, and compare the two; the bytes of `recompress_file`.

    `reads` is called with the new file before it is read: with what is in place, if that is equal.

    Raises:
        MalformedRecord: bytes of the file cannot be read.
        InputRefused: it has no record, changed while it was read, or would replace another file.
        DigestMismatch: what was written is not the same; nothing is published then.
        StoreUnavailable: as the stores.
    """
    name = form.name(output_name(source.name))
    result = Recompression(file=source.name, target=to.named(name), bytes_before=source.size)

    def check(written: Source) -> None:
        reads(written)
        result.content = require_same(source, written)

    pieces = worthwhile(member_pieces(source, form, result), result, min_saving)
    try:
        result.outcome = to.write(name, pieces, source, check)
    except SavesTooLittleError:
        return result.left_as_it_is(TOO_LITTLE)
    return result
