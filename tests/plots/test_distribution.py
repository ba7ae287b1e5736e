import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesaudit as ba


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def one(draw, *args, **options):
    return draw(*args, **options, ax=Figure().subplots())


def exact(delta=0.05, direction="both", **counts):
    given = {"fn": 35, "tp": 65, "fp": 25, "tn": 75} | counts
    return ba.posterior(ba.AttackCounts(**given), ba.Epsilon(delta, direction))


def test_every_case_of_either_engine_is_drawn(posteriors):
    for pair in posteriors.values():
        figure = Figure(figsize=(7, 6))
        axes = figure.subplots(2, 2)
        ba.plots.distribution(*pair.values(), claim=0.5, ax=axes[0])
        ba.plots.cdf_difference(pair["draws"], pair["exact"], ax=axes[1, 0])
        ba.plots.region(pair["draws"], ax=axes[1, 1])
        assert all(np.isfinite(ax.axis()).all() for ax in axes.flat)


def test_curves_are_the_posterior_and_the_facts_stand_beside(posteriors):
    post = posteriors["ordinary"]["exact"]
    pair = ba.plots.distribution(
        post, prob=0.95, claim=1.0, ax=Figure(figsize=(7, 3)).subplots(1, 2)
    )
    for ax, verb in zip(pair, (post.cdf, post.pdf), strict=True):
        x, y = ax.lines[0].get_data()
        np.testing.assert_allclose(y, verb(x))
        above = post.prob_above(1.0)
        assert labels(ax) == [f"exact\n95 % [0.522, 1.27], P(> 1) = {above:.3g}", "claim 1"]
    assert pair[0].get_xlabel() == "$\\hat\\varepsilon$ at $\\delta$ = 0.05 (nats)"


def test_the_ends_are_marked_on_the_curve(posteriors):
    post = posteriors["ordinary"]["exact"]
    for draw, verb in ((ba.plots.cdf, post.cdf), (ba.plots.density, post.pdf)):
        ax = one(draw, post)
        marks = [line.get_xydata()[0] for line in ax.lines if line.get_xydata().shape == (1, 2)]
        ends = np.array(tuple(post.interval()))
        np.testing.assert_allclose(marks, np.column_stack([ends, verb(ends)]), rtol=1e-2)


def test_the_band_is_two_standard_errors(posteriors):
    draws = posteriors["ordinary"]["draws"]
    for draw, verb in ((ba.plots.cdf, "cdf"), (ba.plots.density, "pdf")):
        ax = one(draw, draws)
        band = ax.collections[0].get_paths()[0].vertices
        x = ax.lines[0].get_xdata()[150]
        height = np.ptp(band[np.isclose(band[:, 0], x), 1])
        assert height == pytest.approx(4 * draws.mcse(verb, x), rel=0.05)
        assert labels(ax)[1] == "± 2 Monte Carlo s.e."


def test_the_atom_is_drawn_and_named(posteriors):
    post = posteriors["atom"]["exact"]
    for draw in (ba.plots.cdf, ba.plots.density):
        ax = one(draw, post)
        assert "P(= 0) = 0.846" in labels(ax)[0]
        stems = [line for line in ax.lines if list(line.get_xdata()) == [0, 0]]
        assert len(stems) == 1
        height = stems[0].get_ydata()[1] / (1.0 if draw is ba.plots.cdf else ax.get_ylim()[1])
        assert height == pytest.approx(float(post.prob_zero))


def test_posteriors_are_named_by_what_tells_them_apart(posteriors):
    def names(*found):
        return [text.split("\n")[0] for text in labels(one(ba.plots.cdf, *found))]

    assert names(exact(0), exact(1e-5)) == ["$\\delta$ = 0", "$\\delta$ = $10^{-5}$"]
    assert names(exact(), exact(direction="member")) == ["both directions", "direction declared"]
    assert names(exact(), exact(fn=20, tp=80)) == [
        "FN 35 of 100, FP 25 of 100",
        "FN 20 of 100, FP 25 of 100",
    ]
    assert names(exact(), exact()) == ["exact (1)", "exact (2)"]
    pair = posteriors["ordinary"]
    assert names(pair["draws"], pair["exact"])[:2] == ["2,000 draws", "exact"]
    ax = one(ba.plots.cdf, exact(0), exact(1e-5))
    assert ax.get_xlabel() == "$\\hat\\varepsilon$ (nats)"


