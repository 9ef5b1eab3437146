"""What the review's server answers: to whom, with what, and what it refuses."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgi_client import Answer, Client
from review_scene import RUN, TOKEN, Review, result, reviewing, view, with_images, write_image

from pinakes.access.asgi_site import AsgiSite
from pinakes.access.page_site import BODY_BYTES
from pinakes.errors import StoreUnavailable
from pinakes.qa.review.judgement_rows import read_judgements
from pinakes.qa.review.site import HEADERS, ReviewSite
from pinakes.qa.snapshot import Outcome

EVIL = 'http://e.org/"><script>alert(1)</script>\u202egnp.exe\ud800\x00'
BODY = {"id": "a" * 32, "label": "reject", "faults": ["layout"], "note": "n"}


SCRIPTS = (
    *("elements.js", "listing.js", "pair.js", "stage.js", "saying.js", "summary.js", "review.js"),
)


class Asking:
    """A browser of a reviewer, with the token."""

    def __init__(self, site: ReviewSite) -> None:
        self._client = Client(AsgiSite(site, hosts=("localhost", "127.0.0.1"), headers=HEADERS))

    def get(self, path: str, name: str | None = "Ada", **headers: str) -> Answer:
        return self._client.get(path, headers=self._headers(name, headers))

    def post(
        self, path: str, body: object = BODY, name: str | None = "Ada", **headers: str
    ) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"X-Pinakes-Token": TOKEN, "Content-Type": "application/json", **headers}
        return self._client.open(path, "POST", data=data, headers=self._headers(name, given))

    @staticmethod
    def _headers(name: str | None, others: dict[str, str]) -> dict[str, str]:
        named = {"X-Pinakes-Reviewer": quote(name, safe="")} if name is not None else {}
        others = {key.replace("_", "-"): value for key, value in others.items() if value}
        return {"Host": "localhost", **named, **others}


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    results = [result(number) for number in range(100)]
    folder = tmp_path / RUN
    results[0] = with_images(folder, results[0], 0)
    results[1] = replace(
        results[1],
        url=EVIL + "a" * 2_000_000,
        reasons=(EVIL,) * 1000,
        features={EVIL: float("nan"), "b": float("inf")},
        reference=view(reasons=(EVIL,), outcome=Outcome.FAILED, image="../rows.sqlite"),
        other=view(
            "replay:current", missed=(EVIL,) * 10_000, image="f" * 64 + ".png", browser_version=EVIL
        ),
    )
    with reviewing(tmp_path, results) as made:
        yield made


@pytest.fixture
def ask(review: Review) -> Asking:
    return Asking(review.site)


def judge_path(review: Review, **given: Any) -> str:
    return f"/api/pairs/{review.one(**given).id}/judgements"


def saved(review: Review) -> int:
    return sum(len(read_judgements(review.rows, pair.key).judgements) for pair in review.pairs)


def test_the_page_and_all_it_loads_come_from_here(ask: Asking) -> None:
    page = ask.get("/", name=None).text
    places = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert places == ["/report.css", "/review.css", *(f"/{name}" for name in SCRIPTS)]
    kinds = [ask.get(place, name=None).mimetype for place in places]
    assert kinds == ["text/css"] * 2 + ["text/javascript"] * len(SCRIPTS)
    assert not re.search(r"<script(?! src=)|\son\w+=|style=|javascript:", page)
    assert TOKEN not in page


def test_no_answer_is_without_its_policy(review: Review, ask: Asking) -> None:
    image = review.pairs[0].judged.result.reference.image or next(
        p.judged.result.reference.image for p in review.pairs if p.judged.result.reference.image
    )
    for path in ("/", "/review.js", "/api/run", "/api/pairs", "/nothing", f"/image/{image}"):
        headers = ask.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["Content-Security-Policy"]
    policy = HEADERS["Content-Security-Policy"]
    assert {"script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} <= set(
        policy.split("; ")
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_writes_text_only(name: str) -> None:
    script = files("pinakes.qa.review").joinpath(name).read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(",
                         script)  # fmt: skip


def test_a_judgement_is_saved(review: Review, ask: Asking) -> None:
    pair = review.one()
    answer = ask.post(judge_path(review), name="Ådá ☃")
    assert answer.status_code == 200
    own = answer.json["own"]
    assert (own["author"], own["label"], own["faults"], own["at_ms"]) == (
        "Ådá ☃", "reject", ["layout"], review.clock.at_ms
    )  # fmt: skip
    again = ask.get(f"/api/pairs/{pair.id}", name="Ådá ☃").json
    assert again["own"] == own
    assert again["standing"] == "settled"
    assert ask.get("/api/run", name="ida").json["viewer"]["role"] == "lead"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"X_Pinakes_Token": ""}, 403, id="no token"),
        pytest.param({"X_Pinakes_Token": TOKEN + "x"}, 403, id="another token"),
        pytest.param({"X_Pinakes_Token": "é"}, 403, id="a token that is no ASCII"),
        pytest.param({"Origin": "http://evil.example"}, 403, id="another site"),
        pytest.param({"Origin": "null"}, 403, id="a page of nowhere"),
        pytest.param({"Origin": "http://localhost:1"}, 403, id="another port"),
        pytest.param({"Origin": "http://localhost.evil.example"}, 403, id="a name like ours"),
        pytest.param({"Origin": "http://[::1"}, 403, id="no origin at all"),
        pytest.param({"Sec_Fetch_Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"Sec_Fetch_Site": "same-site"}, 403, id="same-site"),
        pytest.param({"Content_Type": "text/plain"}, 415, id="a form's type"),
        pytest.param({"Host": "evil.example"}, 400, id="another name (DNS rebinding)"),
        pytest.param({"Host": "localhost", "Origin": "http://localhost",
                      "Sec_Fetch_Site": "same-origin"}, 200, id="our own page"),
        pytest.param({"Host": "127.0.0.1:9999", "Origin": "http://127.0.0.1:9999"}, 200,
                     id="a forwarded port"),
    ],
)  # fmt: skip
def test_who_may_write(review: Review, ask: Asking, headers: dict[str, str], status: int) -> None:
    given = {"Content_Type": "application/json", **headers}
    if "Content_Type" in headers or "X_Pinakes_Token" in headers:
        client = Client(review.site)
        answer = client.open(
            judge_path(review), "POST", data=json.dumps(BODY).encode(),
            headers={
                "Host": "localhost", "X-Pinakes-Reviewer": "Ada",
                "X-Pinakes-Token": headers.get("X_Pinakes_Token", TOKEN),
                "Content-Type": given["Content_Type"],
            },
        )  # fmt: skip
    else:
        answer = ask.post(judge_path(review), **headers)
    assert answer.status_code == status
    assert saved(review) == (status == 200)
    if status in (403, 415):
        assert status == 413 or answer.json["problem"]


def test_another_name_is_not_even_read(ask: Asking) -> None:
    assert ask.get("/api/pairs", Host="evil.example").status_code == 400
    assert ask.get("/", Host="evil.example").status_code == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"{", 400, id="no JSON"),
        pytest.param(b"\xff", 400, id="no UTF-8"),
        pytest.param(b"[" * 50_000, 400, id="deep"),
        pytest.param(b"[]", 400, id="no object"),
        pytest.param(b"x" * (BODY_BYTES + 1), 413, id="too large"),
        pytest.param({**BODY, "label": "good"}, 400, id="no label"),
        pytest.param({**BODY, "label": None}, 400, id="a label of another type"),
        pytest.param({**BODY, "faults": "layout"}, 400, id="faults of another type"),
        pytest.param({**BODY, "faults": [1]}, 400, id="a fault of another type"),
        pytest.param({**BODY, "faults": [["layout"]]}, 400, id="a fault in a list"),
        pytest.param({**BODY, "faults": ["ugly"]}, 400, id="no kind of fault"),
        pytest.param({**BODY, "label": "accept"}, 400, id="accepted, with a fault"),
        pytest.param({**BODY, "note": 1}, 400, id="a note of another type"),
        pytest.param({**BODY, "note": "x" * 4001}, 400, id="a long note"),
        pytest.param({**BODY, "id": "1"}, 400, id="a short id"),
        pytest.param({**BODY, "id": "a" * 32 + ".b"}, 400, id="no id"),
    ],
)
def test_what_is_no_judgement(review: Review, ask: Asking, body: object, status: int) -> None:
    answer = ask.post(judge_path(review), body)
    assert (answer.status_code, saved(review)) == (status, 0)
    assert status == 413 or answer.json["problem"]


@pytest.mark.parametrize("name", [None, "", " ", "a\u202e", "x" * 90, "x" * 9000])
def test_without_a_name_nobody_judges(review: Review, ask: Asking, name: str | None) -> None:
    assert ask.post(judge_path(review), name=name).status_code == 400
    assert saved(review) == 0


def test_an_unknown_pair(ask: Asking) -> None:
    assert ask.get("/api/pairs/0123456789abcdef").status_code == 404
    assert ask.post("/api/pairs/0123456789abcdef/judgements").status_code == 404


def test_the_same_id_for_something_else(review: Review, ask: Asking) -> None:
    path = judge_path(review)
    assert [ask.post(path).status_code for _ in range(2)] == [200, 200]
    assert ask.post(path, {**BODY, "label": "unsure"}).status_code == 409
    assert saved(review) == 1


@pytest.mark.parametrize("method", ["get_rows", "mutate"])
def test_a_store_that_is_lost_is_said(review: Review, ask: Asking, method: str) -> None:
    rows = review.board._rows

    class Lost:
        def __getattr__(self, name: str) -> Any:
            if name == method:
                raise StoreUnavailable("the store is away")
            return getattr(rows, name)

    review.board._rows = Lost()  # type: ignore[assignment]
    answer = ask.post(judge_path(review))
    assert (answer.status_code, answer.json["problem"]) == (503, "the store is away")


def test_images_are_those_of_the_run(review: Review, ask: Asking, tmp_path: Path) -> None:
    names = {v.image for p in review.pairs for v in (p.judged.result.reference,) if v.image}
    [name] = [name for name in names if name.endswith(".png")]
    answer = ask.get(f"/image/{name}", name=None)
    assert (answer.status_code, answer.mimetype) == (200, "image/png")
    assert answer.data == (review.folder / name).read_bytes()
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    other = write_image(review.folder, b"of another run")
    for path in (
        other, "f" * 64 + ".png", "pairs.jsonl", "../rows.sqlite", "..%2f..%2fetc%2fpasswd",
        "%2e%2e/pairs.jsonl", "/etc/passwd", f"{name}/", name.upper(), f"{name}%00",
    ):  # fmt: skip
        assert ask.get(f"/image/{path}").status_code == 404, path


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_no_image(review: Review, ask: Asking, kind: str) -> None:
    path = review.folder / ("f" * 64 + ".png")
    make: dict[str, Callable[[], object]] = {
        "link": lambda: path.symlink_to("/etc/passwd"),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    make[kind]()
    assert ask.get(f"/image/{path.name}").status_code == 404


def test_hostile_text_is_escaped_and_bounded(review: Review, ask: Asking) -> None:
    [pair] = [one for one in review.pairs if one.judged.result.url.startswith(EVIL)]
    answer = ask.get(f"/api/pairs/{pair.id}", name="Ida")
    assert len(answer.data) < 200_000
    assert answer.data.isascii()
    said = answer.json
    assert said["url"].startswith(
        'http://e.org/"><script>alert(1)</script>\\u202egnp.exe\\ud800\\u0000aaa'
    )
    assert said["url"].endswith("more characters")
    assert said["reasons"][-1] == "… and 950 more"
    assert said["other"]["missed"][-1] == "… and 9,950 more"
    assert said["reference"]["image"] is None
    assert set(said["features"].values()) == {None}
    listed = ask.get("/api/pairs?limit=200").data
    assert len(listed) < 100_000
    assert b"\\u202e" not in listed.replace(b"\\\\u202e", b"")
    assert ask.get("/api/run").status_code == 200


def test_a_list_comes_in_parts(ask: Asking) -> None:
    parts = [ask.get(f"/api/pairs?offset={offset}&limit=40").json for offset in (0, 40, 80, 120)]
    assert [len(part["pairs"]) for part in parts] == [40, 40, 20, 0]
    assert {part["total"] for part in parts} == {100}
    assert len({one["id"] for part in parts for one in part["pairs"]}) == 100
    assert len(ask.get("/api/pairs?offset=-5&limit=0").json["pairs"]) == 1
    assert len(ask.get("/api/pairs?offset=x&limit=9999").json["pairs"]) == 100
    assert ask.get("/api/pairs?state=x").status_code == 400


def test_the_summary_and_a_sign_off(review: Review, ask: Asking) -> None:
    body = {"id": "b" * 32, "state": "to patch", "note": "three maps"}
    assert ask.post("/api/signoffs", body).status_code == 400  # Ada is no lead
    assert ask.post("/api/signoffs", {**body, "state": "fine"}, name="Ida").status_code == 400
    assert ask.post("/api/signoffs", body, name="Ida", Origin="http://evil").status_code == 403
    assert ask.get("/api/summary").json["signoffs"] == []
    assert ask.post("/api/signoffs", body, name="Ida").json["author"] == "Ida"
    figures = ask.get("/api/summary", name=None).json
    [signed] = figures["signoffs"]
    assert (signed["state"], signed["note"], signed["at_ms"]) == (
        "to patch", "three maps", review.clock.at_ms
    )  # fmt: skip
    assert figures["pairs"] == 100
    assert figures["estimates"][0]["wanting"] == (
        "0 reviewed pairs count; 50 are needed; 50 of 50 alarms are not settled; "
        "none of the similar pairs has been audited"
    )


@pytest.mark.parametrize(
    ("path", "method"), [("/", "POST"), ("/api/signoffs", "GET"), ("/api/pairs", "DELETE")]
)
def test_other_methods_are_refused(review: Review, path: str, method: str) -> None:
    answer = Client(review.site).open(path, method=method, headers={"Host": "localhost"})
    assert answer.status_code == 405
    assert answer.allow


def test_the_machines_verdict_does_not_leave_the_server_where_it_is_hidden(
    review: Review, ask: Asking
) -> None:
    pair = review.one(judgements_needed=2, hides=True)
    verdict = pair.judged.result.verdict.value
    said = ask.get(f"/api/pairs/{pair.id}")
    assert verdict not in said.text
    assert (said.json["confidence"], said.json["reasons"], said.json["changes"]) == (None, [], [])
    [listed] = [
        one for one in ask.get("/api/pairs?limit=200").json["pairs"] if one["id"] == pair.id
    ]
    assert verdict not in json.dumps(listed)
    assert ask.post(f"/api/pairs/{pair.id}/judgements").json["verdict"] == verdict
