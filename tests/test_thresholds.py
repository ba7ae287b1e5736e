"""Threshold strategies: what each promises, and what it does at the limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from simulated_scores import DELTA, randomised_response, true_epsilon

import bayesaudit as ba
from bayesaudit.thresholds import STRATEGIES, crossing_probability, local_level
from bayesaudit.thresholds._calibration import band_ranks
from bayesaudit.thresholds._split import selection_mask

EPSILON = ba.Epsilon(DELTA)
BOUNDS = [name for name in STRATEGIES if name != "optimistic"]


def bound(scores, strategy, **more):
    if strategy == "fixed":
        more["threshold"] = 0.5
    return ba.threshold_bound(scores, more.pop("measure", EPSILON), strategy=strategy, **more)


# -- the band ------------------------------------------------------------------------------------


def by_binomial_steps(n, ranks, bounds):
    """P(crossing) with the count of points as a Markov chain of binomial steps."""
    law, before = np.eye(1, n + 1)[0], 0.0
    for rank, limit in zip(ranks, bounds, strict=True):
        step = np.zeros((n + 1, n + 1))
        for count in np.flatnonzero(law):
            left = np.arange(n + 1 - count)
            step[count, count:] = stats.binom.pmf(left, n - count, (limit - before) / (1 - before))
        law, before = law @ step, limit
        law[: rank + 1] = 0
    return 1 - law.sum()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_crossing_probability_equals_a_chain_of_binomial_steps(n):
    ranks = np.arange(n)
    bounds = special.betainccinv(ranks + 1.0, n - ranks, 0.01)
    assert crossing_probability(n, ranks, bounds) == pytest.approx(
        by_binomial_steps(n, ranks, bounds), rel=1e-9
    )


def test_crossing_probability_of_a_thinned_grid():
    n = 1200
    ranks = band_ranks(n)
    assert ranks.size < n
    bounds = special.betainccinv(ranks + 1.0, n - ranks, 0.002)
    rng = np.random.default_rng(5)
    ordered = np.sort(rng.random((4000, n)), axis=1)[:, ranks]
    crossed = np.mean((ordered > bounds).any(axis=1))
    exact = crossing_probability(n, ranks, bounds)
    assert abs(crossed - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)


@pytest.mark.parametrize("n", [1, 3, 100, 999, 20_000])
@pytest.mark.parametrize("significance", [0.025, 0.0005])
def test_the_local_level_spends_the_whole_error_and_no_more(n, significance):
    level = local_level(n, significance)
    ranks = band_ranks(n)
    bounds = special.betainccinv(ranks + 1.0, n - ranks, level)
    crossing = crossing_probability(n, ranks, bounds)
    assert 0.9999 * significance < crossing <= significance * (1 + 1e-9)


def test_the_local_level_beats_bonferroni_and_falls_with_n():
    levels = [local_level(n, 0.025) for n in (10, 100, 1000)]
    assert levels == sorted(levels, reverse=True)
    assert all(level > 0.025 / n for level, n in zip(levels, (10, 100, 1000), strict=True))
    # Notes: 0.0012 and 0.0006 by 20,000 simulated samples, to some 10 %.
    assert levels[1:] == pytest.approx([0.00109, 0.00053], rel=0.01)


def test_the_band_is_clopper_pearson_at_the_local_level():
    scores = randomised_response(np.random.default_rng(2), 400, 1)
    band = ba.confidence_band(scores, 0.9)
    level = local_level(200, 0.025)
    assert band.local_levels == pytest.approx((level, level), rel=1e-12)
    curve = band.roc
    for index in (0, 17, 200, 399):
        errors = 200 - curve.tp[index]
        upper = 1.0 if errors == 200 else stats.beta.isf(level, errors + 1, 200 - errors)
        assert band.fnr_upper[index] == pytest.approx(upper, rel=1e-12)
    lower, index = band.best(EPSILON)
    assert lower == band.lower(EPSILON).max()
    assert band.lower(EPSILON)[index] == lower
    assert band.counts(index) == scores.counts(curve.threshold[index])


def test_one_band_serves_every_delta_and_measure():
    scores = randomised_response(np.random.default_rng(4), 400, 3)
    band = ba.confidence_band(scores)
    lowers = [band.best(ba.Epsilon(delta))[0] for delta in (0, 1e-5, 0.1)]
    assert lowers == sorted(lowers, reverse=True)
    assert lowers[1] == bound(scores, "band").lower
    assert 0 < bound(scores, "band", measure=ba.GaussianMu()).lower < 2 * special.ndtri(0.9527)


# -- what a strategy does ------------------------------------------------------------------------


def test_fixed_is_the_bound_of_its_counts():
    scores = randomised_response(np.random.default_rng(1), 200, 3)
    counts = scores.counts(0.5)
    member = ba.Epsilon(DELTA, "member")
    found = bound(scores, "fixed")
    assert found.lower == ba.confidence_interval(counts, member, 0.9).lower
    assert (found.counts, found.threshold, found.guarantee) == (counts, 0.5, "guaranteed")
    found = bound(scores, "fixed", method="exact-unconditional")
    exact = ba.confidence_interval(counts, member, 0.9, method="exact-unconditional")
    assert (found.lower, found.guarantee) == (exact.lower, "guaranteed")
    assert found.statement == "confidence"
    found = bound(scores, "fixed", method="two-direction")
    assert found.lower == ba.two_direction_bound(counts, DELTA, 0.9).lower
    assert (found.statement, found.guarantee) == ("credible", "near nominal")


def test_split_bounds_on_the_rows_that_did_not_choose():
    scores = randomised_response(np.random.default_rng(1), 200, 3)
    found = bound(scores, "split", random_seed=3)
    assert found.method == "two-direction"
    assert (int(found.counts.n_pos), int(found.counts.n_neg), found.n_selection) == (70, 70, 60)
    assert found.lower == ba.two_direction_bound(found.counts, DELTA, 0.9).lower
    again, other = (bound(scores, "split", random_seed=seed) for seed in (3, 4))
    assert again.to_dict() == found.to_dict()
    assert other.threshold != found.threshold


def test_the_bounding_part_has_no_say_in_the_threshold():
    scores = randomised_response(np.random.default_rng(1), 200, 3)
    seed = np.random.default_rng(np.random.SeedSequence(0).spawn(1)[0])
    chosen = selection_mask(scores, 0.3, seed)
    # Any scores in the other part leave the threshold where it was.
    changed = ba.AttackScores(
        score=np.where(chosen, scores.score, 7.0 - scores.score), member=scores.member
    )
    assert bound(changed, "split").threshold == bound(scores, "split").threshold


def test_split_keeps_models_on_one_side():
    rng = np.random.default_rng(1)
    model = np.repeat(np.arange(10), 20)
    scores = ba.AttackScores(score=rng.normal(size=200), member=np.arange(200) % 2, model=model)
    chosen = selection_mask(scores, 0.3, np.random.default_rng(0))
    per_model = chosen.reshape(10, 20)
    assert np.all(per_model.all(axis=1) | ~per_model.any(axis=1))
    assert per_model.all(axis=1).sum() == 3
    assert "dependent" in bound(scores, "split").warnings[0]
    # One row a model: models are drawn apart for members and non-members.
    single = ba.AttackScores(
        score=rng.normal(size=20), member=[1] * 4 + [0] * 16, model=np.arange(20)
    )
    chosen = selection_mask(single, 0.3, np.random.default_rng(0))
    assert (chosen[:4].sum(), chosen[4:].sum()) == (1, 4)
    few = ba.AttackScores(score=rng.normal(size=6), member=[1, 0] * 3, model=[0, 0, 1, 1, 2, 2])
    assert selection_mask(few, 0.3, np.random.default_rng(0)).sum() == 2
    # One model: rows.
    one = ba.AttackScores(score=rng.normal(size=20), member=[1, 0] * 10, model=[0] * 20)
    assert selection_mask(one, 0.3, np.random.default_rng(0)).sum() == 6


def test_dependent_rows_take_rates_of_their_own():
    rng = np.random.default_rng(1)
    scores = randomised_response(rng, 400, 3)
    scores = ba.AttackScores(
        score=scores.score, member=scores.member, model=rng.permutation(np.arange(400) % 20)
    )

    def pooled(counts, share=1.0):
        total = counts.pooled()
        fn, tp, fp, tn = (share * getattr(total, name) + 0.5 for name in ("fn", "tp", "fp", "tn"))
        return ba.IndependentRates(ba.BetaRate(fn, tp), ba.BetaRate(fp, tn))

    for strategy in ("fixed", "split"):
        plain = bound(scores, strategy, method="two-direction")
        same = bound(scores, strategy, method="two-direction", rates=pooled)
        assert same.lower == pytest.approx(plain.lower, abs=1e-12)
        assert plain.warnings and not same.warnings
        half = bound(scores, strategy, method="two-direction", rates=lambda c: pooled(c, 0.5))
        assert half.lower < plain.lower
    with pytest.raises(ValueError, match="strategies fixed and split"):
        bound(scores, "bonferroni", method="two-direction", rates=pooled)
    with pytest.raises(ValueError, match="needs scores with a model"):
        bound(randomised_response(rng, 40, 1), "split", rates=pooled)


def test_multi_split_is_the_median_at_the_corrected_level():
    scores = randomised_response(np.random.default_rng(1), 400, 3)
    found = bound(scores, "multi-split", n_splits=3, random_seed=9)
    # Of three bounds that each err by a, two err at once with probability <= 3a/2.
    prob = 1 - 2 * 0.05 * 2 / 3
    lowers = []
    for seed in np.random.SeedSequence(9).spawn(3):
        chosen = selection_mask(scores, 0.3, np.random.default_rng(seed))
        threshold = None
        for candidate in np.unique(scores[chosen].score):
            counts = scores[chosen].counts(candidate)
            lower = ba.confidence_interval(counts, ba.Epsilon(DELTA, "member"), 0.9).lower
            if threshold is None or lower > threshold[0]:
                threshold = (lower, candidate)
        below = scores[chosen].score[scores[chosen].score < threshold[1]].max()
        counts = scores[~chosen].counts((below + threshold[1]) / 2)
        lowers.append(ba.confidence_interval(counts, ba.Epsilon(DELTA, "member"), prob).lower)
    assert found.lower == pytest.approx(sorted(lowers)[1], rel=1e-12)
    assert found.threshold is None
    assert found.counts is None
    single = bound(scores, "multi-split", n_splits=1, random_seed=9)
    split = bound(scores, "split", random_seed=9, method="clopper-pearson")
    assert single.lower == split.lower


def test_bonferroni_is_the_best_of_a_label_blind_grid():
    scores = randomised_response(np.random.default_rng(1), 400, 3)
    found = bound(scores, "bonferroni", grid=4)
    member = ba.Epsilon(DELTA, "member")
    grid = np.quantile(scores.score, [0.2, 0.4, 0.6, 0.8], method="higher")
    lowers = [
        ba.confidence_interval(scores.counts(point), member, 1 - 0.1 / 4).lower for point in grid
    ]
    assert found.lower == max(lowers)
    assert found.threshold == grid[np.argmax(lowers)]
    assert found.guarantee == "asymptotic"
    declared = bound(scores, "bonferroni", grid=[0.5])
    assert declared.lower == bound(scores, "fixed").lower
    assert declared.guarantee == "guaranteed"


def test_optimistic_says_that_it_is_no_bound():
    scores = randomised_response(np.random.default_rng(1), 200, 3)
    found = bound(scores, "optimistic")
    assert not found.is_bound
    assert found.guarantee == "not a bound"
    assert "not a bound" in found.warnings[0]
    curve = scores.roc()
    best = ba.confidence_interval(curve.counts, ba.Epsilon(DELTA, "member"), 0.9).lower.max()
    assert found.lower == best
    assert all(bound(scores, name).is_bound for name in BOUNDS)


def test_results_are_plain_and_echo_the_question():
    scores = ba.AttackScores(score=[np.inf, np.inf, 0, 0], member=[1, 1, 0, 0])
    for name in STRATEGIES:
        found = bound(scores, name).to_dict()
        assert (found["strategy"], found["prob"], found["delta"]) == (name, 0.9, DELTA)
        assert found["threshold"] is None or np.isfinite(found["threshold"])
    interval = bound(scores, "band").interval()
    assert (interval.kind, interval.statement, interval.error) == (
        "lower",
        "confidence",
        pytest.approx(0.05),
    )


# -- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STRATEGIES)
def test_limits(name):
    single = ba.AttackScores(score=[1.0, 0.0], member=[1, 0])
    found = bound(single, name)
    assert found.lower == 0
    if "split" in name:
        assert "too few rows" in found.warnings[0]
    tied = ba.AttackScores(score=np.full(100, 2.0), member=np.arange(100) % 2)
    found = bound(tied, name)
    assert found.lower == 0
    assert any("no information" in note for note in found.warnings)
    perfect = ba.AttackScores(score=np.repeat([0.9, 0.1], 500), member=np.repeat([1, 0], 500))
    assert bound(perfect, name).lower > 4
    inverted = ba.AttackScores(score=np.repeat([0.1, 0.9], 500), member=np.repeat([1, 0], 500))
    assert bound(inverted, name).lower == 0


ROWS = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=4, max_size=60).filter(
    lambda rows: 0 < sum(member for _, member in rows) < len(rows)
)


@settings(deadline=None, max_examples=40)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_scale_of_scores_do_not_matter(rows, shuffle):
    score, member = map(np.array, zip(*rows, strict=True))
    scores = ba.AttackScores(score=score, member=member)
    order = shuffle.sample(range(len(rows)), len(rows))
    other = ba.AttackScores(score=np.exp(score[order] / 2.0), member=member[order])
    for name in ("band", "bonferroni", "optimistic"):
        assert bound(scores, name).lower == bound(other, name).lower


@settings(deadline=None, max_examples=40)
@given(ROWS, st.sampled_from([0.5, 0.9, 0.99]))
def test_no_bound_from_the_same_rows_exceeds_the_optimistic_one(rows, prob):
    score, member = zip(*rows, strict=True)
    scores = ba.AttackScores(score=score, member=member)
    best = bound(scores, "optimistic", prob=prob).lower
    for name in ("band", "bonferroni", "fixed"):
        assert bound(scores, name, prob=prob).lower <= best


@settings(deadline=None, max_examples=40)
@given(ROWS)
def test_swapping_the_classes_and_the_sign_swaps_the_rates(rows):
    score, member = map(np.array, zip(*rows, strict=True))
    straight = ba.AttackScores(score=score, member=member)
    swapped = ba.AttackScores(score=-score, member=~member)
    for name in ("band", "optimistic"):
        assert bound(straight, name).lower == pytest.approx(bound(swapped, name).lower, abs=1e-12)


def test_bad_questions_are_refused():
    scores = ba.AttackScores(score=[1.0, 0.0], member=[1, 0])
    for change, message in (
        ({"strategy": "best"}, "strategy must be one of 'fixed', 'band'"),
        ({"strategy": "fixed"}, "'fixed' needs a threshold"),
        ({"threshold": 0.5}, "'band' takes no threshold"),
        ({"method": "two-direction"}, "Clopper–Pearson only"),
        ({"method": "wilson"}, "method must be one of"),
        ({"strategy": "split", "selection": 1.0}, r"selection must be in \(0, 1\)"),
        ({"strategy": "multi-split", "n_splits": 10}, "n_splits must be odd"),
        ({"strategy": "split", "random_seed": -1}, "random_seed must be >= 0"),
        ({"strategy": "bonferroni", "grid": 0}, "grid must be >= 1"),
        ({"strategy": "bonferroni", "grid": []}, "grid must hold numbers"),
        ({"prob": 90}, "did you mean 0.9"),
    ):
        with pytest.raises(ValueError, match=message):
            ba.threshold_bound(scores, EPSILON, **change)
    with pytest.raises(ValueError, match="needs an Epsilon"):
        ba.threshold_bound(scores, ba.GaussianMu(), strategy="split", method="two-direction")
    with pytest.raises(TypeError, match="must be AttackScores"):
        ba.threshold_bound([1, 2], EPSILON)
    with pytest.raises(TypeError, match="must be a Measure"):
        ba.threshold_bound(scores, 1e-5)


# -- simulations: how often a bound exceeds the truth ----------------------------------------------


def error_rates(epsilon, n, repeats, choices, seed=11):
    """Share of audits whose bound exceeds the truth, for (strategy, method) pairs."""
    truth = true_epsilon(epsilon)
    errors = dict.fromkeys(choices, 0)
    for child in np.random.SeedSequence((seed, n)).spawn(repeats):
        rng = np.random.default_rng(child)
        scores = randomised_response(rng, n, epsilon)
        split_seed = int(rng.integers(2**31))
        for strategy, method in choices:
            found = bound(scores, strategy, method=method, random_seed=split_seed)
            errors[strategy, method] += found.lower > truth
    return {choice: count / repeats for choice, count in errors.items()}


GUARANTEED = [
    ("band", "clopper-pearson"),
    ("split", "clopper-pearson"),
    ("multi-split", "clopper-pearson"),
    ("bonferroni", "clopper-pearson"),
]
TWO_DIRECTION = ("split", "two-direction")
OPTIMISTIC = [("optimistic", "clopper-pearson"), ("optimistic", "two-direction")]


@pytest.mark.parametrize("epsilon", [0, 3])
def test_bounds_hold_in_a_few_audits(epsilon):
    repeats = 60
    rates = error_rates(epsilon, 200, repeats, [*GUARANTEED, TWO_DIRECTION])
    for choice, rate in rates.items():
        level = 0.07 if choice == TWO_DIRECTION else 0.05
        assert rate <= level + 3 * np.sqrt(level * (1 - level) / repeats), choice


def test_optimistic_errs_far_more_often():
    rates = error_rates(3, 2000, 100, [("optimistic", "two-direction")])
    assert rates["optimistic", "two-direction"] > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("epsilon", [0, 1, 3])
def test_bounds_hold(epsilon, n):
    repeats = 2000
    rates = error_rates(epsilon, n, repeats, [*GUARANTEED, TWO_DIRECTION, *OPTIMISTIC])
    print(epsilon, n, rates)
    for choice in GUARANTEED:
        assert rates[choice] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats), choice
    assert rates[TWO_DIRECTION] <= 0.07
    # Far beyond what any bound is allowed, and than the same bound errs with a fair threshold.
    assert rates["optimistic", "two-direction"] > max(0.15, 3 * rates[TWO_DIRECTION])


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("epsilon", [0, 1, 3])
def test_gaussian_mu_of_the_band_holds(epsilon, n):
    repeats, errors = 2000, 0
    truth = -2 * special.ndtri(1 / (1 + np.exp(epsilon)))
    for child in np.random.SeedSequence((12, n)).spawn(repeats):
        scores = randomised_response(np.random.default_rng(child), n, epsilon)
        errors += bound(scores, "band", measure=ba.GaussianMu()).lower > truth
    assert errors / repeats <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
