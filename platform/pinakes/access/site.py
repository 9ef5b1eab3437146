"""The site of `pinakes serve`.  Read only: GET and HEAD."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from werkzeug.routing import Rule
from werkzeug.wrappers import Request, Response

from pinakes import __version__

from .exposition import (
    CONTENT_TYPE,
    crawl_metrics,
    exposed,
    gauge,
    landing_metrics,
    store_metrics,
    view_metrics,
)
from .landing_page import landing_page, stylesheet
from .views import Views
from .wsgi_site import STRICT_HEADERS, WsgiSite

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    **STRICT_HEADERS,
}


class Site(WsgiSite):
    """Serves the page, its style, metrics, and health."""

    headers = HEADERS

    def __init__(self, views: Views, *, hosts: Sequence[str] | None) -> None:
        self._views = views
        super().__init__(
            [
                Rule("/", endpoint=self._page, methods=["GET"]),
                Rule("/style.css", endpoint=self._style, methods=["GET"]),
                Rule("/metrics", endpoint=self._metrics, methods=["GET"]),
                Rule("/healthz", endpoint=self._healthz, methods=["GET"]),
            ],
            hosts=hosts,
        )

    def _page(self, request: Request) -> Response:
        page = landing_page(
            self._views.landing(),
            self._views.totals(),
            self._views.health(),
            refresh=request.args.get("refresh"),
        )
        return Response(page, mimetype="text/html")

    def _style(self, request: Request) -> Response:
        return Response(stylesheet(), mimetype="text/css")

    def _metrics(self, request: Request) -> Response:
        landing, totals = self._views.landing(), self._views.totals()
        metrics: list[Any] = [
            gauge("build_info", "The version that answers.", {(__version__,): 1}, "version"),
            *store_metrics(self._views.health()),
            *view_metrics({"landing": landing, "totals": totals}),
        ]
        if landing.value is not None:
            metrics += landing_metrics(landing.value)
            metrics += crawl_metrics(landing.value, totals.value or {})
        return Response(exposed(metrics), content_type=CONTENT_TYPE)

    def _healthz(self, request: Request) -> Response:
        stores = self._views.health()
        well = all(store.reachable for store in stores)
        found = {
            "status": "ok" if well else "unavailable",
            "version": __version__,
            "stores": {
                store.store: {
                    "reachable": store.reachable,
                    "took_s": store.took_s,
                    "problem": store.problem,
                }
                for store in stores
            },
        }
        text = json.dumps(found) + "\n"
        return Response(text, 200 if well else 503, mimetype="application/json")
