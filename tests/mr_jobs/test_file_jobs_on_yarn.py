"""Jobs that compare and write archive files, on real YARN and HDFS: as the verbs do on a disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest
from arc_builders import HTTP, arc, arc_record
from archive_builders import dictionary, gzip_file, three
from warc_sets import manifest_of, refs, write_manifest

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.index.manifest import parse_line
from pinakes.profile import hdfs_connection, open_folder

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

pytestmark = pytest.mark.yarn

BODY = bytes(range(256)) * 40
FILES = 3


@pytest.fixture
def settings(cluster: RunningCluster, tmp_path: Path) -> Iterator[Path]:
    """A pinakes.toml for a store of its own, which is gone afterwards."""
    values = cluster.settings(f"files{token_hex(4)}")
    values["job_folder"] = f"{values['hdfs'].rpartition('/')[0]}/test-jobs"
    file = tmp_path / "pinakes.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    yield file
    connection = hdfs_connection(load_configuration(file, environment={}))
    with closing(HdfsCalls(connection)) as calls:
        calls.ask("", lambda client: client.delete(connection.folder, True))


class Places:
    """Folders here, and folders in HDFS of the same names."""

    def __init__(self, settings: Path, folder: Path) -> None:
        self._configuration = load_configuration(settings, environment={})
        self.folder = folder
        self._settings = settings

    def url(self, name: str) -> str:
        return f"{self._configuration.hdfs}/{name}"

    def send(self, name: str) -> None:
        with open_folder(self.url(name), self._configuration) as store:
            for path in sorted((self.folder / name).iterdir()):
                with store.create_aside(token_hex(4)) as aside:
                    aside.file.write(path.read_bytes())
                    aside.publish(path.name)

    def fetch(self, name: str) -> dict[str, bytes]:
        with open_folder(self.url(name), self._configuration) as store:
            return {stored.name: store.open(stored.name).read() for stored in store.list()}

    def here(self, name: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir()}

    def job(self, *words: str) -> int:
        return main(["--config", str(self._settings), *words, "--runner", "hadoop"])


def write_arcs(folder: Path) -> list[str]:
    folder.mkdir()
    for number in range(FILES):
        records = [
            arc_record(b"http://example.org/%d/%d" % (number, n), HTTP + BODY[n // 2 :])
            for n in range(4)
        ]
        (folder / f"é {number}.arc").write_bytes(arc(*records))
    return [path.name for path in sorted(folder.iterdir())]


def test_converted_validated_restored(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = Places(settings, tmp_path)
    names = write_arcs(tmp_path / "arcs")
    places.send("arcs")
    inputs = [f"{places.url('arcs')}/{name}" for name in names]
    assert places.job("convert", *inputs, "-o", places.url("before")) == 0
    assert (
        main(["convert", *(f"{tmp_path}/arcs/{n}" for n in names), "-o", str(tmp_path / "before")])
        == 0
    )
    assert places.fetch("before") == places.here("before")

    paths = sorted((tmp_path / "before").iterdir())
    manifest, decided = tmp_path / "manifest", tmp_path / "decided"
    write_manifest(manifest, manifest_of(paths))
    assert main(["resolve", str(manifest), "--process", "-o", str(decided)]) == 0
    lines = [parse_line(text) for text in decided.read_text().splitlines()]
    assert refs(paths, lines, tmp_path / "after").records == 4 * FILES - 2
    places.send("after")
    folders = (places.url("before"), places.url("after"))
    capsys.readouterr()
    receipt = tmp_path / "receipt"
    assert places.job("validate", *folders, "--receipt", str(receipt)) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert f"references: resolves: {4 * FILES - 2}\n" in said.err

    after = [f"{folders[1]}/{path.name}" for path in paths]
    assert places.job("restore", *after, "-o", places.url("é restored")) == 0
    assert places.fetch("é restored") == places.here("before")

    shutil.copytree(tmp_path / "before", tmp_path / "copy")
    places.send("copy")
    words = [folders[1], places.url("copy"), "--receipt", str(receipt)]
    assert places.job("commit-copy", *words) == 0
    now = places.fetch("copy")
    old = {name.partition("/")[2]: now.pop(name) for name in [*now] if "/" in name}
    assert (now, old) == (places.here("after"), places.here("before"))

    shutil.copytree(tmp_path / "after", tmp_path / "altered")
    first = tmp_path / "altered" / paths[0].name
    first.write_bytes(first.read_bytes().replace(b"\x80\x81\x82", b"\x80\x81\x83"))
    places.send("altered")
    words = [str(tmp_path / "before"), str(tmp_path / "altered")]
    capsys.readouterr()
    assert main(["validate", *words, "--json"]) == 1
    by_verb = sorted(capsys.readouterr().out.splitlines())
    assert places.job("validate", "--json", folders[0], places.url("altered")) == 1
    assert sorted(capsys.readouterr().out.splitlines()) == by_verb


def test_compressed_with_a_dictionary_and_decompressed(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places, known = Places(settings, tmp_path), tmp_path / "known"
    known.write_bytes(dictionary())
    (tmp_path / "old").mkdir()
    for number in range(FILES):
        (tmp_path / "old" / f"é {number}.warc.gz").write_bytes(gzip_file())
    (tmp_path / "old" / "plain.warc").write_bytes(b"".join(three()))
    (tmp_path / "old" / "damaged.warc.gz").write_bytes(gzip_file()[:-30])
    places.send("old")
    compress = ["zstd", "compress", "--dictionary", str(known), "--json"]
    assert main([*compress, str(tmp_path / "old"), "-o", str(tmp_path / "é new")]) == 3
    by_verb = sorted(capsys.readouterr().out.replace(str(tmp_path), "").splitlines())
    for outcome in ("written", "unchanged"):
        assert places.job(*compress, places.url("old/"), "-o", places.url("é new")) == 3
        said = capsys.readouterr()
        by_job = said.out.replace(places.url("old")[:-4], "").splitlines()
        assert sorted(line.replace(outcome, "written") for line in by_job) == by_verb
        assert "damaged.warc.gz" in said.err
        assert places.fetch("é new") == places.here("é new")
    words = ["zstd", "decompress", "--plain"]
    assert main([*words, str(tmp_path / "é new"), "-o", str(tmp_path / "back")]) == 0
    assert places.job(*words, places.url("é new/"), "-o", places.url("back")) == 0
    assert places.fetch("back") == places.here("back")
