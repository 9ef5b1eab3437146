"""What `commit-copy` would do, file by file, and whether it may: decided by what is where.

Pure but for what it asks the two places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pinakes.archive_store.local.files import sha256_of
from pinakes.dedupe.archive_files import SUPERSEDED
from pinakes.dedupe.validate.receipt import PASS, FileFacts, Receipt
from pinakes.errors import Conflict, DigestMismatch, InputRefused

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


class Place(Protocol):
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
    """A folder of this host."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self, name: str) -> bool:
        """See `Place`."""
        return (self._folder / name).exists()

    def has(self, name: str, size: int, sha256: str) -> bool:
        """See `Place`."""
        return has_bytes(self._folder / name, size, sha256)

    def describe(self, name: str) -> str:
        """See `Place`."""
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

    facts: FileFacts
    state: str
    superseded: Path
    """Where the old file is, or will be; relative to DST."""


def plan_steps(
    source: Place,
    target: Place,
    receipt: Receipt,
    *,
    today: str,
    advance: Callable[[int], None] = lambda count: None,
) -> dict[str, Step]:
    """Check all that must hold of the files, and say what there is to do, by name.

    Raises:
        Conflict, DigestMismatch, InputRefused: as `commit_copy.plan_copy`.
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


def _step(target: Place, facts: FileFacts, names: set[str], today: str) -> Step:
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


def _expect(place: Place, name: str, size: int, sha256: str, what: str) -> None:
    if not place.exists(name):
        raise InputRefused(
            f"missing: {what} should be here; nothing was changed", file=place.describe(name)
        )
    if not place.has(name, size, sha256):
        raise DigestMismatch(
            f"this is not {what}; nothing was changed: find out which of the two is right",
            file=place.describe(name),
        )
