"""`[[dedupe]]` tables over a store: what stays full, and why, by every way of deciding."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from agreement import check_references
from scenes import COLLECTION, Scene, copied_scene

from pinakes.cli import main
from pinakes.dedupe.run.run_report import DedupeRequest, policies_text
from pinakes.index.manifest import parse_line

Table = dict[str, object]

# Of the second crawl eight pages of twelve are those of the first, a year older.
CASES: list[tuple[list[Table], dict[str, int]]] = [
    ([{"off": True}], {"policy-off": 8}),
    ([{"crawl": "c2", "off": True}], {"policy-off": 8}),
    ([{"crawl": "c1", "off": True}], {}),
    ([{"collection": "other", "off": True}], {}),
    ([{"off": True}, {"crawl": "c2"}], {}),
    ([{"min_bytes": 900}], {}),
    ([{"min_bytes": 5000}], {"policy-size": 8}),
    ([{"media_types": ["image/*"]}], {"policy-media-type": 8}),
    ([{"statuses": [404]}], {"policy-status": 8}),
    ([{"same_url": True}], {}),
    ([{"not_older_than": "30 days"}], {"policy-scope": 8}),
    ([{"not_older_than": "99999 days"}], {}),
    ([{"crawl": "c2", "same_url": True, "not_older_than": "99999 days"}], {}),
]


@pytest.mark.parametrize(("tables", "full"), CASES, ids=str)
def test_what_stays_full_has_its_reason(
    landed: Scene, tables: list[Table], full: dict[str, int]
) -> None:
    report = landed.dedupe(policies=policies_text(tables))
    decided = report.decisions["process"]
    assert isinstance(decided, dict)
    assert (decided["full"], decided["duplicates"]) == (full, 8 - sum(full.values()))
    assert report.refs.records == check_references(landed) == 8 - sum(full.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "tables",
    [
        [{"crawl": "c2", "same_url": True}],
        [{"crawl": "c2", "not_older_than": "30 days"}],
        [{"same_url": True}, {"crawl": "c1", "not_older_than": "99999 days"}],
    ],
    ids=str,
)
def test_jobs_decide_the_same(landed_folder: Path, tables: list[Table], tmp_path: Path) -> None:
    policies = policies_text(tables)
    with (
        copied_scene(landed_folder, tmp_path / "one") as one,
        copied_scene(landed_folder, tmp_path / "other") as other,
    ):
        here = one.dedupe(policies=policies)
        by_jobs = other.dedupe(policies=policies, runner="inline")
        assert by_jobs.decisions["process"] == here.decisions["process"]
        assert one.state() == other.state()


def test_a_page_that_comes_back_elsewhere_stays_full_by_url(scene: Scene) -> None:
    """Crawl 3 has the pages of crawl 1 at other URLs, and the same once more."""
    scene.land(1)
    moved = scene.crawls / "c3"
    moved.mkdir()
    for path in (scene.crawls / "c1").iterdir():
        (moved / path.name).write_bytes(_moved(path))
    scene.land(3)
    report = scene.dedupe(policies=policies_text([{"same_url": True}]))
    assert report.decisions["process"]["full"] == {"policy-scope": 12}  # type: ignore[index]
    assert report.refs.records == 0
    assert scene.dedupe(act="dedupe-b").refs.records == check_references(scene) == 12


def _moved(path: Path) -> bytes:
    data = gzip.decompress(path.read_bytes())
    data = data.replace(b"http://example.org/", b"http://example.net/")
    return gzip.compress(data.replace(b"WARC-Date: 2021", b"WARC-Date: 2023"), mtime=0)


def test_a_run_that_is_taken_up_goes_on_with_its_own_policies() -> None:
    request = DedupeRequest(
        collection=COLLECTION, crawl=None, policies=policies_text([{"statuses": [200]}])
    )
    assert DedupeRequest(**json.loads(json.dumps(asdict(request)))) == request
    # As older versions wrote it.
    before = asdict(request)
    del before["policies"]
    assert DedupeRequest(**before).dedupe_policies.policies == ()


def test_the_file_of_settings_has_tables(
    landed: Scene, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "pinakes.toml"
    lines = tmp_path / "decisions"
    settings.write_text(
        f'store = "{landed.folder / "store"}"\ncollection = "{COLLECTION}"\nmin_file_saving = 0\n'
        '[[dedupe]]\ncrawl = "c2"\nmin_bytes = 5_000\n'
    )
    plan = ["dedupe", "c2", "--plan", "--config", str(settings), "--decisions", str(lines)]
    assert main(plan) == 0
    said = capfd.readouterr().out
    assert "8  policy-size" in said
    decided = [parse_line(text) for text in lines.read_text().splitlines()]
    assert len(decided) == 12
    assert sum(line.full == "policy-size" for line in decided) == 8
    assert {line.copy_number for line in decided} == {1}
    assert main(["crawl", "stats", "c2", "--config", str(settings)]) == 0
    assert "policy-size: 8" in capfd.readouterr().out
    settings.write_text(f'store = "{landed.folder / "store"}"\n[[dedupe]]\noff = "no"\n')
    assert main(["dedupe", "c2", "--config", str(settings)]) == 2
    assert "dedupe policy 1: off must be true or false" in capfd.readouterr().err
    assert main(["dedupe", "c2", "--decisions", "-", "--store", str(landed.folder / "store")]) == 2
