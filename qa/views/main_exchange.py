"""The answer to a page's own URL, among all requests of the page."""

from __future__ import annotations

from dataclasses import replace

from pinakes.qa.replay.page_log import Exchange, PageLog
from pinakes.qa.replay.request import original_uri
from pinakes.qa.snapshot import Outcome, Snapshot


def main_exchange(log: PageLog) -> Exchange | None:
    """The page's own exchange, after redirects to itself; None if it redirects elsewhere.

    The log's name is the page's URL.  If the browser writes it differently (escapes, dots), the
    page is the first request.
    """
    uri = original_uri(log.name, None)
    requested = log.answered
    if requested and all(exchange.url != uri for exchange in requested):
        uri = requested[0].url
    own = [exchange for exchange in requested if exchange.url == uri]
    answered = [exchange for exchange in own if not 300 <= (exchange.status or 0) < 400]
    return answered[0] if answered else None


def failed_if_not_answered(snapshot: Snapshot, log: PageLog, *, missed: str) -> Snapshot:
    """The snapshot; with outcome `failed` and the reason, if the page itself was not answered.

    The browser then shows a message of the proxy, which it takes for a page.  `missed` is the
    reason if the log has none.
    """
    page = main_exchange(log)
    if page is None or page.outcome not in ("miss", "fault"):
        return snapshot
    reasons = (*snapshot.reasons, page.problem or missed)
    return replace(snapshot, outcome=Outcome.FAILED, reasons=reasons)
