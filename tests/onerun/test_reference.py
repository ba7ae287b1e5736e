"""Every reference value of the one-run bounds."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

import bayesaudit as ba
from bayesaudit import onerun

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "onerun.json").read_text())


def label(row: dict) -> str:
    names = ("method", "curve", "n_canaries", "n_guesses", "n_correct", "delta", "level")
    return "-".join(str(row[name]) for name in names if row[name] is not None)


@pytest.mark.parametrize("row", REFERENCE["one_run"], ids=label)
def test_lower_bound(row):
    result = onerun.audit(
        n_canaries=row["n_canaries"],
        n_guesses=row["n_guesses"],
        n_correct=row["n_correct"],
        delta=row["delta"],
        method=row["method"],
        curve=row["curve"] or "gaussian",
        prob=1 - 2 * row["level"],
    )
    assert result.lower == pytest.approx(row["epsilon"], rel=1e-8, abs=2e-8)
    assert result.epsilon_lower(row["level"]) == pytest.approx(row["epsilon"], rel=1e-8, abs=2e-8)


@pytest.mark.parametrize("row", REFERENCE["gdp"], ids=lambda row: f"{row['fn']}-{row['fp']}")
def test_gdp_from_counts(row):
    counts = ba.AttackCounts(**{name: row[name] for name in ("fn", "tp", "fp", "tn")})
    mu = ba.confidence_interval(counts, ba.GaussianMu("member"), 1 - 2 * row["level"]).lower
    assert mu == pytest.approx(row["mu"], rel=1e-12)
    epsilon = onerun.GaussianCurve().epsilon(mu, row["delta"])
    assert epsilon == pytest.approx(row["epsilon"], rel=1e-12)


@pytest.mark.parametrize("method", ["steinke", "f-dp"])
@pytest.mark.parametrize("row", REFERENCE["pareto"]["values"], ids=lambda row: str(row["shift"]))
def test_bonferroni_over_the_pareto_thresholds(row, method):
    n, delta = REFERENCE["pareto"]["n"], REFERENCE["pareto"]["delta"]
    out = ndtri((np.arange(n) + 0.5) / n)
    result = onerun.audit_pareto(
        np.concatenate([out + row["shift"], out]),
        np.repeat([1, 0], n),
        delta=delta,
        method=method,
        prob=1 - 2 * REFERENCE["pareto"]["level"],
    )
    assert result.lower == pytest.approx(row[method.replace("-", "_")], rel=1e-5)
    assert not result.declared
    assert "no proof" in result.assumption
    if row["shift"]:
        assert result.audit().lower == pytest.approx(result.lower, rel=1e-12)
