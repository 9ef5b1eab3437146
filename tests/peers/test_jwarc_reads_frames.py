"""jwarc reads what we write in Zstandard.

By places alone: version 0.36 does not notice the end of a file in Zstandard, whoever wrote it, and
never ends where it reads one to its end.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from archive_builders import dictionary, gzip_file, records_of, source_of, three

from pinakes.rewrite.recompress import MemberForm, zstd_form
from pinakes.rewrite.recompress_file import recompress_file
from pinakes.warc.compression.zstd_dictionary import dictionary_in

FORMS = {
    "no dictionary": zstd_form(9),
    "dictionary": zstd_form(9, dictionary_in(source_of(dictionary()))),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_record_at_its_place(
    form: MemberForm, tmp_path: Path, jwarc_with_zstd: list[str]
) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip_file())
    written = Path(recompress_file(str(tmp_path / "a.warc.gz"), tmp_path, form).target)
    last = records_of(written.read_bytes())[-1]
    read = subprocess.check_output([*jwarc_with_zstd, "extract", written, str(last.offset)])
    assert parts(read) == parts(three()[-1])


def parts(record: bytes) -> tuple[list[bytes], bytes]:
    """Header lines, which jwarc sorts, and the rest."""
    head, _, rest = record.partition(b"\r\n\r\n")
    return sorted(head.split(b"\r\n")), rest
