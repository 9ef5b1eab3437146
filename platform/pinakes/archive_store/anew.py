"""Writing again what was lost to a server that went while it was written."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from pinakes.errors import StoreUnavailable

from .port import ArchiveStore, WritingLost

T = TypeVar("T")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 5.0


def write_anew(
    write: Callable[[], T], name: str, *, on_retry: Callable[[], None] = lambda: None
) -> T:
    """What `write` returns, called again as long as its writing is lost and the store has patience.

    So `write` begins at its beginning each time, what it counts included; `on_retry` is called
    before each time but the first.

    Raises:
        StoreUnavailable: as `write` does, about `name`, and not about what the store calls it.
    """
    pause_s, until_s = _FIRST_PAUSE_S, None
    while True:
        try:
            return write()
        except WritingLost as lost:
            now_s = time.monotonic()
            until_s = until_s or now_s + lost.patience_s
            if now_s >= until_s:
                lost.file = name
                raise
            time.sleep(min(pause_s, until_s - now_s))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            on_retry()
        except StoreUnavailable as problem:
            problem.file = name
            raise


def publish_copy(
    store: ArchiveStore, content: BinaryIO, name: str, *, token: str, place: str = ""
) -> None:
    """Publish all that `content` holds, from its first byte; an error is about `place`, or `name`.

    Raises:
        InputRefused: where that name is taken.
        StoreUnavailable: as the store.
    """

    def write() -> None:
        content.seek(0)
        with store.create_aside(token) as aside:
            shutil.copyfileobj(content, aside.file, 1 << 20)
            aside.publish(name)

    write_anew(write, place or name)
