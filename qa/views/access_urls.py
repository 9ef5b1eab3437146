"""How an access system writes what it gives: a prefix, a time, a flag, and the original URL.

    https://web.example/coll/20200102030405mp_/http://example.org/a?b
    └────── prefix ─────────┘└─ time ─────┘└┬┘ └─── original ──────┘
                                           flag

pywb answers `mp_` with the page itself, without its frame and banner; OpenWayback leaves its
toolbar out for `if_`.  Another form than `PREFIX{timestamp}mp_/{url}` is written out:
`https://web.example/wayback/{timestamp}if_/{url}`.  Pure.
"""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import quote, urlsplit

from pinakes.errors import ConfigError
from pinakes.qa.replay.request import original_uri
from pinakes.warc.dates import format_14

from .upstream import Origin

_USUAL = "{timestamp}mp_/{url}"
_REWRITTEN = re.compile(r"(?:\d{1,14})?(?:[a-z]{2}_)?/(?P<url>.+)", re.DOTALL)
_SCHEME = re.compile(r"(https?):/{0,2}(?=[^/])", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9.-]+\.[a-z0-9-]+(?::\d+)?(?=[/?]|\Z)", re.IGNORECASE)


class AccessUrls:
    """The URLs of one access system.

    Raises:
        ConfigError: for a prefix that is no URL, has braces of another kind, or a name and
            password: it stands in results.
    """

    def __init__(self, prefix: str) -> None:
        _refuse_password(prefix)
        self.prefix = prefix
        form = prefix if "{" in prefix else f"{prefix.rstrip('/')}/{_USUAL}"
        known = form.replace("{timestamp}", "").replace("{url}", "")
        if "{url}" not in form or "{" in known or "}" in known:
            raise ConfigError(
                f"an access system is a URL prefix, or has {{timestamp}} and {{url}}: {prefix!r}"
            )
        try:
            self.origin = Origin.of(form)
        except ValueError as error:
            raise ConfigError(f"no access system: {error}") from error
        self._form = form
        self._root = original_uri(form.partition("{")[0], None) or ""
        # In a query the URL is one value, and must not end it.
        self._quoted = "?" in form.partition("{url}")[0]

    def address(self, url: str, moment: datetime) -> str:
        """Where the access system has that URL at that time."""
        written = quote(url, safe="") if self._quoted else url
        return self._form.replace("{timestamp}", format_14(moment)).replace("{url}", written)

    def original(self, uri: str) -> str:
        """The original URL behind a rewritten one; itself where it is none."""
        if not uri.startswith(self._root):
            return uri
        match = _REWRITTEN.match(uri[len(self._root) :])
        if match is None:
            return uri
        scheme = _SCHEME.match(match["url"])
        if scheme is not None:
            whole = f"{scheme[1].lower()}://{match['url'][scheme.end() :]}"
        elif _HOST.match(match["url"]):
            whole = f"http://{match['url']}"
        else:
            return uri
        return original_uri(whole, None) or uri


def _refuse_password(prefix: str) -> None:
    """Whoever reads a result would read it; so would whoever reads the error."""
    try:
        is_told = "@" in urlsplit(prefix).netloc
    except ValueError:  # no URL, which is said elsewhere
        is_told = "@" in prefix
    if is_told:
        raise ConfigError("an access system's prefix with a user or password (USER:PASSWORD@)")
