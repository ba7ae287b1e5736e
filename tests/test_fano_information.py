import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from bayesaudit import fano

ROWS = json.loads((Path(__file__).parent / "data" / "fano.json").read_text(encoding="utf-8"))


def rows(name):
    found = (row for row in ROWS["values"] if row["fn"] == name)
    return [pytest.param(row["inputs"], row["out"], id=str(row["id"])) for row in found]


def secret(inputs):
    if "M" in inputs:
        return {"categories": int(inputs["M"])}
    return {"prior": [float(p) for p in inputs["p"]]}


@pytest.mark.parametrize(("inputs", "out"), rows("mi_kt"))
def test_replace_one_reference(inputs, out):
    kl, who = float(inputs["eps_kl_nats"]), secret(inputs)
    mixture = fano.kl_mixture_information(kl, **who)
    assert mixture == pytest.approx(float(out["mi"]), rel=1e-12)
    convex = fano.replace_one_information(kl, **who)
    assert convex == pytest.approx(float(out["mi_convex"]), rel=1e-12)
    assert mixture <= convex
    assert fano.rdp_information(kl, 3, neighboring_relation="replace-one", **who) == mixture
    if "adv_fano" in out:
        # mu close to log M: the error is ill-conditioned, the advantage is not
        assert fano.advantage(mixture, **who) == pytest.approx(float(out["adv_fano"]), rel=1e-12)


@pytest.mark.parametrize(("inputs", "out"), rows("kl_sgm"))
def test_subsampled_gaussian_reference(inputs, out):
    value = fano.subsampled_gaussian_kl(float(inputs["noise_multiplier"]), float(inputs["q"]))
    assert value == pytest.approx(float(out["kl"]), rel=1e-12)


@pytest.mark.parametrize(
    ("z", "q"),
    [
        (0.05, 0.3),
        (0.02, 1e-5),
        (0.3, 0.5),
        (5.0, 0.01),
        (100.0, 0.9),
        (0.7, 0.999999),
        (1.0, 1e-8),
    ],
)
def test_subsampled_gaussian_against_high_precision(z, q):
    with mp.workdps(30):
        z_, q_ = mp.mpf(z), mp.mpf(q)

        def integrand(x):
            u = q_ * mp.expm1(x / z_ - 1 / (2 * z_**2))
            return mp.npdf(x) * ((1 + u) * mp.log1p(u) - u)

        centre = z_ * (mp.log(1 / q_) + 1 / (2 * z_**2))
        points = {mp.mpf(-14), mp.mpf(-4), mp.mpf(0), 1 / z_, 2 / z_, 2 / z_ + 14}
        points |= {centre + k * z_ for k in (-12, -4, -1, 0, 1, 4, 12)}
        right = float(mp.quad(integrand, sorted(points)))
    assert fano.subsampled_gaussian_kl(z, q) == pytest.approx(right, rel=2e-14)


def test_subsampled_gaussian_against_adaptive_quadrature():
    for z, q in ((0.5, 0.1), (1.0, 0.01), (3.0, 0.4)):

        def integrand(x, z=z, q=q):
            mixture = (1 - q) * stats.norm.pdf(x, 0, z) + q * stats.norm.pdf(x, 1, z)
            return mixture * np.log(mixture / stats.norm.pdf(x, 0, z))

        right = integrate.quad(integrand, -30 * z, 1 + 30 * z, epsabs=1e-14, limit=500)[0]
        assert fano.subsampled_gaussian_kl(z, q) == pytest.approx(right, rel=1e-8, abs=1e-13)


def test_subsampled_gaussian_limits():
    assert fano.subsampled_gaussian_kl(2.0, 0.0) == 0.0
    assert fano.subsampled_gaussian_kl(2.0, 1.0) == 0.125
    small = 1e-6**2 * np.expm1(1 / 4) / 2
    assert fano.subsampled_gaussian_kl(2.0, 1e-6) == pytest.approx(small, rel=1e-5)
    below, above = (fano.subsampled_gaussian_kl(z, 0.1) for z in (0.00999999, 0.01000001))
    assert below == pytest.approx(above, rel=1e-5)  # the closed form meets the quadrature
    assert fano.subsampled_gaussian_kl(1e-3, 0.1) == pytest.approx(0.05e6 - 0.325, rel=1e-6)
    values = [fano.subsampled_gaussian_kl(z, 0.2) for z in np.geomspace(0.005, 50, 60)]
    assert (np.diff(values) < 0).all()


def test_relations_are_a_factor_four_apart():
    add = fano.gaussian_kl(1.5, steps=7, neighboring_relation="add-or-remove-one")
    replace = fano.gaussian_kl(1.5, steps=7, neighboring_relation="replace-one")
    assert replace == pytest.approx(4 * add)
    assert add == pytest.approx(7 * fano.subsampled_gaussian_kl(1.5, 1.0))
    assert fano.gaussian_kl(0.0, steps=0, neighboring_relation="replace-one") == 0.0
    assert fano.gaussian_kl(0.0, neighboring_relation="replace-one") == np.inf


