"""`pinakes qa run` with sides of tests: what ends a run, what does not, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import comparing  # noqa: F401
import pytest
from scenes import Scene

from pinakes.cli import main
from pinakes.errors import DigestMismatch, MalformedRecord, StoreUnavailable
from pinakes.profile import Stores
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.judging.model import encode_model, load_model
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import RunPlan
from pinakes.qa.snapshot import Outcome, Snapshot
from pinakes.qa.views.side import Visit

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
PAGES = 12
At = Callable[[str], None]


class Shown:
    """A side that shows nothing; before it does it has `at` called with the URL."""

    browser = "chromium"

    def __init__(self, kind: str, at: At) -> None:
        self.kind = kind
        self._at = at

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        self._at(url)
        snapshot = Snapshot(
            url=url, browser="chromium", browser_version="1", seed=None, clock=None, taken=NOW,
            outcome=Outcome.COMPLETE, viewport_width=1, viewport_height=1,
        )  # fmt: skip
        return Visit(LoadedSnapshot(snapshot=snapshot, pixels=None), None, 1)


def url(number: int) -> str:
    return f"http://example.org/{number}"


@pytest.fixture
def at(landed: Scene, monkeypatch: pytest.MonkeyPatch) -> dict[str, At]:
    """What happens at a page, by its URL; the store has both crawls."""
    monkeypatch.setenv("PINAKES_STORE", str(landed.folder / "store"))
    monkeypatch.chdir(landed.folder)
    happens: dict[str, At] = {}

    @contextmanager
    def open_judge(plan: RunPlan, stores: Stores, folder: Path) -> Iterator[PageJudge]:
        def at(url: str) -> None:
            happens.get(url, lambda _: None)(url)

        sides = [Shown(f"replay:{generation}", at) for generation in ("before", "current")]
        yield PageJudge(sides, folder, run=plan.run)

    monkeypatch.setattr("pinakes.qa.run.page_workers.open_judge", open_judge)
    return happens


def raising(error: Exception) -> At:
    def at(_: str) -> None:
        raise error

    return at


def judged(folder: str = "qa") -> set[str]:
    lines = (Path(folder) / "pairs.jsonl").read_bytes().splitlines()
    return {json.loads(line)["url"] for line in lines}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("error", [MalformedRecord, DigestMismatch])
def test_a_page_that_is_damaged_is_named_and_those_behind_it_are_looked_at(
    error: type[MalformedRecord], jobs: str, at: dict[str, At], capsys: pytest.CaptureFixture[str]
) -> None:
    at[url(3)] = raising(error("not what was kept", file="x.png"))
    asked = ["qa", "run", "c1", "-o", "qa", "-j", jobs]
    assert main(asked) == 3
    assert f"{url(3)}: x.png: not what was kept" in capsys.readouterr().err
    assert judged() == {url(number) for number in range(PAGES) if number != 3}
    del at[url(3)]
    assert main(asked) == 0
    assert judged() == {url(number) for number in range(PAGES)}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_store_that_is_away_ends_the_run(
    jobs: str, at: dict[str, At], capsys: pytest.CaptureFixture[str]
) -> None:
    at[url(3)] = raising(StoreUnavailable("no datanode has it"))
    assert main(["qa", "run", "c1", "-o", "qa", "-j", jobs]) == 4
    assert "no datanode has it" in capsys.readouterr().err


def test_what_is_missing_is_named_beside_what_is_lost(
    at: dict[str, At], capsys: pytest.CaptureFixture[str]
) -> None:
    at[url(3)] = raising(MalformedRecord("damaged"))
    Path("urls").write_text(f"{url(2)}\n{url(3)}\n{url(99)}\n")
    assert main(["qa", "run", "c1", "-o", "qa", "--urls", "urls"]) == 3
    said = capsys.readouterr().err
    assert f"{url(3)}: damaged" in said
    assert f"{url(99)}: the crawl c1 has no such page" in said


OWN = load_model("same-browser")
FOREIGN = replace(OWN, features=("hue_of_it", *OWN.features[1:]))
RENAMED = replace(OWN, name="third-browser")


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        ([FOREIGN], "0.json: the model needs features that this version does not have: hue_of_it"),
        ([RENAMED], "unknown model name third-browser"),
        (
            [OWN, replace(OWN, version="2")],
            "only one model of each name, given: same-browser, same-",
        ),
    ],
    ids=["feature", "name", "twice"],
)
def test_a_model_that_cannot_judge_is_refused_before_the_run(
    models: list[object], reason: str, at: dict[str, At], capsys: pytest.CaptureFixture[str]
) -> None:
    words = []
    for number, model in enumerate(models):
        Path(f"{number}.json").write_bytes(encode_model(model))  # type: ignore[arg-type]
        words += ["--model", f"{number}.json"]
    assert main(["qa", "run", "c1", "-o", "qa", *words]) == 2
    assert reason in capsys.readouterr().err
    assert not Path("qa", "run.json").exists()


def test_a_model_of_ones_own_is_kept_as_it_is_written(at: dict[str, At]) -> None:
    encoded = encode_model(OWN).decode()
    Path("own.json").write_text(encoded)
    assert main(["qa", "run", "c1", "-o", "qa", "--model", "own.json"]) == 0
    assert json.loads(Path("qa", "run.json").read_text())["plan"]["models"] == [encoded]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--mask", "a"], "'a' is not X,Y,WIDTH,HEIGHT in pixels"),
        (["--mask", "1,2,3"], "'1,2,3' is not X,Y,WIDTH,HEIGHT in pixels"),
        (["--mask", "0,0,0,50"], "'0,0,0,50' is empty"),
        (["--mask", "0,0,50,-1"], "'0,0,50,-1' is empty"),
        (["-o", "file"], "file is not a folder"),
    ],
)
def test_wrong_words_are_refused_with_a_reason(
    words: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert main(["qa", "run", "c1", "-o", "qa", *words]) == 2
    assert reason in capsys.readouterr().err
