"""Whole curves: ε as a function of δ, and the trade-off of the two error rates."""

from bayesaudit.curves._epsilon import EpsilonCurve, band_mass, delta_grid, epsilon_curve
from bayesaudit.curves._tradeoff import (
    DirichletSupremum,
    TradeoffCurve,
    dirichlet_supremum,
    tradeoff_curve,
)

__all__ = [
    "DirichletSupremum",
    "EpsilonCurve",
    "TradeoffCurve",
    "band_mass",
    "delta_grid",
    "dirichlet_supremum",
    "epsilon_curve",
    "tradeoff_curve",
]
