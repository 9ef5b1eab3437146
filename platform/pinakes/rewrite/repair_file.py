"""One WARC file to a corrected one in a folder: written aside, proven, then published.

The file that is given is only read.  What the new file does not change, it has byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pinakes.archive_store.local.whole_files import OutputFolder
from pinakes.archive_store.located import open_place, output_name
from pinakes.conformance.subject import Subject
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

from .file_parts import Bytes
from .new_file import WOULD_WRITE, write_checked
from .repair import Repair, errors_of, iter_repairs
from .replace import iter_with_replacements
from .shared_members import unsplittable_members

NOTHING = "nothing to repair"
_PASSES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairNote:
    """A change, or an error that is left (`after` is None then), at a place of the old file."""

    file: str
    offset: int
    inner_offset: int
    code: str
    field: str
    before: str
    after: str | None

    def as_json(self) -> dict[str, Any]:
        """For `--json`; documented in docs/repair.md."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True, kw_only=True)
class Repairing:
    """The result for one file."""

    file: str
    target: str
    outcome: str = NOTHING
    records: int = 0
    older: int = 0
    """Records of WARC/0.17 and 0.18, which stay as they are."""
    repaired: int = 0
    """Records with a change."""
    changes: int = 0
    left: int = 0
    """Errors that the new file has, too."""
    proven_bytes: int | None = None
    """The bytes of blocks that were compared; None where nothing was written."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`; documented in docs/repair.md."""
        return {name: getattr(self, name) for name in self.__slots__}


def repair_file(
    place: str,
    folder: Path,
    tell: Callable[[RepairNote], None],
    *,
    dry_run: bool = False,
    advance: Advance = no_advance,
) -> Repairing:
    """Write the file at `place`, a path or URL, into `folder` with what is wrong in it put right.

    `tell` is called for each change and each error that is left, in order, before anything is
    written.  Where nothing is to be changed, nothing is.  The same bytes each time; an equal file
    that exists already is left as it is.

    Raises:
        InputRefused: no WARC record in it, it changed while it was read, or would replace another
            file; or a Zstandard file has a dictionary without an id.
        DigestMismatch: what was written is not proven; nothing is published then.
        Conflict, StoreUnavailable: as `written_aside`.
    """
    with open_place(place) as source, FileProgress(advance, source.size, passes=_PASSES) as done:
        source.watch(done.reached)
        files, name = OutputFolder(folder), output_name(place)
        result = Repairing(file=place, target=files.named(name))
        unsplittable = unsplittable_members(source)
        arc_hint = ""
        for repair in iter_repairs(source, unsplittable):
            _count(repair, result, tell)
            if isinstance(repair.item, Record) and repair.item.version.startswith("ARC/"):
                arc_hint = ": `pinakes convert` makes WARC files of ARC files"
        if not result.records:
            raise InputRefused(f"no WARC record in it{arc_hint}", file=place)
        if not result.changes:
            source.check_unchanged()
            return result
        result.outcome = WOULD_WRITE
        repairs = iter_repairs(source, unsplittable)
        pieces = iter_with_replacements(
            source, (each for repair in repairs for each in repair.replacements)
        )

        def check(written: Source) -> None:
            result.proven_bytes = require_repaired(source, written, unsplittable)

        result.outcome = write_checked(files, name, source, pieces, check, dry_run=dry_run)
    return result


def _count(repair: Repair, result: Repairing, tell: Callable[[RepairNote], None]) -> None:
    item = repair.item
    inner = 0
    if isinstance(item, Record):
        inner = item.inner_offset
        result.records += item.version[:5].upper() == "WARC/"
        result.older += item.version.startswith("WARC/0.")
    result.repaired += bool(repair.changes)
    result.changes += len(repair.changes)
    result.left += len(repair.left)

    def say(code: str, field: str, before: str, after: str | None) -> None:
        note = RepairNote(
            file=result.file,
            offset=item.offset,
            inner_offset=inner,
            code=code,
            field=field,
            before=before,
            after=after,
        )
        tell(note)

    for change in repair.changes:
        say(*change)
    for hit in repair.left:
        say(hit.code, "", hit.message, None)


def require_repaired(source: Source, written: Source, unsplittable: set[int]) -> int:
    """Prove that a new file has all of an old one, and no error that was put right; the bytes of
    its blocks.

    Both are read from the disk.  Compared are, record by record, in order, the bytes of the block,
    by SHA-256, and those of what is no record; and the errors that `check` finds.

    Raises:
        DigestMismatch: they do not agree; with the place in the old file.
    """
    proven = 0
    both = zip_longest(iter_repairs(source, unsplittable), iter_records(written, digests=()))
    for repair, after in both:
        if repair is None or after is None:
            offset = repair.item.offset if repair is not None else None
            raise _differs(source, offset, "the new file has not the same number of records")
        item = repair.item
        if isinstance(after, DamagedStretch) or isinstance(item, DamagedStretch):
            if _stretch(source, item) != _stretch(written, after):
                raise _differs(source, item.offset, "what is no record is not the same")
            continue
        size, state = _hashed(repair.block())
        if (size, state) != _hashed(after.chunks()):
            raise _differs(source, item.offset, "the block is not the same in the new file")
        wrong = {hit.code for hit in errors_of(Subject.of(after), written)}
        wrong -= {hit.code for hit in repair.left}
        if wrong:
            raise _differs(source, item.offset, f"the new file has {', '.join(sorted(wrong))}")
        proven += size
    return proven


def _stretch(file: Source, item: Item) -> tuple[int, bytes] | None:
    if not isinstance(item, DamagedStretch):
        return None
    return _hashed(file.pieces(item.offset, item.end))


def _hashed(pieces: Iterable[Bytes]) -> tuple[int, bytes]:
    state, size = hashlib.sha256(), 0
    for piece in pieces:
        state.update(piece)
        size += len(piece)
    return size, state.digest()


def _differs(source: Source, offset: int | None, why: str) -> DigestMismatch:
    return DigestMismatch(f"{why}: not published", file=source.name, offset=offset)
