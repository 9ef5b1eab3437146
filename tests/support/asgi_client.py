"""A client of an ASGI application in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from werkzeug.wrappers import Response

from pinakes.access.asgi import Application, Message


class Answer(Response):
    """A whole response."""

    @property
    def text(self) -> str:
        return self.get_data(as_text=True)


class Client:
    """Sends requests, one at a time, each in an event loop of its own."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.open(path, headers=headers)

    def open(
        self,
        path: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        data: bytes = b"",
    ) -> Answer:
        """`path` is percent-encoded, and may have a query."""
        raw_path, _, query = path.partition("?")
        named = {"Host": "localhost", **(headers or {})}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "server": ("127.0.0.1", 80),
            "path": unquote_to_bytes(raw_path).decode("utf-8", "replace"),
            "raw_path": raw_path.encode("utf-8"),
            "query_string": query.encode("utf-8"),
            "headers": [
                (name.lower().encode("ascii"), value.encode("latin-1"))
                for name, value in named.items()
                if value
            ],
        }
        messages = asyncio.run(self._exchange(scope, data))
        start, body = messages[0], b"".join(one.get("body", b"") for one in messages[1:])
        assert not messages[-1].get("more_body", False)
        told = [
            (name.decode("ascii").title(), value.decode("latin-1"))
            for name, value in start["headers"]
        ]
        return Answer(b"" if method == "HEAD" else body, start["status"], told)

    async def _exchange(self, scope: dict[str, Any], data: bytes) -> list[Message]:
        asked = iter([{"type": "http.request", "body": data, "more_body": False}])
        sent: list[Message] = []

        async def receive() -> Message:
            found = next(asked, None)
            if found is None:  # the client waits for the end
                await asyncio.Event().wait()
                raise AssertionError
            return found

        async def send(message: Message) -> None:
            sent.append(message)

        await self._application(scope, receive, send)
        return sent
