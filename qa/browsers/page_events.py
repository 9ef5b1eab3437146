"""What the events of a browser say about a page: folds over them, pure.

Chromium: domains Network, Page, Runtime and Log of the Chrome DevTools protocol.  Firefox: modules
network, log and browsingContext of WebDriver BiDi.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pinakes.qa.browsers.tab import PageEvents
from pinakes.qa.snapshot import Resource

OF_CHROMIUM = frozenset(
    {
        "Browser.downloadWillBegin",
        "Log.entryAdded",
        "Network.loadingFailed",
        "Network.requestWillBeSent",
        "Network.responseReceived",
        "Page.downloadWillBegin",
        "Runtime.consoleAPICalled",
        "Runtime.exceptionThrown",
    }
)
OF_FIREFOX = frozenset(
    {
        "browsingContext.downloadWillBegin",
        "log.entryAdded",
        "network.beforeRequestSent",
        "network.fetchError",
        "network.responseCompleted",
    }
)
_NOTE = "pinakes:"
_ERRORS = frozenset({"error", "assert"})
_NOT_SENT = ("data:", "blob:", "about:")
MOST_RESOURCES = 2_000
MOST_LINES = 200
_LONGEST_URL = 2_000
_LONGEST_LINE = 500


class _Console:
    """What a page writes to its console: the first lines, and the notes of our own scripts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = 0
        self.notes: list[str] = []

    def say(self, line: str) -> None:
        """Keep an error."""
        self.total += 1
        if len(self.lines) < MOST_LINES:
            self.lines.append(line[:_LONGEST_LINE])

    def is_note(self, line: str, *, is_debug: bool) -> bool:
        """Whether it is one, which is kept then."""
        if not is_debug or not line.startswith(_NOTE):
            return False
        if len(self.notes) < MOST_LINES:
            self.notes.append(line[len(_NOTE) :])
        return True


