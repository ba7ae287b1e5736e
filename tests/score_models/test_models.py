"""The PyMC models of scores: what they promise, and NUTS against exact posteriors."""

import numpy as np
import pytest
from score_models.simulated import simulated

import bayesaudit as ba
from bayesaudit.models import score_containers
from bayesaudit.posteriors._error import quantile_error
from bayesaudit.score_laws import ScoreDraws

BUILDERS = {name: getattr(ba.models, name) for name in ("location", "binormal", "student")}


@pytest.fixture(scope="module")
def location_compiled():
    return ba.sampling.compile_model(ba.models.location(simulated()))


def same_quantiles(draws, exact, probs=(0.05, 0.5, 0.95)):
    for q in probs:
        error = np.hypot(quantile_error(draws, q), quantile_error(exact, q))
        assert abs(np.quantile(draws, q) - np.quantile(exact, q)) < 4.5 * error, q


def test_nuts_equals_the_conjugate_posterior(location_compiled):
    dt = location_compiled.refit(draws=2000, random_seed=1)
    exact = ba.sampling.conjugate_scores(simulated(), "location", draws=20_000, random_seed=2)
    for name in ("mu", "scale", "location", "fnr", "fpr"):
        for index in [()] if name == "mu" else [0, -1]:
            one, other = (
                tree["posterior"][name].values[(..., index) if index != () else ...]
                for tree in (dt, exact)
            )
            same_quantiles(one, other)
    assert int(dt["sample_stats"]["diverging"].sum()) == 0


def test_a_refit_to_other_scores_keeps_the_thresholds(location_compiled):
    other = simulated(seed=7, mu=1.5)
    model = location_compiled.model
    dt = location_compiled.refit(score_containers(model, other), draws=2000, random_seed=1)
    mean = dt["posterior"]["mu"].mean().item()
    exact = ba.sampling.conjugate_scores(other, "location", draws=20_000, random_seed=2)
    assert abs(mean - exact["posterior"]["mu"].mean().item()) < 0.01
    share = np.mean(other.score[~other.member][:, None] >= dt["posterior"]["threshold"].values, 0)
    fpr = dt["posterior"]["fpr"].mean(("chain", "draw")).values
    assert np.abs(fpr - share).max() < 4 * np.sqrt(0.25 / 1000)


def test_shifts_of_models_are_integrated_out_exactly():
    """The statistics' density equals that of the rows, given shifts and averaged over them."""
    scores = simulated(n=12, models=3, seed=5)
    model = ba.models.binormal(scores, support=1)
    logp = model.compile_logp(vars=model.observed_RVs)
    points = []
    for sd in (0.3, 0.9):
        point = model.initial_point() | {"sd_model_log__": np.log(sd)}
        points.append(float(logp(point)))
    center, unit = (float(model[f"latent_{name}"].get_value()) for name in ("center", "scale"))
    latent = (scores.score - center) / unit
    found = []
    point = model.initial_point()
    variance = np.exp(point["variance_log__"])
    total, difference = point["sum_z"], point["difference_z"]
    mean = np.sqrt(variance) * np.array([total - difference, total + difference]) / np.sqrt(2)
    node = np.linspace(-9, 9, 6001)
    weight = np.exp(-(node**2) / 2)
    for sd in (0.3, 0.9):
        value = 0.0
        for label in range(3):
            rows = scores.model == label
            side = scores.member[rows].astype(int)
            gap = latent[rows] - mean[side] - sd * node[:, None]
            log_p = -(gap**2) / (2 * variance[side]) - 0.5 * np.log(2 * np.pi * variance[side])
            each = log_p.sum(1)
            top = each.max()
            value += top + np.log(np.exp(each - top) @ weight / weight.sum())
        found.append(value)
    # They differ by what the statistics leave out, which no parameter touches.
    assert points[1] - points[0] == pytest.approx(found[1] - found[0], abs=1e-8)


def test_a_model_with_shifts_gives_population_rates(shifted):
    _, dt = shifted
    posterior = dt["posterior"].dataset
    assert {"sd_model", "mu", "fnr", "fpr"} <= set(posterior.data_vars)
    total = np.sqrt(posterior["scale"].sel(side="member") ** 2 + posterior["sd_model"] ** 2)
    gap = posterior["location"].sel(side="member") - posterior["location"].sel(side="non_member")
    np.testing.assert_allclose(posterior["mu"].values, (gap / total).values, rtol=1e-6)
    lower, upper = np.quantile(posterior["mu"], [0.005, 0.995])
    assert lower < 1 / np.sqrt(1.25) < upper


def test_leaving_the_shift_out_is_too_sure(shifted):
    scores, dt = shifted
    without = ba.sampling.conjugate_scores(scores, "location", random_seed=1)
    at = dt["posterior"].sizes["threshold"] // 2
    with_shift, without = (tree["posterior"]["fpr"][..., at].std().item() for tree in (dt, without))
    assert with_shift > 2 * without


