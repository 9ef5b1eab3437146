"""What the bench of Zstandard holds out, reckons and prints; nothing is timed."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_builders import member, warc
from page_sets import HTML, images, pages

from bench.measure import Spread
from bench.zstd.__main__ import levels_of
from bench.zstd.held_out import HeldRecord, drawn, read, some, split
from bench.zstd.levels import LevelFigures, at_level, by_kind, first_of, most_bytes
from bench.zstd.reading import ReadingFigures, inflate_gzip, write_pair
from bench.zstd.rounds import run, train
from bench.zstd.tables import INFLATED, READ, WHOLE, level_table, reading_table
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

URL = b"WARC-Target-URI: http://example.org/"


def sites() -> list[bytes]:
    """Pages of four sites, and images."""
    records = [*pages(800), *images(20)]
    return [
        record.replace(URL, URL + b"site%d/" % (number % 4))
        for number, record in enumerate(records)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, records = tmp_path_factory.mktemp("zstd"), sites()
    paths = [folder / f"{number}.warc.gz" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(map(member, records[number::2])))
    return paths


@pytest.mark.parametrize("grouping", ["records", "sites"])
def test_no_group_is_trained_on_and_measured_with(files: list[Path], grouping: str) -> None:
    parts = split(files, grouping, seed=1)
    samples = [*parts.sampler.training(), *(s.data for s in parts.sampler.held_out())]
    held = [record.data for record in read(parts.held)]
    assert len(samples) + len(held) == 820
    if grouping == "sites":
        (site,) = parts.held_groups
        folder = b"/" + site.partition("/")[2].encode() + b"/"
        assert all(folder in data for data in held)
        assert not any(folder in data for data in samples)
    else:
        assert not set(samples) & set(held)
        assert 150 <= len(held) <= 260
    assert parts.gzip_bytes == sum(path.stat().st_size for path in files)


DRAWN = {"many": 100, "four": 4, "two": 2}


@pytest.mark.parametrize("count", DRAWN.values(), ids=DRAWN)
def test_a_quarter_of_the_bytes_is_drawn_and_never_all(count: int) -> None:
    sizes = {str(number): 10 for number in range(count)}
    found = drawn(sizes, seed=3)
    assert 1 <= len(found) == max(1, count // 4) < count
    assert found == drawn(dict(reversed(sizes.items())), seed=3)
    assert count == 2 or any(drawn(sizes, seed=seed) != found for seed in range(9))


def test_no_group_is_drawn_that_has_more_than_a_quarter() -> None:
    sizes = {"large": 70, "middle": 24, "small": 6}
    drawn_sets = [drawn(sizes, seed=seed) for seed in range(20)]
    assert {frozenset(found) for found in drawn_sets} == {
        frozenset({"middle"}),
        frozenset({"small"}),
    }
    assert drawn({"large": 70, "larger": 71}, seed=1) == {"large"}


def test_fewer_bytes_are_a_part_of_more(files: list[Path]) -> None:
    held = split(files, "records", seed=1).held
    few, many = some(held, 20_000, seed=1), some(held, 200_000, seed=1)
    assert few == many[: len(few)]
    assert len(few) < len(many)
    assert sum(place.size for place in few) <= 20_000


def figures(zstd_bytes: int, *, level: int = 8, dictionary_bytes: int = 0) -> LevelFigures:
    return LevelFigures(
        level=level, records=10, gzip_bytes=1000, zstd_bytes=zstd_bytes, inflated_bytes=5_000_000,
        cpu_s=2.0, dictionary_bytes=dictionary_bytes,
    )  # fmt: skip


def test_the_dictionary_counts_once_for_each_file() -> None:
    found = figures(500, dictionary_bytes=100_000)
    assert found.records_ratio == 0.5
    assert found.ratio(of_bytes=10_000_000, files=3) == pytest.approx(0.53)
    assert found.ratio(of_bytes=10**9) == pytest.approx(0.5001)
    assert found.mb_per_s == 2.5


def test_a_level_is_measured_with_the_bytes_of_its_frames() -> None:
    records = [HeldRecord("text/html", data, len(member(data))) for data in pages(50)]
    found = at_level(3, records, None, 0)
    assert found.gzip_bytes == sum(len(member(data)) for data in pages(50))
    assert 0.5 * found.gzip_bytes < found.zstd_bytes < 2 * found.gzip_bytes
    assert found.inflated_bytes == sum(map(len, pages(50)))


def test_slow_levels_take_fewer_records_the_first_of_them() -> None:
    assert [most_bytes(level) // 10**6 for level in (1, 12, 13, 18, 19, 22)] == [
        64,
        64,
        32,
        32,
        16,
        16,
    ]
    records = [HeldRecord("a", b"x" * 10, 5) for _ in range(9)]
    assert list(first_of(records, 35)) == records[:3]


def test_kinds_are_ordered_by_their_bytes() -> None:
    records = [HeldRecord(kind, b"", size) for kind, size in (("a", 1), ("b", 5), ("a", 3))]
    assert {kind: len(part) for kind, part in by_kind(records).items()} == {"b": 1, "a": 2}
    assert list(by_kind(records)) == ["b", "a"]


def test_goals_are_judged_with_the_dictionary_over_a_gigabyte() -> None:
    pairs = [
        (figures(1000), figures(740)),
        (figures(1000), figures(740, dictionary_bytes=10**6)),
        (figures(900, level=19), figures(560, level=19)),
        (figures(1000, level=3), figures(999, level=3)),
    ]
    speeds = [2.0, 1.0, 1.0, 1.0]
    lines = level_table(pairs, speeds, collection_bytes=10**6, files=1).splitlines()[2:]
    assert [line.split("|")[-2].strip() for line in lines] == ["kept", "MISSED", "kept", ""]
    assert lines[1].split("|")[8:10] == [" 1.740               ", " 0.741     "]
    assert [line.split("|")[6].strip() for line in lines[:2]] == ["1.25", "2.50"]


def test_goals_of_reading_are_judged_by_the_median() -> None:
    def found(times: float) -> ReadingFigures:
        one = Spread(middle=100.0, least=1.0, most=200.0)
        return ReadingFigures(one, one, Spread(middle=times, least=0.1, most=9.0))

    text = reading_table([(INFLATED, found(1.5)), (READ, found(1.1)), (WHOLE, found(0.99))])
    assert [line.split("|")[-2].strip() for line in text.splitlines()[2:]] == ["kept", "", "MISSED"]


def test_both_files_hold_the_same_records(files: list[Path], tmp_path: Path) -> None:
    parts = split(files, "records", seed=1)
    dictionary = train(parts, 3)
    assert dictionary is not None
    places = some(parts.held, 100_000, seed=1)
    pair = write_pair(places, read(places), dictionary, tmp_path, level=3)
    found = []
    for written in (pair.gzip, pair.zstd):
        records = [item for item in iter_records(written.file) if isinstance(item, Record)]
        assert [record.offset for record in records] == written.offsets[:-1]
        assert written.offsets[-1] == written.file.stat().st_size
        found.append([(r.header.raw, b"".join(map(bytes, r.chunks()))) for r in records])
    assert found[0] == found[1]
    assert pair.zstd.file.stat().st_size < pair.gzip.file.stat().st_size


def test_a_gzip_member_is_verified() -> None:
    data = member(warc(HTML))
    assert inflate_gzip(data) == warc(HTML)
    with pytest.raises(Exception, match="check"):
        inflate_gzip(data[:-8] + b"\0\0\0\0" + data[-4:])


def test_a_run_prints_its_tables(
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PINAKES_BENCH_CACHE", str(tmp_path))
    run(files, grouping="sites", levels=[1, 8], runs=1)
    said = capsys.readouterr().out
    assert "held out: 205 records of 1 sites: example.org/site" in said
    for row in ("| 1 ", "| 8 ", "| text/html", "| image/png", f"| {WHOLE}"):
        assert row in said
    assert [path.name for path in tmp_path.iterdir()] == ["zstd.json"]


def test_levels_are_named_one_by_one_and_from_to() -> None:
    assert levels_of("3,8,19-22") == [3, 8, 19, 20, 21, 22]
