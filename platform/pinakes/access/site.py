"""The WSGI application: which path is answered by what, and what no answer goes without.

Nothing here writes: all is GET and HEAD.  Bound to loopback it answers to the names of
loopback only: a page of another site whose name was made to point here (DNS rebinding) is
not answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule
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

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Site:
    """Answers requests.  Safe for several threads.

    `hosts` are the names by which it may be asked for; None: any.
    """

    def __init__(self, views: Views, *, hosts: Sequence[str] | None) -> None:
        self._views = views
        self._hosts = None if hosts is None else list(hosts)
        # A path that is not quite one of these is none: nothing is redirected.
        self._urls = Map(
            [
                Rule("/", endpoint=self._page, methods=["GET"]),
                Rule("/style.css", endpoint=self._style, methods=["GET"]),
                Rule("/metrics", endpoint=self._metrics, methods=["GET"]),
                Rule("/healthz", endpoint=self._healthz, methods=["GET"]),
            ],
            merge_slashes=False,
        )

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        request = Request(environ)
        request.trusted_hosts = self._hosts
        response = self._answer(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Response:
        try:
            _ = request.host  # raises where it is not one of ours
            endpoint: Callable[[Request], Response]
            endpoint, _values = self._urls.bind_to_environ(request).match()
            return endpoint(request)
        except HTTPException as error:
            response = Response(f"{error.code} {error.name}\n", error.code, mimetype="text/plain")
            if isinstance(error, MethodNotAllowed):
                response.allow.update(error.valid_methods or ())
            return response

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
