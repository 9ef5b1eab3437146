"""A new generation of a landed file: written aside, read back, checked, published.

    copy with replacements ─▶ on disk ─▶ compared with the old ─▶ published, sidecar first

`moving` makes it current.  It is in the compression of the old one, unless all of it is written in
another form.  An old one that is not what was stored stays as it is: the checksum of a new one
would cover the damage.  After a kill at any point, the same call completes the work: a file
published before is compared with what is written, and replaced by it where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader, ArchiveStore, AsideFile
from pinakes.catalog.file_records import iter_sidecar, require_as_stored, sidecar_of
from pinakes.catalog.sidecar import SidecarOf, SidecarRow, sidecar_name, write_sidecar
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.generation_names import (
    Generation,
    ending_in,
    generation_file,
)
from pinakes.rewrite.replace import Replacement, copy_file_with_replacements, write_pieces
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

COPY, REWRITTEN, SIDECAR, KEPT = "copy", "rewritten", "sidecar", "kept"
At = Callable[[str], None]
"""Called after each step, with its name: tests end the process there."""
Replacements = Callable[[Source], Iterator[Replacement]]


def unwatched(step: str) -> None:
    """The `At` of work that no test watches."""


def aside_token(claim_token: str, part: str) -> str:
    """The token for `create_aside`: the claim's token and the kind of file."""
    return f"{claim_token}.{part}"


def publish_pair(
    archive: ArchiveStore,
    copy: AsideFile,
    sidecar: AsideFile,
    name: str,
    *,
    sha256: str,
    at: At,
) -> bool:
    """Publish a file and its sidecar, the sidecar first: a published file always has one.

    A file of that name and SHA-256 is kept: an act that died has published it.  False where
    another file has the name.

    Raises MalformedRecord where what has the sidecar's name is no sidecar: it may be another file.
    """
    if archive.size(sidecar_name(name)) is not None:
        sidecar_of(archive, name)
    archive.delete(sidecar_name(name))
    sidecar.publish(sidecar_name(name))
    at("sidecar published")
    if archive.size(name) is None:
        copy.publish(name)
    elif archive.checksum(name) != sha256:
        return False
    at("published")
    return True


class InAnotherForm(NamedTuple):
    """All of a file, compressed otherwise; `ending` is that of the new one (`generation_names`)."""

    ending: str
    pieces: Callable[[Source], Iterable[bytes | memoryview]]


Contents = Replacements | InAnotherForm
Check = Callable[[Source, Source], None]
Annotate = Callable[[SidecarRow, Record], SidecarRow]
MarksOf = Callable[[SidecarRow], Mapping[bytes, bytes]]


def as_it_was(row: SidecarRow, record: Record) -> SidecarRow:
    """`Annotate` for a generation about whose records nothing is decided."""
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A generation that is published, but not current yet; endings as `Generation` has them.

    `old_sha256` is of the bytes from which it was written.
    """

    archive_file: str
    generation: int
    size: int
    sha256: str
    old_sha256: str
    ending: str | None = None
    old_ending: str | None = None

    @property
    def name(self) -> str:
        """Its stored file."""
        return generation_file(self.archive_file, self.generation, self.ending)

    @property
    def old_name(self) -> str:
        """The stored file from which it was written."""
        return generation_file(self.archive_file, self.generation - 1, self.old_ending)


def refuse_other_file(name: str) -> None:
    """Raise DigestMismatch: what has the name of a new generation was written by no act."""
    raise DigestMismatch("another file has the new generation's name", file=name)


def write_generation(
    archive: ArchiveReader,
    to: ArchiveStore,
    generation: Generation,
    contents: Contents,
    *,
    stored_sha256: str | None,
    token: str,
    check: Check,
    annotate: Annotate,
    require_spare: Callable[[str], None] = refuse_other_file,
    at: At = unwatched,
) -> Written:
    """Write and publish the next generation, with its sidecar; readers see no change.

    It is read from `archive` and published in `to`: the same store, or the one from which a
    driver takes it.  `stored_sha256` is what the old one has to be; None where the caller compares,
    or means to mend it.  `token` names the files written aside.  `check(old, new)` raises if the
    new file is wrong; `annotate` adds the decision about a record to its sidecar row.
    `require_spare(name)` raises if what an act that died has left under the new name may not go.

    Raises:
        DigestMismatch: by `check`; if the old one is not what was stored; or if another file has
            the name of the new one, which no act has written, or its records differ.
    """
    new = _following(generation, contents)
    old_name, name = generation.name, new.name
    with (
        archive.open(old_name) as old_file,
        to.create_aside(aside_token(token, REWRITTEN)) as copy,
        to.create_aside(aside_token(token, SIDECAR)) as sidecar,
    ):
        old = Source(old_file, name=old_name)
        old_sha256 = old.sha256()
        if stored_sha256 is not None:
            require_as_stored(old_name, old_sha256, stored_sha256)
        if isinstance(contents, InAnotherForm):
            size = write_pieces(copy.file, contents.pieces(old))
        else:
            with archive.open(old_name) as copied:
                size = copy_file_with_replacements(copied, copy.file, old.size, contents(old))
        sha256 = copy.checksum()
        at("rewritten")
        with copy.open() as new_file:
            written = Source(new_file, name=name, size=size)
            check(old, written)
            at("checked")
            rows = iter_sidecar(archive, old_name)
            moved = _moved_rows(rows, written, annotate)
            write_sidecar(sidecar.file, moved, lambda: SidecarOf(name, new.number, sha256))
        is_of_an_act = to.size(sidecar_name(name)) is not None
        if is_of_an_act and to.size(name) is not None and to.checksum(name) != sha256:
            # Left by one that ended before it was current: nothing refers to it.
            require_spare(name)
        if not publish_pair(to, copy, sidecar, name, sha256=sha256, at=at):
            if not is_of_an_act:
                to.delete(sidecar_name(name))
                refuse_other_file(name)
            to.delete(name)
            at("deleted")
            copy.publish(name)
            at("published")
    return Written(
        archive_file=new.archive_file,
        generation=new.number,
        size=size,
        sha256=sha256,
        old_sha256=old_sha256,
        ending=new.ending,
        old_ending=generation.ending,
    )


def _following(generation: Generation, contents: Contents) -> Generation:
    if not isinstance(contents, InAnotherForm):
        return generation.following()
    ending = ending_in(generation.archive_file, contents.ending)
    return generation.following()._replace(ending=ending)


def _moved_rows(
    rows: Iterable[SidecarRow], new: Source, annotate: Annotate
) -> Iterator[SidecarRow]:
    """The old rows with the places in the new file.  Order and number never change."""
    records = (item for item in iter_records(new, digests=()) if isinstance(item, Record))
    for row, record in zip_longest(rows, records):
        if (
            row is None
            or record is None
            or row.record_id != record.record_id
            or row.target_uri != record.target_uri
        ):
            # A damaged member may extend into the bytes that follow it, so that other bytes there
            # change how the record before them is read.
            raise DigestMismatch(
                "its records would be read differently in the new file, or its sidecar is that of "
                "another file (see `pinakes fsck`); nothing was changed",
                file=new.name,
                offset=record.offset if record is not None else None,
            )
        moved = row._replace(
            offset=record.offset, length=record.length, inner_offset=record.inner_offset
        )
        yield annotate(moved, record)
