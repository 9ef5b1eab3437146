"""`pinakes zstd compress` and `decompress`: results, exit codes, what is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from archive_builders import (
    dictionary,
    dictionary_frame,
    dictionary_of_noise,
    frame,
    gzip_file,
    plain_file,
    records_of,
    skippable,
    three,
    zstd_file,
)
from steps_here import INLINE, steps_here

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

CONTENT = b"".join(three())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.warc.gz").write_bytes(gzip_file())
    Path("known").write_bytes(dictionary())
    return tmp_path


def test_there_and_back_with_a_dictionary(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["zstd", "compress", "a.warc.gz", "-o", "z", "--dictionary", "known", "-j", "2"]
    assert main(words) == Exit.DONE
    size = Path("z/a.warc.zst").stat().st_size
    shown = capsys.readouterr()
    assert shown.out == (
        "a.warc.gz -> z/a.warc.zst: written, 1 metadata, 1 response, 1 warcinfo; "
        f"{len(gzip_file()):,} -> {size:,} bytes ({size / len(gzip_file()):.1%}); "
        f"verified, {len(CONTENT)} bytes\n"
    )
    assert main(["zstd", "decompress", "z/a.warc.zst", "-o", "g"]) == Exit.DONE
    assert main(["zstd", "compress", "g", "-o", "z", "--dictionary", "z/a.warc.zst"]) == Exit.DONE
    assert "unchanged" in capsys.readouterr().out
    assert main(["zstd", "decompress", "z", "-o", "p", "--plain"]) == Exit.DONE
    assert Path("p/a.warc").read_bytes() == CONTENT
    capsys.readouterr()
    assert main(["manifest", "--records", "a.warc.gz"]) == Exit.DONE
    before = capsys.readouterr().out
    assert main(["manifest", "--records", "z/a.warc.zst"]) == Exit.DONE
    after = capsys.readouterr().out
    assert [line.split()[1:] for line in after.splitlines()] == [
        line.split()[1:] for line in before.splitlines()
    ]


@pytest.mark.parametrize(
    "words", [[], ["-j", "2"], ["--dry-run"], ["--plan"], INLINE], ids=" ".join
)
def test_files_are_left_that_would_not_shrink_if_asked_for(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """By default each file is written: none lacks in the folder."""
    Path("large.warc").write_bytes(plain_file() * 1000)
    Path("noise").write_bytes(dictionary_of_noise())
    call = ["zstd", "compress", "a.warc.gz", "large.warc", "-o", "z", "--dictionary", "noise"]
    with steps_here():
        assert main([*call, *words, "--min-file-saving", "1%", "--json"]) == Exit.DONE
        shown = capsys.readouterr()
        told = {line["file"]: line for line in map(json.loads, shown.out.splitlines())}
        left = told["a.warc.gz"]
        assert (left["outcome"], left["target"]) == ("saves too little", "a.warc.gz")
        assert left["bytes_after"] > left["bytes_before"] == len(gzip_file())
        assert "1 file unchanged: would save less than 1%" in shown.err
        writes = not {"--dry-run", "--plan"} & set(words)
        assert [path.name for path in Path().glob("z/*")] == ["large.warc.zst"] * writes
        assert main([*call, *words]) == Exit.DONE
    names = ["a.warc.zst", "large.warc.zst"] if writes else []
    assert sorted(path.name for path in Path().glob("z/*")) == names


@pytest.mark.parametrize("jobs", ["2", "5"], ids=["a process each", "threads in each, too"])
def test_files_by_processes(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same files as by one process; results are printed in the order of the inputs."""
    for number, data in enumerate((b"", CONTENT, gzip_file()[:-5], CONTENT * 500)):
        Path(f"{number}.warc").write_bytes(data)
    names = [f"{number}.warc" for number in range(4)]
    told = {}
    for given in ("1", jobs):
        words = ["zstd", "compress", *names, "a.warc.gz", "--dictionary", "known", "-j", given]
        assert main([*words, "-o", f"z{given}", "--json"]) == Exit.SOME_FAILED
        shown = capsys.readouterr()
        files = {path.name: path.read_bytes() for path in Path(f"z{given}").iterdir()}
        told[given] = (files, shown.out.replace(f"z{given}/", "z/"), shown.err)
    assert told[jobs] == told["1"]
    assert sorted(told[jobs][0]) == ["1.warc.zst", "3.warc.zst", "a.warc.zst"]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zstd", "compress", "a.warc.gz", "-o", "z", "--plan", "--json"]) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert told.pop("bytes_after") > 0
    assert told == {
        "file": "a.warc.gz",
        "target": "z/a.warc.zst",
        "outcome": "planned",
        "records": {"warcinfo": 1, "response": 1, "metadata": 1},
        "stretches": [],
        "findings": [],
        "left_out": [],
        "bytes_before": len(gzip_file()),
        "sampled_records": None,
        "content_bytes": None,
        "content_sha256": None,
    }
    assert not Path("z").exists()