class ChromiumFold:
    """Takes events in order; `result` is what they say so far."""

    def __init__(self) -> None:
        self._resources: dict[str, Resource] = {}
        self._total = 0
        self._console = _Console()
        self._main_frame: str | None = None
        self._documents = 0
        self._document: dict[str, Any] = {}
        self._document_request: str | None = None
        self._failure: str | None = None
        self._download: str | None = None

    def take(self, events: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Add events: method and parameters each."""
        for method, parameters in events:
            match method:
                case "Network.requestWillBeSent":
                    self._request(parameters)
                case "Network.responseReceived":
                    self._response(parameters)
                case "Network.loadingFailed":
                    self._failed(parameters)
                case "Page.downloadWillBegin" | "Browser.downloadWillBegin":
                    self._download = str(parameters.get("url"))[:_LONGEST_URL]
                case "Runtime.consoleAPICalled":
                    self._called(parameters)
                case "Runtime.exceptionThrown":
                    self._thrown(parameters["exceptionDetails"])
                case "Log.entryAdded":
                    self._logged(parameters["entry"])

    def result(self) -> PageEvents:
        return PageEvents(
            resources=tuple(self._resources.values()),
            resources_total=self._total,
            console=tuple(self._console.lines),
            console_total=self._console.total,
            notes=tuple(self._console.notes),
            documents=self._documents,
            failure=self._failure,
            download=self._download,
            media_type=self._document.get("mimeType"),
            status=self._document.get("status"),
        )

    def _request(self, parameters: dict[str, Any]) -> None:
        identity, request = parameters["requestId"], parameters["request"]
        if request["url"].startswith(_NOT_SENT):
            return
        if self._main_frame is None and parameters.get("type") == "Document":
            self._main_frame = parameters.get("frameId")
        redirect = parameters.get("redirectResponse")
        if redirect is not None and identity in self._resources:
            # A redirect keeps the request's id: keep the answer of this URL.
            self._resources[f"{identity}/{len(self._resources)}"] = _answered(
                self._resources.pop(identity), redirect
            )
        if self._is_main(parameters):
            self._documents += 1
            self._document_request = identity
        self._total += 1
        if len(self._resources) < MOST_RESOURCES:
            self._resources[identity] = Resource(
                url=request["url"][:_LONGEST_URL],
                status=None,
                media_type=None,
                kind=str(parameters.get("type", "Other")).lower(),
                failure=None,
            )

    def _is_main(self, parameters: dict[str, Any]) -> bool:
        return (
            parameters.get("type") == "Document"
            and parameters.get("frameId") == self._main_frame
            and parameters.get("loaderId") == parameters["requestId"]
        )

    def _response(self, parameters: dict[str, Any]) -> None:
        identity = parameters["requestId"]
        if identity in self._resources:
            self._resources[identity] = _answered(self._resources[identity], parameters["response"])
        if identity == self._document_request:
            self._document, self._failure = parameters["response"], None

    def _failed(self, parameters: dict[str, Any]) -> None:
        identity = parameters["requestId"]
        reason = parameters.get("blockedReason") or parameters.get("errorText") or "failed"
        if identity in self._resources:
            self._resources[identity] = replace(
                self._resources[identity], failure=str(reason)[:_LONGEST_LINE]
            )
        if identity == self._document_request:
            self._failure = str(reason)[:_LONGEST_LINE]

    def _called(self, parameters: dict[str, Any]) -> None:
        words = [str(a.get("value", a.get("description", ""))) for a in parameters.get("args", [])]
        line = " ".join(words)
        is_debug = parameters["type"] == "debug"
        if not self._console.is_note(line, is_debug=is_debug) and parameters["type"] in _ERRORS:
            self._console.say(f"console.{parameters['type']}: {line}")

    def _thrown(self, details: dict[str, Any]) -> None:
        said = details.get("exception", {}).get("description") or details.get("text", "")
        self._console.say(f"exception: {said}")

    def _logged(self, entry: dict[str, Any]) -> None:
        if entry.get("level") == "error":
            said = f"{entry.get('source')}: {entry.get('text')} {entry.get('url', '')}"
            self._console.say(said.rstrip())


def _answered(resource: Resource, response: dict[str, Any]) -> Resource:
    return replace(
        resource, status=response.get("status"), media_type=response.get("mimeType") or None
    )


class FirefoxFold:
    """Takes the events of one browsing context and its frames.

    Selenium delivers each event in a thread of its own: they may come in any order.
    """

    def __init__(self, context: str) -> None:
        self._context = context
        self._resources: dict[tuple[str, int], Resource] = {}
        self._total = 0
        self._console = _Console()
        self._documents: dict[tuple[str, int], tuple[int | None, str | None, str | None]] = {}
        self._download: str | None = None

    def take(self, method: str, parameters: dict[str, Any]) -> None:
        """Add an event."""
        if method == "log.entryAdded":
            self._logged(parameters)
        elif method == "browsingContext.downloadWillBegin":
            if parameters.get("context") == self._context:
                self._download = str(parameters.get("url"))[:_LONGEST_URL]
        else:
            self._requested(parameters)

    def result(self) -> PageEvents:
        last = max(self._documents, key=lambda key: key[1], default=None)
        status, media_type, failure = self._documents[last] if last else (None, None, None)
        return PageEvents(
            resources=tuple(self._resources.values()),
            resources_total=self._total,
            console=tuple(self._console.lines),
            console_total=self._console.total,
            notes=tuple(self._console.notes),
            documents=len(self._documents),
            failure=failure,
            download=self._download,
            media_type=media_type,
            status=status,
        )

    def _requested(self, parameters: dict[str, Any]) -> None:
        request = parameters["request"]
        url = str(request["url"])
        if url.startswith(_NOT_SENT):
            return
        # A redirect keeps the request's id.
        key = (str(request["request"]), int(parameters.get("redirectCount", 0)))
        known = self._resources.get(key)
        if known is None:
            self._total += 1
            if len(self._resources) >= MOST_RESOURCES:
                return
            kind = str(request.get("destination") or request.get("initiatorType") or "other")
            known = Resource(
                url=url[:_LONGEST_URL], status=None, media_type=None, kind=kind, failure=None
            )
        response = parameters.get("response")
        if response is not None:
            status, media_type = response.get("status"), _essence(response.get("mimeType"))
            known = replace(known, status=status, media_type=media_type)
        if "errorText" in parameters:
            known = replace(known, failure=str(parameters["errorText"])[:_LONGEST_LINE])
        self._resources[key] = known
        if parameters.get("navigation") and parameters.get("context") == self._context:
            self._documents[key] = (known.status, known.media_type, known.failure)

    def _logged(self, entry: dict[str, Any]) -> None:
        words = [str(argument.get("value", "")) for argument in entry.get("args", [])]
        line = " ".join(words) if words else str(entry.get("text", ""))
        is_debug = entry.get("method") == "debug"
        if not self._console.is_note(line, is_debug=is_debug) and entry.get("level") == "error":
            kind = "exception" if entry.get("type") == "javascript" else "console.error"
            self._console.say(f"{kind}: {line}")


def _essence(media_type: str | None) -> str | None:
    """Without parameters, as the other browsers report it."""
    return (media_type or "").partition(";")[0].strip().lower() or None
