"""The receipt of a validation by tasks, which `commit_copy` requires."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from pinakes.config import Configuration
from pinakes.dedupe.validate.file_pairs import Discrepancy
from pinakes.dedupe.validate.folders import Folder, Validation, not_compared, sort_out
from pinakes.errors import PinakesError
from pinakes.mr_jobs.archive_job import FOUND
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.mr_jobs.validate import FACTS, REFERENCES, SUMS
from pinakes.profile import open_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipted:
    """A validation of two folders, with accepted discrepancies."""

    request: JobRequest
    folders: Sequence[str]
    accepted: Sequence[dict[str, str]] = ()


def run_validation(
    what: Receipted,
    runner: str,
    configuration: Configuration,
    out: BinaryIO,
    *,
    on_result: Callable[[Validation], None],
    on_percent: Callable[[float], None] = lambda percent: None,
) -> JobReport:
    """Run it, with checksums of files; write the discrepancies that are not accepted.

    `on_result` is called with the whole result, unless files could not be read: then there is no
    receipt.  Raises: as `run_job`.
    """
    request = replace(what.request, options=(*what.request.options, SUMS))
    with TemporaryFile() as lines:
        report = run_job(request, runner, configuration, lines, on_percent=on_percent)
        lines.seek(0)
        result = _result(what, report, map(json.loads, lines))
    result.others = not_compared(*(_sorted_out(folder, configuration) for folder in what.folders))
    still_open = result.open_discrepancies
    report.counts[FOUND] = len(still_open)
    out.writelines(json.dumps(found._asdict()).encode() + b"\n" for found in still_open)
    if report.findings:
        report.findings.append(PinakesError("of what could not be read there is no receipt"))
    else:
        on_result(result)
    return report


def _sorted_out(folder: str, configuration: Configuration) -> Folder:
    with open_folder(folder, configuration) as opened:
        return sort_out((name for name, _ in opened.list()), folder)


def _result(what: Receipted, report: JobReport, lines: Iterable[dict[str, Any]]) -> Validation:
    result = Validation(accepted=[*what.accepted])
    found = result.comparison
    for line in lines:
        if FACTS in line:
            result.files.append(_relative(line[FACTS], what.folders[0]))
        else:
            found.discrepancies.append(Discrepancy(**line))
    result.files.sort(key=lambda facts: str(facts["name"]))
    found.discrepancies.sort()
    for name in ("records", "rewritten", "restored", "read_twice"):
        setattr(found, name, report.counts[name.replace("_", " ")])
    for name, count in report.counts.items():
        if name.startswith(REFERENCES):
            result.references[name.removeprefix(REFERENCES)] = count
    return result


def _relative(facts: dict[str, Any], folder: str) -> dict[str, Any]:
    """With the old file's name relative to its folder, like the new one's."""
    before = facts["before"]
    name = before["name"].removeprefix(f"{folder.rstrip('/')}/")
    return {**facts, "before": {**before, "name": name}}
