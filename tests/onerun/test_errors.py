"""How often the bounds exceed the truth: exact laws of the number of right guesses.

Each mechanism below is simple enough for its law of T to be written down, so that the error is a
sum and not a simulation.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import bayesaudit as ba
from bayesaudit import onerun

LEVEL = 0.05
ANY_DEPENDENCE = [("all-subset", "gaussian"), ("steinke", "gaussian"), ("f-dp", "epsilon-delta")]


def bound(m: int, r: int, v: int, delta: float, method: str, curve: str = "gaussian") -> float:
    return onerun.audit(
        n_canaries=m, n_guesses=r, n_correct=v, delta=delta, method=method, curve=curve, prob=0.9
    ).lower


def smallest_exceeding(m, r, delta, method, curve, epsilon) -> int:
    """Return the least v whose bound is above the true epsilon (r + 1 if there is none)."""
    low, high = -1, r + 1
    while high - low > 1:
        v = (low + high) // 2
        if bound(m, r, v, delta, method, curve) > epsilon + 1e-9:
            high = v
        else:
            low = v
    return high


def randomised_response(m: int, r: int, epsilon: float, delta: float) -> np.ndarray:
    """P(T >= v): each bit revealed with probability delta (and guessed first), else flipped."""
    q = 1 / (1 + math.exp(-epsilon))
    revealed = np.arange(m + 1)
    weight = binom.pmf(revealed, m, delta)
    tail = np.zeros(r + 2)
    v = np.arange(r + 2)
    for d in np.flatnonzero(weight > 1e-18):
        known = min(int(d), r)
        tail += weight[d] * binom.sf(v - known - 1, r - known, q)
    return tail


CELLS = [
    (m, r, epsilon, delta)
    for (m, r) in [(100, 100), (100, 30), (1000, 1000), (1000, 150)]
    for epsilon, delta in product([0.0, 0.5, 1.0, 2.0, 4.0], [0.0, 1e-5, 1e-3, 1e-2])
]


@pytest.mark.parametrize(
    ("method", "curve"), [*ANY_DEPENDENCE, ("xiang", "epsilon-delta")], ids=lambda x: x
)
def test_exact_error_under_randomised_response(method, curve):
    errors = []
    for m, r, epsilon, delta in CELLS:
        v = smallest_exceeding(m, r, delta, method, curve, epsilon)
        errors.append(randomised_response(m, r, epsilon, delta)[v])
    assert max(errors) <= LEVEL
    # Not by being idle: randomised response is the worst case of pure DP, so errors come close.
    assert max(errors) > 0.04


def shared_event(share: float, r: int, q_event: float) -> np.ndarray:
    """P(T >= v): with probability `share` every guess is right w.p. `q_event`, else a coin."""
    v = np.arange(r + 2)
    return share * binom.sf(v - 1, r, q_event) + (1 - share) * binom.sf(v - 1, r, 0.5)


def test_counterexample_1_a_rare_event_reveals_bits():
    # With probability .06 reveal m delta/.06 = 166 random bits, else nothing: (0, delta)-DP.
    m, delta, r, share = 10**6, 1e-5, 100, 0.06
    assert m * delta / share >= r
    tail = shared_event(share, r, 1.0)
    assert bound(m, r, r, delta, "xiang", "epsilon-delta") == pytest.approx(3.384, abs=5e-4)
    v = smallest_exceeding(m, r, delta, "xiang", "epsilon-delta", 0.0)
    assert tail[v] == pytest.approx(0.063, abs=5e-4)
    assert tail[v] > LEVEL
    for method, curve in ANY_DEPENDENCE:
        assert bound(m, r, r, delta, method, curve) == 0.0


@pytest.mark.parametrize("m", [200, 1000, 5000])
def test_counterexample_2_a_rare_event_answers_every_bit(m):
    # With probability .06 randomised response at log 3 on every bit, else nothing. Each canary's
    # own curve has corners (.015, .045) and their mirror images: mu = .4747.
    share, delta = 0.06, 1e-5
    mu = ndtri(0.75 * share) - ndtri(0.25 * share)
    assert mu == pytest.approx(0.4747, abs=1e-4)
    epsilon = onerun.GaussianCurve().epsilon(mu, delta)
    tail = shared_event(share, m, 0.75)
    xiang = tail[smallest_exceeding(m, m, delta, "xiang", "gaussian", epsilon)]
    assert xiang == pytest.approx(0.06, abs=5e-4)
    assert tail[smallest_exceeding(m, m, delta, "f-dp", "gaussian", epsilon)] < 0.025


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("odds", [3, 9])
def test_counterexample_2_errs_as_often_as_the_event(share, odds):
    m, delta, q = 1000, 1e-5, odds / (1 + odds)
    mu = ndtri(q * share) - ndtri((1 - q) * share)
    epsilon = onerun.GaussianCurve().epsilon(mu, delta)
    tail = shared_event(share, m, q)
    xiang = tail[smallest_exceeding(m, m, delta, "xiang", "gaussian", epsilon)]
    assert xiang == pytest.approx(share, abs=5e-3)
    assert tail[smallest_exceeding(m, m, delta, "f-dp", "gaussian", epsilon)] <= 0.025
    for method, curve in ANY_DEPENDENCE:
        v = smallest_exceeding(m, m, 0.0, method, curve, math.log(odds))
        assert tail[v] <= 0.036  # (log odds, 0)-DP


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("m", [50, 1000])
def test_exact_error_under_independent_gaussian_canaries(m, mu):
    # All are guessed, so that T ~ Bin(m, Phi(mu/2)): both Gaussian bounds hold, and the one that
    # knows the canaries to be independent is the exact binomial test.
    tail = binom.sf(np.arange(m + 2) - 1, m, ndtr(mu / 2))
    epsilon = onerun.GaussianCurve().epsilon(mu, 1e-5)
    error = {
        method: tail[smallest_exceeding(m, m, 1e-5, method, "gaussian", epsilon)]
        for method in ("f-dp", "xiang")
    }
    assert error["f-dp"] <= error["xiang"] <= LEVEL
    assert error["xiang"] > 0.02


@pytest.mark.parametrize(("method", "curve"), ANY_DEPENDENCE, ids=lambda x: x)
def test_no_bound_beats_the_revealed_bits(method, curve):
    # (0, delta)-DP mechanisms that reveal m delta / share bits with probability `share`.
    for m, r, delta, share in product([1000, 10_000], [20, 100], [1e-4, 1e-3], [0.06, 0.1, 0.3]):
        revealed = min(int(m * delta / share), r)
        v = np.arange(r + 2)
        tail = share * binom.sf(v - revealed - 1, r - revealed, 0.5)
        tail += (1 - share) * binom.sf(v - 1, r, 0.5)
        assert tail[smallest_exceeding(m, r, delta, method, curve, 0.0)] <= LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_simulated_error_from_scores(n, epsilon):
    """Null and randomised-response scores, a declared grid and a declared budget: at most 5 %."""
    repeats, delta = 2000, 1e-5
    q = 1 / (1 + math.exp(-epsilon))
    grids = {"one": n // 4, "grid": [n // 16, n // 8, n // 4, (n // 4, 0), n]}
    methods = [*ANY_DEPENDENCE, ("xiang", "epsilon-delta")]
    seen: dict[tuple, float] = {}
    errors = {(name, method): 0 for name in grids for method, _ in methods}
    for seed in np.random.SeedSequence(61).spawn(repeats):
        rng = np.random.default_rng(seed)
        member = rng.random(n) < 0.5
        answer = np.where(rng.random(n) < q, member, ~member)
        score = np.where(answer, 1, -1) * rng.random(n)
        for name, guesses in grids.items():
            rules = guesses if isinstance(guesses, list) else [guesses]
            tally = tuple(onerun.count_guesses(score, member, rule) for rule in rules)
            for method, curve in methods:
                key = (tally, method)
                if key not in seen:
                    seen[key] = onerun.audit_scores(
                        score, member, guesses=guesses, delta=delta, method=method, curve=curve
                    ).lower
                errors[name, method] += seen[key] > epsilon
    allowed = LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)
    assert max(errors.values()) / repeats <= allowed, errors


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("mu", [0.0, 1.0, 3.0])
def test_simulated_error_of_gdp_from_counts(n, mu):
    """Gaussian scores at a fixed threshold: mu is covered."""
    repeats, rng = 4000, np.random.default_rng(62)
    fn = rng.binomial(n, ndtr(-mu / 2), size=repeats)
    fp = rng.binomial(n, ndtr(-mu / 2), size=repeats)
    counts = ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)
    lower = ba.confidence_interval(counts, ba.GaussianMu("member"), 1 - 2 * LEVEL).lower
    errors = np.sum(lower > mu)
    assert errors / repeats <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)


@pytest.mark.slow
def test_a_budget_chosen_by_its_result_errs_more():
    """The same grid without the correction is not a bound: 15 % at a nominal 5 %."""
    n, repeats, seen, errors = 1000, 2000, {}, 0
    rng = np.random.default_rng(63)
    grid = [n // 64, n // 32, n // 16, n // 8, n // 4, n // 2, n]
    for _ in range(repeats):
        member, score = rng.random(n) < 0.5, rng.standard_normal(n)
        for rule in grid:
            tally = onerun.count_guesses(score, member, rule)
            if tally not in seen:
                seen[tally] = bound(n, *tally, 0.0, "all-subset")
        errors += max(seen[onerun.count_guesses(score, member, rule)] for rule in grid) > 0
    assert errors / repeats > 0.10
