"""`pinakes resolve`: compare the bodies of equal digests, byte for byte."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from pinakes.application.file_places import open_files
from pinakes.application.parts import rarely_collecting
from pinakes.cli.frame.chain_options import (
    add_decisions,
    add_manifests,
    add_places,
    add_trust,
    places_of,
    trust_of,
)
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import (
    JobRunner,
    add_runner,
    job_request,
    report_job,
    runner_of,
    write_job_lines,
)
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    refuse_unreadable,
    size_of,
    space_of,
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
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import content_order, estimate_line_bytes

_NAMED_COLLISIONS = 20


class ComparisonOptions(NamedTuple):
    """How bodies are compared, and where what was counted goes."""

    compare: str
    trust: Trust | None
    stats: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Manifests, how to compare, and whether to process them in one go."""
    add_manifests(parser)
    option = options_of(parser)
    option(
        "--compare",
        "bytes: compare all bodies; sha256: trust SHA-256, but compare a sample, other "
        "digests, and bodies whose second digests differ; none: compare nothing, digests must "
        "be sha256 or sha512 (default: bytes)",
        choices=("bytes", "sha256", "none"),
        default="bytes",
    )
    add_trust(parser)
    option("--process", "also choose originals, as `pinakes process` does")
    add_decisions(parser)
    add_places(parser)
    add_runner(parser, "stored", "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the resolved lines; name collisions, and bodies that could not be read."""
    manifests, process, runner = arguments.manifests, arguments.process, runner_of(arguments)
    how = ComparisonOptions(arguments.compare, trust_of(arguments), arguments.stats)
    places = places_of(arguments)
    if runner is not None:
        refuse_unreadable(runner, manifests, console)
        runner.refuse(
            {
                "--compare none": how.compare == "none",
                "--process (run `pinakes process --runner` on what is written)": process,
                "--resources": arguments.resources,
                "--dir": places.folder,
                "--locations": places.table,
            }
        )
        return _by_job(manifests, how, arguments.output, runner, console)
    decisions, space = Decisions(), space_of(arguments)
    count = decisions.resolved
    with (
        rarely_collecting(),
        open_files(places) as files,
        console.progress("resolve", total=size_of(manifests)) as progress,
    ):
        manifest = ManifestInput(manifests, console, progress)
        complete = ForeignLines(files, now=datetime.now(timezone.utc), space=space)
        bodies = ArchiveBodies(files) if how.compare != "none" else None
        captures = complete.completed(manifest)
        if process:
            lines = resolve_and_process(
                captures,
                bodies,
                decisions,
                trust=how.trust,
                resources=arguments.resources,
                space=space,
            )
        else:
            resolved = resolve_lines(captures, bodies, count=count, trust=how.trust, space=space)
            lines = sort_outside_memory(
                resolved, key=content_order, space=space, item_bytes=estimate_line_bytes
            )
        write_lines(lines, arguments.output, console)
        problems = [*complete.problems, *count.problems]
    _write_stats(how, count, decisions.processed if process else None, console)
    for problem in problems:
        console.warn(problem)
    _describe(count, how.compare, console)
    if process:
        console.say(describe_decisions(decisions.processed))
    return Exit.SOME_FAILED if problems or manifest.failed else Exit.DONE


def _by_job(
    manifests: Sequence[str],
    how: ComparisonOptions,
    output: str,
    runner: JobRunner,
    console: Console,
) -> Exit:
    from pinakes.mr_jobs.digest_job import trust_options
    from pinakes.mr_jobs.job_counts import add_resolved
    from pinakes.mr_jobs.resolve_collisions import ResolveCollisionsJob

    options = trust_options(how.trust)
    job = job_request(ResolveCollisionsJob, manifests, runner, options=options)
    report = write_job_lines(job, runner, output, console, verb="resolve")
    if not runner.print_only:
        count = ResolveCount()
        add_resolved(count, report)
        _write_stats(how, count, None, console)
        _describe(count, how.compare, console)
    return report_job(report, console)


def _write_stats(
    how: ComparisonOptions, count: ResolveCount, decisions: ProcessCount | None, console: Console
) -> None:
    statistics = count.as_json()
    statistics["compare"] = how.compare
    if how.compare == "none":  # which sorts nothing
        statistics |= dict.fromkeys(("clusters", "contents", "duplicates"))
    if decisions is not None:
        statistics["process"] = decisions.as_json()
    write_stats(how.stats, statistics, console)


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
