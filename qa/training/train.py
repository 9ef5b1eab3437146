"""Fits a new model to the shipped table and to settled pairs; the old one is kept.

    DIR/NAME-VERSION.json       a new file

Needs scikit-learn, of the extra `qa`; no browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from pinakes.errors import ConfigError
from pinakes.qa.judging.model import Model, encode_model, load_model

from .figures import Figures, figures
from .fitting import FOLDS, fit, judge_all, split
from .labelled import LabelledPair, PairOf, read_table

FEWEST_PAIRS = 50
FEWEST_SITES = 5
_INNER_FOLDS = 3
_MOST_VERSIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """A new model; figures are of the settled pairs, each judged by models that were not trained
    with its site."""

    model: Model
    file: Path
    old: str
    before: Figures
    after: Figures


def shipped_table() -> list[LabelledPair]:
    """The pairs with injected changes and faults to which the shipped models were fitted."""
    with as_file(files("pinakes.qa.training").joinpath("pairs.csv.gz")) as file:
        return read_table(file)


def train(
    name: PairOf,
    settled: Iterable[LabelledPair],
    folder: Path,
    *,
    seed: int = 1,
    base: Sequence[LabelledPair] | None = None,
    old: Model | None = None,
) -> TrainingResult:
    """Fit to the table and the settled pairs, and write the model to the folder.

    `base` replaces the shipped table, `old` the shipped model.

    Raises:
        ConfigError: fewer than `FEWEST_PAIRS` settled pairs of this kind, or of fewer than
            `FEWEST_SITES` sites; or pairs compared by another version.
    """
    mine = [pair for pair in settled if pair.pair == name]
    sites = {pair.site for pair in mine}
    if len(mine) < FEWEST_PAIRS or len(sites) < FEWEST_SITES:
        raise ConfigError(
            f"{name}: {len(mine)} settled pairs of {len(sites)} sites are too few to train with; "
            f"needed: {FEWEST_PAIRS} of {FEWEST_SITES}"
        )
    old = old or load_model(name)
    table = [pair for pair in (shipped_table() if base is None else base) if pair.pair == name]
    mine = [_with_table_features(pair, table) for pair in mine]
    file, version = _new_file(folder, name, old)
    after = []
    for train_on, test_on in split(mine, min(FOLDS, len(sites)), seed):
        some = [*table, *(mine[number] for number in train_on)]
        model, _ = fit(some, name, version=version, seed=seed, folds=_INNER_FOLDS)
        after += judge_all(model, [mine[number] for number in test_on])
    before = figures(judge_all(old, mine))
    model, _ = fit([*table, *mine], name, version=version, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as out:
        out.write(encode_model(model))
    return TrainingResult(
        model=model, file=file, old=old.title, before=before, after=figures(after)
    )


def _with_table_features(pair: LabelledPair, table: Sequence[LabelledPair]) -> LabelledPair:
    names = table[0].features.keys()
    if missing := names - pair.features.keys():
        raise ConfigError(
            f"a pair of {pair.site} has no feature {min(missing)}: another version compared it"
        )
    return replace(pair, features={name: pair.features[name] for name in names})


def _new_file(folder: Path, name: str, old: Model) -> tuple[Path, str]:
    """A file that does not exist yet, and its version."""
    for number in range(1, _MOST_VERSIONS):
        version = f"{old.version}+people.{number}"
        file = folder / f"{name}-{version}.json"
        if not file.exists():
            return file, version
    raise ConfigError(f"{folder} has too many versions of {name}")
