"""An access system looked at: its captures under original URLs, its leaks refused and named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import comparing  # noqa: F401
import pytest
from asking import AskingBrowser
from browsing import Client
from scripted_server import Script, ScriptedServer, answer, scripted

from pinakes.qa.replay.certificates import Authority
from pinakes.qa.snapshot import Outcome, Snapshot
from pinakes.qa.views.access import AccessSide, access_session, under_original_urls
from pinakes.qa.views.access_urls import AccessUrls
from pinakes.qa.views.side import Side

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
AT = "/c/20200102030405"
CAPTURED = {"Memento_Datetime": "Thu, 02 Jan 2020 03:04:05 GMT"}
PAGE = "http://a.org/page"


def html(text: str, status: str = "200 OK") -> bytes:
    return answer(text.encode(), status, Content_Type="text/html", **CAPTURED)


@contextmanager
def access(
    scripts: dict[str, Script],
) -> Iterator[tuple[AccessSide, AskingBrowser, ScriptedServer]]:
    authority = Authority()
    with scripted(scripts) as server:
        urls = AccessUrls(f"{server.url}/c")
        session = access_session(urls, authority)
        browser = AskingBrowser(Client(session.port, authority.ca_file))
        try:
            yield AccessSide(urls, session, browser), browser, server
        finally:
            session.close()
            authority.close()


def test_a_page_is_seen_under_original_urls(tmp_path: Path) -> None:
    picture, sheet = b"\x89PNG picture", b"p { }"
    scripts: dict[str, Script] = {
        f"{AT}mp_/{PAGE}": html(f"<img src={AT}im_/http://a.org/1.png> <a href={AT}cs_/http://a.org/s.css>"),
        f"{AT}im_/http://a.org/1.png": answer(picture, Content_Type="image/png", **CAPTURED),
        f"{AT}cs_/http://a.org/s.css": answer(sheet, Content_Type="text/css", **CAPTURED),
    }  # fmt: skip
    with access(scripts) as (side, browser, server):
        as_side: Side = side
        looked = as_side.visit(PAGE, MOMENT, tmp_path)
        assert side.kind == f"access:{server.url}/c"
        assert side.browser == "asking"
        assert browser.pins[0].clock == MOMENT
    snapshot = looked.loaded.snapshot
    assert (snapshot.url, snapshot.final_url, snapshot.outcome) == (PAGE, PAGE, Outcome.COMPLETE)
    assert snapshot.reasons == ()
    assert [r.url for r in snapshot.resources] == [PAGE, "http://a.org/1.png", "http://a.org/s.css"]
    assert looked.log is not None
    assert [(e.outcome, e.url) for e in looked.log.exchanges] == [
        ("hit", PAGE),
        ("hit", "http://a.org/1.png"),
        ("hit", "http://a.org/s.css"),
    ]
    # Of what the access system rewrites, other bytes say nothing.
    digest = f"sha256:{hashlib.sha256(picture).hexdigest()}"
    assert looked.loaded.payloads == {"http://a.org/1.png": digest}


def test_what_leaks_to_the_live_web_is_refused_and_named(tmp_path: Path) -> None:
    leaks = ["http://a.org/live.png", "https://cdn.example/x.js", "http://127.0.0.1:9/other-port"]
    page = html("".join(f"<img src={leak}>" for leak in leaks))
    with access({f"{AT}mp_/{PAGE}": page}) as (side, browser, server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
        assert [said.status for said in browser.said] == [200, 403, 403, 403]
        assert len(server.asked) == 1
    assert looked.log is not None
    assert [e.url for e in looked.log.faults] == leaks
    assert all("leak to the live web" in (e.problem or "") for e in looked.log.faults)
    assert looked.loaded.snapshot.reasons == (f"leaks to the live web: 3: {', '.join(leaks)}",)
    assert looked.loaded.snapshot.outcome is Outcome.COMPLETE


def test_a_redirect_out_of_the_prefix_is_a_leak(tmp_path: Path) -> None:
    away = answer(b"", "302 Found", Location="http://a.org/live", **CAPTURED)
    with access({f"{AT}mp_/{PAGE}": away}) as (side, _, _server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
    assert looked.log is not None
    assert [e.url for e in looked.log.faults] == ["http://a.org/live"]
    assert looked.loaded.snapshot.reasons == ("leaks to the live web: 1: http://a.org/live",)


def test_a_redirect_to_the_capture_closest_in_time_is_none(tmp_path: Path) -> None:
    closest = f"/c/20200101000000mp_/{PAGE}"
    scripts: dict[str, Script] = {
        f"{AT}mp_/{PAGE}": answer(b"", "302 Found", Location=closest),
        closest: html("words"),
    }
    with access(scripts) as (side, _, _server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
    snapshot = looked.loaded.snapshot
    assert (snapshot.outcome, snapshot.final_url, snapshot.reasons) == (Outcome.COMPLETE, PAGE, ())


@pytest.mark.parametrize(
    ("script", "outcome", "reason"),
    [
        (answer(b"no", "404 Not Found"), "miss", "the access system does not have the page"),
        (answer(b"no", "500 Oh"), "fault", "the access system returned 500"),
        (b"", "fault", "the server's header has no end"),
    ],
    ids=["none", "error", "silent"],
)
def test_a_page_that_is_not_there(script: bytes, outcome: str, reason: str, tmp_path: Path) -> None:
    with access({f"{AT}mp_/{PAGE}": script}) as (side, _, _server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
    assert looked.log is not None
    assert [e.outcome for e in looked.log.exchanges] == [outcome]
    assert looked.loaded.snapshot.outcome is Outcome.FAILED
    assert looked.loaded.snapshot.reasons == (reason,)


def test_an_error_that_was_captured_is_a_page(tmp_path: Path) -> None:
    with access({f"{AT}mp_/{PAGE}": html("gone", "404 Not Found")}) as (side, _, _server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
    assert looked.log is not None
    assert [(e.outcome, e.status) for e in looked.log.exchanges] == [("hit", 404)]
    assert looked.loaded.snapshot.outcome is Outcome.COMPLETE


def test_what_was_not_rewritten_and_stays_within_is_a_fault(tmp_path: Path) -> None:
    page = html("<img src=/picture.png> <a href=/static/own.css> <a href=/favicon.ico>")
    scripts: dict[str, Script] = {f"{AT}mp_/{PAGE}": page, "/static/own.css": answer(b"p {}")}
    with access(scripts) as (side, _, server):
        looked = side.visit(PAGE, MOMENT, tmp_path)
    assert looked.log is not None
    assert [(e.outcome, e.url.removeprefix(server.url)) for e in looked.log.exchanges] == [
        ("hit", PAGE),
        ("fault", "/picture.png"),
        ("hit", "/static/own.css"),
        ("refused", "/favicon.ico"),
    ]
    assert looked.log.faults[0].problem == "URL not rewritten; the access system returned 404"


def test_bytes_that_may_have_been_decoded_prove_nothing(tmp_path: Path) -> None:
    coded = answer(b"x", Content_Type="image/png", Content_Encoding="gzip", **CAPTURED)
    drawn = answer(b"<svg/>", Content_Type="image/svg+xml", **CAPTURED)
    own = answer(b"banner", Content_Type="image/png")
    scripts: dict[str, Script] = {
        f"{AT}mp_/{PAGE}": html(f"<img src={AT}im_/http://a.org/1><img src={AT}im_/http://a.org/2>"
                                "<img src=/static/logo.png>"),
        f"{AT}im_/http://a.org/1": coded, f"{AT}im_/http://a.org/2": drawn,
        "/static/logo.png": own,
    }  # fmt: skip
    with access(scripts) as (side, _, _server):
        assert side.visit(PAGE, MOMENT, tmp_path).loaded.payloads == {}


def test_a_browser_that_dies_ends_the_page_all_the_same(tmp_path: Path) -> None:
    with access({f"{AT}mp_/{PAGE}": html("words")}) as (side, browser, _):
        capture = browser.capture

        def dies(*_: object, **__: object) -> Snapshot:
            raise KeyboardInterrupt

        browser.capture = dies  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            side.visit(PAGE, MOMENT, tmp_path)
        browser.capture = capture  # type: ignore[method-assign]
        assert side.visit(PAGE, MOMENT, tmp_path).loaded.snapshot.outcome is Outcome.COMPLETE


def test_everything_in_a_snapshot_that_names_a_url_is_mapped() -> None:
    from pinakes.qa.snapshot import Frame, Media, Pictures, Rect

    urls = AccessUrls("http://w.example/c")
    rewritten = urls.address("http://a.org/x", MOMENT)
    box = Rect(x=0, y=0, width=1, height=1)
    snapshot = Snapshot(
        url=rewritten, browser="b", browser_version="1", taken=MOMENT, clock=None, seed=None,
        outcome=Outcome.COMPLETE, viewport_width=1, viewport_height=1, final_url=None,
        frames=(Frame(url=rewritten, rect=box, readable=True, text_length=1),),
        media=(Media(tag="video", url=rewritten, ready_state=0, network_state=0, error=None,
                     duration_s=None, width=1, height=1),),
        pictures=Pictures(total=1, zero_size=0, broken=1, broken_urls=(rewritten,)),
    )  # fmt: skip
    mapped = under_original_urls(snapshot, "http://a.org/x", urls)
    assert "w.example" not in repr(mapped)
    assert mapped.final_url is None
