"""An audit as the JSON contract holds it (schema version 1)."""

from typing import Any

from bayesaudit.audits._line import (
    BETA_BINOMIAL,
    CROSSED,
    DRAWS,
    EXACT_POSTERIOR,
    MEMBER,
    UNIFORM_ICC,
    Line,
)

__all__ = ["results"]


def results(audit: Any) -> dict[str, Any]:
    """Return the results of an audit of one tally: those of the first delta, and all by delta."""
    places = [_place(audit, delta) for delta in audit.delta]
    found = {**places[0], "conclusion": audit.conclusion, "recommended": _named(audit.recommended)}
    if audit.dependence is not None:
        found["dependence"] = audit.dependence.to_dict()
    if audit.threshold is not None:
        found["threshold"] = audit.threshold
    if audit.roc is not None:
        found["roc"] = audit.roc
    if len(places) > 1:
        found["by_delta"] = [
            {"delta": delta, **place} for delta, place in zip(audit.delta, places, strict=True)
        ]
    return found


def _named(line: Line | None) -> str | None:
    return None if line is None else line.method


def _place(audit: Any, delta: float) -> dict[str, Any]:
    """Return what is said at one delta."""
    lines = {line.method: line for line in audit.lines if line.delta == delta}
    found: dict[str, Any] = {"epsilon": _epsilon(audit, lines), "claim": _claim(audit, lines)}
    if delta in audit.bounds:
        found["threshold"] = audit.bounds[delta]
    if audit.draws is not None:
        check = audit.draws.cross_check.get(delta)
        found["cross_check"] = None if check is None else check.to_dict()
        found["diagnostics"] = audit.draws.diagnosis[delta].to_dict()
    return found


def _epsilon(audit: Any, lines: dict[str, Line]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if audit.no_posterior is not None:
        found |= {"credible": None, "credible_reason": audit.no_posterior}
    for method, place in ((EXACT_POSTERIOR, "credible"), (MEMBER, "credible_member")):
        if method in lines:
            found[place] = _credible(lines[method])
    confidence = {
        method: _confidence(line)
        for method, line in lines.items()
        if line.statement != "credible" and method != CROSSED
    }
    if confidence:
        found["confidence"] = confidence
    if BETA_BINOMIAL in lines:
        found["dependent"] = _dependent(audit, lines)
    if CROSSED in lines:
        found["crossed"] = _confidence(lines[CROSSED])
    groups = [line for method, line in lines.items() if method.startswith(f"{DRAWS}, ")]
    if groups:
        found["draws_by_group"] = [_credible(line) for line in groups]
    if DRAWS in lines:
        found["draws"] = _credible(lines[DRAWS])
        if audit.own_model is not None and BETA_BINOMIAL in lines:
            # The sampled model takes the dependent place, and the built-in one stands beside it.
            found["beta_binomial"] = found["dependent"]
            names = ("lower", "upper", "median", "mean", "prob_zero")
            found["dependent"] = {
                **{name: found["draws"][name] for name in names},
                "model": audit.own_model,
                "icc_prior": None,
                "uniform_icc": None,
                "prior_driven": audit.dependence.n_models < 2,
            }
    return found


def _credible(line: Line) -> dict[str, Any]:
    return {"lower": line.lower, "upper": line.upper, **line.summary}


def _dependent(audit: Any, lines: dict[str, Line]) -> dict[str, Any]:
    line, companion = lines[BETA_BINOMIAL], lines[UNIFORM_ICC]
    found = {
        **_credible(line),
        "model": "beta-binomial",
        "uniform_icc": {
            "lower": companion.lower,
            "upper": companion.upper,
            "median": companion.summary["median"],
        },
        "prior_driven": line.guarantee == "prior-driven",
    }
    return found if audit.claim is None else {**found, "prob_above_claim": line.prob_above}


def _confidence(line: Line) -> dict[str, Any]:
    if "n_guesses" in line.summary:  # one run: the entry is that of its own result
        return dict(line.summary)
    entry = {"lower": line.lower, "upper": line.upper, "guarantee": line.guarantee}
    if line.is_guaranteed:
        entry["assumption"] = line.assumption
    if line.reason is not None:
        entry["upper_reason"] = line.reason
    return entry | dict(line.summary)


def _claim(audit: Any, lines: dict[str, Line]) -> dict[str, Any] | None:
    if audit.claim is None:
        return None
    if EXACT_POSTERIOR in lines:
        return {"epsilon": audit.claim, "prob_above": lines[EXACT_POSTERIOR].prob_above}
    if audit.kind == "one-run":
        p_values = {method: line.p_value for method, line in lines.items()}
        return {"epsilon": audit.claim, "p_value": p_values}
    if audit.kind == "draws":
        return {"epsilon": audit.claim, "prob_above": lines[DRAWS].prob_above}
    line = next(iter(lines.values()))
    return {
        "epsilon": audit.claim,
        "prob_above": None,
        "prob_above_reason": audit.no_posterior,
        "refuted": line.is_bound and bool(line.lower > audit.claim),
    }
