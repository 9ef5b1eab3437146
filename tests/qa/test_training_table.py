"""The table of labelled pairs, figures about them, and a model made of them and of people's."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from review_scene import result, view, write_run

from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.hbase_schema.name_keys import encode_pair_key
from pinakes.profile import open_stores
from pinakes.qa.results import PairResult, pair_key
from pinakes.qa.review.judgement import Judgement, Label, Role, Statement
from pinakes.qa.review.judgement_rows import put_judgement
from pinakes.qa.training.labelled import labelled_pair

pytest.importorskip("sklearn", reason="the extra qa is not here: make dev-qa")

from bench.qa_training.table import write_table
from pinakes.errors import ConfigError, MalformedRecord
from pinakes.qa.compare.pairs import feature_names
from pinakes.qa.judging.model import NAMES, Model, decode_model, load_model
from pinakes.qa.results import Verdict
from pinakes.qa.training.figures import JudgedPair, figures
from pinakes.qa.training.fitting import DECISIVE, fit, judge_all, split
from pinakes.qa.training.labelled import LabelledPair, read_table
from pinakes.qa.training.train import FEWEST_PAIRS, shipped_table, train

NAMES_OF = ("image_gone", "text_gone", "text_order")


def pairs(count: int, sites: int, *, seed: int = 1, kind: str = "injected") -> list[LabelledPair]:
    """Pairs in which what is gone is a fault, mostly."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        gone = dice.random()
        is_fault = (gone > 0.5) != (dice.random() < 0.05)
        found.append(
            LabelledPair(
                site=f"{kind}-{number % sites}.example",
                features={"image_gone": gone, "text_gone": dice.random(), "text_order": 1.0},
                label="dissimilar" if is_fault else "similar",
                pair="same-browser",
                kind=kind,
            )
        )
    return found


@pytest.fixture(scope="module")
def old() -> Model:
    return fit(pairs(300, 8), "same-browser", version="1", seed=1)[0]


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    some = pairs(20, 3)
    file = tmp_path / "pairs.csv.gz"
    assert write_table(file, some) == 20
    read = read_table(file)
    assert [(p.site, p.label, p.kind) for p in read] == [(p.site, p.label, p.kind) for p in some]
    for one, other in zip(read, some, strict=True):
        assert one.features == pytest.approx(other.features, abs=1e-4)
    before = file.read_bytes()
    write_table(file, some)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"a,b\n"),
        gzip.compress(b"site,kind,pair,label,x\ns,k,same-browser,perhaps,1\n"),
        gzip.compress(b"site,kind,pair,label,x\ns,k,same-browser,similar,one\n"),
        gzip.compress(b"site,kind,pair,label,x\ns,k,same-browser,similar\n"),
        gzip.compress(b"site,kind,pair,label,x\ns\n"),
    ],
    ids=["empty", "no gzip", "head", "label", "number", "no numbers", "half a line"],
)
def test_what_is_no_table_is_refused_with_its_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pairs.csv.gz"
    file.write_bytes(content)
    with pytest.raises(MalformedRecord, match=r"pairs\.csv\.gz"):
        read_table(file)


def test_folds_share_no_site() -> None:
    some = pairs(120, 9)
    for train_on, test_on in split(some, 4, seed=1):
        assert not {some[n].site for n in train_on} & {some[n].site for n in test_on}


def test_an_exported_model_says_what_the_fitted_one_says(old: Model) -> None:
    from pinakes.qa.training import fitting

    some = pairs(300, 8)
    fitted = fitting._boosted(some, NAMES_OF, 1)
    scores = fitted.decision_function(fitting._numbers(some, NAMES_OF))
    assert [old.score(pair.features) for pair in some] == pytest.approx(list(scores), abs=1e-3)


def test_the_same_pairs_and_seed_make_the_same_model(old: Model) -> None:
    assert fit(pairs(300, 8), "same-browser", version="1", seed=1)[0] == old


