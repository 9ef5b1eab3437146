"""Metrics as Prometheus would read them, and stricter."""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

Key = tuple[str, frozenset[tuple[str, str]]]


def samples_of(text: str) -> dict[Key, float]:
    """Every sample of a well-formed exposition, by name and labels.

    Each line is whole, each metric has help and type and is ours, nothing is there twice.
    """
    assert text.endswith("\n")
    found: dict[Key, float] = {}
    for family in text_string_to_metric_families(text):
        assert re.fullmatch(r"pinakes_[a-z_]+", family.name)
        assert family.documentation
        assert family.type in ("gauge", "counter")
        for sample in family.samples:
            assert (family.type == "counter") == sample.name.endswith("_total")
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def sample(text: str, name: str, /, **labels: str) -> float | None:
    """The one sample of this name that has these labels, and perhaps others."""
    wanted = set(labels.items())
    values = [v for (n, given), v in samples_of(text).items() if n == name and wanted <= given]
    assert len(values) <= 1
    return values[0] if values else None
