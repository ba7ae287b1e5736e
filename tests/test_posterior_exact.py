from dataclasses import dataclass
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import cases, close, ids
from scipy import integrate, stats

import bayesaudit as ba

COUNTS = cases("counts")


def rates_of(fn, tp, fp, tn, prior=(0.5, 0.5)):
    a, b = prior
    return ba.IndependentRates(ba.BetaRate([fn + a], [tp + b]), ba.BetaRate([fp + a], [tn + b]))


def post_of(case):
    cell = case["input"]
    rates = rates_of(cell["FN"], cell["TP"], cell["FP"], cell["TN"])
    return ba.posterior(rates, ba.Epsilon(float(cell["delta"])))


@pytest.mark.parametrize("case", COUNTS, ids=ids(COUNTS))
def test_reference_posteriors(case):
    post, right = post_of(case), case["right"]
    for level, value in right["cdf"].items():
        assert close(post.cdf(float(level)), value, 1e-12), ("cdf", level)
    for level, value in right["sf"].items():
        assert close(post.sf(float(level)), value, 1e-12), ("sf", level)
        if float(value) > 1e-300:
            assert post.sf(float(level)) == pytest.approx(float(value), rel=1e-9)
    for q, value in right["quantile"].items():
        assert close(post.quantile(float(q)), value, 1e-12), ("quantile", q)
    for key, prob in (("eti90", 0.90), ("eti95", 0.95)):
        lower, upper = post.interval(prob)
        assert close(lower, right[key][0], 1e-12) and close(upper, right[key][1], 1e-12)


def test_reference_far_tail():
    [case] = cases("tail")
    cell = case["input"]
    post = ba.posterior(
        ba.AttackCounts(fn=cell["FN"], tp=cell["TP"], fp=cell["FP"], tn=cell["TN"]), ba.Epsilon(0)
    )
    for level, value in case["right"]["sf_leading_order"].items():
        assert post.sf(float(level)) == pytest.approx(float(value), rel=1e-11)
    # Beyond the range of doubles the logarithm goes on: exp(-epsilon / 2) in the tail.
    assert post.logsf(5000.0) - post.logsf(4000.0) == pytest.approx(-500.0, rel=1e-12)
    level = 1000 + 2 * (np.log(post.sf(1000.0)) - np.log(1e-200))
    assert post.isf(1e-200) == pytest.approx(level, rel=1e-12)


@pytest.mark.parametrize(
    ("level", "value"), [(1000.0, 1.0), (-1.0, 0.0), (np.inf, 1.0), (-np.inf, 0.0)]
)
def test_cdf_at_extreme_levels(level, value):
    post = ba.posterior(ba.AttackCounts(fn=1, tp=9, fp=2, tn=8), ba.Epsilon(0.0))
    assert post.cdf(level) == value
    assert post.sf(level) == pytest.approx(1 - value, abs=1e-60)
    assert np.isnan(post.cdf(np.nan))


def betapdf(x, a, b):
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


@pytest.mark.parametrize(
    ("cells", "delta", "level"),
    [((1, 3, 2, 4), "0.01", 0.7), ((0, 2, 1, 1), "0", 1.5), ((3, 1, 3, 2), "0.1", 0.4)],
)
def test_against_a_two_dimensional_integral(cells, delta, level):
    """An integral over both rates by tanh-sinh in mpmath: it shares no code and no formula."""
    mpmath.mp.dps = 15
    fn, tp, fp, tn = cells
    delta, e = mpmath.mpf(delta), mpmath.exp(level)
    a, b, c, d = (mpmath.mpf(k) + mpmath.mpf("0.5") for k in (fn, tp, fp, tn))

    def inner(x):
        low = max(0, (1 - delta - x) / e, 1 - delta - e * x)
        high = 1 - max(0, (x - delta) / e, 1 - delta - e * (1 - x))
        return mpmath.quad(lambda y: betapdf(y, c, d), [low, high]) if high > low else 0

    kink = (1 - delta) / (1 + e)
    points = sorted({mpmath.mpf(0), kink, delta, 1 - kink, 1 - delta, mpmath.mpf(1)})
    right = mpmath.quad(lambda x: betapdf(x, a, b) * inner(x), points)
    post = ba.posterior(ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn), ba.Epsilon(float(delta)))
    assert post.cdf(level) == pytest.approx(float(right), abs=2e-9)


