"""A store of two crawls, deduplicated, of which rows and files are put back old or lost."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

from rotten import whole_contents
from verbs_here import call_here
from warc_sets import ArchiveFile, Rec, write_set

BODY = random.Random(12).randbytes(5000)
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")
DROP = (*DEDUPE, "--drop-old", "--grace", "0")


class Site:
    """Two crawls of one page, each with another one, deduplicated; c2 has a revisit."""

    def __init__(self, folder: Path, form: str = "gzip") -> None:
        self.folder = folder
        self.store = folder / "store"
        self.form = form
        self.suffix = {"gzip": ".warc.gz", "plain": ".warc"}[form]

    def make(self) -> None:
        self.call("init")
        for number in (1, 2):
            uri, date = f"http://example.org/{number}", f"202{number}-01-01T00:00:00Z"
            other = Rec(uri=f"{uri}/other", date=date, body=BODY[number:] * 2)
            records = [Rec(uri=uri, date=date, body=BODY), other]
            write_set(
                self.folder / f"c{number}", [ArchiveFile("a", records, self.form, number * 10)]
            )
            self.call("ingest", str(self.folder / f"c{number}"), "--crawl", f"c{number}")
        shutil.copy(self.rows(), self.folder / "landed.sqlite")
        self.call(*DEDUPE)

    def ask(self, *words: str) -> CompletedProcess[str]:
        return call_here(self.folder, *words, "--store", str(self.store))

    def call(self, *words: str, code: int = 0) -> str:
        done = self.ask(*words)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def rows(self) -> Path:
        """A copy of the rows as they are."""
        path = self.folder / "old.sqlite"
        with closing(sqlite3.connect(self.store / "rows.sqlite")) as here:
            here.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return shutil.copy(self.store / "rows.sqlite", path)

    def put_back(self, rows: Path) -> None:
        shutil.copy(rows, self.store / "rows.sqlite")

    def file(self, name: str) -> Path:
        return self.store / "archive" / name

    def files(self) -> dict[str, str]:
        found = sorted((self.store / "archive").rglob("*.warc*"))
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def bodies(self, body: bytes = BODY) -> int:
        """How many files have a whole copy of it."""
        paths = sorted((self.store / "archive").rglob(f"*{self.suffix}"))
        return sum(body in content for content in whole_contents(paths))
