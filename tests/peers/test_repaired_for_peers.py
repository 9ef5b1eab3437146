"""What `repair` writes is sound for warcio and jwarc, which say something of each file before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from faulty_warcs import BLOCKS, packed, record, sha1
from warcio.archiveiterator import ArchiveIterator

from pinakes.rewrite.repair_file import repair_file

pytestmark = pytest.mark.slow
PAGE = BLOCKS["page"]
FAULTS = {
    "too short": {"length": "20"},
    "too long": {"length": "99999"},
    "LF": {"nl": "\n"},
    "brackets": {"WARC_Target_URI": "<http://example.org/1>"},
    "not closed": {"end": ""},
    "closed once": {"end": "\r\n"},
    "block digest": {"WARC_Block_Digest": sha1(b"else")},
    "payload digest": {"WARC_Payload_Digest": sha1(PAGE.data)},
    "date": {"WARC_Date": "20200102030405"},
}


@pytest.mark.parametrize("form", ["plain", "gzip"])
@pytest.mark.parametrize("fields", FAULTS.values(), ids=FAULTS)
def test_peers_find_nothing(
    fields: dict[str, str | None], form: str, peer_tools: Path, jwarc: list[str], tmp_path: Path
) -> None:
    path = tmp_path / ("a.warc" if form == "plain" else "a.warc.gz")
    path.write_bytes(packed([record(7, PAGE), record(1, PAGE, **fields), record(9, PAGE)], form))
    (tmp_path / "out").mkdir()
    repair_file(str(path), tmp_path / "out", lambda told: None)
    new = str(tmp_path / "out" / path.name)
    for call in ([str(peer_tools / "warcio"), "check", "-v", new], [*jwarc, "validate", new]):
        done = subprocess.run(call, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    with open(new, "rb") as file:
        found = [one.raw_stream.read() for one in ArchiveIterator(file, no_record_parse=True)]
    assert found == [PAGE.data] * 3