SETTINGS = [
    (dict(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5), "jeffreys"),
    (dict(fn=0, tp=20, fp=3, tn=9), ba.Epsilon(0.05), "uniform"),
    (dict(fn=48, tp=52, fp=50, tn=50), ba.Epsilon(0.1), (2.0, 3.0)),
    (dict(fn=0, tp=7, fp=0, tn=5), ba.Epsilon(0.0), (0.3, 0.7)),
    (dict(fn=4, tp=7, fp=2, tn=5), ba.Epsilon(0.02, "member"), "jeffreys"),
    (dict(fn=4, tp=7, fp=2, tn=5), ba.Epsilon(0.02, "member", "fnr"), "jeffreys"),
    (dict(fn=4, tp=7, fp=2, tn=5), ba.Epsilon(0.02, "member", "fpr"), "jeffreys"),
    (dict(fn=12, tp=9, fp=30, tn=20), ba.GaussianMu(), "jeffreys"),
    (dict(fn=12, tp=9, fp=30, tn=20), ba.GaussianMu(fold=True), "jeffreys"),
    (dict(fn=12, tp=9, fp=30, tn=20), ba.Advantage(), {"fnr": "uniform", "fpr": (4, 1)}),
    (dict(fn=12, tp=9, fp=30, tn=20), ba.Advantage(fold=True), "jeffreys"),
]
NAMES = [f"{measure!r}-{prior}" for _, measure, prior in SETTINGS]


@pytest.mark.parametrize(("cells", "measure", "prior"), SETTINGS, ids=NAMES)
def test_against_conjugate_draws(cells, measure, prior):
    counts = ba.AttackCounts(**cells)
    post = ba.posterior(counts, measure, prior=prior)
    rng = np.random.default_rng(20221)
    n = 400_000
    fnr = rng.beta(post.rates.fnr.a, post.rates.fnr.b, n)
    fpr = rng.beta(post.rates.fpr.a, post.rates.fpr.b, n)
    draws = measure.of(fnr, fpr)
    for q in (0.05, 0.3, 0.5, 0.7, 0.95):
        level = np.quantile(draws, q)
        exact = post.cdf(level)
        mcse = np.sqrt(max(exact * (1 - exact), 1e-6) / n)
        assert abs(np.mean(draws <= level) - exact) < 4 * mcse, q
    assert abs(draws.mean() - post.mean()) < 4 * draws.std() / np.sqrt(n)
    assert post.prob_zero == pytest.approx(np.mean(draws == measure.lowest), abs=4e-3)


@pytest.mark.parametrize(("cells", "measure", "prior"), SETTINGS, ids=NAMES)
def test_density_and_quantile_belong_to_the_cdf(cells, measure, prior):
    post = ba.posterior(ba.AttackCounts(**cells), measure, prior=prior)
    q = np.array([0.03, 0.2, 0.5, 0.8, 0.97])
    q = q[q > post.prob_zero]
    level = post.quantile(q)
    np.testing.assert_allclose(post.cdf(level), q, atol=1e-12)
    np.testing.assert_allclose(post.isf(1 - q), level, rtol=1e-11)
    step = 1e-5
    slope = (post.cdf(level + step) - post.cdf(level - step)) / (2 * step)
    np.testing.assert_allclose(post.pdf(level), slope, rtol=1e-6)
    ends = post.quantile([1e-12, 0.01, 0.25, 0.75, 0.99, 1 - 1e-12])
    ends = np.unique(np.concatenate([[max(measure.lowest, ends[0])], ends]))
    total = sum(
        integrate.quad(post.pdf, low, high, epsabs=1e-11)[0] for low, high in pairwise(ends)
    )
    assert total == pytest.approx(1 - post.prob_zero, abs=1e-8)


counts_strategy = st.tuples(*[st.integers(0, 300)] * 4).filter(
    lambda c: c[0] + c[1] > 0 and c[2] + c[3] > 0
)


