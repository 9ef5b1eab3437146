"""All rows of the table, in order."""

from __future__ import annotations

from bench.jobs_and_peers.checking import CHECKS, REPLAYS
from bench.jobs_and_peers.indexing import INDEXES
from bench.jobs_and_peers.looking import LOOKING, TAKING_ONE
from bench.jobs_and_peers.writing import CHOICES, COMPRESSIONS, DEDUPES

JOBS = (*LOOKING, *TAKING_ONE, *CHOICES, *INDEXES, *CHECKS, *DEDUPES, *COMPRESSIONS, *REPLAYS)
