"""Proves what revisits of ours refer to as `restore` does: the record that each replaced is made
again, and compared with the length and the checksum that the revisit carries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.write.restore import RestoreCount, restored_or_none, want_originals
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source


def prove_references(
    resolution: Resolution, read: Callable[[str, Callable[[Source], None]], None]
) -> None:
    """Note of each unproven revisit of ours whether its original has its body.

    `read` opens the file at a place, a path or a URL, and calls with it.  Memory: some 300 bytes
    for each revisit of ours in a file that has unproven ones.
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