@settings(max_examples=60, deadline=None)
@given(cells=counts_strategy, delta=st.sampled_from([0.0, 1e-5, 0.01, 0.2]))
def test_properties_of_the_posterior(cells, delta):
    fn, tp, fp, tn = cells
    counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
    post = ba.posterior(counts, ba.Epsilon(delta))
    level = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0])
    cdf = post.cdf(level)
    assert np.all(np.diff(cdf) >= -1e-14) and np.all((cdf >= 0) & (cdf <= 1))
    np.testing.assert_allclose(cdf + post.sf(level), 1, atol=1e-12)
    # The declared direction can only say less than both.
    member = ba.posterior(counts, ba.Epsilon(delta, "member"))
    assert np.all(member.cdf(level) >= cdf - 1e-13)
    # Swapping the labels or the classes changes nothing but rounding.
    swaps = (
        ba.AttackCounts(fn=tp, tp=fn, fp=tn, tn=fp),
        ba.AttackCounts(fn=fp, tp=tn, fp=fn, tn=tp),
    )
    for swapped in swaps:
        other = ba.posterior(swapped, ba.Epsilon(delta))
        np.testing.assert_allclose(other.cdf(level), cdf, atol=1e-12)
        np.testing.assert_allclose(other.interval(0.9).upper, post.interval(0.9).upper, rtol=1e-12)
    for q in (0.02, 0.4, 0.9):
        found = post.quantile(q)
        if found > 0:
            assert post.cdf(found) == pytest.approx(q, abs=1e-11)
        else:
            assert post.prob_zero >= q


def test_dirichlet_cells_are_two_betas():
    """Dirichlet(½)⁴ on the cells, drawn as such, has the exact posterior of two Betas."""
    cells = np.array([12, 28, 9, 31])
    post = ba.posterior(ba.AttackCounts(fn=12, tp=28, fp=9, tn=31), ba.Epsilon(0.01))
    draws = np.random.default_rng(7).dirichlet(cells + 0.5, 400_000)
    epsilon = ba.Epsilon(0.01).of(
        draws[:, 0] / draws[:, :2].sum(axis=1), draws[:, 2] / draws[:, 2:].sum(axis=1)
    )
    for level in post.quantile([0.05, 0.25, 0.5, 0.75, 0.95]):
        exact = post.cdf(level)
        mcse = np.sqrt(exact * (1 - exact) / len(epsilon))
        assert abs(np.mean(epsilon <= level) - exact) < 4 * mcse


def test_arrays_of_tallies_equal_one_at_a_time():
    rng = np.random.default_rng(3)
    n_pos, n_neg = rng.integers(1, 400, (2, 3, 7))
    fn, fp = rng.binomial(n_pos, 0.2), rng.binomial(n_neg, 0.3)
    counts = ba.AttackCounts(fn=fn, tp=n_pos - fn, fp=fp, tn=n_neg - fp)
    post = ba.posterior(counts, ba.Epsilon(1e-5))
    lower, upper = post.interval(0.9)
    cdf, mean = post.cdf(1.0), post.mean()
    assert lower.shape == upper.shape == cdf.shape == mean.shape == (3, 7)
    for at in np.ndindex(3, 7):
        one = ba.posterior(counts[at], ba.Epsilon(1e-5))
        np.testing.assert_allclose([*one.interval(0.9)], [lower[at], upper[at]], rtol=1e-11)
        assert one.cdf(1.0) == pytest.approx(cdf[at], abs=1e-13)
        assert one.mean() == pytest.approx(mean[at], rel=1e-8)
    assert post.quantile(np.full((2, 1, 1), 0.5)).shape == (2, 3, 7)


def test_mean_of_a_case_with_closed_form():
    # Term "fpr" at FNR = 0 for certain is −log FPR; E −log Y = ψ(a + b) − ψ(a).
    from scipy.special import digamma

    rates = ba.IndependentRates(ba.BetaRate([0.5], [1e9]), ba.BetaRate([2.5], [7.5]))
    post = ba.posterior(rates, ba.Epsilon(0, "member", "fpr"))
    assert post.mean() == pytest.approx(digamma(10.0) - digamma(2.5), abs=2e-9)


def test_interval_kinds():
    post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5))
    eti = post.interval(0.90)
    assert (eti.kind, eti.prob, eti.statement) == ("eti", 0.90, "credible")
    assert eti.lower == pytest.approx(0.6625508837, abs=1e-9)
    assert eti.upper == pytest.approx(1.2762430724, abs=1e-9)
    lower, upper = post.interval(0.90, kind="lower"), post.interval(0.90, kind="upper")
    assert (lower.lower, upper.upper) == (eti.lower, eti.upper)
    assert (lower.upper, upper.lower) == (np.inf, 0)
    assert lower.error == pytest.approx(0.05)
    hdi = post.interval(0.90, kind="hdi")
    assert hdi.upper - hdi.lower < eti.upper - eti.lower
    assert post.cdf(hdi.upper) - post.cdf(hdi.lower) == pytest.approx(0.90, abs=1e-10)
    assert post.pdf(hdi.lower) == pytest.approx(post.pdf(hdi.upper), rel=1e-3)


