"""A Redis for a file of tests, emptied before each; an empty store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis_servers import RunningRedis, running_redis
from store_fixtures import store  # noqa: F401


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRedis]:
    with running_redis(tmp_path_factory.mktemp("redis")) as made:
        yield made


@pytest.fixture
def redis(running: RunningRedis) -> RunningRedis:
    running.client.flushall()
    return running
