from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.hbase_schema.name_keys import ALL_CRAWLS, queue_of, wacz_files_of
from pinakes.hbase_schema.seen_keys import (
    SeenKey,
    SeenScope,
    decode_seen_key,
    encode_seen_keys,
    opening_of,
    seen_at,
    seen_by_digest,
    seen_in,
    seen_with,
)

SPRING = SeenScope("news", "spring", opening_of("ingest-1"))
SHA1 = "3c01bdbb26f358bab27f267924aa2c9a03fcfdb8"
SECOND = "20240229123456"
PRINTABLE = re.compile(rb"[\x21-\x7e]+\Z")

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
scopes = st.builds(SeenScope, names, names, st.builds(opening_of, st.text()))
digests = st.tuples(
    st.sampled_from(["sha1", "sha256"]), st.binary(min_size=1, max_size=32).map(bytes.hex)
)
seconds = st.text("0123456789", min_size=14, max_size=14)


@given(scopes, digests, seconds, st.binary())
def test_both_keys_come_back(
    scope: SeenScope, digest: tuple[str, str], second: str, urlkey: bytes
) -> None:
    by_digest, by_url = encode_seen_keys(scope, *digest, second, urlkey)
    for key in (by_digest, by_url):
        assert decode_seen_key(key) == SeenKey(*digest, second)
        assert PRINTABLE.match(key)
        assert key in seen_in(scope.collection, scope.crawl)
        assert key not in ALL_CRAWLS
        assert key not in queue_of(scope.collection)
        assert key not in wacz_files_of(scope.collection, scope.crawl)
    assert by_digest in seen_with(scope, *digest)
    assert by_digest in seen_by_digest(scope)
    assert by_url in seen_at(scope, urlkey)
    assert by_url in seen_at(scope, urlkey, second)
    assert by_url not in seen_by_digest(scope)
    assert by_digest not in seen_at(scope, urlkey)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(SPRING._replace(collection="new"), id="another collection"),
        pytest.param(SPRING._replace(crawl="spring-2"), id="a crawl of a longer name"),
        pytest.param(SPRING._replace(crawl="sprin"), id="a crawl of a shorter name"),
        pytest.param(SPRING._replace(opening=opening_of("ingest-2")), id="opened again"),
    ],
)
def test_a_scope_has_its_own_keys(other: SeenScope) -> None:
    for key in encode_seen_keys(other, "sha1", SHA1, SECOND, b"org,example)/"):
        assert key not in seen_with(SPRING, "sha1", SHA1)
        assert key not in seen_at(SPRING, b"org,example)/")
        assert key not in seen_by_digest(SPRING)
        is_same_crawl = other[:2] == SPRING[:2]
        assert (key in seen_in("news", "spring")) == is_same_crawl


def test_reports_of_one_digest_sort_by_age() -> None:
    times = ["20240229123456", "19960101000000", "20240229123457"]
    keys = [encode_seen_keys(SPRING, "sha1", SHA1, time, b"k")[0] for time in times]
    assert [decode_seen_key(key).second for key in sorted(keys)] == sorted(times)


@pytest.mark.parametrize(
    "key", [b"", b"+news:seen:spring:5f1c2d3e:sha1:zz:1:2", b"+news:queue:5f1c", b"spring"]
)
def test_another_key_is_none(key: bytes) -> None:
    with pytest.raises(MalformedRecord, match="not a row key of a reported capture"):
        decode_seen_key(key)


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(ConfigError):
        encode_seen_keys(SPRING._replace(crawl="a:b"), "sha1", SHA1, SECOND, b"k")
