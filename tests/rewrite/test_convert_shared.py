"""Every ARC file of the shared data converts, comes back, and is read alike by warcio."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest
from arc_builders import blocks, read_whole, rebuilt, source_of, warc_of
from warc_sets import manifest_of
from warcio.archiveiterator import ArchiveIterator

from pinakes.dedupe.validate.quick_look import compare_manifests
from pinakes.rewrite.convert_file import convert_file, verify_alone, verify_conversion
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

# Records by what they became, stretches, findings.
EXPECTED = {
    "archivesunleashed_aut/5375c324/badexample.arc.gz": (
        *(1, 1, 4, 0, ["block-length", "block-length", "truncated"]),
    ),
    "archivesunleashed_aut/badexample.arc.gz": (
        *(1, 1, 4, 0, ["block-length", "block-length", "truncated"]),
    ),
    "iipc_openwayback/0e8b8418/testdata1.arc": (1, 18, 56, 0, []),
    "iipc_webarchive-commons/IAH-20080430204825-00000-blackbook-truncated.arc": (1, 1, 7, 0, []),
    "netarchivesuite_jwat/1-1-20110922131213-00000-svc-VirtualBox.arc": (1, 5, 96, 0, []),
    "netarchivesuite_jwat/IAH-20080430204825-00000-blackbook.arc.gz": (1, 38, 261, 0, []),
    "netarchivesuite_jwat/invalid-arcfile-record-then-garbage.arc": (0, 0, 1, 1, []),
    "netarchivesuite_jwat/test-arc-1.0-invalid-fields.arc": (1, 0, 1, 1, ["content-length"]),
    "richardlehane_webarchive/hello-world.arc": (1, 0, 1, 0, []),
    "richardlehane_webarchive/hello-world2.arc": (1, 0, 1, 0, ["block-length"]),
    "webrecorder_warcio/9eb7ee04/space-in-url.arc": (1, 0, 2, 0, ["truncated"]),
    "webrecorder_warcio/example-space-in-url.arc": (1, 0, 1, 0, ["truncated"]),
    "webrecorder_warcio/example.arc": (1, 0, 1, 0, []),
    "webrecorder_warcio/example.arc.gz": (1, 0, 1, 0, []),
}


def arc_files(shared_data: Path) -> dict[str, Path]:
    """Every ARC file, by project, commit (where there are two) and name."""
    folder = shared_data / "archives"
    found = {}
    for path in sorted(folder.rglob("*.arc*")):
        project, second, *_ = path.relative_to(folder).parts
        if project == "_oracle" or not path.name.endswith((".arc", ".arc.gz")):
            continue
        commit = [second] if re.fullmatch("[0-9a-f]{8}", second) else []
        found["/".join([project, *commit, path.name])] = path
    return found


def test_the_table_names_every_file(shared_data: Path) -> None:
    assert sorted(arc_files(shared_data)) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
class TestEveryFile:
    def test_each_file_converts_as_the_table_says(self, shared_data: Path, name: str) -> None:
        result = convert_file(str(arc_files(shared_data)[name]), Path("nowhere"), dry_run=True)
        counts = [result.records.get(type_, 0) for type_ in ("filedesc", "resource", "response")]
        codes = sorted(finding.code for finding in result.findings)
        assert (*counts, len(result.stretches), codes) == EXPECTED[name]

    def test_it_comes_back_byte_for_byte(self, shared_data: Path, name: str) -> None:
        data = arc_files(shared_data)[name].read_bytes()
        plain = gzip.decompress(data) if name.endswith(".gz") else data
        warc = warc_of(data, name)
        assert rebuilt(warc) == plain
        assert verify_conversion(source_of(data), source_of(warc)) == len(plain)
        assert verify_alone(source_of(warc)) == len(plain)

    def test_warcio_reads_the_same_payloads(self, shared_data: Path, name: str) -> None:
        data = arc_files(shared_data)[name].read_bytes()
        warc = warc_of(data, name)
        theirs = [
            (record.rec_type, record.rec_headers.get_header("WARC-Record-ID"), payload)
            for record in ArchiveIterator(io.BytesIO(warc), check_digests="raise")
            if (payload := record.raw_stream.read()) is not None
        ]
        ours = read_whole(warc)
        assert theirs == [
            (record.type, f"<{record.record_id}>", b"".join(record.payload())) for record in ours
        ]
        of_arc = [
            b"".join(record.payload())
            for record in iter_records(source_of(data))
            if isinstance(record, Record) and record.type != "filedesc"
        ]
        assert [b"".join(r.payload()) for r in ours if r.type in ("response", "resource")] == of_arc

    def test_their_manifests_agree(self, shared_data: Path, name: str, tmp_path: Path) -> None:
        path = arc_files(shared_data)[name]
        converted = tmp_path / "converted.warc"
        converted.write_bytes(warc_of(path.read_bytes(), name))
        before, after = manifest_of([path]), manifest_of([converted])
        assert before
        assert list(compare_manifests(before, after)) == []
        other = [line._replace(digest=f"{line.digest}x") for line in after]
        assert len(list(compare_manifests(before, other))) == len(before)

    def test_every_block_is_in_the_arc(self, shared_data: Path, name: str) -> None:
        data = arc_files(shared_data)[name].read_bytes()
        plain = gzip.decompress(data) if name.endswith(".gz") else data
        at = 0
        for block in blocks(read_whole(warc_of(data, name))[1:]):
            at = plain.index(block, at) + len(block)
