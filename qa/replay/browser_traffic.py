"""What browsers ask for of their own accord, whatever page they show.

Pure, and one declared table.  They look for updates, for the network, for accounts; flags
keep them from most of it.  Answered from the archive like anything else, but where it is not
there, that is no miss of the page's.
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
        # Firefox: is there a network, settings, add-ons, push, telemetry.
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
"""Of any host, once for each browser: whether it is asked for tells nothing of the page."""


def is_browser_traffic(uri: str) -> bool:
    """Whether a URL is one that browsers ask for without a page's asking."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return parts.hostname in HOSTS or parts.path == ICON
