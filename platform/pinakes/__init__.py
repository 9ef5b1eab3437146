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
    from pinakes.application.checking import StoreFinding
    from pinakes.application.crawls import CrawlSummary, StoredFile
    from pinakes.application.deduping import DedupeRun
    from pinakes.application.landing_loop import IngestRun
    from pinakes.application.landing_plan import IngestPlan
    from pinakes.application.on_files import DedupedFile, DedupeResult, dedupe_files
    from pinakes.application.restoring import RestoredFile, RestoreResult, restore_files
    from pinakes.application.store import Store, open_store, restore_backup
    from pinakes.application.store_reading import Capture, LookupAnswer
    from pinakes.application.wacz_events import ImportRun
    from pinakes.backup.making import BackupReport
    from pinakes.backup.restoring import RestoreReport
    from pinakes.deletion.requests import DeletionReport, WithdrawalReport
    from pinakes.errors import PinakesError
    from pinakes.export.exporting import ExportReport
    from pinakes.index.manifest import ManifestLine, format_line, parse_line
    from pinakes.index.scan import iter_manifest
    from pinakes.rewrite.recompress_file import Recompression
    from pinakes.warc.digest import Digest, parse_digest
    from pinakes.warc.opening import open_source
    from pinakes.warc.reader import iter_records, read_record
    from pinakes.warc.record import DamagedStretch, Finding, Record
    from pinakes.warc.source import Source

# Public name → module that defines it.  A test compares the three lists.
_EXPORTS = {
    "BackupReport": "pinakes.backup.making",
    "Capture": "pinakes.application.store_reading",
    "CrawlSummary": "pinakes.application.crawls",
    "DamagedStretch": "pinakes.warc.record",
    "DedupeResult": "pinakes.application.on_files",
    "DedupeRun": "pinakes.application.deduping",
    "DedupedFile": "pinakes.application.on_files",
    "DeletionReport": "pinakes.deletion.requests",
    "Digest": "pinakes.warc.digest",
    "ExportReport": "pinakes.export.exporting",
    "Finding": "pinakes.warc.record",
    "ImportRun": "pinakes.application.wacz_events",
    "IngestPlan": "pinakes.application.landing_plan",
    "IngestRun": "pinakes.application.landing_loop",
    "LookupAnswer": "pinakes.application.store_reading",
    "ManifestLine": "pinakes.index.manifest",
    "PinakesError": "pinakes.errors",
    "Recompression": "pinakes.rewrite.recompress_file",
    "Record": "pinakes.warc.record",
    "RestoreResult": "pinakes.application.restoring",
    "RestoredFile": "pinakes.application.restoring",
    "RestoreReport": "pinakes.backup.restoring",
    "Source": "pinakes.warc.source",
    "Store": "pinakes.application.store",
    "StoreFinding": "pinakes.application.checking",
    "StoredFile": "pinakes.application.crawls",
    "WithdrawalReport": "pinakes.deletion.requests",
    "dedupe_files": "pinakes.application.on_files",
    "format_line": "pinakes.index.manifest",
    "iter_manifest": "pinakes.index.scan",
    "iter_records": "pinakes.warc.reader",
    "open_source": "pinakes.warc.opening",
    "open_store": "pinakes.application.store",
    "parse_digest": "pinakes.warc.digest",
    "parse_line": "pinakes.index.manifest",
    "read_record": "pinakes.warc.reader",
    "restore_backup": "pinakes.application.store",
    "restore_files": "pinakes.application.restoring",
}

__all__ = [
    "BackupReport",
    "Capture",
    "CrawlSummary",
    "DamagedStretch",
    "DedupeResult",
    "DedupeRun",
    "DedupedFile",
    "DeletionReport",
    "Digest",
    "ExportReport",
    "Finding",
    "ImportRun",
    "IngestPlan",
    "IngestRun",
    "LookupAnswer",
    "ManifestLine",
    "PinakesError",
    "Recompression",
    "Record",
    "RestoreReport",
    "RestoreResult",
    "RestoredFile",
    "Source",
    "Store",
    "StoreFinding",
    "StoredFile",
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
    "restore_backup",
    "restore_files",
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
