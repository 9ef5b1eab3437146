"""What `pinakes validate` says: of folders, of two manifests, of references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinakes.application.file_places import FilePlaces, find_originals
from pinakes.application.inputs import find_files, total_size
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.dedupe.copy.reference_check import check_set
from pinakes.dedupe.references.outcomes import INDEXED, OUTCOMES
from pinakes.dedupe.validate.folders import Validation
from pinakes.dedupe.validate.quick_look import QUICK_FINDINGS, compare_manifests
from pinakes.index.manifest import parse_lines

_REACHED = frozenset({"resolves", INDEXED})
"""Of references: nothing was found of them."""


def say_findings(result: Validation, console: Console) -> None:
    """A line for each discrepancy that was not accepted; a warning of what was not compared."""
    for found in result.open_discrepancies:
        console.result(found._asdict(), text=discrepancy_line(found._asdict()))
    for name in result.others:
        why = "not compared: its name is not that of an archive file"
        console.warn(f"{printable(name)}: {why}", kind=why)


def discrepancy_line(found: Mapping[str, Any]) -> str:
    """A discrepancy, as people read it."""
    return printable(
        f"{found['file']}:{found['offset']}: {found['code']}: record {found['ordinal']}: "
        f"{found['message']}"
    )


def look_quickly(before: Path, after: Path, console: Console) -> Exit:
    """A line for each capture that two manifests say otherwise."""
    count = 0
    with (
        before.open(encoding="utf-8", errors="surrogateescape", newline="\n") as was,
        after.open(encoding="utf-8", errors="surrogateescape", newline="\n") as now,
    ):
        for found in compare_manifests(parse_lines(was), parse_lines(now)):
            count += 1
            console.result(
                found._asdict(),
                text=printable(
                    f"{found.target_uri} {found.date}: {found.code}: {QUICK_FINDINGS[found.code]}"
                ),
            )
    console.say(f"{count} found; a quick look permits nothing" if count else "nothing found; a "
                "quick look at what manifests say permits nothing")  # fmt: skip
    return Exit.FOUND if count else Exit.DONE


def check_references(
    refs: Sequence[str], places: FilePlaces, index: Path | None, console: Console
) -> Exit:
    """A line for each reference of these files that does not resolve."""
    outcomes: dict[str, int] = {}
    printer = EventPrinter(console)
    files = find_files(refs, printer).names
    further = find_originals(places, files)
    with console.progress("references", total=total_size(files)) as progress:
        for found in check_set(
            files, further=further, index=index, advance=progress.advance, on_refused=printer
        ):
            outcomes[found.outcome] = outcomes.get(found.outcome, 0) + 1
            if found.outcome not in _REACHED:
                console.result(
                    found._asdict(),
                    text=printable(
                        f"{found.file}: record {found.ordinal}: {found.outcome}: "
                        f"{OUTCOMES[found.outcome]}: {found.target_uri} {found.target_second}"
                    ).rstrip(),
                )
    total = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    console.say(f"references: {total or 'none'}")
    return printer.exit(Exit.DONE if outcomes.keys() <= _REACHED else Exit.FOUND)


def validation_text(result: Validation) -> str:
    """The verdict, and what was counted."""
    found = result.comparison
    references = ", ".join(f"{n} {outcome}" for outcome, n in sorted(result.references.items()))
    verdict = "passed" if result.passed else f"FAILED: {len(result.open_discrepancies)} found"
    return (
        f"{verdict}; {len(result.files)} files, {found.records} records, "
        f"{found.rewritten} rewritten, {found.restored} restored, "
        f"{found.read_twice} read again with warcio"
        + (f", {result.replayed} replayed" if result.replayed is not None else "")
        + (f"; references: {references}" if references else "")
    )
