"""Score models without PyMC: their data, exact draws where conjugate, and what draws then say.

`bayesaudit.models.location`, `binormal` and `student` build the same models for NUTS.
"""

from bayesaudit.score_laws._conjugate import ConjugateFamily, conjugate_draws
from bayesaudit.score_laws._data import (
    SHIFTS,
    SIDES,
    ScoreData,
    Transform,
    has_statistics,
    score_data,
    statistics,
    transformed,
)
from bayesaudit.score_laws._draws import ScoreDraws, rates_of

__all__ = [
    "SHIFTS",
    "SIDES",
    "ConjugateFamily",
    "ScoreData",
    "ScoreDraws",
    "Transform",
    "conjugate_draws",
    "has_statistics",
    "rates_of",
    "score_data",
    "statistics",
    "transformed",
]
