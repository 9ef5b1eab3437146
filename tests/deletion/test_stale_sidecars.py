"""Nothing is taken down on the word of a sidecar that is not the one of its file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scenes import Scene, make_scene
from taken_down import key_of, land_site, withdraw
from whole_payloads import whole_payloads

from pinakes.catalog.sidecar import sidecar_name

LANDED, REVISITS = "c2/site.warc.gz", "c2/g2/site.warc.gz"


def put_back_the_landed_one(scene: Scene) -> None:
    """It has no revisit where the file has three."""
    shutil.copy(*(scene.archive.path_of(sidecar_name(name)) for name in (LANDED, REVISITS)))


def lose_it(scene: Scene) -> None:
    scene.archive.path_of(sidecar_name(REVISITS)).unlink()


@pytest.mark.parametrize("rot", [put_back_the_landed_one, lose_it])
def test_what_refers_to_the_record_is_not_known(
    rot: Callable[[Scene], None], tmp_path: Path
) -> None:
    with make_scene(tmp_path, ()) as scene:
        land_site(scene, 1, 2)
        rot(scene)
        before, state = whole_payloads(scene.archive.folder), scene.state()
        [report] = withdraw(scene, key_of(scene, 0, 1))
        [problem] = report.problems
        assert problem.file == REVISITS
        assert "what it refers to is not known for sure" in problem.message
        assert whole_payloads(scene.archive.folder) == before
        assert scene.state() == state
        assert report.captures == []
