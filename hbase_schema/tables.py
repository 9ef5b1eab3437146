"""Tables and families as data: declared here, applied and read back by adapters.

Sources: the table of docs/storage.md; attribute names are those of HBase (HBase reference
guide, "Schema design"; `ColumnFamilyDescriptorBuilder`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from .digest_keys import SHORTEST_CONTENT_BYTES

SCHEMA_VERSION = 1
"""The version of tables, families and row keys.  Each cell has its own version."""

CELL_VERSIONS = 10
"""Versions kept of a cell that has a history, unless the policy says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One column family.

    `act_time` distinguishes history from present.  True: facts, written with the time of the
    act that found them, in up to `versions` versions.  False: the present (claims, states,
    leases), written with the clock of the store in one version, and omitted from reads with a
    time bound.
    """

    name: str
    holds: str
    act_time: bool = True
    versions: int = CELL_VERSIONS
    compression: str = "ZSTD"
    encoding: str = "FAST_DIFF"
    bloom_filter: str = "ROW"
    bloom_prefix_bytes: int | None = None
    """With `ROWPREFIX_FIXED_LENGTH`: of how many first bytes of a row key."""
    block_cache: bool = True
    block_size_bytes: int = 65536
    in_memory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its families, and what its row key is made of."""

    name: str
    row_key: str
    families: tuple[Family, ...]

    def family(self, name: str) -> Family | None:
        """The family of this name; None where there is none."""
        return next((family for family in self.families if family.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """All tables, and their version."""

    version: int
    tables: tuple[Table, ...]

    def table(self, name: str) -> Table | None:
        """The table of this name; None where there is none."""
        return next((table for table in self.tables if table.name == name), None)


def declared_schema(cell_versions: int = CELL_VERSIONS) -> Schema:
    """The schema of this version of Pinakes, keeping `cell_versions` of each fact."""

    def facts(name: str, holds: str, *, encoding: str = "FAST_DIFF", cache: bool = True) -> Family:
        return Family(
            name=name,
            holds=holds,
            versions=cell_versions,
            encoding=encoding,
            block_cache=cache,
        )

    def present(holds: str) -> Family:
        return Family(name="l", holds=holds, act_time=False, versions=1, in_memory=True)

    return Schema(
        version=SCHEMA_VERSION,
        tables=(
            Table(
                name="captures",
                row_key="urlkey SP time SP mark",
                families=(
                    facts("m", "the capture as landed, and its place in each generation"),
                    facts("x", "extracted: type, charset, language, title, text", cache=False),
                    facts("d", "dedupe: hash extension, copy number, original, pin"),
                    facts("q", "QA verdicts"),
                ),
            ),
            Table(
                name="digests",
                row_key="scope:algorithm:hex:length:second:archive file:ordinal",
                # Read by scans of one content, which a bloom filter of whole keys does not help.
                families=(
                    Family(
                        name="r",
                        holds="the capture that has this digest, or refers to this",
                        versions=cell_versions,
                        bloom_filter="ROWPREFIX_FIXED_LENGTH",
                        bloom_prefix_bytes=SHORTEST_CONTENT_BYTES,
                    ),
                ),
            ),
            Table(
                name="files",
                row_key="archive file",
                families=(
                    facts("f", "size, checksums, errors; each generation; counts by act"),
                    present("claim, state, current generation"),
                ),
            ),
            Table(
                name="crawls",
                row_key="crawl, or + collection",
                families=(facts("f", "facts"), present("state, lease")),
            ),
            Table(
                name="runs",
                row_key="run",
                families=(facts("f", "facts"), present("state, state of each step, progress")),
            ),
            Table(
                name="inflight",
                row_key="archive file",
                families=(present("present while a file lands or leaves"),),
            ),
            Table(
                name="qa_pairs",
                row_key="run SP capture SP view:view",
                families=(
                    facts("s", "scores and features", cache=False),
                    facts("v", "verdict"),
                    facts("a", "annotations of reviewers"),
                ),
            ),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFamily:
    """A family as a store describes it; None where the store cannot say."""

    name: str
    versions: int | None = None
    compression: str | None = None
    encoding: str | None = None
    bloom_filter: str | None = None
    bloom_prefix_bytes: int | None = None
    block_cache: bool | None = None
    block_size_bytes: int | None = None
    in_memory: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSchema:
    """What a store has: its version (None: none written), and families by table."""

    version: int | None
    tables: dict[str, tuple[FoundFamily, ...]]


_COMPARED = tuple(field.name for field in fields(FoundFamily) if field.name != "name")


def schema_drift(declared: Schema, found: FoundSchema) -> list[str]:
    """The differences from the declaration, a line each, in the order of the declaration.

    Tables and families that Pinakes does not know are named too; attributes that the
    store cannot describe are ignored.
    """
    drift = []
    if found.version != declared.version:
        drift.append(f"schema version is {found.version}, declared {declared.version}")
    for table in declared.tables:
        families = {family.name: family for family in found.tables.get(table.name, ())}
        if not families:
            drift.append(f"{table.name}: table is missing")
            continue
        for family in table.families:
            drift += _family_drift(table.name, family, families.pop(family.name, None))
        drift += [f"{table.name}:{name}: family is not declared" for name in families]
    undeclared = found.tables.keys() - {table.name for table in declared.tables}
    return drift + [f"{name}: table is not declared" for name in sorted(undeclared)]


def _family_drift(table: str, declared: Family, found: FoundFamily | None) -> list[str]:
    place = f"{table}:{declared.name}"
    if found is None:
        return [f"{place}: family is missing"]
    lines = []
    for name in _COMPARED:
        value, wanted = getattr(found, name), getattr(declared, name)
        if value is not None and value != wanted:
            lines.append(f"{place}: {name} is {value}, declared {wanted}")
    return lines
