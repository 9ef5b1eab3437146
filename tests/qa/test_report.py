"""What a run found, as pages: the gravest first, many of them, hostile ones too."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pair_results import RESULT
from review_scene import RUN, pairs_of, result, rows_in, write_run, write_sample

from pinakes.cli import main
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.qa.report.pages import PAIRS_A_PAGE, cause_of, summary, write_report
from pinakes.qa.results import JudgedPair, PairResult, Verdict
from pinakes.qa.review.judgement import Judgement, Label, Role, Statement
from pinakes.qa.review.judgement_rows import put_judgement
from pinakes.qa.run.run_folder import Extent, read_extent, read_pairs
from pinakes.qa.snapshot import Outcome


def judged(result: PairResult, weight: float = 1.0) -> JudgedPair:
    return JudgedPair(result=result, weight=weight)


def write_pairs(folder: Path, *pairs: JudgedPair) -> None:
    lines = [json.dumps({**asdict(pair.result), "weight": pair.weight}) for pair in pairs]
    (folder / "pairs.jsonl").write_text("".join(f"{line}\n" for line in lines))


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(folder: Path, name: str = "index.html") -> Tags:
    return Tags((folder / name).read_text("utf-8"))


def test_the_gravest_come_first(tmp_path: Path) -> None:
    verdicts = [Verdict.SIMILAR, Verdict.UNCERTAIN, Verdict.DISSIMILAR]
    write_pairs(
        tmp_path,
        *(judged(replace(RESULT, verdict=verdict, url=verdict.value)) for verdict in verdicts),
        judged(replace(RESULT, confidence=1.0, url="surest")),
    )
    assert [pair.result.url for pair in read_pairs(tmp_path)] == [
        "surest", "dissimilar", "uncertain", "similar"
    ]  # fmt: skip


def test_what_was_written_is_read(tmp_path: Path) -> None:
    pair = judged(replace(RESULT, other=replace(RESULT.other, outcome=Outcome.CUT_OFF)), 12.5)
    write_pairs(tmp_path, pair)
    assert read_pairs(tmp_path) == [pair]


def test_a_page_says_what_was_found_and_shows_both_images(tmp_path: Path) -> None:
    write_report(tmp_path, [judged(RESULT, 12.5)], title="spring")
    page = page_of(tmp_path)
    assert RESULT.url in page.text
    assert all(reason in page.text for reason in RESULT.reasons)
    assert "Stands for 12.5 pages" in page.text
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert [image["src"] for image in images] == ["0123.png", "0123.png"]
    assert all(image["alt"] and image["loading"] == "lazy" for image in images)
    assert (tmp_path / "report.css").exists()


def test_what_is_known_of_a_view_is_said_beside_it(tmp_path: Path) -> None:
    said = "the image is of the first screen: all requests would get the same bytes now"
    result = replace(RESULT, reference=replace(RESULT.reference, reasons=(said,)))
    write_report(tmp_path, [judged(result)], title="t")
    assert said in page_of(tmp_path).text


@pytest.mark.parametrize(
    "name",
    ["javascript:alert(1)", "../rows.sqlite", "http://e.org/a.png", "//e.org/a.png", "a.svg"],
)
def test_no_address_is_made_of_what_is_no_image_s_name(tmp_path: Path, name: str) -> None:
    result = replace(RESULT, other=replace(RESULT.other, image=name))
    write_report(tmp_path, [judged(result)], title="t")
    page = page_of(tmp_path)
    assert [attributes["src"] for tag, attributes in page.tags if tag == "img"] == ["0123.png"]
    assert name not in (tmp_path / "index.html").read_text("utf-8")
    assert "No image." in page.text


def test_without_its_script_a_page_shows_all_and_links_to_the_alarms(tmp_path: Path) -> None:
    pairs = [
        *(judged(replace(RESULT, url=f"http://e.org/{n}")) for n in range(PAIRS_A_PAGE + 1)),
        judged(replace(RESULT, verdict=Verdict.UNCERTAIN)),
    ]
    write_report(tmp_path, pairs, title="t")
    page = page_of(tmp_path)
    hidden = [tag for tag, attributes in page.tags if "hidden" in attributes]
    assert hidden == ["form"]
    ids = [attributes["id"] for tag, attributes in page.tags if tag == "article"]
    assert ids == [f"pair-{n}" for n in range(PAIRS_A_PAGE)]
    links = [attributes["href"] for _, attributes in page.tags if "data-filter" in attributes]
    assert links == ["index.html#pair-0", f"page-2.html#pair-{PAIRS_A_PAGE + 1}"]


@pytest.mark.parametrize(("count", "words"), [(1, "1 pair of"), (2, "2 pairs of")])
def test_one_is_not_many(tmp_path: Path, count: int, words: str) -> None:
    missed = replace(RESULT.other, missed=("http://e.org/a",) * count)
    write_report(tmp_path, [judged(replace(RESULT, other=missed))] * count, title="t")
    text = page_of(tmp_path).text
    assert words in text
    assert ("1 URL missing" if count == 1 else "2 URLs missing") in text


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("broken images: 1 more: http://e.org/7.png", "broken images"),
        ("42% of the words are gone, 42% new", "of the words are gone, new"),
        ("differs from itself in 0.4% of its area", "differs from itself in of its area"),
        ("12: 3", ""),
        ("x" * 500, "x" * 60),
    ],
)
def test_a_cause_is_what_reasons_have_in_common(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause


def test_what_people_settled_is_said_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / RUN, RESULTS)
    [*pairs] = read_pairs(tmp_path / RUN)
    first = pairs_of([pairs[0].result])[0]
    statement = Statement(label=Label.REJECT)
    judgement = Judgement(id="a" * 32, author="Ada", statement=statement, at_ms=0, role=Role.LEAD)
    with rows_in(tmp_path / "store") as rows:
        put_judgement(rows, first.key, judgement, now_ms=1)
    command = ["qa", "report", str(tmp_path / RUN), "--store", str(tmp_path / "store")]
    assert main(command) == 0
    assert "settled" not in page_of(tmp_path / RUN).text.lower()
    assert main([*command, "--settled"]) == 0
    text = page_of(tmp_path / RUN).text
    assert text.count("People settled: reject.") == 1
    assert text.count("Not settled by people.") == len(RESULTS) - 1
    assert json.loads((tmp_path / RUN / "pairs.js").read_text()[14:-2])[0][3] == 1


def test_many_pairs_are_on_many_pages(tmp_path: Path) -> None:
    pairs = [judged(replace(RESULT, url=f"http://e.org/{n}")) for n in range(2 * PAIRS_A_PAGE + 1)]
    names = write_report(tmp_path, pairs, title="t")
    assert names == ["index.html", "page-2.html", "page-3.html"]
    display_text = [page_of(tmp_path, name).text.count("http://e.org/") for name in names]
    assert display_text == [PAIRS_A_PAGE, PAIRS_A_PAGE, 1]
    links = [attributes.get("rel") for tag, attributes in page_of(tmp_path, names[1]).tags
             if tag == "a" and attributes.get("rel")]  # fmt: skip
    assert links == ["prev", "next"] * 2
    assert write_report(tmp_path, pairs[:1], title="t") == ["index.html"]
    assert not [*tmp_path.glob("page-*.html")]


def test_nothing_archived_runs_in_it(tmp_path: Path) -> None:
    """Whatever a URL, a reason or a browser's own words are."""
    evil = 'http://e.org/"><script>alert(1)</script><img src=x onerror=alert(2)>\x00\ud800'
    result = replace(
        RESULT,
        url=evil,
        reasons=(evil,),
        other=replace(RESULT.other, missed=(evil,) * 12, reasons=(evil,), browser=evil,
                      outcome=Outcome.FAILED),
    )  # fmt: skip
    write_report(tmp_path, [judged(result)], title=evil)
    page = page_of(tmp_path)
    scripts = [attributes.get("src") for tag, attributes in page.tags if tag == "script"]
    assert scripts == ["pairs.js", "report.js"]
    numbers = (tmp_path / "pairs.js").read_text("ascii")
    assert re.fullmatch(r"const PAIRS = [\d,\[\]]+;\n", numbers)
    assert not [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    assert "<script>alert(1)</script>" in page.text
    [policy] = [attributes["content"] for tag, attributes in page.tags
                if attributes.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    places = [attributes[name] for _, attributes in page.tags for name in ("src", "href")
              if name in attributes]  # fmt: skip
    assert all(place and re.fullmatch(r"#?[\w.-]+(#pair-\d+)?", place) for place in places)


def test_what_deceives_is_escaped_and_what_is_long_is_cut(tmp_path: Path) -> None:
    url = "http://e.org/\u202egnp.exe" + "a" * 2_000_000
    write_report(tmp_path, [judged(replace(RESULT, url=url, reasons=("\u2066x",)))], title="t")
    page = page_of(tmp_path)
    assert "http://e.org/\\u202egnp.exeaaa" in page.text
    assert "\\u2066x" in page.text
    assert "more characters" in page.text
    assert len(page.text) < 10_000


def test_each_kind_of_pair_is_counted_and_named(tmp_path: Path) -> None:
    before, current = (
        replace(RESULT.other, kind=kind) for kind in ("replay:before", "replay:current")
    )
    live = replace(before, kind="live", browser="firefox")
    pairs = [
        judged(replace(RESULT, reference=before, other=current, verdict=Verdict.SIMILAR), 3.0),
        judged(replace(RESULT, reference=before, other=current), 2.0),
        judged(replace(RESULT, reference=before, other=live), 2.0),
    ]
    found = {
        kind: {verdict.value: numbers for verdict, *numbers in rows if numbers[0]}
        for kind, rows in summary(pairs).items()
    }
    assert found == {
        "before chromium → current chromium": {"similar": [1, 3.0], "dissimilar": [1, 2.0]},
        "before chromium → live firefox": {"dissimilar": [1, 2.0]},
    }
    write_report(tmp_path, pairs, title="t")
    text = page_of(tmp_path).text
    assert [text.count(word) for word in ("After", "Compared")] == [2, 1]
    assert all(kind in text for kind in found)


RESULTS = [result(number) for number in range(12)]


@pytest.mark.parametrize(
    ("count", "planned", "left"),
    [
        pytest.param(12, {}, (0, 0), id="all"),
        pytest.param(9, {}, (3, 3), id="the last three hosts are wanting"),
        pytest.param(0, {}, (12, 12), id="none"),
        pytest.param(9, {"browsers": ("chromium", "firefox")}, (12, 15), id="in one of two"),
        pytest.param(9, {"run": "qa-2"}, (12, 12), id="the pairs of another run"),
    ],
)
def test_how_much_of_a_sample_is_judged(
    tmp_path: Path, count: int, planned: dict[str, object], left: tuple[int, int]
) -> None:
    write_sample(tmp_path, RESULTS, **planned)
    write_run(tmp_path, RESULTS[:count])
    found = read_extent(tmp_path, read_pairs(tmp_path))
    assert found == Extent(pages=12, pages_left=left[0], pairs_left=left[1])
    assert (found.not_captured is None) == (count == 12)


@pytest.mark.parametrize("name", ["run.json", "sample.jsonl"])
def test_without_its_sample_nobody_knows_what_is_wanting(tmp_path: Path, name: str) -> None:
    """Nor is it said; what is there, and is no sample, is named."""
    write_sample(tmp_path, RESULTS)
    write_run(tmp_path, RESULTS[:9])
    (tmp_path / name).write_text("{}\n")
    with pytest.raises(MalformedRecord) as raised:
        read_extent(tmp_path, [])
    assert raised.value.file == str(tmp_path / name)
    (tmp_path / name).unlink()
    assert read_extent(tmp_path, read_pairs(tmp_path)) is None


def test_the_head_says_what_was_not_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    not_captured = "9 of 12 pages; 3 (3 pairs) are not judged yet; continue with `pinakes qa run`"
    write_sample(tmp_path / RUN, RESULTS)
    for count, wanted in ((9, True), (12, False)):
        write_run(tmp_path / RUN, RESULTS[:count])
        assert main(["qa", "report", str(tmp_path / RUN)]) == 0
        assert (not_captured in page_of(tmp_path / RUN).text) == wanted
        assert (f"warning: {not_captured}\n" in capsys.readouterr().err) == wanted


def test_a_run_that_has_begun_and_no_more(tmp_path: Path) -> None:
    write_sample(tmp_path, RESULTS)
    write_pairs(tmp_path)
    assert main(["qa", "report", str(tmp_path)]) == 0
    assert "No page has been judged" in page_of(tmp_path).text


def test_a_run_that_never_began_has_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs(tmp_path)
    assert main(["qa", "report", str(tmp_path)]) == 3
    assert "this run has no judged page yet" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()


def test_the_results_of_two_runs_are_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs(tmp_path, judged(RESULT), judged(replace(RESULT, run="qa-2")))
    assert main(["qa", "report", str(tmp_path)]) == 3
    assert "several runs: qa-1, qa-2" in capsys.readouterr().err


def test_half_a_line_is_somebody_elses_yet(tmp_path: Path) -> None:
    write_pairs(tmp_path, judged(RESULT))
    with (tmp_path / "pairs.jsonl").open("a") as file:
        file.write('{"url": "htt')
    assert len(read_pairs(tmp_path)) == 1


def line_with(**changed: object) -> str:
    return json.dumps({**asdict(RESULT), "weight": 1.0, **changed})


@pytest.mark.parametrize(
    "line",
    [
        *("", "[]", "{}", '{"url": 1}', "null"),
        pytest.param("[" * 100_000, id="brackets without end"),
        line_with(capture_key=7),
        line_with(capture_key="x"),
        line_with(url=7),
        line_with(reasons=[7]),
        line_with(other={**asdict(RESULT.other), "kind": 7}),
        line_with(other={**asdict(RESULT.other), "browser": 7}),
        line_with(other={**asdict(RESULT.other), "image": 7}),
        line_with(weight="much"),
        pytest.param(line_with(weight=10**400), id="no weight"),
        pytest.param(line_with(confidence=10**400), id="no confidence"),
        pytest.param(line_with(features={"text_gone": 10**400}), id="no feature"),
        line_with(features=[]),
    ],
)
def test_what_is_no_pair_is_named(tmp_path: Path, line: str) -> None:
    write_pairs(tmp_path, judged(RESULT))
    size = (tmp_path / "pairs.jsonl").stat().st_size
    with (tmp_path / "pairs.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(MalformedRecord, match="not a pair of a QA run") as raised:
        read_pairs(tmp_path)
    assert raised.value.offset == size
    with pytest.raises(InputRefused):
        read_pairs(tmp_path / "absent")


def test_by_its_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(tmp_path, judged(RESULT))
    assert main(["qa", "report", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"page": str(tmp_path / "index.html"), "pages": 1}
    assert main(["qa", "report", str(tmp_path / "absent")]) == 3
