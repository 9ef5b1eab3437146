"""Records whose bytes are not those that were written: they are listed, and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.errors import MalformedRecord
from pinakes.warc.reader import Item
from pinakes.warc.record import NOT_WHOLE, Finding, HidingFinding, Record


def iter_naming(
    items: Iterable[Item], file: str, on_fault: Callable[[MalformedRecord], object]
) -> Iterator[Item]:
    """The same items; `on_fault` gets each record that a checksum, or its compression, shows to be
    damaged, and each by whose length others may be hidden in its member."""
    for item in items:
        if isinstance(item, Record) and item.findings:
            for finding in item.findings:
                if what := _why_named(finding):
                    on_fault(MalformedRecord(what, file=file, offset=item.offset))
        yield item


def _why_named(finding: Finding) -> str:
    """Nothing of what is not named."""
    if finding.code in NOT_WHOLE:
        return f"{finding.message}: the record is not whole"
    if isinstance(finding, HidingFinding):
        return f"{finding.message}: no record is read there"
    return ""
