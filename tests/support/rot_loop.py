"""Stores that rot, by a seed: a stored thing is damaged, verbs act on it, and nothing is lost.

A round takes a store at a moment of its life, damages what it keeps, and calls verbs, with more
damage between.  Afterwards each payload of which any whole copy was there is still there, as is
each record; no reference was written that does not resolve; and what was given out is what was
captured, or the verb said that it is not.  The judge is `rot_judge`: zlib and Zstandard's library.

    python tests/support/rot_loop.py FIRST END    rounds by their numbers; prints what it finds
    python tests/support/rot_loop.py FIRST END --cluster FOLDER    on the servers of this folder
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rot_damage import damage, damage_folder
from rot_judge import Inventory, Known, take_inventory, whole_records
from rot_scene import COMPRESSIONS, CRAWLS, MOMENTS, URIS, Scene, build_scene
from store_chain import ANY_SAVING, Answer, call
from stored_things import Folders, Place, StoredThings, StoreInFolder
from verbs_here import call_here

BATCH = 100
"""Rounds that share a scene of each compression."""
_SCENES = 4
_DEFECT = 70


def in_child(act: Callable[[], Answer]) -> Answer:
    """What an act in a process of its own answers: its claims and leases end with it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = act()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            answer = Answer(_DEFECT, "", repr(error))
        with os.fdopen(writing, "wb") as out:
            out.write(pickle.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        data = said.read()
    os.waitpid(pid, 0)
    return pickle.loads(data) if data else Answer(_DEFECT, "", "ended without an answer")


@dataclass
class Round:
    """One store, what was done to it, and what was found."""

    scene: Scene
    moment: str
    folder: Path
    dice: random.Random
    place: Place
    said: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        self.store: StoredThings = self.place.lay(self.scene.store(self.moment), self.folder)
        landed = CRAWLS[:2] if self.moment in MOMENTS[:2] else CRAWLS
        self.landed = {
            name: known for name, known in self.scene.truth.items() if known.crawl in landed
        }

    # --- damage

    def rot(self) -> None:
        number = MOMENTS.index(self.moment)
        moment = self.dice.choice(MOMENTS[:number]) if number else None
        earlier = StoreInFolder(self.scene.store(moment)) if moment else None
        self.said.append("damage: " + damage(self.dice, self.store, earlier))

    # --- acts

    def act(self) -> None:
        verb = self.dice.choice([one for one in _ACTS if one not in self.place.LEFT_OUT])
        before = self.inventory()
        answer = _ACTS[verb](self)
        self.acts.append(verb)
        self.refused += answer.exit_code not in (0, 1)
        self.said.append(f"{verb}: exit {answer.exit_code}: {(answer.out + answer.err)[-600:]}")
        if answer.exit_code == _DEFECT:
            self.found.append(f"{verb} ended with a defect: {answer.err[-1500:]}")
        self.judge(verb, before, self.inventory())

    def call(self, *words: object, store: Path | None = None) -> Answer:
        named = self.store.options if store is None else ("--store", store)
        return in_child(lambda: call(*words, *named))

    def take_away(self, is_taken: Callable[[Known], bool], *words: object) -> Answer:
        """Call a verb that may take these records, and payloads that no others have."""
        answer = self.call(*words)
        self.landed = {name: one for name, one in self.landed.items() if not is_taken(one)}
        return answer

    # --- judging

    def inventory(self) -> Inventory:
        contents = (self.store.files.read(name) for name in self.archive_files())
        return take_inventory(contents, self.scene.truth)

    def archive_files(self) -> list[str]:
        """What is stored beside sidecars, of all generations."""
        return [name for name in self.store.files.names() if not name.endswith(".parquet")]

    def judge(self, verb: str, before: Inventory, after: Inventory) -> None:
        kept = {known.sha256 for known in self.landed.values()}
        lost = (before.payloads & kept) - after.payloads
        if lost:
            self.found.append(f"{verb} lost {len(lost)} payloads of which a whole copy was there")
        gone = (before.records & self.landed.keys()) - after.records
        if gone:
            self.found.append(f"{verb} lost {len(gone)} records: {sorted(gone)[:3]}")
        for record_id in sorted(after.revisits.keys() & self.landed.keys()):
            known = self.landed[record_id]
            resolves = known.sha256 in (
                after.addresses.get(after.revisits[record_id]),
                after.addresses.get((known.uri, known.date)),  # it is there in full besides
            )
            did = record_id in before.revisits and (
                before.addresses.get(before.revisits[record_id]) == known.sha256
            )
            if not resolves and (record_id not in before.revisits or did):
                self.found.append(f"{verb}: {record_id} refers to what is not there, or not it")

    def judge_given(self, verb: str, answer: Answer, files: Iterator[tuple[str, bytes]]) -> None:
        """What was written for others: whole records are as captured, or the verb said so."""
        for name, data in files:
            for whole in whole_records(data, {}):
                known = self.scene.truth.get(whole.record_id)
                if known is None or whole.sha256 is None or whole.record == known.record:
                    continue
                is_other = whole.sha256 != known.sha256
                # A rotten file may be copied as it is, where that is said.
                if is_other or b"Pinakes" in whole.record or answer.exit_code == 0:
                    self.found.append(f"{verb} gave {whole.record_id} altered in {name}")


# --- what may be called


def _dedupe(round_: Round) -> Answer:
    compare = round_.dice.choice(("bytes", "sha256", "none"))
    return round_.call("dedupe", "--all", "--compare", compare, *ANY_SAVING)


def _drop_old(round_: Round) -> Answer:
    return round_.call("dedupe", "--all", "--drop-old", "--grace", "0", *ANY_SAVING)


def _fsck(round_: Round) -> Answer:
    how = round_.dice.choice(("--quick", "--full", "--seed=1"))
    return round_.call("fsck", how, "--repair")


def _purge(round_: Round) -> Answer:
    crawl = round_.dice.choice(CRAWLS)
    return round_.take_away(
        lambda known: known.crawl == crawl,
        *("crawl", "purge", crawl, "--references", round_.dice.choice(("promote", "refuse"))),
    )


def _remove(round_: Round) -> Answer:
    crawl = round_.dice.choice(CRAWLS)
    round_.call("crawl", "commit", crawl)
    return round_.take_away(lambda known: known.crawl == crawl, "crawl", "remove", crawl)


def _withdraw(round_: Round) -> Answer:
    uri = f"http://example.org/{round_.dice.randrange(URIS)}"
    return round_.take_away(
        lambda known: known.uri == uri.encode(),
        *("withdraw", uri, "--reason", "asked", "--by", "somebody"),
    )


def _recompress(round_: Round) -> Answer:
    how = round_.dice.choice(("compress", "decompress"))
    again = round_.dice.choice(((), ("--again",)))
    return round_.call("zstd", how, round_.dice.choice(CRAWLS), *again)


def _backup(round_: Round) -> Answer:
    target = round_.folder / f"backup-{len(round_.acts)}"
    answer = round_.call("backup", target)
    if answer.exit_code == 0:
        kept = take_inventory(
            (
                path.read_bytes()
                for path in sorted((target / "archive").rglob("*.warc*"))
                if path.suffix != ".parquet"
            ),
            round_.scene.truth,
        )
        missing = round_.landed.keys() - kept.records
        if missing and not answer.err:
            round_.found.append(f"backup said nothing and lacks {len(missing)} records")
    return answer


def _restore_backup(round_: Round) -> Answer:
    source, target = round_.folder / f"from-{len(round_.acts)}", round_.folder / "restored"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(round_.scene.folder / "backup", source)
    round_.said.append("damage: backup: " + damage_folder(round_.dice, source))
    answer = round_.call("restore-backup", source, store=target)
    if answer.exit_code == 0:
        files = sorted((target / "archive").rglob("*.warc*"))
        there = take_inventory(
            (path.read_bytes() for path in files if path.suffix != ".parquet"), round_.scene.truth
        )
        wanted = {name for name, one in round_.scene.truth.items() if one.crawl in CRAWLS[:2]}
        if wanted - there.records:
            round_.found.append(f"restore-backup lacks {len(wanted - there.records)} records")
    return answer


def _export(round_: Round) -> Answer:
    target = round_.folder / f"{len(round_.acts)}.wacz"
    standalone = round_.dice.choice(((), ("--standalone",)))
    crawl = round_.dice.choice(CRAWLS)
    answer = round_.call("export-wacz", crawl, "-o", target, *standalone)
    if target.is_file():
        with zipfile.ZipFile(target) as package:
            names = [name for name in package.namelist() if name.startswith("archive/")]
            contents = [(name, package.read(name)) for name in names]
        round_.judge_given("export-wacz", answer, iter(contents))
        if answer.exit_code == 0 and not answer.err:
            held = take_inventory((data for _, data in contents), round_.scene.truth)
            wanted = {name for name, one in round_.landed.items() if one.crawl == crawl}
            if wanted - held.records:
                round_.found.append(f"export-wacz lacks {len(wanted - held.records)} records")
    return answer


def _restore_files(round_: Round) -> Answer:
    archive = round_.store.archive_here(round_.folder / f"archive-{len(round_.acts)}")
    target = round_.folder / f"files-{len(round_.acts)}"
    # Where all crawls have been taken out, of one that is not there.
    name = round_.dice.choice(round_.archive_files() or ["c1/0.warc.gz"])
    answer = round_.call("restore", archive / name, "-o", target, "--dir", archive)
    round_.judge_given("restore", answer, _contents(target))
    return answer


def _dedupe_files(round_: Round) -> Answer:
    archive = round_.store.archive_here(round_.folder / f"archive-{len(round_.acts)}")
    target = round_.folder / f"deduplicated-{len(round_.acts)}"
    names = round_.archive_files()
    # One generation of each: two of one name would go to one place.
    chosen = {Path(name).name: archive / name for name in names if name.startswith("c1")}
    answer = round_.call("dedupe", *chosen.values(), "-o", target, "--min-saving-bytes", "none")
    before = take_inventory((path.read_bytes() for path in chosen.values()), round_.scene.truth)
    if answer.exit_code == 0:
        after = take_inventory((data for _, data in _contents(target)), round_.scene.truth)
        if before.payloads - after.payloads or before.records - after.records:
            round_.found.append("dedupe -o lacks what was whole, and exits 0")
    return answer


def _give(verb: str, *options: str) -> Callable[[Round], Answer]:
    def give(round_: Round) -> Answer:
        keys = list(_capture_keys(round_.store))
        if not keys:
            return Answer(0, "", "")
        key, record_id = round_.dice.choice(keys)
        answer, body = _printed(round_, verb, key, *options)
        known = round_.scene.truth.get(record_id)
        if answer.exit_code == 0 and known is not None and body != known.body:
            round_.found.append(f"{verb} gave {len(body)} wrong bytes for {key}, exit 0")
        return answer

    return give


def _printed(round_: Round, verb: str, key: str, *options: str) -> tuple[Answer, bytes]:
    def give() -> Answer:
        done = call_here(round_.folder, "-q", verb, key, *options, *round_.store.options)
        return Answer(done.returncode, done.stdout, done.stderr)

    answer = in_child(give)
    return answer._replace(out=""), answer.out.encode("utf-8", "surrogateescape")


def _capture_keys(store: StoredThings) -> Iterator[tuple[str, str]]:
    """Keys of captures, and the record id at the end of each: the row says it, as it landed."""
    for cell in store.cells():
        if (cell.table, cell.column) != ("captures", b"m:capture"):
            continue
        _, mark, after = bytes(cell.value).partition(b'"record_id":"')
        if mark:
            yield (
                bytes(cell.row).decode("utf-8", "surrogateescape"),
                after.partition(b'"')[0].decode("latin-1"),
            )


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file():
            yield path.name, path.read_bytes()


_ACTS: dict[str, Callable[[Round], Answer]] = {
    "dedupe": _dedupe,
    "drop-old": _drop_old,
    "fsck --repair": _fsck,
    "purge": _purge,
    "remove": _remove,
    "withdraw": _withdraw,
    "zstd": _recompress,
    "backup": _backup,
    "restore-backup": _restore_backup,
    "export-wacz": _export,
    "restore": _restore_files,
    "dedupe files": _dedupe_files,
    "cat": _give("cat", "--payload"),
    "show": _give("show", "--payload"),
}


class Scenes:
    """Builds each scene once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, int], Scene] = {}

    def of(self, number: int) -> Scene:
        compression, seed = COMPRESSIONS[number % len(COMPRESSIONS)], number // BATCH % _SCENES
        if (compression, seed) not in self._built:
            folder = self._folder / f"scene-{compression}-{seed}"
            self._built[compression, seed] = build_scene(folder, compression, seed)
        return self._built[compression, seed]


def play(number: int, scenes: Scenes, folder: Path, place: Place) -> Round:
    """One round by its number: the same for the same number, but for names of acts and times."""
    dice = random.Random(number)
    one = Round(scenes.of(number), dice.choice(MOMENTS), folder / str(number), dice, place)
    for _ in range(dice.choice((1, 1, 2))):
        one.rot()
    for _ in range(dice.randrange(1, 4)):
        one.act()
        if dice.random() < 0.3:
            one.rot()
    if not one.found:
        one.store.remove()
        shutil.rmtree(one.folder)
    return one


def main(first: int, end: int, place: Place, folder: Path) -> int:
    scenes, acts, refused, bad, began = Scenes(folder), Counter[str](), 0, 0, time.monotonic()
    for number in range(first, end):
        one = play(number, scenes, folder, place)
        acts.update(one.acts)
        refused += one.refused
        if one.found:
            bad += 1
            print(f"round {number} ({one.folder}, {one.moment})", *one.said, sep="\n  ")
            print(*(f"  !! {what}" for what in one.found), sep="\n", flush=True)
    print(f"{end - first} rounds, {bad} with findings, {refused} acts refused; {dict(acts)}")
    print(f"{(time.monotonic() - began) / (end - first):.1f} s a round")
    return 1 if bad else 0


def main_on_cluster(first: int, end: int, servers: Path, folder: Path) -> int:
    """The same on servers that are started if they do not run, and left running."""
    sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `local_cluster`
    from shared_cluster import start_cluster
    from stored_on_cluster import stores_on

    with stores_on(start_cluster(servers, frozenset({"thrift2"})), folder) as place:
        return main(first, end, place, folder)


if __name__ == "__main__":
    first, end, *cluster = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="rot-"))
    if cluster:
        sys.exit(main_on_cluster(int(first), int(end), Path(cluster[1]).absolute(), folder))
    sys.exit(main(int(first), int(end), Folders(), folder))
