"""Exact draws of the normal score models against brute force and a closed form."""

import numpy as np
import pytest
from scipy import stats
from score_models.simulated import simulated

import bayesaudit as ba
from bayesaudit.score_laws import ScoreDraws, conjugate_draws, rates_of

PROBS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def sides(n=8, seed=3):
    rng = np.random.default_rng(seed)
    return rng.normal(-0.7, 1, n), rng.normal(0.7, 1, n)


def summary(rows):
    return tuple(
        np.array([f(side) for side in rows])
        for f in (len, np.mean, lambda side: ((side - side.mean()) ** 2).sum())
    )


def check_marginals(log_density, axes, draws):
    """Compare shares of draws below points of a grid with the grid's integral."""
    density = np.exp(log_density - log_density.max())
    for number, (axis, values) in enumerate(zip(axes, draws, strict=True)):
        marginal = density.sum(axis=tuple(i for i in range(len(axes)) if i != number))
        cdf = np.append(0, np.cumsum((marginal[1:] + marginal[:-1]) / 2))
        for p in (0.05, 0.25, 0.5, 0.75, 0.95):
            index = np.searchsorted(cdf / cdf[-1], p)
            exact = cdf[index] / cdf[-1]
            error = np.sqrt(exact * (1 - exact) / values.size)
            assert abs(np.mean(values <= axis[index]) - exact) < 4 * error + 2e-4, (number, p)


def test_location_draws_equal_brute_force():
    rows = sides()
    axes = [np.linspace(-2.5, 2.5, 101), np.linspace(-2.5, 5.5, 161), np.linspace(-1.6, 1.6, 121)]
    eta, distance, log_scale = np.meshgrid(*axes, indexing="ij")
    scale = np.exp(log_scale)
    log_density = stats.norm.logpdf(eta) + stats.norm.logpdf(distance, scale=5)
    # The density of the variance, on the scale of log σ.
    log_density += stats.invgamma.logpdf(scale**2, 0.5, scale=0.5) + 2 * log_scale
    for side, sign in zip(rows, (-0.5, 0.5), strict=True):
        mean = scale * (eta + sign * distance)
        log_density += sum(stats.norm.logpdf(value, mean, scale) for value in side)
    rng = np.random.default_rng(1)
    location, drawn = conjugate_draws("location", *summary(rows), draws=200_000, rng=rng)
    center = location.mean(axis=1) / drawn[:, 0]
    mu = (location[:, 1] - location[:, 0]) / drawn[:, 0]
    check_marginals(log_density, axes, [center, mu, np.log(drawn[:, 0])])


def test_binormal_draws_equal_brute_force():
    rows = sides()
    rng = np.random.default_rng(2)
    location, drawn = conjugate_draws("binormal", *summary(rows), draws=200_000, rng=rng)
    axes = [np.linspace(-4, 4, 401), np.linspace(-1.8, 1.8, 401)]
    z, log_scale = np.meshgrid(*axes, indexing="ij")
    scale = np.exp(log_scale)
    for side, values in enumerate(rows):
        log_density = stats.norm.logpdf(z, scale=5) + 2 * log_scale
        log_density += stats.invgamma.logpdf(scale**2, 0.5, scale=0.5)
        log_density += sum(stats.norm.logpdf(value, z * scale, scale) for value in values)
        check_marginals(
            log_density, axes, [location[:, side] / drawn[:, side], np.log(drawn[:, side])]
        )


def test_mu_tends_to_the_noncentral_t_confidence_distribution():
    scores = simulated(n=500)
    dt = ba.sampling.conjugate_scores(scores, "location", draws=25_000, random_seed=4)
    zero, one = scores.score[~scores.member], scores.score[scores.member]
    root = np.sqrt(2 / 500)
    t = stats.ttest_ind(one, zero).statistic
    drawn = np.quantile(dt["posterior"]["mu"].values, PROBS)
    # P(mu <= x) = P(T > t) for T noncentral with x/root; the weak prior costs some 1e-3.
    level = stats.nct.sf(t, 998, drawn / root)
    assert np.all(np.abs(level - PROBS) < 0.012)


def test_a_tree_of_exact_draws_serves_posterior_and_tradeoff_posterior():
    scores = simulated()
    dt = ba.sampling.conjugate_scores(scores, "location", random_seed=1)
    post = ba.posterior(dt, ba.Epsilon(1e-5))
    assert post.shape == (41,) and post.tally_dims == ("threshold",)
    draws = ScoreDraws.of(dt)
    again = draws.rates(draws.latent_of(dt["posterior"]["threshold"].values))
    for name, values in again.items():
        stored = dt["posterior"][name].values.reshape(values.shape)
        np.testing.assert_allclose(values, stored, rtol=1e-9)


def test_rates_of_student_scores_with_shifts_equal_simulation():
    location, scale, nu = np.array([[0.0, 1.0]]), np.array([[1.0, 0.7]]), np.array([[3.0, 8.0]])
    rng = np.random.default_rng(5)
    shift = 0.6 * rng.standard_normal(400_000)
    found = rates_of([1.3], location, scale, nu, np.array([0.36]))
    for side, name in ((0, "fpr"), (1, "tpr")):
        score = location[0, side] + shift + scale[0, side] * rng.standard_t(nu[0, side], 400_000)
        share = np.mean(score >= 1.3)
        assert abs(found[name][0, 0] - share) < 4 * np.sqrt(share * (1 - share) / 400_000)


@pytest.mark.parametrize("options", [{"family": "student"}, {"draws": 0}, {"random_seed": -1}])
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ba.sampling.conjugate_scores(simulated(n=50), **({"family": "location"} | options))
