"""Errors: one class per action that the caller can take.

The lowest layer: imports nothing of the project.  `pinakes.cli.frame.exits` maps each
class to an exit code; foreign exceptions become one of these in adapters only.
"""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known one, if any is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f": did you mean {near[0]}?" if near else ""


def at_place(file: str, offset: int | None) -> str:
    """A place in a file, as messages name it, printable: a name may hold newlines."""
    name = file.encode("unicode_escape").decode("ascii")
    return name if offset is None else f"{name}:{offset}"


class PinakesError(Exception):
    """The root.  Carries, where known, the file and the byte offset in it.

    The message says what happened and what to do; `str()` puts file and offset
    in front of it, in the form `FILE:OFFSET: message` that `pinakes show` takes.
    `kind` is given where the message names more of the record (a URI): it is the
    message without that, the same for all records that fail alike.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        offset: int | None = None,
        kind: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.offset = offset
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries (`-j N`); keyword arguments would be lost.
        return (_rebuild, (type(self), self.message, self.file, self.offset, self.kind))

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        return f"{at_place(self.file, self.offset)}: {self.message}"


def _rebuild(
    cls: type[PinakesError],
    message: str,
    file: str | None,
    offset: int | None,
    kind: str | None,
) -> PinakesError:
    return cls(message, file=file, offset=offset, kind=kind)


class MalformedRecord(PinakesError):
    """A record (or a line about one) cannot be read: skip it, count it, go on."""


class DigestMismatch(PinakesError):
    """Bytes do not match their checksum: keep both sides, quarantine, investigate."""


class UnresolvedReference(PinakesError):
    """A revisit's original is not where it is said to be: leave the revisit as it is."""


class InputRefused(PinakesError):
    """This input was refused (a folder, changed while read, other bytes under a
    known name): the rest of the batch continues."""


class SchemaError(PinakesError):
    """The store's schema differs from ours (newer, or drifted): stop, upgrade first."""


class StoreUnavailable(PinakesError):
    """A store cannot be reached or is full: nothing is half written; try again later."""


class Conflict(PinakesError):
    """Another process holds the claim or lease, or pins prevent it: wait, or
    resolve what the message lists."""


class Busy(Conflict):
    """Another process is working on it now: retry when it has finished or died."""


ONE_FILE_ONLY = (InputRefused, MalformedRecord, DigestMismatch, UnresolvedReference, Conflict)
"""What keeps one file from being written, and leaves it as it is; the others are done."""


class ConfigError(PinakesError):
    """The call or the configuration is wrong: change it."""


class MissingExtra(ConfigError):
    """An optional dependency is not installed; the message names the extra."""
