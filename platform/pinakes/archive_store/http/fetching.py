"""One file of a web server, fetched whole into a file of ours, within bounds.

For callers that have to know every byte before any of it counts.  A connection that breaks is taken
up where it broke; a server that sends almost nothing, no size, or more than was agreed, is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import IO

from pinakes.errors import InputRefused

from .files import pause_s
from .ranges import NETWORK_ERRORS, RangeAnswer, RangeClient, TryAgain, Validator, reason_of

_PIECE_BYTES = 1 << 20
_TO_THE_END = 1 << 50
_ATTEMPTS = 5
_LONGEST_PAUSE_S = 30.0


class Fetch:
    """Fetches one URL."""

    def __init__(
        self,
        url: str,
        *,
        admit: Callable[[str], None],
        most_bytes: int,
        reached: Callable[[int], None] = lambda position: None,
        timeout_s: float = 30.0,
        slow_s: float = 60.0,
        slow_bytes: int = 1 << 16,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`admit` is called with the URL, and each that it is redirected to, and may raise.

        Refused is what is longer than `most_bytes`, or takes more than `slow_s` for less than
        `slow_bytes`.  `reached` is called often, with how much is there.
        """
        self._url = url
        self._most_bytes = most_bytes
        self._reached = reached
        self._slow_s = slow_s
        self._slow_bytes = slow_bytes
        self._pause = pause
        self._client = RangeClient(url, timeout_s=timeout_s, admit=admit)
        self._validator: Validator | None = None
        self._total: int | None = None
        self._since_s, self._since_bytes = time.monotonic(), 0

    def into(self, out: IO[bytes]) -> None:
        """Write the file to `out`, which is empty.

        Raises:
            InputRefused: it is not there, changes, has no size or too great a one, or the server
                fails too often, or is too slow.
        """
        failed, before = 0, 0
        try:
            while not self._is_whole(out):
                try:
                    self._go_on(out)
                except NETWORK_ERRORS as error:
                    self._client.drop()
                    failed = 1 if out.tell() - before >= _PIECE_BYTES else failed + 1
                    before = out.tell()
                    if failed >= _ATTEMPTS:
                        why = f"reading from the server failed {failed} times: {reason_of(error)}"
                        raise InputRefused(why, file=self._url) from error
                    asked_s = error.after_s if isinstance(error, TryAgain) else 0.0
                    self._pause(min(max(asked_s, pause_s(failed)), _LONGEST_PAUSE_S))
        finally:
            self._client.drop()

    def _is_whole(self, out: IO[bytes]) -> bool:
        return self._total is not None and out.tell() >= self._total

    def _go_on(self, out: IO[bytes]) -> None:
        at = out.tell()
        answer = self._client.get(at, _TO_THE_END)
        total = self._total_of(answer)
        if self._validator not in (None, answer.validator) or self._total not in (None, total):
            raise InputRefused("the file changed on the server while it was read", file=self._url)
        self._validator, self._total = answer.validator, total
        if answer.whole and at:
            out.seek(0)
            out.truncate()
        if total:  # of an empty file every range is wrong, and the answer an error
            self._copy(answer, out, total)

    def _total_of(self, answer: RangeAnswer) -> int:
        if answer.total is None:
            raise InputRefused("the server does not send the size of the file", file=self._url)
        if answer.total > self._most_bytes:
            why = f"it has {answer.total:,} bytes, and {self._most_bytes:,} at most are taken"
            raise InputRefused(why, file=self._url)
        return answer.total

    def _copy(self, answer: RangeAnswer, out: IO[bytes], total: int) -> None:
        end = total if answer.length is None else min(total, out.tell() + answer.length)
        while out.tell() < end:
            piece = answer.response.read1(_PIECE_BYTES)
            if not piece:
                raise TryAgain("the server closed the connection early")
            if out.tell() + len(piece) > end:
                raise InputRefused("the server sends more than it says", file=self._url)
            out.write(piece)
            self._reached(out.tell())
            self._require_speed(out.tell())
        if answer.response.read(1):  # which ends the answer, so that another can be asked for
            raise InputRefused("the server sends more than it says", file=self._url)

    def _require_speed(self, position: int) -> None:
        now_s = time.monotonic()
        got = position - self._since_bytes
        if not 0 <= got < self._slow_bytes:
            self._since_s, self._since_bytes = now_s, position
        elif now_s - self._since_s > self._slow_s:
            why = f"the server has sent {got:,} bytes in {self._slow_s:g} s"
            raise InputRefused(why, file=self._url)
