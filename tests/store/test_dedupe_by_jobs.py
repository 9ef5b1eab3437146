"""`dedupe` whose work on archive files is done by jobs: the same state, and it may die anywhere."""

from __future__ import annotations

import pytest
from scenes import Scene, make_scene

pytest.importorskip("mrjob", reason="the extra `jobs` is not installed")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    with make_scene(tmp_path_factory.mktemp("undisturbed")) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        return scene.state()


@pytest.fixture
def landed(scene: Scene) -> Scene:
    scene.land(1)
    scene.land(2)
    return scene


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_the_state_is_that_of_a_run_without_jobs(
    landed: Scene, undisturbed: dict[str, object], runner: str
) -> None:
    report = landed.dedupe(runner=runner)
    assert not report.problems
    assert (report.refs.records, report.files) == (8, 2)
    assert landed.state() == undisturbed
