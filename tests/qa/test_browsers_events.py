"""What browsers' events say of a page: a table of what was recorded, and what it means."""

from __future__ import annotations

from typing import Any

import pytest

from pinakes.qa.browsers.page_events import MOST_LINES, MOST_RESOURCES, ChromiumFold, FirefoxFold
from pinakes.qa.browsers.tab import PageEvents
from pinakes.qa.snapshot import Resource

URL = "http://a.example/"


def of_chromium(*events: tuple[str, dict[str, Any]]) -> PageEvents:
    fold = ChromiumFold()
    fold.take(events)
    return fold.result()


def asked(
    url: str = URL, *, identity: str = "1", kind: str = "Document", **more: object
) -> tuple[str, dict[str, Any]]:
    parameters = {"requestId": identity, "loaderId": "1", "frameId": "f", "type": kind}
    return "Network.requestWillBeSent", {**parameters, "request": {"url": url}, **more}


def answered(
    identity: str = "1", status: int = 200, media_type: str = "text/html"
) -> tuple[str, dict[str, Any]]:
    response = {"status": status, "mimeType": media_type}
    return "Network.responseReceived", {"requestId": identity, "response": response}


def failed(identity: str = "1", text: str = "net::ERR_FAILED") -> tuple[str, dict[str, Any]]:
    return "Network.loadingFailed", {"requestId": identity, "errorText": text}


def said(kind: str, text: object) -> tuple[str, dict[str, Any]]:
    return "Runtime.consoleAPICalled", {"type": kind, "args": [{"value": text}]}


def resource(url: str = URL, status: int | None = 200, **more: Any) -> Resource:
    usual = {"media_type": "text/html" if status else None, "kind": "document", "failure": None}
    return Resource(url=url, status=status, **{**usual, **more})


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((), PageEvents()),
        (
            (asked(), answered()),
            PageEvents(
                resources=(resource(),),
                resources_total=1,
                documents=1,
                status=200,
                media_type="text/html",
            ),
        ),
        (
            (asked(), failed()),
            PageEvents(
                resources=(resource(status=None, failure="net::ERR_FAILED"),),
                resources_total=1,
                documents=1,
                failure="net::ERR_FAILED",
            ),
        ),
        (
            (asked(), answered(), asked(identity="2", kind="Image"), answered("2", 404, "")),
            PageEvents(
                resources=(resource(), resource(status=404, media_type=None, kind="image")),
                resources_total=2,
                documents=1,
                status=200,
                media_type="text/html",
            ),
        ),
        (
            (
                asked(),
                asked("http://b.example/", redirectResponse={"status": 302, "mimeType": ""}),
                answered(),
            ),
            PageEvents(
                resources=(
                    resource(status=302, media_type=None),
                    resource("http://b.example/"),
                ),
                resources_total=2,
                documents=2,
                status=200,
                media_type="text/html",
            ),
        ),
        (
            (asked(), asked(identity="2", frameId="inner", loaderId="2"), failed("2")),
            PageEvents(
                resources=(
                    resource(status=None),
                    resource(status=None, failure="net::ERR_FAILED"),
                ),
                resources_total=2,
                documents=1,
            ),
        ),
        ((asked("data:,x"), asked("blob:x", identity="2")), PageEvents()),
        ((failed("unheard"), answered("unheard")), PageEvents()),
        (
            (("Page.downloadWillBegin", {"url": URL}),),
            PageEvents(download=URL),
        ),
        (
            (said("error", "bad"), said("log", "fine"), said("debug", "pinakes:close:")),
            PageEvents(console=("console.error: bad",), console_total=1, notes=("close:",)),
        ),
        (
            (
                (
                    "Runtime.exceptionThrown",
                    {"exceptionDetails": {"text": "Uncaught", "exception": {}}},
                ),
            ),
            PageEvents(console=("exception: Uncaught",), console_total=1),
        ),
    ],
    ids=[
        "nothing",
        "a-page",
        "a-failure",
        "a-missing-image",
        "a-redirect",
        "a-frame-that-fails",
        "no-addresses",
        "unheard-of",
        "a-download",
        "console",
        "exception",
    ],
)
def test_chromium_tells(events: tuple[tuple[str, dict[str, Any]], ...], told: PageEvents) -> None:
    assert of_chromium(*events) == told


