"""Records whose bytes are not those that were written: they are listed, and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.errors import MalformedRecord
from pinakes.warc.reader import Item
from pinakes.warc.record import NOT_WHOLE, Record


def iter_naming(
    items: Iterable[Item], file: str, on_fault: Callable[[MalformedRecord], object]
) -> Iterator[Item]:
    """The same items; `on_fault` gets each record that a checksum, or its compression, shows to be
    damaged."""
    for item in items:
        if isinstance(item, Record) and item.findings:
            for finding in item.findings:
                if finding.code in NOT_WHOLE:
                    what = f"{finding.message}: the record is not whole"
                    on_fault(MalformedRecord(what, file=file, offset=item.offset))
        yield item
