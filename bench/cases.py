"""What is measured of us: each figure a small declared case, with the limit it is held to.

A case whose verb is not built yet is printed as such.  Steps named in `prepare` run once,
outside the measure.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.measure import Step

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a case works on: the corpus, what was prepared once, and an empty folder for output."""

    warcs: tuple[Path, ...]
    prepared: Path
    out: Path

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of the WARC files, as arguments."""
        return tuple(map(str, self.warcs))


Steps = Callable[[Setting], Sequence[Step]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One figure.  `floor` names a run of FLOORS, or another case for a speed-up.

    `prepare` is done once, `each_time` before each measure; neither is measured.
    `limit` bounds the quotient from above, `limit_small` on the corpus `small-records`;
    `at_least` from below and on wall time; `peak_limit` bounds memory in bytes.
    `corpus_mb` asks for one file of that size in place of the corpus.
    """

    name: str
    group: str
    steps: Steps
    verbs: tuple[str, ...] = ()
    needs: Callable[[], bool] = lambda: True
    prepare: Steps = lambda _: ()
    each_time: Steps = lambda _: ()
    floor: str = "sha1"
    limit: float | None = None
    limit_small: float | None = None
    at_least: float | None = None
    peak_limit: int | None = None
    corpus_mb: int | None = None


def on_corpus(case: Case, corpus: str) -> Case:
    """The case with the limit that it has on this corpus."""
    if corpus == "small-records" and case.limit_small is not None:
        return replace(case, limit=case.limit_small)
    return case


def built(case: Case) -> bool:
    """Tell whether all the verbs of `case` are there."""
    if str(ROOT / "platform") not in sys.path:
        sys.path.append(str(ROOT / "platform"))
    from pinakes.cli.verbs import VERBS

    return set(case.verbs) <= set(VERBS)


def python(*arguments: str) -> Step:
    """Run this interpreter, with the repository's packages in reach."""
    path = os.pathsep.join((str(ROOT / "platform"), str(ROOT)))
    return Step(argv=(sys.executable, *arguments), env=(("PYTHONPATH", path),))


def pinakes(*arguments: str) -> Step:
    """Run `pinakes`, quietly."""
    return python("-m", "pinakes.cli", *arguments)


def floor(digest: str, *options: str) -> Steps:
    """Inflate and hash the corpus, as bench.floor describes."""
    return lambda on: (python("-m", "bench.floor", "--digest", digest, *options, *on.names),)


FLOORS = {"sha1": floor("sha1"), "sha256": floor("sha256")}


def manifest(digest: str, *options: str, at: str = "out") -> Steps:
    """Write the manifest of the corpus into the output folder (or the prepared one)."""

    def steps(on: Setting) -> Sequence[Step]:
        target = (on.out if at == "out" else on.prepared) / "manifest"
        args = ("--digest", digest, *options, "-o", str(target))
        return (pinakes("manifest", *on.names, *args),)

    return steps


def resolved(digest: str, compare: str) -> Steps:
    """Prepare a processed manifest."""

    def steps(on: Setting) -> Sequence[Step]:
        return (*manifest(digest, at="prepared")(on), resolve(on.prepared, compare))

    return steps


def resolve(folder: Path, compare: str) -> Step:
    """Resolve and process `folder`/manifest into `folder`/processed."""
    options = ("--compare", compare, "--process", "-o", str(folder / "processed"))
    return pinakes("resolve", str(folder / "manifest"), *options)


def refs(on: Setting, folder: Path, *options: str) -> Step:
    """Write the corpus with revisits, by `folder`/processed."""
    target = ("-o", str(on.out / "rewritten"))
    return pinakes("refs", *on.names, "--manifest", str(folder / "processed"), *target, *options)


def chain(digest: str, compare: str) -> Steps:
    """Go from WARC files to WARC files with revisits, in one process."""

    def steps(on: Setting) -> Sequence[Step]:
        options = ("--digest", digest, "--compare", compare, "-o", str(on.out / "rewritten"))
        return (python("-m", "bench.chain", *options, *on.names),)

    return steps


