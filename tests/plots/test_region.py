import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import bayesaudit as ba
from bayesaudit.plots._contours import joint_density


def draw(post, **options):
    return ba.plots.region(post, **options, ax=Figure().subplots())


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def test_the_region_has_its_parts(posteriors):
    for post in posteriors["ordinary"].values():
        ax = draw(post, prob=0.95)
        lower, upper = post.interval(0.95)
        assert labels(ax) == [
            f"$\\hat\\varepsilon$ ≤ {upper:.3g}",
            f"$\\hat\\varepsilon$ ≤ {lower:.3g}",
            "guessing",
            "posterior 50, 90, 99 %",
            "clopper-pearson 95 %",
            "observed rates",
        ]
        box = ax.patches[-1].get_bbox()
        right = ba.rectangle(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), 0.95)
        np.testing.assert_allclose([box.x0, box.x1], np.ravel(right.fpr))
        np.testing.assert_allclose([box.y0, box.y1], np.ravel(right.fnr))


def test_what_is_shaded_is_what_the_legend_shows(posteriors):
    ax = draw(posteriors["ordinary"]["exact"])
    handles = ax.get_legend_handles_labels()[0][:2]
    shown = [handle.get_facecolor() for handle in ax.get_legend().legend_handles[:2]]
    for handle, swatch in zip(handles, shown, strict=True):
        np.testing.assert_allclose(np.ravel(handle.get_facecolor()), to_rgba(swatch))
        assert np.ravel(handle.get_facecolor())[3] == 1  # opaque: no fill shows through another


def test_small_posteriors_are_enlarged_and_wide_ones_are_not(posteriors):
    for name, enlarged in {"ordinary": False, "no error": True, "n = 1e6": True}.items():
        for post in posteriors[name].values():
            ax = draw(post)
            assert (np.ptp(ax.get_xlim()) < 0.5) == enlarged, name
            assert np.ptp(draw(post, zoom=not enlarged).get_xlim()) != np.ptp(ax.get_xlim())
            inside = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "+"]
            ((x, y),) = inside
            assert ax.get_xlim()[0] <= x <= ax.get_xlim()[1]
            assert ax.get_ylim()[0] <= y <= ax.get_ylim()[1]


def test_boundaries_are_those_of_the_measure_in_an_enlarged_view(posteriors):
    # GaussianMu has a curved boundary: a coarse grid would cut its corners when enlarged.
    counts = ba.AttackCounts(fn=300, tp=99_700, fp=200, tn=99_800)
    post = ba.posterior(counts, ba.GaussianMu())
    ax = draw(post)
    low, high = ax.get_ylim()
    fnr = np.linspace(max(low, 1e-6), high, 50)
    upper = float(post.interval().upper)
    edge = next(line for line in ax.lines if line.get_linewidth() == 0.8)
    x, y = edge.get_data()
    exact = post.measure.region(upper, fnr)[0]
    assert np.abs(np.interp(fnr, y, x) - exact).max() < 1e-3 * np.ptp(ax.get_xlim())


def masses_inside(joint, fpr, fnr):
    at = joint.height[
        np.clip(np.searchsorted(joint.fnr, fnr), 0, joint.fnr.size - 1),
        np.clip(np.searchsorted(joint.fpr, fpr), 0, joint.fpr.size - 1),
    ]
    return [np.mean(at >= cut) for cut in joint.cuts]


@pytest.mark.parametrize("name", ["ordinary", "no error", "n = 1e6"])
def test_contours_hold_their_mass(posteriors, name):
    # Of fresh draws, not those behind the contours; 3 standard errors of 20,000 and the grid.
    pair, masses = posteriors[name], (0.9, 0.5)
    counts = pair["exact"].counts
    rng = np.random.default_rng(2)
    fpr = rng.beta(counts.fp + 0.5, counts.tn + 0.5, 20_000)
    fnr = rng.beta(counts.fn + 0.5, counts.tp + 0.5, 20_000)
    error = np.sqrt(0.25 / 20_000)
    for post, more in ((pair["exact"], 0.01), (pair["draws"], 3 * np.sqrt(0.25 / 2000))):
        found = masses_inside(joint_density(post, masses), fpr, fnr)
        np.testing.assert_allclose(found, masses, atol=3 * error + more)


def test_contours_of_draws_are_smooth(posteriors):
    # An ellipse has one maximum of curvature at each end; a wavy line many turns of direction.
    from contourpy import contour_generator

    joint = joint_density(posteriors["n = 1e6"]["draws"], (0.99, 0.9, 0.5))
    x = (joint.fpr - joint.fpr.mean()) / np.ptp(joint.fpr)
    y = (joint.fnr - joint.fnr.mean()) / np.ptp(joint.fnr)
    for cut in joint.cuts:
        lines = contour_generator(x, y, joint.height).lines(cut)
        assert len(lines) == 1
        # Convex up to the grid: the turning angles of a polygon of 40 sides have one sign.
        corners = lines[0][np.linspace(0, len(lines[0]) - 1, 40).astype(int)]
        step = np.diff(corners, axis=0)
        cross = step[:-1, 0] * step[1:, 1] - step[:-1, 1] * step[1:, 0]
        assert np.all(np.sign(cross) == np.sign(cross[0]))


def test_posteriors_without_counts_are_drawn_without_them(posteriors):
    post = ba.posterior(posteriors["ordinary"]["exact"].rates, ba.Epsilon(0.05))
    assert "observed rates" not in labels(draw(post))
    assert "jeffreys 90 %" not in labels(draw(post, rectangle="jeffreys"))
