"""What a task has read of an original, sent to the tasks that write revisits."""

from __future__ import annotations

import json

from pinakes.dedupe.write.proven_originals import KnownOriginal, Unproven
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.warc.revisit import Original, Unwritable

_KNOWN, _UNWRITABLE, _UNPROVEN, _FAULT = b"K", b"U", b"P", b"F"


def sent(found: KnownOriginal | Unwritable | InputRefused | MalformedRecord) -> bytes:
    """Encode an original, or the error in its place, as a field."""
    if isinstance(found, Unproven):
        return _UNPROVEN + found.reason.encode() + b" " + problem_text(found.problem)
    if isinstance(found, Unwritable):
        return _UNWRITABLE + found.reason.encode()
    if isinstance(found, KnownOriginal):
        return _KNOWN + json.dumps(found).encode()
    return _FAULT + problem_text(found)


def received(field: bytes, line: ManifestLine) -> KnownOriginal:
    """Decode `sent`.

    Raises:
        Unwritable, InputRefused, MalformedRecord: as `OriginalReader.find` did.
    """
    kind, content = field[:1], field[1:]
    if kind == _UNPROVEN:
        reason, _, problem = content.partition(b" ")
        raise Unproven(reason.decode(), text_problem(problem))
    if kind == _UNWRITABLE:
        raise Unwritable(content.decode())
    if kind == _FAULT:
        raise text_problem(content)
    reference, *facts = json.loads(content)
    return KnownOriginal(Original(*reference), *facts)
