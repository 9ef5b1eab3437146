"""The configuration: frozen, read once, with the origin of each value.

Layer: above the code that works and below the code that opens stores; no lower layer reads it, and
nothing else reads the environment.  A value comes from an option, else from the variable
`PINAKES_` + its name, else from `pinakes.toml`, else it is the default.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pinakes.errors import ConfigError, did_you_mean
from pinakes.hadoop_tools import parse_command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "pinakes.toml"
T = TypeVar("T")
_PREFIX = "PINAKES_"
_TABLES = ("access", "dedupe")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B?\Z", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """A number of bytes: `4096`, `64 MiB`, `1.5G`.  k, M, G, T are decimal; Ki, Mi … binary."""
    match = _SIZE.match(text.strip())
    if match is None:
        raise ValueError("a size such as 4096, 64 MiB or 10 GB")
    number, power, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[power.lower()])


def parse_fraction(text: str) -> float:
    """A part of the whole, from 0 to 1: `0.01` or `1%`."""
    text = text.strip()
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError("a fraction such as 0.01 or 1%")
    return value


def parse_count(text: str) -> int:
    """A whole number from 1."""
    if not text.strip().isascii() or not text.strip().isdigit() or int(text) < 1:
        raise ValueError("a whole number from 1")
    return int(text)


def _optional(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    def parse_or_none(text: str) -> T | None:
        return None if text.strip().lower() == "none" else parse(text)

    return parse_or_none


def _parse_words(text: str) -> str:
    shlex.split(text)  # ValueError if a quote is not closed
    return text


def _one_of(*words: str) -> Callable[[str], str]:
    def parse_word(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return parse_word


def parse_seconds(text: str) -> float:
    """A time in seconds, above 0: `30`, `0.5`."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ValueError("a number of seconds")
    return value


