"""The result of a task for a file, as a line of its output."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from pinakes.acts.generations import Written
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.dedupe.write.refs import RefsCount
from pinakes.mr_jobs.lines.problems import problem_text, text_problem


def outcome_text(outcome: FileOutcome) -> bytes:
    """An outcome as a line, without `folder`, which the driver knows."""
    count, problem = outcome.count, outcome.problem
    content = {
        "archive_file": outcome.archive_file,
        "written": asdict(outcome.written) if outcome.written is not None else None,
        "sidecar_sha256": outcome.sidecar_sha256,
        "records": count.records,
        "saved_bytes": count.saved_bytes,
        "left_full": count.left_full,
        "problems": [problem_text(each).decode() for each in count.problems],
        "problem": problem_text(problem).decode() if problem is not None else None,
    }
    return json.dumps(content).encode()


def text_outcome(line: bytes, folder: str) -> FileOutcome:
    """Undo `outcome_text`."""
    content = json.loads(line)
    written, problem = content["written"], content["problem"]
    count = RefsCount(content["records"], content["saved_bytes"], Counter(content["left_full"]))
    for text in content["problems"]:
        count.problems.append(text_problem(text.encode()))
    return FileOutcome(
        archive_file=content["archive_file"],
        folder=folder,
        written=Written(**written) if written is not None else None,
        sidecar_sha256=content["sidecar_sha256"],
        count=count,
        problem=text_problem(problem.encode()) if problem is not None else None,
    )
