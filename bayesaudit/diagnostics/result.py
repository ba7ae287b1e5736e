"""What `diagnose` returns: checks with values, thresholds, meanings and remedies."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayesaudit._result import Result, Table
from bayesaudit.measures import Measure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["Check", "Diagnosis"]


@dataclass(frozen=True, slots=True)
class Check(Result):
    """One check of a posterior.

    Parameters
    ----------
    name : str
        Short name, stable across versions.
    value : float
        What was found, the worst over variables and tallies.
    threshold : float
        The largest or smallest value that passes, as `passes_below` says.
    passes_below : bool
        Whether values up to the threshold pass, rather than values from it on.
    passed : bool
        Whether the value passes.
    meaning : str
        What the check is about.
    remedy : str
        What to do when it fails.
    where : str
        Which variable or tally the value belongs to; "" where there is only one.
    """

    name: str
    value: float
    threshold: float
    passes_below: bool
    passed: bool
    meaning: str
    remedy: str
    where: str = ""

    _omit = ("passes_below",)


@dataclass(frozen=True, slots=True)
class Diagnosis(Table):
    """Whether a posterior can be trusted, and why.

    Parameters
    ----------
    checks : tuple of Check
        Every check that applies.
    skipped : dict
        Checks that do not apply: name and reason.
    measure : Measure
        What was measured.
    prob : float
        Mass of the interval whose ends were checked.
    interval, prior_interval : tuple of float or None
        The credible interval, and that of the prior alone; None for many tallies, or without draws
        of the prior.
    n_chains, n_draws : int
        Chains, and draws of each.
    dt : xarray.DataTree
        The draws, for `figures`.
    """

    checks: tuple[Check, ...]
    skipped: dict[str, str]
    measure: Measure
    prob: float
    interval: tuple[float, float] | None
    prior_interval: tuple[float, float] | None
    n_chains: int
    n_draws: int
    dt: "xr.DataTree" = field(repr=False)

    _rows = "checks"
    _omit = ("measure", "dt")
    _also = ("passed",)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def __getitem__(self, name: str) -> Check:
        """Return the check of that name."""
        for check in self.checks:
            if check.name == name:
                return check
        if name in self.skipped:
            raise KeyError(f"{name} was skipped: {self.skipped[name]}")
        raise KeyError(name)

    def __str__(self) -> str:
        if self.passed:
            return f"diagnostics passed: {len(self.checks)} checks"
        reasons = "; ".join(f"{check.name}: {check.meaning}" for check in self.failed)
        return f"diagnostics FAILED {len(self.failed)} of {len(self.checks)} checks: {reasons}"

    def table(self) -> str:
        """Return the checks as aligned text, then what failed and what to do about it."""
        wide = max(len(name) for name in (*self.skipped, *(check.name for check in self.checks)))
        lines = []
        for check in self.checks:
            sign = "<=" if check.passes_below else ">="
            verdict = "ok" if check.passed else "FAILED"
            value, threshold = _shown(check.value), _shown(check.threshold)
            line = (
                f"{check.name:{wide}}  {value:>9} {sign} {threshold:<7} {verdict:6} {check.where}"
            )
            lines.append(line.rstrip())
        lines += [f"{name:{wide}}  skipped: {why}" for name, why in self.skipped.items()]
        lines += [f"{check.name}: {check.meaning}; {check.remedy}." for check in self.failed]
        if self.interval is not None and self.prior_interval is not None:
            (low, high), (before, after) = self.interval, self.prior_interval
            lines.append(
                f"the {100 * self.prob:g} % interval of {self.measure.name} is [{low:.4g}, "
                f"{high:.4g}]; under the prior alone it was [{before:.4g}, {after:.4g}]."
            )
        return "\n".join(lines)

    def figures(self) -> dict[str, "Figure"]:
        """Return ArviZ's pictures of the draws as Matplotlib figures, by name.

        Returns
        -------
        dict
            "trace" and "rank" of the rates and the measure, "ess" of the measure's quantiles,
            "energy" where the sampler recorded it, and "predictive" for data along a ``model`` dim.
        """
        from bayesaudit.diagnostics.figures import figures

        return figures(self.dt, self.measure)


def _ends(interval: tuple[float, float] | None) -> list[float | None] | None:
    if interval is None:
        return None
    return [float(end) if np.isfinite(end) else None for end in interval]


def _shown(value: float) -> str:
    if not np.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value == round(value) and abs(value) >= 10 else f"{value:.4g}"
