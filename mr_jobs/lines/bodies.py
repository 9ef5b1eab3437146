"""Manifest lines between tasks; and bodies as lines, from where they are read to where they are
compared.

    PLACE 0  L role, manifest line
    PLACE 1  B a piece, deflated, in base64
    …
    PLACE n  E the end; or F why the rest could not be read

PLACE sorts like places, and the numbers after it like the pieces: so the sorted values of one
digest are one body after the other, in order of place.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from isal import isal_zlib

import pinakes.errors as error_classes
from pinakes.dedupe.decide.bodies import BodyReader, Piece
from pinakes.dedupe.decide.shuffled_bodies import ShuffledBody
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine, format_line, parse_line
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, sortable_place

MEMBER, FIRST, LEADER, COPY = b"m", b"f", b"l", b"c"
"""Roles: a line that is to be numbered; one of which others have copies; one that others were
settled with; or one that only stands for its content."""

_LINE, _PIECE, _END, _FAULT = b"L", b"B", b"E", b"F"
_PIECE_BYTES = 384 << 10

SETTLED = b"="
"""The prefix of their keys."""
_SPREAD_BYTES = 2


def line_text(line: ManifestLine) -> bytes:
    """A manifest line in the form used between jobs."""
    return format_line(line).encode("utf-8", "surrogateescape")


def text_line(text: bytes) -> ManifestLine:
    """Decode `line_text`; `Raises` MalformedRecord."""
    return parse_line(text.decode("utf-8", "surrogateescape"))


def send_body(line: ManifestLine, role: bytes, bodies: BodyReader) -> Iterator[bytes]:
    """A body as values that sort in this order; one that cannot be read ends with the reason."""
    place = sortable_place(line)
    number = 0

    def value(kind: bytes, content: bytes = b"") -> bytes:
        nonlocal number
        number += 1
        return SEPARATOR.join((place, b"%08d" % (number - 1), kind + content))

    yield value(_LINE, role + line_text(line))
    try:
        for piece in bodies.open_body(line):
            for at in range(0, len(piece), _PIECE_BYTES):
                yield value(_PIECE, _packed(piece[at : at + _PIECE_BYTES]))
    except (InputRefused, MalformedRecord, OSError) as error:
        message = error.message if isinstance(error, PinakesError) else str(error)
        yield value(_FAULT, json.dumps([type(error).__name__, message]).encode())
        return
    yield value(_END)


def _packed(piece: Piece) -> bytes:
    # Each byte is written and read four times before comparing; text shrinks to a third.
    return b2a_base64(isal_zlib.compress(piece, 1), newline=False)


def received_bodies(values: Iterable[bytes]) -> Iterator[tuple[bytes, ShuffledBody]]:
    """Yield role and body of each line, in order.

    Raises:
        PinakesError: the beginning or the end of a body is missing.
    """
    stream = map(_parse, values)
    for kind, content in stream:
        if kind != _LINE:
            raise PinakesError("a body arrived without its line")
        line = text_line(content[1:])
        pieces = _pieces(line, stream)
        yield content[:1], ShuffledBody(line, pieces)
        try:
            for _ in pieces:
                """The caller may have stopped before the end."""
        except (InputRefused, MalformedRecord):
            """Raised to the caller already, if it drew so far."""


def _parse(value: bytes) -> tuple[bytes, bytes]:
    content = value.split(SEPARATOR, 3)[3]
    return content[:1], content[1:]


def _pieces(line: ManifestLine, stream: Iterator[tuple[bytes, bytes]]) -> Iterator[bytes]:
    for kind, content in stream:
        if kind == _PIECE:
            yield isal_zlib.decompress(a2b_base64(content))
        elif kind == _END:
            return
        elif kind == _FAULT:
            name, message = json.loads(content)
            cls = getattr(error_classes, name, InputRefused)
            raise cls(message, file=line.file, offset=line.offset)
        else:
            break
    raise PinakesError("a body arrived without its end", file=line.file, offset=line.offset)


def settled(line: ManifestLine) -> tuple[bytes, bytes]:
    """Such a line, with a key that spreads them over the reducers."""
    text = line_text(line)
    return SETTLED + blake2b(text, digest_size=_SPREAD_BYTES).hexdigest().encode(), text
