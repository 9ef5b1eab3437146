"""What every archive reader and every archive store does; adapters' tests inherit these."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import threading
import zlib
from collections.abc import Callable, Mapping

import pytest

from pinakes.archive_store.port import ASIDE, QUARANTINE, ArchiveReader, ArchiveStore
from pinakes.errors import InputRefused
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

LARGE = random.Random(1).randbytes(700_000)
WARC = b"".join(
    gzip.compress(
        b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:%d>\r\n"
        b"WARC-Date: 2024-02-29T12:34:56Z\r\nWARC-Target-URI: http://example.org/%d\r\n"
        b"Content-Length: 5\r\n\r\nhello\r\n\r\n" % (number, number)
    )
    for number in range(50)
)
FILES: Mapping[str, bytes] = {
    "crawl/a.warc.gz": WARC,
    "crawl/large.bin": LARGE,
    "crawl/empty": b"",
    "crawl/deep/er/ä b%20#?;&.warc": b"odd name",
    "+news/0001-40000-0123456789abcdef.dict": b"reserved name",
    "top": b"0123456789",
}

BAD_NAMES = [
    "",
    "/etc/passwd",
    "../a",
    "d/" * 100 + "a",
    "a/../b",
    "a/..",
    "./a",
    "a//b",
    "a/",
    ".hidden/a",
    "a/.landing",
    "a/.quarantine",
    ".quarantine/../a",
    ".quarantine/.hidden",
    ".quarantine/",
    "a\nb",
    "a\0b",
    "a\x1bb",
    "a\x7fb",
    "a\x85b",
    "x" * 256,
    "\ud800",
]


class ArchiveReaderContract:
    """The fixture `reader` reads FILES, and a folder `crawl`."""

    def test_a_file_is_read_whole(self, reader: ArchiveReader) -> None:
        for name, content in FILES.items():
            with reader.open(name) as file:
                assert file.read() == content
            assert reader.size(name) == len(content)

    def test_any_offset_and_length(self, reader: ArchiveReader) -> None:
        chosen = random.Random(2)
        with reader.open("crawl/large.bin") as file:
            assert file.seekable()
            assert file.readable()
            for _ in range(40):
                offset = chosen.randrange(len(LARGE) + 10)
                length = chosen.choice([0, 1, 100, 5000, 300_000, len(LARGE)])
                assert file.seek(offset) == offset == file.tell()
                data = file.read(length)
                assert data == LARGE[offset : offset + length]
                assert file.tell() == offset + len(data)

    def test_seeking_from_here_and_from_the_end(self, reader: ArchiveReader) -> None:
        with reader.open("top") as file:
            assert file.seek(0, io.SEEK_END) == 10
            assert file.read(1) == b""
            assert file.seek(-3, io.SEEK_END) == 7
            assert file.read(1) == b"7"
            assert file.seek(-2, io.SEEK_CUR) == 6
            assert file.read(2) == b"67"
            assert file.seek(0) == 0
            assert file.read(2) == b"01"

    def test_reading_into_a_buffer(self, reader: ArchiveReader) -> None:
        buffer = bytearray(6)
        with reader.open("top") as file:
            file.seek(7)
            assert file.readinto(buffer) == 3  # type: ignore[attr-defined]
        assert buffer == b"789\0\0\0"

    def test_it_serves_the_reader_of_records(self, reader: ArchiveReader) -> None:
        with reader.open("crawl/a.warc.gz") as file:
            source = Source(file, name="crawl/a.warc.gz")
            records = [item for item in iter_records(source) if isinstance(item, Record)]
            assert [record.record_id for record in records] == [f"urn:x:{n}" for n in range(50)]
            source.check_unchanged()
            last = records[-1]
            assert bytes(source.view(last.offset, last.length)) == WARC[last.offset :]

    def test_two_files_at_once(self, reader: ArchiveReader) -> None:
        with reader.open("top") as one, reader.open("top") as other:
            one.seek(5)
            assert other.read(2) == b"01"
            assert one.read(2) == b"56"

    @pytest.mark.parametrize("name", ["nothing", "crawl", "crawl/nothing/at/all", "top/below"])
    def test_what_is_not_there(self, reader: ArchiveReader, name: str) -> None:
        assert reader.size(name) is None
        with pytest.raises(InputRefused) as refused:
            reader.open(name)
        assert refused.value.file

    @pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
    def test_a_name_that_is_none(self, reader: ArchiveReader, name: str) -> None:
        for act in (reader.open, reader.size):
            with pytest.raises(InputRefused):
                act(name)


def put_file(store: ArchiveStore, name: str, content: bytes, token: str = "t") -> str:
    """Write a file aside and publish it; its checksum."""
    with store.create_aside(token) as aside:
        aside.file.write(content)
        checksum = aside.checksum()
        aside.publish(name)
    return checksum


class ArchiveStoreContract:
    """The fixture `store` is empty."""

    def names(self, store: ArchiveStore, prefix: str = "") -> list[str]:
        return [file.name for file in store.list(prefix)]

    def test_a_published_file_is_there_whole(self, store: ArchiveStore) -> None:
        checksum = put_file(store, "crawl/a.warc.gz", LARGE)
        assert checksum == hashlib.sha256(LARGE).hexdigest() == store.checksum("crawl/a.warc.gz")
        assert store.size("crawl/a.warc.gz") == len(LARGE)
        with store.open("crawl/a.warc.gz") as file:
            assert file.read() == LARGE
        assert self.names(store, ASIDE) == []

    def test_an_empty_file(self, store: ArchiveStore) -> None:
        put_file(store, "empty", b"")
        assert store.size("empty") == 0
        assert store.checksum("empty") == hashlib.sha256().hexdigest()

    @pytest.mark.parametrize("convert", [bytes, bytearray, memoryview])
    def test_a_write_takes_all(
        self, store: ArchiveStore, convert: Callable[[bytes], bytes]
    ) -> None:
        with store.create_aside("t") as aside:
            for start in range(0, len(LARGE), 99_999):
                piece = LARGE[start : start + 99_999]
                assert aside.file.write(convert(piece)) == len(piece)
            aside.publish("a")
        with store.open("a") as file:
            assert file.read() == LARGE

    @pytest.mark.parametrize("pieces", [0, 1, 20])
    def test_the_crc_is_of_what_is_stored(self, store: ArchiveStore, pieces: int) -> None:
        """Of 14 MB too, more than a writer leaves in the page cache."""
        content = LARGE * pieces
        with store.create_aside("t") as aside:
            for _ in range(pieces):
                aside.file.write(LARGE)
            assert aside.crc32() == zlib.crc32(content)
            aside.publish("a")
        with store.open("a") as file:
            assert file.read(len(content) + 1) == content

    def test_what_was_written_can_be_read_before_it_is_published(self, store: ArchiveStore) -> None:
        with store.create_aside("t") as aside:
            aside.file.write(LARGE)
            aside.file.write(b"end")
            aside.checksum()
            with aside.open() as file:
                assert file.seek(-5, io.SEEK_END) == len(LARGE) - 2
                assert file.read(9) == LARGE[-2:] + b"end"
                assert file.seek(7) == 7
                assert file.read(9) == LARGE[7:16]
            aside.publish("a")
        with store.open("a") as file:
            assert file.read() == LARGE + b"end"

    def test_what_is_aside_is_not_seen(self, store: ArchiveStore) -> None:
        with store.create_aside("t") as aside:
            aside.file.write(b"x")
            assert self.names(store) == []
            assert self.names(store, ASIDE) == [f"{ASIDE}/t"]
            with pytest.raises(InputRefused):
                store.open(f"{ASIDE}/t")
        assert self.names(store, ASIDE) == []

    def test_what_fails_leaves_nothing(self, store: ArchiveStore) -> None:
        with pytest.raises(ZeroDivisionError), store.create_aside("t") as aside:
            aside.file.write(b"x" * (1 // 0))
        assert self.names(store) == self.names(store, ASIDE) == []

    def test_errors_of_others_pass_through(self, store: ArchiveStore) -> None:
        with pytest.raises(PermissionError), store.create_aside("t"):
            raise PermissionError(13, "not the store's")

    def test_publishing_replaces_nothing(self, store: ArchiveStore) -> None:
        put_file(store, "a", b"first")
        with store.create_aside("t") as aside:
            aside.file.write(b"second")
            with pytest.raises(InputRefused, match="exists already"):
                aside.publish("a")
            aside.publish("b")
        with store.open("a") as file:
            assert file.read() == b"first"
        assert self.names(store) == ["a", "b"]

    def test_renaming_replaces_nothing(self, store: ArchiveStore) -> None:
        put_file(store, "c/a", b"first")
        put_file(store, "c/b", b"second")
        with pytest.raises(InputRefused, match="exists already"):
            store.rename("c/a", "c/b")
        assert self.names(store) == ["c/a", "c/b"]
        store.rename("c/a", "d/e/a")
        assert self.names(store) == ["c/b", "d/e/a"]
        with pytest.raises(InputRefused, match="file not found"):
            store.rename("c/a", "c/z")

    def test_of_many_that_publish_one_name_one_does(self, store: ArchiveStore) -> None:
        start = threading.Barrier(8)
        won: list[int] = []

        def publish(number: int) -> None:
            with store.create_aside(f"t{number}") as aside:
                aside.file.write(b"%d" % number)
                start.wait()
                try:
                    aside.publish("crawl/a")
                except InputRefused:
                    return
                won.append(number)

        threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [winner] = won
        with store.open("crawl/a") as file:
            assert file.read() == b"%d" % winner
        assert self.names(store, ASIDE) == []

    def test_a_writer_of_the_same_token_takes_the_place(self, store: ArchiveStore) -> None:
        first = store.create_aside("t")
        first.__enter__().file.write(b"died, and was long")
        put_file(store, "a", b"again", token="t")
        with store.open("a") as file:
            assert file.read() == b"again"

    def test_deleting(self, store: ArchiveStore) -> None:
        put_file(store, "c/a", b"x")
        store.delete("c/a")
        store.delete("c/a")
        store.delete("nothing/at/all")
        assert store.size("c/a") is None
        put_file(store, "c/a", b"y")
        with store.open("c/a") as file:
            assert file.read() == b"y"

    def test_what_the_dead_left_can_be_cleared(self, store: ArchiveStore) -> None:
        dead = store.create_aside("t.copy")
        dead.__enter__()
        [left] = store.list(ASIDE)
        store.delete(left.name)
        assert self.names(store, ASIDE) == []

    def test_the_quarantine_is_listed_on_request_only(self, store: ArchiveStore) -> None:
        kept = f"{QUARANTINE}/fsck-1/kept"
        put_file(store, "c/a.sidecar", LARGE)
        put_file(store, "c/b", b"b")
        assert self.names(store, QUARANTINE) == []
        store.rename("c/a.sidecar", kept)
        put_file(store, f"{QUARANTINE}/fsck-1/record", b"why")
        assert self.names(store) == ["c/b"]
        assert self.names(store, ASIDE) == []
        assert self.names(store, QUARANTINE) == [kept, f"{QUARANTINE}/fsck-1/record"]
        assert self.names(store, f"{QUARANTINE}/fsck-1") == self.names(store, QUARANTINE)
        assert store.size(kept) == len(LARGE)
        assert store.checksum(kept) == hashlib.sha256(LARGE).hexdigest()
        with store.open(kept) as file:
            assert file.read() == LARGE
        with pytest.raises(InputRefused, match="exists already"):
            store.rename(kept, "c/b")
        with pytest.raises(InputRefused, match="exists already"):
            store.rename("c/b", kept)
        store.rename(kept, "c/a.sidecar")
        assert self.names(store) == ["c/a.sidecar", "c/b"]
        store.delete(f"{QUARANTINE}/fsck-1")
        store.delete(f"{QUARANTINE}/fsck-1")
        assert self.names(store, QUARANTINE) == []
        assert self.names(store) == ["c/a.sidecar", "c/b"]

    def test_what_is_aside_is_moved_into_the_quarantine_and_back(
        self, store: ArchiveStore, open_aside: Callable[[str], ArchiveStore]
    ) -> None:
        """Whatever the dead have left: a file of theirs, or a folder of files."""
        dead = store.create_aside("t.copy")
        aside = dead.__enter__()
        aside.file.write(b"half")
        aside.checksum()
        put_file(open_aside(store.folder_aside("run-1")), "_written/b", b"b")
        left = self.names(store, ASIDE)
        assert left == [f"{ASIDE}/run-1", f"{ASIDE}/t.copy"]
        for number, name in enumerate(left):
            store.rename(name, f"{QUARANTINE}/fsck-{number}/kept")
            with pytest.raises(InputRefused, match="file not found"):
                store.rename(name, f"{QUARANTINE}/fsck-{number}/again")
        assert self.names(store, ASIDE) == self.names(store) == []
        assert [file.size for file in store.list(QUARANTINE)] == [1, 4]
        for number, name in enumerate(left):
            store.rename(f"{QUARANTINE}/fsck-{number}/kept", name)
        assert self.names(store, ASIDE) == left
        assert self.names(store, QUARANTINE) == []

    def test_a_folder_aside_is_filled_by_others(
        self, store: ArchiveStore, open_aside: Callable[[str], ArchiveStore]
    ) -> None:
        others = open_aside(store.folder_aside("run-1"))
        for name in ("é/a", "b"):
            put_file(others, f"_written/{name}", name.encode())
        assert self.names(store) == []
        assert self.names(store, ASIDE) == [f"{ASIDE}/run-1"]
        inner = [f"{ASIDE}/run-1/_written/{name}" for name in ("b", "é/a")]
        assert self.names(store, f"{ASIDE}/run-1") == inner
        assert self.names(store, f"{ASIDE}/run-2") == []
        store.publish_from("run-1", "_written/é/a", "crawl/a")
        with store.open("crawl/a") as file:
            assert file.read() == "é/a".encode()
        assert self.names(others) == ["_written/b"]
        with pytest.raises(InputRefused, match="exists already"):
            store.publish_from("run-1", "_written/b", "crawl/a")
        with pytest.raises(InputRefused, match="file not found"):
            store.publish_from("run-1", "_written/é/a", "crawl/b")
        for name in ("", "../b", "_written/../b", "/b"):
            with pytest.raises(InputRefused):
                store.publish_from("run-1", name, "crawl/b")
        store.delete(f"{ASIDE}/run-1")
        store.delete(f"{ASIDE}/run-1")
        assert self.names(store, ASIDE) == []
        assert self.names(store) == ["crawl/a"]

    def test_listing_is_in_order_of_names(self, store: ArchiveStore) -> None:
        names = ["a/b", "a-b", "a.b", "a/b-c/d", "a/bc", "aa", "z/y/x", "B", "ä"]
        for name in names:
            put_file(store, name, name.encode())
        assert list(store.list()) == sorted((name, len(name.encode())) for name in names)
        assert self.names(store, "a") == sorted(name for name in names if name.startswith("a/"))
        assert self.names(store, "z/y") == ["z/y/x"]
        assert self.names(store, "nothing") == []

    @pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
    def test_a_name_that_is_none_is_refused(self, store: ArchiveStore, name: str) -> None:
        put_file(store, "a", b"x")
        acts: list[Callable[[], object]] = [
            lambda: store.open(name),
            lambda: store.size(name),
            lambda: store.checksum(name),
            lambda: store.delete(name),
            lambda: store.rename("a", name),
            lambda: store.rename(name, "b"),
            lambda: put_file(store, name, b"", token="u"),
            lambda: put_file(store, "b", b"", token=name),
        ]
        if name:
            acts.append(lambda: list(store.list(name)))
        for act in acts:
            with pytest.raises(InputRefused):
                act()
        assert self.names(store) == ["a"]
        assert self.names(store, ASIDE) == []

    def test_a_folder_in_the_way(self, store: ArchiveStore) -> None:
        put_file(store, "a/b", b"x")
        for name in ("a", "a/b/c"):
            with pytest.raises(InputRefused), store.create_aside("t") as aside:
                aside.publish(name)
        assert self.names(store) == ["a/b"]


def process_is_root() -> bool:
    return os.geteuid() == 0
