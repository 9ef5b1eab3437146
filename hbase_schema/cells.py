r"""The codec of cell values: compact JSON, led by the cell's schema version.

    {"v":1,"type":"response","target_uri":"http://example.org/","ordinal":12}

UTF-8 if the text is Unicode; if it holds a byte that is not UTF-8 (a lone surrogate,
PEP 383), the whole value is ASCII with `\u` escapes.  Both decode to the same text.  A field
with its default value is omitted, and a mapping is sorted, so that a value has only one
encoding: a repeated act writes the same bytes.

A cell class is a frozen dataclass with `COLUMN` (`family:qualifier`) and `VERSION`.  Adding
or removing a field, or changing its meaning, is a new version, and the old golden lines stay; if
a default is not enough for an old value, the class has a method `upgraded(version, content)`, which
gives the content of an old version as that of the newest.

A field has its own name as its key, unless `named` gives another one; an integer that `named`
calls `as_text` is written as a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, field, fields
from functools import cache
from json.encoder import encode_basestring
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, get_type_hints

from pinakes.errors import MalformedRecord, SchemaError


class Cell(Protocol):
    """What the codec needs of a cell class, besides that it is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    COLUMN: ClassVar[bytes]
    VERSION: ClassVar[int]


C = TypeVar("C", bound=Cell)


class _FieldSpec(NamedTuple):
    name: str
    key: str
    kind: str
    optional: bool
    default: object
    as_text: bool


def named(key: str, *, default: Any = MISSING, as_text: bool = False) -> Any:
    """A field whose key in JSON is `key`; `as_text`: an integer that is written as a string."""
    return field(default=default, metadata={"key": key, "as_text": as_text})


_REQUIRED = object()
_INTEGER = re.compile(r"-?[0-9]{1,4000}\Z")
_KINDS: dict[object, str] = {
    str: "text",
    int: "integer",
    bool: "boolean",
    float: "number",
    tuple[str, ...]: "texts",
    Mapping[str, int]: "counts",
    Mapping[str, float]: "scores",
}

_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_ascii = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


@cache
def _specs(cls: type[Cell]) -> tuple[_FieldSpec, ...]:
    hints = get_type_hints(cls)
    return tuple(_spec(field, hints[field.name]) for field in fields(cls))


def _spec(field: Field[Any], hint: Any) -> _FieldSpec:
    members = getattr(hint, "__args__", ())
    optional = type(None) in members
    if optional:
        [hint] = [member for member in members if member is not type(None)]
    default = _REQUIRED
    if field.default is not MISSING:
        default = field.default
    elif field.default_factory is not MISSING:
        default = field.default_factory()
    key = field.metadata.get("key", field.name)
    as_text = field.metadata.get("as_text", False)
    return _FieldSpec(field.name, key, _KINDS[hint], optional, default, as_text)


def encode_cell(cell: Cell) -> bytes:
    """The value of a cell, in its one encoding."""
    cls = type(cell)
    return encode_fields(cls, [getattr(cell, spec.name) for spec in _specs(cls)])


def encode_fields(cls: type[Cell], values: Sequence[object]) -> bytes:
    """`encode_cell` of a cell with these values, in the order of its fields, without the cell.

    For landing, which writes four cells per capture: building the dataclass and encoding a
    dict as JSON cost more than inflating the record.
    """
    parts = [f'{{"v":{cls.VERSION}']
    for (lead, in_order, as_text, default), value in zip(_leads(cls), values, strict=True):
        if value != default:
            kind = type(value)
            if kind is str:
                parts += lead, encode_basestring(value)  # type: ignore[arg-type]
            elif kind is int:
                parts += lead, f'"{value}"' if as_text else str(value)
            else:
                parts += lead, _compact(_sorted(value) if in_order else value)
    parts.append("}")
    try:
        return "".join(parts).encode("utf-8")
    except UnicodeEncodeError:
        return _ascii(json.loads("".join(parts))).encode("ascii")


@cache
def _leads(cls: type[Cell]) -> tuple[tuple[str, bool, bool, object], ...]:
    """For each field the text before its value, whether it is sorted, or a text, its default."""
    return tuple(
        (f',"{spec.key}":', spec.kind in ("counts", "scores"), spec.as_text, spec.default)
        for spec in _specs(cls)
    )


def _sorted(value: object) -> object:
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value


def decode_cell(cls: type[C], value: bytes) -> C:
    """A cell from its value.

    Raises SchemaError if a newer Pinakes wrote it, MalformedRecord if it is not a value of
    this cell: fields are unknown, missing, of another type, or out of range.
    """
    where = f"{cls.__name__} cell"
    try:
        content = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise MalformedRecord(f"{where} is not JSON: {value[:80]!r}") from error
    version = content.pop("v", None) if isinstance(content, dict) else None
    if type(version) is not int or version < 1:
        raise MalformedRecord(f"{where} has no schema version: {value[:80]!r}")
    if version > cls.VERSION:
        raise SchemaError(
            f"{where} has version {version}, and this Pinakes knows {cls.VERSION}: upgrade it"
        )
    if version < cls.VERSION and (upgraded := getattr(cls, "upgraded", None)):
        content = upgraded(version, content)
    arguments = {
        spec.name: _checked(where, spec, content.pop(spec.key, spec.default))
        for spec in _specs(cls)
    }
    if content:
        raise MalformedRecord(f"{where} has unknown fields: {', '.join(sorted(content))[:200]}")
    try:
        return cls(**arguments)
    except ValueError as error:
        raise MalformedRecord(f"{where}: {error}") from error


def _checked(where: str, spec: _FieldSpec, value: object) -> object:
    if value is spec.default and value is not _REQUIRED:
        return value
    if spec.as_text and isinstance(value, str):
        value = int(value) if _INTEGER.match(value) else value
    value = tuple(value) if spec.kind == "texts" and isinstance(value, list) else value
    if not ((spec.optional and value is None) or _is_kind(spec.kind, value)):
        what = "is missing" if value is _REQUIRED else f"should be {spec.kind}: {value!r:.80}"
        raise MalformedRecord(f"{where}: {spec.key} {what}")
    return value


def _is_kind(kind: str, value: object) -> bool:
    # By exact type: JSON's true is a bool, which in Python is an integer.
    if kind == "texts":
        return isinstance(value, tuple) and all(type(text) is str for text in value)
    if kind in ("counts", "scores"):
        of = (int,) if kind == "counts" else (int, float)
        return isinstance(value, dict) and all(type(number) in of for number in value.values())
    wanted = {"text": (str,), "integer": (int,), "boolean": (bool,), "number": (int, float)}
    return type(value) in wanted[kind]
