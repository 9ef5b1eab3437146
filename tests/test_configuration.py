"""Settings: options over environment over file over defaults, each with its origin."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pinakes.config import (
    SETTINGS,
    Configuration,
    load_configuration,
    parse_count,
    parse_fraction,
    parse_size,
)
from pinakes.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pinakes.toml"
    file.write_text(text)
    return file


def test_defaults(tmp_path: Path) -> None:
    found = load_configuration(environment={}, folder=tmp_path)
    assert found == Configuration(origins=dict.fromkeys(SETTINGS, "default"))
    assert (found.profile, found.min_saving_bytes, found.cell_versions) == ("embedded", 64, 10)


def test_each_source_overrides_the_next(tmp_path: Path) -> None:
    file = write(tmp_path, "jobs = 2\ncell_versions = 3\nspill_bytes = '1 MiB'\n")
    found = load_configuration(
        environment={"PINAKES_JOBS": "4", "PINAKES_CELL_VERSIONS": "5", "HOME": "/"},
        options={"jobs": "6", "temp_dir": None, "min_saving_bytes": 9},
        folder=tmp_path,
    )
    assert (found.jobs, found.cell_versions, found.spill_bytes) == (6, 5, 1 << 20)
    assert found.min_saving_bytes == 9
    assert found.origins["jobs"] == "option --jobs"
    assert found.origins["cell_versions"] == "environment variable PINAKES_CELL_VERSIONS"
    assert found.origins["spill_bytes"] == str(file)
    assert found.origins["temp_dir"] == "default"
    assert found.origins["min_saving_bytes"] == "option --min-saving-bytes"


def test_the_nearest_file_above_is_read_and_its_paths_are_its_own(tmp_path: Path) -> None:
    write(tmp_path, "store = 'far'")
    write(tmp_path / "a", "store = 'near'\ntemp_dir = '/scratch'")
    below = tmp_path / "a" / "b" / "c"
    below.mkdir(parents=True)
    found = load_configuration(environment={}, folder=below)
    assert found.store == tmp_path / "a" / "near"
    assert found.temp_dir == Path("/scratch")


def test_a_file_that_is_named_is_the_only_one(tmp_path: Path) -> None:
    write(tmp_path, "jobs = 2")
    named = write(tmp_path / "other", "cell_versions = 2")
    found = load_configuration(named, environment={}, folder=tmp_path)
    assert (found.jobs, found.cell_versions) == (1, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stor = 'x'", ["unknown setting stor: did you mean store?"]),
        ("colour = 'x'", ["unknown setting colour: `pinakes config` lists all"]),
        ("profile = 'hbase'", ["profile", "'hbase'", "embedded or cluster"]),
        ("jobs = 0", ["jobs", "0", "whole number"]),
        ("jobs = true", ["jobs", "string or a number"]),
        ("min_file_saving = '200%'", ["min_file_saving", "1%"]),
        ("collection = '../x'", ["collection"]),
        ("jobs = ", ["not TOML"]),
        ("[store]\npath = 'x'", ["store"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_file_names_itself_and_the_setting(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_configuration(environment={}, folder=tmp_path)
    assert all(word in str(caught.value) for word in [str(file), *words]), str(caught.value)


@pytest.mark.parametrize("name", ["missing.toml", "."], ids=["missing", "folder"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_configuration(tmp_path / name, environment={})


def test_misspelt_variable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="unknown setting PINAKES_PROFLE: did you mean PINAKES_PROFILE"
    ):
        load_configuration(environment={"PINAKES_PROFLE": "cluster"}, folder=tmp_path)
    found = load_configuration(environment={"PINAKES_REQUIRE_SHARED": "1"}, folder=tmp_path)
    assert found.profile == "embedded"


def test_a_wrong_variable_or_option_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="PINAKES_JOBS"):
        load_configuration(environment={"PINAKES_JOBS": "many"}, folder=tmp_path)
    with pytest.raises(ConfigError, match="--min-saving-bytes"):
        load_configuration(environment={}, options={"min_saving_bytes": "-1"}, folder=tmp_path)
    with pytest.raises(ConfigError, match=r"did you mean jobs\?"):
        load_configuration(environment={}, options={"job": 1}, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("64 MiB", 64 << 20),
        ("64Mi", 64 << 20),
        ("1.5G", 1_500_000_000),
        ("2kB", 2000),
        ("7 b", 7),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "1 X", "many", "0x10", "1e3"])
def test_invalid_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="size such as"):
        parse_size(text)


@pytest.mark.parametrize(("text", "value"), [("1%", 0.01), ("0", 0.0), ("1", 1.0), ("0.5", 0.5)])
def test_fractions(text: str, value: float) -> None:
    assert parse_fraction(text) == value


@pytest.mark.parametrize("text", ["", "-1", "2", "nan", "101%", "half"])
def test_invalid_fractions(text: str) -> None:
    with pytest.raises(ValueError, match="fraction"):
        parse_fraction(text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "²"])
def test_invalid_counts(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        parse_count(text)


def test_none_lifts_a_bound(tmp_path: Path) -> None:
    found = load_configuration(
        environment={},
        options={"min_saving_bytes": "none", "max_extra_bytes": "1 GB"},
        folder=tmp_path,
    )
    assert (found.min_saving_bytes, found.max_extra_bytes) == (None, 10**9)


def test_configuration_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Configuration().jobs = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ("[[dedupe]]\noff = 1\n", "dedupe policy 1: off must be true or false"),
        ('[[dedupe]]\n[[dedupe]]\nmin_bytes = "much"\n', "min_bytes is 'much', and should be"),
        ("[[access]]\nallow = 7\n", "access rule 1: "),
        ("dedupe = 7\n", "dedupe must be tables"),
    ],
)
def test_a_wrong_table_is_named_with_its_file(tmp_path: Path, tables: str, why: str) -> None:
    path = tmp_path / "pinakes.toml"
    path.write_text(tables)
    with pytest.raises(ConfigError, match=re.escape(f"{path}: {why}")):
        load_configuration(path, environment={})


def test_sizes_in_tables_may_have_units(tmp_path: Path) -> None:
    path = tmp_path / "pinakes.toml"
    path.write_text('[[dedupe]]\nmin_bytes = "1 KiB"\n[[dedupe]]\nmin_bytes = 7\n')
    found = load_configuration(path, environment={})
    assert found.dedupe == ({"min_bytes": 1024}, {"min_bytes": 7})
