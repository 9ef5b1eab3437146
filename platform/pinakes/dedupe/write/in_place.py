"""Rewritten archive files in the old ones' place, the old ones kept in `superseded/`.

All files are written aside and compared with the old ones first, record by record, the
bodies of all originals included (SHA-256); only then is one after the other put in
place.  Killed anywhere, the same call ends the work: what it writes depends on the
manifest and the old files alone, so a file that is done is known by its bytes.

    A.warc.gz, superseded/ has none         not begun
    superseded/A.warc.gz is A.warc.gz       the old one has its second name
    A.warc.gz is what would be written      done
"""

from __future__ import annotations

import filecmp
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.local.whole_files import keep_as, put_in_place
from pinakes.archive_store.located import local_path
from pinakes.dedupe.archive_files import SUPERSEDED, ArchiveFiles
from pinakes.dedupe.references.outcomes import HARMLESS, OUTCOMES
from pinakes.dedupe.references.resolution import Reference, Resolution
from pinakes.dedupe.references.values import ALGORITHM, FULL_TYPES, body_of, full_of
from pinakes.dedupe.validate.file_pairs import FilesComparison, compare_files
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.replace import Replacement
from pinakes.warc.file_names import is_remote
from pinakes.warc.opening import open_source
from pinakes.warc.packages.paths import split_member
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .rewriting import Replacements, rewrite_to


class Staged(NamedTuple):
    """A file that is written and compared, and not yet in its place."""

    path: Path
    fresh: Path
    kept: Path


class InPlaceRewriting:
    """Stages files, checks where all references lead, puts them in place; a context manager.

    Nothing is changed before `swap`; what was staged and not put in place is removed.
    """

    def __init__(self, files: ArchiveFiles) -> None:
        self._files = files
        self._resolution = Resolution()
        self._staged: list[Staged] = []
        self._unchanged: list[Path] = []

    def __enter__(self) -> InPlaceRewriting:
        return self

    def __exit__(self, *_: object) -> None:
        for staged in self._staged:
            staged.fresh.unlink(missing_ok=True)
        self._resolution.close()

    def stage(self, place: str, replacements: Replacements) -> bool:
        """Write the new file aside and compare it with the old one; False if none is needed.

        Raises:
            DigestMismatch: where the comparison found anything.
            InputRefused: where another file stands in `superseded/`.
        A file of which either is raised is not put in place.
        """
        if is_remote(place) or split_member(place) is not None:
            raise InputRefused("on a server or in a package, which stays: use -o", file=place)
        path = local_path(place)
        kept = path.parent / SUPERSEDED / path.name
        old = kept if kept.exists() else path
        fresh = path.with_name(f".{path.name}.pinakes-rewritten")
        fresh.unlink(missing_ok=True)
        replaced = False

        def watched(source: Source) -> Iterator[Replacement]:
            nonlocal replaced
            for replacement in replacements(source):
                replaced = True
                yield replacement

        def check(before: Source, after: Source) -> None:
            if replaced:
                self._compare(before, after, path)

        try:
            rewrite_to(str(old), fresh, watched, check=check)
            if replaced:
                _refuse_another_rewriting(path, kept, fresh)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        if not replaced:
            fresh.unlink()
            self._unchanged.append(old)
            return False
        self._staged.append(Staged(path, fresh, kept))
        return True

    def _compare(self, before: Source, after: Source, path: Path) -> None:
        found = FilesComparison()
        compare_files(before, after, self._resolution, found)
        if found.discrepancies:
            first = found.discrepancies[0]
            raise DigestMismatch(
                f"the rewritten file is not what it should be ({first.message}); "
                "nothing was changed",
                file=str(path),
                offset=first.offset,
            )

    def add_originals(self, lines: Iterable[ManifestLine]) -> None:
        """Make known the originals that these lines refer to; each is read."""
        places = {
            (line.original_file, line.original_offset or 0, line.original_inner_offset)
            for line in lines
            if line.original_file is not None
        }
        for name, offset, inner in sorted(places):
            source = self._files.source(name)
            record = read_record(source, offset, inner_offset=inner, digests=(ALGORITHM,))
            self._add_full(record)

    def _add_unchanged(self) -> None:
        for path in self._unchanged:
            with open_source(path) as source:
                for record in iter_records(source, digests=(ALGORITHM,)):
                    self._add_full(record)

    def _add_full(self, record: Item | None) -> None:
        if isinstance(record, Record) and record.type in FULL_TYPES:
            self._resolution.add_full(*full_of(record, body_of(record), stays=True))

    def _first_unresolved(self) -> Reference | None:
        outcomes = self._resolution.outcomes()
        return next((one for one in outcomes if one.outcome not in HARMLESS), None)

    def swap(self) -> list[Path]:
        """Put every staged file in its place; the paths.

        Raises:
            DigestMismatch: where a reference does not lead to the body it stands for;
                then nothing is changed.
        """
        if self._unchanged and self._first_unresolved() is not None:
            # What it means may stand in a file that stays as it is.
            self._add_unchanged()
        unresolved = self._first_unresolved()
        if unresolved is not None:
            raise DigestMismatch(
                f"record {unresolved.ordinal}: {OUTCOMES[unresolved.outcome]} "
                f"({unresolved.target_uri}); nothing was changed",
                file=unresolved.file,
            )
        done = []
        while self._staged:
            _swap_one(self._staged[0])
            done.append(self._staged.pop(0).path)
        return done


def _refuse_another_rewriting(path: Path, kept: Path, fresh: Path) -> None:
    if kept.exists() and not any(
        filecmp.cmp(path, other, shallow=False) for other in (fresh, kept)
    ):
        raise InputRefused(f"{kept} is of another rewriting: move it away first", file=str(path))


def _swap_one(staged: Staged) -> None:
    """Give the old file its second name, then the new one the first."""
    path, fresh, kept = staged
    if kept.exists() and filecmp.cmp(path, fresh, shallow=False):
        fresh.unlink()
        return
    keep_as(path, kept)
    put_in_place(fresh, path)
