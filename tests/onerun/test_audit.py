"""The result of an audit: levels, curve, limits, words, and what is refused."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import beta, binom

from bayesaudit import onerun

ALL = [
    ("all-subset", "gaussian"),
    ("steinke", "gaussian"),
    ("f-dp", "gaussian"),
    ("f-dp", "epsilon-delta"),
    ("xiang", "gaussian"),
    ("xiang", "epsilon-delta"),
]
TALLY = {"n_canaries": 400, "n_guesses": 150, "n_correct": 110, "delta": 1e-4}


@pytest.mark.parametrize(("method", "curve"), ALL)
def test_lower_end_is_where_the_p_value_meets_the_level(method, curve):
    result = onerun.audit(**TALLY, method=method, curve=curve, prob=0.9)
    assert (result.level, result.confidence) == pytest.approx((0.05, 0.95))
    assert result.lower > 0.1
    assert result.p_value(result.lower) == pytest.approx(0.05, rel=1e-6)
    assert result.p_value(result.lower * 0.99) < 0.05 < result.p_value(result.lower * 1.01)


@pytest.mark.parametrize(("method", "curve"), ALL)
def test_confidence_curve(method, curve):
    result = onerun.audit(**TALLY, method=method, curve=curve)
    levels = np.array([[1e-6, 1e-3], [0.05, 0.5]])
    values = result.confidence_curve(levels)
    assert values.shape == levels.shape
    assert np.all(np.diff(values.ravel()) >= 0) and values[0, 0] < values[1, 0] < values[1, 1]
    assert values[1, 0] == pytest.approx(result.lower, rel=1e-10)
    for level, value in zip(levels.ravel(), values.ravel(), strict=True):
        assert value == result.epsilon_lower(level)
        if level < 0.5:
            named = onerun.audit(**TALLY, method=method, curve=curve, prob=1 - 2 * level)
            assert named.lower == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("method", "curve"), ALL)
def test_bound_rises_with_right_guesses(method, curve):
    tally = {"n_canaries": 200, "n_guesses": 60, "delta": 1e-4}
    values = [
        onerun.audit(**tally, n_correct=v, method=method, curve=curve).lower for v in range(61)
    ]
    assert values[0] == 0 and np.all(np.diff(values) >= 0) and values[-1] > 1


@pytest.mark.parametrize(("method", "curve"), ALL)
@pytest.mark.parametrize(
    ("m", "r", "v", "delta"),
    [
        (1, 0, 0, 0.0),
        (1, 1, 0, 0.0),
        (1, 1, 1, 0.0),
        (50, 0, 0, 1e-5),
        (50, 50, 0, 1e-5),
        (50, 20, 0, 0.0),
        (50, 50, 25, 1e-5),
        (50, 50, 50, 1.0),
        (50, 20, 20, 1.0),
    ],
)
def test_limits_without_evidence_are_0(method, curve, m, r, v, delta):
    result = onerun.audit(
        n_canaries=m, n_guesses=r, n_correct=v, delta=delta, method=method, curve=curve
    )
    assert result.lower == 0.0
    assert result.p_value(0.0) >= 0.05
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize(("method", "curve"), ALL)
@pytest.mark.parametrize(("m", "r"), [(5, 5), (1000, 1000), (1000, 10)])
def test_all_right_is_finite_and_at_delta_0_the_root_of_the_level(method, curve, m, r):
    result = onerun.audit(
        n_canaries=m, n_guesses=r, n_correct=r, delta=0.0, method=method, curve=curve
    )
    if curve == "gaussian" and method in ("f-dp", "xiang"):
        assert result.lower == math.inf
        shown = result.to_dict()
        assert shown["lower"] is None and "delta = 0" in shown["reason"]
    elif method == "f-dp":
        q = 0.05 ** (1 / r)
        assert 0 < result.lower <= math.log(q / (1 - q)) + 1e-9
    else:  # q^r = level
        q = 0.05 ** (1 / r)
        assert result.lower == pytest.approx(math.log(q / (1 - q)), rel=1e-9)


def test_epsilon_0_unless_there_are_more_guesses_than_bits_that_may_be_revealed():
    for method, curve in [*ALL[:2], ALL[3]]:
        for r in (5, 19, 20):
            result = onerun.audit(
                n_canaries=1000, n_guesses=r, n_correct=r, delta=1e-3, method=method, curve=curve
            )
            assert result.lower == 0.0  # r <= m delta / level


@pytest.mark.parametrize(("method", "curve"), ALL)
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-5, 0.5, 1.0])
def test_p_values_are_probabilities_and_bounds_are_in_order(method, curve, delta):
    rng = np.random.default_rng(15)
    for _ in range(12):
        m = int(rng.integers(1, 3000))
        r = int(rng.integers(0, m + 1))
        v = int(rng.integers(r // 2, r + 1))
        tally = {"n_canaries": m, "n_guesses": r, "n_correct": v, "delta": delta}
        result = onerun.audit(**tally, method=method, curve=curve)
        assert result.lower >= 0
        assert all(0 <= result.p_value(epsilon) <= 1 for epsilon in (0.0, 0.5, 30.0, 700.0))
        if curve == "epsilon-delta":
            best = onerun.audit(**tally).lower
            assert result.lower <= best + 1e-7 if method == "f-dp" else result.lower >= best - 1e-7


def test_large_delta_leaves_nothing():
    for method in ("all-subset", "steinke"):
        result = onerun.audit(
            n_canaries=1000, n_guesses=1000, n_correct=950, delta=0.3, method=method
        )
        assert result.lower == 0.0 and result.p_value(0.0) > 0.3


def test_words():
    say = {
        (method, curve): onerun.audit(**TALLY, method=method, curve=curve).assumption
        for method, curve in ALL
    }
    for method, curve in [ALL[0], ALL[1], ALL[3]]:
        assert "any dependence" in say[method, curve]
        assert "Gaussian" not in say[method, curve]
    assert "Gaussian" in say["f-dp", "gaussian"]
    for curve in ("gaussian", "epsilon-delta"):
        assert "assumes independent canaries" in say["xiang", curve]
        assert onerun.audit(**TALLY, method="xiang", curve=curve).independent_canaries
    assert onerun.audit(**TALLY).method == "all-subset"


def test_to_dict_echoes_the_inputs():
    shown = json.loads(json.dumps(onerun.audit(**TALLY, prob=0.8).to_dict(), allow_nan=False))
    assert {name: shown[name] for name in TALLY} == TALLY
    assert shown["prob"] == 0.8 and shown["level"] == pytest.approx(0.1)
    assert shown["guarantee"] == "guaranteed" and shown["curve"] is None


def test_results_are_frozen():
    with pytest.raises(AttributeError):
        onerun.audit(**TALLY).lower = 3.0


@pytest.mark.parametrize(("m", "r", "v"), [(40, 15, 13), (40, 40, 31), (60, 59, 44), (300, 20, 20)])
@pytest.mark.parametrize("delta", [1e-4, 0.02])
def test_xiang_equals_its_definition(m, r, v, delta):
    """The expectation over the order statistic W, by adaptive quadrature over W itself."""
    epsilon, mu = 0.7, onerun.GaussianCurve().parameter(0.7, delta)

    def gaussian_rate(w):
        def share(s):
            return ndtr(mu / 2 - s) + ndtr(-mu / 2 - s) - (1 - w)

        s = brentq(share, 0, 40)
        return ndtr(-mu / 2 - s) / (1 - w)

    def pure_rate(w):
        return max(1 - w - delta, 0) / (1 - w) / (1 + math.exp(epsilon))

    for curve, rate in [("gaussian", gaussian_rate), ("epsilon-delta", pure_rate)]:
        if r == m:
            best = ndtr(-mu / 2) if curve == "gaussian" else (1 - delta) / (1 + math.exp(epsilon))
            expected = binom.cdf(r - v, m, best)
        else:
            law = beta(m - r, r + 1)
            low, high = law.ppf(1e-14), law.isf(1e-14)
            kink = [1 - delta] if low < 1 - delta < high else None
            expected, _ = quad(
                lambda w, rate=rate, law=law: law.pdf(w) * binom.cdf(r - v, r, rate(w)),
                low,
                high,
                points=kink,
                epsabs=1e-12,
                epsrel=1e-10,
            )
        tally = {"n_canaries": m, "n_guesses": r, "n_correct": v, "delta": delta}
        p = onerun.audit(**tally, method="xiang", curve=curve).p_value(epsilon)
        assert p == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_xiang_in_a_simulation_of_independent_gaussian_canaries():
    m, r, v, mu = 60, 20, 16, 0.8
    rng = np.random.default_rng(14)
    bits = rng.integers(0, 2, (200_000, m)) * 2 - 1
    score = bits * mu / 2 + rng.standard_normal(bits.shape)
    order = np.argsort(-np.abs(score), axis=1)[:, :r]
    right = np.take_along_axis((score > 0) == (bits > 0), order, axis=1).sum(axis=1)
    epsilon = onerun.GaussianCurve().epsilon(mu, 1e-5)
    tally = {"n_canaries": m, "n_guesses": r, "n_correct": v, "delta": 1e-5}
    p = onerun.audit(**tally, method="xiang").p_value(epsilon)
    assert np.mean(right >= v) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 200_000))


def test_results_carry_an_interval_of_the_common_vocabulary():
    result = onerun.audit(**TALLY)
    found = result.interval()
    assert tuple(found) == (result.lower, math.inf)
    assert (found.kind, found.statement, found.guarantee) == ("lower", "confidence", "guaranteed")
    assert found.error == pytest.approx(result.level) and found.method == result.method
    assert {**result.to_dict(), **found.to_dict()}.items() >= result.to_dict().items()


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"n_canaries": 0}, ValueError, "n_canaries must be >= 1, got 0"),
        ({"n_canaries": 100}, ValueError, "n_guesses must be <= n_canaries = 100, got 150"),
        ({"n_correct": 151}, ValueError, "n_correct must be <= n_guesses = 150, got 151"),
        ({"n_correct": -1}, ValueError, "n_correct must be >= 0, got -1"),
        ({"n_correct": 10.5}, ValueError, "n_correct must be whole numbers"),
        ({"n_guesses": True}, TypeError, "n_guesses must be whole numbers, got booleans"),
        ({"n_guesses": [1, 2]}, TypeError, "n_guesses must be one whole number"),
        ({"delta": 1.5}, ValueError, "delta must be in \\[0, 1\\], got 1.5"),
        ({"delta": math.nan}, ValueError, "delta must be a real number, got NaN"),
        ({"prob": 90}, ValueError, "did you mean 0.9"),
        ({"method": "Steinke"}, ValueError, "method must be one of 'all-subset'"),
        ({"method": "f-dp", "curve": "laplace"}, ValueError, "curve must be one of 'gaussian'"),
        (
            {"method": "f-dp", "curve": onerun.EpsilonDeltaCurve(0.1)},
            ValueError,
            "delta must be the curve's own 0.1",
        ),
        ({"method": "xiang", "curve": onerun.LaplaceCurve()}, ValueError, "curve must be one of"),
    ],
)
def test_refuses(change, error, match):
    with pytest.raises(error, match=match):
        onerun.audit(**{**TALLY, **change})


def test_refuses_levels_and_claims_out_of_range():
    result = onerun.audit(**TALLY)
    for level in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="level must be in \\(0, 1\\)"):
            result.epsilon_lower(level)
    with pytest.raises(ValueError, match="epsilon must be finite and >= 0"):
        result.p_value(-1.0)


def test_imports_are_light():
    heavy = ("pandas", "pymc", "arviz", "matplotlib", "xarray", "scipy.stats", "scipy.optimize")
    code = (
        f"import sys, bayesaudit.onerun; print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