def _parse_text(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("some text")
    return text.strip()


def _parse_web_address(text: str) -> str:
    if not re.fullmatch(r"https?://[!-~]+", text):
        raise ValueError("an address such as http://localhost:8080/all/")
    return text


def _parse_command(text: str) -> str:
    parse_command(text)
    return text.strip()


def _parse_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", text):
        raise ValueError("a name of letters, digits, '.', '_', '-'")
    return text


def _tables_of(name: str) -> Callable[[str], tuple[Mapping[str, object], ...]]:
    def parse_tables(text: str) -> tuple[Mapping[str, object], ...]:
        if text.strip():
            raise ValueError(f"tables [[{name}]] of pinakes.toml")
        return ()

    return parse_tables


def _parse_path(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError("a path")
    return Path(text).expanduser()


def _setting(parse: Callable[[str], object], default: Any, words: str) -> Any:
    return field(default=default, metadata={"parse": parse, "help": words})


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Every setting, valid; `origins` describes where each value came from."""

    profile: str = _setting(
        _one_of("embedded", "cluster"), "embedded", "embedded (a folder) or cluster"
    )
    store: Path = _setting(_parse_path, Path("pinakes-store"), "folder of the embedded store")
    collection: str = _setting(_parse_name, "default", "collection that a crawl joins")
    cell_versions: int = _setting(parse_count, 10, "versions of a cell that are kept")
    min_saving_bytes: int | None = _setting(
        _optional(parse_size),
        64,
        "least saving for which a record is rewritten, in bytes; none: any",
    )
    min_file_saving: float = _setting(
        parse_fraction, 0.01, "least saving for which a file is rewritten, as a part of it"
    )
    max_extra_bytes: int | None = _setting(
        _optional(parse_size),
        None,
        "most disk space that new generations may take besides old ones; none: any",
    )
    jobs: int = _setting(parse_count, 1, "number of worker processes")
    temp_dir: Path | None = _setting(
        _parse_path, None, "folder for temporary files; unset: the system's"
    )
    spill_bytes: int = _setting(
        parse_size, 64 << 20, "memory a sort may use before it writes to temp_dir"
    )
    hbase: str | None = _setting(
        _optional(_parse_text), None, "HBase's Thrift servers, for rows: host:port,host:port"
    )
    hbase_admin: str | None = _setting(
        _optional(_parse_text), None, "HBase's Thrift 2 servers, for making tables"
    )
    hbase_prefix: str = _setting(
        _parse_text, "pinakes:", "prefix of table names; ending in ':', a namespace"
    )
    hbase_transport: str = _setting(
        _one_of("buffered", "framed", "http"), "buffered", "transport of the Thrift servers"
    )
    hbase_protocol: str = _setting(
        _one_of("binary", "compact"), "binary", "protocol of the Thrift servers"
    )
    hbase_http_path: str = _setting(_parse_text, "/", "path of the Thrift servers, over HTTP")
    hbase_tls: str = _setting(_one_of("off", "on"), "off", "encrypt, and verify certificates")
    hbase_ca_file: Path | None = _setting(
        _parse_path, None, "trusted certificate authorities; unset: the system's"
    )
    hbase_certificate_file: Path | None = _setting(_parse_path, None, "client certificate for TLS")
    hbase_key_file: Path | None = _setting(
        _parse_path, None, "client key; unset: in the certificate file"
    )
    hbase_kerberos_service: str | None = _setting(
        _optional(_parse_name), None, "first part of the Thrift servers' principal; none: no SASL"
    )
    hbase_do_as: str | None = _setting(
        _optional(_parse_name), None, "user to impersonate (HTTP only)"
    )
    hbase_timeout_s: float = _setting(parse_seconds, 30.0, "seconds to wait for an answer of HBase")
    hbase_retry_s: float = _setting(parse_seconds, 120.0, "seconds to keep retrying HBase")
    hbase_connections: int = _setting(parse_count, 8, "most connections to HBase")
    hdfs: str | None = _setting(
        _optional(_parse_text), None, "folder in HDFS, for archive files: hdfs://host:port/folder"
    )
    hdfs_web: str | None = _setting(
        _optional(_parse_text), None, "the name nodes' web servers, for checksums; none: read back"
    )
    hdfs_config: Path | None = _setting(
        _parse_path, None, "folder of core-site.xml and hdfs-site.xml; unset: HADOOP_CONF_DIR"
    )
    hdfs_principal: str | None = _setting(
        _optional(_parse_text), None, "Kerberos principal; none: use the existing ticket"
    )
    hdfs_keytab: Path | None = _setting(_parse_path, None, "the principal's keytab")
    hdfs_ticket_cache: Path | None = _setting(
        _parse_path, None, "Kerberos ticket cache; unset: Kerberos' own"
    )
    hdfs_replication: int | None = _setting(
        _optional(parse_count), None, "copies of each block; none: the cluster's default"
    )
    hdfs_block_bytes: int | None = _setting(
        _optional(parse_size), None, "block size; none: the cluster's default"
    )
    hdfs_retry_s: float = _setting(parse_seconds, 120.0, "seconds to keep retrying HDFS")
    hbase_command: str = _setting(
        _parse_command, "hbase", "HBase's command, for bulk loads and backups"
    )
    hadoop_command: str = _setting(
        _parse_command, "hadoop", "Hadoop's command, for bulk loads and backups"
    )
    wayback_command: str = _setting(_parse_command, "wayback", "pywb's command, for serve --replay")
    bulk_folder: str = _setting(
        _parse_text, "/tmp/pinakes-bulk", "folder in HBase's HDFS, for rows that are loaded in bulk"
    )
    bulk_mapreduce: str = _setting(
        _one_of("yarn", "local"), "yarn", "yarn or local: where jobs of bulk loads and backups run"
    )
    bulk_bytes: int = _setting(
        parse_size, 4 << 30, "compressed rows, at most, that are loaded in bulk at once"
    )
    job_folder: str | None = _setting(
        _optional(_parse_text),
        None,
        "folder in HDFS for the environments of jobs and what passes between their steps",
    )
    job_python: str = _setting(
        _parse_text,
        f"python{sys.version_info[0]}.{sys.version_info[1]}",
        "interpreter of tasks of jobs, as their hosts know it; of this version",
    )
    job_streaming_jar: Path | None = _setting(
        _parse_path, None, "hadoop-streaming-….jar; unset: searched for in HADOOP_HOME"
    )
    job_options: str = _setting(
        _parse_words, "", "words for every job on YARN, such as -D mapreduce.job.queuename=archive"
    )
    import_from: str = _setting(
        _parse_words,
        "",
        "hosts and folders that manifests may name besides their own: files.example.org,/archive",
    )
    redis: str | None = _setting(
        _optional(_parse_text),
        None,
        "Redis with an index that crawlers share: redis://host:port/database",
    )
    token_file: Path | None = _setting(
        _parse_path, None, "file with the tokens, a line each, that writing to `serve` needs"
    )
    access: tuple[Mapping[str, object], ...] = _setting(
        _tables_of("access"), (), "rules of what `serve` gives out; tables [[access]] of the file"
    )
    dedupe: tuple[Mapping[str, object], ...] = _setting(
        _tables_of("dedupe"), (), "which duplicates become revisits; tables [[dedupe]] of the file"
    )
    replay_url: str | None = _setting(
        _optional(_parse_web_address),
        None,
        "address of a replay of the store, for links: of pywb with its collection; none: no links",
    )
    crawl_originals: str = _setting(
        _one_of("read", "catalogue"),
        "read",
        "read: check the bytes of an original before a crawler gets it; catalogue: do not",
    )
    # Not a mapping proxy: a configuration is sent to other processes.
    origins: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = field(default_factory=lambda: None)
    """The configuration file, where the call named one."""

    def values(self) -> dict[str, object]:
        """Every setting by name, in the order of this class."""
        return {name: getattr(self, name) for name in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How one setting is parsed, and its description."""

    parse: Callable[[str], object]
    default: object
    help: str


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        item.name: Setting(default=item.default, **item.metadata)
        for item in fields(Configuration)
        if item.default is not MISSING
    }
)


