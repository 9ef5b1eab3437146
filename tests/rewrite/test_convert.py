"""ARC to WARC: what each record becomes, and that no byte is lost on the way."""

from __future__ import annotations

import gzip
import io
import re

import pytest
from arc_builders import (
    FILEDESC_1,
    HTTP,
    arc,
    arc_gz,
    arc_record,
    blocks,
    converted,
    filedesc,
    read_whole,
    rebuilt,
    source_of,
    warc_of,
)
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.rewrite.arc_bytes import NonRecordBytes
from pinakes.rewrite.convert import iter_converted, survey_arc, warc_name
from pinakes.rewrite.convert_file import rebuild_arc, verify_alone, verify_conversion
from pinakes.warc.record import Record

RECORD_ID = re.compile(r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-.{12}>")


def convert_one(record: bytes) -> Record:
    """The WARC record that this one becomes, behind a filedesc."""
    return read_whole(warc_of(arc(record)))[2]


class TestLayout:
    def test_a_warcinfo_then_the_filedesc_then_one_record_each(self) -> None:
        data = arc(arc_record(), arc_record(b"dns:example.org", b"1", mime=b"text/dns"))
        records = read_whole(warc_of(data))
        assert [record.type for record in records] == [
            "warcinfo",
            "metadata",
            "response",
            "resource",
        ]
        assert {record.version for record in records} == {"WARC/1.1"}
        assert blocks(records)[1:] == [FILEDESC_1, HTTP + b"hello", b"1"]

    def test_the_warcinfo_says_what_was_converted(self) -> None:
        data = arc_gz(arc_record())
        info = read_whole(warc_of(data, "some/x y.arc.gz"))[0]
        text = b"".join(info.chunks()).decode()
        survey = survey_arc(source_of(data))
        assert "pinakes-arc-filename: x y.arc.gz\r\n" in text
        assert f"pinakes-arc-size: {len(data)}\r\n" in text
        assert f"pinakes-arc-sha256: {survey.sha256}\r\n" in text
        assert f"pinakes-arc-readable-sha256: {survey.readable_sha256}\r\n" in text
        assert info.header.get("WARC-Filename") == "x y.warc.gz"
        assert info.date_text == "2020-01-02T03:04:05Z"

    def test_compressed_in_compressed_out_a_member_a_record(self) -> None:
        warc = warc_of(arc_gz(arc_record(), arc_record()))
        records = read_whole(warc)
        assert [record.inner_offset for record in records] == [0] * 4
        assert records[-1].offset + records[-1].length == len(warc)
        assert warc_of(arc(arc_record()))[:8] == b"WARC/1.1"

    @pytest.mark.parametrize(
        ("arc_name", "compressed", "name"),
        [
            ("a.arc", False, "a.warc"),
            ("a.arc.gz", True, "a.warc.gz"),
            ("a.ARC.GZ", True, "a.warc.gz"),
            ("a.arc", True, "a.warc.gz"),
            ("a.arc.gz", False, "a.warc"),
            ("a.arc.gz.open", True, "a.arc.gz.open.warc.gz"),
            (".arc", False, ".arc.warc"),
            ("a", False, "a.warc"),
        ],
    )
    def test_names(self, arc_name: str, compressed: bool, name: str) -> None:
        assert warc_name(arc_name, compressed=compressed) == name


class TestRecord:
    def test_fields_of_a_response(self) -> None:
        record = convert_one(arc_record(b"http://example.org/a"))
        fields = dict(record.header.fields())
        assert RECORD_ID.fullmatch(fields.pop("WARC-Record-ID"))
        assert fields == {
            "WARC-Type": "response",
            "WARC-Date": "2020-01-02T03:04:05Z",
            "WARC-Target-URI": "http://example.org/a",
            "WARC-IP-Address": "192.0.2.1",
            "WARC-Block-Digest": str(record.block_digest()),
            "WARC-Payload-Digest": str(record.payload_digest()),
            "Content-Type": "application/http; msgtype=response",
            "Content-Length": "49",
            "Pinakes-ARC-Header": "http://example.org/a 192.0.2.1 20200102030405 text/html 49%0A",
            "Pinakes-ARC-After": "%0A",
        }
        assert record.payload_digest() != record.block_digest()

    @pytest.mark.parametrize(
        ("uri", "block", "record_type"),
        [
            (b"http://a/", HTTP, "response"),
            (b"https://a/", b"HTTP/1.0 404 Not found\r\n\r\n", "response"),
            (b"HTTP://a/", b"HTTP/1.0 200", "response"),
            (b"http://a/", b"<html>", "resource"),
            (b"http://a/", b"HTTP/1.0 OK\r\n\r\n", "resource"),
            (b"http://a/", b"", "resource"),
            (b"ftp://a/", HTTP, "resource"),
            (b"dns:a", HTTP, "resource"),
        ],
    )
    def test_type(self, uri: bytes, block: bytes, record_type: str) -> None:
        record = convert_one(arc_record(uri, block))
        assert record.type == record_type
        assert record.header.get("WARC-Payload-Digest") == str(record.payload_digest())

    @pytest.mark.parametrize(
        ("options", "name", "value"),
        [
            ({"ip": b"0.0.0.0"}, "WARC-IP-Address", None),
            ({"ip": b"a.b.c.d"}, "WARC-IP-Address", None),
            ({"date": b"202001020304"}, "WARC-Date", "2020-01-02T03:04:00Z"),
            ({"date": b"202001020304056789"}, "WARC-Date", "2020-01-02T03:04:05.6789Z"),
            ({"date": b"20209902030405"}, "WARC-Date", "1970-01-01T00:00:00Z"),
            ({"uri": b"http://a/b c d"}, "WARC-Target-URI", "http://a/b%20c%20d"),
            ({"uri": b"http://a/\xff"}, "WARC-Target-URI", "http://a/%FF"),
            ({"uri": b"http://a/", "block": b"x", "mime": b"no-type"}, "Content-Type",
             "application/octet-stream"),
            ({"line_end": b"\r\n"}, "WARC-Date", "2020-01-02T03:04:05Z"),
            ({"version": 2}, "WARC-Date", "2020-01-02T03:04:05Z"),
        ],
    )  # fmt: skip
    def test_odd_header_lines(
        self, options: dict[str, bytes], name: str, value: str | None
    ) -> None:
        line = arc_record(**options)  # type: ignore[arg-type]
        assert convert_one(line).header.get(name) == value
        assert rebuilt(warc_of(arc(line))) == arc(line)

    def test_dns_is_text_dns(self) -> None:
        record = convert_one(arc_record(b"dns:a.org", b"x", mime=b"no-type"))
        assert record.header.get("Content-Type") == "text/dns"

    def test_a_record_cut_off_by_the_end_of_the_file_is_marked(self) -> None:
        data = arc(arc_record(length=60), after=b"")
        record = read_whole(warc_of(data))[2]
        assert record.header.get("WARC-Truncated") == "unspecified"
        assert record.header.get("Pinakes-ARC-Findings") == "truncated"
        assert rebuilt(warc_of(data)) == data

    @pytest.mark.parametrize(
        ("fields", "date", "address"),
        [
            (b"None 20160211000000jpg text/html", "2016-02-11T00:00:00Z", None),
            (b"- 20160211000000GMT text/html; a=b", "2016-02-11T00:00:00Z", None),
            (b"20031219215023 63.241.16.130 text/html", "2003-12-19T21:50:23Z", "63.241.16.130"),
            (b"20031219215023 text/html", "2003-12-19T21:50:23Z", None),
            (b"192.0.2.1 20031219215023", "2003-12-19T21:50:23Z", "192.0.2.1"),
            (b"192.0.2.1 text/html 20031219215023", "2003-12-19T21:50:23Z", "192.0.2.1"),
        ],
        ids=["none", "hyphen", "date-first", "no-address", "no-type", "type-first"],
    )
    def test_a_line_of_another_writer_is_kept_as_written(
        self, fields: bytes, date: str, address: str | None
    ) -> None:
        block = HTTP + b"hello"
        line = b"http://a.org/ " + fields + b" %d\n" % len(block)
        data = arc(line + block + b"\n" + arc_record(b"http://b.org/"))
        first, second = read_whole(warc_of(data))[2:]
        assert (first.type, first.target_uri, first.date_text) == (
            "response",
            "http://a.org/",
            date,
        )
        assert first.header.get("WARC-IP-Address") == address
        assert first.header.get("Pinakes-ARC-Header") == line.decode().replace("\n", "%0A")
        assert blocks([first]) == [block]
        assert second.target_uri == "http://b.org/"
        assert rebuilt(warc_of(data)) == data

    def test_a_length_one_too_many_takes_nothing_from_the_next_record(self) -> None:
        """As in richardlehane/webarchive's hello-world2.arc."""
        block = HTTP + b"hello\n"
        long = arc_record(b"http://a.org/", block, length=len(block) + 1)
        data = arc(long + arc_record(b"http://b.org/"))
        first, second = read_whole(warc_of(data))[2:]
        assert blocks([first]) == [block]
        assert first.header.get("WARC-Truncated") is None
        assert first.header.get("Pinakes-ARC-Findings") == "block-length"
        assert (second.type, second.target_uri) == ("response", "http://b.org/")
        assert rebuilt(warc_of(data)) == data

    def test_line_without_scheme_stays_in_its_block(self) -> None:
        block = HTTP + b"hello\nx"
        data = arc(arc_record(b"http://a.org/", block) + arc_record(b"http://b.org/"))
        assert blocks(read_whole(warc_of(data)))[2] == block

    def test_a_length_one_too_few_leaves_a_stretch(self) -> None:
        data = arc(arc_record(length=len(HTTP) + 4), arc_record(b"http://b.org/"))
        records = read_whole(warc_of(data))[2:]
        assert [record.type for record in records] == ["response", "metadata", "response"]
        assert blocks(records)[:2] == [HTTP + b"hell", b"o\n"]
        assert rebuilt(warc_of(data)) == data

    def test_a_whole_record_is_not_marked(self) -> None:
        assert convert_one(arc_record()).header.get("WARC-Truncated") is None


class TestIds:
    def test_record_ids_do_not_change(self) -> None:
        data = arc(arc_record(), arc_record())
        assert warc_of(data) == warc_of(data)

    def test_equal_records_in_one_file_have_different_ids(self) -> None:
        records = read_whole(warc_of(arc(arc_record(), arc_record(), arc_record())))
        assert len({record.record_id for record in records}) == len(records)

    def test_record_ids_depend_on_the_arc_file(self) -> None:
        one, other = (
            {r.record_id for r in read_whole(warc_of(arc(arc_record(), arc_record(b"dns:" + x))))}
            for x in (b"a", b"b")
        )
        assert not one & other

    def test_record_ids_do_not_depend_on_the_file_name(self) -> None:
        one, other = (
            [r.record_id for r in read_whole(warc_of(arc(arc_record()), name))[1:]]
            for name in ("a.arc", "b.arc")
        )
        assert one == other


class TestStretches:
    def test_garbage_behind_the_last_record(self) -> None:
        data = arc(arc_record())
        last = read_whole(warc_of(data + b"garbage"))[-1]
        assert last.type == "metadata"
        assert blocks([last]) == [b"garbage"]
        assert last.header.get("Content-Type") == "application/octet-stream"
        assert last.header.get("Pinakes-ARC-Stretch") == f"content offset=0 inner={len(data)}"
        assert last.header.get("Pinakes-ARC-Reason") == "no record begins here"
        assert last.target_uri is None

    def test_more_in_a_member_than_promised(self) -> None:
        whole, short = arc_record(), arc_record(length=len(HTTP) + 3)
        records = read_whole(warc_of(arc_gz(short)))
        assert [r.type for r in records] == ["warcinfo", "metadata", "response", "metadata"]
        assert blocks(records)[2:] == [HTTP + b"hel", b"lo\n"]
        offset = len(arc_gz())
        place = f"content offset={offset} inner={len(whole) - 2}"
        assert records[3].header.get("Pinakes-ARC-Stretch") == place
        assert rebuilt(warc_of(arc_gz(short))) == arc(short)

    def test_garbage_before_the_first_record(self) -> None:
        data = b"\n\n" + arc(arc_record())
        records = read_whole(warc_of(data))
        assert [r.type for r in records] == ["warcinfo", "metadata", "metadata", "response"]
        assert blocks(records)[1] == b"\n\n"
        assert rebuilt(warc_of(data)) == data

    @pytest.mark.parametrize("broken", ["crc", "middle", "cut"])
    def test_damaged_member_is_kept_unchanged(self, broken: str) -> None:
        block = HTTP + bytes(range(256)) * 40
        members = [gzip.compress(r + b"\n", mtime=0) for r in (filedesc(), arc_record(block=block))]
        whole = gzip.compress(arc_record(b"http://later.org/") + b"\n", mtime=0)
        bad = bytearray(members[1])
        if broken == "crc":
            bad[-8] ^= 1
        elif broken == "middle":
            bad[len(bad) // 2] ^= 0xFF
        else:
            del bad[-20:]
        data = members[0] + bytes(bad) + (b"" if broken == "cut" else whole)
        items = converted(data, "x.arc.gz")
        kept = [item for item in items if isinstance(item.part, NonRecordBytes)]
        assert [b"".join(item.block) for item in kept if item.part.run.raw] == [bytes(bad)]  # type: ignore[union-attr]
        records = read_whole(warc_of(data))
        uris = [record.target_uri for record in records]
        assert ("http://later.org/" in uris) == (broken != "cut")
        damaged = next(r for r in records if r.target_uri == "http://example.org/")
        assert damaged.header.get("WARC-Truncated") == "unspecified"
        assert verify_conversion(source_of(data), source_of(warc_of(data)))

    def test_bytes_between_members(self) -> None:
        members = [gzip.compress(r + b"\n", mtime=0) for r in (filedesc(), arc_record())]
        data = members[0] + b"\0" * 100 + members[1]
        records = read_whole(warc_of(data))
        assert b"\0" * 100 in blocks(records)
        assert verify_conversion(source_of(data), source_of(warc_of(data)))

    def test_every_bit_flip_of_a_small_file_is_carried_or_refused(self) -> None:
        data = arc_gz(arc_record(), arc_record(b"http://b.org/"))
        outcomes = set()
        for at in range(0, len(data), 3):
            bad = bytearray(data)
            bad[at] ^= 0x55
            try:
                warc = warc_of(bytes(bad))
            except (InputRefused, MalformedRecord):
                outcomes.add("refused")
                continue
            assert verify_conversion(source_of(bytes(bad)), source_of(warc))
            outcomes.add("carried")
        assert "carried" in outcomes

    @pytest.mark.parametrize("make", [arc, arc_gz], ids=["plain", "gzip"])
    def test_every_truncation_of_a_small_file_is_carried_or_refused(self, make) -> None:  # type: ignore[no-untyped-def]
        data = make(arc_record(), arc_record(b"http://b.org/"))
        refused = []
        for end in range(len(data)):
            try:
                warc = warc_of(data[:end])
            except InputRefused:
                refused.append(end)
                continue
            assert verify_conversion(source_of(data[:end]), source_of(warc))
        # Only where not even the first header line is there.
        assert refused
        assert max(refused) < len(make()) + 20


class TestRefused:
    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "no ARC record"),
            (b"hello\n", "no ARC record"),
            (b"\x1f\x8b\x08 no gzip", "no ARC record"),
            (b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "WARC record"),
        ],
    )
    def test_file_that_is_not_arc_is_refused(self, data: bytes, words: str) -> None:
        with pytest.raises(InputRefused, match=words):
            survey_arc(source_of(data))

    def test_a_warc_record_among_arc_records(self) -> None:
        data = arc(arc_record()) + b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        with pytest.raises(InputRefused, match="WARC record"):
            converted(data)

    def test_a_file_that_changed_after_the_survey(self) -> None:
        survey = survey_arc(source_of(arc(arc_record())))
        other = source_of(arc(arc_record(block=HTTP + b"jello")))
        with pytest.raises(InputRefused, match="not every byte"):
            list(iter_converted(other, survey))


