"""Records the live web: a WARC file of requests and responses as they were sent.

    FOLDER/live-20200102030405-PID.warc.gz      warcinfo, then response and request by turns

A response is kept in a temporary file and written when it has ended, one whole record at a time:
a process that is killed leaves at most one broken record, the last.  On a full disk the file is
cut back to its last whole record, and `take_problems` names what is not recorded.
Source: ISO 28500:2017 §6.3 (response), §6.4 (request), §5.13 (WARC-Truncated).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from pinakes.warc.dates import format_14
from pinakes.warc.digest import format_digest
from pinakes.warc.field_names import (
    CONTENT_LENGTH,
    CONTENT_TYPE,
    WARC_BLOCK_DIGEST,
    WARC_CONCURRENT_TO,
    WARC_DATE,
    WARC_FILENAME,
    WARC_IP_ADDRESS,
    WARC_PAYLOAD_DIGEST,
    WARC_RECORD_ID,
    WARC_TARGET_URI,
    WARC_TRUNCATED,
    WARC_TYPE,
)
from pinakes.warc.write import compress_member, format_header, gzip_member, record_pieces

from .forward_answer import Forwarded
from .upstream import ServerExchange

_IN_MEMORY_BYTES = 1 << 20
_PIECE_BYTES = 1 << 16
_MOST_PROBLEMS = 100
_ALGORITHM = "sha256"


class AnswerRecorder:
    """One response, kept in a temporary file until it ends."""

    def __init__(self, exchange: ServerExchange, folder: Path, began: datetime) -> None:
        self.exchange = exchange
        self.began = began
        self.problem: str | None = None
        self.forwarded: Forwarded | None = None
        self._block_digest = hashlib.sha256()
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115 (see close)
            _IN_MEMORY_BYTES, dir=str(folder)
        )
        self.size = 0
        self.keep(exchange.upstream.head.raw)

    def keep(self, piece: bytes) -> None:
        """Keep a piece of the block; `problem` says if the disk is full."""
        if self.problem is not None:
            return
        try:
            self._file.write(piece)
        except OSError as error:
            self.problem = f"not recorded: {error.strerror}"
            return
        self._block_digest.update(piece)
        self.size += len(piece)

    def end(self, forwarded: Forwarded) -> None:
        """How the answer was forwarded."""
        self.forwarded = forwarded

    @property
    def block_digest(self) -> str:
        return format_digest(_ALGORITHM, self._block_digest.digest())

    def block(self) -> Iterator[bytes]:
        """The block, once more, in pieces."""
        self._file.seek(0)
        while piece := self._file.read(_PIECE_BYTES):
            yield piece

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()


class Recording:
    """A WARC file, made with its first record.  Safe for several threads."""

    def __init__(
        self, folder: Path, *, software: str, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._folder = folder
        self._software = software
        self._clock = clock or (lambda: datetime.now(timezone.utc))
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._end = 0
        self._problems: list[str] = []
        self.path: Path | None = None
        self.recorded = 0
        """How many responses are in the file."""

    def begin(self, exchange: ServerExchange) -> AnswerRecorder:
        """Begin to record a response.

        Raises:
            OSError: no temporary file can be made.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        return AnswerRecorder(exchange, self._folder, self._clock())

    def end(self, recorder: AnswerRecorder) -> None:
        """Write it and its request; never raises, see `take_problems`."""
        with self._lock:
            if recorder.problem is None and recorder.forwarded is not None:
                try:
                    self._append(recorder)
                    self.recorded += 1
                except OSError as error:
                    recorder.problem = f"not recorded: {error.strerror or error}"
                    self._cut_back()
            if recorder.problem is not None and len(self._problems) < _MOST_PROBLEMS:
                self._problems.append(f"{recorder.problem}: {recorder.exchange.request.uri}"[:500])

    def add_problem(self, problem: str) -> None:
        """Note what could not be recorded."""
        with self._lock:
            self._problems.append(problem[:500])

    def take_problems(self) -> list[str]:
        """What could not be recorded since the last call."""
        with self._lock:
            problems, self._problems = self._problems, []
            return problems

    def close(self) -> None:
        """End the file; idempotent."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _cut_back(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
                self._file.seek(self._end)

    def _append(self, recorder: AnswerRecorder) -> None:
        file = self._file or self._open()
        exchange, forwarded = recorder.exchange, recorder.forwarded
        assert forwarded is not None
        response = _new_id()
        shared = [(WARC_DATE, _date(recorder.began)), (WARC_TARGET_URI, exchange.request.uri)]
        if exchange.upstream.address:
            shared.append((WARC_IP_ADDRESS, exchange.upstream.address))
        fields = [
            (WARC_TYPE, "response"),
            (WARC_RECORD_ID, response),
            *shared,
            (WARC_BLOCK_DIGEST, recorder.block_digest),
            (WARC_PAYLOAD_DIGEST, f"{_ALGORITHM}:{forwarded.digest}")
            if forwarded.cut is None
            else (WARC_TRUNCATED, forwarded.cut),
            (CONTENT_TYPE, "application/http; msgtype=response"),
            (CONTENT_LENGTH, str(recorder.size)),
        ]
        _write(file, gzip_member(record_pieces(format_header(fields), recorder.block())))
        concurrent = [(WARC_CONCURRENT_TO, response), *shared]
        kind = "application/http; msgtype=request"
        _write(file, [_member("request", concurrent, exchange.raw_request, kind)])
        self._end = file.tell()

    def _open(self) -> IO[bytes]:
        """A new file, with its warcinfo."""
        now = self._clock()
        name = f"live-{format_14(now)}-{os.getpid()}-{uuid.uuid4().hex[:8]}.warc.gz"
        path = self._folder / name
        file: Any = path.open("xb", buffering=0)
        text = (
            f"software: {self._software}\r\nformat: WARC File Format 1.1\r\n"
            "description: what rendering QA saw of the live web\r\nrobots: ignore\r\n"
        ).encode()
        fields = [(WARC_DATE, _date(now)), (WARC_FILENAME, name)]
        try:
            _write(file, [_member("warcinfo", fields, text, "application/warc-fields")])
        except OSError:
            file.close()
            path.unlink(missing_ok=True)
            raise
        self._file, self.path, self._end = file, path, file.tell()
        return self._file


def _member(record_type: str, fields: list[tuple[str, str]], block: bytes, kind: str) -> bytes:
    """A record with that block, of the media type `kind`, as a gzip member."""
    head = format_header(
        [
            (WARC_TYPE, record_type),
            (WARC_RECORD_ID, _new_id()),
            *fields,
            (WARC_BLOCK_DIGEST, format_digest(_ALGORITHM, hashlib.sha256(block).digest())),
            (CONTENT_TYPE, kind),
            (CONTENT_LENGTH, str(len(block))),
        ]
    )
    return compress_member(b"".join(record_pieces(head, (block,))))


def _new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def _write(file: IO[bytes], pieces: Iterable[bytes]) -> None:
    """Write all of it: an unbuffered file may take a part only."""
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[file.write(rest) or 0 :]


def _date(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
