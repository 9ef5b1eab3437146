"""Build the corpus: Debian documentation, crawled twice over loopback by GNU wget.

    python -m bench.corpus [--corpus NAME]     prints the folder that holds crawl-1 and crawl-2

Built once into the cache folder; a stamp with the recipe says that it is whole.
The packages are downloaded and unpacked there, not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from bench import layout
from bench.cache import cache_dir
from bench.site_changes import ONE_IN, SEED, served_body
from bench.site_server import serving

FEXTRA = 4
WEB = {".html", ".htm", ".css", ".js", ".png", ".gif", ".svg", ".jpg", ".jpeg", ".txt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which packages (with how many of their files, None for all), and how large a WARC gets.

    `sizes_noted`: members say how long they are, as wget's do (a gzip extra field, `sl`) and those
    of most other crawlers do not.
    """

    name: str
    packages: tuple[tuple[str, int | None], ...]
    max_warc: str
    sizes_noted: bool = True


FULL = Recipe(
    name="full",
    packages=(
        ("openjdk-17-doc", None),
        ("python-pandas-doc", None),
        ("python3.11-doc", None),
        ("debian-handbook", 5000),
    ),
    max_warc="70M",
)
LARGE = Recipe(
    name="large",
    packages=(
        *FULL.packages,
        ("gimp-help-de", None),
        ("gimp-help-en", None),
        ("opencv-doc", None),
        ("python-scipy-doc", None),
        ("rust-doc", None),
    ),
    max_warc="70M",
)
SMALL = Recipe(
    name="small",
    packages=(("python3.11-doc", None), ("debian-handbook", 600)),
    max_warc="8M",
)
SMALL_RECORDS = Recipe(
    name="small-records",
    packages=(("openjdk-17-doc", None), ("python-pandas-doc", 4900)),
    max_warc="8M",
    sizes_noted=False,
)
CORPORA = {recipe.name: recipe for recipe in (FULL, SMALL, SMALL_RECORDS, LARGE)}


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"bench corpus: {text}", file=sys.stderr, flush=True)


def recipe_digest(recipe: Recipe) -> str:
    """Return what the stamp of a corpus built by `recipe` must hold."""
    text = json.dumps([asdict(recipe), SEED.decode(), ONE_IN, sorted(WEB)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def unpacked(package: str) -> Path:
    """Return the folder with the package's files; download and unpack it where it is not yet."""
    root = cache_dir() / "packages" / package
    if not root.is_dir():
        say(f"getting {package}")
        drop = root.with_name(f"{package}.part")
        shutil.rmtree(drop, ignore_errors=True)
        drop.mkdir(parents=True)
        run = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package]
        subprocess.run(run, cwd=drop, check=True, stdout=sys.stderr)
        (archive,) = drop.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(drop)], check=True)
        archive.rename(drop / "package.deb")
        drop.rename(root)
    return root


def version(package: str) -> str:
    """Return the version of the package as downloaded."""
    run = ["dpkg-deb", "-f", str(unpacked(package) / "package.deb"), "Version"]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()


def web_files(root: Path, limit: int | None) -> list[Path]:
    """List the files under `root` that a documentation site would serve, in path order."""
    found = [
        path
        for path in root.rglob("*")
        if path.suffix.lower() in WEB and path.is_file() and not path.is_symlink()
    ]
    return sorted(found)[:limit]


def site(recipe: Recipe) -> dict[str, Path]:
    """Map the URL paths of the site to files; names that a URL would have to quote are left out."""
    files = {}
    for package, limit in recipe.packages:
        root = unpacked(package)
        for path in web_files(root, limit):
            url_path = f"/{package}/{path.relative_to(root).as_posix()}"
            if url_path.isascii() and not set(url_path) & set(' "#%<>?[\\]^`{|}'):
                files[url_path] = path
    return files


def crawl(files: dict[str, Path], number: int, folder: Path, max_warc: str) -> None:
    """Crawl every path once with GNU wget into `folder`/crawl-`number`-NNNNN.warc.gz."""
    folder.mkdir(parents=True)
    listing = folder / "urls.txt"

    def answer(path: str) -> bytes | None:
        return served_body(files[path].read_bytes(), path, number) if path in files else None

    with serving(answer) as base:
        # A port in the URL would make every crawl another site: the name stays, a proxy leads here.
        listing.write_text("".join(f"http://docs.example.org{path}\n" for path in files))
        run = ["wget", "--no-config", "-e", "use_proxy=on", "-e", f"http_proxy={base}"]
        run += ["--no-verbose", "--input-file", str(listing), "--output-document", "/dev/null"]
        run += ["--no-warc-keep-log", f"--warc-max-size={max_warc}"]
        run += [f"--warc-file={folder}/crawl-{number}", "--append-output", "/dev/null"]
        subprocess.run(run, check=True, cwd=folder)
    listing.unlink()
    for meta in folder.glob("*-meta.warc.gz"):
        meta.unlink()


def take_out_sizes(warc: Path) -> None:
    """Write the file again, its gzip members without their extra fields (RFC 1952, section 2.3)."""
    numbers = iter(layout.load(warc))
    aside = warc.with_suffix(".part")
    with warc.open("rb") as file, aside.open("wb") as out:
        while row := tuple(islice(numbers, layout.FIELDS)):
            file.seek(row[0])
            member = file.read(row[1])
            if member[3] != FEXTRA:
                raise SystemExit(f"{warc}: a gzip member at {row[0]} with flags {member[3]}")
            extra = int.from_bytes(member[10:12], "little")
            out.write(member[:3] + b"\0" + member[4:10] + member[12 + extra :])
    aside.rename(warc)
    layout.layout_path(warc).unlink()


def build(recipe: Recipe) -> Path:
    """Return the corpus folder, building it first where the stamp does not match."""
    folder = cache_dir() / f"corpus-{recipe.name}"
    stamp = folder / "stamp.json"
    wanted = recipe_digest(recipe)
    if stamp.is_file() and json.loads(stamp.read_text())["recipe"] == wanted:
        return folder
    if shutil.which("wget") is None or shutil.which("dpkg-deb") is None:
        raise SystemExit("bench corpus: needs GNU wget, apt-get and dpkg-deb (Debian)")
    shutil.rmtree(folder, ignore_errors=True)
    files = site(recipe)
    for number in (1, 2):
        say(f"{recipe.name}: crawl {number} of {len(files)} pages and files")
        crawl(files, number, folder / f"crawl-{number}", recipe.max_warc)
    if not recipe.sizes_noted:
        for warc in warcs(folder):
            take_out_sizes(warc)
    packages = {package: version(package) for package, _ in recipe.packages}
    stamp.write_text(json.dumps({"recipe": wanted, "urls": len(files), "packages": packages}))
    return folder


def warcs(folder: Path) -> list[Path]:
    """List the WARC files of both crawls, in crawl and file order."""
    return sorted(folder.glob("crawl-?/crawl-?-?????.warc.gz"))


def first_crawl(name: str) -> list[Path]:
    """List the WARC files of the first crawl of a corpus, which is built where it is missing."""
    return [warc for warc in warcs(build(CORPORA[name])) if warc.parent.name == "crawl-1"]


def main() -> None:
    """Build the corpus asked for and print where it lies."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--corpus", choices=CORPORA, default=FULL.name)
    folder = build(CORPORA[parser.parse_args().corpus])
    size = sum(path.stat().st_size for path in warcs(folder))
    say(f"{len(warcs(folder))} files, {size / 1e6:.0f} MB")
    print(folder)


if __name__ == "__main__":
    main()
