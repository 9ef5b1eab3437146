"""Coverage-guided fuzzing of the reader: any bytes hold its invariants.

The first byte of an input says how the rest becomes a file, so that the fuzzer gets
past checksums: as it is, in one member, a member a record, or members cut at will, in
gzip or Zstandard.  Arguments are libFuzzer's; `fuzz_run.py` gives it a corpus and a time.
"""

from __future__ import annotations

import re
import sys
from functools import partial

import atheris

with atheris.instrument_imports(include=["pinakes.warc"]):
    from invariants import check_source

from archive_builders import frame, member, source_of, stored_frame

from pinakes.errors import PinakesError

AS_IT_IS, ONE_MEMBER, MEMBER_A_RECORD, CUT = range(4)
_RECORD = re.compile(rb"(?=WARC/\d)|(?<=\n)(?=[a-z]+://)")


def file_of(data: bytes) -> bytes:
    """The archive file that an input of the fuzzer stands for."""
    how, rest = data[:1], data[1:]
    kind = how[0] & 3 if how else AS_IT_IS
    is_zstd = bool(how) and how[0] & 0x80
    pack = frame if is_zstd else partial(member, level=1)
    store = stored_frame if is_zstd else partial(member, level=0)
    if kind == ONE_MEMBER:
        return pack(rest)
    if kind == MEMBER_A_RECORD:
        return b"".join(pack(part) for part in _RECORD.split(rest) if part)
    if kind == CUT:
        step = (how[0] >> 2) * 8 + 16
        parts = [rest[at : at + step] for at in range(0, len(rest), step)]
        return b"".join(map(store, parts))
    return rest


def test_one_input(data: bytes) -> None:
    try:
        check_source(source_of(file_of(data)))
    except PinakesError:
        raise AssertionError("nothing in a file raises") from None


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
