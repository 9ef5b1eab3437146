"""What a study asks of the engine that computes it: DuckDB here, Spark where it is named.

Queries are Spark SQL that DuckDB reads, too: one text for both.  What DuckDB lacks it is taught
(`duckdb_database`), what is Spark's alone stands in comments, as hints do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

VIEW = "ccindex"
"""The table of all captures; there from the start."""


class Database(Protocol):
    """Tables by name, and queries on them."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """All rows that a query comes to, by column; sums may be `Decimal`."""
        ...

    def keep(self, name: str, query: str) -> None:
        """Have what a query comes to as a table, computed once."""
        ...

    def put(self, name: str, rows: Mapping[str, Sequence[str]]) -> None:
        """Make a small table of text; `rows` column by column."""
        ...

    def drop(self, name: str) -> None:
        """Forget what `keep` has, or the table of captures."""
        ...
