from __future__ import annotations

import re
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinakes.errors import ConfigError, InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_keys import (
    UNREADABLE_TIME,
    captures_of,
    captures_under,
    decode_capture_key,
    encode_capture_key,
    encode_mark,
    encode_urlkey,
)
from pinakes.hbase_schema.digest_keys import (
    SHORTEST_CONTENT_BYTES,
    DigestKey,
    decode_digest_key,
    digests_of,
    encode_digest_key,
)
from pinakes.hbase_schema.name_keys import (
    ALL_CRAWLS,
    PairKey,
    archive_file,
    crawl_of,
    decode_file_key,
    decode_pair_key,
    encode_collection_key,
    encode_crawl_key,
    encode_file_key,
    encode_pair_key,
    encode_run_key,
    files_of,
    pairs_of,
)
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.hbase_schema.text import escape_name, printable_urlkey, unescape_name

TIME = "20240229123456789"
SECOND = TIME[:14]
PRINTABLE = re.compile(rb"[\x21-\x7e]*\Z")

raw_text = st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape"))
file_names = raw_text.filter(bool)
urlkeys = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E))
times = st.text("0123456789", min_size=17, max_size=17)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
hexes = st.binary(min_size=1, max_size=64).map(bytes.hex)
ordinals = st.integers(0, 10**10 - 1)
digest_keys = st.builds(
    DigestKey,
    names,
    st.sampled_from(["md5", "sha1", "sha256"]),
    hexes,
    st.integers(0, 1 << 50),
    times.map(lambda time: time[:14]),
    file_names,
    ordinals,
)


@given(file_names)
@example("a:b/c d%20\x00\n\udcff\x7f é.warc.gz")
def test_names_come_back_and_are_printable(name: str) -> None:
    escaped = escape_name(name)
    assert PRINTABLE.match(escaped)
    assert unescape_name(escaped) == name


def test_a_name_of_no_bytes_is_refused() -> None:
    with pytest.raises(InputRefused, match="not text in any encoding"):
        escape_name("\ud800")
    with pytest.raises(InputRefused):
        encode_mark("\ud800", 0)


@given(urlkeys)
def test_a_printable_urlkey_is_unchanged(urlkey: str) -> None:
    assert printable_urlkey(urlkey) == urlkey.encode()


@given(st.text())
@example("a b\n\t\x00\x7f\udc80\ud800é%20")
def test_printable_urlkey_is_idempotent(urlkey: str) -> None:
    printable = printable_urlkey(urlkey)
    assert PRINTABLE.match(printable)
    assert printable_urlkey(printable.decode()) == printable


@given(raw_text, times, file_names, ordinals)
def test_capture_keys_come_back(urlkey: str, time: str, file: str, ordinal: int) -> None:
    key = decode_capture_key(encode_capture_key(urlkey, time, file, ordinal))
    assert key.urlkey == printable_urlkey(urlkey).decode()
    assert key.time == time
    assert key.mark == encode_mark(file, ordinal).decode()


@given(st.lists(st.tuples(urlkeys, times), min_size=2), file_names)
@example([("org,a)/", TIME), ("org,a)/!", TIME), ("org,a)", TIME), ("org,a)/", "0" * 17)], "f")
def test_byte_order_is_cdxj_order(pairs: list[tuple[str, str]], file: str) -> None:
    keys = [encode_capture_key(urlkey, time, file, n) for n, (urlkey, time) in enumerate(pairs)]
    in_order = [(key.urlkey, key.time) for key in map(decode_capture_key, sorted(keys))]
    assert in_order == sorted(pairs)
    # … which is how `LC_ALL=C sort` orders the lines of a CDXJ file.
    lines = sorted(f"{urlkey} {time} {{}}".encode() for urlkey, time in pairs)
    assert [b"%b %b {}" % (u.encode(), t.encode()) for u, t in in_order] == lines


def test_the_mark_is_forty_bits_of_the_hash() -> None:
    raw = int.from_bytes(sha256(b"crawl/a.warc.gz\x0012").digest()[:5], "big")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    digits = "".join(alphabet[raw >> shift & 31] for shift in range(35, -5, -5))
    assert encode_mark("crawl/a.warc.gz", 12) == digits.encode()


