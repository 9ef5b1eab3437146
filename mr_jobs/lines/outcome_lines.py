"""The result of a task for a file, as a line of its output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from pinakes.acts.generations import Written
from pinakes.acts.waves import FileOutcome, NotWritten, WrittenFile
from pinakes.mr_jobs.lines.problems import problem_text, text_problem

Made = TypeVar("Made")


def outcome_text(outcome: FileOutcome[Made], encode: Callable[[Made], Mapping[str, Any]]) -> bytes:
    """An outcome as a line, without `folder`, which the driver knows; `encode` for JSON."""
    content: dict[str, Any] = {"archive_file": outcome.archive_file}
    if isinstance(outcome, NotWritten):
        content["old_sha256"] = outcome.old_sha256
        content["problem"] = problem_text(outcome.problem).decode()
    else:
        content["written"] = asdict(outcome.written)
        content["sidecar_sha256"] = outcome.sidecar_sha256
        content["made"] = encode(outcome.made)
    return json.dumps(content).encode()


def text_outcome(
    line: bytes, folder: str, decode: Callable[[Mapping[str, Any]], Made]
) -> FileOutcome[Made]:
    """Undo `outcome_text`."""
    content = json.loads(line)
    if "problem" in content:
        problem = text_problem(content.pop("problem").encode())
        return NotWritten(**content, problem=problem)
    written, made = Written(**content.pop("written")), decode(content.pop("made"))
    return WrittenFile(**content, folder=folder, written=written, made=made)
