"""Files in S3, on a real server: what is read, what that asks for, what is refused."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from counting_relay import counting_relay
from s3_gateway import BUCKET, Gateway, be_tester, s3_gateway
from web_servers import make_certificate

from pinakes.archive_store.located import list_folder, open_place, place_below
from pinakes.archive_store.port import NotThere, PublishedFile
from pinakes.archive_store.s3 import server as s3_server
from pinakes.cli.frame.exits import Exit
from pinakes.errors import InputRefused, StoreUnavailable

KEY = "crawl/ä b%20#?;&.warc.gz"
DATA = Random(1).randbytes(9_000_000)
SMALL = 1 << 14


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    be_tester(monkeypatch)


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with s3_gateway(tmp_path / "s3") as gateway:
        yield gateway


def test_a_file_is_read_as_it_is(gateway: Gateway) -> None:
    gateway.put(KEY, DATA)
    with open_place(gateway.url(KEY)) as source:
        assert source.size == len(DATA)
        assert b"".join(source.pieces(0, source.size)) == DATA
        assert bytes(source.view(5_000_000, 70_000)) == DATA[5_000_000:5_070_000]
        assert not source.view(len(DATA), 1)
    gateway.put("empty", b"")
    with open_place(gateway.url("empty")) as source:
        assert (source.size, bytes(source.view(0, 1))) == (0, b"")


def test_single_records_are_read_by_their_ranges(gateway: Gateway) -> None:
    gateway.put("a.warc.gz", DATA)
    with counting_relay(gateway.port) as relay:
        place = gateway.url("a.warc.gz", relay.port)
        path = f"{BUCKET}/a.warc.gz"
        with open_place(place, window_bytes=SMALL) as source:
            for offset in (5_000_000, 1_000_000, 8_999_000):
                assert bytes(source.view(offset, 999)) == DATA[offset : offset + 999]
    ranges = ["5000000-5016383", "1000000-1016383", "8999000-8999999"]
    asked = [line for each in ranges for line in (f"GET {path} {each}", f"HEAD {path}")]
    assert relay.asked == [f"HEAD {path}", *asked]
    assert relay.sent_bytes < 60_000


@pytest.mark.parametrize(
    ("window_bytes", "most_requests"), [(SMALL, 80), (None, 10)], ids=["small windows", "large"]
)
def test_reading_on_takes_few_requests(
    gateway: Gateway, window_bytes: int | None, most_requests: int
) -> None:
    gateway.put("a.warc.gz", DATA)
    with (
        counting_relay(gateway.port) as relay,
        open_place(gateway.url("a.warc.gz", relay.port), window_bytes=window_bytes) as source,
    ):
        read = b"".join(source.pieces(0, source.size, SMALL))
    assert read == DATA
    assert len(relay.asked) <= most_requests
    assert all(line.startswith("HEAD") or line[-1].isdigit() for line in relay.asked)
    assert relay.sent_bytes < len(DATA) + 1_000 * most_requests


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (f"s3://{BUCKET}/none", "file not found on the server"),
        ("s3://no-such-bucket/a", "file not found on the server"),
        (f"s3://{BUCKET}/folder", "file not found on the server"),
        (f"s3://{BUCKET}/", "file not found on the server"),
    ],
    ids=["key", "bucket", "folder", "bucket alone"],
)
def test_what_is_not_there(
    gateway: Gateway, place: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is found by the environment, as Arrow does it."""
    be_tester(monkeypatch, AWS_ENDPOINT_URL=gateway.address)
    gateway.put("folder/a.warc.gz", b"x")
    with open_place(f"s3://{BUCKET}/folder/a.warc.gz") as source:
        assert bytes(source.view(0, 1)) == b"x"
    with pytest.raises(NotThere, match=words), open_place(place):
        pass


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("s3://", "not an S3 URL"),
        ("s3:///key", "not an S3 URL"),
        ("s3://bucket/a#b", "not an S3 URL"),
        ("s3://bucket/%FF", "which are UTF-8"),
        ("s3://bucket/\udcff", "which are UTF-8"),
        ("s3://key:secret@bucket/a", "user name or password are not accepted"),
        ("s3://bucket/a?other=1&region=x", "Unexpected query parameter"),
        ("s3://bucket//a?region=x", "Empty path component"),
    ],
)
def test_what_cannot_be_asked_for(place: str, words: str) -> None:
    with pytest.raises(InputRefused, match=words), open_place(place):
        pass