class TestRebuild:
    def test_first_difference_is_located(self) -> None:
        warc = warc_of(arc(arc_record()))
        other = arc(arc_record(block=HTTP + b"hellO"))
        with pytest.raises(DigestMismatch, match=f"at byte {len(other) - 2} "):
            verify_conversion(source_of(other), source_of(warc))

    @pytest.mark.parametrize("change", [lambda d: d + b"\n", lambda d: d[:-1]])
    def test_longer_and_shorter_are_differences(self, change) -> None:  # type: ignore[no-untyped-def]
        data = arc(arc_record())
        with pytest.raises(DigestMismatch):
            verify_conversion(source_of(change(data)), source_of(warc_of(data)))

    def test_rebuild_needs_no_arc_file(self) -> None:
        data = arc(arc_record())
        assert verify_alone(source_of(warc_of(data))) == len(data)

    def test_changed_byte_is_seen_without_the_arc_file(self) -> None:
        warc = warc_of(arc(arc_record()))
        with pytest.raises(DigestMismatch):
            verify_alone(source_of(warc.replace(b"hello", b"hellO")))

    def test_a_missing_record_is_seen(self) -> None:
        data = arc(arc_record(), arc_record(b"http://b.org/"))
        warc = warc_of(data)
        records = read_whole(warc)
        shorter = warc[: records[2].offset] + warc[records[3].offset :]
        with pytest.raises(DigestMismatch):
            verify_alone(source_of(shorter))

    @pytest.mark.parametrize(
        "warc",
        [
            b"",
            arc(arc_record()),
            warc_of(arc(arc_record()))[:-30],
            warc_of(arc(arc_record())) + b"garbage",
            warc_of(arc(arc_record())).replace(b"Pinakes-ARC-Header", b"Somebody-ARC-Lines"),
            warc_of(arc(arc_record())).replace(b"readable-sha256", b"readable-sha257"),
        ],
        ids=["empty", "arc", "cut", "garbage", "no field", "no checksum"],
    )
    def test_warc_that_is_not_a_conversion_is_refused(self, warc: bytes) -> None:
        with pytest.raises(MalformedRecord):
            b"".join(rebuild_arc(source_of(warc)))