def test_student_rates_equal_the_pure_ones(heavy_tailed):
    _, dt = heavy_tailed
    posterior = dt["posterior"].dataset
    nu = posterior["nu"].mean(("chain", "draw")).values
    assert np.all(nu < 10)
    assert np.all(np.diff(posterior["fnr"].values, axis=-1) >= 0)
    draws = ScoreDraws.of(dt)
    assert draws.family == "student"
    for rate, values in draws.rates(draws.latent_of(draws.threshold)).items():
        np.testing.assert_allclose(posterior[rate].values.reshape(values.shape), values, rtol=1e-6)


@pytest.mark.parametrize("name", BUILDERS)
def test_models_keep_the_contract(name):
    scores = simulated("t3" if name == "student" else "normal", n=100, models=5, challenges=20)
    for shifts in ((), ("model",), ("challenge",), None):
        model = ba.models.validate_model(BUILDERS[name](scores, shifts=shifts))
        expected = ("model", "challenge") if shifts is None else shifts
        assert {f"sd_{name}" for name in expected} == {
            v.name for v in model.free_RVs if v.name.startswith("sd_")
        }


@pytest.mark.parametrize("name", BUILDERS)
def test_thresholds_lie_inside_the_support(name):
    scores = simulated(n=200)
    for support in (1, 5, 20):
        threshold = BUILDERS[name](scores, support=support).coords["threshold"]
        for end in (threshold[0], threshold[-1]):
            counts = scores.counts(end)
            assert min(counts.fn, counts.tp, counts.fp, counts.tn) >= support
        beyond = scores.score[scores.score > threshold[-1]].min()
        counts = scores.counts(beyond)
        assert min(counts.fn, counts.tp, counts.fp, counts.tn) < support


def test_a_single_model_or_row_tells_no_shift():
    member = np.repeat([0, 1], 50)
    score = np.random.default_rng(0).normal(size=100) + member
    for columns in ({"model": np.zeros(100)}, {"challenge": np.arange(100)}):
        scores = ba.AttackScores(score=score, member=member, **columns)
        name = next(iter(columns))
        assert f"sd_{name}" not in ba.models.location(scores).named_vars
        with pytest.raises(ValueError, match=f"shift by {name}"):
            ba.models.location(scores, shifts=(name,))


def test_the_logit_of_confidences_is_the_same_model():
    scores = simulated(n=200)
    confidence = ba.AttackScores(score=1 / (1 + np.exp(-scores.score)), member=scores.member)
    one = ba.sampling.conjugate_scores(scores, "binormal", random_seed=1)
    other = ba.sampling.conjugate_scores(confidence, "binormal", random_seed=1, transform="logit")
    for name in ("fnr", "fpr"):
        a, b = one["posterior"][name].values, other["posterior"][name].values
        np.testing.assert_allclose(a, b, rtol=1e-6)
    inverted = np.log(other["posterior"]["threshold"]) - np.log1p(-other["posterior"]["threshold"])
    np.testing.assert_allclose(inverted, one["posterior"]["threshold"], rtol=1e-6)


BAD = {
    "separated": (lambda: simulated(n=50, mu=50), {}, ValueError, "scores must overlap"),
    "infinite": (
        lambda: ba.AttackScores(score=[np.inf, 1, 2, 3], member=[1, 1, 0, 0]),
        {},
        ValueError,
        "finite scores, got inf",
    ),
    "constant": (
        lambda: ba.AttackScores(score=[1, 1, 2, 3], member=[1, 1, 0, 0]),
        {},
        ValueError,
        "two values",
    ),
    "logit": (
        lambda: simulated(n=50),
        {"transform": "logit"},
        ValueError,
        "transform must be 'identity'",
    ),
    "shift": (lambda: simulated(n=50), {"shifts": ("model",)}, ValueError, "shift by model"),
    "text": (lambda: simulated(n=50), {"shifts": "model"}, TypeError, "sequence"),
    "support": (lambda: simulated(n=50), {"support": 0}, ValueError, "support"),
    "scale": (lambda: simulated(n=50), {"shift_scale": 0}, ValueError, "shift_scale"),
    "separation": (lambda: simulated(n=50), {"separation": -1}, ValueError, "separation"),
    "counts": (lambda: ba.AttackCounts(fn=1, tp=1, fp=1, tn=1), {}, TypeError, "AttackScores"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    scores, options, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        ba.models.location(scores(), **options)


@pytest.mark.slow
def test_shifts_of_challenges_are_found():
    scores = simulated(models=10, challenges=100)
    dt = ba.sample(ba.models.binormal(scores), draws=1000, random_seed=4)
    assert set(ba.sampling.GROUPS) <= set(dt.children)
    unit = float(dt["constant_data"]["latent_scale"])
    for name in ("sd_model", "sd_challenge"):
        lower, upper = np.quantile(dt["posterior"][name].values * unit, [0.005, 0.995])
        assert lower < 0.5 < upper
