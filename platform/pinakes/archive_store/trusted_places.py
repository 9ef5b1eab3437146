"""Which places a list of files may name: what is next to it, and what is trusted.

A manifest comes from outside, and the process that reads it may reach servers and files that its
writer cannot.  So it may name files of its own host, or of its own folder; anything else only by
permission.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pinakes.errors import InputRefused
from pinakes.warc.file_names import is_remote

from .located import local_path

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedPlaces:
    """Hosts, `example.org` (any port) or `example.org:8080`, and folders on disk."""

    hosts: frozenset[str] = frozenset()
    folders: tuple[Path, ...] = ()

    @classmethod
    def parse(cls, text: str) -> TrustedPlaces:
        """Of a list with commas; a folder is an absolute path.  Raises ValueError."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        folders = tuple(Path(word) for word in words if word.startswith("/"))
        hosts = frozenset(word.lower() for word in words if not word.startswith("/"))
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise ValueError("hosts and folders: files.example.org, 127.0.0.1:8080, /archive")
        return cls(hosts=hosts, folders=folders)

    def require(self, place: str, origin: str | None) -> None:
        """Raise InputRefused, naming the host or path, unless `origin` may name `place`.

        `origin` is the list's absolute path or URL; None: the user named the place.
        """
        if origin is None or self._may(place, origin):
            return
        what = f"the host {host_of(place)}" if is_remote(place) else str(local_path(place))
        raise InputRefused(
            f"it names {what}, which is not its own and not in `import_from`", file=origin
        )

    def _may(self, place: str, origin: str) -> bool:
        if is_remote(place):
            host = host_of(place)
            own = host_of(origin) if is_remote(origin) else None
            return host == own or bool({host, *_with_and_without_port(place)} & self.hosts)
        path = os.path.realpath(local_path(place))
        own_folders = () if is_remote(origin) else (_folder_of(origin),)
        folders = (*own_folders, *map(os.path.realpath, self.folders))
        return any(path.startswith(f"{folder}{os.sep}") for folder in folders)


@lru_cache(maxsize=16)  # a manifest may have a million entries
def _folder_of(path: str) -> str:
    return os.path.realpath(local_path(path).parent)


def host_of(url: str) -> str:
    """The host of a URL, with its port where that is not its scheme's."""
    name, with_port = _with_and_without_port(url)
    own = f"{name}:{_PORTS.get(url.partition(':')[0].lower())}"
    return name if with_port == own else with_port


def _with_and_without_port(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return url, url  # the code that opens it will refuse it
    name = f"[{host}]" if ":" in host else host
    return name, f"{name}:{port or _PORTS.get(parts.scheme.lower())}"
