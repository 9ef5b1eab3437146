"""The host of an entry's URI is what splitting the whole URI gives."""

from urllib.parse import urlsplit

import pytest

from pinakes.index.selection import host_of


@pytest.mark.parametrize(
    ("uri", "host"),
    [
        pytest.param("http://Example.org/a?b#c", "example.org", id="lower-case"),
        pytest.param("https://user:word@example.org:8443?b", "example.org", id="user-and-port"),
        pytest.param("http://[2001:DB8::1]:80/", "2001:db8::1", id="ipv6"),
        pytest.param("http://[half/", None, id="no-uri"),
        pytest.param("http://exam\u2100ple.com/", None, id="changed-by-nfkc"),
        pytest.param("http:///path", None, id="empty"),
        pytest.param("ftp://example.org", "example.org", id="nothing-behind"),
        pytest.param("//example.org/a", "example.org", id="no-scheme"),
        pytest.param(" http://example.org/", "example.org", id="space-before"),
        pytest.param("ht\ttp://exam\tple.org/", "example.org", id="tabs"),
        pytest.param("dns:example.org", None, id="dns"),
        pytest.param("urn:uuid:1", None, id="urn"),
        pytest.param(f"http://{'a' * 300}.org/", f"{'a' * 300}.org", id="too-long-to-keep"),
    ],
)
def test_host_of(uri, host):
    # Twice: what is kept says the same again.
    assert [host_of(uri), host_of(uri)] == [host, host]
    if host is not None:
        assert urlsplit(uri).hostname == host
