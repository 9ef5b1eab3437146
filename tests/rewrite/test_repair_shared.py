"""`repair` on archives of other projects: what digests prove, and nothing is worse than before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from checking import check_paths

from pinakes.conformance.rules import Severity
from pinakes.errors import InputRefused
from pinakes.rewrite.new_file import WRITTEN
from pinakes.rewrite.repair_file import NOTHING, repair_file

_WARCIO = "archives/webrecorder_warcio/test/data"


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("cases/AM3-warc-length-into-next.warc", 1),
        (f"{_WARCIO}/example-trunc.warc", 1),
        ("archives/webrecorder_warcio.js/test/data/example-bad-length.warc", 2),
    ],
)
def test_lengths_that_digests_or_the_next_record_show(
    name: str, lengths: int, shared_data: Path, tmp_path: Path
) -> None:
    codes: list[str] = []
    path = shared_data / name
    result = repair_file(str(path), tmp_path, lambda told: codes.append(told.code))
    assert (result.outcome, result.left, codes) == (WRITTEN, 0, ["content-length-wrong"] * lengths)
    errors = [f for f in check_paths(tmp_path / path.name) if f.severity is Severity.ERROR]
    assert errors == []


@pytest.mark.slow
def test_no_archive_is_worse_afterwards(shared_data: Path, tmp_path: Path) -> None:
    """What is written is proven in `repair_file`; done again, there is nothing to do."""
    written = 0
    for pattern in ("*.warc", "*.warc.gz", "*.warc.gz.open"):
        for path in sorted((shared_data / "archives").rglob(pattern)):
            try:
                result = repair_file(str(path), tmp_path / "out", lambda told: None, dry_run=True)
            except InputRefused:
                continue
            if result.outcome == NOTHING:
                continue
            (tmp_path / "out").mkdir()
            repair_file(str(path), tmp_path / "out", lambda told: None)
            again = repair_file(str(tmp_path / "out" / path.name), tmp_path, lambda told: None)
            assert (again.outcome, again.left) == (NOTHING, result.left), path
            written += 1
            shutil.rmtree(tmp_path / "out")
    assert written > 40
