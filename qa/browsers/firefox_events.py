"""What Firefox's WebDriver BiDi events say about a page: a fold over them, pure.

Modules network, log and browsingContext of WebDriver BiDi.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pinakes.qa.browsers.chromium_events import (
    LONGEST_LINE,
    LONGEST_URL,
    MOST_LINES,
    MOST_RESOURCES,
    NOTE,
)
from pinakes.qa.browsers.tab import PageEvents
from pinakes.qa.snapshot import Resource

KEPT = frozenset(
    {
        "browsingContext.downloadWillBegin",
        "log.entryAdded",
        "network.beforeRequestSent",
        "network.fetchError",
        "network.responseCompleted",
    }
)


class FirefoxFold:
    """Takes the events of one browsing context and its frames.

    Selenium delivers each event in a thread of its own: they may come in any order.
    """

    def __init__(self, context: str) -> None:
        self._context = context
        self._resources: dict[tuple[str, int], Resource] = {}
        self._total = 0
        self._console: list[str] = []
        self._console_total = 0
        self._notes: list[str] = []
        self._documents: dict[tuple[str, int], tuple[int | None, str | None, str | None]] = {}
        self._download: str | None = None

    def take(self, method: str, parameters: dict[str, Any]) -> None:
        """Add an event."""
        if method == "log.entryAdded":
            self._logged(parameters)
        elif method == "browsingContext.downloadWillBegin":
            if parameters.get("context") == self._context:
                self._download = str(parameters.get("url"))[:LONGEST_URL]
        else:
            self._requested(parameters)

    def result(self) -> PageEvents:
        last = max(self._documents, key=lambda key: key[1], default=None)
        status, media_type, failure = self._documents[last] if last else (None, None, None)
        return PageEvents(
            resources=tuple(self._resources.values()),
            resources_total=self._total,
            console=tuple(self._console),
            console_total=self._console_total,
            notes=tuple(self._notes),
            documents=len(self._documents),
            failure=failure,
            download=self._download,
            media_type=media_type,
            status=status,
        )

    def _requested(self, parameters: dict[str, Any]) -> None:
        request = parameters["request"]
        url = str(request["url"])
        if url.startswith(("data:", "blob:", "about:")):
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
                url=url[:LONGEST_URL], status=None, media_type=None, kind=kind, failure=None
            )
        response = parameters.get("response")
        if response is not None:
            status, media_type = response.get("status"), _essence(response.get("mimeType"))
            known = replace(known, status=status, media_type=media_type)
        if "errorText" in parameters:
            known = replace(known, failure=str(parameters["errorText"])[:LONGEST_LINE])
        self._resources[key] = known
        if parameters.get("navigation") and parameters.get("context") == self._context:
            self._documents[key] = (known.status, known.media_type, known.failure)

    def _logged(self, entry: dict[str, Any]) -> None:
        words = [str(argument.get("value", "")) for argument in entry.get("args", [])]
        line = " ".join(words) if words else str(entry.get("text", ""))
        if entry.get("method") == "debug" and line.startswith(NOTE):
            self._notes += [line[len(NOTE) :]] if len(self._notes) < MOST_LINES else []
        elif entry.get("level") == "error":
            self._console_total += 1
            kind = "exception" if entry.get("type") == "javascript" else "console.error"
            if len(self._console) < MOST_LINES:
                self._console.append(f"{kind}: {line}"[:LONGEST_LINE])


def _essence(media_type: str | None) -> str | None:
    """Without parameters, as the other browsers report it."""
    return (media_type or "").partition(";")[0].strip().lower() or None
