"""Landing that is killed, disturbed, or done twice."""

from __future__ import annotations

import os
import signal
import traceback

import pytest
from killing import KILLED, in_child, kill_at
from scenes import Scene, make_scene

from pinakes.errors import Conflict
from pinakes.ingest import landing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    with make_scene(tmp_path_factory.mktemp("undisturbed")) as scene:
        scene.land(1)
        return scene.state()


def test_killed_twice_and_run_again(
    scene: Scene, undisturbed: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one died with the claim, before it had deleted what the first wrote aside."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(lambda: scene.land(1, at=kill_at(4))) == KILLED
    assert scene.state()["aside"] != []
    with monkeypatch.context() as patched:
        patched.setattr(landing, "clear_dead_asides", die)
        assert in_child(lambda: scene.land(1)) == -signal.SIGKILL
    scene.land(1)
    assert scene.state() == undisturbed


def test_before_it_is_stored_nothing_is_visible(scene: Scene) -> None:
    in_child(lambda: scene.land(1, at=kill_at(6)))
    assert scene.state()["hidden"] == ["c1/part-0.warc.gz"]


def test_landing_twice_changes_nothing(scene: Scene) -> None:
    first = scene.land(1)
    state = scene.state()
    again = scene.land(1)
    assert [landed.was_there for landed in again] == [True, True]
    assert [landed.sha256 for landed in again] == [landed.sha256 for landed in first]
    assert scene.state() == state


def test_two_landings_of_one_file_at_once(scene: Scene, undisturbed: dict[str, object]) -> None:
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                for _attempt in range(50):
                    try:
                        scene.land(1)
                        break
                    except Conflict:
                        import time

                        time.sleep(0.05)
            except BaseException:  # noqa: BLE001  nothing of pytest may run here
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert scene.state() == undisturbed
