"""Pinakes catalogues web archives and removes their duplicates without losing a byte.

This module is the small public API; what is not exported here may change.  Names are
imported when first used (PEP 562), so that reading a record does not load a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"
SOFTWARE = f"pinakes {__version__}"
"""What files and runs are said to have been written by."""

if TYPE_CHECKING:
    from pinakes.deletion.requests import DeletionReport, WithdrawalReport
    from pinakes.errors import PinakesError
    from pinakes.index.manifest import ManifestLine, format_line, parse_line
    from pinakes.index.scan import iter_manifest
    from pinakes.on_files import DedupedFile, DedupeResult, dedupe_files
    from pinakes.store import Capture, DedupeRun, LookupAnswer, Store, open_store
    from pinakes.warc.digest import Digest, parse_digest
    from pinakes.warc.opening import open_source
    from pinakes.warc.reader import iter_records, read_record
    from pinakes.warc.record import DamagedStretch, Finding, Record
    from pinakes.warc.source import Source

# Public name → module that defines it.  A test compares the three lists.
_EXPORTS = {
    "Capture": "pinakes.store",
    "DamagedStretch": "pinakes.warc.record",
    "DedupeResult": "pinakes.on_files",
    "DedupeRun": "pinakes.store",
    "DedupedFile": "pinakes.on_files",
    "DeletionReport": "pinakes.deletion.requests",
    "Digest": "pinakes.warc.digest",
    "Finding": "pinakes.warc.record",
    "LookupAnswer": "pinakes.store",
    "ManifestLine": "pinakes.index.manifest",
    "PinakesError": "pinakes.errors",
    "Record": "pinakes.warc.record",
    "Source": "pinakes.warc.source",
    "Store": "pinakes.store",
    "WithdrawalReport": "pinakes.deletion.requests",
    "dedupe_files": "pinakes.on_files",
    "format_line": "pinakes.index.manifest",
    "iter_manifest": "pinakes.index.scan",
    "iter_records": "pinakes.warc.reader",
    "open_source": "pinakes.warc.opening",
    "open_store": "pinakes.store",
    "parse_digest": "pinakes.warc.digest",
    "parse_line": "pinakes.index.manifest",
    "read_record": "pinakes.warc.reader",
}

__all__ = [
    "Capture",
    "DamagedStretch",
    "DedupeResult",
    "DedupeRun",
    "DedupedFile",
    "DeletionReport",
    "Digest",
    "Finding",
    "LookupAnswer",
    "ManifestLine",
    "PinakesError",
    "Record",
    "Source",
    "Store",
    "WithdrawalReport",
    "__version__",
    "dedupe_files",
    "format_line",
    "iter_manifest",
    "iter_records",
    "open_source",
    "open_store",
    "parse_digest",
    "parse_line",
    "read_record",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
