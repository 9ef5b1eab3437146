"""Whatever was landed, rewritten and taken out: answers are those of the archive files alone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from cdx_by_hand import Line, answer_by_hand, lines_of_files, parsed
from cdx_judges import Judge, ask
from cdx_likeness import serving
from recompressed import FORMS, recompress
from scenes import COLLECTION, Scene, make_scene, write_crawl, write_late_crawl
from taken_down import withdraw
from wayback_server import plain_environment

from pinakes.access.cdx.answer import AnswerProgress, CdxIndex
from pinakes.access.cdx.parameters import Dialect, parse_query
from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Put

URLS = [f"http://example.org/{number}" for number in range(12)] + ["http://example.org/none"]


def current_files(scene: Scene) -> list[str]:
    return [
        entry.stored_name for entry in scan_entries(scene.rows) if entry.state is FileState.STORED
    ]


def drawn_query(draw: random.Random, digests: list[str]) -> dict[str, str]:
    asked = {"url": draw.choice(URLS)}
    if draw.random() < 0.5:
        asked["matchType"] = draw.choice(["exact", "prefix", "host", "domain"])
    if draw.random() < 0.3:
        asked["from"] = draw.choice(["2021", "20220101000002", "2030"]).ljust(14, "0")
    if draw.random() < 0.3:
        asked["to"] = draw.choice(["2021", "20220101000009", "2030"]).ljust(14, "0")
    if draw.random() < 0.4:
        asked["filter"] = draw.choice(
            [
                "=mime:warc/revisit",
                "!=mime:warc/revisit",
                "~timestamp:2022",
                "url:/1",
                "!status:200",
                "=status:200",
                f"=digest:{draw.choice(digests)}",
            ]
        )
    way = draw.random()
    if way < 0.25:
        asked["closest"] = draw.choice(["20210101000003", "20221231235959", "19991231000000"])
    elif way < 0.5:
        asked["sort"] = "reverse"
    elif way < 0.6:
        asked["collapse"] = draw.choice(["timestamp:4", "digest:32", "urlkey:15"])
    if draw.random() < 0.4:
        asked["limit"] = str(draw.choice([1, 2, 7, 1000, -1, -3]))
    return asked


def asked_of(index: CdxIndex, asked: dict[str, str]) -> list[Line]:
    query = parse_query(urlencode(asked).encode(), Dialect.PYWB)
    whole, stored = AnswerProgress(), AnswerProgress()
    text = b"".join(index.iter_bytes(query, None, whole))
    at_once = index.stored_answer(query, None, stored)
    if at_once:
        # Its closest ones of one second have another order, too.
        assert sorted(at_once.splitlines()) == sorted(text.splitlines()), asked
        if query.filters and "limit" not in asked:
            assert stored.left_out == whole.left_out
    return [parsed(line) for line in (at_once or text).decode().splitlines()]


def check(scene: Scene, draw: random.Random, queries: int) -> None:
    index = CdxIndex(scene.rows, scene.archive, files=VisibleFiles(scene.rows, fresh_s=0))
    lines = lines_of_files(scene.folder / "store" / "archive", current_files(scene))
    digests = sorted({fields["digest"] for _, _, fields in lines if "digest" in fields}) or ["none"]
    for _ in range(queries):
        asked = drawn_query(draw, digests)
        wanted = answer_by_hand(lines, asked, urlkey(asked["url"]))
        found = asked_of(index, asked)
        # Lines of one second have no order of their own, and a limit may take either.
        assert [line[:2] for line in found] == [line[:2] for line in wanted], asked
        if "limit" not in asked and "collapse" not in asked:
            assert _sorted(found) == _sorted(wanted), asked


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_rows_of_an_older_version_give_the_same_lines(tmp_path: Path, share: float) -> None:
    draw = random.Random(5)
    with make_scene(tmp_path) as scene:
        for number in (1, 2):
            scene.land(number)
        older = [
            Put(row.key, {CaptureFacts.COLUMN: _as_version_1(cell.value)}, cell.timestamp_ms)
            for row in scene.rows.scan("captures", columns=[CaptureFacts.COLUMN])
            for cell in row.cells.values()
            if draw.random() < share
        ]
        scene.rows.mutate("captures", older)
        assert len(older) > 8
        check(scene, draw, 200)


def _as_version_1(value: bytes) -> bytes:
    """A cell as the first version wrote it."""
    content = json.loads(value) | {"v": 1}
    mime = content.pop("mime", None)
    if content["type"] != "revisit" and mime is not None:
        content["media_type"] = mime
    digest = content.pop("digest", None)
    if digest is not None and content.get("payload_sha256") is not None:
        content["payload_sha1"] = f"sha1:{digest}"
    for key, old in (("url", "target_uri"), ("filename", "archive_file")):
        if key in content:
            content[old] = content.pop(key)
    return json.dumps(content).encode()


def _sorted(lines: list[Line]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return sorted((key, time, sorted(fields.items())) for key, time, fields in lines)


def acts(scene: Scene, draw: random.Random) -> list[Callable[[], object]]:
    """What is done to the store, in a drawn order that it allows."""
    later = [3, 4]
    draw.shuffle(later)
    for crawl in later:
        write_crawl(scene.crawls / f"c{crawl}", crawl, files=draw.choice([1, 2, 3]))
    write_late_crawl(scene, {"WARC-Refers-To-Target-URI": "http://example.org/1",
                             "WARC-Refers-To-Date": "2021-01-01T00:00:01Z"})  # fmt: skip
    return [
        lambda: scene.land(1),
        lambda: scene.land(2),
        lambda: scene.dedupe(act="dedupe-a", grace_ms=draw.choice([None, 0])),
        lambda: recompress(scene, draw.choice(list(FORMS)), f"c{draw.choice([1, 2])}"),
        lambda: scene.land(later[0]),
        lambda: scene.land(5),
        lambda: recompress(scene, "zst"),
        lambda: scene.dedupe(act="dedupe-b"),
        lambda: withdraw(scene, f"http://example.org/{draw.choice([0, 3, 4, 5])}"),
        lambda: scene.land(later[1]),
        lambda: recompress(scene, draw.choice(list(FORMS))),
        lambda: Remover(scene.rows, scene.archive, Actor()).take_out(f"c{later[1]}", CANCEL),
        lambda: scene.dedupe(act="dedupe-c", grace_ms=0),
    ]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.large) for n in range(2, 40))]
)
def test_answers_are_those_of_the_archive_files(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with make_scene(tmp_path) as scene:
        for act in acts(scene, draw):
            act()
            check(scene, draw, 40)


# --- CDX queries while another process lands, deduplicates and removes; and many at once


VERBS = """
import sys
from pinakes.cli import main
store, crawls = sys.argv[1:]
for number in (3, 4):
    for verb in (
        ("ingest", "--collection", "news", "--crawl", f"c{number}", f"{crawls}/c{number}"),
        ("crawl", "commit", f"c{number}"),
        ("dedupe", f"c{number}", "--min-file-saving", "0", "--drop-old", "--grace", "0"),
        ("ingest", "--collection", "news", "--crawl", "gone", f"{crawls}/c{number + 2}"),
        ("crawl", "cancel", "gone"),
    ):
        code = main([*verb, "-q", "--store", store])
        assert code in (0, 1), (verb, code)
