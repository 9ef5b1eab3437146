"""What a page itself was answered, among all that it asked for."""

from __future__ import annotations

from dataclasses import replace

from pinakes.qa.replay.page_log import Exchange, PageLog
from pinakes.qa.replay.request import original_uri
from pinakes.qa.snapshot import Outcome, Snapshot


def main_exchange(log: PageLog) -> Exchange | None:
    """The page's own exchange, behind redirects to itself; None where it led elsewhere.

    The log is named by the page's URL.  Where a browser writes that otherwise (its escapes, its
    dots), the page is what it asked for first.
    """
    uri = original_uri(log.name, None)
    requested = log.answered
    if requested and all(exchange.url != uri for exchange in requested):
        uri = requested[0].url
    own = [exchange for exchange in requested if exchange.url == uri]
    answered = [exchange for exchange in own if not 300 <= (exchange.status or 0) < 400]
    return answered[0] if answered else None


def failed_if_not_answered(snapshot: Snapshot, log: PageLog, *, missed: str) -> Snapshot:
    """The snapshot; `failed`, and why, where the page itself was not given.

    What a browser shows then is a message of ours, which to it is a page like any other.
    `missed` says so where the log has no words for it.
    """
    page = main_exchange(log)
    if page is None or page.outcome not in ("miss", "fault"):
        return snapshot
    reasons = (*snapshot.reasons, page.problem or missed)
    return replace(snapshot, outcome=Outcome.FAILED, reasons=reasons)
