"""Archive files in packages and on web servers: every verb takes them as it takes files here."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from archive_builders import arc_file
from packages import PAGES, members_of, write_package
from s3_gateway import be_tester, s3_gateway
from warc_sets import ArchiveFile, Rec, inflated, revisit, write_set
from web_servers import SERVERS

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

# Web servers of others are started for most of it.
pytestmark = pytest.mark.slow

FIRST = [Rec(uri=f"http://example.org/{n}", body=Random(n).randbytes(3_000)) for n in (1, 2)]
AGAIN = [replace(rec, uri=rec.uri + "b", date=f"2021{rec.date[4:]}") for rec in FIRST]
CRAWLERS = revisit(FIRST[0], of_number=0, profile="identical", date="2022-01-01T00:00:00Z")
NAMES = ("a.warc.gz", "b.warc.gz")
PLACES = ["disk", *SERVERS, "s3"]
KINDS = {
    "package": ["crawl.wacz"],
    "deflated": ["deflated/crawl.wacz"],
    "files": [f"files/{name}" for name in NAMES],
    "folder": ["files/"],
}
Call = Callable[..., str]
At = Callable[[str], str]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def run(*argv: object, code: int = Exit.DONE) -> str:
        capfd.readouterr()
        assert main([str(word) for word in argv]) == code, capfd.readouterr().err
        return capfd.readouterr().out

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two archive files with duplicates and a crawler's revisit, in `here/`."""
    monkeypatch.chdir(tmp_path)
    files = [ArchiveFile("a", FIRST), ArchiveFile("b", [*AGAIN, CRAWLERS])]
    return [str(path) for path in write_set(Path("here"), files)]