def test_what_a_decisive_feature_tells_is_counted_and_no_tree_learns_it() -> None:
    quiet = dict.fromkeys(DECISIVE["across-browsers"], 0.0)
    left = [
        replace(pair, pair="across-browsers", features=quiet | pair.features)
        for pair in pairs(300, 8)
    ]
    loud = [replace(pair, features=pair.features | {"element_changed": 2.0}) for pair in left[:22]]
    told = [
        replace(pair, label="similar" if number < 2 else "dissimilar")
        for number, pair in enumerate(loud)
    ]
    model, judged = fit([*told, *left], "across-browsers", version="1", seed=1)
    assert model.trees == fit(left, "across-browsers", version="1", seed=1)[0].trees
    assert model.decisive_probability == pytest.approx(21 / 24)
    assert {one.likely for one in judge_all(model, told)} == {model.decisive_probability}
    assert len(judged) == len(told) + len(left)
    one_label = [pair for pair in left if pair.label == "similar"]
    with pytest.raises(ConfigError, match="both labels"):
        fit([*told, *one_label], "across-browsers", version="1", seed=1)


def test_a_model_is_right_about_sites_that_it_never_saw(old: Model) -> None:
    found = figures(judge_all(old, pairs(200, 5, seed=9, kind="other")))
    assert (found.right or 0) > 0.85


def test_figures_count_alarms_and_recall() -> None:
    found = figures(
        [
            JudgedPair("similar", "unaltered", 0.1, Verdict.SIMILAR),
            JudgedPair("similar", "unaltered", 0.9, Verdict.DISSIMILAR),
            JudgedPair("dissimilar", "fault:blank", 0.55, Verdict.UNCERTAIN),
            JudgedPair("dissimilar", "fault:blank", 0.2, Verdict.SIMILAR),
        ]
    )
    assert (found.false_alarms, found.unaltered) == (0.5, 2)
    assert found.recall == {"fault:blank": (1, 2), "unaltered": (1, 2)}
    assert (found.right, found.right_decided, found.uncertain) == (0.5, 0.3333, 0.25)
    assert found.confusion["dissimilar"] == {"uncertain": 1, "similar": 1}
    assert figures([]).right is None


def test_too_few_settled_pairs_and_too_few_sites_are_refused(tmp_path: Path, old: Model) -> None:
    for some in (pairs(FEWEST_PAIRS - 1, 8), pairs(200, 4)):
        with pytest.raises(ConfigError, match="too few"):
            train("same-browser", some, tmp_path, base=pairs(300, 8), old=old)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.browsers
def test_a_new_model_lies_beside_the_old_one_with_figures_before_and_after(
    tmp_path: Path, old: Model
) -> None:
    settled = pairs(120, 7, seed=3, kind="person")
    done = [train("same-browser", settled, tmp_path, base=pairs(300, 8), old=old) for _ in range(2)]
    assert len({one.file for one in done}) == 2
    assert [one.old for one in done] == ["same-browser 1", "same-browser 1"]
    for one in done:
        assert decode_model(one.file.read_bytes()) == one.model
        assert one.before.pairs == one.after.pairs == 120
        assert one.model.training["people"] == 120
        assert one.model.version != old.version


def test_pairs_that_were_compared_by_another_version_are_refused(
    tmp_path: Path, old: Model
) -> None:
    settled = pairs(60, 6, kind="person")
    for pair in settled:
        del pair.features["image_gone"]  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="image_gone"):
        train("same-browser", settled, tmp_path, base=pairs(300, 8), old=old)


def test_the_table_that_ships_has_what_is_compared_and_is_small() -> None:
    table = shipped_table()
    assert set(table[0].features) == set(feature_names())
    assert len({pair.site for pair in table}) >= 40
    for name in NAMES:
        labels = {pair.label for pair in table if pair.pair == name}
        assert labels == {"similar", "dissimilar"}
        assert set(load_model(name).features) <= set(feature_names())


# --- `pinakes qa train`: from what people settled to a model that `qa run` takes


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
