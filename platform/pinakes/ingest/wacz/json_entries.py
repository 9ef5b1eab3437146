"""A JSON object with one long list, read a piece at a time: `{"event": "…", "resources": […]}`.

A list of a million entries takes as much memory as one of ten.  Every other value is read whole,
and bounded.  Source: RFC 8259.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pinakes.errors import InputRefused

_PIECE_BYTES = 1 << 16
_LONGEST_VALUE = 1 << 24
_MOST_NAMES = 1000
_LONGEST_SIGN = 3
_SPACE = " \t\r\n"


class Item(NamedTuple):
    """A value of the object by its name; of the long list an empty one, then its entries."""

    name: str
    value: object


def iter_items(file: BinaryIO, listed: str, *, place: str) -> Iterator[Item]:
    """Yield the values of the object, and of the list `listed` its entries, in their order.

    Raises:
        InputRefused: at the place where it is no JSON object of that form.
    """
    reader = _Reader(file)
    try:
        yield from _items(reader, listed)
    except RecursionError as error:
        raise InputRefused("not read: its JSON is nested too deeply", file=place) from error
    except UnicodeDecodeError as error:
        raise InputRefused("not JSON: it is not UTF-8", file=place) from error
    except ValueError as error:
        raise InputRefused(f"not the JSON of a manifest: {error}", file=place) from error


def _items(reader: _Reader, listed: str) -> Iterator[Item]:
    reader.expect("{")
    names = set()
    if reader.next_is("}"):
        return reader.end()
    while True:
        name = reader.value()
        if not isinstance(name, str) or name in names:
            raise reader.wrong(f"{name!r:.80} is no name, or comes twice")
        names.add(name)
        if len(names) > _MOST_NAMES:
            raise reader.wrong(f"it has more than {_MOST_NAMES:,} names")
        reader.expect(":")
        if name == listed and reader.next_is("["):
            yield Item(name, [])
            yield from (Item(name, value) for value in _entries(reader))
        else:
            yield Item(name, reader.value())
        if reader.next_is("}"):
            return reader.end()
        reader.expect(",")


def _entries(reader: _Reader) -> Iterator[object]:
    if reader.next_is("]"):
        return
    while True:
        yield reader.value()
        if reader.next_is("]"):
            return
        reader.expect(",")


class _Reader:
    """The text of a file, as much of it as is needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._parse = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    def wrong(self, why: str) -> ValueError:
        return ValueError(f"{why} (character {self._before + self._at:,})")

    def next_is(self, character: str) -> bool:
        """Whether that comes next; it is passed over."""
        found = self._peek() == character
        self._at += found
        return found

    def expect(self, character: str) -> None:
        if not self.next_is(character):
            found = repr(self._peek()) if self._peek() else "its end"
            raise self.wrong(f"{found} where {character!r} belongs")

    def end(self) -> None:
        if self._peek():
            raise self.wrong("there is more after its end")

    def value(self) -> object:
        if not self._peek():
            raise self.wrong("it ends in the middle")
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    raise self.wrong(f"{error.msg}") from error
                continue
            # A number may go on in the next piece: after `12` with `.5`, after `12e+` with `3`.
            if end + _LONGEST_SIGN > len(self._text) and self._more():
                continue
            self._at = end
            return value

    def _peek(self) -> str:
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read as much again as is there of what has begun; False at the end."""
        if self._ended:
            return False
        kept = self._text[self._at :]
        if len(kept) > _LONGEST_VALUE:
            raise self.wrong(f"a value is longer than {_LONGEST_VALUE:,} characters, or is no JSON")
        piece = self._file.read(max(_PIECE_BYTES, len(kept)))
        self._ended = not piece
        self._before += self._at
        self._text, self._at = kept + self._decoder.decode(piece, final=self._ended), 0
        return True
