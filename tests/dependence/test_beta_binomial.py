"""The exact beta-binomial posterior against references, brute force and limits."""

import mpmath
import numpy as np
import pytest
from dependent_data import DATA, PRIORS, counts_of, simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

import bayesaudit as ba
from bayesaudit.rates import RateMarginal
from bayesaudit.rates._likelihood import RisingFactorials, log_rising

EPSILON = ba.Epsilon(1e-5)


def exact(counts, icc_prior="default", **kwargs):
    return ba.posterior(counts, EPSILON, dependence="beta-binomial", icc_prior=icc_prior, **kwargs)


@pytest.mark.parametrize("key", PRIORS)
@pytest.mark.parametrize("name", DATA)
def test_reference_values(name, key):
    post, right = exact(counts_of(name), PRIORS[key]), DATA[name][key]
    q, quantiles = np.array([(float(q), x) for q, x in right["quantile"].items()]).T
    level, cdf = np.array([(float(x), p) for x, p in right["cdf"].items()]).T
    # The reference itself is good to 1e-6.
    assert np.abs(post.quantile(q) - quantiles).max() < 1e-6
    assert np.abs(post.cdf(level) - cdf).max() < 1e-6
    for side, letter in (("fnr", "fn"), ("fpr", "fp")):
        [table] = [
            getattr(post.rates, side).panels.tables[row] for row in getattr(post.rates, side).row
        ]
        assert table.mean_rate == pytest.approx(right[f"mean_{side}"], abs=1e-8)
        assert table.mean_icc == pytest.approx(right[f"mean_icc_{letter}"], abs=1e-8)


def test_marginal_against_two_dimensional_quadrature():
    k, n, a, b = np.array([0, 7, 2]), np.array([10, 12, 5]), 2.0, 5.0
    counts = ba.AttackCounts(fn=k, tp=n - k, fp=k, tn=n - k)
    marginal = ba.beta_binomial_rates(counts, prior=(1.5, 2.5), icc_prior=(a, b)).fnr

    def joint(icc, mu):
        one, two = mu * (1 - icc) / icc, (1 - mu) * (1 - icc) / icc
        log_p = np.sum(special.betaln(k + one, n - k + two)) - 3 * special.betaln(one, two)
        log_p += (a - 1) * np.log(icc) + (b - 1) * np.log1p(-icc)
        return np.exp(log_p + 0.5 * np.log(mu) + 1.5 * np.log1p(-mu))

    def mass(high):
        return integrate.dblquad(joint, 0, high, 0, 1, epsabs=1e-18, epsrel=1e-7)[0]

    total = mass(1.0)
    for mu in (0.1, 0.4):
        assert marginal.cdf(np.array([[mu]]), np.array([[1 - mu]]))[0, 0] == pytest.approx(
            mass(mu) / total, rel=1e-7
        )


def test_density_against_mpmath_in_a_far_tail():
    k, n, mu = [17, 12, 30], 50, mpmath.mpf("1e-4")
    counts = ba.AttackCounts(fn=k, tp=n - np.array(k), fp=k, tn=n - np.array(k))
    marginal = ba.beta_binomial_rates(counts).fnr

    def evidence(m):
        def integrand(icc):
            kappa = (1 - icc) / icc
            value = 9 * (1 - icc) ** 8
            for x in k:
                value *= mpmath.beta(x + m * kappa, n - x + (1 - m) * kappa)
                value /= mpmath.beta(m * kappa, (1 - m) * kappa)
            return value

        return mpmath.quad(integrand, [0, 0.01, 0.05, 0.2, 0.5, 1])

    right = float(mpmath.log(evidence(mu) / evidence(mpmath.mpf("0.4"))))
    x = np.array([[float(mu), 0.4]])
    log_density = marginal.log_density(x, 1 - x)[0]
    # Jeffreys' prior is flat in θ, so that densities in θ are evidences. So far from the peak
    # a panel may err by 1e-10·e^10.
    assert log_density[0] - log_density[1] == pytest.approx(right, abs=2e-6)


