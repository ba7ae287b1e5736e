import inspect
import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtr, ndtri

from bayesaudit import fano

ROWS = json.loads((Path(__file__).parent / "data" / "fano.json").read_text(encoding="utf-8"))


def rows(name):
    found = (row for row in ROWS["values"] if row["fn"] == name)
    return [
        pytest.param({k: v for k, v in row["inputs"].items()}, row["out"], id=str(row["id"]))
        for row in found
    ]


REPLACE = {"neighboring_relation": "replace-one"}


def approx(text):
    return pytest.approx(float(text), rel=1e-12, abs=1e-14 if float(text) == 0 else 0)


@pytest.mark.parametrize(("inputs", "out"), rows("rr_pure_dp"))
def test_randomized_response_reference(inputs, out):
    m, epsilon = int(inputs["M"]), float(inputs["eps"])
    assert fano.pure_dp_advantage(epsilon, categories=m, **REPLACE) == approx(out["adv_exact"])
    loose = fano.pure_dp_advantage(epsilon, categories=m)
    assert loose == approx(out["adv_addremove"])
    channel = fano.randomized_response(epsilon, categories=m)
    assert fano.bayes_success(channel) == approx(out["success_exact"])
    information = fano.channel_information(channel)
    assert information == approx(out["MI_rr"])
    # the test oracle: Fano holds with equality at the exact information
    assert fano.advantage(information, categories=m) == approx(out["adv_fano_MIexact"])
    assert fano.advantage(information, categories=m) == approx(out["adv_exact"])
    assert fano.advantage(epsilon, categories=m) == approx(out["adv_fano_eps"])
    kl = fano.pure_dp_kl(epsilon)
    assert kl == approx(out["kl_max_pure"])
    mixture = fano.kl_mixture_information(kl, categories=m)
    assert fano.advantage(mixture, categories=m) == approx(out["adv_fano_kt_tanh"])


@pytest.mark.parametrize(("inputs", "out"), rows("pure_dp_prior"))
def test_pure_dp_prior_reference(inputs, out):
    prior = [float(p) for p in inputs["p"]]
    value = fano.pure_dp_advantage(float(inputs["eps"]), prior=prior[::-1], **REPLACE)
    assert value == approx(out["adv_exact"])
    assert max(prior) + (1 - max(prior)) * value == approx(out["success_exact"])


@pytest.mark.parametrize("seed", range(25))
def test_pure_dp_equals_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    prior, epsilon = rng.dirichlet(np.full(m, 10.0 ** rng.uniform(-0.5, 1))), rng.uniform(0, 4)
    # guesses are the outputs: maximise sum p_i W_ii over rows of probabilities, eps-close
    constraints = []
    for y in range(m):
        for i in range(m):
            for j in range(m):
                if i != j:
                    line = np.zeros((m, m))
                    line[i, y], line[j, y] = 1.0, -np.exp(epsilon)
                    constraints.append(line.ravel())
    rows_one = np.kron(np.eye(m), np.ones(m))
    found = linprog(
        -np.diag(prior).ravel(), constraints, np.zeros(len(constraints)), rows_one, np.ones(m)
    )
    value = fano.pure_dp_advantage(epsilon, prior=prior, **REPLACE)
    success = prior.max() + (1 - prior.max()) * value
    assert success == pytest.approx(-found.fun, abs=1e-9)


@pytest.mark.parametrize(("inputs", "out"), rows("renyi_fano"))
def test_renyi_fano_reference(inputs, out):
    epsilon, order, base = (float(inputs[k]) for k in ("eps_nats", "alpha", "p_star"))
    success = fano.renyi_fano(epsilon, order, base)
    assert success == approx(out["s"])
    assert (success - base) / (1 - base) == approx(out["adv"])
    assert fano.rero_rdp(epsilon, order, base) == approx(out["rero_balle"])


