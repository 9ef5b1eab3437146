"""`--metrics-file FILE`: how a job went, for node_exporter's textfile collector.

Written aside and renamed, so that no process reads half of it: at the start, while files land,
and at the end.  When the job last succeeded is carried over from the file that was there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinakes.cli.frame.exits import Exit, exit_for
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError
from pinakes.ingest.tally import Tally

_SUCCESS = "pinakes_job_last_success_timestamp_seconds"
_LABELS = ("name", "verb")


def add_metrics_file(parser: argparse.ArgumentParser) -> None:
    """`--metrics-file FILE`, for a verb that takes long."""
    options_of(parser)(
        "--metrics-file FILE",
        "write metrics to FILE (.prom, Prometheus text format)",
        type=_prom_file,
    )


def _prom_file(text: str) -> Path:
    if not text.endswith(".prom"):
        raise argparse.ArgumentTypeError(f"the name {text!r} should end in .prom")
    return Path(text)


class JobMetrics:
    """The metrics of one run of a verb; `exit` is how it ends, unless an error ends it."""

    def __init__(self, path: Path | None, *, verb: str, tally: Tally, console: Console) -> None:
        """Raises ConfigError where the file cannot be written, or is something else."""
        self.exit = Exit.DONE
        self._path = path
        self._verb = verb
        self._tally = tally
        self._console = console
        self._began_s = time.time()
        self._ended: tuple[float, Exit] | None = None
        self._succeeded_s: float | None = None
        self._failed = False
        if path is not None:
            self._succeeded_s = _last_success(path)
            try:
                self._write(path)
            except OSError as error:
                raise ConfigError(
                    f"cannot write metrics: {error.strerror}", file=str(path)
                ) from error

    def write(self) -> None:
        """Write how far it is.  That this fails is reported once, and is no reason to stop."""
        if self._path is None:
            return
        try:
            self._write(self._path)
        except OSError as error:
            if not self._failed:
                self._console.warn(error)
            self._failed = True

    def end(self, code: Exit) -> None:
        """Write how it ended."""
        self._ended = (time.time(), code)
        if code is Exit.DONE:
            self._succeeded_s = self._ended[0]
        self.write()

    def _write(self, path: Path) -> None:
        # Takes half a second to import, which only those should pay who want it.
        from prometheus_client import CollectorRegistry, write_to_textfile

        from pinakes.access.exposition import PrecomputedMetrics, gauge, retries, tally_metrics

        job = (path.stem, self._verb)
        tallies = {job: self._tally.counts()}
        counts = (
            tally_metrics("job", tallies, *_LABELS)
            if self._verb == "ingest"
            else [retries("job_retries", tallies, *_LABELS)]
        )
        metrics = [
            gauge("job_start_timestamp_seconds", "When it began.", {job: self._began_s}, *_LABELS),
            gauge(
                "job_report_timestamp_seconds",
                "When this was written.",
                {job: time.time()},
                *_LABELS,
            ),
            *counts,
        ]
        if self._ended is not None:
            at_s, code = self._ended
            metrics += [
                gauge("job_end_timestamp_seconds", "When it ended.", {job: at_s}, *_LABELS),
                gauge("job_exit_code", "Its exit code, as in docs/cli.md.", {job: code}, *_LABELS),
            ]
        if self._succeeded_s is not None:
            words = "When it, or one before it, last ended with exit 0."
            name = _SUCCESS.removeprefix("pinakes_")
            metrics.append(gauge(name, words, {job: self._succeeded_s}, *_LABELS))
        registry = CollectorRegistry()
        registry.register(PrecomputedMetrics(metrics))
        write_to_textfile(str(path), registry)


@contextmanager
def metrics_file(
    path: Path | None, verb: str, tally: Tally, console: Console
) -> Iterator[JobMetrics]:
    """Keep the metrics of this run, if they were asked for."""
    job = JobMetrics(path, verb=verb, tally=tally, console=console)
    try:
        yield job
    except BaseException as error:
        job.end(exit_for(error))
        raise
    job.end(job.exit)


def _last_success(path: Path) -> float | None:
    """What an earlier run wrote; raises ConfigError if the file is not a metrics file."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        found = list(text_string_to_metric_families(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot write metrics: {error.strerror}", file=str(path)) from error
    except ValueError as error:
        raise ConfigError("not a metrics file: left unchanged", file=str(path)) from error
    if not all(family.name.startswith("pinakes_job_") for family in found):
        raise ConfigError("metrics of another program: left unchanged", file=str(path))
    samples = [s for family in found for s in family.samples if s.name == _SUCCESS]
    return samples[0].value if samples else None
