"""Files of a store in another compression: names, places, records, and what other acts do then."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from agreement import check_references
from archive_builders import dictionary, frame
from backup_scenes import back_up, restore
from backup_scenes import opened as opened_store
from exported import archives, described, export, members
from failing_store import failing_archive
from fsck_here import fsck_lines, look
from hypothesis import given, settings
from hypothesis import strategies as st
from judge import content
from killing import KILLED, deaths, deaths_of_verb, in_child, kill_at
from purged import purge
from recompressed import FORMS, found_by_lines, names, opened, outcomes, recompress, records
from scenes import COLLECTION, At, Scene, copied_scene, in_scene, make_scene
from steps_here import INLINE
from taken_down import land_site, uri, withdraw
from warc_sets import in_frames
from zstandard import ZstdCompressionDict

from pinakes.acts.actor import Actor, read_lease
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import read_entry, release_claim, scan_entries, take_claim
from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.stored_generations import find_generation
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Conflict, DigestMismatch, StoreUnavailable
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.file_cells import CurrentGeneration
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.recompression.forms import in_zstd, in_zstd_as_kept
from pinakes.recompression.stored import StoredRecompressor
from pinakes.rewrite.recompress_file import Recompression
from pinakes.row_store.port import Put
from pinakes.warc.compression.members import compression_of
from pinakes.warc.compression.zstd_dictionary import dictionary_of

BY = pytest.mark.parametrize("runner", [None, "here"], ids=["here", "by tasks"])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Scene]:
    """Three crawls of one file, the later ones' pages revisits of the first one's."""
    with make_scene(tmp_path, ()) as scene:
        land_site(scene, 1, 2, 3)
        yield scene


def compressions(scene: Scene) -> dict[str, str | None]:
    found = {}
    for name in names(scene):
        with opened(scene, name) as source:
            found[name] = compression_of(source)
    return found


@BY
def test_there_and_back_again(site: Scene, runner: str | None) -> None:
    before, lines = records(site), found_by_lines(site)
    assert len(lines) == 9
    assert set(outcomes(recompress(site, "zst", runner=runner)).values()) == {"written"}
    assert compressions(site) == {
        "c1/g2-gz/site.warc.zst": "zstd",
        "c2/g3-gz/site.warc.zst": "zstd",
        "c3/g3-gz/site.warc.zst": "zstd",
    }
    assert (records(site), found_by_lines(site), fsck_lines(site)) == (before, lines, [])
    assert set(outcomes(recompress(site, "zst", runner=runner)).values()) == {"left"}
    recompress(site, "plain", runner=runner)
    assert compressions(site)["c2/g4-gz/site.warc"] is None
    assert (records(site), found_by_lines(site), fsck_lines(site)) == (before, lines, [])
    recompress(site, "gz", runner=runner)
    assert list(compressions(site).items()) == [
        ("c1/g4/site.warc.gz", "gzip"),
        ("c2/g5/site.warc.gz", "gzip"),
        ("c3/g5/site.warc.gz", "gzip"),
    ]
    assert (records(site), found_by_lines(site), fsck_lines(site)) == (before, lines, [])
    entry = read_entry(site.rows, "c2/site.warc.gz")
    written = read_generations(site.rows, entry.archive_file)
    assert {number: (facts.file, facts.why) for number, facts in written.items()} == {
        1: ("c2/site.warc.gz", "landed"),
        2: ("c2/g2/site.warc.gz", "dedupe"),
        3: ("c2/g3-gz/site.warc.zst", "zstd"),
        4: ("c2/g4-gz/site.warc", "zstd"),
        5: ("c2/g5/site.warc.gz", "zstd"),
    }  # fmt: skip


@BY
def test_again_for_another_level_dictionary_or_layout(scene: Scene, runner: str | None) -> None:
    """What would have the same bytes stays, so that the same command may be run again."""
    folder = scene.crawls / "c1"
    data = gzip.decompress((folder / "part-0.warc.gz").read_bytes())
    (folder / "part-0.warc.gz").write_bytes(gzip.compress(data))
    (folder / "part-1.warc.gz").unlink()
    (folder / "shared.warc.zst").write_bytes(frame(data.replace(b"/0", b"/100")))
    scene.land(1)
    before, lines = records(scene), found_by_lines(scene)
    parted = set[tuple[str, str, bytes, bytes]]()
    known = in_zstd(9, ZstdCompressionDict(dictionary()))
    for number, form in enumerate((FORMS["zst"], in_zstd(19, None), known, FORMS["gz"]), 2):
        assert set(outcomes(recompress(scene, form, again=True, runner=runner)).values()) == {
            "written"
        }
        now = names(scene)
        assert [generation_of(name).number for name in now] == [number] * 2
        assert (records(scene), fsck_lines(scene)) == (before, [])
        # Frames and members that records share are parted by the first of them.
        parted = parted or found_by_lines(scene)
        assert found_by_lines(scene) == parted > lines
        state = scene.state()
        assert set(outcomes(recompress(scene, form, again=True, runner=runner)).values()) == {
            "unchanged"
        }
        assert names(scene) == now
        assert scene.state() == state
    list(scene.drop(0, scan_entries(scene.rows)))
    assert sorted(one.name for one in scene.archive.list()) == sorted(
        each for name in now for each in (name, sidecar_name(name))
    )


def test_generations_are_found_by_the_names_that_they_have(site: Scene) -> None:
    recompress(site, "zst")
    old, new = (find_generation(site.rows, name) for name in [names(site)[0], "c1/site.warc.gz"])
    assert old is not None
    assert new is not None
    assert (old.is_current, new.is_current, new.current) == (True, False, old.name)
    for name in ("c1/g2/site.warc.gz", "c1/g2-gz/site.warc", "c1/g3-gz/site.warc.zst"):
        assert find_generation(site.rows, name) is None


@pytest.mark.parametrize("ending", ["zst", "plain"])
def test_other_acts_keep_the_compression(site: Scene, ending: str) -> None:
    recompress(site, ending)
    compression = FORMS[ending].compression
    before = records(site)
    [report] = withdraw(site, uri(1))
    assert report.is_complete
    assert set(compressions(site).values()) == {compression}
    assert fsck_lines(site) == []
    assert {len(of_file) for of_file in records(site).values()} == {9}
    assert records(site) != before
    assert purge(site, 1).is_complete
    assert set(compressions(site).values()) == {compression}
    assert fsck_lines(site) == []
    report_of_run = site.dedupe(act="dedupe-b", min_saving_bytes=None)
    assert not report_of_run.problems
    assert set(compressions(site).values()) == {compression}
    assert fsck_lines(site) == []
    # Of the withdrawn page no stored file, of any generation, has a word.
    for stored in site.archive.list():
        if not stored.name.endswith(".parquet"):
            with opened(site, stored.name) as source:
                assert b"secret-2-1" not in content(bytes(source.view(0, source.size)))


@pytest.mark.parametrize("ending", ["zst", "plain"])
@pytest.mark.parametrize("runner", [None, "here"])
def test_dedupe_and_converting_commute(tmp_path: Path, ending: str, runner: str | None) -> None:
    options = {"runner": runner, "min_saving_bytes": None}
    with make_scene(tmp_path / "first") as first, make_scene(tmp_path / "then") as then:
        for scene in (first, then):
            scene.land(1)
            scene.land(2)
        recompress(first, ending)
        assert not first.dedupe(**options).problems  # type: ignore[arg-type]
        assert not then.dedupe(**options).problems  # type: ignore[arg-type]
        recompress(then, ending)
        lines = [found_by_lines(scene) for scene in (first, then)]
        assert len(lines[0]) == 24
        recompress(first, "gz")
        recompress(then, "gz")
        assert [len(found) for found in lines] == [len(found_by_lines(first))] * 2
        assert (fsck_lines(first), fsck_lines(then)) == ([], [])
        assert {name: len(of_file) for name, of_file in records(first).items()} == {
            name: len(of_file) for name, of_file in records(then).items()
        }
        assert found_by_lines(first) == found_by_lines(then) == lines[0] == lines[1]


def test_old_generations_are_dropped_under_all_names(site: Scene) -> None:
    recompress(site, "zst")
    recompress(site, "plain")
    now = names(site)
    # As a process leaves it that lost its claim while it published.
    for stray in ("c1/g3/site.warc.gz", "c1/g2-gz/site.warc"):
        site.archive.path_of(stray).parent.mkdir(parents=True, exist_ok=True)
        site.archive.path_of(stray).write_bytes(b"x")
    assert [one for one in fsck_lines(site) if "unknown-file" not in one] == []
    assert len(fsck_lines(site)) == 2
    dropped = [one.name for one in site.drop(0, scan_entries(site.rows))]
    assert "c1/g2-gz/site.warc.zst" in dropped
    assert sorted(f.name for f in site.archive.list()) == sorted([*now, *map(sidecar_name, now)])
    assert fsck_lines(site) == []


def test_a_crawl_is_taken_out_whole(site: Scene) -> None:
    recompress(site, "zst", "c3")
    Remover(site.rows, site.archive, Actor()).take_out("c3", CANCEL)
    assert not [f.name for f in site.archive.list() if f.name.startswith("c3/")]
    assert fsck_lines(site) == []


def test_landing_the_same_file_again(site: Scene) -> None:
    recompress(site, "zst")
    list(site.drop(0, scan_entries(site.rows)))
    before = names(site), records(site)
    assert [landed.was_there for landed in site.land(1)] == [True]
    assert (names(site), records(site)) == before


def test_backup_and_what_it_is_restored_to(site: Scene, tmp_path: Path) -> None:
    recompress(site, "zst", "c1", "c2")
    report = back_up(site, tmp_path / "backup")
    assert not report.problems
    restore(tmp_path / "backup", tmp_path / "again")
    with opened_store(tmp_path / "again") as again:
        assert names(again) == names(site)
        assert records(again) == records(site)
        assert found_by_lines(again) == found_by_lines(site)
        assert fsck_lines(again) == []


def test_exported_files_have_the_names_that_they_should(site: Scene, tmp_path: Path) -> None:
    recompress(site, "zst", "c1")
    export(site.rows, site.archive, "c1", tmp_path / "c1.wacz")
    [path] = archives(tmp_path / "c1.wacz", tmp_path / "out")
    assert path.name == "site.warc.zst"
    assert path.read_bytes() == site.archive.path_of(names(site)[0]).read_bytes()
    export(site.rows, site.archive, "c2", tmp_path / "c2.wacz")
    [needed] = described(members(tmp_path / "c2.wacz"))["relation"]["requires"]
    assert (needed["filename"], needed["crawlId"]) == ("site.warc.zst", "c1")
    assert needed["hash"].endswith(hashlib.sha256(path.read_bytes()).hexdigest())
    recompress(site, "zst", "c3")
    export(site.rows, site.archive, "c3", tmp_path / "c3.wacz", standalone=True)
    [path] = archives(tmp_path / "c3.wacz", tmp_path / "out")
    assert path.name == "site.warc.zst"
    assert b"revisit" not in content(path.read_bytes())


def test_exported_files_of_one_name(tmp_path: Path, scene: Scene) -> None:
    folder = scene.crawls / "c1"
    data = gzip.decompress((folder / "part-1.warc.gz").read_bytes())
    (folder / "part-0.warc.zst").write_bytes(in_frames([data]))
    scene.land(1)
    recompress(scene, "zst")
    export(scene.rows, scene.archive, "c1", tmp_path / "c1.wacz")
    found = sorted(path.name for path in archives(tmp_path / "c1.wacz", tmp_path / "out"))
    assert len(set(found)) == 3
    assert {name.rpartition(".")[2] for name in found} == {"zst"}


def test_sidecar_and_rows_are_made_again(site: Scene) -> None:

    recompress(site, "zst")
    lines = found_by_lines(site)
    name = names(site)[1]
    site.archive.delete(sidecar_name(name))
    assert {finding.code for finding in look(site, repair=True)} == {"sidecar-missing"}
    assert (fsck_lines(site), found_by_lines(site)) == ([], lines)


# --- what stays


@BY
def test_what_is_damaged_stays(scene: Scene, runner: str | None) -> None:
    scene.land(1)
    path = scene.archive.path_of("c1/part-1.warc.gz")
    whole = path.read_bytes()
    path.write_bytes(whole[:-30] + b"x" + whole[-29:])
    said = outcomes(recompress(scene, "zst", runner=runner))
    assert said["c1/part-0.warc.gz"] == "written"
    assert "not what was stored" in said["c1/part-1.warc.gz"]
    assert names(scene)[1] == "c1/part-1.warc.gz"
    path.write_bytes(whole)
    assert set(outcomes(recompress(scene, "zst", runner=runner)).values()) == {
        "left",
        "written",
    }
    assert fsck_lines(scene) == []


@BY
def test_what_landed_damaged_stays(scene: Scene, runner: str | None) -> None:
    path = scene.crawls / "c1" / "part-1.warc.gz"
    data = path.read_bytes()
    path.write_bytes(data[:-8] + bytes(4) + data[-4:])
    scene.land(1)
    said = outcomes(recompress(scene, "zst", runner=runner))
    assert "damaged" in said["c1/part-1.warc.gz"]
    assert names(scene) == ["c1/g2-gz/part-0.warc.zst", "c1/part-1.warc.gz"]
    assert [f.name for f in scene.archive.list() if "g2-gz/part-1" in f.name] == []


def test_messages_name_the_generation_that_was_read(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        path = scene.crawls / "c2" / "part-1.warc.gz"
        data = path.read_bytes()
        path.write_bytes(data[:-8] + bytes(4) + data[-4:])
        scene.land(1)
        scene.land(2)
        assert not scene.dedupe().all_problems
        assert names(scene)[-1] == "c2/g2/part-1.warc.gz"
        assert "damaged" in outcomes(recompress(scene, "zst"))["c2/g2/part-1.warc.gz"]
    with make_scene(tmp_path / "unreadable") as scene:
        scene.land(1)
        scene.land(2)
        recompress(scene, "zst")
        name = "c2/g2-gz/part-0.warc.zst"
        path = scene.archive.path_of(name)
        whole = path.read_bytes()
        path.write_bytes(bytes(byte ^ 1 for byte in whole))
        assert {problem.file for problem in scene.dedupe().all_problems} == {name}


@pytest.mark.parametrize("ending", FORMS)
def test_what_begins_with_damage_is_in_no_compression(scene: Scene, ending: str) -> None:
    path = scene.crawls / "c1" / "part-1.warc.gz"
    path.write_bytes(b"junk" + path.read_bytes())
    scene.land(1)
    said = outcomes(recompress(scene, ending))
    assert "begins with bytes that are no compressed member" in said["c1/part-1.warc.gz"]
    assert names(scene)[-1] == "c1/part-1.warc.gz"


def test_names_that_cannot_tell(scene: Scene) -> None:
    folder = scene.crawls / "c1"
    data = (folder / "part-0.warc.gz").read_bytes()
    (folder / "PART.WARC.GZ").write_bytes(data)
    (folder / "plain.warc").write_bytes(gzip.decompress((folder / "part-1.warc.gz").read_bytes()))
    scene.land(1)
    before = records(scene)
    said = outcomes(recompress(scene, "zst"))
    assert "its compression could not be known" in said["c1/PART.WARC.GZ"]
    assert names(scene) == [
        "c1/PART.WARC.GZ",
        "c1/g2-gz/part-0.warc.zst",
        "c1/g2-gz/part-1.warc.zst",
        "c1/g2-plain/plain.warc.zst",
    ]
    assert recompress(scene, "gz")
    assert names(scene)[3] == "c1/g3-plain/plain.warc.gz"
    recompress(scene, "plain")
    assert names(scene)[3] == "c1/g4/plain.warc"
    assert (records(scene), fsck_lines(scene)) == (before, [])


def test_plan_says_what_it_would_save_and_changes_nothing(site: Scene) -> None:
    before = site.state()
    work = StoredRecompressor(site.rows, site.archive, Actor())
    planned = list(work.plan(["c1", "c2"], FORMS["zst"]))
    assert site.state() == before
    assert all(isinstance(one, Recompression) for one in planned)
    written = recompress(site, "zst", "c1", "c2")
    for one, other in zip(planned, written, strict=True):
        assert isinstance(one, Recompression)
        assert isinstance(other, Recompression)
        assert (one.file, one.target, one.records) == (other.file, other.target, other.records)
        assert (one.bytes_before, one.bytes_after) == (other.bytes_before, other.bytes_after)


@BY
def test_the_dictionary_that_the_collection_keeps(site: Scene, runner: str | None) -> None:
    keep_dictionary(site.archive, COLLECTION, dictionary(1), token="one")
    kept = keep_dictionary(site.archive, COLLECTION, dictionary(2), token="two")
    form = in_zstd_as_kept(site.archive, COLLECTION, 9)
    assert form.dictionary == kept.name
    before = records(site)
    recompress(site, form, runner=runner)
    for name in names(site):
        with opened(site, name) as source:
            assert dictionary_of(source).dictionary_id == kept.dictionary_id
    assert (records(site), fsck_lines(site)) == (before, [])
    site.archive.path_of(kept.name).write_bytes(dictionary(1))
    with pytest.raises(DigestMismatch, match="named after"):
        in_zstd_as_kept(site.archive, COLLECTION, 9)
    assert in_zstd_as_kept(site.archive, "other", 9).dictionary is None


@BY
def test_another_act_has_the_collection(site: Scene, runner: str | None) -> None:
    lease = Actor().lease(site.rows, COLLECTION, act="dedupe-x")
    with pytest.raises(Conflict, match="dedupe-x is working on"):
        recompress(site, "zst", runner=runner)
    assert lease.lease.expires_ms
    assert names(site)[0] == "c1/site.warc.gz"


@BY
def test_a_file_that_is_claimed_stays(site: Scene, runner: str | None) -> None:
    Actor().claim(site.rows, "c2/site.warc.gz", act="ingest-x")
    said = outcomes(recompress(site, "zst", runner=runner))
    assert "is working on it" in said["c2/site.warc.gz"]
    assert names(site)[1] == "c2/g2/site.warc.gz"
    lease = read_lease(site.rows, COLLECTION)
    assert lease is not None
    assert not lease.expires_ms


@pytest.mark.parametrize(
    ("runner", "step"),
    [
        *((None, step) for step in ("checked", "published", "locations", "marked")),
        ("here", "sidecar published"),
        ("here", "marked"),
    ],
)
def test_a_claim_that_is_lost(site: Scene, runner: str | None, step: str) -> None:
    before, taken = records(site), []

    def taken_over(now: str) -> None:
        entry = read_entry(site.rows, "c1/site.warc.gz")
        if now == step and entry.claim is not None and entry.generation == 1:
            held = take_claim(
                site.rows,
                entry.archive_file,
                Claimant("another", "another", entry.claim.expires_ms, lambda owner: False),
                act="ingest-1",
            )
            taken.append(held)

    said = outcomes(recompress(site, "zst", "c1", "c2", runner=runner, at=taken_over))
    assert "another process has taken over it" in said["c1/site.warc.gz"]
    assert said["c2/g2/site.warc.gz"] == "written"
    lease = read_lease(site.rows, COLLECTION)
    assert lease is not None
    assert lease.expires_ms
    assert records(site) == before
    release_claim(site.rows, taken[0])
    recompress(site, "zst", "c2")
    assert names(site)[0] == "c1/site.warc.gz"
    assert (records(site), fsck_lines(site)) == (before, [])


# --- killed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
    return folder


STRIDE = pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.large)])


@STRIDE
@pytest.mark.parametrize(
    ("runner", "then"),
    [
        (None, "zst"),
        (None, "dedupe"),
        ("here", "plain"),
        pytest.param("here", "gz again", marks=pytest.mark.large),
        pytest.param(None, "plain", marks=pytest.mark.large),
        pytest.param(None, "gz again", marks=pytest.mark.large),
        pytest.param("here", "tasks", marks=pytest.mark.large),
    ],
)
def test_killed_at_any_step_and_run_again(
    made: Path, tmp_path: Path, runner: str | None, then: str, stride: int
) -> None:
    with copied_scene(made, tmp_path / "whole") as scene:
        before = records(scene)
    then, _, again = then.partition(" ")
    form = then if again else "zst"

    def work(scene: Scene, at: At) -> None:
        recompress(scene, form, "c1", "c2", again=bool(again), runner=runner, at=at)

    least = 30 if runner is None else 20
    for step, folder, died in deaths(
        tmp_path, in_scene(work), made=made, stride=stride, more_than=least
    ):
        with make_scene(folder, ()) as scene:
            if died:
                readable(scene, before)
            if then == "dedupe":
                if died:
                    recompress(scene, "zst", "c1")
                assert not scene.dedupe(act="dedupe-b").problems
            elif then == "tasks":
                recompress(scene, "zst", runner="here")
            else:
                recompress(scene, then, again=bool(again))
            if again:
                assert [generation_of(name).number for name in names(scene)] == [2, 2, 3, 3], step
            assert records(scene) == before, step
            assert fsck_lines(scene) == [], step
            assert not [e for e in scan_entries(scene.rows) if e.claim and e.claim.expires_ms]
            assert not list((scene.archive.folder / ".landing").glob("*"))


@STRIDE
@pytest.mark.parametrize(
    "applied",
    [
        pytest.param(False, id="not done"),
        pytest.param(True, id="done, and no answer", marks=pytest.mark.slow),
    ],
)
def test_dropping_old_generations_that_fails_at_any_call(
    made: Path, tmp_path: Path, applied: bool, stride: int
) -> None:
    """What is current is whole, and the same once more ends it."""
    with copied_scene(made, tmp_path / "made") as scene:
        recompress(scene, "zst", "c2")
        before, now = records(scene), names(scene)
    for number in count(1, stride):
        folder = tmp_path / str(number)
        with copied_scene(tmp_path / "made", folder) as scene:
            failing = failing_archive(scene.archive, number, applied=applied)
            with suppress(StoreUnavailable):
                list(scene.drop(0, scan_entries(scene.rows), failing))
            readable(scene, before)
            # Noted as dropped, and not deleted yet; or its sidecar alone is.
            left = (": generation-back: superseded", ": sidecar-missing: superseded")
            assert all(any(words in line for words in left) for line in fsck_lines(scene))
            list(scene.drop(0, scan_entries(scene.rows)))
            assert len(list(scene.archive.list())) == 2 * len(now)
            assert (names(scene), fsck_lines(scene)) == (now, [])
        shutil.rmtree(folder)
        if failing.calls < number:
            break
    assert number > 15


@STRIDE
@pytest.mark.parametrize(
    "words",
    [
        pytest.param((), marks=pytest.mark.slow, id="here"),
        pytest.param(INLINE, marks=pytest.mark.large, id="by tasks"),
    ],
)
def test_verb_killed_at_any_call_that_writes(
    made: Path, tmp_path: Path, words: Sequence[str], stride: int
) -> None:
    with copied_scene(made, tmp_path / "whole") as scene:
        before = records(scene)

    def call(folder: Path, *more: str) -> list[str]:
        options = ["--min-file-saving", "0", *words, *more]
        return ["zstd", "compress", "c2", "--store", str(folder / "store"), *options]

    for step, folder, _ in deaths_of_verb(
        tmp_path, call, made=made, below="store/archive", stride=stride, more_than=30
    ):
        with make_scene(folder, ()) as scene:
            readable(scene, before)
            wanted = [name for name in names(scene) if name.startswith("c1/")]
            wanted += ["c2/g3-gz/part-0.warc.zst", "c2/g3-gz/part-1.warc.zst"]
            assert main(call(folder, "-q")) == 0
            assert (names(scene), records(scene), fsck_lines(scene)) == (wanted, before, []), step


def readable(scene: Scene, before: dict[str, list[tuple[bytes, bytes]]]) -> None:
    """Whatever has been done, readers find each record."""
    assert records(scene) == before
    assert len(found_by_lines(scene)) == 24


def test_frames_and_members_that_records_share_are_parted(scene: Scene) -> None:
    folder = scene.crawls / "c1"
    content = gzip.decompress((folder / "part-0.warc.gz").read_bytes())
    (folder / "part-0.warc.gz").write_bytes(gzip.compress(content))
    (folder / "part-1.warc.gz").unlink()
    (folder / "shared.warc.zst").write_bytes(frame(content.replace(b"/0", b"/100")))
    scene.land(1)
    before, lines = records(scene), found_by_lines(scene)
    recompress(scene, "zst")
    assert names(scene) == ["c1/g2-gz/part-0.warc.zst", "c1/shared.warc.zst"]
    recompress(scene, "gz")
    assert names(scene) == ["c1/g3/part-0.warc.gz", "c1/g2-zst/shared.warc.gz"]
    assert (records(scene), fsck_lines(scene)) == (before, [])
    assert len(found_by_lines(scene)) > len(lines)


def test_dictionary_of_another_process(site: Scene) -> None:
    """A run that died had published with another dictionary."""
    form = in_zstd(9, None)
    assert in_child(lambda: recompress(site, form, at=kill_at(5))) == KILLED
    recompress(site, "zst")
    assert fsck_lines(site) == []


# --- whatever comes after what


@settings(max_examples=12)
@given(
    layout=st.sampled_from(["gzip", "frames", "packed dictionary", "one frame", "frames between"]),
    acts=st.lists(
        st.sampled_from([*FORMS, *FORMS, "zst again", "gz again", "dedupe", "drop"]), max_size=6
    ),
)
def test_records_stay_and_are_found_whatever_is_done(layout: str, acts: list[str]) -> None:
    landed = "gz" if layout == "gzip" else "zst"
    with TemporaryDirectory() as folder, make_scene(Path(folder), layout=layout) as scene:
        scene.land(1)
        scene.land(2)
        # Frames are parted, so that each record has a line.
        recompress(scene, "gz")
        for number, act in enumerate(acts):
            before, lines = records(scene), found_by_lines(scene)
            assert len(lines) == 24
            if act == "dedupe":
                assert not scene.dedupe(act=f"dedupe-{number}").problems
                assert {place[:2] for place in found_by_lines(scene)} == {
                    place[:2] for place in lines
                }
                check_references(scene)
            elif act == "drop":
                list(scene.drop(0, scan_entries(scene.rows)))
                assert len(list(scene.archive.list())) == 2 * len(names(scene))
            else:
                form, _, again = act.partition(" ")
                recompress(scene, form, again=bool(again))
                assert records(scene) == before
                assert found_by_lines(scene) == lines
        before = records(scene)
        recompress(scene, landed)
        assert records(scene) == before
        assert fsck_lines(scene) == []
        assert {generation_of(name).ending for name in names(scene)} == {None}


def test_what_an_older_version_wrote(site: Scene) -> None:
    """Its cells had no ending."""
    lines = found_by_lines(site)
    older = 0
    for table in ("captures", "files"):
        for row in site.rows.scan(table):
            for column, cell in row.cells.items():
                if column.startswith((Location.COLUMN, CurrentGeneration.COLUMN)):
                    value = cell.value.replace(b'{"v":2,', b'{"v":1,')
                    is_present = column.startswith(b"l")
                    when = None if is_present else cell.timestamp_ms
                    site.rows.mutate(table, [Put(row.key, {column: value}, when)])
                    older += value != cell.value
    assert older > 6
    assert (found_by_lines(site), fsck_lines(site)) == (lines, [])
    recompress(site, "zst")
    assert (found_by_lines(site), fsck_lines(site)) == (lines, [])