def test_a_page_that_asks_and_says_without_end_is_bounded() -> None:
    many = [asked(f"{URL}{n}", identity=str(n), kind="Fetch") for n in range(MOST_RESOURCES + 9)]
    lines = [said("error", "x" * 5_000) for _ in range(MOST_LINES + 9)]
    notes = [said("debug", "pinakes:popup:x") for _ in range(MOST_LINES + 9)]
    told = of_chromium(*many, *lines, *notes)
    assert (len(told.resources), told.resources_total) == (MOST_RESOURCES, MOST_RESOURCES + 9)
    assert (len(told.console), told.console_total) == (MOST_LINES, MOST_LINES + 9)
    assert max(map(len, told.console)) < 1_000
    assert len(told.notes) == MOST_LINES


def network(
    url: str = URL, *, number: str = "1", context: str = "c", redirects: int = 0, **more: object
) -> dict[str, Any]:
    request = {"request": number, "url": url, "destination": "document"}
    return {"request": request, "context": context, "redirectCount": redirects, **more}


DOCUMENT = {"navigation": "n"}
HTML = {"response": {"status": 200, "mimeType": "text/html; charset=UTF-8"}}
MOVED = {"response": {"status": 301, "mimeType": ""}}


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (
            [
                ("network.beforeRequestSent", network(**DOCUMENT)),
                ("network.responseCompleted", network(**DOCUMENT, **HTML)),
            ],
            PageEvents(
                resources=(resource(),),
                resources_total=1,
                documents=1,
                status=200,
                media_type="text/html",
            ),
        ),
        (
            [
                # As threads hand them over: the later first.
                ("network.responseCompleted", network(URL + "b", redirects=1, **DOCUMENT, **HTML)),
                ("network.responseCompleted", network(**DOCUMENT, **MOVED)),
            ],
            PageEvents(
                resources=(resource(URL + "b"), resource(status=301, media_type=None)),
                resources_total=2,
                documents=2,
                status=200,
                media_type="text/html",
            ),
        ),
        (
            [("network.fetchError", network(errorText="NS_ERROR", **DOCUMENT))],
            PageEvents(
                resources=(resource(status=None, failure="NS_ERROR"),),
                resources_total=1,
                documents=1,
                failure="NS_ERROR",
            ),
        ),
        (
            [("network.fetchError", network(context="frame", errorText="NS_ERROR", **DOCUMENT))],
            PageEvents(resources=(resource(status=None, failure="NS_ERROR"),), resources_total=1),
        ),
        (
            [
                ("browsingContext.downloadWillBegin", {"context": "another", "url": "x"}),
                ("browsingContext.downloadWillBegin", {"context": "c", "url": URL}),
            ],
            PageEvents(download=URL),
        ),
        (
            [
                ("log.entryAdded", {"level": "error", "type": "javascript", "text": "no x"}),
                (
                    "log.entryAdded",
                    {"level": "debug", "method": "debug", "args": [{"value": "pinakes:close:"}]},
                ),
                ("log.entryAdded", {"level": "info", "text": "fine"}),
            ],
            PageEvents(console=("exception: no x",), console_total=1, notes=("close:",)),
        ),
    ],
    ids=["a-page", "a-redirect", "a-failure", "a-frame-that-fails", "a-download", "log"],
)
def test_firefox_tells(events: list[tuple[str, dict[str, Any]]], told: PageEvents) -> None:
    fold = FirefoxFold("c")
    for method, parameters in events:
        fold.take(method, parameters)
    assert fold.result() == told


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (
            {"source": "console-api", "level": "DEBUG", "message": 'http://a/ 1:2 "pinakes:x"'},
            {"type": "debug", "args": [{"value": "pinakes:x"}]},
        ),
        (
            {"source": "console-api", "level": "SEVERE", "message": 'http://a/ 1:2 {"half'},
            {"type": "error", "args": [{"value": 'http://a/ 1:2 {"half'}]},
        ),
        (
            {"source": "javascript", "level": "SEVERE", "message": "http://a/ 1:2 Uncaught"},
            {
                "entry": {
                    "level": "error",
                    "source": "javascript",
                    "text": "http://a/ 1:2 Uncaught",
                }
            },
        ),
    ],
    ids=["a-note", "no-string", "an-exception"],
)
def test_lines_of_the_drivers_log_are_events(line: dict[str, Any], event: dict[str, Any]) -> None:
    pytest.importorskip("selenium")
    from pinakes.qa.browsers.chromium_driver import as_event

    assert as_event(line)[1] == event
