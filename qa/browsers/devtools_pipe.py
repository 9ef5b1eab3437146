r"""The Chrome DevTools protocol over a pair of pipes: `--remote-debugging-pipe`.

    file descriptor 3 of the browser: we write, it reads     JSON, NUL, JSON, NUL, ...
    file descriptor 4 of the browser: it writes, we read     JSON, NUL, JSON, NUL, ...

Unlike a port, a page cannot reach it, there is no number to find out, and a browser whose pipe
breaks ends by itself.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from pinakes.qa.browsers.tab import BrowserGone, PageRefused

# Limits on the events that are kept, in number and bytes; the oldest are dropped.
_MOST_EVENTS = 20_000
_MOST_BYTES = 32 << 20
# Longer messages are dropped: the largest image allowed is a third of it.
_LONGEST_BYTES = 96 << 20
_CHUNK_BYTES = 1 << 16


class DevToolsPipe:
    """Starts a browser and sends it commands; events are kept until they are taken.

    Commands come from one thread at a time.
    """

    def __init__(self, command: Sequence[str], *, keep: frozenset[str]) -> None:
        self._keep = keep
        self._events: deque[tuple[str, str, dict[str, Any]]] = deque()
        self._lengths: deque[int] = deque()  # of each, as it came
        self._kept_bytes = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._last = 0
        self._open = True
        theirs_in, self._out = _pipe_above(0)
        theirs_out, self._in = _pipe_above(1)
        # A shell moves the pipes to the descriptors that the browser uses.
        words = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        try:
            self.process = subprocess.Popen(  # noqa: S603  the command is of our list
                ["/bin/bash", "-c", words, "browser", *command],
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._reader = threading.Thread(target=self._read, daemon=True, name="devtools")
        self._reader.start()

    def post(self, method: str, parameters: dict[str, Any], session: str | None) -> int:
        """Send a command without waiting for its answer; its id."""
        with self._changed:
            self._last += 1
            number = self._last
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except OSError as error:
            raise BrowserGone(f"the pipe is closed: {error.strerror}") from error
        return number

    def send(
        self, method: str, parameters: dict[str, Any], session: str | None, *, timeout_s: float
    ) -> dict[str, Any]:
        """Send a command and wait for its result.

        Raises:
            PageRefused: the browser answers with an error.
            BrowserGone: the browser does not answer any more.
        """
        number = self.post(method, parameters, session)
        with self._changed:
            there = self._changed.wait_for(
                lambda: number in self._answers or not self._open, timeout_s
            )
            answer = self._answers.pop(number, None)
            self._answers.clear()  # answers to `post`
        if answer is None:
            raise BrowserGone(f"no answer to {method}" if not there else "the browser ended")
        if "error" in answer:
            raise PageRefused(f"{method}: {answer['error'].get('message')}")
        result: dict[str, Any] = answer.get("result", {})
        return result

    def take_events(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Session, method and parameters of what came since the last call."""
        with self._changed:
            taken = list(self._events)
            self._events.clear()
            self._lengths.clear()
            self._kept_bytes = 0
        return taken

    def close(self) -> None:
        """Close our ends; does not end the process."""
        if self._out >= 0:
            os.close(self._out)
            self._out = -1

    def _read(self) -> None:
        message = bytearray()
        try:
            while chunk := os.read(self._in, _CHUNK_BYTES):
                for number, part in enumerate(chunk.split(b"\0")):
                    if number:
                        self._ended(message)
                        message = bytearray()
                    if len(message) <= _LONGEST_BYTES:
                        message += part
        except (OSError, ValueError):
            pass
        finally:
            os.close(self._in)
            with self._changed:
                self._open = False
                self._changed.notify_all()

    def _ended(self, encoded: bytearray) -> None:
        if len(encoded) > _LONGEST_BYTES:
            return
        message = json.loads(encoded)
        with self._changed:
            if "id" in message:
                self._answers[message["id"]] = message
                self._changed.notify_all()
            elif message.get("method") in self._keep:
                session = message.get("sessionId", "")
                self._events.append((session, message["method"], message.get("params", {})))
                self._lengths.append(len(encoded))
                self._kept_bytes += len(encoded)
                while len(self._events) > _MOST_EVENTS or self._kept_bytes > _MOST_BYTES:
                    self._events.popleft()
                    self._kept_bytes -= self._lengths.popleft()


def _pipe_above(end: int) -> tuple[int, int]:
    """A pipe: the browser's end (0 reads, 1 writes), above 3 and 4, and ours."""
    ends = os.pipe()
    theirs = fcntl.fcntl(ends[end], fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(ends[end])
    return theirs, ends[1 - end]
