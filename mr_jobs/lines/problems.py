"""Errors as lines, reported when the job has ended."""

from __future__ import annotations

import json

import pinakes.errors as error_classes
from pinakes.errors import PinakesError


def problem_text(problem: PinakesError) -> bytes:
    """Encode an error as a line."""
    found = {
        "class": type(problem).__name__,
        "file": problem.file,
        "offset": problem.offset,
        "message": problem.message,
        "kind": problem.kind,
    }
    return json.dumps(found).encode()


def text_problem(line: bytes) -> PinakesError:
    """Undo `problem_text`."""
    found = json.loads(line)
    cls = getattr(error_classes, found["class"])
    error: PinakesError = cls(
        found["message"], file=found["file"], offset=found["offset"], kind=found["kind"]
    )
    return error
