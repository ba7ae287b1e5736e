"""What holds of every figure: where it draws, its legend, its colours on either page."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bayesaudit.plots import _style


def narrow(*draws):
    """Panels of 3.5 inches, without any layout but what the figures ask for."""
    figure, axes = plt.subplots(1, len(draws), figsize=(3.5 * len(draws), 3))
    for ax, draw in zip(np.ravel(axes), draws, strict=True):
        draw(ax)
    figure.canvas.draw()
    return figure, np.ravel(axes)


def overlap(one, other):
    """Square pixels that two boxes share, apart from a pixel's rounding."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width - 1, 0) * max(height - 1, 0)


def test_legends_cover_neither_data_nor_labels_nor_each_other(calls):
    names = list(calls)
    for name in itertools.zip_longest(names[::2], names[1::2], fillvalue=names[0]):
        figure, axes = narrow(calls[name[0]], calls[name[1]])
        boxes = [ax.get_legend().get_window_extent() for ax in axes if ax.get_legend()]
        for box in boxes:
            assert box.y0 >= -1 and figure.bbox.y1 >= box.y1, name
            assert box.x0 >= -1 and figure.bbox.x1 + 1 >= box.x1, name
            for ax in axes:
                assert overlap(box, ax.get_window_extent()) == 0, name
                assert overlap(box, ax.xaxis.get_tightbbox()) == 0, name
        assert all(overlap(*pair) == 0 for pair in itertools.combinations(boxes, 2)), name
        for ax in axes:
            assert min(ax.get_window_extent().size) > 0.7 * figure.dpi, name
            for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
                box = text.get_window_extent()
                inside = overlap(box, figure.bbox) >= 0.98 * max(box.width - 1, 0) * (
                    box.height - 1
                )
                assert not text.get_text() or inside, (name, text.get_text())
        plt.close(figure)


def test_labels_do_not_overlap_in_narrow_panels(calls):
    for name in ("region, ordinary, exact", "assurance", "fano_bounds", "forest", "epsilon_curve"):
        figure, (ax,) = narrow(calls[name])
        for axis in (ax.xaxis, ax.yaxis):
            shown = [t.get_window_extent() for t in axis.get_ticklabels() if t.get_text()]
            inside = [box for box in shown if overlap(box, figure.bbox) > 0]
            assert not any(overlap(*pair) for pair in itertools.combinations(inside, 2)), name
        plt.close(figure)


def test_everything_has_a_name_and_units(pages):
    for name, ax in pages["light"].items():
        assert isinstance(ax, Axes), name
        assert ax.get_xlabel(), name
        assert ax.get_ylabel() or ax.get_yticklabels(), name
        for label in (ax.get_xlabel(), ax.get_ylabel()):
            assert "varepsilon" not in label or "nats" in label, name
        labels = ax.get_legend_handles_labels()[1]
        assert len(labels) == len(set(labels)), name


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    """Contrast ratio of WCAG 2, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", ["light", "dark"])
def test_lines_and_text_are_seen_on_either_page(pages, page):
    for name, ax in pages[page].items():
        ground = ax.figure.get_facecolor()
        assert (luminance(ground) < 0.1) == (page == "dark")
        lines = [to_rgba(line.get_color()) for line in ax.lines]
        edges = [patch.get_edgecolor() for patch in ax.patches]
        texts = [] if ax.get_legend() is None else ax.get_legend().get_texts()
        for colour in lines + edges:
            assert contrast(colour, ground) > 2, name
        for text in [*texts, *ax.texts]:
            assert contrast(to_rgba(text.get_color()), ground) > 4.5, name


def test_the_page_is_read_off_the_axes():
    ax = Figure(facecolor="none").subplots()
    ax.set_facecolor("none")
    assert not _style.is_dark(ax)
    ax.xaxis.label.set_color("white")
    assert _style.is_dark(ax)
    ax.set_facecolor("white")
    assert not _style.is_dark(ax)


def test_series_differ_without_colour_and_without_end():
    ax = Figure().subplots()
    looks = [_style.look(ax, i) for i in range(12)]
    assert len(set(looks)) == 12
    assert len({(one.line, one.marker) for one in looks[:5]}) == 5


def test_axes_that_are_given_leave_pyplot_alone(pages):
    assert plt.get_fignums() == []
    for ax in pages["light"].values():
        assert getattr(ax.figure, "number", None) is None


def test_without_axes_there_is_one_figure(calls):
    for name in ("region, ordinary, exact", "forest", "coverage", "roc"):
        ax = calls[name]()
        assert plt.get_fignums() == [ax.figure.number], name
        plt.close(ax.figure)
    with pytest.raises(TypeError, match="ax must be Matplotlib axes, got int"):
        calls["forest"](3)


def test_a_layout_that_is_chosen_is_kept(calls):
    figure = Figure(layout="tight")
    calls["forest"](figure.subplots())
    assert type(figure.get_layout_engine()).__name__ == "TightLayoutEngine"


def test_drawing_twice_leaves_one_legend(calls):
    ax = Figure().subplots()
    calls["cdf, ordinary"](ax)
    calls["cdf, ordinary"](ax)
    assert len([a for a in ax.get_children() if type(a).__name__ == "Legend"]) == 1
