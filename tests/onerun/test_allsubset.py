"""The all-subset bound: its linear program, its limits, and its rivals."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from bayesaudit.onerun import EpsilonDeltaCurve, _fdp, audit
from bayesaudit.onerun._allsubset import all_subset
from bayesaudit.onerun._steinke import steinke


def by_name(p_value):
    def named(*, n_canaries, n_guesses, n_correct, epsilon, delta):
        return p_value(n_canaries, n_guesses, n_correct, epsilon, delta)

    return named


all_subset_p_value, steinke_p_value = by_name(all_subset), by_name(steinke)


@pytest.mark.parametrize(
    ("method", "p_value"), [("all-subset", all_subset_p_value), ("steinke", steinke_p_value)]
)
def test_an_audit_reaches_the_p_value(method, p_value):
    tally = {"n_canaries": 300, "n_guesses": 200, "n_correct": 140, "delta": 1e-4}
    result = audit(**tally, method=method)
    for epsilon in (0.0, 0.4, 2.0):
        assert result.p_value(epsilon) == p_value(**tally, epsilon=epsilon)


def linear_program(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Maximise P(T >= v) over laws of T with sum_i (i p_i - e^eps (r-i+1) p_{i-1})_+ <= m delta."""
    n = r + 1  # p_0 .. p_r, then the positive parts s_1 .. s_r
    scale = max(1.0, r * math.exp(epsilon))
    upper = np.zeros((r + 1, n + r))
    for i in range(1, r + 1):
        upper[i - 1, i] = i / scale
        upper[i - 1, i - 1] = -math.exp(epsilon) * (r - i + 1) / scale
        upper[i - 1, n + i - 1] = -1
    upper[r, n:] = 1
    right = np.zeros(r + 1)
    right[r] = m * delta / scale
    result = linprog(
        np.r_[np.zeros(v), -np.ones(n - v), np.zeros(r)],
        A_ub=upper,
        b_ub=right,
        A_eq=np.r_[np.ones(n), np.zeros(r)][None],
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0
    return -result.fun


def random_cases(count: int, seed: int) -> list[dict]:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        r = int(rng.integers(1, 26))
        m = r + int(rng.integers(0, 60))
        cases.append(
            {
                "n_canaries": m,
                "n_guesses": r,
                "n_correct": int(rng.integers(0, r + 1)),
                "epsilon": float(rng.choice([0.0, rng.uniform(0, 3)])),
                "delta": float(rng.choice([0.0, 10 ** rng.uniform(-6, -0.3)], p=[0.1, 0.9])),
            }
        )
    return cases


def test_equals_its_linear_program_in_150_random_cases():
    cases = random_cases(150, seed=20230612)
    inside = 0
    for case in cases:
        p = all_subset_p_value(**case)
        assert p == pytest.approx(linear_program(*case.values()), abs=1e-8), case
        inside += 1e-6 < p < 1 - 1e-6
    assert inside > 60


def test_never_above_the_tail_set_relaxation():
    for case in random_cases(100, seed=7):
        epsilon, delta = case.pop("epsilon"), case.pop("delta")
        relaxed = _fdp.p_value(EpsilonDeltaCurve(delta).inverse(epsilon), *case.values())
        assert all_subset_p_value(**case, epsilon=epsilon, delta=delta) <= relaxed * (1 + 1e-9)


def test_not_above_steinke_where_it_matters():
    for case in random_cases(200, seed=11):
        p, theirs = all_subset_p_value(**case), steinke_p_value(**case)
        assert p <= theirs * (1 + 1e-12) or theirs > 0.2


@pytest.mark.parametrize(
    ("m", "r", "v", "epsilon"), [(10, 10, 7, 0.3), (10**6, 10**5, 60_000, 0.4)]
)
def test_delta_0_is_the_exact_binomial_tail(m, r, v, epsilon):
    tail = binom.sf(v - 1, r, 1 / (1 + math.exp(-epsilon)))
    case = {"n_canaries": m, "n_guesses": r, "n_correct": v, "epsilon": epsilon}
    assert all_subset_p_value(**case, delta=0.0) == pytest.approx(tail, rel=1e-10)
    assert steinke_p_value(**case, delta=0.0) == pytest.approx(tail, rel=1e-10)
    assert all_subset_p_value(**case, delta=1e-40) == pytest.approx(tail, rel=1e-10)


def test_far_tail_meets_the_general_path():
    # Just inside and outside the window of the binomial the two paths must agree.
    from bayesaudit.onerun._binomial import window

    m = r = 20_000
    edge = window(r, 0.5).core_last
    ps = [
        all_subset_p_value(n_canaries=m, n_guesses=r, n_correct=v, epsilon=0.5, delta=1e-6)
        for v in range(edge - 2, edge + 4)
    ]
    ratios = np.array(ps[1:]) / ps[:-1]
    assert np.all(np.diff(ratios) < 1e-4) and np.all(np.abs(np.diff(ratios)) < 1e-4)
    assert ratios.max() < 1


def brute_force_steinke(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    q = 1 / (1 + math.exp(-epsilon))
    pmf = binom.pmf(np.arange(r + 1), r, q)
    means = [pmf[v - i : v].sum() / i for i in range(1, v + 1)]
    return min(1.0, pmf[v:].sum() + 2 * m * delta * max(means, default=0.0))


def test_steinke_equals_its_definition():
    for case in random_cases(200, seed=3):
        assert steinke_p_value(**case) == pytest.approx(
            brute_force_steinke(*case.values()), rel=1e-11, abs=1e-14
        )
    large = {"n_canaries": 40_000, "n_guesses": 30_000, "epsilon": 0.8, "delta": 1e-6}
    for v in (15_000, 20_600, 20_700, 21_000, 25_000, 30_000):
        p = steinke_p_value(**large, n_correct=v)
        expected = brute_force_steinke(40_000, 30_000, v, 0.8, 1e-6)
        assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p_value", [all_subset_p_value, steinke_p_value])
def test_p_value_rises_with_epsilon_and_delta_and_falls_with_right_guesses(p_value):
    case = {"n_canaries": 300, "n_guesses": 200}
    in_epsilon = [
        p_value(**case, n_correct=140, epsilon=e, delta=1e-4) for e in np.linspace(0, 6, 200)
    ]
    assert np.all(np.diff(in_epsilon) >= -1e-13)
    in_delta = [
        p_value(**case, n_correct=140, epsilon=0.2, delta=d) for d in np.geomspace(1e-9, 1, 80)
    ]
    assert np.all(np.diff(in_delta) >= -1e-13) and in_delta[-1] == 1.0
    in_correct = [p_value(**case, n_correct=v, epsilon=0.2, delta=1e-4) for v in range(201)]
    assert np.all(np.diff(in_correct) <= 1e-13)
    assert in_correct[0] == 1.0