def test_captures_of_one_millisecond_have_different_keys() -> None:
    keys = {encode_capture_key("k", TIME, f, n) for f in ("a", "b") for n in range(1000)}
    assert len(keys) == 2000


@pytest.mark.parametrize("length", [4095, 4096, 4097, 100_000])
def test_a_long_urlkey_is_cut_and_closed_with_its_hash(length: int) -> None:
    urlkey = "x" * length
    key = decode_capture_key(encode_capture_key(urlkey, TIME, "f", 0))
    assert key.is_cut == (length > 4096)
    if key.is_cut:
        assert key.urlkey == "x" * 4096 + "~" + sha256(urlkey.encode()).hexdigest()
        # No urlkey that is not cut is as long, so none can pass for it.
        assert len(key.urlkey) > 4096
    else:
        assert key.urlkey == urlkey
    assert encode_capture_key(urlkey, TIME, "f", 0) in captures_of(urlkey)
    assert encode_capture_key(urlkey, TIME, "f", 0) in captures_under(urlkey)
    assert encode_capture_key(urlkey, TIME, "f", 0) not in captures_of(urlkey + "x")


def test_urlkey_is_cut_by_its_printable_length() -> None:
    assert len(encode_urlkey("é" * 1000)) == 4096 + 65  # six bytes each, escaped


@given(urlkeys, urlkeys, times)
def test_captures_of_a_urlkey_are_its_own(urlkey: str, other: str, time: str) -> None:
    key = encode_capture_key(other, time, "f", 0)
    assert (key in captures_of(urlkey)) == (urlkey == other)
    assert (key in captures_under(urlkey)) == other.startswith(urlkey)


@pytest.mark.parametrize(
    ("start", "stop", "inside"),
    [
        ("", "", True),
        ("2024", "2025", True),
        (TIME, "", True),
        ("", TIME, False),
        ("20240229123457", "", False),
        ("2020", "20240229", False),
    ],
)
def test_captures_between_two_times(start: str, stop: str, inside: bool) -> None:
    key = encode_capture_key("org,a)/", TIME, "f", 0)
    assert (key in captures_of("org,a)/", start_time=start, stop_time=stop)) == inside


@pytest.mark.parametrize("scope", ["s", "default", "l" * 100])
@pytest.mark.parametrize(("algorithm", "digits"), [("sha1", 40), ("sha256", 64)])
def test_all_rows_of_a_content_begin_alike(scope: str, algorithm: str, digits: int) -> None:
    start, stop = digests_of(scope, algorithm, "0" * digits)
    assert stop is not None
    assert start[:SHORTEST_CONTENT_BYTES] == stop[:SHORTEST_CONTENT_BYTES]


@pytest.mark.parametrize("time", ["2024", "", TIME + "0", "2024022912345678x", "٢" * 17, TIME[:14]])
def test_a_key_needs_17_digits(time: str) -> None:
    with pytest.raises(ValueError, match="17 digits"):
        encode_capture_key("k", time, "f", 0)


@pytest.mark.parametrize("time", ["x", "2" * 18, "20 24"])
def test_a_range_needs_digits(time: str) -> None:
    with pytest.raises(ValueError, match="17 digits"):
        captures_of("k", start_time=time)


@pytest.mark.parametrize(
    "key",
    [b"", b"k", b"k 2024 AAAAAAAA", b"a b %b AAAAAAAA" % TIME.encode(), b"k %b AAAAAAA1"
     % TIME.encode(), b"k %b AAAAAAAA\n" % TIME.encode()],
)  # fmt: skip
def test_what_is_no_capture_key_says_so(key: bytes) -> None:
    with pytest.raises(MalformedRecord, match="not a row key of captures"):
        decode_capture_key(key)


def test_an_unreadable_date_sorts_first() -> None:
    keys = [encode_capture_key("k", time, "f", 0) for time in (UNREADABLE_TIME, TIME)]
    assert keys == sorted(keys)


@given(digest_keys)
@example(DigestKey("s", "sha1", "00", 0, SECOND, "c/a:1:0000000001:b", 1))
def test_digest_keys_come_back_whatever_the_file_is_called(key: DigestKey) -> None:
    encoded = encode_digest_key(key)
    assert PRINTABLE.match(encoded)
    assert decode_digest_key(encoded) == key
    assert encoded in digests_of(key.scope, key.algorithm, key.hex)
    assert encoded in digests_of(key.scope, key.algorithm, key.hex, key.length)
    assert encoded not in digests_of(key.scope, key.algorithm, key.hex, key.length + 1)
    assert encoded not in digests_of(key.scope, key.algorithm, key.hex + "00")


