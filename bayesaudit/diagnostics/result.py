"""What `diagnose` returns: checks with values, thresholds, meanings and remedies."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesaudit._result import Result, Table
from bayesaudit.diagnostics.rules import GROUPS, Group, Rule
from bayesaudit.measures import Measure

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Check", "Diagnosis", "Verdict"]

Verdict = Literal["passed", "caution", "failed"]


@dataclass(frozen=True, slots=True)
class Check(Result):
    """One check of a posterior.

    Parameters
    ----------
    name : str
        Short name, stable across versions.
    value : float
        What was found, the worst over variables and tallies.
    rule : Rule
        Threshold, group, meaning and remedy.
    where : str
        Which variable or tally the value belongs to; "" where there is only one.
    detail : str
        What these data say of it, in numbers; "" where there is nothing to add.
    """

    name: str
    value: float
    rule: Rule
    where: str = ""
    detail: str = ""

    _omit = ("rule",)
    _also = ("group", "verdict", "threshold", "passed", "meaning", "remedy")

    @property
    def passed(self) -> bool:
        """Whether the value is within the threshold; NaN is not."""
        rule = self.rule
        return bool(self.value <= rule.threshold if rule.below else self.value >= rule.threshold)

    @property
    def verdict(self) -> Verdict:
        """Whether it "passed", or is a "caution" or "failed"."""
        if self.passed:
            return "passed"
        return "failed" if self.rule.fatal else "caution"

    @property
    def group(self) -> Group:
        """What it is about: "draws", "model" or "prior"."""
        return self.rule.group

    @property
    def threshold(self) -> float:
        """The largest or smallest value that passes."""
        return self.rule.threshold

    @property
    def passes_below(self) -> bool:
        """Whether values up to the threshold pass, rather than values from it on."""
        return self.rule.below

    @property
    def meaning(self) -> str:
        """What a value beyond the threshold means."""
        return self.rule.meaning

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.rule.remedy

    @property
    def reason(self) -> str:
        """What is wrong, in one clause: the meaning, then the numbers."""
        return f"{self.meaning} ({self.detail})" if self.detail else self.meaning


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
        The draws, for `bayesaudit.plots.diagnostics`.
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
    _also = ("verdict", "passed")

    @property
    def verdict(self) -> Verdict:
        """Return "failed", "caution" or "passed".

        "failed": do not use the number, since the draws are bad or the model is contradicted.
        "caution": the number holds, and depends on what the cautions name (a prior that speaks, a
        single chain). "passed": neither.
        """
        if self.failed:
            return "failed"
        return "caution" if self.cautions else "passed"

    @property
    def passed(self) -> bool:
        """Whether nothing failed; cautions are allowed (see `verdict`)."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.verdict == "failed")

    @property
    def cautions(self) -> tuple[Check, ...]:
        """The checks that call for caution."""
        return tuple(check for check in self.checks if check.verdict == "caution")

    def __getitem__(self, name: str) -> Check:
        """Return the check of that name."""
        for check in self.checks:
            if check.name == name:
                return check
        if name in self.skipped:
            raise KeyError(f"{name} was skipped: {self.skipped[name]}")
        raise KeyError(name)

    def __str__(self) -> str:
        total = f"{len(self.checks)} checks"
        if self.verdict == "passed":
            return f"diagnostics passed: {total}"
        found = self.failed or self.cautions
        reasons = "; ".join(f"{check.name}: {check.reason}" for check in found)
        if self.failed:
            return f"diagnostics FAILED {len(found)} of {total}: {reasons}"
        return f"diagnostics passed with caution, {len(found)} of {total}: {reasons}"

    def table(self) -> str:
        """Return the checks as aligned text by group, then what did not pass and what to do."""
        wide = max(len(name) for name in (*self.skipped, *(check.name for check in self.checks)))
        lines = []
        for check in sorted(self.checks, key=lambda check: list(GROUPS).index(check.group)):
            sign = "<=" if check.passes_below else ">="
            verdict = {"passed": "ok", "caution": "caution", "failed": "FAILED"}[check.verdict]
            value, threshold = _shown(check.value), _shown(check.threshold)
            line = (
                f"{check.name:{wide}}  {check.group:5} {value:>9} {sign} {threshold:<7} "
                f"{verdict:7} {check.where}"
            )
            lines.append(line.rstrip())
        lines += [f"{name:{wide}}  skipped: {why}" for name, why in self.skipped.items()]
        lines += [
            f"{check.name}: {GROUPS[check.group]}: {check.reason}; {check.remedy}."
            for check in (*self.failed, *self.cautions)
        ]
        if self.interval is not None and self.prior_interval is not None:
            (low, high), (before, after) = self.interval, self.prior_interval
            lines.append(
                f"the {100 * self.prob:g} % interval of {self.measure.name} is [{low:.4g}, "
                f"{high:.4g}]; under the prior alone it was [{before:.4g}, {after:.4g}]."
            )
        return "\n".join(lines)


def _shown(value: float) -> str:
    if not np.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value == round(value) and abs(value) >= 10 else f"{value:.4g}"
