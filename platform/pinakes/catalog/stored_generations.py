"""Which stored file a name means: an archive file's current generation, or one before it."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import (
    CurrentGeneration,
    FileFacts,
    FileStateCell,
    GenerationFacts,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import Generation, generation_of
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.hbase_schema.withdrawal_cells import WithdrawingRecords
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import RowStore, get_row

from .file_rows import TABLE, hidden_among, withdrawing_in

_COLUMNS = (FileStateCell.COLUMN, CurrentGeneration.COLUMN, WithdrawingRecords.COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGeneration:
    """A generation of an archive file that readers may see, as it was written.

    `name` is that of the stored file, `current` that of the current generation.  An older one
    may have been dropped.
    """

    name: str
    archive_file: str
    collection: str
    format: str
    size: int
    sha256: str
    current: str
    withdrawing: frozenset[int] = frozenset()
    """Records that are withdrawn, and may still be there."""
    dropped: str = ""
    """The act that has dropped it.  If its file is there, it was put back."""

    @property
    def is_current(self) -> bool:
        """Whether it is what readers use."""
        return self.name == self.current


def find_generation(store: RowStore, name: str) -> StoredGeneration | None:
    """The generation of that name; None if it is unknown, not written, or hidden.

    Two round trips.  Raises InputRefused for what is no name at all.
    """
    asked = generation_of(name)
    archive_file, number, _ = asked
    if number < 1 or asked.name != name:
        return None
    facts_column = numbered_column(GenerationFacts, number)
    row = get_row(
        store,
        TABLE,
        encode_file_key(archive_file),
        columns=(FileFacts.COLUMN, facts_column, *_COLUMNS),
    )
    landed, state = read_cell(FileFacts, TABLE, row), read_cell(FileStateCell, TABLE, row)
    if row is None or landed is None or state is None:
        return None
    if state.state != FileState.STORED.value:
        return None
    present = read_cell(CurrentGeneration, TABLE, row)
    facts = read_cell(GenerationFacts, TABLE, row, facts_column)
    if present is None:
        return None
    current = Generation(archive_file, present.generation, present.ending)
    # One that a run has written ahead is not read before it is current.
    if facts is None or number > current.number or hidden_among(store, [archive_file]):
        return None
    if facts.file != name:
        # It became another one: an act that ended before has written this.
        return None
    return StoredGeneration(
        name=name,
        archive_file=archive_file,
        collection=landed.collection,
        format=landed.format,
        size=facts.size,
        sha256=facts.sha256,
        current=current.name,
        withdrawing=withdrawing_in(row, landed),
        dropped=facts.dropped or "",
    )
