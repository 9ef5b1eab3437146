"""Public addresses of a host of the live web, and no others.

A page must not lead the browser into the user's own network, by a redirect or by the address of
a host name.  The proxy connects to the addresses found here, so that a second answer of a name
server cannot differ.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from pinakes.errors import StoreUnavailable

from .upstream import Origin

Address = tuple[str, int]
Resolver = Callable[[Origin], "list[Address]"]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Python versions differ on which of these are global: IETF's own, 6to4 relays, local NAT64,
# site-local, documentation (IANA's special-purpose registries).
_WITHIN = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "fec0::/10", "3fff::/20")
)


class NotPublic(Exception):
    """Inside this package: the host has no public address."""


def public_addresses(origin: Origin) -> list[Address]:
    """The public addresses of a host, in the resolver's order.  Queries the name server.

    Raises:
        NotPublic: none of its addresses is public.
        StoreUnavailable: it has no address.
    """
    try:
        found = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StoreUnavailable(f"no address for {origin.host}: {why}") from error
    addresses = list(dict.fromkeys((str(one[4][0]), origin.port) for one in found))
    public = [address for address in addresses if is_public(address[0])]
    if not public:
        said = ", ".join(host for host, _ in addresses[:3])
        raise NotPublic(f"{origin.host} has no public address: {said}")
    return public


def is_public(text: str) -> bool:
    """Whether an address is public; an address embedded in it must be public as well."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # with a zone: of one link
        return False
    if address in _NAT64:
        return is_public(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
    if any(address in network for network in _WITHIN):
        return False
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    return all(is_public(str(one)) for one in inner if one is not None)
