"""`pinakes resolve`: compare the bodies of equal digests, byte for byte."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from pinakes.application.file_places import FilePlaces, open_files
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.job_run import job_request, report_job, write_job_lines
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.place_options import add_places, places_of
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.cli.frame.trust_options import add_trust, trust_of
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    add_decisions,
    add_manifests,
    refuse_unreadable,
    size_of,
    space_of,
    spare_collector,
    write_lines,
    write_stats,
)
from pinakes.cli.verbs.process import describe_decisions
from pinakes.counts import count_of
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Collision, Decisions, ProcessCount, ResolveCount
from pinakes.dedupe.decide.foreign import ForeignLines
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.decide.trust import Trust
from pinakes.errors import PinakesError
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.index.manifest import ManifestLine, content_order, estimate_line_bytes

_NAMED_COLLISIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest:
    """Which manifests to resolve, how bodies are compared, and where results go."""

    manifests: Sequence[str]
    compare: str
    trust: Trust | None
    places: FilePlaces
    process: bool
    resources: bool
    output: str
    stats: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Manifests, how to compare, and whether to process them in one go."""
    add_manifests(parser)
    parser.add_argument(
        "--compare",
        choices=("bytes", "sha256", "none"),
        default="bytes",
        help="bytes: compare all bodies; sha256: trust SHA-256, but compare a sample, other "
        "digests, and bodies whose second digests differ; none: compare nothing, digests must "
        "be sha256 or sha512 (default: bytes)",
    )
    add_trust(parser)
    parser.add_argument(
        "--process", action="store_true", help="also choose originals, as `pinakes process` does"
    )
    add_decisions(parser)
    add_places(parser)
    add_runner(parser, "stored", "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the resolved lines; name collisions, and bodies that could not be read."""
    request = ResolveRequest(
        manifests=arguments.manifests,
        compare=arguments.compare,
        trust=trust_of(arguments),
        places=places_of(arguments),
        process=arguments.process,
        resources=arguments.resources,
        output=arguments.output,
        stats=arguments.stats,
    )
    runner = runner_of(arguments)
    if runner is not None:
        return _resolve_by_job(request, runner, console)
    return _resolve(request, space_of(arguments), console)


def _resolve(request: ResolveRequest, space: SortSpace, console: Console) -> Exit:
    spare_collector()
    decisions = Decisions()
    count = decisions.resolved
    problems: list[PinakesError] = []
    with (
        open_files(request.places) as files,
        console.progress("resolve", total=size_of(request.manifests)) as progress,
    ):
        manifest = ManifestInput(request.manifests, console, progress)
        complete = ForeignLines(files, now=datetime.now(timezone.utc), space=space)
        bodies = ArchiveBodies(files) if request.compare != "none" else None
        captures = complete.completed(manifest)
        if request.process:
            lines = resolve_and_process(
                captures,
                bodies,
                decisions,
                trust=request.trust,
                resources=request.resources,
                space=space,
            )
        else:
            lines = _sorted(
                resolve_lines(captures, bodies, count=count, trust=request.trust, space=space),
                space,
            )
        write_lines(lines, request.output, console)
        problems += complete.problems + count.problems
    _write_stats(request, count, decisions.processed, console)
    for problem in problems:
        console.warn(problem)
    _describe(count, request.compare, console)
    if request.process:
        console.say(describe_decisions(decisions.processed))
    return Exit.SOME_FAILED if problems or manifest.failed else Exit.DONE


def _resolve_by_job(request: ResolveRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.digest_job import trust_options
    from pinakes.mr_jobs.job_counts import add_resolved
    from pinakes.mr_jobs.resolve_collisions import ResolveCollisionsJob

    refuse_unreadable(runner, request.manifests, console)
    runner.refuse(
        {
            "--compare none": request.compare == "none",
            "--process (run `pinakes process --runner` on what is written)": request.process,
            "--resources": request.resources,
            "--dir": request.places.folder,
            "--locations": request.places.table,
        }
    )
    options = trust_options(request.trust)
    job = job_request(ResolveCollisionsJob, request.manifests, runner, options=options)
    report = write_job_lines(job, runner, request.output, console, verb="resolve")
    if not runner.print_only:
        count = ResolveCount()
        add_resolved(count, report)
        _write_stats(request, count, ProcessCount(), console)
        _describe(count, request.compare, console)
    return report_job(report, console)


def _write_stats(
    request: ResolveRequest, count: ResolveCount, decisions: ProcessCount, console: Console
) -> None:
    statistics = count.as_json()
    statistics["compare"] = request.compare
    if request.compare == "none":  # which sorts nothing
        statistics |= dict.fromkeys(("clusters", "contents", "duplicates"))
    if request.process:
        statistics["process"] = decisions.as_json()
    write_stats(request.stats, statistics, console)


def _sorted(lines: Iterator[ManifestLine], space: SortSpace) -> Iterator[ManifestLine]:
    return sort_outside_memory(
        lines, key=content_order, space=space, item_bytes=estimate_line_bytes
    )


def _describe(count: ResolveCount, compare: str, console: Console) -> None:
    if compare == "none":
        console.say(f"{count_of(count.records, 'record')}, their digests trusted")
    else:
        console.say(
            f"{count_of(count.records, 'record')}, {count_of(count.clusters, 'digest')}, "
            f"{count.contents:,} contents, "
            f"{count_of(count.compared_bytes, 'byte')} compared"
            + (f", {count_of(count.believed, 'record')} by their digests" if count.believed else "")
        )
    for collision in count.collisions[:_NAMED_COLLISIONS]:
        console.warn(_collision(collision))
    if len(count.collisions) > _NAMED_COLLISIONS:
        more = len(count.collisions) - _NAMED_COLLISIONS
        console.warn(f"{more:,} more collisions: --stats FILE.json names them all")


def _collision(collision: Collision) -> str:
    places = ", ".join(f"{c.file}:{c.offset}" for c in collision.captures)
    return f"collision: {collision.digest} has {len(collision.captures)} contents: {places}"
