"""Compares archive files, and what was copied of them, with the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from pinakes.archive_store.port import ArchiveReader, ArchiveStore, PublishedFile
from pinakes.catalog.dropped import act_that_dropped, is_withdrawal, put_back_words
from pinakes.catalog.file_records import iter_sidecar, read_generations, sidecar_of
from pinakes.catalog.file_rows import FileEntry, read_entry, scan_entries
from pinakes.catalog.kept_dictionaries import NOT_AS_NAMED, parse_kept_name
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, PinakesError
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.cells import decode_stored
from pinakes.row_store.port import RowStore

from .contents import FileLine

SIDECAR = sidecar_name("")
_Version = tuple[GenerationFacts, int]
"""What was noted of a generation, and when, in ms."""


def problem_of(rows: RowStore, line: FileLine, watermark_ms: int) -> DigestMismatch | None:
    """What is wrong with an archive file, no sidecar; None if it is right, or cannot be judged.

    Rows change while files are copied: a file may have been removed since, and another may have
    its name.  So every kept version is compared; if all are later than the snapshot, the rows no
    longer describe the file.  Nor do they describe a generation that an act has published but not
    made current yet.  The backup's own rows do, for fsck in the restored store.  One
    round trip, and two more where a file differs.
    """
    kept = parse_kept_name(line.name)
    if kept is not None:
        is_as_named = line.sha256.startswith(kept.sha256_start)
        return None if is_as_named else DigestMismatch(NOT_AS_NAMED, file=line.name)
    versions = list(_versions(rows, line.name))
    if not versions and _was_current(rows, line.name):
        return DigestMismatch(
            "nothing says which bytes it was stored with; copied as it is: see `pinakes fsck`",
            file=line.name,
        )
    if not _differs(versions, line, watermark_ms):
        return None
    archive_file, generation, _ = generation_of(line.name)
    # Once more, in this order: the facts of a generation are written before it is current.
    is_current = generation <= read_entry(rows, archive_file).generation
    if not (is_current and _differs(_versions(rows, line.name), line, watermark_ms)):
        return None
    return DigestMismatch(
        "its SHA-256 differs from the catalogue's; copied as it is: see `pinakes fsck`",
        file=line.name,
    )


def sidecar_problem(held: ArchiveReader, name: str) -> DigestMismatch | None:
    """What is wrong with a sidecar of the snapshot, read whole; None for one that lists records,
    and says that they are of its file."""
    file = name.removesuffix(SIDECAR)
    try:
        of = sidecar_of(held, file)
        for _ in iter_sidecar(held, file):
            pass
    except MalformedRecord as problem:
        why = problem.message
    else:
        if of is None or of.file == file:
            return None
        why = "the sidecar is that of another file"
    return DigestMismatch(
        f"{why}; copied as it is: `pinakes fsck --full --repair` rebuilds it", file=name
    )


def iter_missing(
    rows: RowStore, archive: ArchiveStore, was_copied: Callable[[str], bool]
) -> Iterator[PinakesError]:
    """Yield files that the catalogue has, and neither the backup nor the archive, or not their
    sidecar.

    One that landed since the snapshot is in the archive, and is listed there.  A few round trips
    for each file that was not copied; memory for all names, if there is one.
    """
    listed = lru_cache(maxsize=1)(lambda: {stored.name for stored in archive.list()})

    def is_missing(name: str) -> bool:
        # In this order: a file that leaves goes after its state has changed.
        return not was_copied(name) and (archive.size(name) is None or name not in listed())

    for entry in scan_entries(rows):
        if entry.state is not FileState.STORED:
            continue
        before = read_generations(rows, entry.archive_file) if entry.generation > 1 else {}
        problems = list(_missing_of(entry, before, is_missing))
        if not problems or read_entry(rows, entry.archive_file) != entry:
            continue
        if not before or read_generations(rows, entry.archive_file) == before:
            yield from problems


def _missing_of(
    entry: FileEntry,
    generations: Mapping[int, GenerationFacts],
    is_missing: Callable[[str], bool],
) -> Iterator[PinakesError]:
    """Of the current generation, and of those before it that no act has dropped."""
    kept = [
        facts.file
        for number, facts in generations.items()
        if number < entry.generation and facts.dropped == ""
    ]
    for name in (*kept, entry.stored_name):
        if is_missing(name):
            yield InputRefused(
                "is missing in the archive, and so in this backup: see `pinakes fsck`", file=name
            )
        elif is_missing(sidecar_name(name)):
            yield InputRefused(
                "its sidecar is missing, and so in this backup: `pinakes fsck --repair` rebuilds "
                "it",
                file=name,
            )


def iter_lost(
    rows: RowStore, archive: ArchiveStore, held: ArchiveStore, folder: str = ""
) -> Iterator[str]:
    """Yield the files in a folder of `held` that are on record, as they are on record, and that
    the archive does not have like that.

    Reads all of them, and their namesakes in the archive.  Round trips: a few for each.
    """
    for stored in held.list(folder):
        name = stored.name.removeprefix(f"{folder}/")
        if not name.endswith(SIDECAR) and _is_lost(rows, archive, name, held, stored):
            yield name


def _is_lost(
    rows: RowStore, archive: ArchiveStore, name: str, held: ArchiveStore, stored: PublishedFile
) -> bool:
    archive_file, generation, _ = generation_of(name)
    facts = read_generations(rows, archive_file).get(generation)
    if facts is None or facts.file != name or facts.dropped or stored.size != facts.size:
        return False
    state = read_entry(rows, archive_file).state
    if state is None or state.is_gone:
        return False
    if how_bytes_differ(archive, name, facts) is None:
        return False
    return held.checksum(stored.name) == facts.sha256


def in_backup_alone(name: str, act: str) -> DigestMismatch:
    """The problem that an unfinished backup holds what the archive has lost."""
    return DigestMismatch(
        f"{act} did not end, and holds this file, which the archive has no longer: put it back "
        "from there; nothing of that backup was deleted",
        file=name,
    )


def act_that_dropped_it(
    rows: RowStore, archive: ArchiveReader, name: str, watermark_ms: int
) -> str | None:
    """The act that had dropped the old generation of this name before the snapshot, where its file
    is there all the same: it was put back.

    `archive` is the one in use: a file that an act was just deleting is not there any more.  One
    round trip for each file; some more where it was dropped.
    """
    then = (facts for facts, time_ms in _versions(rows, name) if time_ms <= watermark_ms)
    act = act_that_dropped(rows, next(then, None))
    return None if act is None or archive.size(name) is None else act


def put_back(rows: RowStore, name: str, act: str) -> InputRefused:
    """The problem that a generation is there which this act has dropped."""
    facts = read_entry(rows, generation_of(name).archive_file).facts
    words = put_back_words(act, facts.collection if facts is not None else "")
    how = "not copied" if is_withdrawal(act) else "copied as it is"
    return InputRefused(f"superseded generation, {how}: {words}", file=name)


def _was_current(rows: RowStore, name: str) -> bool:
    """Whether a file of which no version is noted is the current or an older generation."""
    archive_file, generation, _ = generation_of(name)
    entry = read_entry(rows, archive_file)
    if entry.state is not FileState.STORED or generation > entry.generation:
        return False
    # In another compression, it was left by an act that ended before.
    return name == entry.stored_name or generation not in read_generations(rows, archive_file)


def _differs(versions: Iterable[_Version], line: FileLine, watermark_ms: int) -> bool:
    """Whether versions of its facts are of the snapshot or before, and none has these bytes."""
    known = {facts.sha256: time_ms for facts, time_ms in versions}
    was_known = any(time_ms <= watermark_ms for time_ms in known.values())
    return was_known and line.sha256 not in known


def _versions(rows: RowStore, name: str) -> Iterator[_Version]:
    """What the rows have on the generation stored as `name`, with times in ms, latest first."""
    archive_file, generation, _ = generation_of(name)
    column = numbered_column(GenerationFacts, generation)
    key = encode_file_key(archive_file)
    for cell in rows.versions("files", key, column):
        facts = decode_stored(GenerationFacts, "files", key, column, cell.value)
        # Acts that ended before may have written this generation in another compression.
        if facts.file == name:
            yield facts, cell.timestamp_ms
