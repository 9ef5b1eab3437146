"""`pinakes fsck`: accept what is lost, and what repairs have replaced: list, undo, discard."""

from __future__ import annotations

from collections import Counter

from pinakes.archive_store.port import QUARANTINE, ArchiveStore
from pinakes.catalog.kept_repairs import read_repair, scan_repairs
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.ingest.acts import Actor
from pinakes.ingest.discarding import Discarder
from pinakes.ingest.fsck import Fsck
from pinakes.ingest.undoing import Undoer
from pinakes.profile import open_stores

_ALL = "all"


def accept(file: str, configuration: Configuration, console: Console) -> Exit:
    """Go on with the bytes that a damaged file has; prints what is lost."""
    with open_stores(configuration) as stores:
        accepted = Fsck(stores.rows, stores.archive, Actor()).accept(file)
    undoing = f"; undo: pinakes fsck --undo {accepted.repair}" if accepted.repair else ""
    console.result(
        {"file": file, **accepted._asdict()},
        text=f"{printable(file)}: accepted: {accepted.lost} of {accepted.before} captures are "
        f"lost{undoing}",
    )
    return Exit.DONE


def undo(repair: str, configuration: Configuration, console: Console) -> Exit:
    """Put back what a repair replaced; exit 3 where something has changed since, and was left."""
    with open_stores(configuration) as stores:
        undone = Undoer(stores.rows, stores.archive, Actor()).undo(repair)
    left = "".join(f"; left, since it has changed: {printable(name)}" for name in undone.left_files)
    if undone.left_rows:
        left += f"; left, since they have changed: {undone.left_rows} rows"
    again = f"; undo: pinakes fsck --undo {undone.repair}" if undone.repair else ""
    console.result(
        {"undone": repair, **undone._asdict()}, text=f"{printable(repair)}: undone{left}{again}"
    )
    return Exit.DONE if undone.is_whole else Exit.SOME_FAILED


def show_quarantine(configuration: Configuration, console: Console) -> Exit:
    """A line for each repair that replaced something, the oldest first."""
    with open_stores(configuration) as stores:
        sizes = _sizes(stores.archive)
        for repair in scan_repairs(stores.archive):
            try:
                kept = read_repair(stores.archive, repair)
            except (InputRefused, MalformedRecord) as error:
                console.result(
                    {"id": repair, "bytes": sizes[repair], "problem": error.message},
                    text=f"{printable(repair)}: {sizes[repair]} bytes; {error.message}",
                )
                continue
            console.result(
                {
                    "id": repair,
                    "bytes": sizes[repair],
                    "time": kept.time,
                    "code": kept.code,
                    "file": kept.file,
                    "why": kept.why,
                    "rows": kept.rows,
                    "files": [change.name for change in kept.files],
                    "undoes": kept.undoes,
                },
                text=f"{repair}: {sizes[repair]} bytes: {printable(kept.file)}: {kept.code}: "
                f"{printable(kept.why)}; {kept.rows} rows, {len(kept.files)} files",
            )
    console.say(f"{len(sizes)} repairs, {sum(sizes.values())} bytes")
    return Exit.DONE


def discard(repair: str, configuration: Configuration, console: Console, *, sure: bool) -> Exit:
    """Delete repairs that hold no last copy; exit 3 where one stays."""
    stays = 0
    with open_stores(configuration) as stores:
        discarder = Discarder(stores.rows, stores.archive, Actor())
        chosen = list(scan_repairs(stores.archive)) if repair == _ALL else [repair]
        for one in chosen:
            try:
                why = discarder.why_kept(one)
            except (InputRefused, MalformedRecord) as error:
                why = error.message
            stays += why is not None
            if why is None and sure:
                discarder.discard(one)
            done = "deleted" if sure else "can be deleted: --yes"
            console.result(
                {"id": one, "deleted": why is None and sure, "stays": why},
                text=f"{printable(one)}: " + (f"stays: {why}" if why is not None else done),
            )
    return Exit.SOME_FAILED if stays else Exit.DONE


def _sizes(archive: ArchiveStore) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for stored in archive.list(QUARANTINE):
        sizes[stored.name.split("/")[1]] += stored.size
    return sizes
