"""Figures of results: one function a question, each returning the Axes it drew on.

Every function takes result objects. Without `ax` it makes a figure of pyplot, as plotting libraries
do: a notebook shows it once, a script saves or shows it. With `ax` it draws there and pyplot is not
touched, which suits reports, servers and panels of one's own. The style follows the page, light or
dark; colours are safe for the colour-blind, and lines and markers differ too. Legends stand below
the axes, where they cover no data: a figure without a layout engine gets the constrained one for
that.
"""

from bayesaudit.plots._style import legend
from bayesaudit.plots.assurance import assurance
from bayesaudit.plots.coverage import coverage
from bayesaudit.plots.diagnostics import diagnostics, sbc
from bayesaudit.plots.difference import cdf_difference
from bayesaudit.plots.distribution import cdf, density, distribution
from bayesaudit.plots.epsilon_curve import epsilon_curve
from bayesaudit.plots.fano import fano_bounds, fano_curves
from bayesaudit.plots.forest import forest
from bayesaudit.plots.region import region
from bayesaudit.plots.roc import roc
from bayesaudit.plots.tipping import tipping
from bayesaudit.plots.tradeoff import tradeoff

__all__ = [
    "assurance",
    "cdf",
    "cdf_difference",
    "coverage",
    "density",
    "diagnostics",
    "distribution",
    "epsilon_curve",
    "fano_bounds",
    "fano_curves",
    "forest",
    "legend",
    "region",
    "roc",
    "sbc",
    "tipping",
    "tradeoff",
]
