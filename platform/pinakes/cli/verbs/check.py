"""`pinakes check`: does an archive file conform to ISO 28500, a package to WACZ, and where not."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable

from pinakes.application.checking import check_conformance
from pinakes.application.inputs import find_files, total_size
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit, Repeats
from pinakes.cli.frame.inputs import add_inputs, archive_inputs_of
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.conformance.check import ConformanceCheck, ConformanceFinding
from pinakes.conformance.rules import Severity
from pinakes.conformance.table import RULES
from pinakes.counts import count_of

LEVELS = ("info", "warning", "error")


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files; revisits are checked against the originals among them."""
    add_inputs(parser, "WARC", "archive files, folders or WACZ packages, checked together")
    option = options_of(parser)
    option("--level", "lowest severity to report (default: info)", choices=LEVELS, default="info")
    option(
        "--all",
        "print every finding; otherwise, of each rule, the first three in a file "
        "(the first, of rules marked once a file), with --json all but those once a file",
    )
    add_settings(parser, "temp_dir")
    option("--rules", "print the table of rules and exit")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per finding, up to three per rule and file; exit 1 for an error or a warning."""
    if arguments.rules:
        return _print_rules(console)
    report = _Report(console, Severity[arguments.level.upper()], every=arguments.all)
    folder, printer = configuration_of(arguments).temp_dir, EventPrinter(console)
    with archive_inputs_of(arguments, folder) as inputs:
        given = find_files(inputs.names, printer, members_are_read=True)
        with (
            ConformanceCheck(folder, open_file=inputs.opened) as check,
            console.progress("check", total=total_size(given.names)) as progress,
        ):
            for findings in check_conformance(check, inputs, given, printer, progress.advance):
                report.take(findings)
            report.summarize(len(check.files), check.records)
    return printer.exit(Exit.FOUND if report.found else Exit.DONE)


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
        """All of one source; then a line for each rule and file of which some were not printed."""
        try:
            for finding in findings:
                if finding.severity < self._level:
                    continue
                self._counts[finding.code] += 1
                if self._is_printed(finding):
                    self.console.result(_as_object(finding), text=printable(finding))
        finally:
            for (file, code), count in self._repeats.take_counted():
                text = f"{file}: {RULES[code].severity} {code}: {count:,} more; --all prints them"
                self.console.result(text, text=printable(text))

    def _is_printed(self, finding: ConformanceFinding) -> bool:
        if self._every or finding.repeated:
            return self._every
        return self.console.json or self._repeats.is_named((finding.file, finding.code))

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
