"""The host in a URL that somebody else wrote.  Pure."""

from __future__ import annotations

from urllib.parse import urlsplit


def host_of(url: str) -> str | None:
    """The host in lower case, without port; None where there is none, or no URL to be split."""
    try:
        return urlsplit(url).hostname
    except ValueError:  # `http://[foo/`, or a host that is another behind NFKC
        return None
