"""Addresses of the public web, and the many that are not."""

from __future__ import annotations

import socket

import comparing  # noqa: F401
import pytest

from pinakes.errors import StoreUnavailable
from pinakes.qa.views.live import NotPublic, is_public, public_addresses
from pinakes.qa.views.upstream import Origin


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "2002:0808:0808::1",
     "64:ff9b::808:808"],
)  # fmt: skip
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:0a00:0001::"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "2001:db8::1", "2001:0:0:0:0:0:0:1"),
        # Global for some versions of Python.
        *("192.0.0.1", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.88.99.1", "::ffff:192.0.0.9"),
        *("fec0::1", "feff::1", "64:ff9b:1::808:808", "64:ff9b::c000:9", "2002:c058:6301::1"),
        *("3fff::1", "3fff:fff::1"),
        *("", "localhost", "0x7f000001"),
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "127.1", "2130706433", "0"])
def test_a_host_within_is_refused(host: str) -> None:
    with pytest.raises(NotPublic, match="has no public address"):
        public_addresses(Origin("http", host, 80))


def found(*addresses: str) -> list[tuple[object, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 80)) for a in addresses]


def test_of_several_addresses_the_public_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: found("10.0.0.1", "8.8.8.8", "8.8.8.8", "::1")
    )
    assert public_addresses(Origin("https", "a.example", 443)) == [("8.8.8.8", 443)]


def test_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(StoreUnavailable, match=r"no address for a\.example: Name or service"):
        public_addresses(Origin("https", "a.example", 443))


def test_a_name_that_is_none() -> None:
    with pytest.raises(StoreUnavailable, match="no address for"):
        public_addresses(Origin("http", "a" * 70 + ".example", 80))
