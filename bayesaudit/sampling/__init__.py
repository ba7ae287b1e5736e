"""Sampling: the only room where draws are made, from counts or from any PyMC model.

`sample` takes counts or a PyMC model and returns one ``xarray.DataTree``; `compile_model` serves
many data sets of one model without compiling again; `save` and `load` keep a tree as netCDF.
"""

from bayesaudit.sampling._compiled import CompiledAudit, compile_model
from bayesaudit.sampling._sample import GROUPS, sample
from bayesaudit.sampling._score_conjugate import conjugate_scores
from bayesaudit.sampling._trees import load, save

__all__ = ["GROUPS", "CompiledAudit", "compile_model", "conjugate_scores", "load", "sample", "save"]
