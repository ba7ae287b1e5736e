"""What a report says, section by section, as plain text: the same for every format."""

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesaudit._result import shown
from bayesaudit._version import __version__
from bayesaudit.audits import BETA_BINOMIAL, DRAWS, EXACT_POSTERIOR, Audit, Line
from bayesaudit.measures import Epsilon

__all__ = ["content"]

#: Statement of a line -> what it is a statement about.
MEANINGS = {
    "credible": "The interval holds this posterior mass, given these data and the prior. It is not "
    "a confidence interval: its ends may err more often in repeated audits.",
    "confidence": "Over repeated audits the bound errs at most (or about) as often as it says. It "
    "is not a probability statement about this audit.",
    "approximate": "Neither holds exactly: resampling, or a rectangle of posterior intervals.",
    "not a bound": "A number that may not be quoted as a bound.",
}
PACKAGES = ("numpy", "scipy")
SAMPLING_PACKAGES = ("pymc", "nutpie", "arviz", "pytensor")
#: Trials a side up to which the exact coverage at the observed rates is enumerated.
COVERAGE_LIMIT = 2_000
COVERED = ("posterior", "two-direction", "clopper-pearson")


def content(audit: Audit, *, title: str, command: str | None) -> dict[str, Any]:
    """Return the sections of a report; everything is text or rows of text."""
    one = audit.n_tallies is None
    return {
        "title": title,
        "conclusions": [audit.conclusion_at(delta) for delta in audit.delta] if one else [],
        "claim": claim_sentences(audit) if one else [],
        "failed": failures(audit),
        "warnings": list(audit.warnings),
        "inputs": inputs(audit),
        "assumptions": assumptions(audit),
        "tables": tables(audit),
        "meanings": [(name, MEANINGS[name]) for name in statements(audit)],
        "dependence": dependence(audit),
        "draws": draws(audit),
        "coverage": coverage_rows(audit) if one else None,
        "reproducibility": reproducibility(audit, command),
    }


def _table(
    caption: str, header: list[str], rows: list[list[str]], message: str | None = None
) -> dict[str, Any]:
    return {"caption": caption, "header": header, "rows": rows, "message": message}


def statements(audit: Audit) -> list[str]:
    """Return the kinds of statement among the lines, in order."""
    return list(dict.fromkeys(line.statement for line in audit.lines))


def claim_sentences(audit: Audit) -> list[str]:
    """Return what the lines say of the claim, a sentence a delta."""
    if audit.claim is None:
        return []
    sentences = []
    names = (BETA_BINOMIAL, DRAWS) if audit.is_per_model else (EXACT_POSTERIOR, DRAWS)
    for delta in audit.delta:
        above = [
            f"P(epsilon-hat > {audit.claim:g} | data) = {line.prob_above:.4g} by {line.method}."
            for line in audit.lines
            if line.delta == delta and line.method in names
        ]
        where = f"At delta {delta:g}: " if len(audit.delta) > 1 else ""
        sentences.append(" ".join([where + audit.claim_verdict(delta), *above]))
    return sentences


def failures(audit: Audit) -> list[str]:
    """Return each check of the draws that failed, with its remedy."""
    if audit.draws is None:
        return []
    judged = [audit.draws, *(one for one, _ in audit.draws.tallies)]
    found = []
    for one in judged:
        found += [
            f"cross-check at delta {delta:g}: {check.to_dict()['reason']}."
            for delta, check in one.cross_check.items()
            if not check.passed
        ]
        for delta, diagnosis in one.diagnosis.items():
            found += [
                f"{check.name} at delta {delta:g}: {check.meaning}; {check.remedy}."
                for check in diagnosis.checks
                if check.verdict == "failed"
            ]
    return list(dict.fromkeys(found))


def inputs(audit: Audit) -> list[tuple[str, str]]:
    """Return every input by name."""
    given = {key: value for key, value in audit.inputs.items() if key not in ("counts", "run")}
    rows = [(name.replace("_", " "), shown(_plainly(value))) for name, value in given.items()]
    counts = audit.inputs.get("counts")
    if isinstance(counts, dict) and audit.n_tallies is None:
        cells = ", ".join(f"{name.upper()} {counts[name]}" for name in ("fn", "fp", "tp", "tn"))
        rows.insert(0, ("counts", cells))
        n_pos, n_neg = counts["fn"] + counts["tp"], counts["fp"] + counts["tn"]
        if n_pos and n_neg:
            rates = f"FNR {counts['fn'] / n_pos:.4g}, FPR {counts['fp'] / n_neg:.4g}"
            rows.insert(1, ("observed rates", rates))
    elif audit.n_tallies is not None:
        rows.insert(0, ("tallies", str(audit.n_tallies)))
    if audit.threshold is not None:
        strategy, value = audit.threshold["strategy"], audit.threshold["value"]
        cut = "none" if value is None else f"score >= {value:g}"
        rows.append(("threshold", f"{strategy}: {cut}"))
    if audit.roc is not None:
        rows.append(("AUC", f"{audit.roc['auc']:.4f}"))
    rows.append(("claimed epsilon", "none" if audit.claim is None else f"{audit.claim:g}"))
    return rows


