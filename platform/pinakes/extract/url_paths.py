"""The path below a folder at which the body of a URL is kept.  Pure.

URLs come from archives, and may be anything: what a file system, a shell or a glob could take
for something else is written as `%XX`.  Different URLs may have one path (`/a%2Fb` of one may be
what another is escaped to), and so may captures of one URL: the code that writes settles that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

INDEX = "index.jsonl"
"""The file in the folder that says what is what; no host has its name."""
PART_LIMIT_BYTES = 150
"""Of a name; suffixes make it 200 at most."""
_PATH_LIMIT_BYTES = 1000
_WITH_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]+)([^?#]*)(.*)", re.DOTALL)
_WITH_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_UNSAFE = re.compile(rb"[^A-Za-z0-9._~%+,=@&-]")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")
_LONGEST_EXTENSION = 11
# What Windows opens as a device, with any extension.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)


def path_of_url(url: str | None) -> str:
    """HOST/PATH with the query in the last name; `index.html` stands after a slash."""
    host, path, rest = _split(url or "")
    *folders, last = path.split("/")
    return safe_path([host, *folders, (last or "index.html") + rest])


def safe_path(names: Iterable[str]) -> str:
    """These names, empty ones left out, as a path of safe ones; a very long one is hashed."""
    given = [name for name in names if name]
    parts = [safe_part(name) for name in given]
    if parts[0].lower() == INDEX:
        parts[0] = _escaped_start(parts[0])
    if sum(map(len, parts)) + len(parts) > _PATH_LIMIT_BYTES:
        parts = [parts[0], _shortened(parts[-1], "/".join(given))]
    return "/".join(parts)


def safe_part(text: str) -> str:
    """One name: ASCII, at most `PART_LIMIT_BYTES`, not hidden, no option, no device."""
    raw = text.encode("utf-8", "surrogateescape")
    name = _UNSAFE.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")
    if name[:1] in (".", "-", "&") or _DEVICE.match(name):
        name = _escaped_start(name)
    if name.endswith("."):
        name = f"{name[:-1]}%2E"
    return _shortened(name, text) if len(name) > PART_LIMIT_BYTES else name


def with_suffix(path: str, suffix: str) -> str:
    """The path with a suffix in its name, before the extension: `a/b.html`, `a/b.2020.html`."""
    folder, slash, name = path.rpartition("/")
    extension = _extension(name)
    return f"{folder}{slash}{name.removesuffix(extension)}.{suffix}{extension}"


def _split(url: str) -> tuple[str, str, str]:
    """Host and port, path, and the rest; of a URL without host its scheme and what comes after."""
    match = _WITH_HOST.match(url)
    if match:
        return match[1].rpartition("@")[2].lower(), match[2], match[3]
    match = _WITH_SCHEME.match(url)
    scheme, rest = match.groups() if match else ("no-url", url)
    return scheme.lower(), rest.strip("/") or "body", ""


def _escaped_start(name: str) -> str:
    return f"%{ord(name[0]):02X}{name[1:]}"


def _shortened(name: str, whole: str) -> str:
    """The start of a name, and a hash of what it stands for; the extension stays."""
    digest = hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    extension = _extension(name)
    kept = PART_LIMIT_BYTES - len(digest) - len(extension) - 1
    return f"{name.removesuffix(extension)[:kept]}~{digest}{extension}"


def _extension(name: str) -> str:
    match = _EXTENSION.search(name[-_LONGEST_EXTENSION:])
    return match[0] if match and len(match[0]) < len(name) else ""
