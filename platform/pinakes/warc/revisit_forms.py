"""Revisits for many headers of one writer: a form that is filled in for each.

`build_revisit` splits a header into lines, changes some, and verifies that the old header
can be restored.  The headers of one writer differ only in their values.  So a form is what
`build_revisit` makes of a header with blanks in place of values:

    WARC-Type: response                    WARC-Type: revisit
    WARC-Record-ID: {1}             ~>     WARC-Record-ID: {1}
    WARC-Block-Digest: {2}                 WARC-Block-Digest: {new digest}
    Content-Length: {3}                    Content-Length: {new length}
    ...                                    ...
                                           Pinakes-Replaced: ...; 3=...%20{2}; 4=...%20{3}

A form is kept if, filled in for the current header, it equals the result of
`build_revisit`.  It is used only for values for which the result must be the same; other
revisits are built by `build_revisit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from .field_names import (
    CONTENT_LENGTH_RAW,
    CONTENT_TYPE_RAW,
    WARC_BLOCK_DIGEST_RAW,
    WARC_PAYLOAD_DIGEST_RAW,
    WARC_TYPE_RAW,
)
from .header import Header
from .replaced_field import is_bare
from .revisit import OriginalReference, Unwritable, build_revisit, digest_of_block, encoded
from .shapes import HeaderShape, ShapedHeader

_BLANK = re.compile(rb"\{([0-9]+)\}")
# Placeholders for values that `build_revisit` computes; they occur nowhere else in a header.
_HTTP_HEAD = b"\r\n" * 20483
_CRC32 = 0x9D5A01C3
_CHANGING = (WARC_BLOCK_DIGEST_RAW, WARC_PAYLOAD_DIGEST_RAW, CONTENT_LENGTH_RAW)
_COMPUTED = 6
LONGEST_HEADER_BYTES = 1 << 17
"""Limit for a record that is replaced and for its revisit: the verifier holds both in memory."""
_Pick = Callable[[Sequence[bytes]], tuple[bytes, ...]]


class RevisitForm(NamedTuple):
    """What all revisits of a shape share: `template % pick(values)` is one of them.

    The values are those of the header's lines, in order; then new block digest and
    length; URI, date and record id of the original; and the old record's checksum.
    """

    template: bytes
    pick: _Pick
    block_digest: int
    payload_digest: int
    length: int

    def fill(
        self, header: ShapedHeader, http_head: bytes, original: OriginalReference, crc32: int
    ) -> bytes | None:
        """Header and block of the revisit; None if `build_revisit` has to build it."""
        values = header.values()
        old_block = values[self.block_digest]
        new_block, new_length = digest_of_block(old_block, http_head), b"%d" % len(http_head)
        uri, date, record_id, payload_digest = original
        if (
            record_id is None
            or values[self.payload_digest] != encoded(payload_digest)
            or old_block == new_block
            or not is_bare(old_block)
            or values[self.length] == new_length
        ):
            return None
        computed = (new_block, new_length, encoded(uri), encoded(date), encoded(record_id))
        return self.template % self.pick((*values, *computed, b"%08x" % crc32)) + http_head


class RevisitBuilder:
    """Builds the revisits of one run; keeps the form of each header shape."""

    def __init__(self, run: str) -> None:
        self._run = run
        # The shape is kept so that no other object gets its id.
        self._forms: dict[int, tuple[HeaderShape, RevisitForm | None]] = {}

    def build(
        self, header: Header, http_head: bytes, original: OriginalReference, *, crc32: int
    ) -> bytes:
        """As `build_revisit`.

        Raises:
            Unwritable: also if one of the headers would be longer than `LONGEST_HEADER_BYTES`
                (`header-long`).
        """
        revisit = self._build(header, http_head, original, crc32)
        if max(len(header.raw), len(revisit) - len(http_head)) > LONGEST_HEADER_BYTES:
            raise Unwritable("header-long")
        return revisit

    def _build(
        self, header: Header, http_head: bytes, original: OriginalReference, crc32: int
    ) -> bytes:
        if isinstance(header, ShapedHeader):
            shape = header.shape
            known = self._forms.get(id(shape))
            form = known[1] if known else None
            revisit = form.fill(header, http_head, original, crc32) if form else None
            if revisit is not None:
                return revisit
        revisit = build_revisit(header, http_head, original, run=self._run, crc32=crc32)
        if isinstance(header, ShapedHeader) and known is None:
            form = form_of(header, run=self._run)
            proven = form and form.fill(header, http_head, original, crc32) == revisit
            self._forms[id(shape)] = shape, form if proven else None
        return revisit


def form_of(header: ShapedHeader, *, run: str) -> RevisitForm | None:
    """The form of the header's shape; None if a line that a form needs is missing."""
    shape = header.shape
    names = shape.names
    try:
        block, payload, length = map(names.index, _CHANGING)
    except ValueError:
        return None
    blanks = [b"{%d}" % at for at in range(len(names) + _COMPUTED)]
    version, *lines = header.raw.split(b"\r\n")[:-2]
    for at, (name, line) in enumerate(zip(names, lines, strict=True)):
        # The other values are part of the shape.
        if name != WARC_TYPE_RAW and not (name == CONTENT_TYPE_RAW and shape.declares_http):
            lines[at] = line.partition(b": ")[0] + b": " + blanks[at]
    new_block, new_length, uri, date, record_id, crc32 = blanks[len(names) :]
    original = OriginalReference(
        *(blank.decode() for blank in (uri, date, record_id, blanks[payload]))
    )
    blank_header = Header(b"\r\n".join((version, *lines, b"", b"")))
    try:
        revisit = build_revisit(blank_header, _HTTP_HEAD, original, run=run, crc32=_CRC32)
    except Unwritable:
        return None
    text = revisit.removesuffix(_HTTP_HEAD).replace(b"%", b"%%")
    for value, blank in (
        (digest_of_block(b"", _HTTP_HEAD), new_block),
        (b"%d" % len(_HTTP_HEAD), new_length),
        (b"%08x" % _CRC32, crc32),
    ):
        if text.count(value) != 1:
            return None
        text = text.replace(value, blank)
    order = [int(number) for number in _BLANK.findall(text)]
    if max(order) >= len(blanks):
        return None
    return RevisitForm(_BLANK.sub(b"%b", text), itemgetter(*order), block, payload, length)