def load_configuration(
    file: Path | None = None,
    *,
    options: Mapping[str, object] = MappingProxyType({}),
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """Options over environment over file over defaults.

    Without `file`, the `pinakes.toml` of `folder` (the working directory) or of the nearest
    folder above is read, if there is one.  A relative path in a file is relative to that
    file's folder.  An option that is None was not given.  Raises ConfigError, naming the setting.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, object] = {}
    origins = dict.fromkeys(SETTINGS, "default")
    found = file or find_file(folder or Path.cwd())
    if found is not None:
        for name, value in _read_file(found).items():
            values[name], origins[name] = value, str(found)
    for variable, text in sorted(environment.items()):
        known = _setting_of(variable)
        if known is not None:
            values[known] = _parse(known, text, called=variable)
            origins[known] = f"environment variable {variable}"
    for name, value in options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            _check_name(name, "options")
            values[name] = _parse(name, value, called=option) if isinstance(value, str) else value
            origins[name] = f"option {option}"
    return Configuration(**values, origins=origins, file=file)  # type: ignore[arg-type]


def find_file(folder: Path) -> Path | None:
    """The `pinakes.toml` of this folder, or of the nearest folder above that has one."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def format_settings(settings: Mapping[str, str]) -> str:
    """Write settings as `pinakes.toml` has them.  A JSON string is also a TOML string."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def user_folder(kind: str, environment: Mapping[str, str] | None = None) -> Path:
    """The folder `pinakes` in the user's `data` or `cache`, which need not exist.

    By the XDG Base Directory Specification; paths that are not absolute are ignored.
    """
    environment = os.environ if environment is None else environment
    default = {"data": ".local/share", "cache": ".cache"}[kind]
    given = Path(environment.get(f"XDG_{kind.upper()}_HOME", ""))
    return (given if given.is_absolute() else Path.home() / default) / "pinakes"


@contextmanager
def exported(variables: Mapping[str, str]) -> Iterator[None]:
    """Set these variables in the environment of this process, for code that has no other
    settings.  Not for several threads."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _read_file(path: Path) -> dict[str, object]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"the configuration cannot be read: {reason}", file=str(path)) from error
    except ValueError as error:  # of TOML, and of UTF-8
        raise ConfigError(f"not TOML: {error}", file=str(path)) from error
    values: dict[str, object] = {}
    for name, value in content.items():
        _check_name(name, str(path))
        if name in _TABLES:
            values[name] = _tables(name, value, path)
            continue
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise ConfigError(f"{name} must be a string or a number", file=str(path))
        parsed = _parse(name, str(value), called=f"{path}: {name}")
        # joinpath leaves an absolute path as it is
        values[name] = path.absolute().parent / parsed if isinstance(parsed, Path) else parsed
    return values


def _tables(name: str, value: object, path: Path) -> tuple[Mapping[str, object], ...]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise ConfigError(f"{name} must be tables: [[{name}]]", file=str(path))
    # Imported where there are tables alone: each verb reads the settings when it starts.
    from pinakes.access.rules import parse_rules
    from pinakes.dedupe.decide.policy import parse_policies

    check = parse_rules if name == "access" else parse_policies
    try:
        tables = tuple({key: _sized(key, one) for key, one in table.items()} for table in value)
        check(tables)
    except ConfigError as error:
        raise ConfigError(error.message, file=str(path)) from error
    return tables


def _sized(key: str, value: object) -> object:
    """The value of a table; of a key in bytes, the number."""
    if not (key.endswith("_bytes") and isinstance(value, str)):
        return value
    try:
        return parse_size(value)
    except ValueError as error:
        raise ConfigError(f"{key} is {value!r}, and should be {error}") from error


def _setting_of(variable: str) -> str | None:
    """The setting of a PINAKES_ variable; None if it belongs to another program.

    A name close to that of a setting is an error; others may belong to other programs.
    """
    if not variable.startswith(_PREFIX):
        return None
    name = variable[len(_PREFIX) :].lower()
    if name in SETTINGS:
        return name
    near = get_close_matches(name, SETTINGS, n=1, cutoff=0.8)
    if near:
        raise ConfigError(f"unknown setting {variable}: did you mean {_PREFIX}{near[0].upper()}?")
    return None


def _check_name(name: str, where: str) -> None:
    if name not in SETTINGS:
        near = did_you_mean(name, SETTINGS) or ": `pinakes config` lists all"
        raise ConfigError(f"{where}: unknown setting {name}{near}")


def _parse(name: str, text: object, *, called: str) -> object:
    try:
        return SETTINGS[name].parse(str(text))
    except ValueError as error:
        raise ConfigError(f"{called} is {text!r}, and should be {error}") from error
