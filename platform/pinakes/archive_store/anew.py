"""Write a file again when a server that took part in writing it was lost."""

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
    """Call `write` and return its result; repeat on WritingLost until the store's patience ends.

    `write` must start over on each call, its counts included; `on_retry` is called before each
    repetition.

    Raises:
        StoreUnavailable: as `write` does, but with `name` as its file.
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
    """Publish all of `content`, from its first byte; errors name `place`, or else `name`.

    Raises:
        InputRefused: the name is taken.
        StoreUnavailable: as the store.
    """

    def write() -> None:
        content.seek(0)
        with store.create_aside(token) as aside:
            shutil.copyfileobj(content, aside.file, 1 << 20)
            aside.publish(name)

    write_anew(write, place or name)
