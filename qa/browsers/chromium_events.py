"""What Chromium's DevTools events say about a page: a fold over them, pure.

Domains Network, Page, Runtime and Log of the Chrome DevTools protocol.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pinakes.qa.browsers.tab import PageEvents
from pinakes.qa.snapshot import Resource

KEPT = frozenset(
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
NOTE = "pinakes:"
MOST_RESOURCES = 2_000
MOST_LINES = 200
LONGEST_URL = 2_000
LONGEST_LINE = 500


class PageFold:
    """Takes events in order; `result` is what they say so far."""

    def __init__(self) -> None:
        self._resources: dict[str, Resource] = {}
        self._total = 0
        self._console: list[str] = []
        self._console_total = 0
        self._notes: list[str] = []
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
                    self._download = str(parameters.get("url"))[:LONGEST_URL]
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
            console=tuple(self._console),
            console_total=self._console_total,
            notes=tuple(self._notes),
            documents=self._documents,
            failure=self._failure,
            download=self._download,
            media_type=self._document.get("mimeType"),
            status=self._document.get("status"),
        )

    def _request(self, parameters: dict[str, Any]) -> None:
        identity, request = parameters["requestId"], parameters["request"]
        if request["url"].startswith(("data:", "blob:", "about:")):
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
                url=request["url"][:LONGEST_URL],
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
            before = self._resources[identity]
            self._resources[identity] = Resource(
                url=before.url,
                status=before.status,
                media_type=before.media_type,
                kind=before.kind,
                failure=str(reason)[:LONGEST_LINE],
            )
        if identity == self._document_request:
            self._failure = str(reason)[:LONGEST_LINE]

    def _called(self, parameters: dict[str, Any]) -> None:
        words = [str(a.get("value", a.get("description", ""))) for a in parameters.get("args", [])]
        line = " ".join(words)
        if parameters["type"] == "debug" and line.startswith(NOTE):
            self._notes += [line[len(NOTE) :]] if len(self._notes) < MOST_LINES else []
        elif parameters["type"] in {"error", "assert"}:
            self._say(f"console.{parameters['type']}: {line}")

    def _thrown(self, details: dict[str, Any]) -> None:
        said = details.get("exception", {}).get("description") or details.get("text", "")
        self._say(f"exception: {said}")

    def _logged(self, entry: dict[str, Any]) -> None:
        if entry.get("level") == "error":
            self._say(f"{entry.get('source')}: {entry.get('text')} {entry.get('url', '')}".rstrip())

    def _say(self, line: str) -> None:
        self._console_total += 1
        if len(self._console) < MOST_LINES:
            self._console.append(line[:LONGEST_LINE])


def _answered(resource: Resource, response: dict[str, Any]) -> Resource:
    return Resource(
        url=resource.url,
        status=response.get("status"),
        media_type=response.get("mimeType") or None,
        kind=resource.kind,
        failure=resource.failure,
    )
