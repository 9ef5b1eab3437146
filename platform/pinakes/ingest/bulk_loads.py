"""Loads of bulk landings: their owners, and clearing up after workers that died.

    TEMP/pinakes-bulk,HOST,PID,START,WORKER/            rows that wait, in local files
    FOLDER/HOST,PID,START,WORKER,NUMBER/                a load, in HDFS

Dead workers of this host are recognised by name; other hosts clear up their own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pinakes.acts.actor import Actor
from pinakes.row_store.bulk_text import BulkTable
from pinakes.row_store.hbase.bulk import BulkLoad, BulkLoading, list_loads

from .bulk_landing import RENEW_EVERY_S

_SPOOL = "pinakes-bulk,"


class HBaseLoads:
    """A `Loader` for HBase, by its own tools: the loads of one worker, one after the other."""

    def __init__(
        self,
        loading: BulkLoading,
        actor: Actor,
        *,
        on_line: Callable[[str], None] = lambda line: None,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`on_line` is called per line of the tools' output; `at` after each step of a load."""
        self._loading = loading
        self._actor = actor
        self._on_line = on_line
        self._at = at
        self._number = 0

    def __call__(
        self, parts: Mapping[BulkTable, Sequence[Path]], meanwhile: Callable[[], None]
    ) -> None:
        self._number += 1
        load = BulkLoad(
            self._loading,
            f"{_name(self._actor.owner)},{self._number}",
            on_line=self._on_line,
            meanwhile=meanwhile,
            every_s=RENEW_EVERY_S / 2,
            at=self._at,
        )
        load.load(parts)

    def remove_left(self) -> list[str]:
        """Remove loads of dead workers from HDFS; return their names."""
        gone = [
            name
            for name in list_loads(self._loading)
            if self._actor.is_gone(_owner(name.rpartition(",")[0]))
        ]
        for name in gone:
            BulkLoad(self._loading, name).remove()
        return gone


def spool_place(actor: Actor, temp_dir: Path | None) -> Path:
    """The path of this worker's spool, which need not exist yet."""
    place = Path(temp_dir or tempfile.gettempdir()).absolute()
    return place / f"{_SPOOL}{_name(actor.owner)}"


@contextmanager
def spool_folder(actor: Actor, temp_dir: Path | None) -> Iterator[Path]:
    """A local folder for this worker's rows; folders of dead workers are removed."""
    folder = spool_place(actor, temp_dir)
    for left in folder.parent.glob(f"{_SPOOL}*"):
        if actor.is_gone(_owner(left.name.removeprefix(_SPOOL))):
            shutil.rmtree(left, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _name(owner: str) -> str:
    return owner.replace("/", ",")


def _owner(name: str) -> str:
    return name.replace(",", "/")
