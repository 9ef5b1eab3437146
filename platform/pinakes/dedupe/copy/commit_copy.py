"""`commit-copy`: the validated set over the second copy, and nothing deleted.

What a receipt permits: files that are byte for byte those that were validated (`after`)
take the place of files that are byte for byte those they were compared with (`before`).
Everything is checked before anything is written.  Then each file in turn: written
aside, brought to disk, read back; the old one moved to `superseded-YYYY-MM-DD/`; the new
one renamed.  Files that others refer to go first, so that no reference dangles at any
moment.  Stopped anywhere, the same call goes on: a file that is `after` already is done.

    DST/sub/A.warc.gz                           the new file
    DST/superseded-2026-11-21/sub/A.warc.gz     the one it replaced
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pinakes.archive_store.local.files import drop_pages, make_folder, sync_folder
from pinakes.archive_store.local.whole_files import hidden_name, keep_as, written_aside
from pinakes.dedupe.validate.receipt import FileFacts, Receipt
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.rewrite.replace import copy_file_with_replacements
from pinakes.warc.opening import open_source

from .copy_steps import DONE, FolderPlace, Step, has_bytes, plan_steps, require_permission
from .reference_check import examine_copy


@dataclass(slots=True)
class CopyPlan:
    """What a commit would do, all checks passed; `steps` in the order of doing."""

    source: Path
    target: Path
    steps: list[Step] = field(default_factory=list)

    @property
    def bytes_to_write(self) -> int:
        return sum(step.facts.size for step in self.steps if step.state != DONE)


def plan_copy(
    source: Path,
    target: Path,
    receipt: Receipt,
    *,
    today: str,
    advance: Callable[[int], None] = lambda count: None,
) -> CopyPlan:
    """Check all that must hold, and say what there is to do; writes nothing.

    `today` (YYYY-MM-DD) names the folder for what is replaced.

    Raises:
        Conflict: where the receipt's verdict is not `pass`.
        DigestMismatch: where a file of SRC is not the one that was validated, or one of
            DST is not the one it was compared with (it may be the good one: look).
        InputRefused: where a file is missing, or stands in the way.
    """
    require_permission(receipt)
    if target.resolve() == source.resolve():
        raise InputRefused("SRC and DST are one folder", file=str(target))
    _refuse_nested(source, target)
    steps = plan_steps(
        FolderPlace(source), FolderPlace(target), receipt, today=today, advance=advance
    )
    plan = CopyPlan(source, target)
    names = {facts.before_name for facts in receipt.files}
    order = examine_copy(source, list(steps), target, names)
    plan.steps = [steps[name] for name in order]
    return plan


def _refuse_nested(source: Path, target: Path) -> None:
    inner, outer = source.resolve(), target.resolve()
    if inner in outer.parents or outer in inner.parents:
        raise InputRefused(f"{source} and {target} lie one in the other", file=str(target))


def commit_copy(plan: CopyPlan, *, advance: Callable[[int], None] = lambda count: None) -> int:
    """Do what the plan says; the number of files written.

    Raises:
        StoreUnavailable: where the disk is full; what is done stays done.
        DigestMismatch: where what was written does not read back as it should.
    """
    written = 0
    for step in plan.steps:
        if step.state != DONE:
            _copy_one(plan, step)
            written += 1
        advance(step.facts.size)
    return written


def _copy_one(plan: CopyPlan, step: Step) -> None:
    facts = step.facts
    place, old = plan.target / facts.name, plan.target / facts.before_name
    kept = plan.target / step.superseded
    if has_bytes(place, facts.size, facts.sha256):
        keep_as(old, kept)
    else:
        make_folder(place.parent)
        with written_aside(place, replace=True) as out:
            _copy_file(plan.source / facts.name, out)
            _require_read_back(out, place, facts)
            keep_as(old, kept)
    if old != place:
        old.unlink()
        sync_folder(old.parent)


def _copy_file(source: Path, target: BinaryIO) -> None:
    with open_source(source) as watched, source.open("rb") as file:
        copy_file_with_replacements(file, target, watched.size, ())
        watched.check_unchanged()


def _require_read_back(out: BinaryIO, place: Path, facts: FileFacts) -> None:
    """Read from the disk what was written aside for `place`, and compare it with the receipt."""
    os.fsync(out.fileno())
    drop_pages(out.fileno())  # so that reading it back reads the disk
    if not has_bytes(hidden_name(place), facts.size, facts.sha256):
        raise DigestMismatch("what was written reads back as other bytes", file=str(place))
