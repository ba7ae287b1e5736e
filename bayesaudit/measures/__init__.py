"""Measures: what of privacy is measured, a function of the two error rates, with its region.

A measure knows two things and nothing about posteriors: `of(fnr, fpr)`, the value at a pair of
rates, and `region(level, fnr)`, the range of FPR for which the value is at most a level. What lies
*above* a level is described once more as disjoint *wedges*, in a form that keeps full relative
precision where a rate or its complement is tiny; that is what the exact engine integrates over.
"""

from bayesaudit.measures._base import Measure, Wedge, boundary_polygon
from bayesaudit.measures.advantage import Advantage
from bayesaudit.measures.epsilon import Direction, Epsilon
from bayesaudit.measures.gaussian import GaussianMu

__all__ = [
    "Advantage",
    "Direction",
    "Epsilon",
    "GaussianMu",
    "Measure",
    "Wedge",
    "boundary_polygon",
]
