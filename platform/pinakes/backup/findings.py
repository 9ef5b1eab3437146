"""What was settled in a restored store: one line each."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

# code: what was done; docs/backup.md has the same table.
CODES = MappingProxyType(
    {
        "landing": "a landing that was under way: ended, or taken out",
        "removal": "a removal that was under way: ended",
        "removal-undone": "a removal that began after the rows of its crawl were copied: not begun",
        "dedupe": "a run of dedupe that was under way: stopped where it was",
        "run": "another run that was under way: stopped",
        "claim": "a claim on a file: given back",
        "rows": "rows of a file that were held before it had landed or moved: as its sidecar says",
        "mark": "marks that were written ahead, or not yet: as the sidecar says",
        "pin": "originals that were not pinned yet: pinned",
        "crawl": "a crawl that began after the rows of crawls were copied: made known",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledFinding:
    """One settled thing; `file` is an archive file, a crawl, a collection or a run."""

    code: str
    file: str
    message: str
