"""A coroutine begun without a task: it gets one when it first waits.

Most answers never wait, and a task would cost as much as they.  Python 3.12 has eager tasks, which
do the same.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from typing import Any


def begin(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]
) -> asyncio.Task[None] | None:
    """Run a coroutine until it waits; its task, which does the rest, or None where it has ended.

    Raises what the coroutine raises before it waits.
    """
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return None
    return loop.create_task(_rest_of(coroutine, waits_for))


async def _rest_of(begun: Coroutine[Any, Any, None], waits_for: object) -> None:
    await _resumed(begun, waits_for)


@types.coroutine
def _resumed(begun: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    while True:
        try:
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - a cancellation is the coroutine's
                waits_for = begun.throw(error)
            else:
                waits_for = begun.send(None)
        except StopIteration:
            return
