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
from typing import BinaryIO, Protocol

from pinakes.archive_store.local.files import drop_pages, make_folder, sha256_of, sync_folder
from pinakes.archive_store.local.whole_files import hidden_name, keep_as, written_aside
from pinakes.dedupe.archive_files import SUPERSEDED
from pinakes.dedupe.validate.receipt import PASS, Receipt, ReceiptFile
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.replace import copy_file_with_replacements
from pinakes.warc.opening import open_source

from .reference_check import examine_copy

DONE, TO_DO = "done", "to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRequest:
    """What to commit where: folders (paths, `hdfs://…`), the receipt, the day (YYYY-MM-DD)."""

    source: str
    target: str
    receipt: Receipt
    today: str
    dry_run: bool = False
    """Check everything, and write nothing."""


class CopyPlace(Protocol):
    """One of the two copies."""

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""
        ...

    def has(self, name: str, size: int, sha256: str) -> bool:
        """Whether just this file is there."""
        ...

    def describe(self, name: str) -> str:
        """The file, as errors name it."""
        ...

    def set_aside(self, name: str) -> list[str]:
        """Where the file is that a run which was stopped has moved away, `superseded-…`.

        Empty where the place moves nothing away before it puts the new one there.
        """
        ...


class FolderPlace:
    """A folder of this host, as `CopyPlace`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self, name: str) -> bool:
        return (self._folder / name).exists()

    def has(self, name: str, size: int, sha256: str) -> bool:
        return has_bytes(self._folder / name, size, sha256)

    def describe(self, name: str) -> str:
        return str(self._folder / name)

    def set_aside(self, name: str) -> list[str]:
        """None: an old file has two names until the new one is in its place."""
        return []


def has_bytes(path: Path, size: int, sha256: str) -> bool:
    """Whether this is a file of that size and SHA-256."""
    return path.is_file() and path.stat().st_size == size and sha256_of(path) == sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file: what there is to do for it."""

    facts: ReceiptFile
    state: str
    superseded: Path
    """Where the old file is, or will be; relative to DST."""


def plan_steps(
    source: CopyPlace,
    target: CopyPlace,
    receipt: Receipt,
    *,
    today: str,
    advance: Callable[[int], None] = lambda count: None,
) -> dict[str, Step]:
    """Check all that must hold of the files, and say what there is to do, by name.

    Raises:
        Conflict, DigestMismatch, InputRefused: as `plan_copy`.
    """
    for facts in receipt.files:
        _expect(source, facts.name, facts.size, facts.sha256, "the file that was validated")
        advance(facts.size)
    names = {facts.before_name for facts in receipt.files}
    steps = {}
    for facts in receipt.files:
        steps[facts.name] = _step(target, facts, names, today)
        advance(facts.before_size)
    return steps


def require_permission(receipt: Receipt) -> None:
    """Raise Conflict where the receipt permits nothing."""
    if receipt.verdict != PASS:
        raise Conflict(f"the receipt's verdict is {receipt.verdict!r}: nothing is committed")
    if not receipt.files:
        raise Conflict("the receipt names no file: nothing is committed")


def _step(target: CopyPlace, facts: ReceiptFile, names: set[str], today: str) -> Step:
    name, old = facts.name, facts.before_name
    superseded = f"{SUPERSEDED}-{today}/{old}"
    if target.has(name, facts.size, facts.sha256) and (name == old or not target.exists(old)):
        return Step(facts=facts, state=DONE, superseded=Path(superseded))
    if not target.exists(old):
        for moved in target.set_aside(old):
            if target.has(moved, facts.before_size, facts.before_sha256):
                return Step(facts=facts, state=TO_DO, superseded=Path(moved))
    _expect(target, old, facts.before_size, facts.before_sha256, "the file it was compared with")
    if name != old and name not in names and target.exists(name):
        _expect(target, name, facts.size, facts.sha256, "the file that was validated")
    if target.exists(superseded) and not target.has(
        superseded, facts.before_size, facts.before_sha256
    ):
        raise InputRefused("another file stands here already", file=target.describe(superseded))
    return Step(facts=facts, state=TO_DO, superseded=Path(superseded))


def _expect(place: CopyPlace, name: str, size: int, sha256: str, what: str) -> None:
    if not place.exists(name):
        raise InputRefused(
            f"missing: {what} should be here; nothing was changed", file=place.describe(name)
        )
    if not place.has(name, size, sha256):
        raise DigestMismatch(
            f"this is not {what}; nothing was changed: find out which of the two is right",
            file=place.describe(name),
        )


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
    if os.path.realpath(target) == os.path.realpath(source):
        raise InputRefused("SRC and DST are one folder", file=str(target))
    _refuse_nested(source, target)
    _refuse_links(source, target, receipt)
    steps = plan_steps(
        FolderPlace(source), FolderPlace(target), receipt, today=today, advance=advance
    )
    plan = CopyPlan(source, target)
    names = {facts.before_name for facts in receipt.files}
    order = examine_copy(source, list(steps), target, names)
    plan.steps = [steps[name] for name in order]
    return plan


def _refuse_nested(source: Path, target: Path) -> None:
    inner, outer = (Path(os.path.realpath(folder)) for folder in (source, target))
    if inner in outer.parents or outer in inner.parents:
        raise InputRefused(f"{source} and {target} lie one in the other", file=str(target))


def _refuse_links(source: Path, target: Path, receipt: Receipt) -> None:
    inside = os.path.join(os.path.realpath(source), "")
    for name in sorted({name for one in receipt.files for name in (one.name, one.before_name)}):
        if os.path.realpath(target / name).startswith(inside):
            raise InputRefused("a link into SRC, so no second copy", file=str(target / name))


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


def _require_read_back(out: BinaryIO, place: Path, facts: ReceiptFile) -> None:
    """Read from the disk what was written aside for `place`, and compare it with the receipt."""
    os.fsync(out.fileno())
    drop_pages(out.fileno())  # so that reading it back reads the disk
    if not has_bytes(hidden_name(place), facts.size, facts.sha256):
        raise DigestMismatch("what was written reads back as other bytes", file=str(place))
