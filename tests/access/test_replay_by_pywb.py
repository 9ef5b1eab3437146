"""pywb, unmodified, replays what `pinakes serve` gives it, and runs as a process beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import zstandard
from archive_builders import dictionary
from scenes import Scene
from serve_process import serve_process
from wayback_server import installed_tools, wayback

from pinakes.catalog.captures import decode_capture, place_captures
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.payloads import read_body
from pinakes.rewrite.recompress import zstd_form
from pinakes.rewrite.recompress_file import recompress_file

pytestmark = pytest.mark.slow
TIMEOUT_S = 120


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        return bytes(answer.read())


def serving(
    scene: Scene, *options: str
) -> AbstractContextManager[tuple[subprocess.Popen[str], dict[str, str]]]:
    """The process, and the addresses that it has printed."""
    return serve_process(scene.folder / "store", *options)


def bodies(scene: Scene) -> dict[tuple[str, str], bytes]:
    """By time and URL, what each capture in the store has for a body."""
    captures = [c for row in scene.rows.scan("captures") if (c := decode_capture(row))]
    return {
        (placed.capture.time[:14], placed.capture.facts.target_uri or ""): b"".join(
            read_body(scene.rows, scene.archive, placed)
        )
        for placed in place_captures(scene.rows, captures)
    }


def test_ranges_are_enough_for_replay_with_revisits(landed: Scene, tmp_path: Path) -> None:
    tools = installed_tools()
    expected = bodies(landed)
    landed.dedupe()
    assert any(c.is_duplicate for row in landed.rows.scan("captures") if (c := decode_capture(row)))
    root = tmp_path / "wayback"
    root.mkdir()
    index = [sys.executable, "-m", "pinakes.cli", "cdx", "c1", "c2", "-o", str(root / "i.cdxj")]
    store = ["--store", str(landed.folder / "store")]
    subprocess.run([*index, *store], check=True, capture_output=True)
    with serving(landed) as (_, told):
        (root / "config.yaml").write_text(
            f"collections:\n  archive:\n    index: {root}/i.cdxj\n"
            f"    archive_paths: {told['url']}warc/\n"
        )
        with wayback(tools, root) as port:
            found = {
                (time, url): get(f"http://127.0.0.1:{port}/archive/{time}id_/{url}")
                for time, url in expected
            }
    assert found == expected


def test_four_lines_replay_a_deduplicated_store(landed: Scene) -> None:
    """Index and archive files from `serve`, before and after old generations are dropped."""
    command = str(installed_tools() / "wayback")
    expected = bodies(landed)
    landed.dedupe()
    with serving(landed, "--replay", "0", "--wayback-command", command) as (_, told):

        def found() -> dict[tuple[str, str], bytes]:
            return {(time, url): get(f"{told['replay']}{time}id_/{url}") for time, url in expected}

        assert found() == expected
        assert list(landed.drop(0, scan_entries(landed.rows)))
        assert found() == expected
        (time, url), body = next(iter(expected.items()))
        page = get(f"{told['replay']}{time}mp_/{url}")  # as a browser is shown it, rewritten
        assert body.rpartition(b"</html>")[0].removeprefix(b"<html>") in page


def test_replay_is_a_process_that_is_restarted_and_ends(landed: Scene) -> None:
    command = str(installed_tools() / "wayback")
    with serving(landed, "--replay", "0", "--wayback-command", command) as (process, told):
        assert b"archive" in get(told["replay"])
        [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        for _ in range(TIMEOUT_S * 10):
            try:
                assert get(told["replay"])
                break
            except OSError:
                threading.Event().wait(0.1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 5
        assert "pywb ended (exit code -9), and is started again" in said
        with pytest.raises(OSError, match="refused"):
            get(told["replay"])


def test_replay_ends_with_its_parent(landed: Scene) -> None:
    command = str(installed_tools() / "wayback")
    with serving(landed, "--replay", "0", "--wayback-command", command) as (process, told):
        assert get(told["replay"])
        process.kill()
        for _ in range(TIMEOUT_S * 10):
            try:
                get(told["replay"])
                threading.Event().wait(0.1)
            except OSError:
                return
        raise AssertionError("it is still there")


def test_missing_pywb_is_named(landed: Scene) -> None:
    verb = [
        sys.executable,
        "-m",
        "pinakes.cli",
        "serve",
        "--replay",
        "--wayback-command",
        "no-such",
    ]
    store = ["--store", str(landed.folder / "store")]
    done = subprocess.run([*verb, *store], capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no no-such here: `pip install pywb`" in done.stderr


def test_pywb_that_does_not_start_is_named(landed: Scene) -> None:
    command = "sh -c 'echo it is broken; exit 3'"
    verb = [sys.executable, "-m", "pinakes.cli", "serve", "--port", "0", "--replay", "0"]
    store = ["--store", str(landed.folder / "store"), "--wayback-command", command]
    done = subprocess.run([*verb, *store], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pywb does not answer: it is broken" in done.stderr


def test_pywb_replays_a_store_in_zstandard(scene: Scene, tmp_path: Path) -> None:
    """Unmodified, with a dictionary in each file, and revisits that other files are needed for."""
    form = zstd_form(3, zstandard.ZstdCompressionDict(dictionary()))
    for crawl in (1, 2):
        folder = scene.crawls / f"c{crawl}"
        for file in sorted(folder.iterdir()):
            recompress_file(str(file), folder, form)
            file.unlink()
        assert [landed.archive_file[-9:] for landed in scene.land(crawl)] == [".warc.zst"] * 2
    expected = bodies(scene)
    assert len(expected) == 24
    command = str(installed_tools() / "wayback")
    with serving(scene, "--replay", "0", "--wayback-command", command) as (_, told):
        found = {(time, url): get(f"{told['replay']}{time}id_/{url}") for time, url in expected}
    assert found == expected
