"""A crawler gets no original that is damaged, or whose file is gone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asked_cdx import Ask, asking_here
from crawl_states import set_crawl_state
from landed_stores import LandedStore, page, sha1_of
from rotten import FORMS, flips, whole_contents
from verbs_here import call_here

from pinakes.catalog.crawl_rows import COMMITTED
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.originals import DAMAGED, Asked, Original, OriginalFinder
from pinakes.catalog.sound_originals import KEPT_S, SoundOriginals
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.errors import PinakesError
from pinakes.warc.digest import parse_digest

URL = "http://example.org/page"
BODY = bytes(range(256)) * 4
FIRST, SECOND = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
HEAD_OF_CDX = " CDX N b a m s k r M S V g u"
SHA1 = sha1_of(BODY)


def land(store: LandedStore, crawl: str, name: str, date: str, body: bytes = BODY) -> Path:
    """A committed crawl with one page, in the form of that name."""
    made = next(made for file, made in FORMS.values() if file == name)
    record = gzip.decompress(page(URL, body, date=date))
    store.land(crawl, name, made(record), collection="news")
    set_crawl_state(store.rows, crawl, COMMITTED, act="a")
    return store.path_of(f"{crawl}/{name}")


def by_digests(ask: Ask) -> str | None:
    [line] = ask("/news/digests", SHA1, token=None).lines
    original = json.loads(line)["original"]
    return original["timestamp"] if original is not None else None


def by_one_digest(ask: Ask) -> str | None:
    lines = ask(f"/news/digest/{SHA1}?original=true").lines
    return lines[0].split(" ")[1] if lines else None


def by_warcprox(ask: Ask) -> str | None:
    body = ask(f"/news/dedup/base32?{urlencode({'url': URL})}").body
    return body.split(" ")[0] if body else None


def by_wget(ask: Ask) -> str | None:
    """wget gets the list of all: of one digest the same original as others."""
    head, *lines = ask("/news/dedup/wget").lines
    assert head == HEAD_OF_CDX
    return lines[0].split(" ")[1] if lines else None


ASKED = {f.__name__: f for f in (by_digests, by_one_digest, by_warcprox, by_wget)}


def gone(file: Path) -> None:
    file.unlink()


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])


def another(file: Path) -> None:
    """Of the same length where it is not compressed, and whole."""
    made = next(made for name, made in FORMS.values() if name == file.name)
    file.write_bytes(made(gzip.decompress(page(URL, BODY[::-1], date=FIRST))))


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc.zst", "a.warc"])
@pytest.mark.parametrize("damage", [gone, zeros, cut, another])
def test_a_damaged_original_is_not_named_and_a_sound_copy_is(
    store: LandedStore, damage: Callable[[Path], None], name: str
) -> None:
    file = land(store, "one", name, FIRST)
    for ask in asking_here(store):
        assert {asked(ask) for asked in ASKED.values()} == {"20200101000000"}
    damage(file)
    for ask in asking_here(store):
        assert {asked(ask) for asked in ASKED.values()} == {None}
        assert json.loads(ask("/news/digests", SHA1, token=None).body)["why"] == DAMAGED
    land(store, "two", name, SECOND)
    for ask in asking_here(store):
        assert {asked(ask) for asked in ASKED.values()} == {"20210101000000"}


@pytest.mark.parametrize("form", FORMS)
def test_no_bit_of_an_original_may_have_flipped(store: LandedStore, form: str) -> None:
    """But those that change neither what the record says nor its body."""
    name, made = FORMS[form]
    record = gzip.decompress(page(URL, BODY, date=FIRST))
    store.land("one", name, made(record), collection="news")
    set_crawl_state(store.rows, "one", COMMITTED, act="a")
    file, [place] = store.path_of(f"one/{name}"), list(iter_sidecar(store.archive, f"one/{name}"))
    whole, left_out = file.read_bytes(), 0
    for rotten in flips(whole, 40, place.offset, place.offset + place.length):
        file.write_bytes(rotten)
        for ask in asking_here(store):
            if by_digests(ask) is None:
                left_out += 1
            else:
                [content] = (one for one in whole_contents([file]) if BODY in one)
                outline = f"WARC-Target-URI: {URL}\r\nWARC-Date: {FIRST}\r\n".encode()
                assert outline.lower() in content.lower()
    assert left_out > 25


def test_what_was_read_is_known_for_a_while(store: LandedStore) -> None:
    """Also that it is damaged; then it is read again."""
    file = land(store, "one", "a.warc.gz", FIRST)
    whole = file.read_bytes()
    clock, damage = [0.0], []
    sound = SoundOriginals(
        store.rows, store.archive, on_damage=damage.append, now_s=lambda: clock[0]
    )
    original = _original(store)
    assert sound.is_sound(original)
    zeros(file)
    assert sound.is_sound(original)
    clock[0] = KEPT_S + 1
    assert not sound.is_sound(original)
    file.write_bytes(whole)
    assert not sound.is_sound(original)
    clock[0] = 2 * KEPT_S + 2
    assert sound.is_sound(original)
    [error] = damage
    assert isinstance(error, PinakesError)
    assert "one/a.warc.gz" in str(error)


def test_an_original_whose_file_was_rewritten_meanwhile_is_read_there(store: LandedStore) -> None:
    """Its row was read before, and the old generation has been dropped since."""
    body = BODY * 50  # it is worth another compression
    land(store, "one", "a.warc.gz", FIRST, body)
    original = _original(store, sha1_of(body))
    done = call_here(store.folder.parent, "zstd", "compress", "one", "--store", str(store.folder))
    assert done.returncode == 0, done.stderr
    dropped = ("dedupe", "one", "--drop-old", "--grace", "0", "--store", str(store.folder))
    done = call_here(store.folder.parent, *dropped)
    assert done.returncode == 0, done.stderr
    assert not store.path_of(original.filename).exists()
    damage: list[PinakesError] = []
    sound = SoundOriginals(store.rows, store.archive, on_damage=damage.append)
    assert sound.is_sound(original)
    assert not damage


def test_the_verb_names_what_it_leaves_out(store: LandedStore, tmp_path: Path) -> None:
    file = land(store, "one", "a.warc.gz", FIRST)
    call = ("cdx", "news", "--format", "wget", "--store", str(store.folder))
    done = call_here(tmp_path, *call)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    zeros(file)
    done = call_here(tmp_path, *call)
    assert (done.returncode, done.stdout.splitlines()) == (3, [HEAD_OF_CDX])
    assert "one/a.warc.gz" in done.stderr
    (tmp_path / "pinakes.toml").write_text('crawl_originals = "catalogue"\n')
    done = call_here(tmp_path, *call)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)


def _original(store: LandedStore, sha1: str = SHA1) -> Original:
    digest = parse_digest(sha1)
    assert digest is not None
    finder = OriginalFinder(
        store.rows,
        VisibleFiles(store.rows),
        collection="news",
        crawl=None,
        admits=lambda key, place: True,
        gives=lambda original: True,
    )
    [found] = (one for one in finder.iter_found([Asked(digest)]) if one is not None)
    assert found.original is not None
    return found.original