def test_renyi_fano_solves_its_equation():
    rng = np.random.default_rng(2)
    with mp.workdps(50):
        for _ in range(60):
            base = float(10.0 ** -rng.uniform(0.05, 10))
            order = float(1 + 10.0 ** rng.uniform(-12, 2))
            epsilon = float(-np.log(base) * 10.0 ** -rng.uniform(0, 6))
            success = fano.renyi_fano(epsilon, order, base)
            q, a = mp.mpf(base), mp.mpf(order)

            def divergence(gain, q=q, a=a):
                s = q + gain
                rest = (1 - s) ** a * (1 - q) ** (1 - a) if s < 1 else 0
                return mp.log(s**a * q ** (1 - a) + rest) / (a - 1)

            gain = mp.mpf(success) - q
            # s itself is rounded to 1 ulp: the excess s - q has that much room
            room = mp.mpf(success) * mp.mpf(2) ** -51
            assert divergence(min(gain * (1 + mp.mpf(10) ** -12) + room, 1 - q)) >= epsilon
            assert divergence(gain * (1 - mp.mpf(10) ** -12) - room) <= epsilon


@settings(max_examples=120, deadline=None)
@given(
    epsilon=st.floats(0, 50),
    order=st.one_of(st.floats(1, 1 + 1e-6), st.floats(1, 300), st.just(np.inf)),
    log_base=st.floats(-80, -1e-6),
)
def test_renyi_fano_is_never_worse_than_balle(epsilon, order, log_base):
    base = float(np.exp(log_base))
    success = fano.renyi_fano(epsilon, order, base)
    assert base <= success <= fano.rero_rdp(epsilon, order, base) * (1 + 1e-12)
    assert fano.renyi_fano(epsilon, 1.0, base) * (1 + 1e-12) >= success


def test_orders_near_one_are_continuous():
    # a public accountant returns 0 at order 1 + 1e-8; here the limit is approached smoothly
    values = fano.renyi_fano(0.3, 1 + np.array([0.0, 1e-15, 1e-8, 1e-4, 1e-2]), 0.1)
    assert (np.diff(values) <= 0).all()
    assert np.abs(np.diff(values)[:2]).max() < 1e-7
    assert values[0] == pytest.approx(0.1 + 0.9 * fano.advantage(0.3, categories=10), rel=1e-12)
    curve = ([1.5, 2.0, 8.0], [0.2, 0.3, 1.0])
    before = fano.best_bound(categories=10, rdp=curve)
    after = fano.best_bound(categories=10, rdp=([1 + 1e-8, *curve[0]], [0.2 - 1e-9, *curve[1]]))
    assert after.advantage == pytest.approx(before.advantage, rel=1e-6)


@pytest.mark.parametrize(("inputs", "out"), rows("rero_zcdp"))
def test_zcdp_reference(inputs, out):
    rho, base = float(inputs["rho"]), float(inputs["kappa"])
    assert fano.rero_zcdp(rho, base) == approx(out["gamma"])
    orders = np.linspace(1, 200, 20_000)
    optimised = fano.rero_rdp(rho * orders, orders, base).min()
    assert fano.rero_zcdp(rho, base) == pytest.approx(optimised, rel=1e-4)


@pytest.mark.parametrize(("inputs", "out"), rows("rero_gdp"))
def test_gdp_reference(inputs, out):
    mu, base = float(inputs["mu"]), float(inputs["kappa"])
    assert fano.rero_gdp(mu, base) == approx(out["gamma"])
    by_curve = fano.rero_tradeoff(lambda x: ndtr(-ndtri(x) - mu), base)
    assert by_curve == pytest.approx(float(out["gamma"]), rel=1e-10)


@pytest.mark.parametrize(("inputs", "out"), rows("gauss_simplex"))
def test_simplex_success_reference(inputs, out):
    m, d = int(inputs["M"]), float(inputs["pairwise_distance_over_sigma"])
    assert fano.gaussian_success(d, categories=m) == approx(out["success"])
    fixed = fano.tradeoff_fixed_point(lambda x: ndtr(-ndtri(x) - d), categories=m)
    assert fixed == approx(out["fdp_fixed_point"])
    assert fano.gaussian_success(d, categories=m) <= fixed
    assert fixed <= fano.rero_gdp(d, 1 / m)


