"""The host of a URL that may be invalid.  Pure."""

from __future__ import annotations

from urllib.parse import urlsplit


def host_of(url: str) -> str | None:
    """The host in lower case, without port; None if there is none, or the URL is invalid."""
    try:
        return urlsplit(url).hostname
    except ValueError:  # `http://[foo/`, or a host that NFKC would change
        return None
