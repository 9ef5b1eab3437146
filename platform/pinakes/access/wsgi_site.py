"""A WSGI application with URL rules, and headers for every response.

Mounted in an `AsgiSite`, which serves it; it checks the Host itself, too, wherever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from werkzeug.exceptions import HTTPException, MethodNotAllowed, SecurityError
from werkzeug.routing import BaseConverter, Map, Rule
from werkzeug.wrappers import Request, Response

from pinakes.errors import PinakesError

from .hosts import AcceptedHosts

STRICT_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every response; a content policy is added."""


class _Rest(BaseConverter):
    """The rest of a path, whatever it is: also where it begins with a slash."""

    regex = ".+"
    part_isolating = False


class WsgiSite:
    """Dispatches requests by rules, to endpoints that take the request and the rule's values.

    Safe for several threads.  `hosts` are the accepted Host names; None: any.
    """

    headers: ClassVar[Mapping[str, str]]
    """The default of responses."""

    def __init__(self, rules: Iterable[Rule], *, hosts: Sequence[str] | None) -> None:
        # Paths must match exactly: nothing is redirected.
        self._urls = Map(rules, merge_slashes=False, converters={"rest": _Rest})
        self._hosts = AcceptedHosts(hosts)

    @property
    def first_parts(self) -> frozenset[str]:
        """The first parts of the paths that it has rules for."""
        parts = (rule.rule.split("/")[1] for rule in self._urls.iter_rules())
        return frozenset(part for part in parts if part)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        response = self._answer(Request(environ))
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Response:
        try:
            self._require_host(request)
            endpoint: Callable[..., Response]
            endpoint, values = self._urls.bind_to_environ(request).match()
            return endpoint(request, **values)
        except HTTPException as error:
            response = self.refusal(request, error)
            if isinstance(error, MethodNotAllowed):
                response.allow.update(error.valid_methods or ())
            return response
        except PinakesError as error:
            return self.failure(request, error)

    def _require_host(self, request: Request) -> None:
        # werkzeug's own check supports neither addresses in brackets nor capitals.
        if not self._hosts.accepts(request.headers.get("Host", "")):
            raise SecurityError
        _ = request.host  # raises if there is none

    def refusal(self, request: Request, error: HTTPException) -> Response:
        """The response to a request that matches no rule or host."""
        return Response(f"{error.code} {error.name}\n", error.code, mimetype="text/plain")

    def failure(self, request: Request, error: PinakesError) -> Response:
        """The response when an endpoint failed."""
        raise error
