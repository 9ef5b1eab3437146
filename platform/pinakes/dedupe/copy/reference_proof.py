"""Proves the originals that revisits name.

Each is inflated once more, by zlib or zstd alone, however many revisits name it.  Where its digest
does not decide, a revisit that we wrote is proven as by `restore`: the record that it replaced is
made again, and compared with the length and the checksum in the revisit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.references.stream import RecordStretch
from pinakes.dedupe.write.proofs import inflates
from pinakes.dedupe.write.restore import RestoreCount, restored_or_none, want_originals
from pinakes.warc.compression.members import compression_of
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

Read = Callable[[str, Callable[[Source], None]], None]
"""Opens the file of a name, as it was given to the resolution, and calls with it."""


def prove_originals(resolution: Resolution, read: Read) -> None:
    """Note which of the originals that revisits name are damaged.

    One whose file cannot be read again counts as damaged.
    """
    for name, stretches in resolution.named_originals():
        read(name, partial(_prove_stretches, stretches=stretches, resolution=resolution))
        for unread in stretches:
            resolution.add_damaged(unread)


def _prove_stretches(
    source: Source, stretches: Iterator[RecordStretch], resolution: Resolution
) -> None:
    for stretch in stretches:
        is_whole = False
        try:
            is_whole = is_inflating(source, stretch.start, stretch.end)
        finally:
            if not is_whole:
                resolution.add_damaged(stretch)


def is_inflating(source: Source, start: int, end: int) -> bool:
    """Whether what is compressed there inflates whole; what is not compressed has no checksum."""
    return compression_of(source, start) is None or inflates(source, start, end)


def prove_references(resolution: Resolution, read: Read) -> None:
    """Note of each unproven revisit of ours whether its original has its body.

    Memory: some 300 bytes for each revisit of ours in a file that has unproven ones.
    """
    unproven, originals = resolution.unproven(), Originals()
    for place in unproven.revisits:
        read(place, partial(want_originals, originals=originals))
    for place in unproven.originals:
        read(place, originals.look_through)
    with ArchiveFiles() as files:

        def prove(source: Source, ordinals: set[int], place: str) -> None:
            for record in iter_records(source, digests=(), types=("revisit",)):
                if isinstance(record, Record) and record.ordinal in ordinals:
                    pieces = restored_or_none(place, record, originals, files, RestoreCount())
                    resolution.add_proof(place, record.ordinal, is_proven=pieces is not None)

        for place, ordinals in unproven.revisits.items():
            read(place, partial(prove, ordinals=ordinals, place=place))
