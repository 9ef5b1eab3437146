"""What a task has read of an original, sent to the tasks that write revisits."""

from __future__ import annotations

import json

from pinakes.dedupe.write.proven_originals import KnownOriginal
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.warc.revisit import Original, Unwritable

_KNOWN, _UNWRITABLE, _FAULT = b"K", b"U", b"F"


def sent(found: KnownOriginal | Unwritable | InputRefused | MalformedRecord) -> bytes:
    """Encode an original, or the error in its place, as a field."""
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
    if kind == _UNWRITABLE:
        raise Unwritable(content.decode())
    if kind == _FAULT:
        raise text_problem(content)
    reference, record_type, body_size, rest_crc32 = json.loads(content)
    return KnownOriginal(Original(*reference), record_type, body_size, rest_crc32)
