import numpy as np
import pytest
from reference import cases, close, ids, peers
from scipy import special, stats

import bayesaudit as ba
from bayesaudit.intervals import METHODS
from bayesaudit.proportions import proportion_interval

COUNTS = [case for case in cases("counts") if "rectangle_by_tail_per_rate" in case["right"]]
# The others are Beta quantiles, tested with the rates.
TAILS = [case for case in cases("special") if "k" in case["input"]]
EXAMPLE = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
PERFECT = ba.AttackCounts(fn=0, tp=1000, fp=0, tn=1000)


@pytest.mark.parametrize("case", COUNTS, ids=ids(COUNTS))
def test_reference_rectangles(case):
    cell = case["input"]
    counts = ba.AttackCounts(**{name.lower(): cell[name] for name in ("FN", "TP", "FP", "TN")})
    for tail, by_method in case["right"]["rectangle_by_tail_per_rate"].items():
        for method, right in by_method.items():
            trials = {
                "fnr": (counts.fn, counts.n_pos),
                "fpr": (counts.fp, counts.n_neg),
                "tpr": (counts.tp, counts.n_pos),
                "tnr": (counts.tn, counts.n_neg),
            }
            found = {
                rate: proportion_interval(k, n, float(tail), method=method.replace("_", "-"))
                for rate, (k, n) in trials.items()
            }
            # scipy.special's inverse itself is good to about 1e-10 at n = 1e7
            tolerance = 1e-11 if counts.n_pos <= 1e5 else 1e-8
            for rate in ("fnr", "fpr"):
                for end, value in zip(found[rate], right[rate.upper()], strict=True):
                    assert float(end) == pytest.approx(float(value), rel=tolerance, abs=1e-300)
            lower, upper = ba.Epsilon(float(cell["delta"])).over(**found)
            assert close(lower, right["eps"][0], tolerance), (tail, method)
            assert close(upper, right["eps"][1], tolerance), (tail, method)


@pytest.mark.parametrize("case", TAILS, ids=ids(TAILS))
def test_reference_tails(case):
    cell = case["input"]
    method = "jeffreys" if isinstance(case["right"], dict) else "clopper-pearson"
    lower, upper = proportion_interval(cell["k"], cell["n"], float(cell["tail"]), method=method)
    if method == "jeffreys":
        right = [float(end) for end in case["right"]["zero_corrected"]]
        np.testing.assert_allclose([lower, upper], right, rtol=1e-12)
    else:
        assert float(upper) == pytest.approx(float(case["right"]), rel=1e-12)


def test_clopper_pearson_by_its_definition():
    lower, upper = proportion_interval(7, 40, 0.025)
    assert stats.binom.sf(6, 40, float(lower)) == pytest.approx(0.025, rel=1e-10)
    assert stats.binom.cdf(7, 40, float(upper)) == pytest.approx(0.025, rel=1e-10)
    wilson = stats.binomtest(7, 40).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(proportion_interval(7, 40, 0.025, method="wilson"), wilson)


@pytest.mark.parametrize("case", peers("wilson"), ids=lambda case: f"k={case['k']}")
def test_wilson_of_a_peer(case):
    lower, upper = proportion_interval(case["k"], 1000, 0.025, method="wilson")
    assert (lower + upper) / 2 == pytest.approx(case["rate"], abs=5.1e-4)
    assert float(lower) == pytest.approx(case["lo"], abs=5.1e-4)
    assert float(upper) == pytest.approx(case["hi"], abs=5.1e-4)


@pytest.mark.parametrize(
    "case",
    peers("log_ratio"),
    ids=lambda c: f"{c['method']}-{c['tp']}-{c['fn']}-{c['fp']}-{c['tn']}",
)
def test_log_ratios_of_a_peer(case):
    counts = ba.AttackCounts(**{name: case[name] for name in ("fn", "tp", "fp", "tn")})
    if case["method"] == "clopper-pearson":
        measure = ba.Epsilon(0, "member")
        found = ba.confidence_interval(counts, measure, 1 - 2 * case["alpha"])
        assert found.lower == pytest.approx(case["eps"], abs=5.1e-3)
        return
    # The peer bounds TPR/FPR alone: one term of the declared direction, at its full level.
    # Ratios below 1 are clipped by ε̂ >= 0, and seen in the mirrored attack's upper end instead.
    found = ba.confidence_interval(
        counts, ba.Epsilon(0, "member", "fpr"), 1 - 2 * case["alpha"], method=case["method"]
    )
    if case["ratio_lower_bound"] >= 1:
        digits = len(str(case["ratio_lower_bound"]).split(".")[1])
        assert np.exp(found.lower) == pytest.approx(
            case["ratio_lower_bound"], abs=0.51 * 10**-digits
        )
    else:
        from bayesaudit.intervals import _ratio_bounds

        lower, _ = _ratio_bounds(
            counts.tp,
            counts.n_pos,
            counts.fp,
            counts.n_neg,
            delta=0.0,
            z=-special.ndtri(case["alpha"]),
            method=case["method"],
        )
        assert found.lower == 0
        assert np.exp(lower) == pytest.approx(case["ratio_lower_bound"], abs=0.51e-7)