"""


@pytest.fixture
def ours(landed: Scene) -> Iterator[Judge]:
    with serving(landed.folder / "store") as (as_pywb, _):
        yield as_pywb


def page_through(port: int, target: str) -> list[tuple[str, str]]:
    """The urlkey and time of each line, taken three lines at a time."""
    found: list[tuple[str, str]] = []
    key = ""
    while True:
        answer = ask(port, f"{target}&limit=3&showResumeKey=true&resumeKey={quote(key)}")
        assert answer.status == 200, answer.body
        lines, _, rest = answer.body.decode().partition("\n\n")
        for line in lines.splitlines():
            urlkey, time, _ = line.split(" ", 2)
            found.append((urlkey, time))
        key = rest.strip()
        if not key:
            return found


@pytest.mark.slow
def test_reader_misses_nothing_and_sees_nothing_twice(landed: Scene, ours: Judge) -> None:
    for number in (3, 4, 5, 6):
        write_crawl(landed.crawls / f"c{number}", number)
    target = f"/{COLLECTION}/cdx?url=example.org/*"
    always = page_through(ours.port, target)
    assert len(always) == 24
    script = [sys.executable, "-c", VERBS, str(landed.folder / "store"), str(landed.crawls)]
    with subprocess.Popen(
        script, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        passes = 0
        more: set[tuple[str, str]] = set()
        while process.poll() is None:
            for way in ("", "&sort=reverse", "&filter=!mime:none"):
                found = page_through(ours.port, target + way)
                assert max(Counter(found).values()) == 1
                assert set(found) >= set(always)
                assert found == sorted(found, reverse=way == "&sort=reverse")
                more |= set(found) - set(always)
                passes += 1
        assert process.stdout is not None
        assert process.returncode == 0, process.stdout.read()
    assert passes > 2
    final = page_through(ours.port, target)
    assert len(final) == 48
    assert more >= set(final) - set(always)


def test_many_queries_at_once_get_the_same_answers(ours: Judge) -> None:
    targets = [
        f"/{COLLECTION}/cdx?url={url}&{more}"
        for url in ("example.org/*", "*.example.org", "http://example.org/3", "none.example")
        for more in ("", "sort=reverse", "closest=2022", "output=json", "filter=url:/1&limit=2")
    ] * 10
    wanted = [ask(ours.port, target) for target in targets]
    with ThreadPoolExecutor(len(targets)) as clients:
        found = list(clients.map(lambda target: ask(ours.port, target), targets))
    assert len(found) == 200
    assert [(one.status, one.body) for one in found] == [(one.status, one.body) for one in wanted]
    assert {one.status for one in found} == {200}
