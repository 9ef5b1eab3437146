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

from pinakes.archive_store.local_files import drop_pages, sha256_of, sync_folder
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.aside import written_aside
from pinakes.rewrite.replace import copy_with_replacements
from pinakes.warc.source import open_source

from .archive_files import SUPERSEDED
from .receipt import PASS, FileFacts, Receipt
from .reference_check import examine_copy

DONE, TO_DO = "done", "to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file: what there is to do for it."""

    facts: FileFacts
    state: str
    superseded: Path
    """Where the old file is, or will be; relative to DST."""


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
    if receipt.verdict != PASS:
        raise Conflict(f"the receipt's verdict is {receipt.verdict!r}: nothing is committed")
    if not receipt.files:
        raise Conflict("the receipt names no file: nothing is committed")
    if target.resolve() == source.resolve():
        raise InputRefused("SRC and DST are one folder", file=str(target))
    _refuse_nested(source, target)
    for facts in receipt.files:
        _expect(source / facts.name, facts.size, facts.sha256, "the file that was validated")
        advance(facts.size)
    plan = CopyPlan(source, target)
    names = {facts.before_name for facts in receipt.files}
    steps = {}
    for facts in receipt.files:
        steps[facts.name] = _step(target, facts, names, today)
        advance(facts.before_size)
    order = examine_copy(source, list(steps), target, names)
    plan.steps = [steps[name] for name in order]
    return plan


def _refuse_nested(source: Path, target: Path) -> None:
    inner, outer = source.resolve(), target.resolve()
    if inner in outer.parents or outer in inner.parents:
        raise InputRefused(f"{source} and {target} lie one in the other", file=str(target))


def _step(target: Path, facts: FileFacts, names: set[str], today: str) -> Step:
    path, old = target / facts.name, target / facts.before_name
    superseded = Path(f"{SUPERSEDED}-{today}", facts.before_name)
    if _is(path, facts.size, facts.sha256) and (path == old or not old.exists()):
        return Step(facts=facts, state=DONE, superseded=superseded)
    _expect(old, facts.before_size, facts.before_sha256, "the file it was compared with")
    if path != old and facts.name not in names and path.exists():
        _expect(path, facts.size, facts.sha256, "the file that was validated")
    kept = target / superseded
    if kept.exists() and not _is(kept, facts.before_size, facts.before_sha256):
        raise InputRefused("another file stands here already", file=str(kept))
    return Step(facts=facts, state=TO_DO, superseded=superseded)


def _is(path: Path, size: int, sha256: str) -> bool:
    return path.is_file() and path.stat().st_size == size and sha256_of(path) == sha256


def _expect(path: Path, size: int, sha256: str, what: str) -> None:
    if not path.is_file():
        raise InputRefused(f"missing: {what} should be here; nothing was changed", file=str(path))
    if not _is(path, size, sha256):
        raise DigestMismatch(
            f"this is not {what}; nothing was changed: find out which of the two is right",
            file=str(path),
        )


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
    if not _is(place, facts.size, facts.sha256):
        fresh = place.with_name(f".{place.name}.pinakes-new")
        place.parent.mkdir(parents=True, exist_ok=True)
        _copy_file(plan.source / facts.name, fresh, facts)
        _keep(old, plan.target / step.superseded)
        fresh.replace(place)
        sync_folder(place.parent)
    else:
        _keep(old, plan.target / step.superseded)
    if old != place:
        old.unlink()
        sync_folder(old.parent)


def _keep(old: Path, kept: Path) -> None:
    """Give a file its second name, before it loses the first."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    if not kept.exists():
        os.link(old, kept)
        sync_folder(kept.parent)


def _copy_file(source: Path, fresh: Path, facts: FileFacts) -> None:
    """Write a file aside and read it back."""
    fresh.unlink(missing_ok=True)
    with (
        open_source(source) as watched,
        source.open("rb") as file,
        written_aside(fresh) as descriptor,
    ):
        copy_with_replacements(file.fileno(), descriptor, ())
        watched.check_unchanged()
    drop_cached(fresh)
    if not _is(fresh, facts.size, facts.sha256):
        fresh.unlink()
        raise DigestMismatch("what was written reads back as other bytes", file=str(fresh))


def drop_cached(path: Path) -> None:
    """Ask the system to forget a file's pages, so that reading it back reads the disk."""
    with path.open("rb") as file:
        drop_pages(file.fileno())