def test_rdp_information_needs_an_order_of_one_or_more():
    assert fano.rdp_information([0.1, 0.2], [1, np.inf]).tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match=r"order must be >= 1.*got 0\.99"):
        fano.rdp_information(0.1, 0.99)
    with pytest.raises(ValueError, match="epsilon must be >= 0"):
        fano.rdp_information(-0.1, 2)
    with pytest.raises(ValueError, match="neighboring_relation must be one of"):
        fano.rdp_information(0.1, 2, neighboring_relation="swap")


def test_mixture_bound_limits_and_concavity():
    prior = [0.5, 0.3, 0.2]
    entropy = -(np.array(prior) * np.log(prior)).sum()
    kl = np.linspace(0, 40, 200)
    values = fano.kl_mixture_information(kl, prior=prior)
    assert values[0] == 0 and values[-1] == pytest.approx(entropy, rel=1e-12)
    assert (values <= np.minimum(kl, entropy * (1 + 1e-15))).all()
    assert (np.diff(values, 2) <= 1e-14).all()
    assert fano.kl_mixture_information(np.inf, prior=prior) == pytest.approx(entropy)
    assert fano.kl_mixture_information(1e-9, categories=2) == pytest.approx(0.5e-9, rel=1e-8)
    assert fano.kl_mixture_information(900.0, categories=10**10) == np.log(1e10)
    assert fano.kl_mixture_information(1.0, prior=[1.0]) == 0.0


def test_pure_dp_kl_is_attained_by_randomized_response():
    for epsilon in (0.1, 1.0, 5.0):
        p = fano.randomized_response(epsilon, categories=2)
        assert fano.pure_dp_kl(epsilon) == pytest.approx((p[0] * np.log(p[0] / p[1])).sum())


def test_gaussian_capacity_bounds_the_exact_information():
    for m in (2, 5, 1000):
        for z in (0.5, 1.0, 4.0):
            # M points on the unit sphere at the largest equal distance, sqrt(2 M/(M-1))
            exact = fano.simplex_information(np.sqrt(2 * m / (m - 1)) / z, categories=m)
            assert exact <= fano.gaussian_capacity(z, categories=m)
    assert fano.gaussian_capacity(2.0, categories=10**9, steps=3) == pytest.approx(3 / 8)
    assert fano.gaussian_capacity(0.0, categories=2) == np.inf


@pytest.mark.parametrize("distance", [0.1, 1.0, 5.0, 8.0])
def test_simplex_information_of_two(distance):
    z = np.arange(-2000, 2000) * 0.01
    weight = 0.01 * stats.norm.pdf(z)
    lost = weight @ np.logaddexp(0, -(distance * z + distance**2 / 2))
    value = fano.simplex_information(distance, categories=2)
    assert value == pytest.approx(np.log(2) - lost, abs=5e-14)


def test_simplex_information_of_three_by_a_plane_integral():
    d = 1.7
    corners = (
        d / np.sqrt(3) * np.array([[np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(3) / 3])
    )
    x = 0.08 * np.arange(-140, 141)
    grid = np.stack(np.meshgrid(x, x), axis=-1)
    density = np.exp(-0.5 * ((grid[..., None, :] - corners) ** 2).sum(-1)) / (2 * np.pi)
    mixture = density.mean(-1, keepdims=True)
    right = 0.08**2 * (density / 3 * np.log(density / mixture)).sum()
    assert fano.simplex_information(d, categories=3) == pytest.approx(right, abs=1e-12)


def test_simplex_information_by_monte_carlo():
    d, m, rng = 3.0, 20, np.random.default_rng(5)
    channel = fano.SimplexGaussian(d, m)
    scores = channel.log_likelihood(channel.sample(np.zeros(200_000, dtype=int), rng))
    scores -= scores[:, :1]
    draws = np.log(m) - np.log(np.exp(scores).sum(axis=1))
    error = draws.std() / np.sqrt(draws.size)
    assert abs(fano.simplex_information(d, categories=m) - draws.mean()) < 4 * error


def test_simplex_information_limits():
    assert fano.simplex_information(0.0, categories=9) == 0.0
    assert fano.simplex_information(60.0, categories=9) == pytest.approx(np.log(9), rel=1e-15)
    small = fano.simplex_information(1e-3, categories=5)
    assert small == pytest.approx(0.25e-6 * 4 / 5, rel=1e-5)
    huge = fano.simplex_information(8.0, categories=10**10)
    assert fano.advantage(huge, categories=10**10) >= fano.gaussian_success(8.0, categories=10**10)