@given(st.lists(st.tuples(times, urlkeys.filter(bool), ordinals), min_size=2))
def test_rows_of_a_content_are_in_the_order_of_originals(
    places: list[tuple[str, str, int]],
) -> None:
    keys = [DigestKey("s", "sha1", "00", 5, time[:14], file, n) for time, file, n in places]
    rows = [decode_digest_key(row) for row in sorted(map(encode_digest_key, keys))]
    by_rule = sorted(keys, key=lambda k: (k.second, escape_name(k.archive_file) + b":", k.ordinal))
    assert rows == by_rule


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scope": "a:b"}, ConfigError),
        ({"scope": ""}, ConfigError),
        ({"algorithm": "SHA1"}, ValueError),
        ({"hex": "DA39"}, ValueError),
        ({"hex": "abc"}, ValueError),
        ({"length": -1}, ValueError),
        ({"second": TIME}, ValueError),
        ({"ordinal": 10**10}, ValueError),
        ({"ordinal": -1}, ValueError),
        ({"archive_file": ""}, ValueError),
    ],
)
def test_a_digest_key_of_bad_parts_is_refused(
    changes: dict[str, object], error: type[Exception]
) -> None:
    key = DigestKey("s", "sha1", "00", 5, SECOND, "c/a", 1)._replace(**changes)
    with pytest.raises(error):
        encode_digest_key(key)


@pytest.mark.parametrize("key", [b"", b"a:b:c", b"s:sha1:0:5:2024:f:0000000001"])
def test_what_is_no_digest_key_says_so(key: bytes) -> None:
    with pytest.raises(MalformedRecord, match="not a row key of digests"):
        decode_digest_key(key)


@given(names, file_names)
def test_file_keys_come_back_and_lie_in_their_crawl(crawl: str, path: str) -> None:
    identity = f"{crawl}/{path}"
    key = encode_file_key(identity)
    assert decode_file_key(key) == identity
    assert crawl_of(identity) == crawl
    assert key in files_of(crawl)
    assert key not in files_of(crawl + "x")


@pytest.mark.parametrize(
    "path", ["", "/abs", "g2/a.warc.gz", "g10/a", "g2-gz/a.warc.zst", "g0-plain/a"]
)
def test_a_path_that_could_be_a_generation_is_refused(path: str) -> None:
    with pytest.raises(InputRefused):
        archive_file("crawl", path)


@given(names, names)
def test_crawl_and_collection_keys_differ(crawl: str, collection: str) -> None:
    assert encode_crawl_key(crawl) in ALL_CRAWLS
    assert encode_collection_key(collection) not in ALL_CRAWLS


@pytest.mark.parametrize("name", ["", "a/b", "a:b", "+a", "a b", ".a", "é", "a\n", "x" * 101])
def test_a_name_that_would_break_a_key_is_refused(name: str) -> None:
    for encode in (encode_crawl_key, encode_collection_key, encode_run_key, files_of):
        with pytest.raises(ConfigError):
            encode(name)


@given(names, raw_text, times, names, names)
def test_pair_keys_come_back(run: str, urlkey: str, time: str, left: str, right: str) -> None:
    capture = encode_capture_key(urlkey, time, "f", 0)
    pair = PairKey(run, capture, left, right)
    key = encode_pair_key(pair)
    assert decode_pair_key(key) == pair
    assert key in pairs_of(run)
    assert key in pairs_of(run, capture)
    with pytest.raises(MalformedRecord):
        decode_pair_key(capture[:-8])


@given(st.binary(), st.binary())
@example(b"\xff", b"\xff\xff")
@example(b"", b"")
@example(b"a\xff", b"b")
def test_prefix_range_holds_keys_with_the_prefix(prefix: bytes, key: bytes) -> None:
    assert (key in prefix_range(prefix)) == key.startswith(prefix)
    assert prefix + key in prefix_range(prefix)


def test_a_range_without_end_holds_everything_after() -> None:
    assert b"\xff" * 9 in KeyRange(b"a")
    assert "a" not in KeyRange()
