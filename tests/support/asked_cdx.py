"""The CDX server's application on a port of loopback, and questions to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.client import HTTPConnection
from typing import NamedTuple

from landed_stores import LandedStore
from scenes import Scene
from served_sites import served

from pinakes.access.asgi import Message
from pinakes.access.asgi_site import AsgiSite
from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.handler import CdxSite
from pinakes.access.rules import parse_rules
from pinakes.catalog.sound_originals import SoundOriginals
from pinakes.dedupe.decide.policy import parse_policies

TOKEN = "a-token-of-a-good-length"


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str

    @property
    def lines(self) -> list[str]:
        return self.body.splitlines()


Ask = Callable[..., Got]


async def no_pages(scope: object, receive: object, send: Callable[..., object]) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})  # type: ignore[misc]
    await send({"type": "http.response.body", "body": b"a page"})  # type: ignore[misc]


def application(
    store: LandedStore | Scene,
    rules: object,
    tokens: tuple[str, ...],
    policies: Iterable[Mapping[str, object]] = (),
    **options: object,
) -> AsgiSite:
    index = CdxIndex(
        store.rows,
        store.archive,
        rules=parse_rules(rules),  # type: ignore[arg-type]
        **options,  # type: ignore[arg-type]
    )
    site = CdxSite(
        index,
        store.rows,
        threads=None,
        otherwise=no_pages,
        pages=("search", "suggest.js", "a.page"),
        tokens=tokens,
        policies=parse_policies(policies),
        is_sound=SoundOriginals(store.rows, store.archive, on_damage=lambda error: None).is_sound,
    )
    return AsgiSite(no_pages, hosts=("127.0.0.1",), headers={}, routes=site.routes())


def asking_here(
    store: LandedStore | Scene,
    rules: object = (),
    *,
    tokens: tuple[str, ...] = (),
    policies: Iterable[Mapping[str, object]] = (),
) -> Iterator[Ask]:
    """Without a server: a hundred questions in the time of one."""
    site = application(store, rules, tokens, policies)
    default = next(iter(tokens), None)

    def ask(
        path: str, body: bytes | str | None = None, token: str | None = default, **kw: str
    ) -> Got:
        raw_path, _, query = path.encode().partition(b"?")
        given = body.encode() if isinstance(body, str) else body
        authorization = [(b"authorization", b"Bearer %b" % token.encode())] if token else []
        scope = {
            "type": "http",
            "scheme": "http",
            "method": kw.get("method", "GET" if given is None else "POST"),
            "raw_path": raw_path,
            "query_string": query,
            "headers": [(b"host", b"127.0.0.1"), *authorization],
        }
        sent: list[Message] = []
        to_come: list[Message] = [{"type": "http.request", "body": given or b""}]

        async def receive() -> Message:
            if to_come:
                return to_come.pop()
            await asyncio.Event().wait()  # it stays connected
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        asyncio.run(site(scope, receive, send))
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        text = b"".join(message["body"] for message in sent[1:]).decode()
        return Got(sent[0]["status"], headers, text)

    yield ask


def asking(
    store: LandedStore,
    rules: object = (),
    *,
    tokens: tuple[str, ...] = (TOKEN,),
    **options: object,
) -> Iterator[Ask]:
    with served(application(store, rules, tokens, **options)) as (host, port):

        def ask(
            path: str, body: bytes | str | None = None, token: str | None = TOKEN, **kw: str
        ) -> Got:
            connection = HTTPConnection(host, port, timeout=60)
            headers = {} if token is None or body is None else {"Authorization": f"Bearer {token}"}
            connection.request(
                kw.get("method", "GET" if body is None else "POST"), path, body, headers
            )
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return Got(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)

        yield ask
