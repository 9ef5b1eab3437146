"""The Python examples of the documents run as they are printed."""

from __future__ import annotations

import doctest
import gzip
import io
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def example_archive() -> bytes:
    """Three records, members of a size that does not depend on the machine's zlib."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False, warc_version="WARC/1.1")
    date = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    members = []
    identifier = "<urn:uuid:00000000-0000-4000-8000-00000000000{}>"
    for number, uri in enumerate(("", "http://example.org/", "http://example.org/again")):
        fixed = {"WARC-Record-ID": identifier.format(number), "WARC-Date": date}
        if uri:
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], "HTTP/1.1")
            record = writer.create_warc_record(
                uri,
                "response",
                payload=io.BytesIO(b"hello, world"),
                http_headers=head,
                warc_headers_dict=fixed,
            )
        else:
            record = writer.create_warc_record(
                "", "warcinfo", payload=io.BytesIO(b"software: none\r\n"), warc_headers_dict=fixed
            )
        out.seek(0)
        out.truncate()
        writer.write_record(record)
        members.append(gzip.compress(out.getvalue(), compresslevel=0, mtime=0))
    return b"".join(members)


@pytest.fixture
def folder_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the archive files that the documents name."""
    whole = example_archive()
    (tmp_path / "example.warc.gz").write_bytes(whole)
    second = whole.index(b"\x1f\x8b", 1)
    damaged = bytearray(whole)
    damaged[second : second + 40] = bytes(40)
    (tmp_path / "damaged.warc.gz").write_bytes(damaged)
    for verb in (["init"], ["ingest", "example.warc.gz", "--crawl", "first"]):
        command = [sys.executable, "-m", "pinakes.cli", "-q", *verb, "--store", "store"]
        subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_examples_run(repository: Path, tree: list[Path], folder_of_examples: Path) -> None:
    documents = [f for f in tree if f.suffix == ".md" and ">>> " in (repository / f).read_text()]
    assert Path("docs/api.md") in documents
    for document in documents:
        failed, tried = doctest.testfile(
            str(repository / document),
            module_relative=False,
            optionflags=doctest.ELLIPSIS | doctest.FAIL_FAST | doctest.IGNORE_EXCEPTION_DETAIL,
        )
        assert tried > 0
        assert failed == 0, document
