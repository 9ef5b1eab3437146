"""Answers of two CDX servers compared line by line, and what may explain a difference.

Lines are compared in their order, JSON as objects.  Nobody defines the order of captures of one
urlkey and second: a run of such is compared as a set, and what `limit` or `collapse` takes of it
by computing that from the server's own lines (`Asked.is_cut_as_asked`).  What differs for another
reason has a `Difference`, with a name that docs/cdx-server.md explains.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path

from cdx_judges import Answer, Judge, Query, ask, smaller_archives
from served_sites import served
from verbs_here import call_here

from pinakes.access.asgi import Receive, Scope, Send
from pinakes.access.asgi_site import AsgiSite
from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.handler import CdxSite
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.row_store.sqlite.store import EmbeddedRowStore

COLLECTION = "bench"
TOKEN = "a-token-of-a-good-length"
_PYWB_ONLY = ("source", "source-coll")
CDX_11 = (
    "urlkey", "timestamp", "url", "mime", "status", "digest", "redirecturl", "robotflags", "length",
    "offset", "filename",
)  # fmt: skip


async def _no_pages(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"a page"})


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Judge, Judge]]:
    """Our server over a store in `folder`: in pywb's dialect, and in OutbackCDX's."""
    rows = EmbeddedRowStore(folder / "rows.sqlite")
    index = CdxIndex(rows, LocalArchiveStore(folder / "archive"))
    site = CdxSite(index, rows, threads=None, otherwise=_no_pages, tokens=(TOKEN,), is_sound=None)
    application = AsgiSite(_no_pages, hosts=("127.0.0.1",), headers={}, routes=site.routes())
    with served(application) as (_, port):
        yield (
            Judge(name="ours", port=port, path=f"/{COLLECTION}/cdx"),
            Judge(name="ours", port=port, path=f"/{COLLECTION}"),
        )
    rows.close()


def land(archives: Path, folder: Path, drawn: Sequence[str], *, scratch: Path) -> list[str]:
    """Land the smaller archive files of a folder, post drawn lines; all lines, sorted, in CDXJ.

    Those of the files are what `pinakes cdx` prints.
    """
    store = ["--store", str(folder)]
    found = smaller_archives(archives)
    (scratch / "files").write_text("".join(f"{path}\n" for path in found))
    call_here(scratch, "init", *store)
    ingest = ("ingest", "--files-from", "files", "--crawl", "c1", "--collection", COLLECTION)
    call_here(scratch, *ingest, *store)
    done = call_here(scratch, "cdx", COLLECTION, *store)
    with serving(folder) as (_, ours):
        answer = ask(
            ours.port,
            ours.path,
            body="".join(f"{line}\n" for line in drawn).encode(),
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        assert answer.status == 200, answer.body
    return sorted({*done.stdout.splitlines(), *drawn}, key=str.encode)


Line = dict[str, str | int]
"""The values of a line by name; by number, where its form has no names."""
Lines = list[Line]
_ALIASES = {"original": "url", "mimetype": "mime", "statuscode": "status"}
_CUTS = ("limit", "collapse", "collapseToFirst", "collapseToLast")
_FORMS = ("fl", "fields", "output")


def lines_of(answer: Answer, query: Query) -> Lines:
    """The lines of an answer, in their order, without pywb's own fields."""
    asked, body = dict(query), answer.body
    output, fields = asked.get("output"), asked.get("fields") or asked.get("fl")
    if body[:1] == b"[":
        found = json.loads(body)
        if output == "jsondict":
            return [dict(line) for line in found]
        return [dict(zip(found[0], row, strict=True)) for row in found[1:]]
    texts = body.decode("utf-8", "surrogateescape").splitlines()
    if output == "json":
        return [_without_source(json.loads(text)) for text in texts]
    names = fields.split(",") if fields else CDX_11 if output != "text" else ()
    return [_line_of(text, names) for text in texts]


def _line_of(text: str, names: Sequence[str]) -> Line:
    head, brace, fields = text.partition(" {")
    if brace:
        key, time = head.split(" ")
        return {"urlkey": key, "timestamp": time, **_without_source(json.loads("{" + fields))}
    columns = text.removesuffix(f" {COLLECTION} {COLLECTION}").split(" ")
    # A blank within a value makes more columns than there are names.
    fit = len(columns) == len(names)
    return dict(zip(names if fit else map(str, range(len(columns))), columns, strict=True))


