"""What more than one file, or more than a little data, has to do with it."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from checking import check_paths
from conformance_builders import (
    BODY,
    CHUNKED_BODY,
    CHUNKED_HEAD,
    DATE,
    HEAD,
    IDENTICAL,
    LATER,
    identity,
    info,
    member,
    page,
    record,
    sha1,
    warc,
)
from hypothesis import given
from hypothesis import strategies as st

from pinakes.conformance.check import ConformanceCheck
from pinakes.conformance.framing import SIZE_LIMIT_BYTES, check_file
from pinakes.conformance.payload import Basis, basis_of
from pinakes.conformance.rules import RECORD_TYPES, Severity
from pinakes.warc.digest import parse_digest
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

if TYPE_CHECKING:
    from checking import Check

BY_DATE = {"WARC-Refers-To": None}
"""A revisit that names its original by URI and date alone."""


def revisit(number: int = 2, fields: dict[str, str | None] | None = None) -> bytes:
    return record("revisit", number, fields)


def other_file(*records: bytes) -> bytes:
    return info(901) + b"".join(records)


def codes(check: Check, *files: bytes, least: Severity = Severity.WARNING) -> list[str]:
    return sorted(f.code for f in check(*files) if f.severity >= least)


ORIGINALS = {
    "as declared by both": ({"WARC-Payload-Digest": sha1(BODY)}, HEAD + BODY),
    "declared by none, stored": ({}, HEAD + BODY),
    "declared in hex": (
        {"WARC-Payload-Digest": "sha1:" + hashlib.sha1(BODY).hexdigest()},
        HEAD + BODY,
    ),
    "de-chunked": ({"WARC-Payload-Digest": sha1(BODY)}, CHUNKED_HEAD + CHUNKED_BODY),
    "decoded": (
        {},
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(BODY, mtime=0),
    ),
}


@pytest.mark.parametrize("which", ORIGINALS)
@pytest.mark.parametrize("reference", [{}, BY_DATE], ids=["by id", "by date"])
@pytest.mark.parametrize("compressed", [False, True])
def test_an_original_in_another_file_is_found(
    check: Check, which: str, reference: dict[str, str | None], compressed: bool
) -> None:
    fields, block = ORIGINALS[which]
    original = record("response", 1, fields, block=block)
    files = [warc(original), other_file(revisit(fields=reference))]
    if compressed:
        files[0] = member(info()) + member(original)
    expected = ["revisit-refers-to"] if reference else []
    for order in (files, files[::-1]):
        assert codes(check, *order, least=Severity.INFO) == expected


@pytest.mark.parametrize("members", [1, 2])
def test_an_original_inside_a_shared_member_is_reread(check: Check, members: int) -> None:
    original = record("response", 1, block=HEAD + BODY)
    data = member(info() + original) if members == 1 else member(info()) + member(original)
    assert "revisit-target-digest" not in codes(check, data, other_file(revisit()))


@pytest.mark.parametrize("reference", [{}, BY_DATE], ids=["by id", "by date"])
def test_another_body_is_no_original(check: Check, reference: dict[str, str | None]) -> None:
    original = record("response", 1, block=HEAD + b"another")
    found = codes(check, warc(original), other_file(revisit(fields=reference)))
    assert "revisit-target-digest" in found


def test_of_two_captures_in_a_second_the_right_one_will_do(check: Check) -> None:
    one = record("response", 1, block=HEAD + b"another")
    two = record("response", 5, {"WARC-Target-URI": page(1)})
    found = codes(check, warc(one, two), other_file(revisit(fields=BY_DATE)))
    assert found == ["revisit-refers-to"]


def test_a_full_record_goes_before_a_revisit_of_the_same_second(check: Check) -> None:
    twin = revisit(
        3, {"WARC-Target-URI": page(1), "WARC-Date": DATE, "WARC-Refers-To": identity(1)}
    )
    found = codes(check, warc(twin, record()), other_file(revisit(fields=BY_DATE)))
    assert "revisit-target-revisit" not in found


def test_a_revisit_that_names_its_own_uri_and_date(check: Check) -> None:
    fields = {**BY_DATE, "WARC-Refers-To-Target-URI": page(2), "WARC-Refers-To-Date": LATER}
    assert "revisit-target-self" in codes(check, warc(revisit(fields=fields)))


def test_an_id_that_is_not_there_falls_back_on_uri_and_date(check: Check) -> None:
    found = check(warc(record()), other_file(revisit(fields={"WARC-Refers-To": identity(77)})))
    assert [f.code for f in found] == []


def test_a_reference_by_id_alone_in_1_0(check: Check) -> None:
    files = (
        warc(record(version="1.0"), version="1.0"),
        info(901, version="1.0") + record("revisit", 2, version="1.0"),
    )
    assert codes(check, *files, least=Severity.INFO) == []


def test_a_revisit_of_an_unknown_profile_is_not_resolved(check: Check) -> None:
    fields = {"WARC-Profile": "http://example.org/diff", "WARC-Refers-To": identity(900)}
    found = codes(check, warc(record(), revisit(fields=fields)), least=Severity.INFO)
    assert found == ["profile-unknown"]


def test_server_not_modified_needs_no_digest(check: Check) -> None:
    profile = IDENTICAL.format("1.1").replace("identical-payload-digest", "server-not-modified")
    fields = {"WARC-Profile": profile, "WARC-Payload-Digest": sha1(b"another")}
    assert codes(check, warc(record(), revisit(fields=fields))) == []


def test_elsewhere_is_an_info(check: Check) -> None:
    [finding] = check(warc(revisit()))
    assert (finding.code, finding.severity) == ("revisit-target-elsewhere", Severity.INFO)


def test_bytes_that_are_not_utf8_reach_the_tables(check: Check) -> None:
    names = ("WARC-Date", "WARC-Record-ID", "WARC-Payload-Digest", "WARC-Concurrent-To")
    data = warc(record("revisit", 2, dict.fromkeys(names, b"\xff\xfe")))
    assert {"field-utf8", "date-syntax", "record-id-syntax"} <= set(codes(check, data))


def test_hostile_numbers_reach_the_tables(check: Check) -> None:
    fields = {"WARC-Segment-Number": "9" * 400, "WARC-Segment-Total-Length": "9" * 5000}
    data = warc(record("continuation", 2, fields))
    assert "segment-elsewhere" in codes(check, data, least=Severity.INFO)


def test_large_blocks_are_verified_in_pieces(check: Check) -> None:
    body = os.urandom(1 << 16) * 100  # more than a reader keeps in memory
    good = {"WARC-Block-Digest": sha1(HEAD + body), "WARC-Payload-Digest": sha1(body)}
    bad = {
        "WARC-Block-Digest": "md5:" + hashlib.md5(body).hexdigest(),
        "WARC-Payload-Digest": "sha256:" + hashlib.sha256(b"").hexdigest(),
    }
    large = record("response", 1, good, block=HEAD + body)
    wrong = record("response", 2, bad, block=HEAD + body)
    for data in (warc(large, wrong), b"".join(member(r) for r in (info(), large, wrong))):
        assert codes(check, data) == ["block-digest-wrong", "payload-digest-wrong"]


def test_once_a_file_is_once_in_every_file(check: Check) -> None:
    bare = {"WARC-IP-Address": None}
    one = warc(*(record("response", n, bare) for n in (1, 2)))
    two = other_file(*(record("response", n, bare) for n in (3, 4)))
    assert [f.repeated for f in check(one, two)] == [False, True, False, True]


def test_a_damaged_file_does_not_end_the_check(check: Check) -> None:
    whole = member(info()) + member(record()) + member(record(number=2))
    for cut in range(0, len(whole), 7):
        check(whole[:cut])
        check(whole[:cut] + whole[cut + 5 :])


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY)[2:-4]),
        ("br", bytes.fromhex("8b0380") + BODY + b"\x03"),
    ],
    ids=["gzip", "x-gzip", "zlib", "bare deflate", "brotli"],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_decoded_bodies_are_recognised(
    tmp_path: Path, coding: str, data: bytes, chunked: bool
) -> None:
    if chunked:
        data = b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n" if chunked else "\r\n"
    path = tmp_path / "a.warc"
    path.write_bytes(record(block=head.encode() + data))
    declared = parse_digest(sha1(BODY))
    assert declared is not None
    with open_source(path) as source:
        [found] = iter_records(source)
        assert isinstance(found, Record)
        assert basis_of(found, declared) is Basis.DECODED


def test_a_body_that_is_not_in_its_coding_is_no_match(check: Check) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + BODY
    fields = {"WARC-Payload-Digest": sha1(b"something")}
    assert codes(check, warc(record("response", 1, fields, block=block))) == [
        "payload-digest-wrong"
    ]


def test_a_file_over_a_gigabyte_is_named() -> None:
    class Long:
        """Only the first bytes are looked at."""

        def seek(self, offset: int, whence: int = 0, /) -> int:
            return offset

        def read(self, size: int, /) -> bytes:
            return b"WARC/1.1\r\n".ljust(size)

    for size, expected in ((SIZE_LIMIT_BYTES, []), (SIZE_LIMIT_BYTES + 1, ["file-size"])):
        source = Source(Long(), name="a.warc", size=size)
        assert [hit.code for hit in check_file(source)] == expected


def test_the_tables_lie_where_they_are_told_without_a_name(tmp_path: Path) -> None:
    """So that nothing stays of them where the process is killed."""
    folder = tmp_path / "it's here"
    folder.mkdir()
    with ConformanceCheck(folder):
        links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        opened = [os.readlink(link) for link in links]
        [name] = [name for name in opened if name.startswith(f"{folder}/")]
        assert name.endswith(" (deleted)")
        assert list(folder.iterdir()) == []


def test_progress_comes_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc(record(), record(number=2)) + b"\0" * 50)
    passed: list[int] = []
    with ConformanceCheck() as run, open_source(path) as source:
        list(run.check_file(source, advance=passed.append))
    assert sum(passed) == path.stat().st_size
    assert all(step >= 0 for step in passed)


EVERYTHING = warc(
    *(record(name, number, BY_DATE) for number, name in enumerate(RECORD_TYPES[1:], 1))
)


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(EVERYTHING)),
            st.integers(0, 9),
            st.one_of(
                st.binary(max_size=9), st.sampled_from([b"\r\n", b"\n ", b":", b"<", b"9" * 20])
            ),
        ),
        max_size=4,
    )
)
def test_nothing_in_a_file_ends_the_check(edits: list[tuple[int, int, bytes]]) -> None:
    data = EVERYTHING
    for at, removed, inserted in edits:
        data = data[:at] + inserted + data[at + removed :]
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.warc")
        path.write_bytes(data)
        findings = check_paths(path)
    assert all(0 <= f.offset <= len(data) and str(f) for f in findings)


def test_order_of_files_does_not_change_what_is_found(tmp_path: Path) -> None:
    paths = []
    for number, data in enumerate([warc(record()), other_file(revisit()), info(902) + revisit(7)]):
        paths.append(tmp_path / f"{number}.warc")
        paths[-1].write_bytes(data)
    forth = {(f.file, f.offset, f.code) for f in check_paths(*paths)}
    assert forth == {(f.file, f.offset, f.code) for f in check_paths(*paths[::-1])}
