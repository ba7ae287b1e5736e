"""Figures of results other than posteriors."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesaudit as ba


def one(draw, *args, **options):
    return draw(*args, **options, ax=Figure().subplots())


def labels(ax):
    return ax.get_legend_handles_labels()[1]


# -- forest ----------------------------------------------------------------------------------------


def test_a_forest_shows_ends_and_promises(results):
    ax = one(ba.plots.forest, results.lines, claim=1.0)
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "exact posterior", "clopper-pearson", "wilson", "two-direction", "optimistic", "betting",
    ]  # fmt: skip
    assert labels(ax) == [
        "credible, posterior mass",
        "confidence, guaranteed",
        "confidence, asymptotic",
        "credible, near nominal",
        "not a bound",
        "claim 1",
    ]
    markers = {line.get_label(): line.get_marker() for line in ax.lines}
    assert len({markers[name] for name in labels(ax)[:3]}) == 3
    lower = [line.get_xdata()[0] for line in ax.lines if line.get_marker() in list("osD^X")]
    np.testing.assert_allclose(lower[:5], [float(line.lower) for line in results.lines[:5]])
    assert np.isnan(lower[5])
    assert ax.texts[0].get_text() == "one model: nothing is independent"
    assert ax.get_xlabel() == "$\\hat\\varepsilon$ at $\\delta$ = $10^{-5}$ (nats)"


def test_an_open_end_is_an_arrow(results):
    ax = one(ba.plots.forest, results.lines)
    arrows = [line for line in ax.lines if line.get_marker() == ">"]
    drawn = [np.isfinite(arrow.get_xdata()).any() for arrow in arrows]
    # The bound quoted alone and the line that is no bound; the last has no end at all.
    assert drawn == [False, False, False, True, True, False]


def test_many_tallies_are_rows_and_methods_are_series(results):
    counts = ba.AttackCounts(fn=[0, 35], tp=[100, 65], fp=[0, 25], tn=[100, 75])
    measure = ba.Epsilon(1e-5)
    found = {
        "posterior": ba.posterior(counts, measure).interval(),
        "classical": ba.confidence_interval(counts, measure),
    }
    ax = one(ba.plots.forest, found, labels=["first", "second"])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"]
    assert labels(ax) == [
        "posterior: credible, posterior mass",
        "classical: confidence, guaranteed",
    ]
    heights = [line.get_ydata() for line in ax.lines if line.get_marker() in "os"]
    assert all(np.abs(np.concatenate(heights) - np.repeat([[0, 1]], 2, axis=0).ravel()) < 0.5)
    many = ba.posterior(ba.AttackCounts(**{k: np.full(60, 30) for k in ("fn", "tp", "fp", "tn")}),
                        measure).interval()  # fmt: skip
    assert one(ba.plots.forest, many).get_ylabel() == "tally"


def test_lists_of_intervals_are_series_with_gaps(results):
    first, second = results.lines[:2]
    ax = one(ba.plots.forest, {"a": [first, None], "b": [second, second]}, labels=["x", "y"])
    points = [line.get_xdata() for line in ax.lines if line.get_marker() in list("os")]
    np.testing.assert_allclose(points[0], [float(first.lower), np.nan])
    np.testing.assert_allclose(points[1], [float(second.lower)] * 2)
    assert len(ax.texts) == 0
    with pytest.raises(ValueError, match="must promise the same"):
        ba.plots.forest({"a": [first, second]})


def test_an_object_with_lines_is_drawn_by_its_lines(results):
    audit = SimpleNamespace(lines=tuple(results.lines))
    texts = [ax.get_yticklabels()[0].get_text() for ax in (
        one(ba.plots.forest, audit), one(ba.plots.forest, results.lines))]  # fmt: skip
    assert texts[0] == texts[1] == "exact posterior"


def test_lines_of_several_deltas_stand_below_headings():
    audit = ba.audit(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), delta=[1e-5, 0.05], claim=1.0)
    ax = one(ba.plots.forest, audit, methods=["exact posterior", "clopper-pearson"])
    rows = {round(place): text.get_text() for place, text in zip(
        ax.get_yticks(), ax.get_yticklabels(), strict=True)}  # fmt: skip
    assert [rows[place] for place in sorted(rows)] == [
        "$\\delta$ = $10^{-5}$", "exact posterior", "clopper-pearson",
        "$\\delta$ = 0.05", "exact posterior", "clopper-pearson",
    ]  # fmt: skip
    assert ax.get_xlabel() == "$\\hat\\varepsilon$ (nats)"
    with pytest.raises(ValueError, match="methods must be among"):
        ba.plots.forest(audit, methods=["magic"])


def test_an_audit_shows_every_line_once_and_its_promise():
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    audit = ba.audit(counts)
    ax = one(ba.plots.forest, audit)
    assert len(ax.get_yticklabels()) == len(audit.lines)
    told = set(labels(ax))
    for line in audit.lines:
        promise = ", ".join(dict.fromkeys((line.statement, line.guarantee)))
        assert promise in told
    from bayesaudit.plots._forest import PROMISES

    assert {line.guarantee for line in audit.lines} <= set(PROMISES)


def test_of_many_tallies_the_lines_that_hold_are_drawn():
    many = ba.AttackCounts(fn=[35, 0], tp=[65, 100], fp=[25, 0], tn=[75, 100])
    audit = ba.audit(many)
    told = labels(one(ba.plots.forest, audit))
    assert told and all("posterior mass" in text or "guaranteed" in text for text in told)
    chosen = labels(one(ba.plots.forest, audit, methods=["wilson"]))
    assert chosen == ["wilson: confidence, asymptotic"]


# -- curves ----------------------------------------------------------------------------------------


def test_the_roc_shades_what_the_band_excludes(results):
    ax = one(ba.plots.roc, results.band)
    assert labels(ax) == ["observed", "excluded at confidence 0.95", "guessing"]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    x, y = ax.collections[0].get_paths()[0].vertices.T
    band = results.band
    for i in range(0, band.fpr_upper.size, 50):
        # Every bound is a corner that lies in the excluded part, and the edge is nowhere above
        # what the bounds allow there.
        at = y[np.isclose(x, band.fpr_upper[i])]
        assert at.max() >= 1 - band.fnr_upper[i] - 1e-12
    assert y.max() <= 1 - band.fnr_upper.min() + 1e-12
    observed = ax.lines[0].get_ydata()
    assert observed[-1] == 1 and np.all(np.diff(observed) >= 0)


def test_points_without_false_positives_stand_at_the_edge(results):
    ax = one(ba.plots.roc, results.perfect)
    assert ax.get_xlim()[0] == 0.5 / 100
    assert ax.lines[0].get_xdata()[0] == 0.5 / 100
    assert "excluded" not in " ".join(labels(one(ba.plots.roc, results.perfect.roc)))


def test_the_tradeoff_band_holds_its_rectangles(results):
    curve = results.tradeoff
    ax = one(ba.plots.tradeoff, curve, claim=1.0)
    vertices = ax.collections[0].get_paths()[0].vertices
    for i in range(curve.threshold.size):
        for end, choose in ((2, np.min), (0, np.max)):
            # Just right of an upper corner the band is at most as high; likewise from below.
            shift = 2e-3 if end == 2 else -2e-3
            near = np.abs(vertices[:, 0] - curve.fpr[end, i] - shift) < 6e-4
            at = choose(vertices[near, 1])
            assert at <= curve.fnr[2, i] + 1e-9 if end == 2 else at >= curve.fnr[0, i] - 1e-9
    claim = ax.lines[-1]
    x, y = claim.get_data()
    np.testing.assert_allclose(ba.Epsilon(0).of(y, x)[1:-1], 1.0, atol=1e-9)


def test_posteriors_of_score_models_are_drawn_beside_the_scores(results):
    scores = results.band
    rng = np.random.default_rng(1)
    member = np.arange(600) % 2 == 1
    data = ba.AttackScores(score=rng.normal(size=600) + member, member=member)
    found = ba.tradeoff_posterior(ba.sampling.conjugate_scores(data, "location"))
    for draw, upside_down in ((ba.plots.tradeoff, False), (ba.plots.roc, True)):
        ax = one(draw, found, scores, labels=["location", "files"])
        assert labels(ax)[0] == "location: 90 % credible, pointwise"
        assert "files: excluded at confidence 0.95" in labels(ax)
        x, y = ax.lines[0].get_data()
        np.testing.assert_array_equal(x, found.fpr)
        np.testing.assert_allclose(y, 1 - found.fnr[1] if upside_down else found.fnr[1])
        assert len({line.get_color() for line in ax.lines}) == 3
    assert labels(one(ba.plots.roc, found))[0] == "location model, 90 % credible, pointwise"


def test_a_confidence_band_bounds_errors_from_above(results):
    ax = one(ba.plots.tradeoff, results.band)
    vertices = ax.collections[0].get_paths()[0].vertices
    below = vertices[vertices[:, 1] < 1]
    for x, y in below[::25]:
        right = results.band.fnr_upper[results.band.fpr_upper <= x + 1e-12]
        assert y >= right.min(initial=1.0) - 1e-12


def test_epsilon_of_delta_has_no_corner_of_the_grid(results):
    fine, coarse = (one(ba.plots.epsilon_curve, c) for c in (results.curve, results.curve_coarse))
    median = next(line for line in fine.lines if line.get_label() == "posterior median")
    assert median.get_linestyle() == "-"
    np.testing.assert_allclose(median.get_ydata(), results.curve.median)
    assert np.abs(np.diff(median.get_ydata())).max() < 0.2 * fine.get_ylim()[1]
    points = next(line for line in coarse.lines if line.get_label() == "posterior median")
    assert points.get_linestyle() == "None" and points.get_marker() == "o"
    assert next(text.get_text() for text in fine.get_xticklabels()) == "0"
    assert fine.get_xlim()[0] == pytest.approx(1e-7)


def test_the_curve_of_a_band_is_a_lower_bound():
    rng = np.random.default_rng(1)
    member = np.arange(400) % 2 == 1
    scores = ba.AttackScores(score=rng.normal(size=400) + 2 * member, member=member)
    curve = ba.audit(scores, threshold="band").curve()
    ax = one(ba.plots.epsilon_curve, curve)
    assert labels(ax) == ["lower bound, confidence 0.95, all $\\delta$ at once"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.lower)


def test_one_sided_curves_leave_the_upper_end_open(results):
    ax = one(ba.plots.epsilon_curve, results.curve_lower)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() > ax.get_ylim()[1]
    assert sum("confidence" in text for text in labels(ax)) == 1
    assert len([line for line in ax.lines if line.get_linestyle() == "-."]) == 1


def test_the_tipping_point_shows_its_intervals(results):
    ax = one(ba.plots.tipping, results.tipping, claim=1)
    assert labels(ax) == ["90 % credible interval and median", "claim 1"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), results.tipping.median)
    assert ax.get_title().startswith("one model")


# -- coverage and planning -------------------------------------------------------------------------


def test_a_map_tells_high_coverages_apart_and_the_promise_is_white(results):
    found = results.coverage[0]
    ax = one(ba.plots.coverage, found)
    mesh = ax.collections[0]
    given = np.array([0.5, 0.9, 0.95, 0.98, 0.99, 0.997])
    values = np.full((2, 6), given)
    setting = {
        "fnr": np.array([[0.1], [0.2]]) + np.zeros(6),
        "fpr": np.arange(6) * 0.1 + values * 0,
    }
    made = ba.calibration.Coverage(
        lower=values, upper=values, both=values, truth=values, n_pos=values, n_neg=values,
        prob=0.9, method="made", **setting,
    )  # fmt: skip
    mesh = one(ba.plots.coverage, made).collections[0]
    red, _, blue, _ = mesh.to_rgba(mesh.get_array()[0]).T
    assert np.all(np.diff(mesh.get_array()[0]) > 0.5)  # .98, .99 and .997 are steps of colour
    assert red[2] == pytest.approx(blue[2], abs=0.02) and red[2] > 0.95  # .95 is white
    assert red[0] > blue[0] and blue[-1] > red[-1]


def test_maps_are_drawn_whatever_the_order_of_the_grid(results):
    found = results.coverage[0]
    names = ("lower", "upper", "both", "truth", "fnr", "fpr", "n_pos", "n_neg")
    turned = ba.calibration.Coverage(
        **{name: getattr(found, name).T[::-1] for name in names},
        prob=found.prob, method=found.method,
    )  # fmt: skip
    one_way, other = (one(ba.plots.coverage, each) for each in (found, turned))
    np.testing.assert_array_equal(
        one_way.collections[0].get_array(), other.collections[0].get_array()
    )
    assert one_way.get_title() == f"posterior\nleast {found.lower.min():.3f}"


def test_several_maps_are_several_panels(results):
    axes = ba.plots.coverage(results.coverage)
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["posterior", "clopper-pearson"]
    assert len(plt.get_fignums()) == 1
    given = Figure().subplots(1, 2)
    named = ba.plots.coverage(dict(zip("ab", results.coverage, strict=True)), ax=given)
    assert [ax.get_title()[0] for ax in named] == ["a", "b"]


def test_plans_stand_on_their_curves(results):
    ax = one(ba.plots.assurance, results.n, results.assurance, plans=results.plans)
    first = results.plans[0]
    assert labels(ax)[0] == f"posterior, planned n = {first.n_effective}"
    points = [line.get_xydata()[0] for line in ax.lines if line.get_xydata().shape == (1, 2)]
    expected = [(plan.n_effective, plan.assurance) for plan in results.plans]
    np.testing.assert_allclose(points, expected)
    assert ax.get_title().startswith("claim $\\varepsilon$ > 1 at $\\delta$ = $10^{-5}$")


def test_ranks_of_calibration_are_a_figure_of_their_own():
    values = {name: (np.arange(40) + 0.5) / 40 for name in ("fnr", "fpr", "epsilon")}
    found = ba.calibration.SBC(values, dict.fromkeys(values, 0.9), 40, 100, 1)
    figure = ba.plots.sbc(found)
    assert isinstance(figure, Figure) and plt.get_fignums() == []
    assert [ax.get_title() for ax in figure.axes] == list(values)


# -- Fano ------------------------------------------------------------------------------------------


def test_fano_bounds_have_names_that_a_reader_knows(results):
    ax = one(ba.plots.fano_bounds, results.fano[1])
    names = " ".join(text.get_text() for text in ax.get_yticklabels())
    assert "pure DP" in names and "mutual" in names
    assert not any(word in names for word in ("erokhin", "rero", "f-dp"))
    from bayesaudit.plots._fano import NAMES

    assert {bound.method for bounds in results.fano for bound in bounds.bounds} <= set(NAMES)
    assert ax.get_xlim()[1] > 1


def test_fano_curves_follow_the_bounds_and_the_attack(results):
    played = [
        ba.fano.GameResult(n_correct=k, n_trials=50, base_success=0.1, bayes_success=None,
                           information=None)
        for k in (5, 8, 20)
    ]  # fmt: skip
    ax = one(
        ba.plots.fano_curves, [0.3, 1, 3], results.fano, xlabel="ε (nats)", measured=played,
        methods=["pure-dp"], log=True,
    )  # fmt: skip
    found = [bound["pure-dp"].advantage for bound in results.fano]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found)
    assert labels(ax) == ["pure DP, exact", "measured, 95 % confidence"]
    assert ax.get_ylim()[0] >= 1e-4
    segments = ax.containers[0].lines[2][0].get_segments()
    low, high = played[2].interval()
    np.testing.assert_allclose(segments[2][:, 1], (np.array([low, high]) - 0.1) / 0.9)


# -- errors ----------------------------------------------------------------------------------------


def test_errors_name_the_rule_and_leave_no_figure(results):
    plots, r = ba.plots, results
    cases = [
        (TypeError, "curve must be a TippingCurve, got int", lambda: plots.tipping(3)),
        (TypeError, "curves must be RocCurve, Conf", lambda: plots.roc([1, 2])),
        (ValueError, "curves must hold at least one", lambda: plots.roc()),
        (ValueError, "labels must name 1 curves", lambda: plots.roc(r.band, labels="ab")),
        (TypeError, "curves must be trade-off curves", lambda: plots.tradeoff(r.curve)),
        (TypeError, "or BandCurve, got TradeoffCurve", lambda: plots.epsilon_curve(r.tradeoff)),
        (TypeError, "results must be Coverage", lambda: plots.coverage(0.5)),
        (ValueError, "at least one Coverage", lambda: plots.coverage({})),
        (ValueError, "end must be one of", lambda: plots.coverage(r.coverage, end="left")),
        (ValueError, "as many axes as results", lambda: plots.coverage(r.coverage, ax=[])),
        (TypeError, "curves must map", lambda: plots.assurance([10], [0.5])),
        (ValueError, "at least one method", lambda: plots.assurance([10], {})),
        (ValueError, "2 values each, got 1", lambda: plots.assurance([10, 20], {"a": [0.5]})),
        (TypeError, "plans must be Plans", lambda: plots.assurance([10], {"a": [0.5]}, plans=[1])),
        (TypeError, "bounds must be BestBound", lambda: plots.fano_bounds(0.5)),
        (ValueError, "as many as x", lambda: plots.fano_curves([1], [], xlabel="x")),
        (ValueError, "methods must be among", lambda: plots.fano_curves(
            [1], r.fano[:1], xlabel="x", methods=["x"])),
        (TypeError, "lines must be an Audit", lambda: plots.forest(3)),
        (TypeError, "lines must be Intervals", lambda: plots.forest([3])),
        (ValueError, "at least one line", lambda: plots.forest([])),
        (ValueError, "labels must name 6 rows, got 1", lambda: plots.forest(r.lines, labels=["a"])),
        (TypeError, "result must be an SBC, got int", lambda: plots.sbc(3)),
        (TypeError, "diagnosis must be a Diagnosis", lambda: plots.diagnostics(3)),
    ]  # fmt: skip
    for error, match, call in cases:
        with pytest.raises(error, match=match):
            call()
    line = ba.calibration.coverage(ba.Epsilon(0), [0.1, 0.2], 0.1, 10, 10)
    with pytest.raises(ValueError, match=r"grid of rates.* got shape \(2,\)"):
        plots.coverage(line)
    assert plt.get_fignums() == []
