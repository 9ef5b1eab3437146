"""The contract and the model on HBase, and what is that adapter's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hbase_opener import HBaseOpener, hbase_tables
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from row_store_contract import RowStoreContract
from row_store_model import RowStoreMachine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tables() -> Iterator[HBaseOpener]:
    with hbase_tables() as opener:
        yield opener


class TestHBaseRowStore(RowStoreContract):
    @pytest.fixture
    def opener(self, tables: HBaseOpener) -> HBaseOpener:
        return tables


class _Machine(RowStoreMachine):
    pass


def test_model(tables: HBaseOpener) -> None:
    _Machine.opener = tables
    run_state_machine_as_test(_Machine, settings=settings(max_examples=20, stateful_step_count=30))
