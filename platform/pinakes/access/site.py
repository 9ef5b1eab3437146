"""The site of `pinakes serve`.  Read only: GET and HEAD."""

from __future__ import annotations

import json
import logging
from importlib.resources import files
from typing import Any

from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import Rule
from werkzeug.wrappers import Response

from pinakes import __version__
from pinakes.errors import InputRefused, PinakesError, StoreUnavailable

from .asgi_site import LOGGER
from .display import stylesheet
from .exposition import (
    CONTENT_TYPE,
    crawl_metrics,
    exposed,
    gauge,
    landing_metrics,
    store_metrics,
    view_metrics,
)
from .page_site import STRICT_HEADERS, PageSite, Request
from .pages.browsing import Browsing
from .readable import ReadableCaptures
from .views import Views

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    **STRICT_HEADERS,
}


class Site(PageSite):
    """Serves pages, their style and script, metrics, and health."""

    def __init__(
        self,
        views: Views,
        captures: ReadableCaptures,
        *,
        replay_url: str | None = None,
    ) -> None:
        self._views = views
        self._pages = Browsing(views, captures, replay_url=replay_url)
        super().__init__(
            [
                *self._pages.rules(),
                Rule("/style.css", endpoint=self._style, methods=["GET"]),
                Rule("/suggest.js", endpoint=self._script, methods=["GET"]),
                Rule("/favicon.ico", endpoint=self._no_icon, methods=["GET"]),
                Rule("/metrics", endpoint=self._metrics, methods=["GET"]),
                Rule("/healthz", endpoint=self._healthz, methods=["GET"]),
            ]
        )

    def refusal(self, request: Request, error: HTTPException) -> Response:
        """A page that says why."""
        words = error.description or error.name
        if words == NotFound.description:
            words = "There is no page at this address."
        return self._pages.problem(request, error.code or 500, error.name, words)

    def failure(self, request: Request, error: PinakesError) -> Response:
        """Of what was asked for, or of a store: then it may be asked again.

        The place of the store is logged, and not shown.
        """
        if isinstance(error, InputRefused):
            return self._pages.problem(request, 404, "Not there", str(error))
        logging.getLogger(LOGGER).error("%s %.200s: %s", request.method, request.path, error)
        if not isinstance(error, StoreUnavailable):
            return self._pages.problem(request, 500, "This cannot be shown", error.message)
        response = self._pages.problem(request, 503, "The store does not answer", error.message)
        response.headers["Retry-After"] = "10"
        return response

    def _style(self, request: Request) -> Response:
        return Response(stylesheet("pinakes.access.pages", "pages.css"), mimetype="text/css")

    def _script(self, request: Request) -> Response:
        script = files("pinakes.access.pages").joinpath("suggest.js")
        return Response(script.read_bytes(), mimetype="text/javascript")

    def _no_icon(self, request: Request) -> Response:
        return Response(status=204)  # browsers request it, and log an error otherwise

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
