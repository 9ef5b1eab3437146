"""Wrong calls beside their answers: `wrong_calls.txt` is for people to read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance_builders import record, warc

from pinakes.cli import main
from pinakes.cli.verbs import VERBS

TABLE = Path(__file__).with_name("wrong_calls.txt").read_text("utf-8").partition("\n\n")[2]


def calls() -> Iterator[tuple[str, int, str]]:
    """Each call, its exit code, and the first line of the answer."""
    for pair in TABLE.strip().split("\n\n"):
        call, answer = pair.split("\n")
        code, _, line = answer.partition(" ")
        yield call.removeprefix("$ "), int(code), line.strip()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the table describes."""
    folder = tmp_path_factory.mktemp("calls")
    (folder / "a.warc").write_bytes(warc(record()))
    (folder / "folder").mkdir()
    (folder / "note.txt").write_text("some words\n")
    (folder / "manifest.txt").write_text("")
    (folder / "wrong.toml").write_text("stroe = 'x'\n")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        assert main(["init", "-q"]) == 0
        assert main(["ingest", "-q", "a.warc", "--crawl", "spring"]) == 0
    return folder


def verb_of(call: str) -> str:
    """The verb of a call, or the program where it names none."""
    return next((word for word in shlex.split(call)[1:2] if word in VERBS), "pinakes")


@pytest.mark.parametrize("verb", dict.fromkeys(verb_of(call) for call, *_ in calls()))
def test_the_answers(
    place: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    for call, code, line in calls():
        if verb_of(call) == verb:
            assert main(shlex.split(call)[1:]) == code, call
            out, err = capsys.readouterr()
            assert (out, err.splitlines()[0]) == ("", line), call
            assert code != 2 or err.count("\n") == 1, call


def test_there_are_fifty_and_each_verb_has_one() -> None:
    assert len(list(calls())) >= 50
    assert {shlex.split(call)[1] for call, *_ in calls() if " " in call} >= set(VERBS)
