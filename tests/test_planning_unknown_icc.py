"""The assurance of the analysis that is run: dependent trials, their correlation unknown."""

import numpy as np
import pytest
from dependent_data import simulate

import bayesaudit as ba
from bayesaudit.calibration import plan

MEMBER = ba.Epsilon(1e-5, "member")


def lower_ends(counts, method):
    """Ends of audits one by one, through the front door."""
    if method == "two-direction":
        return ba.two_direction_bound(
            counts, 1e-5, prior="jeffreys", dependence="beta-binomial"
        ).lower
    return ba.posterior(counts, MEMBER, dependence="beta-binomial").interval(0.9).lower


def test_three_models_show_far_less_than_with_a_known_correlation():
    """The plan promised .80, and the beta-binomial posterior of its three models gives .49."""
    found = plan(0.5, fnr=0.35, fpr=0.25, per_model=100, icc=0.02)
    assert found.n_models == 3 and found.assurance > 0.8
    error = found.assurance_icc_unknown_error
    assert found.assurance_icc_unknown < found.assurance - 4 * error
    assert {"assurance_icc_unknown", "assurance_icc_unknown_error"} <= set(found.to_dict())
    audits = 60
    counts = simulate(np.random.default_rng(3), 3, 100, 0.02, audits=(audits,), rates=(0.35, 0.25))
    share = np.mean(lower_ends(counts, "posterior") > 0.5)
    both = np.hypot(error, np.sqrt(share * (1 - share) / audits))
    assert abs(share - found.assurance_icc_unknown) < 4 * both


def test_other_plans_have_no_such_number():
    assert plan(0.5, fnr=0.35, fpr=0.25, n=100).assurance_icc_unknown is None
    one = plan(0.5, fnr=0.35, fpr=0.25, n=100, per_model=1, icc=0.5)
    assert one.assurance_icc_unknown is None and "assurance_icc_unknown" not in one.to_dict()
    classical = plan(
        0.5, fnr=0.35, fpr=0.25, n=200, per_model=10, icc=0.1, method="clopper-pearson"
    )
    assert classical.assurance_icc_unknown is None


@pytest.mark.slow
@pytest.mark.parametrize("method", ["posterior", "two-direction"])
@pytest.mark.parametrize(("claim", "rates"), [(0.5, (0.35, 0.25)), (1.5, (0.1, 0.1))])
def test_the_number_is_that_of_audits_one_by_one(method, claim, rates):
    design = {"n": 400, "per_model": 50, "icc": 0.05, "method": method}
    found = plan(claim, fnr=rates[0], fpr=rates[1], **design)
    audits = 200
    counts = simulate(np.random.default_rng(9), 8, 50, 0.05, audits=(audits,), rates=rates)
    share = np.mean(lower_ends(counts, method) > claim)
    error = np.sqrt(share * (1 - share) / audits)
    print(f"{found.assurance_icc_unknown:.3f} ± {found.assurance_icc_unknown_error:.3f}")
    print(f"one by one {share:.3f} ± {error:.3f}; known {found.assurance:.3f}")
    both = np.hypot(error, found.assurance_icc_unknown_error)
    assert abs(share - found.assurance_icc_unknown) < 4 * both
