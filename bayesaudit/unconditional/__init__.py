"""The exact unconditional lower bound on ε̂: guaranteed, with the posterior as its ordering."""

from bayesaudit.unconditional.bound import exact_unconditional

__all__ = ["exact_unconditional"]
