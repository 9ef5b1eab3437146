"""Digests in all the spellings of real files."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import ConfigError
from pinakes.warc.digest import SIZES_BYTES, Digest, hasher, parse_digest, resembles_digest

SHA1 = hashlib.sha1(b"").digest()
SHA1_BASE32 = base64.b32encode(SHA1).decode()
MD5 = hashlib.md5(b"").digest()
SHA256 = hashlib.sha256(b"").digest()
SHA512 = hashlib.sha512(b"").digest()
ALL_F = b"\xff" * 20


@pytest.mark.parametrize(
    ("text", "algorithm", "value"),
    [
        (f"sha1:{SHA1_BASE32}", "sha1", SHA1),
        (f"sha1:{SHA1_BASE32.lower()}", "sha1", SHA1),
        (f"sha1:{SHA1.hex()}", "sha1", SHA1),
        (f"sha1:{SHA1.hex().upper()}", "sha1", SHA1),
        (f"sha-1:{SHA1_BASE32}", "sha1", SHA1),
        (f"SHA1:{SHA1_BASE32}", "sha1", SHA1),
        (f"SHA-1: {SHA1_BASE32}", "sha1", SHA1),
        (f"  sha1:{SHA1_BASE32} ", "sha1", SHA1),
        (SHA1_BASE32, "sha1", SHA1),
        (SHA1.hex(), "sha1", SHA1),
        (f"sha256:{SHA256.hex()}", "sha256", SHA256),
        (f"sha-256:{SHA256.hex()}", "sha256", SHA256),
        (f"sha_256:{SHA256.hex()}", "sha256", SHA256),
        (f"sha256:{base64.b32encode(SHA256).decode()}", "sha256", SHA256),
        (f"sha256:{base64.b32encode(SHA256).decode().rstrip('=')}", "sha256", SHA256),
        (SHA256.hex(), "sha256", SHA256),
        (f"sha512:{SHA512.hex()}", "sha512", SHA512),
        (f"md5:{MD5.hex()}", "md5", MD5),
        (f"md5:{base64.b32encode(MD5).decode()}", "md5", MD5),
        (MD5.hex(), "md5", MD5),
        ("sha1:77777777777777777777777777777777", "sha1", ALL_F),
    ],
    ids=[
        "base32",
        "base32-lower",
        "hex",
        "hex-upper",
        "sha-1",
        "label-upper",
        "blank-behind-colon",
        "blanks-around",
        "no-label-base32",
        "no-label-hex",
        "sha256-hex",
        "sha-256-hex",
        "sha_256-hex",
        "sha256-base32-padded",
        "sha256-base32",
        "no-label-64-hex",
        "sha512",
        "md5-hex",
        "md5-base32",
        "no-label-32-hex-is-md5",
        "32-digits-labelled-sha1",
    ],
)
def test_spellings(text: str, algorithm: str, value: bytes) -> None:
    assert parse_digest(text) == Digest(algorithm, value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "sha1:",
        "sha1:short",
        f"sha1:{SHA256.hex()}",
        f"md5:{SHA1.hex()}",
        f"crc32:{SHA1_BASE32}",
        f"a:b:{SHA1_BASE32}",
        "sha1:0" + SHA1_BASE32[1:],
        "sha1:é" + SHA1_BASE32[1:],
        SHA1_BASE32 + "=" * 9 + "A",
        "sha1:" + "g" * 40,
        # Arabic and full-width digits are digits to str.isdigit, and no hex.
        "sha1:" + "٠" * 40,
        "sha1:" + "０" * 40,
        "\udcff" * 32,
        # "ﬃ" is "FFI" in upper case, "ı" is "I".
        "ﬃ" * 4 + "A" * 28,
        "ı" + SHA1_BASE32[1:],
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_no_digest(text: str) -> None:
    assert parse_digest(text) is None


@pytest.mark.parametrize(
    ("text", "resembles"),
    [
        (f"sha1:{SHA1_BASE32}", True),
        (SHA1_BASE32[:-1], True),
        (SHA256.hex() + "0", True),
        ("sha1:", True),
        ("SHA-256:xyz", True),
        ("blake3:af13", True),
        ("md5:é", True),
        ("localhost", False),
        (f"{SHA1_BASE32}.example", False),
        ("http://example.org/" + SHA1_BASE32, False),
        ("dns:example.org", False),
        (f"urn:sha1:{SHA1_BASE32}", False),
        ("mailto:me", False),
    ],
)
def test_what_was_meant_as_a_digest(text: str, resembles: bool) -> None:
    assert resembles_digest(text) == resembles


@given(st.sampled_from(sorted(SIZES_BYTES)), st.binary(min_size=64, max_size=64))
def test_what_is_written_is_read(algorithm: str, value: bytes) -> None:
    digest = Digest(algorithm, value[: SIZES_BYTES[algorithm]])
    assert parse_digest(str(digest)) == digest
    assert parse_digest(f"{algorithm}:{digest.hex}") == digest


@given(st.text())
def test_any_text_is_a_digest_or_none(text: str) -> None:
    found = parse_digest(text)
    assert found is None or len(found.value) == SIZES_BYTES[found.algorithm]


@pytest.mark.parametrize("algorithm", sorted(SIZES_BYTES))
def test_hasher(algorithm: str) -> None:
    assert hasher(algorithm)(b"x").digest() == hashlib.new(algorithm, b"x").digest()


def test_an_unknown_algorithm_is_the_callers_mistake() -> None:
    with pytest.raises(ConfigError, match="use one of md5, sha1, sha256, sha512"):
        hasher("crc32")