@pytest.mark.parametrize("values", [[3, 5, 0, 10], [17] * 5 + [50] * 2, [100_000, 99_999, 12]])
def test_rising_factorials_against_mpmath(values):
    table = RisingFactorials(np.array(values))
    t = np.array([-30.0, -12.1, -11.9, -3.3, 0.0, 2.2, 2.4, 8.7, 20.0, 44.0])
    with mpmath.workdps(40):
        right = []
        for point in t:
            a = mpmath.e ** mpmath.mpf(point)
            terms = [
                mpmath.loggamma(k + a) - mpmath.loggamma(a) - k * mpmath.log(a) for k in values
            ]
            right.append(float(mpmath.fsum(terms)))
    right = np.array(right)
    assert np.all(np.abs(table(t) - right) < 1e-10 * np.maximum(1, np.abs(right)))
    one = sum(log_rising(k, np.exp(t)) for k in values)
    assert np.all(np.abs(one - right) < 1e-10 * np.maximum(1, np.abs(right)))


def test_it_is_a_rate_marginal_and_its_quantiles_invert_the_cdf():
    marginal = ba.beta_binomial_rates(
        simulate(np.random.default_rng(3), 8, 40, 0.1, audits=(5,))
    ).fpr
    assert isinstance(marginal, RateMarginal)
    for q in (1e-9, 5e-4, 0.3, 0.5, 0.97, 1 - 5e-4):
        x = marginal.quantile(q)[:, None]
        assert marginal.cdf(x, 1 - x)[:, 0] == pytest.approx(np.full(5, q), rel=1e-8)
        mirror = marginal.mirrored()
        assert mirror.cdf(1 - x, x)[:, 0] == pytest.approx(np.full(5, 1 - q), rel=1e-7)
    assert marginal.quantile(0.0) == pytest.approx(np.zeros(5), abs=1e-200)


def test_tails_keep_relative_precision_through_the_complement():
    marginal = ba.beta_binomial_rates(counts_of("D1")).fnr
    x = marginal.mirrored().quantile(1e-12)[:, None]
    assert marginal.mirrored().cdf(x, 1 - x)[0, 0] == pytest.approx(1e-12, rel=1e-7)
    log_x = np.array([[-400.0, -900.0]])
    log_cdf = marginal.log_cdf(log_x, np.ones((1, 2)))[0]
    assert np.all(np.isfinite(log_cdf)) and log_cdf[1] < log_cdf[0] < -1000


def test_known_icc_of_zero_is_the_pooled_independent_posterior():
    counts = counts_of("D1")
    levels = np.array([0.5, 1.1, 1.3, 1.6])
    known, pooled = exact(counts, 0.0), ba.posterior(counts.pooled(), EPSILON)
    assert known.cdf(levels) == pytest.approx(pooled.cdf(levels), abs=1e-12)
    assert exact(counts, 1e-9).cdf(levels) == pytest.approx(pooled.cdf(levels), abs=1e-5)
    independent = ba.posterior(counts, EPSILON, dependence="independent")
    assert independent.cdf(levels) == pytest.approx(pooled.cdf(levels), abs=1e-15)


def test_known_icc_against_a_one_dimensional_integral():
    [k], n, icc = counts_of("D3").fn, 500, 0.1
    marginal = ba.beta_binomial_rates(counts_of("D3"), icc_prior=icc).fnr
    kappa = (1 - icc) / icc

    def density(theta):
        mu = np.sin(theta) ** 2
        return stats.betabinom.pmf(k, n, mu * kappa, (1 - mu) * kappa)

    total = integrate.quad(density, 0, np.pi / 2, epsabs=0, epsrel=1e-11, limit=200)[0]
    part = integrate.quad(density, 0, np.arcsin(np.sqrt(0.4)), epsabs=0, epsrel=1e-11, limit=200)[0]
    got = marginal.cdf(np.array([[0.4]]), np.array([[0.6]]))[0, 0]
    assert got == pytest.approx(part / total, abs=1e-9)


