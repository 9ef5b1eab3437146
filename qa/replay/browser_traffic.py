"""Requests that browsers send by themselves, whatever page they show.

Pure, one declared table: updates, network checks, accounts.  Flags prevent most of them.  They
are answered from the archive like any other, but if it has no answer, the page has no miss.
"""

from __future__ import annotations

from urllib.parse import urlsplit

HOSTS = frozenset(
    {
        # Chromium: updates, time, accounts, Safe Browsing, hints, components.
        "accounts.google.com",
        "android.clients.google.com",
        "clients1.google.com",
        "clients2.google.com",
        "content-autofill.googleapis.com",
        "edgedl.me.gvt1.com",
        "mtalk.google.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "safebrowsingohttpgateway.googleapis.com",
        "update.googleapis.com",
        # Debian's Chromium: its start page.
        "start.duckduckgo.com",
        # Firefox: network check, settings, add-ons, push, telemetry.
        "aus5.mozilla.org",
        "content-signature-2.cdn.mozilla.net",
        "detectportal.firefox.com",
        "firefox.settings.services.mozilla.com",
        "firefox-settings-attachments.cdn.mozilla.net",
        "incoming.telemetry.mozilla.org",
        "location.services.mozilla.com",
        "push.services.mozilla.com",
        "shavar.services.mozilla.com",
    }
)

ICON = "/favicon.ico"
"""On any host: each browser requests it once, whatever the page."""


def is_browser_traffic(uri: str) -> bool:
    """Whether browsers request this URL by themselves."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return parts.hostname in HOSTS or parts.path == ICON
