"""The posterior of the whole curve: what is claimed, where, and under which name."""

import json

import numpy as np
import pytest
from score_models.simulated import simulated

import bayesaudit as ba


@pytest.fixture(scope="module")
def scores():
    return simulated()


@pytest.fixture(scope="module")
def tree(scores):
    return ba.sampling.conjugate_scores(scores, "location", random_seed=1)


def test_the_maximum_runs_inside_the_support(tree):
    curve = ba.tradeoff_posterior(tree)
    draws = ba.posterior(tree, ba.Epsilon(1e-5, "member")).draws.max("threshold")
    estimate = curve["epsilon", 1e-5]
    expected = np.quantile(draws, [0.05, 0.5, 0.95])
    np.testing.assert_allclose([estimate.lower, estimate.median, estimate.upper], expected)
    assert estimate.basis == "inside the support" and not estimate.extrapolated
    assert curve.support == 5 and not curve.extrapolated
    # The tail that gives μ-GDP its ε is not in the data.
    assert estimate.upper < ba.GaussianMu.epsilon(curve["mu"].lower, 1e-5)


def test_extrapolation_is_labelled_and_equals_the_closed_form(tree):
    curve = ba.tradeoff_posterior(tree, extrapolate=True)
    inside, beyond = (
        next(one for one in curve.estimates if one.quantity == "epsilon" and one.basis == basis)
        for basis in ("inside the support", "extrapolated by the model")
    )
    assert inside.upper < beyond.lower
    assert curve.extrapolated and "extrapolated by the model" in repr(curve)
    assert beyond.extrapolated and "extrapolated by the model" in repr(beyond)
    assert "extrapolated by the model" in str(curve) and "extrapolated" in json.dumps(
        curve.to_dict()
    )
    closed = ba.GaussianMu.epsilon(tree["posterior"]["mu"].values, 1e-5)
    for q, found in ((0.05, beyond.lower), (0.5, beyond.median), (0.95, beyond.upper)):
        assert abs(found - np.quantile(closed, q)) < 5 * beyond.mcse
    assert curve["tpr", 1e-3].extrapolated and not curve["tpr", 1e-2].extrapolated


def test_what_the_sample_cannot_see_is_not_given(tree):
    unseen = ba.tradeoff_posterior(tree)["tpr", 1e-3]
    assert unseen.lower is None and unseen.basis == "beyond the support: not given"
    # Three non-members lie beyond that threshold, and three are declared to suffice.
    fewer = ba.sampling.conjugate_scores(simulated(), "location", random_seed=1, support=3)
    assert ba.tradeoff_posterior(fewer, fpr=3e-3)["tpr", 3e-3].lower > 0
    assert ba.tradeoff_posterior(tree, fpr=3e-3)["tpr", 3e-3].lower is None


def test_tpr_equals_the_closed_form(tree):
    from scipy import special

    curve = ba.tradeoff_posterior(tree, fpr=[0.01, 0.3])
    mu = tree["posterior"]["mu"].values
    for rate in (0.01, 0.3):
        expected = np.quantile(special.ndtr(special.ndtri(rate) + mu), 0.95)
        assert curve["tpr", rate].upper == pytest.approx(expected, rel=1e-9)
    f = special.ndtr(-special.ndtri(curve.fpr) - np.median(mu))
    np.testing.assert_allclose(curve.fnr[1], f, rtol=1e-3)


def test_companions_stand_beside_every_epsilon(scores, tree):
    curve = ba.tradeoff_posterior(tree, delta=[1e-5, 0.1])
    band = ba.threshold_bound(scores, ba.Epsilon(0.1, "member"), strategy="band")
    after = curve.estimates[-2:]
    assert [one.statement for one in after] == ["descriptive", "confidence"]
    assert after[1].lower == band.lower and after[1].basis.startswith("guaranteed band")
    assert after[0].median > 0 and after[0].lower is None


def test_mu_is_claimed_for_the_location_model_alone(scores, tree):
    assert ba.tradeoff_posterior(tree)["mu"].lower > 0
    with pytest.raises(KeyError):
        ba.tradeoff_posterior(ba.sampling.conjugate_scores(scores, "binormal"))["mu"]


def test_the_band_of_dependent_rows_is_not_called_guaranteed():
    scores = simulated(models=40)
    curve = ba.tradeoff_posterior(ba.sampling.conjugate_scores(scores, "location"))
    assert not curve.rows_independent
    assert "guaranteed band" not in str(curve)
    measure = ba.Epsilon(1e-5, "member")
    betting = ba.threshold_bound(scores, measure, strategy="split", method="betting")
    last = curve.estimates[-1]
    assert last.basis == "guaranteed under any dependence within a model: at least"
    assert last.lower == betting.lower


def test_student_with_shifts_has_the_declared_fpr_at_its_thresholds():
    from dataclasses import replace

    from bayesaudit.score_laws import ScoreDraws

    rng = np.random.default_rng(2)
    one = ScoreDraws.of(ba.sampling.conjugate_scores(simulated(), "binormal"), 200)
    draws = replace(one, nu=rng.uniform(1.5, 20, (200, 2)), sds={"model": rng.uniform(0, 1, 200)})
    rates = [0.005, 0.05, 0.5, 0.9]
    found = draws.rates(draws.threshold_at_fpr(rates))["fpr"]
    np.testing.assert_allclose(found, np.broadcast_to(rates, found.shape), rtol=1e-6)


BAD = {
    "delta": ({"delta": 1.5}, "delta must be"),
    "fpr": ({"fpr": 0.0}, "fpr must be in"),
    "prob": ({"prob": 1.0}, "prob"),
    "direction": ({"direction": "left"}, "direction"),
    "extrapolate": ({"delta": 0.0, "extrapolate": True}, "extrapolate needs delta > 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(tree, case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        ba.tradeoff_posterior(tree, **options)


def test_other_trees_are_refused():
    dt = ba.sample(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), random_seed=1)
    with pytest.raises(ValueError, match="score model"):
        ba.tradeoff_posterior(dt)


def test_saved_trees_serve(tree, tmp_path):
    path = ba.save(tree, tmp_path / "dt.nc")
    one, other = ba.tradeoff_posterior(tree), ba.tradeoff_posterior(ba.load(path))
    assert one.to_dict() == other.to_dict()
