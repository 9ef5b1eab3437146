"""Write a file again when a server that took part in writing it was lost."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from pinakes.errors import DigestMismatch, StoreUnavailable

from .port import ArchiveStore, WritingLost

T = TypeVar("T")
_PIECE_BYTES = 1 << 20
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 5.0


def write_anew(
    write: Callable[[], T], name: str, *, on_retry: Callable[[], None] = lambda: None
) -> T:
    """Call `write` and return its result; repeat on WritingLost until the store gives up.

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
            until_s = until_s or now_s + lost.retry_s
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
    store: ArchiveStore,
    content: BinaryIO,
    name: str,
    *,
    token: str,
    replace: bool = False,
    place: str = "",
) -> tuple[int, str]:
    """Publish all of `content`, from its first byte, after reading it back and comparing.

    Return its size and SHA-256.  Errors name `place`, or else `name`.

    Raises:
        DigestMismatch: the stored bytes differ from `content`.
        InputRefused: a file of that name exists, without `replace`.
        StoreUnavailable: as the store.
    """

    def write() -> tuple[int, str]:
        content.seek(0)
        state, size = hashlib.sha256(), 0
        with store.create_aside(token) as aside:
            while piece := content.read(_PIECE_BYTES):
                state.update(piece)
                size += len(piece)
                aside.file.write(piece)
            if aside.checksum() != state.hexdigest():
                raise DigestMismatch("what was stored is not what was read", file=place or name)
            if replace:
                store.delete(name)
            aside.publish(name)
        return size, state.hexdigest()

    return write_anew(write, place or name)