def test_exact_epsilon_against_a_sampled_grid():
    counts = simulate(np.random.default_rng(0), 6, 30, 0.1)
    rng, draws = np.random.default_rng(1), {}
    for side, k, m in (("fnr", counts.fn, counts.tp), ("fpr", counts.fp, counts.tn)):
        theta = (np.arange(1500) + 0.5) / 1500 * np.pi / 2
        mu, icc = np.sin(theta)[:, None] ** 2, special.expit(np.linspace(-12, 4, 400))
        kappa = (1 - icc) / icc
        log_p = sum(
            special.betaln(x + mu * kappa, y + (1 - mu) * kappa)
            - special.betaln(mu * kappa, (1 - mu) * kappa)
            for x, y in zip(k, m, strict=True)
        )
        log_p = log_p + np.log(stats.beta.pdf(icc, 1, 9) * icc * (1 - icc))
        weight = np.exp(special.logsumexp(log_p, axis=1))
        cell = rng.choice(theta.size, 400_000, p=weight / weight.sum())
        jitter = rng.uniform(-0.5, 0.5, cell.size) * (np.pi / 2 / 1500)
        draws[side] = np.sin(theta[cell] + jitter) ** 2
    sampled = EPSILON.of(draws["fnr"], draws["fpr"])
    post = exact(counts)
    for q in (0.05, 0.5, 0.95):
        p = np.mean(sampled <= post.quantile(q))
        assert abs(p - q) < 4 * np.sqrt(q * (1 - q) / sampled.size) + 1e-4


@pytest.mark.parametrize(
    ("models", "n", "icc"),
    [(1, 1_000_000, 0.1), (2, 1_000_000, 1e-7), (100, 1000, 1e-5), (40, 1, 0.2)],
    ids=["one huge model", "a narrow spike", "nearly independent", "one trial a model"],
)
def test_quadrature_has_converged(models, n, icc, monkeypatch):
    post = exact(simulate(np.random.default_rng(7), models, n, icc))
    ends = np.array(tuple(post.interval(0.9)))
    monkeypatch.setattr("bayesaudit.posteriors._outside.PIECE_NODES", 20)
    assert np.array(tuple(post.interval(0.9))) == pytest.approx(ends, abs=1e-9)
    total = post.cdf(np.inf) - post.cdf(-1e-300)
    assert total == 1.0 and 0 <= post.prob_zero < 1e-3


def test_one_trial_a_model_makes_the_correlation_irrelevant():
    counts = simulate(np.random.default_rng(2), 60, 1, 0.2)
    ends = tuple(exact(counts).interval(0.9))
    assert ends == pytest.approx(
        tuple(ba.posterior(counts.pooled(), EPSILON).interval(0.9)), abs=1e-9
    )


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 30)] * 4), min_size=2, max_size=6),
    st.sampled_from(["default", "uniform", (0.5, 2.0), 0.05]),
)
def test_properties(rows, icc_prior):
    fn, tp, fp, tn = np.array(rows).T
    if (fn + tp).sum() == 0 or (fp + tn).sum() == 0:
        return
    post = exact(ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn), icc_prior)
    levels = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 9.0])
    cdf = post.cdf(levels)
    assert np.all(np.diff(cdf) >= -1e-12) and np.all((cdf >= 0) & (cdf <= 1))
    q = np.array([0.05, 0.5, 0.95])
    assert post.cdf(post.quantile(q)) == pytest.approx(np.maximum(q, post.prob_zero), abs=1e-7)
    order = np.argsort(fn + 7 * tp)
    swapped = exact(
        ba.AttackCounts(fn=fp[order], tp=tn[order], fp=fn[order], tn=tp[order]), icc_prior
    )
    assert swapped.cdf(levels) == pytest.approx(cdf, abs=1e-8)
    flipped = exact(ba.AttackCounts(fn=tp, tp=fn, fp=tn, tn=fp), icc_prior)
    assert flipped.cdf(levels) == pytest.approx(cdf, abs=1e-8)