def test_wrong_credentials_are_said_to_be(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.put("a.warc.gz", b"x")
    be_tester(monkeypatch, AWS_SECRET_ACCESS_KEY="another")
    with (
        pytest.raises(InputRefused, match="refuses access: check the AWS credentials") as refused,
        open_place(gateway.url("a.warc.gz")),
    ):
        pass
    assert "another" not in str(refused.value)
    with pytest.raises(InputRefused, match="refuses access"):
        list(list_folder(gateway.url("")))


def test_a_server_that_comes_back_is_read_on(gateway: Gateway) -> None:
    gateway.put("a.warc.gz", DATA)
    with open_place(gateway.url("a.warc.gz"), window_bytes=SMALL) as source:
        assert bytes(source.view(0, 10)) == DATA[:10]
        gateway.kill()
        again = threading.Timer(0.3, gateway.start)
        again.start()
        assert bytes(source.view(4_000_000, 10)) == DATA[4_000_000:4_000_010]
        again.join()


def test_a_server_that_is_gone(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_server, "ATTEMPTS", 2)
    gateway.put("a.warc.gz", DATA)
    with open_place(gateway.url("a.warc.gz"), window_bytes=SMALL) as source:
        gateway.kill()
        words = "S3 cannot be reached, or failed: AWS Error .* Could not connect to server"
        with pytest.raises(StoreUnavailable, match=words):
            source.view(0, 10)
    with pytest.raises(StoreUnavailable, match=words), open_place(gateway.url("a.warc.gz")):
        pass


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_server, "ATTEMPTS", 2)
    monkeypatch.setattr(s3_server, "_REQUEST_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"scheme=http&endpoint_override=127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(StoreUnavailable, match="Timeout was reached"),
            open_place(f"s3://bucket/a?{where}"),
        ):
            pass


@pytest.mark.parametrize(
    "replaced_by", [DATA[::-1], DATA[:100], None], ids=["as long", "shorter", "deleted"]
)
def test_a_file_that_is_replaced_is_refused(gateway: Gateway, replaced_by: bytes | None) -> None:
    gateway.put("a.warc.gz", DATA)
    with open_place(gateway.url("a.warc.gz"), window_bytes=SMALL) as source:
        assert bytes(source.view(0, 10)) == DATA[:10]
        if replaced_by is None:
            gateway.delete("a.warc.gz")
        else:
            gateway.put("a.warc.gz", replaced_by)
        words = "file changed on the server" if replaced_by else "file not found on the server"
        with pytest.raises(InputRefused, match=words):
            source.view(4_000_000, 10)


def test_a_folder_is_listed(gateway: Gateway) -> None:
    keys = ["crawl/b.warc", KEY, "crawl/deep/a.warc.gz", "crawl-2/c.warc"]
    for number, key in enumerate(keys):
        gateway.put(key, b"x" * number)
    for folder in (gateway.url("crawl/"), gateway.url("crawl")):
        found = list(list_folder(folder))
        assert found == [
            PublishedFile("b.warc", 0),
            PublishedFile("deep/a.warc.gz", 2),
            PublishedFile(KEY.removeprefix("crawl/"), 1),
        ]
        for file in found:
            with open_place(place_below(folder, file.name)) as source:
                assert source.size == file.size
    assert len(list(list_folder(gateway.url("")))) == 4
    with pytest.raises(NotThere):
        list(list_folder(gateway.url("nothing/")))


@pytest.mark.slow
def test_encrypted_connections_are_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow looks for certificates once, when it is imported: so in other processes."""
    certificate = make_certificate(tmp_path)
    be_tester(monkeypatch)
    with s3_gateway(tmp_path / "s3", certificate) as gateway:
        (tmp_path / "s3" / "files" / BUCKET / "a.warc").write_bytes(b"")

        def code_of(url: str, trusted: str) -> int:
            command = [sys.executable, "-m", "pinakes.cli", "manifest", url]
            environment = {**os.environ, "SSL_CERT_FILE": trusted}
            return subprocess.run(command, env=environment, capture_output=True).returncode

        url = gateway.url("a.warc")
        assert code_of(url, str(certificate)) == Exit.DONE
        assert code_of(url, "/none") == Exit.STORE
        assert code_of(f"{url}&tls_ca_file_path={certificate}", "/none") == Exit.DONE


@pytest.mark.slow
def test_memory_of_a_large_file(gateway: Gateway) -> None:
    size = 100 << 20
    gateway.put("a.warc.gz", bytes(size))
    tracemalloc.start()
    with open_place(gateway.url("a.warc.gz")) as source:
        assert sum(map(len, source.pieces(0, size))) == size
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