def test_every_posterior_has_its_own_interval_and_claim_and_there_may_be_many():
    found = [exact(delta) for delta in np.linspace(0, 0.25, 7)]
    ax = one(ba.plots.density, *found, claim=1.0)
    texts = labels(ax)
    assert len(texts) == 8 and texts[-1] == "claim 1"
    for post, text in zip(found, texts[:-1], strict=True):
        lower, upper = post.interval()
        assert f"90 % [{lower:.3g}, {upper:.3g}]" in text
        assert f"P(> 1) = {post.prob_above(1.0):.3g}" in text
    drawn = {(line.get_color(), line.get_linestyle()) for line in ax.lines if line.get_markevery()}
    assert len(drawn) <= len(found)


def test_the_standard_error_is_named_once(posteriors):
    draws = posteriors["ordinary"]["draws"]
    ax = one(ba.plots.cdf, draws, draws, labels=["a", "b"])
    assert sum("Monte Carlo" in text for text in labels(ax)) == 1


def test_ends_of_a_million_trials_are_told_apart(posteriors):
    text = labels(one(ba.plots.cdf, posteriors["n = 1e6"]["exact"]))[0]
    assert text == "exact\n90 % [1.0266, 1.0327]"


def test_differences_have_the_error_of_both(posteriors):
    pair = posteriors["ordinary"]
    draws, quadrature = pair["draws"], pair["exact"]

    def band(*found):
        ax = one(ba.plots.cdf_difference, *found)
        x, y = ax.lines[-1].get_data()
        sizes = [np.abs(c.get_paths()[0].vertices[:, 1]).max() for c in ax.collections]
        return ax.get_title(), x, y, sizes

    title, x, y, sizes = band(draws, quadrature)
    assert title == "CDF of 2,000 draws − CDF of exact"
    np.testing.assert_allclose(y, draws.cdf(x) - quadrature.cdf(x), atol=1e-12)
    assert sizes[0] == pytest.approx(2 * sizes[1])
    swapped, _, minus, same = band(quadrature, draws)
    assert swapped == "CDF of exact − CDF of 2,000 draws"
    np.testing.assert_allclose(minus, -y)
    assert same == sizes
    title, _, y, both = band(draws, draws)
    assert title == "CDF of 2,000 draws (1) − CDF of 2,000 draws (2)"
    assert not y.any() and both[0] == pytest.approx(np.sqrt(2) * sizes[0])
    assert band(quadrature, quadrature)[3] == []


def test_posteriors_of_the_advantage_have_a_cdf(posteriors):
    found = [
        ba.fano.posterior_advantage(
            posteriors["delta = 0"]["exact"],
            lambda e, m=m: ba.fano.pure_dp_advantage(e, categories=m),
        )
        for m in (2, 10)
    ]
    ax = one(ba.plots.cdf, *found, labels=["M = 2", "M = 10"])
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, found[0].cdf(x))
    assert ax.get_xlabel() == "advantage"
    lower, upper = found[1].interval(0.9)
    assert labels(ax)[1] == f"M = 10\n90 % [{lower:.3g}, {upper:.3g}]"
    with pytest.raises(TypeError, match="have no density"):
        ba.plots.density(*found)


def test_errors_name_the_rule_and_leave_no_figure(posteriors):
    post = posteriors["ordinary"]["exact"]
    two = ba.AttackCounts(fn=[1, 2], tp=[1, 2], fp=[1, 2], tn=[1, 2])
    many = ba.posterior(two, ba.Epsilon(0))
    cases = [
        (ValueError, "one tally at a time", lambda: ba.plots.cdf(many)),
        (ValueError, "of one measure", lambda: ba.plots.cdf(post, posteriors["mu"]["exact"])),
        (ValueError, "labels must name 1", lambda: ba.plots.cdf(post, labels=["a", "b"])),
        (ValueError, "labels must name 1.*'a'", lambda: ba.plots.cdf(post, labels="a")),
        (TypeError, "needs posteriors, got int", lambda: ba.plots.region(3)),
        (ValueError, "rectangle must be one of", lambda: ba.plots.region(post, rectangle="wald")),
        (ValueError, "at least one posterior", lambda: ba.plots.distribution()),
        (ValueError, "ax must be two axes", lambda: ba.plots.distribution(post, ax=[])),
        (ValueError, "did you mean 0.9", lambda: ba.plots.density(post, prob=90)),
        (TypeError, "claim must be a real number", lambda: ba.plots.cdf(post, claim="1")),
        (TypeError, "needs posteriors", lambda: ba.plots.cdf_difference(post, 1)),
    ]
    for error, match, call in cases:
        with pytest.raises(error, match=match):
            call()
    assert plt.get_fignums() == []
