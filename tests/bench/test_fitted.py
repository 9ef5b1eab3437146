"""A straight line is found again, and what is not straight is said to be so."""

import pytest

from bench.fitted import fit


def test_a_line_is_found_again():
    found = fit([(10.0**n, 30 + 2e-5 * 10**n) for n in (5, 6, 7)])
    assert found.fixed == pytest.approx(30)
    assert found.slope == pytest.approx(2e-5)
    assert found.spread == pytest.approx(0)


def test_what_grows_faster_is_no_line():
    found = fit([(n, 1e-6 * n * n) for n in (1e3, 1e4, 1e5)])
    assert found.spread > 0.15
    assert found.least < found.slope < found.most