def test_hdi_near_chance_starts_at_zero():
    post = ba.posterior(ba.AttackCounts(fn=50, tp=50, fp=50, tn=50), ba.Epsilon(0.1))
    lower, upper = post.interval(0.95, kind="hdi")
    assert lower == 0
    assert upper == pytest.approx(post.quantile(0.95), rel=1e-9)


def test_a_coin_flip_has_no_atom_at_delta_zero():
    post = ba.posterior(ba.AttackCounts(fn=50, tp=50, fp=50, tn=50), ba.Epsilon(0.0))
    assert post.prob_zero == 0
    assert post.interval(0.9).lower > 0


def test_a_measure_of_ones_own_needs_of_and_region_only():
    @dataclass(frozen=True)
    class LogRatio(ba.Measure):
        """log(TPR / FPR), with neither wedges nor an inverse."""

        lowest = -np.inf
        has_atom = False
        name = "log ratio"

        def of(self, fnr, fpr, *, tpr=None, tnr=None):
            with np.errstate(divide="ignore"):
                return np.log1p(-np.asarray(fnr)) - np.log(fpr)

        def region(self, level, fnr):
            low = np.clip((1 - np.asarray(fnr)) * np.exp(-np.asarray(level)), 0, 1)
            return low, np.ones_like(low)

    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    own = ba.posterior(counts, LogRatio())
    built_in = ba.posterior(counts, ba.Epsilon(0.0, "member", "fpr"))
    level = np.array([0.3, 0.9, 1.4])
    np.testing.assert_allclose(own.cdf(level), built_in.cdf(level), atol=1e-9)
    np.testing.assert_allclose(own.quantile(0.5), built_in.quantile(0.5), rtol=1e-8)
    np.testing.assert_allclose(own.pdf(level), built_in.pdf(level), rtol=1e-6)


def test_refusals():
    counts = ba.AttackCounts(fn=1, tp=9, fp=2, tn=8)
    post = ba.posterior(counts, ba.Epsilon(0))
    with pytest.raises(
        ValueError, match=r"prob must be in \(0, 1\), got 95\.0; did you mean 0\.95"
    ):
        post.interval(95)
    with pytest.raises(ValueError, match=r"prob must be in \(0, 1\), got 1"):
        post.interval(1)
    with pytest.raises(ValueError, match="kind must be one of"):
        post.interval(0.9, kind="central")
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\], got 1\.5"):
        post.quantile(1.5)
    with pytest.raises(TypeError, match="measure must be a Measure"):
        ba.posterior(counts, 1e-5)
    with pytest.raises(TypeError, match="data must be AttackCounts"):
        ba.posterior([1, 2, 3, 4], ba.Epsilon(0))
    with pytest.raises(ValueError, match="prior must be 'jeffreys', 'uniform' or a pair"):
        ba.posterior(counts, ba.Epsilon(0), prior="flat")
    with pytest.raises(ValueError, match="finite shape parameters > 0"):
        ba.posterior(counts, ba.Epsilon(0), prior=(0, 1))
    with pytest.raises(ValueError, match="prior must name 'fnr' and 'fpr'"):
        ba.posterior(counts, ba.Epsilon(0), prior={"fnr": "uniform"})


def test_uniform_prior_without_data_is_the_area_of_the_region():
    measure = ba.Epsilon(0.05)
    with pytest.warns(UserWarning, match="the prior speaks"):
        post = ba.posterior(ba.AttackCounts(fn=0, tp=0, fp=0, tn=0), measure, prior="uniform")
    level = np.array([0.0, 0.5, 2.0, 6.0])
    np.testing.assert_allclose(post.cdf(level), measure.region_area(level), atol=1e-13)


def test_quantiles_of_a_rate_in_far_tails():
    for case in cases("special"):
        cell = case["input"]
        if "sf" in cell or "p" in cell:
            # F07 names the lower tail; the complement is the number that doubles can hold.
            tail = float(cell["sf"]) if "sf" in cell else float(1 - np.longdouble(cell["p"]))
            tolerance = 1e-11 if "sf" in cell else 1e-7
            rate = ba.BetaRate([cell["a"]], [cell["b"]])
            assert rate.isf(tail)[0] == pytest.approx(float(case["right"]), rel=tolerance)
    # Independent of scipy.special: the survival at the quantile, by scipy.stats.
    rate = ba.BetaRate([11.0], [99990.0])
    assert stats.beta.sf(rate.isf(1e-11), 11, 99990)[0] == pytest.approx(1e-11, rel=1e-9)
