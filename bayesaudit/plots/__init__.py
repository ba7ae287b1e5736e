"""Figures of privacy posteriors: Matplotlib figures, returned and never shown.

Every function takes posteriors of either engine, exact or draws, of one tally.
"""

from bayesaudit.plots.distribution import cdf, cdf_difference, density, distribution
from bayesaudit.plots.region import region
from bayesaudit.plots.tipping import tipping

__all__ = ["cdf", "cdf_difference", "density", "distribution", "region", "tipping"]
