import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesaudit as ba
from bayesaudit.plots.region import _contours

MEASURE = ba.Epsilon(0.05)


def pair(fn, tp, fp, tn, measure=MEASURE):
    """The exact posterior and that of draws."""
    counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
    return {
        "exact": ba.posterior(counts, measure),
        "draws": ba.posterior(ba.sample(counts, random_seed=1), measure),
    }


@pytest.fixture(scope="module")
def example():
    return pair(35, 65, 25, 75)


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def rendered(figure):
    """The figure, drawn: layout and text errors show only then."""
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    return figure


CASES = {
    "ordinary": (35, 65, 25, 75, MEASURE),
    "no error": (0, 100, 0, 100, ba.Epsilon(1e-5)),
    "atom": (50, 50, 50, 50, ba.Epsilon(0.1)),
    "always 0": (50, 50, 50, 50, ba.Epsilon(0.99)),
    "one trial": (0, 1, 0, 1, ba.Epsilon(0)),
    "mu": (35, 65, 25, 75, ba.GaussianMu()),
    "advantage": (65, 35, 75, 25, ba.Advantage()),
}


@pytest.mark.parametrize("name", CASES)
def test_both_engines_give_every_figure(name):
    posteriors = pair(*CASES[name])
    for post in posteriors.values():
        rendered(ba.plots.distribution(post, claim=0.5))
        rendered(ba.plots.region(post))
        rendered(ba.plots.region(post, zoom=True, rectangle=None))
    rendered(ba.plots.distribution(posteriors["draws"], posteriors["exact"]))
    rendered(ba.plots.cdf_difference(posteriors["draws"], posteriors["exact"]))


def test_curves_are_the_posterior(example):
    figure = ba.plots.distribution(example["exact"], prob=0.95, claim=1.0)
    left, right = figure.axes
    for axes, verb in ((left, example["exact"].cdf), (right, example["exact"].pdf)):
        x, y = axes.lines[0].get_data()
        np.testing.assert_allclose(y, verb(x))
        above = example["exact"].prob_above(1.0)
        assert f"claim 1: P(above) = {above:.3g}" in labels(axes)
    assert "95 % [0.522, 1.27]" in labels(right)


def test_the_band_is_two_standard_errors(example):
    axes = ba.plots.cdf(example["draws"]).axes[0]
    band = axes.collections[0].get_paths()[0].vertices
    x = axes.lines[0].get_xdata()[150]
    height = np.ptp(band[np.isclose(band[:, 0], x), 1])
    assert height == pytest.approx(4 * example["draws"].mcse("cdf", x), rel=0.02)


def test_the_atom_is_drawn_and_named():
    post = pair(*CASES["atom"])["exact"]
    right = ba.plots.density(post).axes[0]
    assert any("= 0) = 0.846" in text for text in labels(right))
    left = ba.plots.cdf(post).axes[0]
    assert any(list(line.get_data()[1]) == [pytest.approx(post.prob_zero)] for line in left.lines)


def test_the_region_has_its_parts(example):
    for post in example.values():
        axes = ba.plots.region(post, prob=0.95).axes[0]
        lower, upper = post.interval(0.95)
        text = labels(axes)
        assert f"$\\hat\\varepsilon$ ≤ {lower:.3g}" in text
        assert f"$\\hat\\varepsilon$ ≤ {upper:.3g}" in text
        assert "clopper-pearson 95 %" in text and "attack (observed rates)" in text
        box = axes.patches[-1].get_bbox()
        right = ba.rectangle(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), 0.95)
        np.testing.assert_allclose([box.x0, box.x1], np.ravel(right.fpr))
        np.testing.assert_allclose([box.y0, box.y1], np.ravel(right.fnr))


def test_contours_hold_their_mass(example):
    # Of the exact contours, the share of draws inside; of the draws' own, likewise.
    rates = example["draws"].dt["posterior"]
    fpr, fnr = (rates[name].values.ravel() for name in ("fpr", "fnr"))
    for post, tolerance in ((example["exact"], 0.02), (example["draws"], 0.03)):
        x, y, height, cuts = _contours(post, (0.9, 0.5))
        at = height[
            np.clip(np.searchsorted(y, fnr), 0, y.size - 1),
            np.clip(np.searchsorted(x, fpr), 0, x.size - 1),
        ]
        for cut, mass in zip(cuts, (0.9, 0.5), strict=True):
            assert np.mean(at >= cut) == pytest.approx(mass, abs=tolerance)


def test_posteriors_without_counts_are_drawn_without_them(example):
    post = ba.posterior(example["exact"].rates, MEASURE)
    assert "attack (observed rates)" not in labels(ba.plots.region(post).axes[0])


def test_axes_may_be_given_and_nothing_is_shown(example):
    import matplotlib.pyplot as plt

    figure = Figure()
    axes = figure.subplots()
    assert ba.plots.cdf(example["exact"], ax=axes) is figure
    assert plt.get_fignums() == []


def test_errors_name_the_rule(example):
    two = ba.AttackCounts(fn=[1, 2], tp=[1, 2], fp=[1, 2], tn=[1, 2])
    with pytest.raises(ValueError, match="one tally at a time"):
        ba.plots.cdf(ba.posterior(two, MEASURE))
    with pytest.raises(ValueError, match="of one measure"):
        ba.plots.cdf(example["exact"], pair(*CASES["mu"])["exact"])
    with pytest.raises(ValueError, match="labels must name 1"):
        ba.plots.cdf(example["exact"], labels=["a", "b"])
    with pytest.raises(TypeError, match="needs posteriors, got int"):
        ba.plots.region(3)
    with pytest.raises(ValueError, match="rectangle must be one of"):
        ba.plots.region(example["exact"], rectangle="wald")
    with pytest.raises(ValueError, match="at least one posterior"):
        ba.plots.distribution()
