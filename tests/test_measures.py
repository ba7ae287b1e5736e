import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import bayesaudit as ba

RATE = st.floats(0, 1)
MEASURES = [
    ba.Epsilon(0.0),
    ba.Epsilon(1e-5),
    ba.Epsilon(0.1),
    ba.Epsilon(0.1, "member"),
    ba.Epsilon(0.05, "member", "fnr"),
    ba.Epsilon(0.05, "member", "fpr"),
    ba.GaussianMu(),
    ba.GaussianMu(fold=True),
    ba.Advantage(),
    ba.Advantage(fold=True),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@given(fnr=RATE, fpr=RATE, level=st.floats(0, 6))
def test_region_holds_what_of_says(measure, fnr, fpr, level):
    low, high = measure.region(level, fnr)
    value = measure.of(fnr, fpr)
    # Within rounding of the boundary either answer is right.
    if abs(fpr - low) > 1e-9 and abs(fpr - high) > 1e-9:
        assert (low < fpr < high) == (value <= level) or abs(value - level) < 1e-6


@given(fnr=RATE, fpr=RATE)
def test_epsilon_symmetries(fnr, fpr):
    for delta in (0.0, 1e-5, 0.2):
        both = ba.Epsilon(delta)
        value = both.of(fnr, fpr)
        assert value == both.of(fpr, fnr)
        mirrored = both.of(1 - fnr, 1 - fpr, tpr=fnr, tnr=fpr)
        assert value == pytest.approx(mirrored, rel=1e-9, abs=1e-12)
        member = ba.Epsilon(delta, "member").of(fnr, fpr)
        assert 0 <= member <= value
        terms = [ba.Epsilon(delta, "member", term).of(fnr, fpr) for term in ("fnr", "fpr")]
        assert member == max(terms)


@pytest.mark.parametrize(
    ("delta", "fnr", "fpr", "both", "member"),
    [
        (0, 0, 0, math.inf, math.inf),
        (0, 0, 1, 0, 0),  # always "member": nothing is excluded
        (0, 1, 1, math.inf, 0),  # always wrong: only the inversion leaks
        (0, 0.5, 0.5, 0, 0),
        (0, 0.5, 0, math.inf, math.inf),
        (0.5, 0.5, 0.5, 0, 0),
        (0.1, 0, 0.9, 0, 0),  # delta = 1 - FPR: no room
        (0.1, 0, 0.89, math.inf, math.inf),
        (1, 0, 0, 0, 0),
        (0.1, 0.1, 0.1, math.log(8), math.log(8)),
    ],
)
def test_epsilon_limits(delta, fnr, fpr, both, member):
    assert ba.Epsilon(delta).of(fnr, fpr) == pytest.approx(both)
    assert ba.Epsilon(delta, "member").of(fnr, fpr) == pytest.approx(member)


def test_complements_keep_precision():
    # 1 - 1e-20 is 1.0 in double precision; the complement still holds the rate.
    value = ba.Epsilon(0).of(1.0, 0.5, tpr=1e-20, tnr=0.5)
    assert value == pytest.approx(math.log(0.5 / 1e-20))
    assert ba.GaussianMu().of(1.0, 0.5, tpr=1e-20) == pytest.approx(stats.norm.ppf(1e-20))


def test_broadcasting_and_nan():
    value = ba.Epsilon(1e-5).of(np.array([[0.1], [0.2]]), np.array([0.3, 0.4, np.nan]))
    assert value.shape == (2, 3)
    assert np.isnan(value[:, 2]).all() and np.isfinite(value[:, :2]).all()


def test_levels_below_the_lowest_hold_nothing():
    for measure in (ba.Epsilon(0.3), ba.GaussianMu(fold=True), ba.Advantage(fold=True)):
        low, high = measure.region(-0.1, np.linspace(0, 1, 5))
        assert (low > high).all()


@pytest.mark.parametrize("delta", [0, 1e-5, 0.05, 0.5, 1])
@pytest.mark.parametrize("level", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("direction", ["both", "member"])
def test_region_area(delta, level, direction):
    measure = ba.Epsilon(delta, direction)

    def width(x):
        low, high = measure.region(level, x)
        return high - low

    kink = (1 - delta) / (1 + math.exp(level))
    points = sorted({kink, 1 - kink, delta, 1 - delta} - {0.0, 1.0})
    area = integrate.quad(width, 0, 1, points=points, epsabs=1e-12)[0]
    assert measure.region_area(level) == pytest.approx(area, abs=1e-10)
    polygon = ba.boundary_polygon(measure, level)
    if len(polygon):
        x, y = polygon.T
        shoelace = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
        assert shoelace == pytest.approx(area, abs=1e-12)


def test_gaussian_mu_converts_to_epsilon():
    # Dong et al., Corollary 2.13, inverted by an independent root search.
    mu, delta = 1.0, 1e-5
    epsilon = float(ba.GaussianMu.epsilon(mu, delta))
    by_definition = stats.norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * stats.norm.cdf(
        -epsilon / mu - mu / 2
    )
    assert by_definition == pytest.approx(delta, rel=1e-9)
    assert ba.GaussianMu.delta(mu, epsilon) == pytest.approx(delta, rel=1e-10)
    assert ba.GaussianMu.from_epsilon(epsilon, delta) == pytest.approx(mu, rel=1e-10)
    assert ba.GaussianMu().of(0.0, 0.3) == math.inf
    assert ba.GaussianMu().of(0.0, 1.0) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 1.5}, r"delta must be in \[0, 1\], got 1\.5"),
        ({"delta": float("nan")}, "delta must be a real number, got NaN"),
        ({"delta": 0, "direction": "up"}, "direction must be one of 'both', 'member'"),
        ({"delta": 0, "term": "fnr"}, 'direction must be "member"'),
    ],
)
def test_epsilon_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        ba.Epsilon(**arguments)


def test_rates_outside_the_unit_interval_are_refused():
    with pytest.raises(ValueError, match=r"fnr must be in \[0, 1\], got 1\.2"):
        ba.Epsilon(0).of(1.2, 0.1)