def test_one_bad_file_is_named_and_the_rest_done(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.warc.gz").write_bytes(gzip_file()[:-30])
    Path("c.warc").write_bytes(CONTENT)
    words = ["b.warc.gz", "missing.warc", "c.warc", "-o", "z"]
    assert main(["zstd", "compress", *words]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert "b.warc.gz:" in shown.err
    assert "nothing of this file was written" in shown.err
    assert "missing.warc" in shown.err
    assert [path.name for path in Path("z").iterdir()] == ["c.warc.zst"]


def test_bytes_that_are_no_record_are_kept_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.warc").write_bytes(CONTENT + b"junk")
    assert main(["zstd", "compress", "c.warc", "-o", "z"]) == Exit.SOME_FAILED
    assert f"c.warc:{len(CONTENT)}: 4 bytes kept unchanged" in capsys.readouterr().err
    assert main(["zstd", "decompress", "z/c.warc.zst", "-o", "p", "--plain"]) == Exit.SOME_FAILED
    assert Path("p/c.warc").read_bytes() == CONTENT + b"junk"


def test_a_folder_is_converted_in_itself_and_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("f").mkdir()
    Path("a.warc.gz").rename("f/a.warc.gz")
    for outcome in ("written", "unchanged"):
        assert main(["zstd", "compress", "f", "-o", "f"]) == Exit.DONE
        out = capsys.readouterr().out
        assert (out.count("\n"), outcome in out) == (1, True)
    # The file that is there is another's work: it is neither replaced nor passed over.
    Path("f/a.warc.zst").write_bytes(zstd_file())
    assert main(["zstd", "compress", "f", "-o", "f"]) == Exit.SOME_FAILED
    assert Path("f/a.warc.zst").read_bytes() == zstd_file()


def test_two_inputs_of_one_name_are_refused_before_anything_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.warc.zst").write_bytes(zstd_file())
    words = ["zstd", "compress", "a.warc.gz", "a.warc.zst", "-o", "z"]
    assert main(words) == Exit.WRONG_CALL
    assert "a.warc.gz and a.warc.zst" in capsys.readouterr().err
    assert not Path("z").exists()


def test_another_file_of_that_name_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.warc.zst").write_bytes(zstd_file())
    assert main(["zstd", "compress", "a.warc.gz", "-o", "."]) == Exit.SOME_FAILED
    assert "exists already" in capsys.readouterr().err
    assert Path("a.warc.zst").read_bytes() == zstd_file()


# --- `pinakes zstd slice`: a record's bytes by its place, in every compression


FILES = {
    "gzip": gzip_file(),
    "zstd": zstd_file(known=None),
    "dictionary": zstd_file(),
    "compressed-dictionary": zstd_file(compressed=True),
    "several-frames-a-record": b"".join(frame(r[:99]) + frame(r[99:]) for r in three()),
    "other-skippable-frames": b"".join(frame(r) + skippable(b"\r\n") for r in three()),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_every_record_is_sliced_by_its_offset_and_length(
    data: bytes, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    sliced = []
    for record in records_of(data):
        place = [str(record.offset), str(record.length)]
        assert main(["zstd", "slice", str(path), *place]) == Exit.DONE
        sliced.append(capfdbinary.readouterr().out)
    assert sliced == three()


def test_an_uncompressed_record_is_without_the_line_ends_that_close_it(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(three()))
    second = records_of(path.read_bytes())[1]
    assert main(["zstd", "slice", str(path), str(second.offset), str(second.length)]) == Exit.DONE
    assert capfdbinary.readouterr().out + b"\r\n\r\n" == three()[1]
    with_ends = [str(second.offset), str(second.length + 4)]  # as other indexes have it
    assert main(["zstd", "slice", str(path), *with_ends]) == Exit.DONE
    assert capfdbinary.readouterr().out == three()[1]


DATA = zstd_file()
FIRST = records_of(DATA)[0]
DAMAGED = bytearray(DATA)
DAMAGED[FIRST.offset + FIRST.length - 1] ^= 1
PLAIN = b"".join(three())
PLAIN_FIRST = records_of(PLAIN)[0].length


@pytest.mark.parametrize(
    ("data", "offset", "length", "said"),
    [
        (DATA, 0, FIRST.offset, "no record begins here"),
        (DATA, FIRST.offset + 1, FIRST.length, "no record begins here"),
        (DATA, len(DATA), 1, f"wrong length: the file ends at {len(DATA)}"),
        (DATA, FIRST.offset, FIRST.length - 1, "wrong length: its Zstandard frame ends at"),
        (DATA, FIRST.offset, FIRST.length + 1, "wrong length: its Zstandard frame ends at"),
        (DATA, FIRST.offset, len(DATA), f"wrong length: the file ends at {len(DATA)}"),
        (PLAIN, 0, PLAIN_FIRST - 1, f"wrong length: its record ends at {PLAIN_FIRST}"),
        (PLAIN, 0, PLAIN_FIRST + 5, "wrong length: its record ends at"),
        (PLAIN, 1, PLAIN_FIRST, "no record begins here"),
        (three()[0], 0, 9999, f"wrong length: the file ends at {len(three()[0])}"),
        (bytes(DAMAGED), FIRST.offset, FIRST.length, "checksum does not fit"),
        (
            dictionary_frame(dictionary(2)) + DATA[FIRST.offset :],
            len(dictionary_frame(dictionary(2))),
            FIRST.length,
            "compressed with the Zstandard dictionary 1, but that of the file is 2",
        ),
    ],
    ids=[
        "the-dictionary",
        "inside-a-frame",
        "behind-the-end",
        "too-short",
        "too-long",
        "longer-than-the-file",
        "shorter-than-an-uncompressed-record",
        "longer-than-an-uncompressed-record",
        "inside-an-uncompressed-record",
        "longer-than-an-uncompressed-file",
        "damaged",
        "the-dictionary-of-another-file",
    ],
)
def test_a_wrong_place_is_refused(
    data: bytes,
    offset: int,
    length: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(data)
    code = main(["zstd", "slice", str(path), str(offset), str(length)])
    assert code == Exit.SOME_FAILED
    assert said in capsys.readouterr().err
