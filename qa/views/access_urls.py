"""URLs of an access system: a prefix, a time, a flag, and the original URL.

    https://web.example/coll/20200102030405mp_/http://example.org/a?b
    └────── prefix ─────────┘└─ time ─────┘└┬┘ └─── original ──────┘
                                           flag

pywb answers `mp_` with the page itself, without frame and banner; OpenWayback omits its toolbar
for `if_`.  A form other than `PREFIX{timestamp}mp_/{url}` is written out:
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
        ConfigError: the prefix is not a URL, has unknown braces, or a user and password (it is
            written to results).
    """

    def __init__(self, prefix: str) -> None:
        _refuse_password(prefix)
        self.prefix = prefix
        form = prefix if "{" in prefix else f"{prefix.rstrip('/')}/{_USUAL}"
        known = form.replace("{timestamp}", "").replace("{url}", "")
        if "{url}" not in form or "{" in known or "}" in known:
            raise ConfigError(
                f"not an access system, by URL prefix or with {{timestamp}} and {{url}}: {prefix!r}"
            )
        try:
            self.origin = Origin.of(form)
        except ValueError as error:
            raise ConfigError(f"not an access system: {error}") from error
        self._form = form
        self._root = original_uri(form.partition("{")[0], None) or ""
        # In a query the URL is one value, and must be escaped.
        self._quoted = "?" in form.partition("{url}")[0]

    def address(self, url: str, moment: datetime) -> str:
        """The access system's address of that URL at that time."""
        written = quote(url, safe="") if self._quoted else url
        return self._form.replace("{timestamp}", format_14(moment)).replace("{url}", written)

    def original(self, uri: str) -> str:
        """The original URL behind a rewritten one; other URLs unchanged."""
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
    """Raise ConfigError without the prefix: neither results nor messages may show a password."""
    try:
        has_user = "@" in urlsplit(prefix).netloc
    except ValueError:  # no URL, which is said elsewhere
        has_user = "@" in prefix
    if has_user:
        raise ConfigError(
            "an access system's prefix must not have a user or password (USER:PASSWORD@)"
        )