def _without_source(fields: Line) -> Line:
    return {name: value for name, value in fields.items() if name not in _PYWB_ONLY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a server answers to a query, to the same without what cuts its lines, and that with
    all fields of each line."""

    given: Lines
    whole: Lines
    rows: Lines

    @classmethod
    def of(cls, server: Judge, query: Query) -> Asked:
        """Ask three times."""
        whole = tuple(pair for pair in query if pair[0] not in _CUTS)
        rows = (*(pair for pair in whole if pair[0] not in _FORMS), ("output", "cdxj"))
        given, whole_lines, row_lines = (
            lines_of(server.ask(each), each) for each in (query, whole, rows)
        )
        return cls(given=given, whole=whole_lines, rows=row_lines)

    def is_cut_as_asked(self, query: Query) -> bool:
        """Whether the lines given are those of the whole, collapsed and limited."""
        asked = dict(query)
        kept = list(range(len(self.rows)))
        first = asked.get("collapseToFirst") or asked.get("collapse")
        if field := first or asked.get("collapseToLast"):
            kept = _collapsed(self.rows, field, keeps_last=first is None)
        kept = kept[: int(asked.get("limit") or len(kept))]
        return [self.whole[n] for n in kept] == self.given

    def runs(self, differences: Sequence[Difference]) -> list[tuple[object, list[str]]]:
        """Lines of one urlkey and second each, without their order and these differences."""
        both = []
        for row, line in zip(self.rows, self.whole, strict=True):
            if any(each.drops(row) for each in differences):
                continue
            mended = [row, line]
            for each in differences:
                mended = list(map(each.mend, mended))
            both.append(((row["urlkey"], row["timestamp"]), json.dumps(mended, sort_keys=True)))
        return [
            (key, sorted(text for _, text in run)) for key, run in groupby(both, key=itemgetter(0))
        ]


def _collapsed(rows: Lines, text: str, *, keeps_last: bool) -> list[int]:
    field, _, length = text.partition(":")
    name, most = _ALIASES.get(field, field), int(length) if length else None
    runs = groupby(range(len(rows)), key=lambda n: str(rows[n].get(name, "-"))[:most])
    return [list(run)[-1 if keeps_last else 0] for _, run in runs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A known difference, by the name that the documents explain.

    `mend` takes it out of a line, `drops` names lines that are left out, and `instead` is the
    query that gets the same lines from both.
    """

    name: str
    mend: Callable[[Line], Line] = lambda line: line
    drops: Callable[[Line], bool] = lambda row: False
    instead: Callable[[Query], Query] = lambda query: query


def urlkey_by_outbackcdx(server: Judge, url: str) -> str | None:
    """The urlkey that OutbackCDX makes of a URL."""
    query = (("url", url), ("matchType", "exact"), ("limit", "1"))
    return server.ask(query).headers.get("outbackcdx-urlkey")


ORDER = "order of one second"
_MOST_AT_ONCE = 3


def explained(
    query: Query, theirs: Judge, ours: Judge, known: Sequence[Difference]
) -> tuple[str, ...] | None:
    """The differences that explain all of how two answers differ, as few as will do.

    Empty: they are the same.  None: nothing explains it.
    """
    one, other = theirs.ask(query), ours.ask(query)
    if (one.status, lines_of(one, query)) == (other.status, lines_of(other, query)):
        return ()
    asked: dict[Query, tuple[Asked, Asked] | None] = {}
    for count in range(_MOST_AT_ONCE + 1):
        for some in combinations(known, count):
            changed = query
            for each in some:
                changed = each.instead(changed)
            if changed not in asked:
                asked[changed] = _both(changed, theirs, ours)
            both = asked[changed]
            if both is not None and both[0].runs(some) == both[1].runs(some):
                return tuple(each.name for each in some) or (ORDER,)
    return None


def _both(query: Query, theirs: Judge, ours: Judge) -> tuple[Asked, Asked] | None:
    both = Asked.of(theirs, query), Asked.of(ours, query)
    return both if all(each.is_cut_as_asked(query) for each in both) else None
