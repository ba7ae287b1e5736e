"""The f-DP recursion against a linear program of its own, and its curves."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.special import ndtr

from bayesaudit.onerun import (
    EpsilonDeltaCurve,
    GaussianCurve,
    LaplaceCurve,
    _fdp,
    audit,
    f_dp_parameter_lower,
    f_dp_rejects,
)


def tail_set_program(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Maximise P(T >= v) under (epsilon, delta)-DP for the sets "at least i" and both pieces."""
    grow = math.exp(epsilon)
    rows, right = [], []
    i = np.arange(r + 1)
    for start in range(1, v + 1):
        good = np.where(i >= start, i, 0.0)  # m P(right, N >= start - 1)
        bad = np.where(i >= start - 1, r - i, 0.0)  # m P(wrong, N >= start - 1)
        rows += [good - grow * bad, grow * good - bad]
        right += [m * delta, m * (grow - 1 + delta)]
    result = linprog(
        np.r_[np.zeros(v), -np.ones(r + 1 - v)],
        A_ub=np.array(rows),
        b_ub=right,
        A_eq=np.ones((1, r + 1)),
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0
    return -result.fun


def test_recursion_is_the_optimum_over_tail_sets():
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(200):
        r = int(rng.integers(2, 20))
        m, v = r + int(rng.integers(0, 20)), int(rng.integers(1, r + 1))
        epsilon, delta = float(rng.uniform(0, 2)), float(10 ** rng.uniform(-5, -1))
        inverse = EpsilonDeltaCurve(delta).inverse(epsilon)
        p = _fdp.p_value(inverse, m, r, v)
        assert p == pytest.approx(tail_set_program(m, r, v, epsilon, delta), rel=1e-6, abs=1e-9)
        seen += p < 0.99
    assert seen > 50


@pytest.mark.parametrize("curve", [GaussianCurve(), LaplaceCurve(), EpsilonDeltaCurve(0.01)])
@pytest.mark.parametrize("parameter", [0.0, 0.4, 2.0, 6.0])
def test_inverse_is_the_inverse_of_1_minus_f(curve, parameter):
    x = np.linspace(1e-6, 1 - 1e-6, 301)
    if curve.name == "gaussian":
        from scipy.special import ndtri

        power = ndtr(ndtri(x) + parameter)
    elif curve.name == "laplace":
        # The best test of size x of Lap(0, 1) against Lap(parameter, 1) cuts at a quantile.
        cut = np.where(x < 0.5, -np.log(2 * x), np.log(2 * (1 - x))) - parameter
        power = np.where(cut > 0, np.exp(-cut) / 2, 1 - np.exp(cut) / 2)
    else:
        grow = math.exp(parameter)
        power = np.minimum(1, np.minimum(0.01 + grow * x, 1 - (0.99 - x) / grow))
    inverse = curve.inverse(parameter)
    strict = power < 1 - 1e-9
    found = np.array([inverse(y) for y in power[strict]])
    np.testing.assert_allclose(found, np.maximum(x[strict], 0), rtol=1e-7, atol=1e-12)
    values = [inverse(y) for y in np.linspace(0, 1, 400)]
    assert np.all(np.diff(values) >= -1e-15) and 0 <= min(values) and max(values) <= 1


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_epsilon_and_parameter_are_inverse(delta):
    for curve in (GaussianCurve(), LaplaceCurve()):
        if delta == 0 and curve.name == "gaussian":
            assert curve.epsilon(1.0, 0.0) == math.inf
            continue
        for parameter in (1.0, 3.0):
            epsilon = curve.epsilon(parameter, delta)
            assert curve.parameter(epsilon, delta) == pytest.approx(parameter, rel=1e-12)
    # delta(epsilon) of the Laplace mechanism, by integration of its densities
    x = np.linspace(-30, 30, 2_000_001)
    p, q = 0.5 * np.exp(-np.abs(x)), 0.5 * np.exp(-np.abs(x - 2.0))
    epsilon = LaplaceCurve().epsilon(2.0, 0.1)
    integral = np.trapezoid(np.maximum(q - math.exp(epsilon) * p, 0.0), x)
    assert integral == pytest.approx(0.1, abs=1e-5)


def test_bound_is_where_the_p_value_crosses_the_level():
    tally = {"n_canaries": 500, "n_guesses": 300, "n_correct": 200}
    for curve in (GaussianCurve(), LaplaceCurve(), EpsilonDeltaCurve(1e-4)):
        x = f_dp_parameter_lower(curve, **tally, level=0.03)
        assert f_dp_rejects(curve.inverse(x * (1 - 1e-9)), **tally, level=0.03)
        assert not f_dp_rejects(curve.inverse(x * (1 + 1e-9)), **tally, level=0.03)
        assert _fdp.p_value(curve.inverse(x), *tally.values()) == pytest.approx(0.03, rel=1e-6)


def test_mu_does_not_depend_on_delta():
    tally = {"n_canaries": 1000, "n_guesses": 200, "n_correct": 150}
    mu = f_dp_parameter_lower(GaussianCurve(), **tally, level=0.05)
    for delta in (1e-8, 1e-5, 1e-2):
        result = audit(**tally, delta=delta, method="f-dp")
        assert result.lower == pytest.approx(GaussianCurve().epsilon(mu, delta), rel=1e-12)


def test_one_s_own_curve():
    class Own:
        """The Laplace curve, inverted by root finding from its forward form."""

        name = "own"
        assumption = "made up for this test"

        def inverse(self, parameter):
            def power(x):
                cut = (-math.log(2 * x) if x < 0.5 else math.log(2 - 2 * x)) - parameter
                return math.exp(-cut) / 2 if cut > 0 else 1 - math.exp(cut) / 2

            def inverse(y):
                return 0.0 if y <= power(1e-300) else brentq(lambda x: power(x) - y, 1e-300, y)

            return inverse

        def epsilon(self, parameter, delta):
            return LaplaceCurve().epsilon(parameter, delta)

        def parameter(self, epsilon, delta):
            return LaplaceCurve().parameter(epsilon, delta)

    tally = {"n_canaries": 50, "n_guesses": 40, "n_correct": 32, "delta": 1e-3, "method": "f-dp"}
    own, laplace = audit(**tally, curve=Own()), audit(**tally, curve=LaplaceCurve())
    assert own.lower == pytest.approx(laplace.lower, rel=1e-6)
    assert own.to_dict()["curve"] == "own"
    with pytest.raises(TypeError, match="curve must have inverse"):
        audit(**tally, curve=3)