def test_fixed_point_is_exact_for_pure_dp_and_for_two():
    for m in (2, 7, 1000):
        for epsilon in (0.2, 2.0, 6.0):

            def f(x, epsilon=epsilon):
                return max(0.0, 1 - np.exp(epsilon) * x, (1 - x) / np.exp(epsilon))

            success = fano.tradeoff_fixed_point(f, categories=m)
            assert success == pytest.approx(np.exp(epsilon) / (np.exp(epsilon) + m - 1), rel=1e-12)
            assert success <= fano.rero_tradeoff(f, 1 / m) * (1 + 1e-12)
    two = fano.tradeoff_fixed_point(lambda x: ndtr(-ndtri(x) - 1.5), categories=2)
    assert two == pytest.approx(fano.gaussian_success(1.5, categories=2), rel=1e-13)
    assert fano.tradeoff_fixed_point(lambda x: 1 - x, categories=5) == pytest.approx(0.2)
    assert fano.tradeoff_fixed_point(lambda x: 0.0, categories=5) == 1.0


@pytest.mark.parametrize(("inputs", "out"), rows("membership_baselines"))
def test_membership_reference(inputs, out):
    epsilon, delta = float(inputs["eps"]), float(inputs["delta"])
    assert fano.yeom_advantage(epsilon) == approx(out["yeom"])
    assert fano.erlingsson_advantage(epsilon) == approx(out["erlingsson"])
    assert fano.humphries_advantage(epsilon, delta) == approx(out["humphries"])
    if delta == 0:
        assert fano.pure_dp_advantage(epsilon, categories=2, **REPLACE) == approx(out["humphries"])


def test_limits_and_broadcasting():
    assert fano.pure_dp_advantage([0.0, 1e3], prior=[0.6, 0.4], **REPLACE).tolist() == [0.0, 1.0]
    assert fano.pure_dp_advantage(1.0, prior=[1.0]) == 0.0
    assert fano.pure_dp_advantage(1e-12, categories=10, **REPLACE) == pytest.approx(
        1e-13, rel=1e-11
    )
    assert fano.renyi_fano(0.0, 2.0, 0.3) == 0.3
    assert fano.renyi_fano(5.0, 2.0, 0.3) == 1.0
    assert fano.renyi_fano(5.0, 2.0, 1.0) == 1.0
    assert fano.renyi_fano(np.ones((2, 1)), [2.0, 3.0, 4.0], 0.1).shape == (2, 3)
    assert fano.rero_zcdp(9.0, 0.5) == 1.0
    assert fano.rero_approximate_dp([0.0], [0.0], 0.2) == pytest.approx(0.2)
    assert fano.rero_approximate_dp([800.0], [0.0], 0.2) == 1.0
    assert fano.gaussian_success(0.0, categories=8) == pytest.approx(0.125)
    with pytest.raises(ValueError, match="base_success must be in"):
        fano.rero_gdp(1.0, 0.0)
    with pytest.raises(ValueError, match="order must be >= 1"):
        fano.renyi_fano(1.0, 0.5, 0.1)
    with pytest.raises(ValueError, match="equal shapes"):
        fano.rero_approximate_dp([1.0, 2.0], [0.0], 0.2)


def random_channel(rng):
    m, n = int(rng.integers(2, 7)), int(rng.integers(2, 8))
    rows_ = rng.dirichlet(np.full(n, 10.0 ** rng.uniform(-1, 2)), size=m)
    centre = rows_.mean(axis=0)
    rows_ = centre + rng.uniform(0, 1) ** 2 * (rows_ - centre)
    rows_ = rows_ * (1 - 1e-6) + 1e-6 / n
    prior = rng.dirichlet(np.full(m, 10.0 ** rng.uniform(-0.5, 1.5)))
    return rows_, prior


def renyi_divergence(p, q, order):
    if order == 1:
        return (p * np.log(p / q)).sum(axis=-1).max()
    return (np.log((p**order * q ** (1 - order)).sum(axis=-1)) / (order - 1)).max()


