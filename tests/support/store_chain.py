"""Archive files through a store: landed as two crawls, deduplicated, old generations dropped."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from judge import content, dangling

from pinakes.cli import main

OURS = b"Pinakes-Replaced"
DAMAGED = (
    "copied as they are",
    "copied as it is",
    "the record is not whole",
    "no record is read there",
)
ANY_SAVING = ("--min-saving-bytes", "none", "--min-file-saving", "0")


class Answer(NamedTuple):
    """What a verb said, and its exit code."""

    exit_code: int
    out: str
    err: str


def call(*arguments: object) -> Answer:
    """Call a verb in this process, with `-q`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        exit_code = main(["-q", *map(str, arguments)])
    return Answer(exit_code, out.getvalue(), err.getvalue())


class Landed(NamedTuple):
    """An archive file in the store."""

    crawl: str
    name: str
    given: bytes


class StoreChain:
    """A store in `folder`, in which file N is crawl `cN`; the judgements are its methods."""

    def __init__(self, folder: Path, files: list[bytes]) -> None:
        self.folder, self.files = folder, files
        self.store = folder / "store"
        self.archive = self.store / "archive"
        self.landed: list[Landed] = []
        folder.mkdir(parents=True)
        assert self.call("init").exit_code == 0

    def call(self, verb: str, *arguments: object) -> Answer:
        """Call a verb on the store."""
        return call(*verb.split(), *arguments, "--store", self.store)

    def land(self, number: int) -> None:
        """It is in the store, byte for byte, or it was refused by name and nothing of it is."""
        crawl, path = f"c{number}", self.folder / f"{number}.warc.gz"
        path.write_bytes(self.files[number])
        answer = self.call("ingest", path, "--crawl", crawl)
        assert answer.exit_code in (0, 3), answer
        published = self.archive / crawl / path.name
        if published.exists():
            self.landed.append(Landed(crawl, path.name, self.files[number]))
        else:
            assert answer.exit_code == 3, answer
            assert path.name in answer.err, answer
            assert f'"{crawl}/{path.name}"' not in self.call("crawl show", crawl, "--json").out
            left = list((self.archive / crawl).glob("**/*.*"))
            assert left == [], f"left of what was refused: {left}"

    def dedupe(self, *options: str) -> None:
        """Every duplicate becomes a revisit, however little that saves, or its file is named."""
        answer = self.call("dedupe", "--all", *ANY_SAVING, *options)
        left = answer.exit_code == 3 and "would be read differently" in answer.err
        assert left or answer.exit_code == 0, answer

    def judge(self) -> None:
        """What is published can be given back, its revisits lead somewhere, `fsck` is content."""
        fsck = self.call("fsck", "--full")
        assert fsck.exit_code == 0, fsck
        current = [self.current(landed) for landed in self.landed]
        lost = dangling([path.read_bytes() for path in current], OURS)
        assert lost == [], f"dangling: {lost}"
        back = self.folder / "back"
        if current:
            answer = call("-v", "restore", *current, "-o", back)
            only_damage = all(
                any(words in line for words in DAMAGED)
                for line in answer.err.splitlines()
                if "warning" in line
            )
            assert answer.exit_code == 0 or (answer.exit_code == 3 and only_damage), answer
        for path, landed in zip(current, self.landed, strict=True):
            restored = back / path.name
            assert content(restored.read_bytes()) == content(landed.given), (
                f"{path} is not restored"
            )
        shutil.rmtree(back, ignore_errors=True)

    def judge_originals(self) -> None:
        """Beside what was rewritten lies every file as it was given."""
        for crawl, name, given in self.landed:
            kept = (self.archive / crawl / name).read_bytes() == given
            assert kept, f"{crawl}/{name}: not as it was given"

    def judge_dropped(self) -> None:
        """Only the current generations are left, each with its sidecar."""
        kept = {self.current(landed) for landed in self.landed}
        kept |= {path.with_name(f"{path.name}.sidecar.parquet") for path in kept}
        there = {path for path in self.archive.rglob("*") if path.is_file()}
        assert there == kept, f"left, or lost: {there ^ kept}"

    def current(self, landed: Landed) -> Path:
        """Where the catalogue says that the current generation lies."""
        (shown,) = (
            line for line in self._lines(landed.crawl) if line["file"].endswith(landed.name)
        )
        folder = self.archive / landed.crawl
        generation = shown["generation"]
        return folder / landed.name if generation == 1 else folder / f"g{generation}" / landed.name

    def _lines(self, crawl: str) -> Iterator[dict[str, Any]]:
        """The files of a crawl."""
        answer = self.call("crawl show", crawl, "--json")
        assert answer.exit_code == 0, answer
        return (line for text in answer.out.splitlines() if "file" in (line := json.loads(text)))


def store_chain(folder: Path, files: list[bytes], *, between: bool) -> None:
    """Land, deduplicate (after each crawl, or once), drop what was replaced; judged twice."""
    chain = StoreChain(folder, files)
    for number in range(len(files)):
        chain.land(number)
        if between:
            chain.dedupe()
    if not between:
        chain.dedupe()
    chain.judge_originals()
    chain.judge()
    chain.dedupe("--drop-old", "--grace", "0")
    chain.judge_dropped()
    chain.judge()
