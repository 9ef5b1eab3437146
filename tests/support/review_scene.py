"""A run to be reviewed: a folder with pairs and images, and a store of its own."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pinakes.catalog.pages import PageCapture
from pinakes.hbase_schema.tables import declared_schema
from pinakes.qa.results import PAIRS, JudgedPair, PageView, PairResult, Verdict, encode_pair
from pinakes.qa.review.board import Board
from pinakes.qa.review.reviewed_pair import ReviewedPair, reviewed_pairs
from pinakes.qa.review.site import ReviewSite, RunImages
from pinakes.qa.run.plan import RunPlan
from pinakes.qa.run.run_folder import begin_run, read_extent
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Outcome
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

RUN = "qa-1"
TOKEN = "token-of-this-test"
VERDICTS = (Verdict.DISSIMILAR, Verdict.UNCERTAIN, Verdict.SIMILAR, Verdict.SIMILAR)


def png(rows: Iterable[bytes]) -> bytes:
    """An image of rows of RGB bytes."""
    lines = list(rows)
    head = struct.pack(">IIBBBBB", len(lines[0]) // 3, len(lines), 8, 2, 0, 0, 0)

    def chunk(name: bytes, content: bytes) -> bytes:
        checked = name + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    packed = zlib.compress(b"".join(b"\0" + line for line in lines))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def stripes(number: int, *, height: int = 900, harmed: bool = False) -> bytes:
    """A page of coloured stripes; harmed, some of them are gone."""
    shades = [bytes([(number * 37 + n * 53) % 200 + 40 for _ in range(1)] * 3) for n in range(30)]
    lines = []
    for y in range(height):
        band = y // 30
        line = b"\xff\xff\xff" * 40 + shades[band % 30] * 240 + b"\xff\xff\xff" * 40
        lines.append(b"\xff\xff\xff" * 320 if harmed and band in (3, 4, 9) else line)
    return png(lines)


def view(kind: str = "replay:before", **given: object) -> PageView:
    made = PageView(
        kind=kind, browser="chromium", browser_version="156.0", outcome=Outcome.COMPLETE,
        milliseconds=640,
    )  # fmt: skip
    return replace(made, **given)  # type: ignore[arg-type]


def result(number: int, verdict: Verdict | None = None, **given: object) -> PairResult:
    """One of many: of a site of its own for every ten."""
    url = f"http://site{number // 10}.example/page/{number}"
    made = PairResult(
        run=RUN,
        url=url,
        date="2026-01-01T00:00:00Z",
        capture_key=f"example,site{number // 10})/page/{number} 2026 {number:08d}".encode().hex(),
        reference=view(),
        other=view("replay:current"),
        verdict=verdict or VERDICTS[number % len(VERDICTS)],
        confidence=round(0.5 + (number * 7 % 50) / 100, 2),
        model="same-browser 1",
        features={"text_gone": 0.25, "image_similarity": 1.0},
        reasons=("broken images: 14 more",) if number % 4 == 0 else (),
        changes=((40, 90, 240, 60), (40, 270, 240, 30)) if number % 4 == 0 else (),
    )
    return replace(made, **given)  # type: ignore[arg-type]


def pairs_of(results: Iterable[PairResult], weight: float = 5.0) -> list[ReviewedPair]:
    return reviewed_pairs(JudgedPair(result=one, weight=weight) for one in results)[0]


def write_run(folder: Path, results: Iterable[PairResult], weight: float = 5.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [encode_pair(JudgedPair(result=one, weight=weight)) for one in results]
    (folder / PAIRS).write_bytes(b"".join(lines))


def write_sample(folder: Path, results: Iterable[PairResult], **planned: Any) -> None:
    """What a run keeps of what it was asked: the pages of these results, judged or not."""
    plan = RunPlan(**{"run": RUN, "act_time_ms": 1, **planned})
    drawn = [
        SampledPage(
            PageCapture(
                one.url, "20260101000000", one.url, "text/html", bytes.fromhex(one.capture_key)
            ),
            weight=5.0,
            is_always=False,
        )
        for one in results
    ]
    begin_run(folder, plan, {}, drawn)


def write_image(folder: Path, content: bytes) -> str:
    """The name of an image that lies in a folder then."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{sha256(content).hexdigest()}.png"
    (folder / name).write_bytes(content)
    return name


def with_images(folder: Path, one: PairResult, number: int) -> PairResult:
    before = write_image(folder, stripes(number))
    harmed = one.verdict is Verdict.DISSIMILAR
    after = write_image(folder, stripes(number, harmed=harmed, height=840 if harmed else 900))
    return replace(
        one,
        reference=replace(one.reference, image=before),
        other=replace(one.other, image=after),
    )


@contextmanager
def rows_in(folder: Path) -> Iterator[EmbeddedRowStore]:
    """The store in a folder, made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    EmbeddedSchemaAdmin(folder / "rows.sqlite").apply(declared_schema())
    rows = EmbeddedRowStore(folder / "rows.sqlite", timeout_s=1)
    try:
        yield rows
    finally:
        rows.close()


class Clock:
    """Of milliseconds, and of seconds; both go on when told."""

    def __init__(self) -> None:
        self.at_ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.at_ms

    def now_s(self) -> float:
        return self.at_ms / 1000

    def wait(self, seconds: float) -> None:
        self.at_ms += round(seconds * 1000)


@dataclass
class Review:
    """A board over a store, and what answers for it."""

    rows: EmbeddedRowStore
    board: Board
    site: ReviewSite
    clock: Clock
    folder: Path

    @property
    def pairs(self) -> list[ReviewedPair]:
        return list(self.board.pairs)

    def one(self, *, judgements_needed: int = 1, hides: bool = False) -> ReviewedPair:
        """The first that goes to so many reviewers, with its verdict hidden or not."""
        return next(
            pair
            for pair in self.pairs
            if (pair.judgements_needed, pair.hides_verdict) == (judgements_needed, hides)
        )


@contextmanager
def reviewing(
    folder: Path, results: Iterable[PairResult] | None = None, leads: tuple[str, ...] = ("Ida",)
) -> Iterator[Review]:
    """A run of these results, or of a hundred, as it is reviewed."""
    clock = Clock()
    made = [result(number) for number in range(100)] if results is None else list(results)
    write_run(folder / RUN, made)
    with rows_in(folder / "store") as rows:
        pairs = pairs_of(made)
        board = Board(
            RUN, pairs, rows, leads=leads, now_ms=clock.now_ms, clock=clock.now_s,
            is_there=(folder / "store" / "rows.sqlite").is_file,
            extent=read_extent(folder / RUN, [pair.judged for pair in pairs]),
        )  # fmt: skip
        images = {v.image for one in made for v in (one.reference, one.other) if v.image}
        site = ReviewSite(
            board, RunImages(folder / RUN, images), token=TOKEN, title="spring",
        )  # fmt: skip
        yield Review(rows, board, site, clock, folder / RUN)
