"""Which files are landed, and under which names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinakes.ingest.inputs import Input, LeftOut, iter_inputs
from pinakes.warc.file_names import is_archive_name


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.warc", True),
        ("a.warc.gz", True),
        ("a.arc.gz", True),
        ("a.warc.zst", True),
        ("A.WARC.GZ", True),
        ("a.warc.gz.open", False),
        ("a.cdx", False),
        ("crawl.log.gz", False),
        ("warc", False),
    ],
)
def test_names_of_archive_files(name: str, is_one: bool) -> None:
    assert is_archive_name(name) == is_one


def test_a_folder_gives_relative_paths_in_order_and_a_file_its_base_name(tmp_path: Path) -> None:
    for name in ("b/x.warc", "a/x.warc", "a.warc.gz", "a/log.txt", "b/y.warc.part"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    (tmp_path / "loop").symlink_to(tmp_path)
    left = LeftOut()
    found = list(iter_inputs([str(tmp_path), str(tmp_path / "a" / "log.txt")], left))
    assert [item.name for item in found] == ["a.warc.gz", "a/x.warc", "b/x.warc", "log.txt"]
    assert left.unfinished == [str(tmp_path / "b" / "y.warc.part")]
    assert (left.others, left.examples) == (
        2,
        [str(tmp_path / "loop"), str(tmp_path / "a" / "log.txt")],
    )
    assert list(iter_inputs(["no/such.warc"], left)) == [Input("no/such.warc", "such.warc")]


def test_a_folder_that_cannot_be_read_is_named_and_the_others_are(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(b"x")
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # longer than a path may be: not even root can list it by its name
        os.mkdir("d" * 250, dir_fd=inside)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(inside)
    left = LeftOut()
    found = list(iter_inputs([str(tmp_path)], left))
    assert [item.name for item in found] == ["x.warc"]
    [refusal] = left.refused
    assert refusal.file is not None
    assert refusal.file.startswith(f"{tmp_path}/{'d' * 250}/")
    assert "cannot be read: File name too long" in str(refusal)