@contextmanager
def elsewhere(where: str, here: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[At]:
    """The place of a file of `there/`: packages, an ARC file, and those of `here` in `files/`."""
    archives = {Path(path).name: Path(path).read_bytes() for path in here}
    there, state = Path("there").absolute(), Path("state").absolute()
    write_package(there / "crawl.wacz", members_of(archives))
    write_package(there / "deflated" / "crawl.wacz", members_of(archives), deflated=True)
    write_package(there / "arcs.wacz", {"archive/a.arc": arc_file()})
    shutil.copytree("here", there / "files")
    (there / "a.arc").write_bytes(arc_file())
    if where == "disk":
        yield lambda name: f"there/{name}"
    elif where == "s3":
        be_tester(monkeypatch)
        with s3_gateway(state) as gateway:
            for path in there.rglob("*.*"):
                gateway.put(path.relative_to(there).as_posix(), path.read_bytes())
            yield gateway.url
    else:
        with SERVERS[where](there, state) as root:
            yield lambda name: f"{root}/{name}"


@pytest.fixture(params=PLACES)
def at(
    request: pytest.FixtureRequest, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[At]:
    with elsewhere(request.param, here, monkeypatch) as place:
        yield place


# Every other pair, so that each place and each kind is met; all in `make test-large`.  A web
# server does not list its files.
@pytest.fixture(
    params=[
        pytest.param((w, k), id=f"{w} {k}", marks=() if (n + m) % 2 == 0 else pytest.mark.large)
        for (n, w), (m, k) in product(enumerate(PLACES), enumerate(KINDS))
        if k != "folder" or w in ("disk", "s3")
    ]
)
def there(
    request: pytest.FixtureRequest, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """What to name for the files of `here`, elsewhere."""
    where, kind = request.param
    with elsewhere(where, here, monkeypatch) as place:
        yield [place(name) for name in KINDS[kind]]


def places_of(call: Call, inputs: list[str]) -> list[str]:
    """Where each record is."""
    return [line.split()[0] for line in call("ls", *inputs).splitlines()]


def objects(text: str) -> list[dict[str, object]]:
    """The objects of lines of JSON, but for what depends on where a file is."""
    found = [json.loads(line) for line in text.splitlines()]
    return [{k: v for k, v in one.items() if k not in ("file", "place")} for one in found]


def test_verbs_that_read_say_the_same(call: Call, here: list[str], there: list[str]) -> None:
    assert objects(call("--json", "ls", *there)) == objects(call("--json", "ls", *here))
    for verb, without in (("manifest", 1), ("cdx", -1)):
        ours, theirs = (call(verb, *inputs).splitlines() for inputs in (here, there))
        cut = slice(1, None) if without == 1 else slice(None, -1)
        assert [line.split()[cut] for line in theirs] == [line.split()[cut] for line in ours]
        assert len(ours) > 4
    checked = (call("--json", "check", *inputs, code=Exit.FOUND) for inputs in (here, there))
    # What is said of a package itself is said there alone.
    ours, theirs = (
        [one for one in objects(text) if not one["code"].startswith("package-")] for text in checked
    )
    assert theirs == ours


def test_each_place_that_is_printed_is_read(call: Call, here: list[str], there: list[str]) -> None:
    pairs = list(zip(places_of(call, here), places_of(call, there), strict=True))
    assert len(pairs) == 5
    for ours, theirs in pairs:
        assert call("cat", theirs) == call("cat", ours)
    for verb in ("show", "cat"):
        assert call(verb, "--payload", pairs[1][1]) == call(verb, "--payload", pairs[1][0])


def test_filter_takes_the_same_members(call: Call, here: list[str], there: list[str]) -> None:
    for inputs, out in ((here, "ours.warc.gz"), (there, "theirs.warc.gz")):
        call("filter", *inputs, "-o", out, "--type", "response", "--from", "2021")
    assert Path("theirs.warc.gz").read_bytes() == Path("ours.warc.gz").read_bytes()


def test_dedupe_and_restore(call: Call, here: list[str], there: list[str]) -> None:
    result = objects(call("--json", "dedupe", *there, "-o", "out"))[-1]
    assert (result["revisits"], result["validated"]) == (2, True)
    written = sorted(Path("out").iterdir())
    assert [path.name.removeprefix("crawl-") for path in written] == list(NAMES)
    call("dedupe", *there, "-o", "out")  # again: finds it done
    call("restore", *written, "-o", "back")
    for ours, back in zip(here, sorted(Path("back").iterdir()), strict=True):
        assert inflated(back) == inflated(Path(ours))
    call("validate", "--refs", *written)


def test_steps_of_the_chain(
    call: Call, here: list[str], there: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """`refs` and `restore` find the originals of names that the manifest has."""
    call("manifest", *there, "-o", "m")
    call("resolve", "m", "--process", "-o", "decided")
    counts = objects(call("--json", "refs", *there, "--manifest", "decided", "-o", "out"))
    assert [count["revisits"] for count in counts] == [0, 2]
    assert objects(call("--json", "restore", *there, "-o", "full"))[-1]["restored"] == 0
    if "wacz" in there[0] or "://" in there[0]:
        assert main(["refs", *there, "--manifest", "decided", "--in-place"]) == Exit.SOME_FAILED
        assert "package" in capfd.readouterr().err


def test_ingest_lands_the_same_bytes(call: Call, here: list[str], there: list[str]) -> None:
    call("init")
    call("ingest", *there, "--crawl", "c")
    stored = {
        path.name: path
        for path in Path("pinakes-store/archive/c").rglob("*.warc*")
        if path.suffix != ".parquet"
    }
    for path in here:
        assert stored[Path(path).name].read_bytes() == Path(path).read_bytes()
    if "wacz" in there[0]:
        kept = "c/crawl.wacz/documents.warc"
        assert PAGES.decode() in call(
            "cat", f"{kept}:{places_of(call, ['c'])[-1].rpartition(':')[2]}"
        )
    assert "landed" not in call("ingest", *there, "--crawl", "c")
    assert call("fsck") == ""
    assert objects(call("--json", "dedupe", "--all"))[-1]["revisits"] == 2


def test_convert_takes_arc_files(call: Call, at: At) -> None:
    call("convert", "there/a.arc", "-o", "ours")
    for name in ("a.arc", "arcs.wacz"):
        call("convert", at(name), "-o", name, "--verify")
        assert Path(name, "a.warc").read_bytes() == Path("ours/a.warc").read_bytes()


def test_packages_of_others_hold_what_their_archive_files_hold(
    shared_data: Path, tmp_path: Path, call: Call
) -> None:
    """Judged by Python's zipfile, and by what js-wacz, Scoop and py-wacz wrote."""
    import zipfile

    seen = 0
    for path in sorted((shared_data / "archives").rglob("*.wacz")):
        with zipfile.ZipFile(path) as package:
            names = [name for name in package.namelist() if name.endswith((".warc", ".warc.gz"))]
            package.extractall(tmp_path, names)
        ours = objects(
            call("--json", "ls", *(tmp_path / name for name in sorted(names))) if names else ""
        )
        assert objects(call("--json", "ls", path)) == ours
        seen += len(ours)
    assert seen >= 70


@pytest.mark.parametrize("verb", ["ls", "cdx", "manifest", "check", "dedupe", "ingest", "restore"])
def test_what_is_wrong_with_a_package_is_named(
    here: list[str], verb: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the rest is done."""
    Path("bad.wacz").write_bytes(b"PK\x03\x04 and no more")
    main(["-q", "init"])
    more = {"dedupe": ["-o", "out"], "ingest": ["--crawl", "c"], "restore": ["-o", "out"]}
    assert main([verb, "bad.wacz", here[0], *more.get(verb, [])]) == Exit.SOME_FAILED
    assert "bad.wacz: not a readable ZIP file" in capfd.readouterr().err


def test_a_package_that_lacks_what_it_names_lands_with_3(
    call: Call, here: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    members = members_of({"a.warc.gz": Path(here[0]).read_bytes(), "b.warc.gz": b"lost"})
    del members["archive/b.warc.gz"]
    members["archive/a.warc.gz"] = Path(here[1]).read_bytes()
    write_package(Path("crawl.wacz"), members)
    call("init")
    assert main(["ingest", "crawl.wacz", "--crawl", "c"]) == Exit.SOME_FAILED
    told = capfd.readouterr()
    assert "datapackage.json names archive/b.warc.gz, which is not in it" in told.err
    assert "package-digest: the SHA-256 in datapackage.json is that of other bytes" in told.err
    assert "c/crawl.wacz/archive/a.warc.gz: landed" in told.out


def test_documents_that_are_not_what_the_package_says_land_and_are_named(
    call: Call, here: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    members = members_of({"a.warc.gz": Path(here[0]).read_bytes()})
    package = json.loads(members["datapackage.json"])
    archives = [entry for entry in package["resources"] if entry["path"].startswith("archive/")]
    package["resources"] = [
        *archives,
        {"path": "pages/pages.jsonl", "hash": f"sha256:{'0' * 64}"},
        {"path": "logs/good.log", "hash": f"sha256:{hashlib.sha256(b'well').hexdigest()}"},
    ]
    members |= {
        "datapackage.json": json.dumps(package).encode(),
        "pages/pages.jsonl": b"{}",
        "logs/good.log": b"well",
        "logs/changed.log": b"what it was",
    }
    path = write_package(Path("crawl.wacz"), members)
    path.write_bytes(path.read_bytes().replace(b"what it was", b"what it is!"))
    call("init")
    assert main(["ingest", "crawl.wacz", "--crawl", "c"]) == Exit.DONE
    said = [line for line in capfd.readouterr().err.splitlines() if "package-digest" in line]
    assert [line.partition("package-digest: ")[2] for line in said] == [
        "logs/changed.log: the CRC-32 of the ZIP file is that of other bytes",
        "pages/pages.jsonl: the SHA-256 in datapackage.json is that of other bytes",
    ]


@pytest.mark.parametrize("verb", ["ingest", "import-wacz"])
@pytest.mark.parametrize("which", ["archive-file", "document"])
def test_a_member_that_no_checksum_fits_is_refused_unless_told(
    call: Call, here: list[str], which: str, verb: str, capfd: pytest.CaptureFixture[str]
) -> None:
    record = gzip.decompress(Path(here[0]).read_bytes())
    log = b"what it was"
    members = members_of({"a.warc": record})
    package = json.loads(members["datapackage.json"])
    digest = hashlib.sha256(log).hexdigest()
    package["resources"].append({"path": "logs/a.log", "hash": f"sha256:{digest}"})
    members |= {"logs/a.log": log, "datapackage.json": json.dumps(package).encode()}
    path = write_package(Path("crawl.wacz"), members)
    was = log if which == "document" else record[-40:]
    assert path.read_bytes().count(was) == 1
    path.write_bytes(path.read_bytes().replace(was, was[:-9] + b"#" + was[-8:]))
    call("init")
    argv = [verb, "crawl.wacz", *(["--crawl", "c"] if verb == "ingest" else [])]
    assert main(argv) == Exit.SOME_FAILED
    told = capfd.readouterr()
    assert "neither the CRC-32" in told.err
    if verb == "import-wacz":
        assert "imported" not in told.out
    assert main([*argv, "--accept-damaged", *(["--resume"] if verb == "import-wacz" else [])]) == 0
    told = capfd.readouterr()
    assert told.err.count("package-digest") == 2


@pytest.mark.parametrize(
    "digest",
    [5, ["x"], {}, "", False, f"md5:{'0' * 32}", "0" * 64, "sha256:00", f"sha256:{'g' * 64}"],
    ids=str,
)
@pytest.mark.parametrize("verb", ["ingest", "import-wacz"])
def test_a_hash_that_is_no_sha256_is_named(
    call: Call, here: list[str], digest: object, verb: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of an archive file and of a document; a hash of null is none."""
    members = members_of({"a.warc.gz": Path(here[0]).read_bytes()})
    resources = [
        {"path": "archive/a.warc.gz", "hash": digest},
        {"path": "pages/pages.jsonl", "hash": digest},
        {"path": "logs/a.log", "hash": None},
    ]
    members |= {
        "logs/a.log": b"log",
        "datapackage.json": json.dumps({"resources": resources}).encode(),
    }
    write_package(Path("crawl.wacz"), members)
    call("init")
    assert main([verb, "crawl.wacz", *(["--crawl", "c"] if verb == "ingest" else [])]) == Exit.DONE
    said = [line for line in capfd.readouterr().err.splitlines() if "package-digest" in line]
    why = "datapackage.json gives no SHA-256 (sha256:…), or several: it was not compared"
    assert [line.partition("package-digest: ")[2] for line in said] == [
        why,
        f"pages/pages.jsonl: {why}",
    ]


def test_a_path_with_two_hashes_is_compared_with_neither(
    call: Call, here: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    data = Path(here[0]).read_bytes()
    right, wrong = f"sha256:{hashlib.sha256(data).hexdigest()}", f"sha256:{'0' * 64}"
    call("init")
    for crawl, hashes, is_named in [
        ("both", [wrong, right], True),
        ("both-turned", [right, wrong], True),
        ("once", [right, None, right], False),
    ]:
        resources = [{"path": "archive/a.warc.gz", "hash": digest} for digest in hashes]
        package = json.dumps({"resources": resources}).encode()
        members = members_of({"a.warc.gz": data}) | {"datapackage.json": package}
        write_package(Path(f"{crawl}.wacz"), members)
        assert main(["ingest", f"{crawl}.wacz", "--crawl", crawl]) == Exit.DONE
        said = [line for line in capfd.readouterr().err.splitlines() if "package-digest" in line]
        assert [line.endswith("or several: it was not compared") for line in said] == (
            [True] * is_named
        )


def test_packages_in_packages_land(
    call: Call, here: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """One that cannot be read keeps nothing else from landing."""
    archives = [Path(path).read_bytes() for path in here]
    inner = write_package(Path("inner.wacz"), members_of({"b.warc.gz": archives[1]}))
    members = members_of({"a.warc.gz": archives[0]})
    members |= {"more/bad.wacz": b"no ZIP file", "more/inner.wacz": inner.read_bytes()}
    for deflated in (False, True):
        write_package(Path("outer.wacz"), members, deflated=deflated)
        call("init", "--store", f"store-{deflated}")
        ingest = ["ingest", "outer.wacz", "--crawl", "c", "--store", f"store-{deflated}"]
        assert main(ingest) == Exit.SOME_FAILED
        told = capfd.readouterr()
        assert "more/bad.wacz: not a readable ZIP file" in told.err
        names = ["archive/a.warc.gz", "documents.warc"]
        names += [f"more/inner.wacz/{name}" for name in ("archive/b.warc.gz", "documents.warc")]
        landed = [line.partition(": ")[0] for line in told.out.splitlines()]
        assert sorted(landed) == sorted(f"c/outer.wacz/{name}" for name in names)
        assert call("fsck", "--full", "--store", f"store-{deflated}") == ""


def test_originals_in_a_package_of_dir(call: Call, here: list[str]) -> None:
    call("dedupe", *here, "-o", "out")
    original = Path("out/a.warc.gz").read_bytes()
    write_package(Path("away/crawl.wacz"), members_of({"a.warc.gz": original}))
    for number, folder in enumerate(("away", "away/crawl.wacz")):
        call("restore", "out/b.warc.gz", "-o", f"back{number}", "--dir", folder)
        assert inflated(Path(f"back{number}/b.warc.gz")) == inflated(Path(here[1]))
