"""Fields of a record that are asked for by name: its headers, those of HTTP, its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pinakes.errors import ConfigError
from pinakes.warc.field_names import WARC_TARGET_URI_KEY
from pinakes.warc.record import Record

Value = str | int | None
_HTTP = "http:"
_PLACES: dict[str, Callable[[Record, str], Value]] = {
    "offset": lambda record, _: record.offset,
    "length": lambda record, _: record.length,
    "filename": lambda _, filename: filename,
    "http:status": lambda record, _: record.http.status if record.http is not None else None,
    WARC_TARGET_URI_KEY: lambda record, _: record.target_uri,
}


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field; `name` as it was asked for."""

    name: str

    def of(self, record: Record, filename: str) -> Value:
        """Its value as written, the first of that name; None where the record has none."""
        name = self.name.lower()
        place = _PLACES.get(name)
        if place is not None:
            return place(record, filename)
        if not name.startswith(_HTTP):
            return record.header.field(name)
        return record.http.get(name[len(_HTTP) :]) if record.http is not None else None


def fields_of(text: str) -> tuple[RecordField, ...]:
    """The fields in a list with commas.  Raises ConfigError for what is the name of none."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        bare = name[len(_HTTP) :] if name.lower().startswith(_HTTP) else name
        if not bare or any(char.isspace() or char == ":" for char in bare):
            raise ConfigError(
                f"--fields has {name!r}, and should have names such as offset, warc-date, "
                "http:status, http:content-type"
            )
    return tuple(map(RecordField, names))
