"""`pinakes zstd train`: what it says, writes, and leaves behind where it is stopped."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import zstandard
from archive_builders import dictionary_frame, frame, member
from killing import dies
from page_sets import images, pages

from pinakes.cli import main
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

SITE = pages(700)
UNSEEN = pages(710)[700:]
_OURS = re.compile(r"/dictionaries/|/zstd_train\.py|/whole_files\.py")
Answer = Callable[..., dict[str, Any]]


def archive(folder: Path, records: Sequence[bytes], name: str = "a.warc.gz") -> Path:
    path = folder / name
    path.write_bytes(b"".join(map(member, records)))
    return path


@pytest.fixture
def train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Call it at a quick level; what it answers as JSON."""

    def call(*words: object, code: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        out = ("-o", tmp_path / "new.dict", "--level", 3, "--json")
        assert main(["zstd", "train", *map(str, (*words, *out))]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    return call


def test_the_dictionary_makes_pages_of_the_site_smaller(tmp_path: Path, train: Answer) -> None:
    said = train(archive(tmp_path, SITE))
    dictionary = (tmp_path / "new.dict").read_bytes()
    assert said["output"] == str(tmp_path / "new.dict")
    assert said["dictionary_bytes"] == len(dictionary)
    assert said["net_bytes"] == said["saved_bytes"] - said["stored_bytes"] > 0
    assert max(said["sizes"], key=lambda size: size["net_bytes"])["dictionary_bytes"] == len(
        dictionary
    )
    assert said["kinds"]["text/html"]["with"] < 0.7 * said["kinds"]["text/html"]["without"]
    for page in UNSEEN:
        assert len(frame(page, dictionary=dictionary)) < 0.7 * len(frame(page))


def test_a_file_that_holds_it_is_read(tmp_path: Path, train: Answer) -> None:
    train(archive(tmp_path, SITE))
    dictionary = (tmp_path / "new.dict").read_bytes()
    packed = tmp_path / "unseen.warc.zst"
    frames = b"".join(frame(page, dictionary=dictionary) for page in UNSEEN)
    packed.write_bytes(dictionary_frame(dictionary, compressed=True) + frames)
    found = [item for item in iter_records(packed) if isinstance(item, Record)]
    assert [b"".join(map(bytes, record.chunks())) for record in found] == [
        page.partition(b"\r\n\r\n")[2][:-4] for page in UNSEEN
    ]
    assert main(["check", "-q", str(packed)]) in (0, 1)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_the_command_zstd_takes_it(tmp_path: Path, train: Answer) -> None:
    train(archive(tmp_path, SITE))
    dictionary = tmp_path / "new.dict"
    page = tmp_path / "page"
    page.write_bytes(UNSEEN[0])
    subprocess.run(["zstd", "-q", "-D", dictionary, page], check=True)
    packed = page.with_suffix(".zst").read_bytes()
    known = zstandard.ZstdCompressionDict(dictionary.read_bytes())
    assert zstandard.get_frame_parameters(packed).dict_id == known.dict_id()
    assert zstandard.ZstdDecompressor(dict_data=known).decompress(packed) == UNSEEN[0]


def test_compress_takes_it_and_decompress_gives_the_records_back(
    tmp_path: Path, train: Answer
) -> None:
    train(archive(tmp_path, SITE))
    unseen = tmp_path / "unseen.warc"
    unseen.write_bytes(b"".join(UNSEEN))
    words = ["--dictionary", str(tmp_path / "new.dict"), "-o", str(tmp_path / "packed")]
    assert main(["zstd", "compress", "-q", str(unseen), *words]) == 0
    (packed,) = (tmp_path / "packed").iterdir()
    data = packed.read_bytes()
    first = data[8 + int.from_bytes(data[4:8], "little") :]
    known = zstandard.ZstdCompressionDict((tmp_path / "new.dict").read_bytes())
    assert zstandard.get_frame_parameters(first).dict_id == known.dict_id()
    assert zstandard.ZstdDecompressor(dict_data=known).decompress(first) == UNSEEN[0]
    out = tmp_path / "out"
    assert main(["zstd", "decompress", "-q", str(packed), "-o", str(out)]) == 0
    (unpacked,) = out.iterdir()
    assert gzip.decompress(unpacked.read_bytes()) == unseen.read_bytes()


def test_the_same_call_gives_the_same_bytes(tmp_path: Path, train: Answer) -> None:
    path, out = archive(tmp_path, SITE), tmp_path / "new.dict"
    written = []
    for seed in (1, 1, 2):
        train(path, "--seed", seed)
        written.append(out.read_bytes())
        out.unlink()
    assert written[0] == written[1] != written[2]


def test_each_file_counts_the_dictionary(tmp_path: Path, train: Answer) -> None:
    for number in range(20):
        archive(tmp_path, SITE[number * 35 : number * 35 + 35], f"{number}.warc.gz")
    archive(tmp_path, [], "empty.warc.gz")
    many = train(tmp_path, "--dry-run")
    one = train(archive(tmp_path, SITE, "one.warc.gz"), "--dry-run")
    assert (many["files"], one["files"]) == (20, 1)
    assert many["net_bytes"] == many["saved_bytes"] - 20 * many["stored_bytes"]
    assert many["net_bytes"] < one["net_bytes"]


def test_a_collection_is_trained_on_by_name(
    tmp_path: Path, train: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path, SITE)
    monkeypatch.chdir(tmp_path)
    assert main(["init", "-q"]) == 0
    assert main(["ingest", "-q", str(path), "--crawl", "spring", "--collection", "news"]) == 0
    of_file, of_crawl, of_collection = (
        train(name, "--dry-run") for name in (path, "spring", "news")
    )
    assert of_file == of_crawl == of_collection


NOTHING = {
    "no record": ([], "too few records to train on"),
    "two records": (SITE[:2], "too few records to train on"),
    "images, each another": (images(30), "too few records to train on"),
    "a dictionary takes more than it saves": (
        [*SITE[:40], *images(40)],
        "no size saves more than it takes",
    ),
}


@pytest.mark.parametrize(("records", "why"), NOTHING.values(), ids=NOTHING)
def test_where_nothing_is_saved_nothing_is_written(
    records: list[bytes], why: str, tmp_path: Path, train: Answer
) -> None:
    files = [archive(tmp_path, [record], f"{n}.warc.gz") for n, record in enumerate(records)]
    said = train(*files or [archive(tmp_path, [])])
    assert (said["output"], said["why"]) == (None, why)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".gz"]


def test_what_cannot_be_read_is_named(
    tmp_path: Path, train: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.warc.gz"
    broken.write_bytes(b"no record\n" * 9 + b"".join(map(member, SITE)))
    words = ["zstd", "train", str(broken), "-o", str(tmp_path / "new.dict"), "--level", "3"]
    assert main(words) == 3
    assert "broken.warc.gz:0: " in capsys.readouterr().err
    assert (tmp_path / "new.dict").stat().st_size > 1000


@contextmanager
def stopped_at(call: int) -> Iterator[list[int]]:
    """Ctrl-C at the n-th call of a function of this verb; how many there were."""
    counted = [0]

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and _OURS.search(code.co_filename) and code.co_name != "configure":
            counted[0] += 1
            if counted[0] == call:
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        yield counted
    finally:
        sys.setprofile(None)


@pytest.mark.slow
def test_stopped_at_any_step_it_leaves_a_whole_dictionary_or_none(tmp_path: Path) -> None:
    path, out = archive(tmp_path, SITE[:150]), tmp_path / "new.dict"
    words = ["zstd", "train", "-q", str(path), "-o", str(out), "--level", "1"]
    with stopped_at(0) as calls:
        assert main(words) == 0
    whole = out.read_bytes()
    out.unlink()
    # Near its end every step; of the many alike before it a few.
    last = range(max(1, calls[0] - 16), calls[0] + 1)
    for call in [*range(1, last[0], 1 + calls[0] // 6), *last]:
        with stopped_at(call):
            code = main(words)
        left = {each.name for each in tmp_path.iterdir()} - {path.name}
        assert left in (set(), {"new.dict"}), call
        assert code == 5 or not left
        if left:
            assert out.read_bytes() == whole
            out.unlink()
    assert main(words) == 0
    assert out.read_bytes() == whole


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a crawl of the collection news; the folder that it is in."""
    path = archive(tmp_path, SITE[:150])
    monkeypatch.chdir(tmp_path)
    assert main(["init", "-q"]) == 0
    assert main(["ingest", "-q", str(path), "--crawl", "spring", "--collection", "news"]) == 0
    return tmp_path


def kept_in(folder: Path) -> list[Path]:
    return sorted((folder / "pinakes-store" / "archive").glob("+news/*"))


KEEP = ("zstd", "train", "-q", "news", "--keep", "news", "--level", "1", "-o")


def test_a_collection_keeps_it_once(collection: Path) -> None:
    for name in ("a.dict", "b.dict"):
        assert main([*KEEP, name]) == 0
    (kept,) = kept_in(collection)
    assert kept.read_bytes() == (collection / "a.dict").read_bytes()
    assert main([*KEEP, "c.dict", "--seed", "2"]) == 0
    assert [path.name[:5] for path in kept_in(collection)] == ["0001-", "0002-"]
    assert main([*KEEP, "d.dict", "--seed", "3", "--dry-run"]) == 0
    assert len(kept_in(collection)) == 2
    assert main(["fsck", "-q", "--full"]) == 0
    assert main(["crawl", "cancel", "spring", "-q"]) == 0
    assert len(kept_in(collection)) == 2


@pytest.mark.slow
def test_killed_at_any_step_it_is_kept_whole_or_not_at_all(
    collection: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out, step = collection / "new.dict", 0
    while dies([*KEEP, out], collection, step):
        for path in (out, *kept_in(collection)):
            if path.exists():
                assert zstandard.ZstdCompressionDict(path.read_bytes()).dict_id()
        assert main(["fsck", "-q", "--repair"]) in (0, 1)
        assert main(["fsck", "-q", "--full"]) == 0
        if out.exists():
            assert [path.read_bytes() for path in kept_in(collection)] == [out.read_bytes()]
        for path in (out, *kept_in(collection)):
            path.unlink(missing_ok=True)
        step += 1
    assert step > 10
    assert [path.read_bytes() for path in kept_in(collection)] == [out.read_bytes()]
    assert not out.with_name(f".{out.name}.pinakes-part").exists()