def test_many_audits_are_one_call():
    counts = simulate(np.random.default_rng(5), 10, 20, 0.1, audits=(3, 2))
    post = exact(counts)
    lower, _ = post.interval(0.9)
    assert lower.shape == (3, 2)
    assert lower[2, 1] == pytest.approx(float(exact(counts[2, 1]).interval(0.9).lower), abs=1e-9)
    mixed = exact(counts[0, 0], {"fnr": 0.0, "fpr": "default"})
    assert (
        mixed.icc_prior == {"fnr": 0.0, "fpr": (1.0, 9.0)} and mixed.dependence == "beta-binomial"
    )


def test_every_measure_and_verb_works():
    counts = counts_of("D1")
    for measure in (ba.GaussianMu(), ba.Advantage(), ba.Epsilon(0.1, "member")):
        post = ba.posterior(counts, measure, dependence="beta-binomial")
        lower, upper = post.interval(0.9)
        assert lower < post.median() < upper
        left, right = post.interval(0.9, kind="hdi")
        assert right - left <= upper - lower + 1e-6
        level = np.linspace(float(lower), float(upper), 401)
        area = integrate.simpson(post.pdf(level), x=level)
        assert area == pytest.approx(0.9, abs=1e-6)
        assert lower < post.mean() < upper
    assert exact(counts).sf(12.0) == pytest.approx(np.exp(exact(counts).logsf(12.0)), rel=1e-6)


def test_a_measure_of_ones_own_has_no_inverse_boundary():
    class Youden(ba.Measure):
        has_atom = False
        lowest, highest = -1.0, 1.0
        name = "youden"

        def of(self, fnr, fpr, *, tpr=None, tnr=None):
            return 1 - np.asarray(fnr) - np.asarray(fpr)

        def region(self, level, fnr):
            low = np.clip(1 - np.asarray(level) - np.asarray(fnr), 0, 1)
            return low, np.ones_like(low)

    levels = np.array([0.2, 0.45, 0.6])
    mine = ba.posterior(counts_of("D1"), Youden(), dependence="beta-binomial").cdf(levels)
    right = ba.posterior(counts_of("D1"), ba.Advantage(), dependence="beta-binomial").cdf(levels)
    assert mine == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize(
    ("kwargs", "kind", "message"),
    [
        ({"icc_prior": "default"}, ValueError, 'icc_prior needs dependence="beta-binomial"'),
        ({"dependence": "probit"}, ValueError, "dependence must be one of"),
        ({"dependence": "beta-binomial", "icc_prior": 1.0}, ValueError, r"must be in \[0, 1\)"),
        ({"dependence": "beta-binomial", "icc_prior": "flat"}, ValueError, "icc_prior must be"),
        ({"dependence": "beta-binomial", "icc_prior": (1, 2, 3)}, ValueError, "a pair"),
        ({"dependence": "beta-binomial", "icc_prior": (1, 0)}, ValueError, "shape parameters"),
        ({"dependence": "beta-binomial", "icc_prior": {"fnr": 0.1}}, ValueError, "must name"),
        ({"dependence": "beta-binomial", "icc_prior": True}, TypeError, "a real number"),
    ],
)
def test_errors(kwargs, kind, message):
    with pytest.raises(kind, match=message):
        ba.posterior(counts_of("D1"), EPSILON, **kwargs)


def test_a_single_tally_has_no_model_axis():
    single = ba.AttackCounts(fn=1, tp=2, fp=3, tn=4)
    for dependence in ("independent", "beta-binomial"):
        with pytest.raises(ValueError, match="trailing model axis"):
            ba.posterior(single, EPSILON, dependence=dependence)
    with pytest.raises(TypeError, match="AttackCounts"):
        ba.posterior(ba.beta_binomial_rates(counts_of("D1")), EPSILON, dependence="independent")


def test_a_side_without_data_warns():
    counts = ba.AttackCounts(fn=[1, 2], tp=[3, 4], fp=[0, 0], tn=[0, 0])
    with pytest.warns(UserWarning, match="no data for FPR"):
        post = exact(counts)
    assert 0 < post.median() < 10
