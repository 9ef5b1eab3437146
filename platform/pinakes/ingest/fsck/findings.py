"""The findings of fsck: one line each, with what `--repair` would do, if anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

# code: what it is; docs/fsck.md has the same table.
CODES = MappingProxyType(
    {
        "dead-claim": "a claim whose owner is gone",
        "state-lost": "its bytes are what was stored, and its row does not say so",
        "dead-landing": "a landing that was broken off",
        "dead-removal": "a removal that was broken off",
        "unfinished-act": "a lease or a crawl that an act has left",
        "hidden": "in flight, and no process works on it",
        "aside": "left half written by a process that has ended",
        "file-missing": "the catalogue has it, the archive has not",
        "checksum": "its bytes are not those that were stored",
        "unknown-file": "the archive has it, the catalogue has not",
        "dictionary": "a kept dictionary whose bytes are not those that it is named after",
        "sidecar-missing": "a file without its sidecar",
        "sidecar-alone": "a sidecar without its file",
        "sidecar-unreadable": "a sidecar that cannot be read",
        "sidecar-other": "a sidecar that describes another file",
        "rows-missing": "captures or digests without their rows",
        "references": "revisits that are not found by what they refer to",
        "pin-missing": "an original of ours that is not pinned",
        "rows-alone": "rows of a file that has not landed",
        "reports-alone": "captures reported of a crawl that has ended",
        "location": "a row does not point at its record",
        "sidecar-differs": "a sidecar says otherwise than its file",
        "cell": "a cell says otherwise than the file, or cannot be read",
        "invented": "rows or cells that no record accounts for",
        "facts": "what is noted of a file is not so",
        "generation-missing": "an old generation is gone, and was not dropped",
        "generation-back": "an old generation is there again that an act has dropped",
        "crawl-missing": "files of a crawl that the catalogue does not have",
        "crawl-differs": "a crawl and its files are of two collections",
        "unreadable-row": "a row of the catalogue cannot be read",
        "reference": "a revisit of ours whose original is not there, is damaged, is a revisit, "
        "or has another body",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FsckFinding:
    """One finding; `repair` says what would be done, and `mend` does it.

    `mend` returns the id by which it is undone, if it replaced anything.
    """

    code: str
    file: str
    message: str
    repair: str | None = None
    mend: Callable[[], str | None] | None = None
