"""How many pages are faulty: simulated crawls, whose truth is known."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from statistics import fmean

import pytest

from pinakes.qa.review.estimate import AT_LEAST, SampledPair, estimate

# At 95% of 60 crawls 57 have the truth in it, give or take 2; of 200, 190, give or take 3.
CRAWLS = pytest.mark.parametrize("crawls", [60, pytest.param(200, marks=pytest.mark.large)])


def page(number: int, **given: object) -> SampledPair:
    values = {"site": f"s{number // 5}", "weight": 2.0, "is_alarm": False, "is_faulty": False}
    return SampledPair(**{**values, **given})  # type: ignore[arg-type]


def crawl(
    dice: random.Random, *, rate: float, spread: float, sites: int
) -> tuple[float, list[SampledPair]]:
    """A sample of a crawl, reviewed as it is meant to be, and the share that is faulty.

    Each site has a share of its own; `rate` is the mean of all the sites there could be.  The
    machine finds nine faults of ten, and one alarm in fifty is false.
    """
    looked = []
    for site in range(sites):
        of_site = dice.betavariate(rate * spread, (1 - rate) * spread)
        for _ in range(dice.randrange(2, 20)):
            is_faulty = dice.random() < of_site
            is_alarm = dice.random() < (0.9 if is_faulty else 0.02)
            looked.append(
                SampledPair(site=str(site), weight=3.0, is_alarm=is_alarm, is_faulty=is_faulty)
            )
    return rate, reviewed(dice, looked)


def reviewed(dice: random.Random, looked: list[SampledPair]) -> list[SampledPair]:
    """As it is meant to be: all alarms, and a hundred of the similar."""
    similar = [one for one in looked if not one.is_alarm]
    audited = set(map(id, dice.sample(similar, min(100, len(similar)))))
    return [
        replace(one, is_judged=True) if one.is_alarm or id(one) in audited
        else replace(one, is_faulty=None)
        for one in looked
    ]  # fmt: skip


def crawl_of_few(
    dice: random.Random, *, rate: float, spread: float, sites: int, found: float
) -> tuple[float, list[SampledPair]]:
    """A sample of 1,000 pages of a crawl that has these sites and no other, and its share.

    The machine finds so many of the faults.
    """
    of_site = [dice.betavariate(rate * spread, (1 - rate) * spread) for _ in range(sites)]
    looked = []
    for number in range(1000):
        is_faulty = dice.random() < of_site[number % sites]
        is_alarm = dice.random() < (found if is_faulty else 0.02)
        site = str(number % sites)
        looked.append(SampledPair(site=site, weight=3.0, is_alarm=is_alarm, is_faulty=is_faulty))
    return fmean(of_site), reviewed(dice, looked)


SPREADS = {"all sites alike": 1000.0, "some much worse": 5.0}
FOUND = {"it finds none": 0.0, "it finds nine of ten": 0.9}
# Each two of the three together; all three in `make test-large`.
OF_FEW = [
    pytest.param(
        *(sites, SPREADS[spread], FOUND[found]),
        id=f"{sites}-{spread}-{found}",
        marks=() if (n + m + k) % 2 == 0 else pytest.mark.large,
    )
    for (n, sites), (m, spread), (k, found) in product(
        enumerate((1, 3, 10)), enumerate(SPREADS), enumerate(FOUND)
    )
]


@pytest.mark.slow
@CRAWLS
@pytest.mark.parametrize(("sites", "spread", "found"), OF_FEW)
def test_the_interval_of_few_sites_has_the_truth_in_it(
    sites: int, spread: float, found: float, crawls: int
) -> None:
    dice = random.Random(f"{sites} {spread} {found}")
    hits, width = 0, 0.0
    for number in range(crawls):
        truth, looked = crawl_of_few(dice, rate=0.1, spread=spread, sites=sites, found=found)
        given = estimate(looked, seed=str(number), draws=200)
        assert given.low is not None
        assert given.high is not None
        hits += given.low <= truth <= given.high
        width += given.high - given.low
    assert hits >= 0.9 * crawls
    assert width / crawls < 0.2


@pytest.mark.slow
@CRAWLS
@pytest.mark.parametrize(
    ("rate", "spread", "sites"),
    [
        pytest.param(0.05, 1000.0, 80, id="all sites alike"),
        pytest.param(0.05, 5.0, 80, id="some sites much worse"),
        pytest.param(0.01, 50.0, 120, id="rare"),
        pytest.param(0.25, 3.0, 50, id="many, on few sites"),
    ],
)
def test_the_interval_has_the_truth_in_it(
    rate: float, spread: float, sites: int, crawls: int
) -> None:
    dice = random.Random(f"{rate} {spread}")
    hits, width = 0, 0.0
    for number in range(crawls):
        truth, looked = crawl(dice, rate=rate, spread=spread, sites=sites)
        found = estimate(looked, seed=str(number), draws=300)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
        width += found.high - found.low
    # More is no harm where the interval is narrow.
    assert hits >= 0.92 * crawls
    assert width / crawls < 4 * rate + 0.05


def test_the_figure_is_the_weighted_share() -> None:
    """Alarms: 3 of 10 pages of weight 2.  Similar: 1 of 50 audited, standing for 500."""
    looked = [page(n, is_alarm=True, is_faulty=n < 3) for n in range(10)]
    looked += [page(n, is_faulty=n == 0) for n in range(50)]
    looked += [page(n, is_faulty=None) for n in range(200)]
    found = estimate(looked, seed="")
    assert found.share == pytest.approx((20 * 0.3 + 500 * 0.02) / 520)
    assert (found.pages, found.reviewed, found.alarms, found.alarms_reviewed) == (520, 60, 10, 10)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.share < found.high < 0.2


def test_weights_count() -> None:
    looked = [page(n, is_alarm=True, is_faulty=n < 50, weight=1.0 if n < 50 else 9.0)
              for n in range(100)]  # fmt: skip
    assert estimate(looked, seed="").share == pytest.approx(0.1)


def test_the_same_seed_gives_the_same_interval() -> None:
    looked = [page(n, is_faulty=n % 9 == 0) for n in range(100)]
    assert estimate(looked, seed="a") == estimate(looked, seed="a")
    assert estimate(looked, seed="a") != estimate(looked, seed="b")


def test_no_fault_found_is_no_proof_that_there_is_none() -> None:
    found = estimate([page(n) for n in range(60)], seed="")
    assert found.share == found.low == 0
    assert found.high is not None
    assert 0.01 < found.high < 0.1


def test_what_somebody_has_picked_stands_for_nothing() -> None:
    fair = [page(n, is_faulty=n < 6) for n in range(60)]
    picked = [page(n, is_faulty=True, counts=False) for n in range(40)]
    found = estimate([*fair, *picked], seed="")
    assert found.reviewed == 60
    assert found.share == pytest.approx(0.1)


def proven(number: int, **given: object) -> SampledPair:
    return page(number, is_proven=True, **given)


def test_what_is_proven_is_right_where_none_that_is_audited_is_faulty() -> None:
    """A few alarms beside it suffice; whoever has found one of them faulty doubts the proof."""
    alarms = [page(n, is_alarm=True, is_faulty=n < 2) for n in range(4)]
    left = [proven(n, is_faulty=None) for n in range(191)]
    found = estimate([*alarms, *(proven(n) for n in range(5)), *left], seed="")
    assert (found.reviewed, found.proven) == (9, 191)
    assert found.share == pytest.approx(2 / 200)
    assert found.high is not None
    assert found.high < 0.04
    audited = [proven(n, is_faulty=n == 0) for n in range(5)]
    assert estimate([*alarms, *audited, *left], seed="").wanting == (
        "9 reviewed pairs count; 50 are needed"
    )
    more = [page(n, is_alarm=True, is_faulty=False) for n in range(50)]
    doubted = estimate([*more, *audited, *left], seed="")
    assert doubted.share == pytest.approx(196 / 5 / 246)
    assert doubted.high is not None
    assert doubted.high > 0.4
    picked = [*more, *(proven(n) for n in range(5)), proven(9, is_faulty=True, counts=False)]
    assert estimate(picked, seed="").proven == 0


FEW = "60 of 61 pages are not looked at yet"


@pytest.mark.parametrize(
    ("looked", "not_captured", "wanting"),
    [
        pytest.param(
            [], None, "0 reviewed pairs count; 50 are needed", id="nothing"
        ),
        pytest.param(
            [page(n) for n in range(AT_LEAST - 1)], None,
            "49 reviewed pairs count; 50 are needed", id="few",
        ),
        pytest.param(
            [*(page(n) for n in range(60)), page(1, is_alarm=True, is_faulty=None)], None,
            "1 of 1 alarm is not settled", id="no alarm",
        ),
        pytest.param(
            [
                *(page(n) for n in range(60)),
                *(page(n, is_alarm=True, is_faulty=None if n else True) for n in range(2000)),
            ], None, "1,999 of 2,000 alarms are not settled", id="some alarms",
        ),
        pytest.param(
            [*(page(n, is_alarm=True) for n in range(60)), page(1, is_faulty=None)], None,
            "none of the similar pairs has been audited", id="no audit",
        ),
        pytest.param(
            [
                *(page(n, is_judged=True) for n in range(60)),
                *(page(n, is_faulty=None, is_judged=True) for n in range(40)),
                *(page(n, is_faulty=None, is_judged=True, counts=False) for n in range(9)),
                *(page(n, is_faulty=None) for n in range(900)),
            ], None, "40 of 100 audited pairs that were judged are not settled", id="hard ones",
        ),
        pytest.param(
            [proven(n, is_faulty=None) for n in range(221)], None,
            "none of the pairs proven similar by bytes has been audited", id="no proof audited",
        ),
        pytest.param(
            [*(proven(n) for n in range(5)), page(1, is_faulty=None, is_judged=True)], None,
            "5 reviewed pairs count; 50 are needed; "
            "1 of 1 audited pair that was judged is not settled", id="one of each",
        ),
        pytest.param([page(n) for n in range(60)], FEW, FEW, id="pages that nobody looked at"),
        pytest.param(
            [page(1), page(1, is_alarm=True, is_faulty=None)], FEW,
            f"{FEW}; 1 reviewed pair counts; 50 are needed; 1 of 1 alarm is not settled",
            id="several",
        ),
    ],
)  # fmt: skip
def test_what_is_not_enough(
    looked: list[SampledPair], not_captured: str | None, wanting: str
) -> None:
    found = estimate(looked, seed="", not_captured=not_captured)
    assert (found.share, found.low, found.high, found.wanting) == (None, None, None, wanting)


def test_the_gravest_alarms_do_not_stand_for_the_others() -> None:
    """Of 100 alarms those 60 that are surest are faulty, and they are seen first."""
    alarms = [page(n, is_alarm=True, is_faulty=n < 60) for n in range(100)]
    begun = [page(n, is_alarm=True, is_faulty=True if n < 60 else None) for n in range(100)]
    similar = [page(n) for n in range(50)]
    assert estimate([*alarms, *similar], seed="").share == pytest.approx(60 / 150)
    assert estimate([*begun, *similar], seed="").share is None
