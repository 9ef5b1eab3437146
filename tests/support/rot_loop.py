"""Stores that rot, by a seed: a stored thing is damaged, verbs act on it, and nothing is lost.

A round takes a store at a moment of its life, damages what it keeps, and calls verbs, with more
damage between.  Afterwards each payload of which any whole copy was there is still there, as is
each record; no reference was written that does not resolve; and what was given out is what was
captured, or the verb said that it is not.  The judge is `rot_judge`: zlib and Zstandard's library.

    python tests/support/rot_loop.py FIRST END    rounds by their numbers; prints what it finds
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rot_damage import damage, damage_folder, stored_files
from rot_judge import Inventory, Known, take_inventory, whole_records
from rot_scene import COMPRESSIONS, CRAWLS, MOMENTS, URIS, Scene, build_scene
from store_chain import ANY_SAVING, Answer, call
from verbs_here import call_here

BATCH = 100
"""Rounds that share a scene of each compression."""
_SCENES = 4
_DEFECT = 70
_GIVING = ("cat", "show", "restore", "export-wacz", "backup", "restore-backup", "dedupe files")


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
    said: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        shutil.copytree(self.scene.folder / self.moment, self.folder)
        self.store = self.folder / "store"
        landed = CRAWLS[:2] if self.moment in MOMENTS[:2] else CRAWLS
        self.landed = {
            name: known for name, known in self.scene.truth.items() if known.crawl in landed
        }

    # --- damage

    def rot(self) -> None:
        number = MOMENTS.index(self.moment)
        earlier = self.scene.store(self.dice.choice(MOMENTS[:number])) if number else None
        self.said.append("damage: " + damage(self.dice, self.store, earlier))

    # --- acts

    def act(self) -> None:
        verb = self.dice.choice(tuple(_ACTS))
        before = self.inventory()
        answer = _ACTS[verb](self)
        self.acts.append(verb)
        self.refused += answer.exit_code not in (0, 1)
        self.said.append(f"{verb}: exit {answer.exit_code}: {(answer.out + answer.err)[-600:]}")
        if answer.exit_code == _DEFECT:
            self.found.append(f"{verb} ended with a defect: {answer.err[-1500:]}")
        self.judge(verb, before, self.inventory())

    def call(self, *words: object, store: Path | None = None) -> Answer:
        return in_child(lambda: call(*words, "--store", store or self.store))

    def take_away(self, is_taken: Callable[[Known], bool], *words: object) -> Answer:
        """Call a verb that may take these records, and payloads that no others have."""
        answer = self.call(*words)
        self.landed = {name: one for name, one in self.landed.items() if not is_taken(one)}
        return answer

    # --- judging

    def inventory(self) -> Inventory:
        archive = self.store / "archive"
        files = (archive / name for name in sorted(stored_files(self.store)))
        contents = (path.read_bytes() for path in files if path.suffix != ".parquet")
        return take_inventory(contents, self.scene.truth)

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
    archive, target = round_.store / "archive", round_.folder / f"files-{len(round_.acts)}"
    names = sorted(one for one in stored_files(round_.store) if not one.endswith(".parquet"))
    name = round_.dice.choice(names)
    answer = round_.call("restore", archive / name, "-o", target, "--dir", archive)
    round_.judge_given("restore", answer, _contents(target))
    return answer


def _dedupe_files(round_: Round) -> Answer:
    archive, target = round_.store / "archive", round_.folder / f"deduplicated-{len(round_.acts)}"
    names = sorted(one for one in stored_files(round_.store) if not one.endswith(".parquet"))
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

    done = call_here(round_.folder, "-q", verb, key, *options, "--store", str(round_.store))
    body = done.stdout.encode("utf-8", "surrogateescape")
    return Answer(done.returncode, "", done.stderr), body


def _capture_keys(store: Path) -> Iterator[tuple[str, str]]:
    """Keys of captures, and the record id at the end of each: the row says it, as it landed."""
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows:
        found = rows.execute("SELECT row, value FROM captures WHERE col=?", (b"m:capture",))
        for key, value in found:
            _, mark, after = bytes(value).partition(b'"record_id":"')
            if mark:
                yield (
                    bytes(key).decode("utf-8", "surrogateescape"),
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


def play(number: int, scenes: Scenes, folder: Path) -> Round:
    """One round by its number: the same for the same number, but for names of acts and times."""
    dice = random.Random(number)
    one = Round(scenes.of(number), dice.choice(MOMENTS), folder / str(number), dice)
    for _ in range(dice.choice((1, 1, 2))):
        one.rot()
    for _ in range(dice.randrange(1, 4)):
        one.act()
        if dice.random() < 0.3:
            one.rot()
    if not one.found:
        shutil.rmtree(one.folder)
    return one


def main(first: int, end: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="rot-"))
    scenes, acts, refused, bad = Scenes(folder), Counter[str](), 0, 0
    for number in range(first, end):
        one = play(number, scenes, folder)
        acts.update(one.acts)
        refused += one.refused
        if one.found:
            bad += 1
            print(f"round {number} ({one.folder}, {one.moment})", *one.said, sep="\n  ")
            print(*(f"  !! {what}" for what in one.found), sep="\n", flush=True)
    print(f"{end - first} rounds, {bad} with findings, {refused} acts refused; {dict(acts)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
