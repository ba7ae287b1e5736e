"""Figures of results: one function a question, each returning the Axes it drew on.

Every function takes result objects. Without `ax` it makes a figure of pyplot, as plotting libraries
do: a notebook shows it once, a script saves or shows it. With `ax` it draws there and pyplot is not
touched, which suits reports, servers and panels of one's own. The style follows the page, light or
dark; colours are safe for the colour-blind, and lines and markers differ too. Legends stand below
the axes, where they cover no data: a figure without a layout engine gets the constrained one for
that.
"""

from bayesaudit.plots._assurance import assurance
from bayesaudit.plots._coverage import coverage
from bayesaudit.plots._diagnostics import diagnostics, sbc
from bayesaudit.plots._difference import cdf_difference
from bayesaudit.plots._distribution import cdf, density, distribution
from bayesaudit.plots._epsilon_curve import epsilon_curve
from bayesaudit.plots._fano import fano_bounds, fano_curves
from bayesaudit.plots._forest import forest
from bayesaudit.plots._region import region
from bayesaudit.plots._roc import roc
from bayesaudit.plots._style import legend
from bayesaudit.plots._tipping import tipping
from bayesaudit.plots._tradeoff import tradeoff

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
