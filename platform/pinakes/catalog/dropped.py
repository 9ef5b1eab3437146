"""Old generations that an act has dropped, and that were put back."""

from __future__ import annotations

import shlex

from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.row_store.port import RowStore

from .run_rows import is_running

_WITHDRAWAL = "withdraw-"
"""What names of acts of `withdraw` begin with."""


def act_that_dropped(rows: RowStore, facts: GenerationFacts | None) -> str | None:
    """The act that has dropped a generation: if its file is there, it was put back.

    None where no act has, and while that act may still be about to delete it: the drop is noted
    before.  One round trip, if it is noted.
    """
    act = facts.dropped if facts is not None else None
    return act if act and not is_running(rows, act) else None


def is_withdrawal(act: str) -> bool:
    """Whether an act has dropped a generation because of what was withdrawn from it."""
    return act.startswith(_WITHDRAWAL)


def put_back_words(act: str, collection: str) -> str:
    """What has happened to such a generation, and which commands delete it."""
    again = "`pinakes withdraw` the same again, or " if is_withdrawal(act) else ""
    deleting = deleting_words(collection)
    return f"{act} has dropped it, and it is there again: {again}{deleting}"


def deleting_words(collection: str) -> str:
    """The command that deletes an old generation, and when it does."""
    return f"{drop_old_words(collection)} deletes it, once nothing is lost without it"


def drop_old_words(collection: str) -> str:
    """The command that drops old generations of a collection, and mends files by them first."""
    name = f" --collection {shlex.quote(collection)}" if collection else ""
    return f"`pinakes generations{name} --drop --grace 0`"