URIS = st.builds(
    lambda scheme, rest: scheme + rest,
    st.sampled_from([b"http://", b"https://", b"dns:", b"ftp://", b"x-y:"]),
    st.binary(max_size=30).map(lambda b: bytes(c for c in b if c not in b"\r\n")),
)
RECORDS = st.builds(
    arc_record,
    URIS,
    st.one_of(st.binary(max_size=80), st.binary(max_size=80).map(lambda b: HTTP + b)),
    ip=st.sampled_from([b"0.0.0.0", b"1.2.3.4", b"::1", b"-", b""]),
    date=st.from_regex(rb"(19|20)[0-9]{10,16}", fullmatch=True),
    mime=st.sampled_from([b"text/html", b"no-type", b"a b", b"", b"text/html; charset=x"]),
    line_end=st.sampled_from([b"\n", b"\r\n", b" \n"]),
    version=st.sampled_from([1, 2]),
)
SEPARATORS = st.sampled_from([b"\n", b"", b"\r\n", b"\n\n\n", b"\r\n\r\n", b"\n" * 100, b"?\n"])


class TestProperties:
    @given(
        st.lists(st.tuples(RECORDS, SEPARATORS), max_size=5),
        st.sampled_from([1, 2]),
        st.booleans(),
        st.booleans(),
    )
    def test_rebuilding_undoes_converting(
        self, records: list[tuple[bytes, bytes]], version: int, compressed: bool, shared: bool
    ) -> None:
        parts = [filedesc(version) + b"\n", *(record + after for record, after in records)]
        plain = b"".join(parts)
        data = plain
        if compressed:
            data = gzip.compress(plain) if shared else b"".join(map(gzip.compress, parts))
        warc = warc_of(data)
        assert rebuilt(warc) == plain
        assert warc_of(data) == warc
        assert verify_conversion(source_of(data), source_of(warc)) == len(plain)
        assert verify_alone(source_of(warc)) == len(plain)

    @given(st.binary(max_size=300))
    def test_trailing_bytes_are_kept(self, tail: bytes) -> None:
        data = arc(arc_record()) + tail
        try:
            warc = warc_of(data)
        except InputRefused:
            assert b"WARC/" in tail.upper()
            return
        assert rebuilt(warc) == data

    @given(st.lists(RECORDS, min_size=1, max_size=4), st.booleans())
    def test_warcio_reads_the_same_blocks(self, records: list[bytes], compressed: bool) -> None:
        warc = warc_of(arc_gz(*records) if compressed else arc(*records))
        ours = read_whole(warc)
        theirs = [
            (record.rec_headers.get_header("WARC-Record-ID"), record.raw_stream.read())
            for record in ArchiveIterator(io.BytesIO(warc), no_record_parse=True)
        ]
        assert theirs == [
            (f"<{record.record_id}>", block)
            for record, block in zip(ours, blocks(ours), strict=True)
        ]


def test_a_block_too_large_for_memory() -> None:
    block = HTTP + b"0123456789abcdef" * (5 << 16)
    for data in (arc(arc_record(block=block)), arc_gz(arc_record(block=block))):
        warc = warc_of(data)
        record = read_whole(warc)[2]
        assert record.header.get("WARC-Payload-Digest") == str(record.payload_digest())
        assert record.header.get("WARC-Block-Digest") == str(record.block_digest())
        assert rebuilt(warc) == arc(arc_record(block=block))