def in_store(store: Path, *arguments: str) -> Step:
    """Run `pinakes` on an embedded store."""
    verb = pinakes(*arguments)
    return Step(argv=verb.argv, env=(*verb.env, ("PINAKES_STORE", str(store))))


def ingest(*options: str, at: str = "out") -> Steps:
    """Land both crawls in a new embedded store, in the output folder (or the prepared one)."""

    def steps(on: Setting) -> Sequence[Step]:
        store = (on.out if at == "out" else on.prepared) / "store"
        by_crawl = {
            crawl: [str(warc) for warc in on.warcs if warc.parent == crawl]
            for crawl in sorted({warc.parent for warc in on.warcs})
        }
        return (
            in_store(store, "init"),
            *(
                in_store(store, "ingest", *files, "--crawl", crawl.name, *options)
                for crawl, files in by_crawl.items()
            ),
        )

    return steps


def copied_store(on: Setting) -> Sequence[Step]:
    """Copy the prepared store to the output folder: `dedupe` changes what it works on."""
    return (Step(argv=("cp", "-r", str(on.prepared / "store"), str(on.out / "store"))),)


def dedupe(*options: str) -> Steps:
    """Deduplicate all crawls of the copied store."""
    return lambda on: (in_store(on.out / "store", "dedupe", "--all", *options),)


def validate(on: Setting) -> Sequence[Step]:
    """Compare the corpus, record by record, with its rewritten copy."""
    return (pinakes("validate", str(on.prepared / "before"), str(on.prepared / "rewritten")),)


def rewritten(on: Setting) -> Sequence[Step]:
    """Prepare what validate compares: the corpus in one folder, rewritten in another."""
    before = on.prepared / "before"
    before.mkdir(exist_ok=True)
    for warc in on.warcs:
        (before / warc.name).symlink_to(warc)
    there = Setting(warcs=on.warcs, prepared=on.prepared, out=on.prepared)
    return (*resolved("sha256", "none")(on), refs(there, on.prepared))


LOOKING = ("ls", "filter", "cdx")
HTML = ("--type", "response", "--status", "200", "--mime", "text/html")


def looked(*options: str) -> Steps:
    """Run `ls`, `filter` or `cdx` over the corpus, what it prints into a file."""

    def steps(on: Setting) -> Sequence[Step]:
        verb, *rest = options
        run = pinakes(verb, *on.names, *rest)
        return (Step(argv=run.argv, env=run.env, stdout=on.out / "printed"),)

    return steps


def filtered(on: Setting) -> Sequence[Step]:
    """Copy HTML answers with status 200 into one file."""
    return (pinakes("filter", *on.names, "-o", str(on.out / "html.warc.gz"), *HTML),)


def planned(on: Setting) -> Sequence[Step]:
    """Forecast what `dedupe` would save on these files."""
    return (pinakes("dedupe", *on.names, "-o", str(on.out / "deduped"), "--plan"),)


FLAT = 300_000_000
STORE = ("init", "ingest", "dedupe", "fsck")

