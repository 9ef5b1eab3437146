"""`pinakes check`: does an archive file conform to ISO 28500, a package to WACZ, and where not."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from pinakes.archive_store.located import package_at, size_at
from pinakes.cli.frame.archive_inputs import archive_inputs_of
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import GivenFiles
from pinakes.cli.frame.options import add_inputs, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress
from pinakes.cli.frame.repeats import Repeats
from pinakes.conformance.check import ConformanceCheck, ConformanceFinding
from pinakes.conformance.rules import Severity
from pinakes.conformance.table import RULES
from pinakes.counts import count_of
from pinakes.errors import InputRefused
from pinakes.warc.source import Source

LEVELS = ("info", "warning", "error")


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files; revisits are checked against the originals among them."""
    add_inputs(parser, "WARC", "archive files, folders or WACZ packages, checked together")
    parser.add_argument(
        "--level", choices=LEVELS, default="info", help="lowest severity to report (default: info)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="print every finding; otherwise, of each rule, the first three in a file "
        "(the first, of rules marked once a file), with --json all but those once a file",
    )
    add_settings(parser, "temp_dir")
    parser.add_argument("--rules", action="store_true", help="print the table of rules and exit")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per finding, up to three per rule and file; exit 1 for an error or a warning."""
    if arguments.rules:
        return _print_rules(console)
    report = _Report(console, Severity[arguments.level.upper()], every=arguments.all)
    folder = configuration_of(arguments).temp_dir
    with archive_inputs_of(arguments, folder) as inputs:
        given = GivenFiles(inputs.names, console, members_are_read=True)
        names, failed = given.names, given.failed
        with (
            ConformanceCheck(folder, open_file=inputs.opened) as check,
            console.progress("check", total=_total_bytes(names)) as progress,
        ):
            for package in given.packages:
                failed |= not _check_package(package, check, report)
            for name in names:
                failed |= not _check_file(inputs.opened(name), check, report, progress)
            # Originals may be read again, and be gone by now.
            failed |= not _take_all(report, check.check_references())
            report.summarize(len(check.files), check.records)
    if failed:
        return Exit.SOME_FAILED
    return Exit.FOUND if report.found else Exit.DONE


def _check_package(place: str, check: ConformanceCheck, report: _Report) -> bool:
    """Whether the package could be read to its end."""
    try:
        with package_at(place) as package:
            return _take_all(report, check.check_package(package, place))
    except InputRefused as refusal:
        report.console.warn(refusal)
        return False


def _check_file(
    opened: AbstractContextManager[Source],
    check: ConformanceCheck,
    report: _Report,
    progress: Progress,
) -> bool:
    """Whether the file could be read to its end."""
    try:
        with opened as source:
            read = _take_all(report, check.check_file(source, advance=progress.advance))
            source.check_unchanged()
    except InputRefused as refusal:
        report.console.warn(refusal)
        return False
    return read


def _take_all(report: _Report, findings: Iterable[ConformanceFinding]) -> bool:
    """Whether they came to their end."""
    try:
        report.take(findings)
    except InputRefused as refusal:
        report.console.warn(refusal)
        return False
    finally:
        report.tell_repeats()
    return True


def _total_bytes(names: Iterable[str]) -> int:
    return sum(size_at(name) or 0 for name in names)


class _Report:
    """Prints findings from a severity on, and counts them."""

    def __init__(self, console: Console, level: Severity, *, every: bool) -> None:
        self.console = console
        self._level = level
        self._every = every
        self._counts: Counter[str] = Counter()
        self._repeats = Repeats[tuple[str, str]]()

    @property
    def found(self) -> bool:
        return any(RULES[code].severity > Severity.INFO for code in self._counts)

    def take(self, findings: Iterable[ConformanceFinding]) -> None:
        for finding in findings:
            if finding.severity < self._level:
                continue
            self._counts[finding.code] += 1
            if self._is_printed(finding):
                self.console.result(_as_object(finding), text=printable(finding))

    def _is_printed(self, finding: ConformanceFinding) -> bool:
        if self._every or finding.repeated:
            return self._every
        return self.console.json or self._repeats.is_named((finding.file, finding.code))

    def tell_repeats(self) -> None:
        """A line for each rule and file of which some findings were not printed."""
        for (file, code), count in self._repeats.take_counted():
            text = f"{file}: {RULES[code].severity} {code}: {count:,} more; --all prints them"
            self.console.result(text, text=printable(text))

    def summarize(self, files: int, records: int) -> None:
        by_severity: Counter[Severity] = Counter()
        for code, count in self._counts.items():
            by_severity[RULES[code].severity] += count
        say = self.console.say
        said = ", ".join(f"{by_severity[level]} {level}" for level in reversed(Severity))
        say(f"{count_of(files, 'file')}, {count_of(records, 'record')}: {said}")
        order = sorted(self._counts, key=lambda code: (-RULES[code].severity, code))
        for code in order:
            say(f"{self._counts[code]:>8}  {RULES[code].severity!s:<7}  {code}")


def _as_object(finding: ConformanceFinding) -> dict[str, object]:
    return {
        "file": finding.file,
        "offset": finding.offset,
        "inner_offset": finding.inner_offset,
        "severity": str(finding.severity),
        "code": finding.code,
        "clause": finding.clause,
        "message": finding.message,
    }


def _print_rules(console: Console) -> Exit:
    if console.json:
        for rule in RULES.values():
            console.result(
                {
                    "code": rule.code,
                    "severity": str(rule.severity),
                    "clause_1_0": rule.clause_1_0,
                    "clause_1_1": rule.clause_1_1,
                    "types": list(rule.types),
                    "rule": rule.statement,
                    "example": rule.example,
                }
            )
    else:
        from pinakes.conformance.describe import describe_rules

        for line in describe_rules():
            console.result(line)
    return Exit.DONE
