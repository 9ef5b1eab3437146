"""Ports for tests that start no cluster."""

from __future__ import annotations

import os

import pytest

from local_cluster.layout import PORT_BLOCK


@pytest.fixture
def base_port() -> int:
    """A block of ports that neither another test process nor a cluster takes meanwhile."""
    return 20000 + os.getpid() % 290 * PORT_BLOCK
