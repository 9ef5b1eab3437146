"""`pinakes qa train`: from what people settled to a model that `qa run` takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import comparing  # noqa: F401
import pytest

pytest.importorskip("sklearn", reason="the extra qa is not here: make dev-qa")

from review_scene import result, view, write_run

from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.hbase_schema.name_keys import encode_pair_key
from pinakes.profile import open_stores
from pinakes.qa.judging.model import decode_model, load_model
from pinakes.qa.results import PairResult, pair_key
from pinakes.qa.review.judgement import Judgement, Label, Role, Statement
from pinakes.qa.review.judgement_rows import put_judgement
from pinakes.qa.training.labelled import labelled_pair
from pinakes.qa.training.train import shipped_table


def results(count: int) -> list[PairResult]:
    """Pairs of ten pages a site, with the features of pairs of the table, a fault every other."""
    table = [pair for pair in shipped_table() if pair.pair == "same-browser"]
    kinds = [[pair for pair in table if pair.label == label] for label in ("similar", "dissimilar")]
    return [
        replace(
            result(number),
            features=dict(kinds[number % 2][number * 7].features),
            url=f"http://www.site{number // 10}.example/page/{number}",
        )
        for number in range(count)
    ]


def settle(folder: Path, some: list[PairResult]) -> None:
    """A run whose every pair a lead has judged: each second one is rejected."""
    write_run(folder / "qa", some)
    with open_stores(load_configuration(environment={}, folder=folder)) as stores:
        for number, one in enumerate(some):
            judgement = Judgement(
                id=f"{number:016}",
                author="Nadia",
                statement=Statement(label=Label.REJECT, faults=("layout",))
                if number % 2
                else Statement(label=Label.ACCEPT),
                at_ms=0,
                role=Role.LEAD,
            )
            key = encode_pair_key(pair_key(one))
            put_judgement(stores.rows, key, judgement, now_ms=1 << 41)


def test_a_result_is_of_its_host_and_of_its_browsers() -> None:
    one = replace(result(1), url="https://www.example.org:8080/a")
    found = labelled_pair(one, is_faulty=True)
    assert (found.site, found.pair) == ("example.org", "same-browser")
    assert (found.label, found.kind) == ("dissimilar", "person")
    across = replace(one, other=view("replay:before", browser="firefox"))
    assert labelled_pair(across, is_faulty=False).pair == "across-browsers"
    stored = replace(one, other=view("stored", browser=""))
    assert labelled_pair(stored, is_faulty=False).pair == "same-browser"
    odd = replace(one, url="http://[foo/bar")
    assert labelled_pair(odd, is_faulty=False).site == "http://[foo/bar"


def test_too_few_are_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    settle(tmp_path, results(20))
    assert main(["qa", "train", "qa", "-o", "models"]) == 2
    assert "20 settled pairs of 2 sites are too few" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


@pytest.mark.browsers
def test_a_model_is_written_that_can_be_judged_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    settle(tmp_path, results(60))
    capsys.readouterr()
    assert main(["--json", "qa", "train", "qa", "-o", "models"]) == 0
    said = json.loads(capsys.readouterr().out)
    model = decode_model(Path(said["model"]).read_bytes())
    assert model.version == said["version"]
    assert model.training["people"] == 60
    assert said["before"]["pairs"] == said["after"]["pairs"] == 60
    assert said["old"] == load_model("same-browser").title