def test_values_several_tools_agree_on():
    epsilon = ba.Epsilon(1e-5)
    assert ba.confidence_interval(EXAMPLE, epsilon, 0.90).lower == pytest.approx(
        0.45849758296324, rel=1e-12
    )
    assert [*ba.confidence_interval(EXAMPLE, ba.Epsilon(0), 0.95)] == pytest.approx(
        [0.39345605875893225, 1.557303466008068], rel=1e-12
    )
    assert ba.confidence_interval(PERFECT, epsilon, 0.90).lower == pytest.approx(
        5.6005774942916355, rel=1e-12
    )


def test_numbers_printed_in_the_paper():
    """BEDP's examples, as they reproduce (δ = 0.05 and 95 % for the first)."""
    measure = ba.Epsilon(0.05)
    box = ba.rectangle(EXAMPLE, 0.95)
    lower, upper = box.interval(measure)
    assert (lower, upper) == pytest.approx((0.29515, 1.48873), abs=5e-6)
    post = ba.posterior(EXAMPLE, measure)
    assert box.mass(post) == pytest.approx(0.9630, abs=5e-5)
    assert post.cdf(upper) - post.cdf(lower) == pytest.approx(0.9979, abs=5e-5)
    assert [*post.interval(0.95)] == pytest.approx([0.52179, 1.26665], abs=5e-6)
    epsilon = ba.Epsilon(1e-5)
    printed = {
        5.6006: ("clopper-pearson", "bonferroni"),
        5.8091: ("clopper-pearson", "none"),
        6.2543: ("jeffreys", "none"),
    }
    for value, (method, split) in printed.items():
        found = ba.confidence_interval(PERFECT, epsilon, 0.90, method=method, split=split)
        assert found.lower == pytest.approx(value, abs=5.1e-5)
        assert found.upper == np.inf
    assert ba.posterior(PERFECT, epsilon).interval(0.90).lower == pytest.approx(7.2072, abs=5e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("direction", ["both", "member"])
def test_every_method_serves_arrays_and_says_what_it_is(method, direction):
    counts = ba.AttackCounts(fn=[35, 0, 10], tp=[65, 9, 0], fp=[25, 0, 3], tn=[75, 9, 7])
    found = ba.confidence_interval(counts, ba.Epsilon(0.01, direction), 0.9, method=method)
    assert found.lower.shape == (3,)
    assert np.all(found.lower <= found.upper) and np.all(found.lower >= 0)
    assert (found.statement, found.method) == ("confidence", method)
    assert found.guarantee == METHODS[method]
    one = ba.confidence_interval(counts[0], ba.Epsilon(0.01, direction), 0.9, method=method)
    assert (one.lower, one.upper) == (found.lower[0], found.upper[0])


def test_delta_moves_log_ratios_as_the_plug_in_moves():
    n = 10_000_000  # so large that every interval is its point
    counts = ba.AttackCounts(fn=n // 2, tp=n // 2, fp=n // 10, tn=n - n // 10)
    right = np.log((0.5 - 0.1) / 0.1)
    for method in ("katz-log", "adjusted-log", "bailey", "inv-sinh"):
        found = ba.confidence_interval(counts, ba.Epsilon(0.1, "member", "fpr"), 0.9, method=method)
        assert found.lower < right < found.upper
        assert found.upper - found.lower < 0.01


def test_refusals():
    with pytest.raises(ValueError, match="method must be one of"):
        ba.confidence_interval(EXAMPLE, ba.Epsilon(0), 0.9, method="exact")
    with pytest.raises(ValueError, match="is a log ratio: measure must be Epsilon"):
        ba.confidence_interval(EXAMPLE, ba.Advantage(), 0.9, method="bailey")
    with pytest.raises(ValueError, match=r"did you mean 0\.95"):
        ba.confidence_interval(EXAMPLE, ba.Epsilon(0), 95)


def test_other_measures_on_a_rectangle():
    box = ba.rectangle(EXAMPLE, 0.9)
    lower, upper = box.interval(ba.Advantage())
    assert lower == pytest.approx(1 - box.fnr[1] - box.fpr[1])
    assert upper == pytest.approx(1 - box.fnr[0] - box.fpr[0])
    coin = ba.AttackCounts(fn=50, tp=50, fp=50, tn=50)
    assert ba.confidence_interval(coin, ba.Advantage(fold=True), 0.9).lower == 0
