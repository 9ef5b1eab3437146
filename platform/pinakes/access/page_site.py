"""Pages as an ASGI application: URL rules, endpoints in threads.

A thread is taken when the whole request is there, and for each piece of an answer: a client that
sends or reads slowly holds none.  Mounted in an `AsgiSite`, which checks the Host and adds
headers to every response.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import quote

from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import BaseConverter, Map, Rule
from werkzeug.sansio.request import Request as HttpRequest
from werkzeug.wrappers import Response

from pinakes.errors import PinakesError

from .asgi import Receive, Scope, Send, read_body
from .pieces import in_thread, send_rest

STRICT_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every response; a content policy is added."""

THREADS = 8
BODY_BYTES = 64 << 10
_BODY_S = 10.0


class Request(HttpRequest):
    """A request with its whole body."""

    def __init__(self, scope: Scope, body: bytes) -> None:
        query: bytes = scope["query_string"]
        if not query.isascii():
            query = quote(query, safe="%&=+?/:;,@!$'()*~").encode()
        super().__init__(
            method=scope["method"],
            scheme=scope["scheme"],
            server=scope["server"],
            root_path=scope.get("root_path", ""),
            path=scope["path"],
            query_string=query,
            headers=Headers(
                [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
            ),
            remote_addr=None,
        )
        self.body = body


class _Rest(BaseConverter):
    """The rest of a path, in any form: also where it begins with a slash."""

    regex = ".+"
    part_isolating = False


class PageSite(ABC):
    """Dispatches requests by rules, to endpoints that take the request and the rule's values.

    Endpoints are called in several threads at once.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        # Paths must match exactly: nothing is redirected.
        self._urls = Map(rules, merge_slashes=False, converters={"rest": _Rest})
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pages")

    @property
    def first_parts(self) -> frozenset[str]:
        """The first parts of the paths that it has rules for."""
        parts = (rule.rule.split("/")[1] for rule in self._urls.iter_rules())
        return frozenset(part for part in parts if part)

    @abstractmethod
    def refusal(self, request: Request, error: HTTPException) -> Response:
        """The response where no rule fits, or an endpoint refuses a request."""

    @abstractmethod
    def failure(self, request: Request, error: PinakesError) -> Response:
        """The response where an endpoint has failed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the request, then answer it.

        Raises:
            BodyRefused, ClientGone: as `read_body`.
        """
        body = await read_body(receive, most_bytes=BODY_BYTES, timeout_s=_BODY_S)
        response = await in_thread(self._threads, self._answer, Request(scope, body))
        try:
            await self._send(response, receive, send, is_head=scope["method"] == "HEAD")
        finally:
            if not response.is_sequence:
                await in_thread(self._threads, response.close)

    async def _send(
        self, response: Response, receive: Receive, send: Send, *, is_head: bool
    ) -> None:
        pieces = response.iter_encoded()
        first = b"".join(pieces) if response.is_sequence else b""
        headers = [(n.lower().encode(), v.encode("latin-1")) for n, v in response.headers]
        status = response.status_code
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if response.is_sequence or is_head:
            await send({"type": "http.response.body", "body": first})
        else:
            await send_rest(receive, send, partial(in_thread, self._threads, next, pieces, None))

    def _answer(self, request: Request) -> Response:
        urls = self._urls.bind("", path_info=request.path, default_method=request.method)
        try:
            endpoint: Callable[..., Response]
            endpoint, values = urls.match()
            return endpoint(request, **values)
        except HTTPException as error:
            response = self.refusal(request, error)
            if isinstance(error, MethodNotAllowed):
                response.allow.update(error.valid_methods or ())
            return response
        except PinakesError as error:
            return self.failure(request, error)
