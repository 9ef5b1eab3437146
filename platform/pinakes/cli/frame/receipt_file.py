"""The receipt of a validation, as a file that appears whole."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from pinakes import __version__
from pinakes.archive_store.local.whole_files import written_aside
from pinakes.dedupe.validate.folders import Validation
from pinakes.dedupe.validate.receipt import format_receipt


def write_receipt(path: Path, result: Validation) -> None:
    """Write what was found; `Raises` as `written_aside`."""
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with written_aside(path) as file:
        file.write(f"{format_receipt(result, made=made, version=__version__)}\n".encode())
