"""`commit-copy` by jobs, to a folder or to HDFS: tasks examine and copy, the driver renames.

    look ─▶ decide, order ─▶ copy aside ─▶ rename, originals first

    DST/.landing/TOKEN/_written/NAME      copied, read back, not yet in place
    DST/superseded-2026-11-21/NAME        the file it replaces
    DST/NAME                              the new one

Files are ordered, tasks are not, so only the renames are in order.  An archive store cannot replace
a file and keep the old one in one call: between the two renames of a name, it does not exist.
Stopped there, or anywhere, the same call continues.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.dedupe.archive_files import SUPERSEDED
from pinakes.dedupe.copy.commit_copy import (
    DONE,
    CopyRequest,
    Step,
    plan_steps,
    require_permission,
)
from pinakes.dedupe.copy.reference_check import led_outside, originals_first, refuse_dangling
from pinakes.dedupe.references.resolution import Reference
from pinakes.dedupe.validate.folders import sort_out
from pinakes.dedupe.validate.receipt import Receipt, ReceiptFile
from pinakes.errors import InputRefused, PinakesError
from pinakes.mr_jobs.archive_job import WRITTEN, ArchiveJob
from pinakes.mr_jobs.copy_check import SOURCE, STANDING, TARGET, CopyCheckJob
from pinakes.mr_jobs.copy_files import CopyFilesJob
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.mr_jobs.writing_job import clear_aside, clear_left, require_place, tags, token_of
from pinakes.profile import open_folder

Line = list[str]
"""Fields of a line that a map reads."""


@dataclass(frozen=True, slots=True)
class _Files:
    """One of the two copies, as listed and examined; a `commit_copy.Place`."""

    folder: str
    sizes: Mapping[str, int]
    sums: dict[str, str] = field(default_factory=dict)

    def exists(self, name: str) -> bool:
        return name in self.sizes

    def has(self, name: str, size: int, sha256: str) -> bool:
        return self.sizes.get(name) == size and self.sums.get(name) == sha256

    def describe(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"

    def set_aside(self, name: str) -> list[str]:
        return [
            other
            for other in sorted(self.sizes)
            if other.startswith(f"{SUPERSEDED}-") and other.partition("/")[2] == name
        ]


def run_commit_copy(
    request: CopyRequest,
    runner: str,
    configuration: Configuration,
    out: BinaryIO,
    *,
    on_percent: Callable[[float], None] = lambda percent: None,
) -> JobReport:
    """Run everything; write a line per file, as `pinakes commit-copy --json` prints it.

    Raises:
        Conflict, DigestMismatch, InputRefused, UnresolvedReference: as the verb; nothing was
            renamed then.
        ConfigError, StoreUnavailable, PinakesError: as `run_job`.
    """
    require_place(request.target, runner)
    require_permission(request.receipt)
    _refuse_nested(request.source, request.target)
    _refuse_exchanged(request.receipt)

    report = JobReport()
    token = token_of((request.source, request.target, *map(str, request.receipt.files)))

    def run(job: type[ArchiveJob], lines: list[Line], output: str | None = None) -> list[Any]:
        if not lines:
            return []
        names, options = [*map(json.dumps, lines)], tags(token, runner)
        of_job = JobRequest(job=job, names=names, options=options, output=output)
        texts = io.BytesIO()
        done = run_job(of_job, runner, configuration, texts, on_percent=on_percent)
        if done.findings:
            raise done.findings[0]
        report.counts.update(done.counts)
        return [json.loads(text) for text in texts.getvalue().splitlines()]

    with (
        open_folder(request.source, configuration) as source,
        open_folder(request.target, configuration) as target,
    ):
        was = _Files(request.source, dict(source.list()))
        now = _Files(request.target, dict(target.list()))
        steps = _plan(request, was, now, partial(run, CopyCheckJob))
        for step in steps:
            kept = None if step.state == DONE else str(step.superseded)
            line = {"file": step.facts.name, "state": step.state, "superseded": kept}
            out.write(json.dumps(line).encode() + b"\n")
        if request.dry_run:
            return report
        clear_left(target, token, runner, configuration)
        missing = [step.facts for step in steps if not _is_placed(now, step.facts)]
        if missing:
            lines = [[facts.name, facts.sha256, was.describe(facts.name)] for facts in missing]
            aside = target.folder_aside(token)
            run(CopyFilesJob, lines, aside)
            with open_folder(f"{aside}/{WRITTEN}", configuration) as written:
                _require_all(missing, dict(written.list()))
        for step in steps:
            if step.state != DONE:
                _rename(target, now, step, token)
        clear_aside(target, token)
    return report


def _plan(
    request: CopyRequest, was: _Files, now: _Files, check: Callable[[list[Line]], list[Any]]
) -> list[Step]:
    """The steps, originals first, after all checks."""
    lines = [*_worth_a_look(request.receipt, was, now)]
    edges, references = _take(check(lines), was, now)
    steps = plan_steps(was, now, request.receipt, today=request.today)
    outside = led_outside(references)
    if outside:
        gone = {facts.before_name for facts in request.receipt.files} | steps.keys()
        standing = sort_out(sorted(now.sizes), now.folder).archives.values()
        more = [[STANDING, name, now.describe(name)] for name in standing if name not in gone]
        edges, references = _take(check(lines + more), was, now)
    refuse_dangling(sorted(references), outside)
    return [steps[name] for name in originals_first(list(steps), edges)]


def _worth_a_look(receipt: Receipt, was: _Files, now: _Files) -> Iterator[Line]:
    """The files with the right size; others are known to differ."""
    names = set()
    for facts in receipt.files:
        if was.sizes.get(facts.name) == facts.size:
            yield [SOURCE, facts.name, was.describe(facts.name)]
        names |= {facts.name, facts.before_name, *now.set_aside(facts.before_name)}
    sizes = {size for facts in receipt.files for size in (facts.size, facts.before_size)}
    for name in sorted(names):
        if now.sizes.get(name) in sizes:
            yield [TARGET, name, now.describe(name)]


def _take(
    lines: list[Any], was: _Files, now: _Files
) -> tuple[list[tuple[str, str]], list[Reference]]:
    """Record checksums; return edges between files, and references that do not resolve."""
    edges, references = [], []
    for line in lines:
        if "reference" in line:
            references.append(Reference(*line["reference"]))
        elif "refers_to" in line:
            edges.append((line["file"], line["refers_to"]))
        else:
            (was if line["role"] == SOURCE else now).sums[line["name"]] = line["sha256"]
    return edges, references


def _is_placed(now: _Files, facts: ReceiptFile) -> bool:
    return now.has(facts.name, facts.size, facts.sha256)


def _require_all(missing: list[ReceiptFile], written: Mapping[str, int]) -> None:
    """Raise unless all copied files exist: only then anything is renamed."""
    for facts in missing:
        if written.get(facts.name) != facts.size:
            raise PinakesError("the file was copied, but does not exist", file=facts.name)


def _rename(target: ArchiveStore, now: _Files, step: Step, token: str) -> None:
    facts, superseded = step.facts, str(step.superseded)
    if now.exists(facts.before_name):
        if now.exists(superseded):  # with the same bytes: it has been compared
            target.delete(facts.before_name)
        else:
            target.rename(facts.before_name, superseded)
    if not _is_placed(now, facts):
        target.publish_from(token, f"{WRITTEN}/{facts.name}", facts.name)


def _refuse_nested(source: str, target: str) -> None:
    inner, outer = (f"{place.rstrip('/')}/" for place in (source, target))
    if inner == outer:
        raise InputRefused("SRC and DST are one folder", file=target)
    if inner.startswith(outer) or outer.startswith(inner):
        raise InputRefused(f"one of {source} and {target} contains the other", file=target)


def _refuse_exchanged(receipt: Receipt) -> None:
    """A new file that has another's old name would be renamed over it, or wait for it."""
    old = {facts.before_name: facts.name for facts in receipt.files}
    for facts in receipt.files:
        if old.get(facts.name, facts.name) != facts.name:
            raise InputRefused("this name is the old name of another file", file=facts.name)
