"""What an ingest is asked for, and what it lands of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.archive_store.located import size_at
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.text import check_name
from pinakes.ingest.hooks import hand_over
from pinakes.ingest.inputs import Input, LeftOut, iter_inputs
from pinakes.ingest.landing import check_input


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """Which files to land, as they were named, into which crawl, and how."""

    names: Sequence[str]
    crawl: str | None = None
    """None: the one that the hook finds."""
    collection: str = "default"
    hook: str | None = None
    settle_s: float | None = None
    """How long a file stands still before it lands; None: do not watch."""
    bulk_bytes: int | None = None
    """The rows that are loaded at once; None: each file's as it lands."""
    accepts_damaged: bool = False
    jobs: int = 1


class IngestPlan(NamedTuple):
    """What an ingest lands.  While watching, `inputs` are empty: each look lists them again."""

    crawl: str
    description: str | None
    inputs: list[Input]
    left: LeftOut

    @property
    def size(self) -> int:
        """The bytes of all files, as far as they are known."""
        return sum(size_at(item.place) or 0 for item in self.inputs)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all, not even what is refused."""
        return not (self.inputs or self.left.unfinished or self.left.refused)

    def files(self) -> Iterator[tuple[str, str | InputRefused]]:
        """Each file with the name that it gets in the store, or why it is refused in any."""
        for item in self.inputs:
            try:
                name = archive_file(self.crawl, item.name)
                check_input(item.place, name)
            except InputRefused as problem:
                yield item.place, problem
            else:
                yield item.place, name


def plan_ingest(request: IngestRequest) -> IngestPlan:
    """Find the files; no store is opened.

    Raises:
        ConfigError: there is no crawl id, or none that a store takes.
        InputRefused: what the hook names is not there.
    """
    if request.hook:
        found = IngestPlan(*hand_over(request.hook, request.names))
        found = found._replace(crawl=request.crawl or found.crawl)
    else:
        left = LeftOut()
        # While watching, the first look is like every other: it lists the inputs itself.
        names = request.names if request.settle_s is None else []
        inputs = list(iter_inputs(names, left, documents=True))
        found = IngestPlan(request.crawl or "", None, inputs, left)
    if found.crawl == "":
        raise ConfigError("no crawl given: name it with --crawl")
    check_name(found.crawl, "a crawl")
    return found
