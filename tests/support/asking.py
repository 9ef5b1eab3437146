"""A browser of tests: asks for a page and what it names, and shows nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urljoin

from browsing import Client, Response

from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.snapshot import Outcome, Resource, Snapshot


class AskingBrowser:
    """Asks over a proxy; `said` has every answer."""

    name = "asking"

    def __init__(self, client: Client) -> None:
        self._client = client
        self.said: list[Response] = []
        self.pins: list[Pins] = []

    def capture(
        self,
        url: str,
        *,
        pins: Pins,
        folder: Path,
        on_blank: Callable[[], None] | None = None,
        is_known: Callable[[], bool] | None = None,
    ) -> Snapshot:
        """The page, and every `src=` and `href=` in it; redirects are followed."""
        if on_blank is not None:
            on_blank()
        self.pins.append(pins)
        page = self._ask(url)
        for _ in range(5):
            if "location" not in page.fields:
                break
            url = urljoin(url, page.fields["location"])
            page = self._ask(url)
        html = page.body.decode("latin-1")
        resources = [self._resource(url, page)]
        for name in re.findall(r"(?:src|href)=([^ >]+)", html):
            whole = urljoin(url, name)
            resources.append(self._resource(whole, self._ask(whole)))
        return Snapshot(
            url=url, browser=self.name, browser_version="1", seed=None, clock=pins.clock,
            taken=datetime(2026, 1, 1, tzinfo=timezone.utc), outcome=Outcome.COMPLETE,
            viewport_width=1, viewport_height=1, text=html, final_url=url,
            resources=tuple(resources), resources_total=len(resources),
        )  # fmt: skip

    def _ask(self, url: str) -> Response:
        self.said.append(self._client.ask(url))
        return self.said[-1]

    def _resource(self, url: str, answer: Response) -> Resource:
        return Resource(url=url, status=answer.status, media_type=None, kind="", failure=None)
