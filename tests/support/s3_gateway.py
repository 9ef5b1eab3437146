"""A real S3 server on loopback over a folder: versitygw, which `make tools` builds."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from web_servers import free_port, wait_for

from bench.peers import pins
from pinakes.archive_store.s3 import server as s3_server

_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "tester",
    "AWS_SECRET_ACCESS_KEY": "secret-of-a-test",
    "AWS_EC2_METADATA_DISABLED": "true",
}
BUCKET = "archives"


def be_tester(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    """Have the environment of somebody who may read there, and these settings besides."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {**_CREDENTIALS, **settings}.items():
        monkeypatch.setenv(name, value)
    s3_server._server.cache_clear()  # a process does not see another environment otherwise


class Gateway:
    """The server, and its one bucket: a folder that is there, or a new one."""

    def __init__(self, folder: Path, certificate: Path | None, bucket: Path | None) -> None:
        program = pins.versitygw()
        if not program.is_file():
            pytest.skip("versitygw is not installed: `make tools` does it, with Go 1.25")
        self._folder = folder
        self.port = free_port()
        self.scheme = "https" if certificate else "http"
        for name in ("files", "metadata"):
            (folder / name).mkdir(parents=True)
        if bucket:
            (folder / "files" / BUCKET).symlink_to(bucket)
        else:
            (folder / "files" / BUCKET).mkdir()
        credentials = list(_CREDENTIALS.values())
        self._command = [program, "--port", f"127.0.0.1:{self.port}", "--quiet"]
        self._command += ["--access", credentials[0], "--secret", credentials[1]]
        if certificate:
            self._command += ["--cert", certificate, "--key", certificate]
        # Not all file systems have the extended attributes in which it keeps ETags otherwise.
        self._command += ["posix", "--bucketlinks", "--sidecar", folder / "metadata"]
        self._command += [folder / "files"]
        self.start()

    def start(self) -> None:
        with (self._folder / "log").open("wb") as log:
            self._server = subprocess.Popen(self._command, stdout=log, stderr=log)
        wait_for(self.port, self._server, self._folder / "log")

    def kill(self) -> None:
        self._server.kill()
        self._server.wait()

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def url(self, key: str, port: int | None = None) -> str:
        """Where an object is; by way of another port."""
        where = f"scheme={self.scheme}&endpoint_override=127.0.0.1:{port or self.port}"
        return f"s3://{BUCKET}/{quote(key)}?{where}"

    def put(self, key: str, data: bytes) -> None:
        """As others do it, so that it has an ETag."""
        from pyarrow.fs import FileSystem

        filesystem, path = FileSystem.from_uri(self.url(key))
        with filesystem.open_output_stream(path, compression=None) as file:
            file.write(data)

    def delete(self, key: str) -> None:
        (self._folder / "files" / BUCKET / key).unlink()


@contextmanager
def s3_gateway(
    folder: Path, certificate: Path | None = None, bucket: Path | None = None
) -> Iterator[Gateway]:
    """The server, while it is needed; for `be_tester`."""
    gateway = Gateway(folder, certificate, bucket)
    try:
        yield gateway
    finally:
        gateway.kill()
