"""Challenge points that models share: the test keeps its level, and the crossed line covers."""

import numpy as np
import pytest
from scipy import stats

import bayesaudit as ba
from bayesaudit.dependence import crossed_interval, negative_icc, shared_challenges

EPSILON = ba.Epsilon(1e-5)


def crossed_trials(rng, share_model, share_challenge, design=None, rates=(0.35, 0.25)):
    """Trials of models that share their challenge points, each a member in half of the models."""
    models, points = 50, 10
    member = np.tile(np.arange(points) % 2, (models, 1)).astype(bool)
    member = (rng if design is None else np.random.default_rng(design)).permuted(member, axis=1)
    wrong = np.zeros(member.shape, bool)
    for rate, side in zip(rates, (member, ~member), strict=True):
        latent = stats.norm.ppf(rate) + np.sqrt(share_model) * rng.normal(size=(models, 1))
        latent = latent + np.sqrt(share_challenge) * rng.normal(size=(1, points))
        p = stats.norm.cdf(latent / np.sqrt(1 - share_model - share_challenge))
        wrong = np.where(side, rng.random(member.shape) < p, wrong)
    model, challenge = (index.ravel() for index in np.indices(member.shape))
    member = member.ravel()
    return {
        "guess": member ^ wrong.ravel(),
        "member": member,
        "model": model,
        "challenge": challenge,
    }


def by_model(trials):
    return ba.AttackCounts.from_guesses(
        guess=trials["guess"], member=trials["member"], model=trials["model"]
    )


def test_the_permutation_test_keeps_its_level_and_sees_challenges():
    rng = np.random.default_rng(3)
    # Effects of models alone must not be taken for effects of challenges.
    null = [
        shared_challenges(**crossed_trials(rng, 0.2, 0.0), n_permutations=199) for _ in range(150)
    ]
    p = np.array([found.fnr for found in null] + [found.fpr for found in null])
    for level in (0.05, 0.25, 0.5):
        assert np.mean(p <= level) < level + 4 * np.sqrt(level * (1 - level) / p.size)
    alarms = np.mean([found.detected for found in null])
    assert alarms < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(null))
    seen = [shared_challenges(**crossed_trials(rng, 0.0, 0.2)).detected for _ in range(20)]
    assert np.mean(seen) > 0.9


def test_the_permutation_test_against_all_permutations():
    from itertools import permutations

    guess = [1, 0, 0, 1, 1, 0, 1, 1]
    trials = {"member": [1] * 6 + [0] * 2, "model": [0, 0, 0, 1, 1, 1, 0, 1], "guess": guess}
    found = shared_challenges(**trials, challenge=[0, 1, 2, 0, 1, 2, 0, 0], n_permutations=9999)
    errors = 1 - np.array(guess[:6]).reshape(2, 3)
    all_of = [np.array(list(permutations(row))) for row in errors - errors.mean(axis=1)[:, None]]
    totals = (all_of[0][:, None] + all_of[1][None]) ** 2
    seen = np.sum((errors - errors.mean(axis=1)[:, None]).sum(axis=0) ** 2)
    right = np.mean(totals.sum(axis=-1) >= seen - 1e-9)
    assert abs(found.fnr - right) < 4 * np.sqrt(right * (1 - right) / 9999) + 1e-4
    assert np.isnan(found.fpr) and found.n_challenges == 3


def test_points_of_one_model_each_are_not_shared():
    found = shared_challenges(
        guess=[1, 0, 1, 0], member=[1, 1, 0, 0], model=[0, 0, 1, 1], challenge=[0, 1, 2, 3]
    )
    assert (found.n_challenges, found.detected, found.message) == (0, False, "")
    assert np.isnan(found.pvalue) and found.to_dict()["pvalue"] is None
    with pytest.raises(ValueError, match="challenge and member must have one length"):
        shared_challenges(guess=[1, 0], member=[1, 0], model=[0, 1], challenge=[1])


def test_a_negative_correlation_is_the_sign_in_counts():
    rng = np.random.default_rng(5)
    # Nine of twenty points always err, two do by chance.
    fn = 9 + rng.binomial(2, 0.5, 30)
    counts = ba.AttackCounts(fn=fn, tp=20 - fn, fp=[5] * 30, tn=[15] * 30)
    assert "share the same challenge points" in negative_icc(counts)
    independent = [
        negative_icc(by_model(crossed_trials(rng, share, 0.0)))
        for share in (0.0, 0.1)
        for _ in range(150)
    ]
    alarms = np.mean([bool(text) for text in independent])
    assert alarms <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / len(independent))
    assert negative_icc(ba.AttackCounts(fn=[1], tp=[9], fp=[1], tn=[9])) == ""


def test_the_crossed_line_covers_where_the_line_by_model_does_not():
    rng = np.random.default_rng(11)
    truth, replicates = float(EPSILON.of(0.35, 0.25)), 40
    inside, by_models = [], []
    for _ in range(replicates):
        trials = crossed_trials(rng, 0.05, 0.2)
        lower, upper = crossed_interval(EPSILON, 0.90, **trials)
        inside.append(lower <= truth <= upper)
        lower, upper = ba.posterior(by_model(trials), EPSILON, dependence="beta-binomial").interval(
            0.90
        )
        by_models.append(lower <= truth <= upper)
    error = np.sqrt(0.1 * 0.9 / replicates)
    print(f"crossed {np.mean(inside):.3f}, by model {np.mean(by_models):.3f}, SE {error:.3f}")
    assert np.mean(inside) >= 0.85
    assert np.mean(by_models) < 0.9 - error


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.0, 0.1), (0.05, 0.2), (0.0, 0.3), (0.15, 0.15)])
def test_coverage_of_the_crossed_line(shares):
    rng = np.random.default_rng(12)
    truth, replicates = float(EPSILON.of(0.35, 0.25)), 300
    ends = [
        tuple(crossed_interval(EPSILON, 0.90, **crossed_trials(rng, *shares)))
        for _ in range(replicates)
    ]
    lower, upper = np.transpose(ends)
    cover = np.mean((lower <= truth) & (truth <= upper))
    error = np.sqrt(cover * (1 - cover) / replicates)
    print(f"{shares}: {cover:.3f} ± {error:.3f}, lower end above {np.mean(lower > truth):.3f}")
    assert cover + 2 * error >= 0.9


@pytest.mark.slow
def test_coverage_of_the_crossed_model_by_sampling():
    trials = crossed_trials(np.random.default_rng(13), 0.0, 0.2, design=1)
    compiled = ba.compile_model(ba.models.crossed(**trials))
    truth, inside, member = float(EPSILON.of(0.35, 0.25)), [], trials["member"]
    for seed in range(60):
        again = crossed_trials(np.random.default_rng([14, seed]), 0.0, 0.2, design=1)
        wrong = (again["guess"] != member).astype(int)
        data = {"fn_counted": wrong[member], "fp_counted": wrong[~member]}
        dt = compiled.refit(data, draws=500, tune=500, chains=2, random_seed=seed)
        lower, upper = ba.posterior(dt, EPSILON).interval(0.90)
        inside.append(lower <= truth <= upper)
    error = np.sqrt(0.1 * 0.9 / len(inside))
    print(f"coverage by sampling {np.mean(inside):.3f} ± {error:.3f}")
    assert np.mean(inside) >= 0.85 - error
