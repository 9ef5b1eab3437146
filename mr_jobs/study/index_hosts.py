"""The columns of a table of captures that tell of a URL's host; pure.

As Common Crawl's columnar index has them.  Suffixes are those of the Public Suffix List as
the library `tldextract` carries it: nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.extras import missing_extra

_ADDRESS = re.compile(r"[\d.]+\Z|.*:")
_KEPT_HOSTS = 1 << 14
_PARTS = 5


class Host(NamedTuple):
    """A host's name, its parts from the last, its suffixes, and the domains below those.

    All but the name are None for an address, and where a part is missing.
    """

    name: str | None
    parts: tuple[str | None, ...]
    registry_suffix: str | None
    registered_domain: str | None
    private_suffix: str | None
    private_domain: str | None
    reversed: str | None


class Url(NamedTuple):
    """What a URL consists of; a port is None where none is written."""

    protocol: str | None
    host: str | None
    port: int | None
    path: str
    query: str | None


def split_url(url: str) -> Url:
    """The parts of a URL; all in `path` where it cannot be read as one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return Url(None, None, None, url, None)
    name = host.rstrip(".") or None if host is not None else None
    return Url(parts.scheme or None, name, port, parts.path, parts.query or None)


@lru_cache(maxsize=_KEPT_HOSTS)
def describe_host(name: str | None) -> Host:
    """What a host's name says of it."""
    if name is None or _ADDRESS.match(name):
        return Host(name, (None,) * _PARTS, None, None, None, None, None)
    parts = name.split(".")[::-1]
    padded: tuple[str | None, ...] = (*parts, *(None,) * _PARTS)
    registry = _below(name, private=False)
    private = _below(name, private=True)
    return Host(name, padded[:_PARTS], *registry, *private, ".".join(parts))


def _below(name: str, *, private: bool) -> tuple[str | None, str | None]:
    """The suffix that a host is below, and the domain just below that."""
    _, domain, suffix = _extractor(private)(name)
    if not suffix:
        return None, None
    return suffix, f"{domain}.{suffix}" if domain else None


@lru_cache(maxsize=2)
def _extractor(private: bool) -> Callable[[str], tuple[str, str, str]]:
    try:
        from tldextract import TLDExtract  # takes a tenth of a second
    except ImportError as error:
        what = f"study --sql and --parquet need {error.name}"
        raise missing_extra(what, "study") from error

    extract = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=private)

    def split(name: str) -> tuple[str, str, str]:
        found = extract.extract_str(name)
        return found.subdomain, found.domain, found.suffix

    return split
