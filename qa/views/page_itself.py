"""What a page itself was answered, among all that it asked for."""

from __future__ import annotations

from pinakes.qa.replay.asked import original_uri
from pinakes.qa.replay.page_log import Exchange, PageLog


def page_itself(log: PageLog) -> Exchange | None:
    """The page's own exchange, behind redirects to itself; None where it led elsewhere.

    The log is named by the page's URL.
    """
    uri = original_uri(log.name, None)
    own = [exchange for exchange in log.exchanges if exchange.url == uri]
    answered = [exchange for exchange in own if not 300 <= (exchange.status or 0) < 400]
    return answered[0] if answered else None