OURS = (
    Case(
        name="floor in one pass, no batches",
        group="floor",
        steps=floor("sha1", "--one-pass"),
    ),
    Case(name="floor with sha256", group="floor", steps=FLOORS["sha256"]),
    Case(
        name="manifest, verified",
        group="pinakes",
        verbs=("manifest",),
        steps=manifest("sha1"),
        limit=1.10,
        limit_small=1.40,
    ),
    Case(
        name="manifest, verified, sha256",
        group="pinakes",
        verbs=("manifest",),
        steps=manifest("sha256"),
        floor="sha256",
        limit=1.10,
        limit_small=1.40,
    ),
    Case(
        name="manifest, declared digests trusted",
        group="pinakes",
        verbs=("manifest",),
        steps=manifest("sha1", "--trust-declared"),
    ),
    Case(name="ls", group="pinakes", verbs=LOOKING, steps=looked("ls")),
    Case(name="ls --json", group="pinakes", verbs=LOOKING, steps=looked("ls", "--json")),
    Case(name="ls --stats", group="pinakes", verbs=LOOKING, steps=looked("ls", "--stats")),
    Case(name="filter", group="pinakes", verbs=LOOKING, steps=filtered),
    Case(name="cdx", group="pinakes", verbs=LOOKING, steps=looked("cdx")),
    Case(
        name="refs, manifest given",
        group="pinakes",
        verbs=("manifest", "resolve", "refs"),
        prepare=resolved("sha256", "none"),
        steps=lambda on: (refs(on, on.prepared),),
        limit=0.5,
        limit_small=1.5,
    ),
    Case(
        name="resolve, bytes compared, and process",
        group="pinakes",
        verbs=("manifest", "resolve"),
        prepare=manifest("sha1", at="prepared"),
        steps=lambda on: (resolve(on.prepared, "bytes"),),
    ),
    Case(
        name="chain, sha256, no comparing",
        group="pinakes",
        verbs=("manifest", "resolve", "refs"),
        steps=chain("sha256", "none"),
        floor="sha256",
        limit=1.8,
        limit_small=4.5,
    ),
    Case(
        name="chain, bytes compared",
        group="pinakes",
        verbs=("manifest", "resolve", "refs"),
        steps=chain("sha1", "bytes"),
        limit=2.6,
        limit_small=4.5,
    ),
    Case(
        name="manifest -j 2, speed-up over -j 1",
        group="pinakes",
        verbs=("manifest",),
        steps=manifest("sha1", "-j", "2"),
        floor="manifest, verified",
        at_least=1.8,
    ),
    Case(
        name="ingest",
        group="pinakes",
        verbs=STORE,
        steps=ingest(),
        limit=2.5,
        limit_small=3.5,
    ),
    Case(
        name="ingest -j 2, speed-up over -j 1",
        group="pinakes",
        verbs=STORE,
        steps=ingest("-j", "2"),
        floor="ingest",
        at_least=1.7,
    ),
    Case(
        name="dedupe --all",
        group="pinakes",
        verbs=STORE,
        prepare=ingest(at="prepared"),
        each_time=copied_store,
        steps=dedupe(),
        limit=6.0,
    ),
    Case(
        name="dedupe -j 2, speed-up over -j 1",
        group="pinakes",
        verbs=STORE,
        prepare=ingest(at="prepared"),
        each_time=copied_store,
        steps=dedupe("-j", "2"),
        floor="dedupe --all",
        at_least=1.7,
    ),
    Case(
        name="fsck",
        group="pinakes",
        verbs=STORE,
        prepare=ingest(at="prepared"),
        steps=lambda on: (in_store(on.prepared / "store", "fsck"),),
    ),
    Case(
        name="validate",
        group="pinakes",
        verbs=("manifest", "resolve", "refs", "validate"),
        prepare=rewritten,
        steps=validate,
    ),
    Case(
        name="proof on raw bytes, in refs and dedupe",
        group="pinakes",
        verbs=("manifest", "resolve", "refs"),
        prepare=rewritten,
        steps=lambda on: (
            python(
                "-m", "bench.raw_proof", str(on.prepared / "before"), str(on.prepared / "rewritten")
            ),
        ),
    ),
    *(
        Case(
            name=f"memory, {work}, {size} MB",
            group="memory",
            verbs=verbs,
            steps=steps,
            peak_limit=FLAT,
            corpus_mb=size,
        )
        for work, verbs, steps in (
            ("manifest", ("manifest",), manifest("sha1")),
            ("chain", ("manifest", "resolve", "refs"), chain("sha1", "bytes")),
            ("ls", LOOKING, looked("ls")),
            ("filter", LOOKING, filtered),
            ("cdx", LOOKING, looked("cdx")),
            ("dedupe --plan", ("dedupe",), planned),
        )
        for size in (100, 1000)
    ),
)
