"""WACZ files of crawls, and of archive files that are in no store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path

from pinakes import SOFTWARE
from pinakes.archive_store.local.whole_files import require_absent
from pinakes.archive_store.located import local_path
from pinakes.errors import PinakesError
from pinakes.export.exporting import ExportReport, ExportRequest, WaczExporter
from pinakes.export.plain_files import FilesExporter
from pinakes.export.wacz_file import Described
from pinakes.index.external_sort import SortSpace
from pinakes.profile import Stores
from pinakes.warc.file_names import is_remote
from pinakes.warc.file_progress import Advance, no_advance

OnProblem = Callable[[PinakesError], None]


def export_crawl(
    stores: Stores,
    request: ExportRequest,
    target: Path,
    *,
    on_problem: OnProblem,
    advance: Advance = no_advance,
    on_total: Advance = no_advance,
) -> ExportReport:
    """Write a crawl as a WACZ file.  Raises, and calls, as `WaczExporter.export`."""
    return _exporter(stores, on_problem).export(request, target, advance, on_total)


def plan_export(
    stores: Stores, request: ExportRequest, target: Path, *, on_problem: OnProblem
) -> ExportReport:
    """What would be written.  Raises as `WaczExporter.plan`; InputRefused where the file exists."""
    require_absent(target)
    return _exporter(stores, on_problem).plan(request)


def export_files(
    places: Sequence[str],
    target: Path,
    space: SortSpace,
    *,
    on_problem: OnProblem,
    advance: Advance = no_advance,
) -> Described:
    """Write archive files as a WACZ file.  Raises as `FilesExporter.export`."""
    exporter = FilesExporter(
        software=SOFTWARE, moment=_newest(places), space=space, on_problem=on_problem
    )
    return exporter.export(places, target, advance)


def _exporter(stores: Stores, on_problem: OnProblem) -> WaczExporter:
    return WaczExporter(
        stores.rows,
        stores.archive,
        software=SOFTWARE,
        space=stores.space,
        on_problem=on_problem,
    )


def _newest(places: Sequence[str]) -> datetime:
    """When the newest of the files was changed: the same files give the same bytes.  Now, where
    one is remote."""
    if any(map(is_remote, places)):
        return datetime.now(timezone.utc)
    newest = max((local_path(place).stat().st_mtime for place in places), default=0.0)
    return datetime.fromtimestamp(newest, timezone.utc)
