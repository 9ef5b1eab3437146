"""`pinakes qa review` as a command."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from review_process import Serving, command, serving
from review_scene import RUN, pairs_of, result, rows_in, write_run, write_sample
from verbs_here import call_here

from pinakes.qa.result_rows import put_results

pytestmark = pytest.mark.slow
TIMEOUT_S = 300
RESULTS = [result(number) for number in range(20)]
PAIR = next(pair for pair in pairs_of(RESULTS) if pair.judgements_needed == 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path / RUN, RESULTS)
    with rows_in(tmp_path / "store") as rows:
        put_results(rows, RESULTS, act_time_ms=1)
    return tmp_path


def ask(server: Serving, path: str, body: object = None, token: str | None = None) -> object:
    request = urllib.request.Request(
        server.address + path,
        data=json.dumps(body).encode() if body is not None else None,
        headers={
            "X-Pinakes-Token": server.token if token is None else token,
            "X-Pinakes-Reviewer": "Ada",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return json.load(answer)


def judge(server: Serving, id: str, **given: str) -> None:  # noqa: A002
    body = {"id": id, "label": "reject", "note": "n"}
    ask(server, f"api/pairs/{PAIR.id}/judgements", body, **given)


def said(server: Serving) -> list[str]:
    answer = ask(server, f"api/pairs/{PAIR.id}")
    assert isinstance(answer, dict)
    return [one["id"] for one in answer["history"]]


def test_what_was_saved_is_there_when_the_server_was_killed(folder: Path) -> None:
    first, second = "a" * 32, "b" * 32
    with serving(folder) as server:
        judge(server, first)
        server.process.kill()
        server.process.wait()
        with pytest.raises(urllib.error.URLError):
            judge(server, second)
    with serving(folder) as begun:
        assert said(begun) == [first]
        # The page of before has the token of before.
        with pytest.raises(urllib.error.HTTPError) as refused:
            judge(begun, second, token=server.token)
        assert refused.value.code == 403
        judge(begun, second)
        assert said(begun) == [first, second]


def test_two_servers_over_one_run(folder: Path) -> None:
    with serving(folder) as one, serving(folder) as other:
        judge(one, "a" * 32)
        judge(other, "b" * 32)
        assert said(one) == said(other) == ["a" * 32, "b" * 32]


def test_a_signal_ends_it(folder: Path) -> None:
    with serving(folder) as server:
        ask(server, "api/run")  # it serves by now
        server.process.send_signal(signal.SIGTERM)
        _, told = server.process.communicate(timeout=TIMEOUT_S)
    assert server.process.returncode == 5
    assert told == "20 pairs of run qa-1; stop with Ctrl-C\nstopped\n"


def test_a_store_that_does_not_know_the_run_is_said(folder: Path) -> None:
    write_run(folder / RUN, [result(1, run="qa-of-another-store")])
    with serving(folder) as server:
        ask(server, "api/run")  # it serves by now
        server.process.send_signal(signal.SIGTERM)
        _, told = server.process.communicate(timeout=TIMEOUT_S)
    assert "warning: run qa-of-another-store" in told


def exit_of(folder: Path, *options: str) -> tuple[int, str]:
    done = call_here(folder, *command(folder, "--port", "0", *options)[3:])
    return done.returncode, done.stderr


def test_without_a_run_or_a_store_there_is_nothing_to_review(folder: Path) -> None:
    write_run(folder / RUN, [])
    code, told = exit_of(folder)
    assert (code, "this run has no judged page yet" in told) == (3, True)
    (folder / RUN / "pairs.jsonl").unlink()
    assert exit_of(folder)[0] == 3
    write_run(folder / RUN, RESULTS)
    (folder / "store" / "rows.sqlite").unlink()
    code, told = exit_of(folder)
    assert (code, "pinakes init" in told) == (2, True)
    assert exit_of(folder, "--lead", "\u202e")[0] in (2, 3)


def test_the_results_of_two_runs_are_no_run(folder: Path) -> None:
    write_run(folder / RUN, [result(1), result(2, run="qa-2")])
    code, told = exit_of(folder)
    assert (code, "several runs: qa-1, qa-2" in told) == (3, True)


def test_a_pair_that_is_there_twice_is_said(folder: Path) -> None:
    write_run(folder / RUN, [result(1), result(1)])
    with serving(folder) as server:
        ask(server, "api/run")  # it serves by now
        server.process.send_signal(signal.SIGTERM)
        _, told = server.process.communicate(timeout=TIMEOUT_S)
    assert "warning: 1 result repeats a pair" in told


def test_pages_that_are_not_looked_at_are_said(folder: Path) -> None:
    write_sample(folder / RUN, [result(number) for number in range(30)])
    unlooked = "20 of 30 pages; 10 (10 pairs) are not judged yet; continue with `pinakes qa run`"
    with serving(folder) as server:
        figures = ask(server, "api/summary")
        server.process.send_signal(signal.SIGTERM)
        _, told = server.process.communicate(timeout=TIMEOUT_S)
    assert f"warning: {unlooked}\n" in told
    assert isinstance(figures, dict)
    assert figures["unlooked"] == unlooked
    assert figures["estimates"][0]["wanting"].startswith(unlooked)