def test_no_bound_is_violated_by_the_exact_adversary():
    rng = np.random.default_rng(11)
    smallest, curves, successes = {}, [], []
    for round_ in range(1200):
        channel, prior = random_channel(rng)
        base = prior.max()
        exact = (fano.bayes_success(channel, prior) - base) / (1 - base)
        reference = channel.mean(axis=0)  # an output that does not depend on the secret
        information = fano.channel_information(channel, prior)
        pairs = channel[:, None, :], channel[None, :, :]
        kl = renyi_divergence(*pairs, 1)
        orders = np.array([1.0, 1.5, 2.0, 4.0, 16.0])
        curve = [renyi_divergence(channel, reference, a) for a in orders]
        points = np.linspace(0, 3, 13)
        deltas = [
            max(
                np.maximum(channel - np.exp(e) * reference, 0).sum(axis=1).max(),
                np.maximum(reference - np.exp(e) * channel, 0).sum(axis=1).max(),
            )
            for e in points
        ]
        pair_deltas = [np.maximum(pairs[0] - np.exp(e) * pairs[1], 0).sum(-1).max() for e in points]
        pure_pairs = np.log(pairs[0] / pairs[1]).max()
        pure_reference = np.abs(np.log(channel / reference)).max()
        assert information <= fano.kl_mixture_information(kl, prior=prior) + 1e-13
        assert information <= curve[0] + 1e-13
        curves.append((curve, base))
        successes.append(fano.bayes_success(channel, prior))
        collected = [
            fano.best_bound(
                prior=prior,
                mutual_information=information,
                kl=curve[0],
                rdp=(orders, curve) if round_ % 8 == 0 else None,
                profile=(points, deltas),
                pure_epsilon=pure_reference,
            ),
            fano.best_bound(
                prior=prior,
                neighboring_relation="replace-one",
                kl=kl,
                pure_epsilon=pure_pairs,
                rho=pure_pairs**2 / 2,
            ),
        ]
        if round_ % 4 == 0:  # the fixed point is for equally likely secrets
            m = prior.size
            fixed = fano.best_bound(
                categories=m, neighboring_relation="replace-one", profile=(points, pair_deltas)
            )["f-dp-fixed-point"]
            assert fixed.success >= fano.bayes_success(channel) - 1e-12
        for result in collected:
            for bound in result.bounds:
                assert bound.advantage >= exact - 1e-12, bound
                smallest[bound.method] = min(
                    smallest.get(bound.method, 1.0), bound.advantage - exact
                )
    # the bounds from Rényi curves of all channels in one call, order by order
    budgets, bases = np.array([c for c, _ in curves]), np.array([[b] for _, b in curves])
    for bound in (fano.renyi_fano, fano.rero_rdp):
        assert (bound(budgets, orders, bases) >= np.array(successes)[:, None] - 1e-12).all()
    assert set(smallest) >= {"erokhin", "paper", "han-verdu", "renyi-fano", "f-dp", "pure-dp"}


@pytest.mark.parametrize("m", [2, 3, 50])
def test_randomized_response_attains_fano(m):
    for epsilon in (1e-6, 0.01, 1.0, 8.0):
        channel = fano.randomized_response(epsilon, categories=m)
        # exact information with the cancellation taken out: success s, uniform errors
        exact = np.expm1(epsilon) / (np.exp(epsilon) + m - 1)
        information = fano.channel_information(channel)
        assert fano.advantage(information, categories=m) == pytest.approx(
            exact,
            rel=1e-12 + 4e-16 / epsilon,  # rows - 1 keeps 1e-16/epsilon of its digits
        )


def test_one_relation_is_the_default_everywhere():
    functions = (
        fano.best_bound, fano.calibrate_epsilon, fano.event_bounds, fano.pure_dp_advantage,
        fano.rdp_information,
    )  # fmt: skip
    for function in functions:
        default = inspect.signature(function).parameters["neighboring_relation"].default
        assert default == "add-or-remove-one", function
