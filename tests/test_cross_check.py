import json

import numpy as np
import pytest
from reference import audits
from scipy import special

import bayesaudit as ba
from bayesaudit.diagnostics.cross import _binomial_z

MEASURE = ba.Epsilon(1e-5)
AUDITS = list(audits())


def drawn(counts, measure=MEASURE, *, seed=3, draws=5000, **options):
    return ba.posterior(
        ba.sample(counts, draws=draws, random_seed=seed, groups=(), **options), measure
    )


def unrecorded(counts, measure=MEASURE, **options):
    """An exact posterior that remembers neither counts nor prior: numbers alone must decide."""
    return ba.posterior(ba.posterior(counts, measure, **options).rates, measure)


@pytest.mark.filterwarnings("ignore:no data for")
@pytest.mark.parametrize("audit", AUDITS, ids=[audit[0]["id"] for audit in AUDITS])
def test_sound_draws_pass(audit):
    _, fn, tp, fp, tn, delta = audit
    counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
    check = ba.cross_check(
        drawn(counts, ba.Epsilon(delta), draws=2000), ba.posterior(counts, ba.Epsilon(delta))
    )
    assert check.passed, check.reason


def test_nuts_passes_on_the_reference_cases(nuts_fits):
    for case, delta, dt in nuts_fits.values():
        given = case["input"]
        counts = ba.AttackCounts(fn=given["FN"], tp=given["TP"], fp=given["FP"], tn=given["TN"])
        measure = ba.Epsilon(delta)
        check = ba.cross_check(ba.posterior(dt, measure), ba.posterior(counts, measure))
        assert check.passed, (case["id"], check.reason)


def test_two_hundred_tallies_pass_together(tallies, tallies_tree):
    check = ba.cross_check(ba.posterior(tallies_tree, MEASURE), ba.posterior(tallies, MEASURE))
    assert check.passed, check.reason
    assert {row.tally for row in check.rows} == set(range(200))
    assert len(check.table().splitlines()) == 21


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"prior": "uniform"}, "should be"),
        ({"fn": 36, "tp": 64}, "should be"),
        ({"fp": 26}, "should be"),
        ({"delta": 0.01}, "should be"),
    ],
    ids=["prior", "shifted count", "one trial more", "delta"],
)
def test_what_is_wrong_is_caught_by_the_numbers_alone(wrong, expected):
    cells = {"fn": 35, "tp": 65, "fp": 25, "tn": 75}
    right = ba.AttackCounts(**cells)
    counts = ba.AttackCounts(**(cells | {k: v for k, v in wrong.items() if k in cells}))
    options = {"prior": wrong["prior"]} if "prior" in wrong else {}
    if "delta" in wrong:
        # A measure that computes with another delta than the one it claims.
        class Mistaken(ba.Epsilon):
            def of(self, *args, **more):
                return ba.Epsilon(wrong["delta"]).of(*args, **more)

            def __eq__(self, other):
                return True

            __hash__ = ba.Epsilon.__hash__

        draws = drawn(counts, Mistaken(1e-5))
    else:
        draws = drawn(counts, **options)
    check = ba.cross_check(draws, unrecorded(right))
    assert not check.passed
    assert expected in check.reason
    assert check.max_abs_z > check.z_threshold


def test_one_wrong_tally_among_many_is_caught(tallies):
    some = tallies[:60]
    cells = {name: np.array(getattr(some, name)) for name in ("fn", "tp", "fp", "tn")}
    cells["fn"][47] += 25
    check = ba.cross_check(drawn(ba.AttackCounts(**cells), draws=1000), unrecorded(some))
    assert not check.passed
    assert "of tally 47" in check.reason


def test_what_is_on_record_must_agree(worked_example):
    exact = ba.posterior(worked_example, MEASURE)
    # A difference far too small to be seen in the draws.
    check = ba.cross_check(drawn(worked_example, ba.Epsilon(2e-5)), exact)
    assert not check.passed and "delta=2e-05" in check.reason
    assert check.max_abs_z < check.z_threshold
    check = ba.cross_check(drawn(worked_example, prior=(0.5, 0.501)), exact)
    assert not check.passed and "under another prior" in check.reason
    other = ba.AttackCounts(fn=36, tp=65, fp=25, tn=75)
    assert "of other counts" in ba.cross_check(drawn(other), exact).reason


def test_a_constant_posterior_is_compared_at_its_atom():
    counts = ba.AttackCounts(fn=50, tp=50, fp=50, tn=50)
    always_zero = drawn(counts, ba.Epsilon(0.999))
    assert ba.cross_check(always_zero, ba.posterior(counts, ba.Epsilon(0.999))).passed
    check = ba.cross_check(always_zero, unrecorded(counts, ba.Epsilon(1e-5)))
    assert not check.passed


def test_false_alarms_are_as_rare_as_promised(worked_example):
    # At a false-alarm rate of .2 some 16 of 80 may fail; Bonferroni makes it fewer.
    exact = ba.posterior(worked_example, MEASURE)
    checks = [
        ba.cross_check(drawn(worked_example, seed=s, draws=100), exact, false_alarm=0.2)
        for s in range(80)
    ]
    failed = sum(not check.passed for check in checks)
    assert 1 <= failed <= 16 + 3 * np.sqrt(80 * 0.2 * 0.8)
    pvalues = [check.distance_pvalue for check in checks]
    # A grid of draws sees a little less than the supremum, so P is a little too large.
    assert 0.4 < np.median(pvalues) < 0.75


def test_score_of_a_share_is_that_of_the_binomial():
    rng = np.random.default_rng(0)
    for probability in (1e-4, 0.02, 0.4, 0.999):
        hits = rng.binomial(5000, probability, 4000)
        z = np.array([_binomial_z(h / 5000, probability, 5000.0) for h in hits])
        # Mid-P scores of a discrete count are standard normal as far as that can be.
        assert abs(z.mean()) < 0.1
        assert np.mean(np.abs(z) > special.ndtri(1 - 5e-4)) < 3e-3


def test_the_detectable_distance_is_the_critical_one(worked_example):
    check = ba.cross_check(drawn(worked_example), ba.posterior(worked_example, MEASURE))
    critical = special.kolmogorov(np.sqrt(check.ess) * check.detectable)
    assert critical == pytest.approx(check.pvalue_threshold)


def test_results_are_plain_and_print(worked_example):
    check = ba.cross_check(drawn(worked_example), ba.posterior(worked_example, MEASURE))
    document = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert document["passed"] is True
    assert {"max_abs_z", "reason", "rows"} <= set(document)
    assert str(check).startswith("cross-check passed: the largest of ")
    assert "mean of F" in check.table()


def test_errors_name_the_rule(worked_example):
    exact = ba.posterior(worked_example, MEASURE)
    draws = drawn(worked_example, draws=100)
    with pytest.raises(TypeError, match="draws must be a posterior of the draws engine"):
        ba.cross_check(exact, exact)
    with pytest.raises(TypeError, match="exact must be a posterior of the exact engine"):
        ba.cross_check(draws, draws)
    two = ba.AttackCounts(fn=[1, 2], tp=[1, 2], fp=[1, 2], tn=[1, 2])
    with pytest.raises(ValueError, match="of the same tallies"):
        ba.cross_check(draws, ba.posterior(two, MEASURE))