def _plainly(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def assumptions(audit: Audit) -> list[str]:
    """Return what must hold, each with the lines that need it."""
    needed: dict[str, list[str]] = {}
    for line in audit.lines:
        needed.setdefault(line.assumption, []).append(line.method)
    return [
        f"{text[:1].upper()}{text[1:]}: {', '.join(dict.fromkeys(methods))}."
        for text, methods in needed.items()
    ]


def tables(audit: Audit) -> list[dict[str, Any]]:
    """Return the table of lines of each delta; of many tallies the one table."""
    if audit.n_tallies is not None:
        header, rows = audit.table()
        return [_table("All tallies", list(header), [list(row) for row in rows])]
    header = ["method", "lower", "upper", "statement", "what it promises", "assumes"]
    return [
        _table(
            f"Epsilon at delta {delta:g}, in nats",
            header,
            [_row(line) for line in audit.lines if line.delta == delta],
        )
        for delta in audit.delta
    ]


def _row(line: Line) -> list[str]:
    ends = [_end(line.lower, line), _end(line.upper, line)]
    return [line.method, *ends, line.statement, line.promise, line.assumption]


def _end(value: Any, line: Line) -> str:
    if value is None or abs(value) == float("inf"):
        return f"none ({line.reason})"
    return f"{float(value):.5f}"


def dependence(audit: Audit) -> dict[str, Any] | None:
    """Return what is known of the dependence of trials."""
    found = audit.dependence
    if found is None:
        return None
    rows = []
    for name, side in found.sides.items():
        if not side["identified"]:
            rows.append([name.upper(), "not identified", side["reason"] or "", ""])
            continue
        ends = "" if side["lower"] is None else f"[{side['lower']:.3f}, {side['upper']:.3f}]"
        rows.append(
            [
                name.upper(),
                f"{side['estimate']:.3f} {ends}".strip(),
                f"{side['design_effect']:.2f}",
                f"{side['n_eff']:.0f} of {side['n_trials']}",
            ]
        )
    header = ["rate", "intra-model correlation", "design effect", "trials it is worth"]
    caption = f"Dependence within the {found.n_models} trained models"
    return _table(caption, header, rows, found.message)


def draws(audit: Audit) -> dict[str, Any] | None:
    """Return the checks of the draws, with values and thresholds."""
    if audit.draws is None or not audit.draws.diagnosis:
        return None
    delta = audit.delta[0]
    rows = [
        [check.name, f"{check.value:.4g}", f"{check.threshold:g}", check.verdict, check.detail]
        for check in audit.draws.diagnosis[delta].checks
    ]
    caption = f"Checks of the draws of {audit.draws.model} at delta {delta:g}"
    return _table(caption, ["check", "value", "threshold", "verdict", "what it says"], rows)


def coverage_rows(audit: Audit) -> dict[str, Any] | None:
    """Return how often the lower ends err at the observed rates: independent trials, exactly."""
    if audit.kind != "counts" or (audit.draws is not None and audit.counts is None):
        return None
    counts = audit.counts.pooled() if audit.is_per_model else audit.counts
    n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
    if not 0 < max(n_pos, n_neg) <= COVERAGE_LIMIT or min(n_pos, n_neg) == 0:
        return None
    from bayesaudit.calibration import coverage

    # At rates of exactly 0 or 1 the outcome is certain: half a trial away is the honest neighbour.
    fnr = min(max(float(counts.fnr), 0.5 / n_pos), 1 - 0.5 / n_pos)
    fpr = min(max(float(counts.fpr), 0.5 / n_neg), 1 - 0.5 / n_neg)
    rows = []
    for method in COVERED:
        # The two-direction bound is one of the declared direction, and so of the folded measure.
        member = method == "two-direction"
        measure = Epsilon(audit.delta[0], "member" if member else audit.question.direction)
        found = coverage(measure, fnr, fpr, n_pos, n_neg, prob=audit.prob, method=method)
        rows.append([method, f"{1 - float(found.lower):.4f}", f"{(1 - audit.prob) / 2:.4f}"])
    where = f"FNR {fnr:.4g}, FPR {fpr:.4g}, {n_pos} members and {n_neg} non-members"
    note = " Trials of one model depend on each other, which this leaves out."
    message = "By enumeration of all outcomes of independent trials at the observed rates."
    return _table(
        f"How often a lower end is above the truth, at {where}",
        ["method", "exact error", "nominal"],
        rows,
        message + (note if audit.is_per_model else ""),
    )


def reproducibility(audit: Audit, command: str | None) -> list[tuple[str, str]]:
    """Return versions, seeds, hashes of the inputs and the command."""
    names = [*PACKAGES, *(SAMPLING_PACKAGES if audit.draws is not None else ())]
    rows = [("bayesaudit", __version__), *((name, version(name)) for name in names)]
    if audit.inputs.get("seed") is not None:
        rows.append(("seed", str(audit.inputs["seed"])))
    path = Path(audit.path) if audit.path is not None else None
    if path is not None and path.is_file():
        rows.append((f"SHA-256 of {path.name}", _sha256(path)))
    if command is not None:
        rows.append(("command", command))
    return rows


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
