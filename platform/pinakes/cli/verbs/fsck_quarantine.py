"""`pinakes fsck`: accept what is lost, and what repairs have replaced: list, undo, discard."""

from __future__ import annotations

from collections import Counter

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import QUARANTINE, ArchiveStore
from pinakes.catalog.kept_repairs import read_repair, scan_repairs
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.ingest.fsck.accepting import Losses
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.discarding import Discarder
from pinakes.ingest.fsck.undoing import Undoer
from pinakes.profile import open_stores

_ALL = "all"


def accept(file: str, configuration: Configuration, console: Console) -> Exit:
    """Go on with the bytes that a damaged file has; prints what is lost.

    A line for each record; of very many the first are named.
    """
    with open_stores(configuration) as stores:
        repair, losses = Fsck(stores.rows, stores.archive, Actor()).accept(file)
    undoing = f"; undo: pinakes fsck --undo {repair}" if repair else ""
    named = [one._asdict() for one in losses.named]
    console.result(
        {"file": file, "repair": repair, **losses._asdict(), "named": named},
        text=f"{printable(file)}: accepted: {_describe(losses)}{undoing}",
    )
    if console.json:
        return Exit.DONE
    for one in losses.named:
        what = "altered" if one.altered else "lost"
        names = (one.record_id, one.target_uri, one.date)
        shown = " ".join(printable(name) for name in names if name)
        console.result({}, text=f"{printable(file)}: {what}: record {one.ordinal}: {shown}")
    more = losses.lost + losses.altered - len(losses.named)
    if more:
        console.say(f"and {more:,} more")
    return Exit.DONE


def _describe(losses: Losses) -> str:
    """How many records are not there as they were."""
    before = count_of(losses.before, "record")
    text = f"of {before}, {losses.lost:,} lost, {losses.altered:,} altered"
    if not losses.lost and not losses.altered:
        text += ": neither sidecar nor rows say what differs"
    return f"{text}; {count_of(losses.new, 'record')} not there before" if losses.new else text


def undo(repair: str, configuration: Configuration, console: Console) -> Exit:
    """Put back what a repair replaced; exit 3 where something has changed since, and was left."""
    with open_stores(configuration) as stores:
        undone = Undoer(stores.rows, stores.archive, Actor()).undo(repair)
    left = "".join(f"; left, since it has changed: {printable(name)}" for name in undone.left_files)
    if undone.left_rows:
        left += f"; left, since they have changed: {count_of(undone.left_rows, 'row')}"
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
                    text=f"{printable(repair)}: {count_of(sizes[repair], 'byte')}; {error.message}",
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
                text=f"{repair}: {count_of(sizes[repair], 'byte')}: {printable(kept.file)}: "
                f"{kept.code}: {printable(kept.why)}; {count_of(kept.rows, 'row')}, "
                f"{count_of(len(kept.files), 'file')}",
            )
    console.say(f"{count_of(len(sizes), 'repair')}, {count_of(sizes.total(), 'byte')}")
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
