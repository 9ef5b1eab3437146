"""The environment of jobs works where there is nothing else of ours."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import BinaryIO

import pytest

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.mr_jobs.driver.environment import Environment
from pinakes.mr_jobs.driver.submission import ensure_environment

PROGRAM = """
import sys
import google_crc32c, hdfs_native, isal.isal_zlib, mrjob, pyarrow.parquet, thriftpy2
import pinakes.archive_store.hdfs.store, pinakes.mr_jobs.manifest, pinakes.row_store.hbase.store
import pinakes.hbase_schema.cells
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if "site-packages" in file:
        raise SystemExit(f"{module} is not of the environment: {file}")
print(pinakes.mr_jobs.manifest.__file__)
"""


@pytest.fixture(scope="module")
def environment() -> Environment:
    return Environment()


@pytest.fixture(scope="module")
def packed(environment: Environment) -> bytes:
    out = io.BytesIO()
    environment.pack(out)
    return out.getvalue()


def test_a_bare_interpreter_imports_all_of_it(packed: bytes, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    bare = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run(
        [bare, "-S", "-c", PROGRAM],
        env={"PYTHONPATH": str(tmp_path), "PATH": os.defpath},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(tmp_path))


def test_the_same_environment_has_the_same_name_and_bytes(
    environment: Environment, packed: bytes
) -> None:
    again = Environment()
    out = io.BytesIO()
    again.pack(out)
    assert again.archive_name == environment.archive_name
    assert out.getvalue() == packed


def test_others_come_with_what_they_need() -> None:
    pytest.importorskip("tldextract")
    environment = Environment(others=["tldextract"])
    assert {"tldextract", "requests", "happybase"} <= set(environment.versions)
    assert "tldextract/.tld_set_snapshot" in dict(environment.files)


def test_another_version_has_another_name(environment: Environment) -> None:
    before = environment.archive_name
    again = Environment(extras=("jobs",))
    assert again.archive_name != before
    assert "happybase" in environment.versions
    assert "happybase" not in again.versions
    assert "pinakes" not in environment.versions


class _SentMeanwhile(Environment):
    """While it is packed, another driver has sent the same."""

    def __init__(self, folder: LocalArchiveStore) -> None:
        super().__init__()
        self._folder = folder

    def pack(self, out: BinaryIO) -> None:
        out.write(b"the same")
        with self._folder.create_aside("another") as aside:
            aside.file.write(b"the same")
            aside.publish(self.archive_name)


def test_two_drivers_may_send_the_same_at_once(tmp_path: Path) -> None:
    folder = LocalArchiveStore(tmp_path)
    environment = _SentMeanwhile(folder)
    ensure_environment(folder, environment)
    assert [stored.name for stored in folder.list()] == [environment.archive_name]
