"""An audit as a person reads it: tables and sentences; nothing is computed here."""

from collections.abc import Sequence
from html import escape
from typing import Any

from bayesaudit._table import format_table
from bayesaudit.audits._line import (
    BETA_BINOMIAL,
    DRAWS,
    EXACT_POSTERIOR,
    INDEPENDENT,
    UNIFORM_ICC,
    Line,
)

__all__ = ["as_html", "as_text", "table"]

Table = tuple[Sequence[str], list[Sequence[str]]]
SUMMARY = ("lower", "median", "upper", "mean")


def as_text(audit: Any, everything: bool = False) -> str:
    """Return the whole audit as text; asymptotic lines of independent trials on request."""
    if audit.n_tallies is not None:
        return "\n".join([_many_heading(audit), "", format_table(*table(audit))])
    parts = [_heading(audit)]
    for delta in audit.delta:
        header, rows = table(audit, delta, everything)
        parts += ["", *_before(audit, delta), format_table(header, rows)]
        parts += _after(audit, delta)
    if audit.dependence is not None:
        parts += ["", str(audit.dependence)]
    return "\n".join([*parts, *_footer(audit, everything)])


def _footer(audit: Any, everything: bool) -> list[str]:
    """Return how to read the levels, and what the table leaves out."""
    if audit.no_posterior is not None or audit.draws is not None:
        return []
    percent = f"{100 * audit.prob:g} %"
    lines = [
        f"A {percent} interval errs by {50 * (1 - audit.prob):.3g} % at either end, so that its "
        f"lower end alone is a bound of confidence {_confidence(audit)}."
    ]
    left = [line.method for line in audit.lines if line.delta == audit.delta[0] and _spare(line)]
    if left and not everything:
        lines.append(f"Left out, asymptotic for independent trials (--all): {', '.join(left)}.")
    return ["", *lines]


def _spare(line: Line) -> bool:
    """Say whether a line is one of the classical asymptotic ones, which few readers need."""
    return line.guarantee == "asymptotic" and line.assumption == INDEPENDENT


def as_html(audit: Any) -> str:
    """Return the same tables in HTML."""
    heading = _heading(audit) if audit.n_tallies is None else _many_heading(audit)
    parts = [f"<p>{escape(heading)}</p>"]
    for delta in audit.delta if audit.n_tallies is None else (None,):
        header, rows = table(audit, delta)
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        parts.append(f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>")
        if delta is not None:
            parts += [f"<p>{escape(line)}</p>" for line in _after(audit, delta)]
    return "\n".join(parts)


# -- tables --------------------------------------------------------------------------------------


def table(audit: Any, delta: float | None = None, everything: bool = True) -> Table:
    """Return header and rows: of one delta, or of all tallies."""
    if audit.n_tallies is not None:
        return _table_of_tallies(audit)
    lines = [line for line in audit.lines if line.delta == delta]
    if audit.draws is not None:
        return _table_of_draws(audit, lines, delta)
    epsilon = f"epsilon at delta {delta:g}"
    if audit.kind == "one-run":
        claim = [] if audit.claim is None else [f"p of {audit.claim:g}"]
        rows = [
            (
                line.method,
                _number(line.lower, missing="-"),
                *([] if audit.claim is None else [f"{line.p_value:.3g}"]),
                line.assumption,
            )
            for line in lines
        ]
        return (epsilon, "lower", *claim, f"confidence {_confidence(audit)}; assumes"), rows
    if audit.no_posterior is not None:
        rows = [(line.method, _number(line.lower), line.promise) for line in lines]
        return (epsilon, "lower", f"confidence {_confidence(audit)}"), rows
    rows = [
        (line.label or line.method, _number(line.lower), _number(line.upper), line.promise)
        for line in lines
        if (line.method != UNIFORM_ICC or audit.question.icc_prior != "uniform")
        and (everything or not _spare(line))
    ]
    return (epsilon, "lower", "upper", f"{100 * audit.prob:g} % interval"), rows


def _table_of_draws(audit: Any, lines: list[Line], delta: float | None) -> Table:
    """Return the posteriors alone, with the Monte Carlo errors of the draws."""
    rows = []
    for line in lines:
        groups = line.method.startswith(DRAWS)
        if not groups and line.method not in (EXACT_POSTERIOR, BETA_BINOMIAL):
            continue
        values = {"lower": line.lower, "upper": line.upper, **line.summary}
        promise = {
            EXACT_POSTERIOR: "credible, by quadrature" + _not_the_model(audit),
            BETA_BINOMIAL: "credible, "
            + ("prior-driven" if line.guarantee == "prior-driven" else "by quadrature")
            + ", trials of a model dependent",
        }.get(line.method, line.promise)
        rows.append((line.method, *(_number(values[name]) for name in SUMMARY), promise))
        if "mcse" in line.summary:
            errors = [_number(line.summary["mcse"][name]) for name in SUMMARY]
            rows.append(("  their error", *errors, "Monte Carlo standard error"))
    return (f"epsilon at delta {delta:g}", *SUMMARY, f"{100 * audit.prob:g} % interval"), rows


def _not_the_model(audit: Any) -> str:
    """Return what the exact posterior assumes, where the draws are of a model of one's own."""
    if audit.own_model is not None:
        prior = _shown_prior(audit.inputs["prior"])
        return f", all trials independent, prior {prior}: not {audit.own_model}"
    return ", if all trials are independent" if audit.dependence is not None else ""


def _table_of_tallies(audit: Any) -> Table:
    """Return one row a tally and delta: the posterior, and the bound that may be quoted."""
    header = ["tally", "FN", "FP", "TP", "TN", "delta", "lower", "median", "upper"]
    claim = audit.claim is not None
    header += [f"P(> {audit.claim:g})"] if claim else []
    header += [f"at least ({_confidence(audit)})"]
    rows = []
    for number in range(audit.n_tallies):
        one = audit[number]
        cells = [str(int(getattr(one.counts, name))) for name in ("fn", "fp", "tp", "tn")]
        for delta in audit.delta:
            post, bound = one.line(EXACT_POSTERIOR, delta), one.quoted(delta)
            row = [str(number), *cells, f"{delta:g}"]
            row += [_number(v) for v in (post.lower, post.summary["median"], post.upper)]
            row += [f"{post.prob_above:.4g}"] if claim else []
            rows.append([*row, "-" if bound is None else _number(bound.lower)])
    return header, rows


# -- sentences -----------------------------------------------------------------------------------


def _heading(audit: Any) -> str:
    inputs = audit.inputs
    if audit.kind == "one-run":
        rules = len(inputs.get("guesses", ()))
        return (
            f"one run: {inputs['n_canaries']} canaries, {inputs['n_guesses']} guesses, "
            f"{inputs['n_correct']} right"
            + (f"   best of {rules} declared rules" if rules > 1 else "")
        )
    lines = []
    if audit.roc is not None:
        strategy = audit.threshold["strategy"]
        lines += [
            f"{strategy}: {inputs['n_pos']} members, {inputs['n_neg']} non-members",
            _roc_line(audit.roc),
        ]
        if audit.no_posterior is not None:
            return "\n".join(lines)
        left = inputs["n_pos"] + inputs["n_neg"] - audit.threshold["n_selection"]
        lines.append(f"{_rule(audit.threshold)} on the {left} rows that did not choose")
    if audit.kind == "draws":
        known = [
            f"{key} {inputs['run'][key]}"
            for key in ("model", "method", "random_seed")
            if key in inputs["run"]
        ]
        return f"{audit.source}: {', '.join(known) or 'nothing recorded'}"
    counts = inputs["counts"]
    cells = f"FN {counts['fn']}, FP {counts['fp']}, TP {counts['tp']}, TN {counts['tn']}"
    if audit.draws is None:
        asked = f"direction {inputs['direction']}, prior {_shown_prior(inputs['prior'])}"
    else:
        asked = (
            f"{inputs['chains']} chains of {inputs['draws']} draws, method {inputs['method']}, "
            f"seed {inputs['seed']}"
        )
    return "\n".join([*lines, f"{cells}   {asked}"])


def _many_heading(audit: Any) -> str:
    text = f"{audit.n_tallies} tallies, direction {audit.inputs['direction']}, "
    text += f"prior {_shown_prior(audit.inputs['prior'])}, {100 * audit.prob:g} % credible interval"
    quoted = audit.recommended
    if quoted is None:
        return text
    return f"{text}; the last column by {quoted.method}, {quoted.promise}"


def _before(audit: Any, delta: float) -> list[str]:
    """Return what stands above the table of one delta."""
    if audit.no_posterior is None or audit.kind == "one-run":
        return []
    if audit.inputs["counts"] is None:
        return ["every split has its own threshold   direction member"]
    bound = audit.bounds[delta]
    cells = ", ".join(f"{name.upper()} {count}" for name, count in bound["counts"].items())
    return [f"{_rule(bound, ':')} {cells}   direction member"]


def _rule(threshold: dict[str, Any], end: str = ",") -> str:
    """Return which scores are guessed to be a member's."""
    sign = "<=" if threshold.get("lower_is_member") else ">="
    return f"member iff score {sign} {_number(threshold['value'], 'g', 'infinity')}{end}"


def _after(audit: Any, delta: float) -> list[str]:
    """Return what stands below the table of one delta."""
    if audit.draws is not None:
        return _verdicts(audit, delta)
    lines = _numbers_line(audit, delta) if audit.no_posterior is None else []
    verdict = [] if audit.claim is None else [audit.claim_verdict(delta)]
    return [*lines, *verdict, audit.conclusion_at(delta)]


def _numbers_line(audit: Any, delta: float) -> list[str]:
    post = audit.line(EXACT_POSTERIOR, delta)
    summary = post.summary
    line = f"median {summary['median']:.5f}, mean {summary['mean']:.5f}"
    if summary["prob_zero"] >= 1e-4:
        line += f", P(epsilon-hat = 0 | data) = {summary['prob_zero']:.3g}"
    dependent = audit.line(BETA_BINOMIAL, delta)
    if dependent is not None:
        line += f" (independent); median {dependent.summary['median']:.5f} (beta-binomial)"
    lines = [line]
    if audit.claim is not None:
        line = f"P(epsilon-hat > {audit.claim:g} | data) = {post.prob_above:.6g}"
        if dependent is not None:
            line += f" (independent), {dependent.prob_above:.6g} (beta-binomial)"
        lines.append(line)
    return lines


def _verdicts(audit: Any, delta: float) -> list[str]:
    lines = []
    check = audit.draws.cross_check.get(delta)
    if check is not None:
        found = check.to_dict()
        lines.append(f"cross-check {'passed' if found['passed'] else 'FAILED'}: {found['reason']}.")
    lines += diagnosis_lines(audit.draws.diagnosis[delta].to_dict())
    post = audit.line(EXACT_POSTERIOR, delta) or audit.line(DRAWS, delta)
    if audit.claim is not None:
        lines.append(f"P(epsilon-hat > {audit.claim:g} | data) = {post.prob_above:.6g}")
    return lines


def diagnosis_lines(found: dict[str, Any]) -> list[str]:
    """Return the verdict of the diagnostics, and each failed check with its remedy."""
    checks = found["checks"]
    failed = [check for check in checks if check["verdict"] == "failed"]
    cautions = [check for check in checks if check["verdict"] == "caution"]
    shown = {"rhat": "R-hat {:.4g}", "ess_lower": "ESS at the ends {:.0f}", "ess_upper": "{:.0f}"}
    facts = [
        text.format(check["value"])
        for name, text in shown.items()
        for check in checks
        if check["name"] == name and check["value"] is not None
    ]
    facts += [
        f"{check['value']:.0f} divergences" for check in checks if check["name"] == "divergences"
    ]
    verdict = f"FAILED {len(failed)} of {len(checks)} checks" if failed else "passed"
    if cautions:
        verdict += f", {len(cautions)} caution{'s' if len(cautions) > 1 else ''}"
    lines = [f"diagnostics {verdict}: {', '.join(facts) or f'{len(checks)} checks'}."]
    for check in failed + cautions:
        value = "not a number" if check["value"] is None else f"{check['value']:.4g}"
        where = f" ({check['where']})" if check["where"] else ""
        lines.append(f"  {check['name']} = {value}{where}, threshold {check['threshold']:g}:")
        detail = f" ({check['detail']})" if check["detail"] else ""
        lines.append(f"    {check['meaning']}{detail}; {check['remedy']}.")
    return lines


def _roc_line(roc: dict[str, Any]) -> str:
    points = [
        f"TPR {point['tpr']:.4g} at FPR {point['fpr']:.4g} (<= {point['requested_fpr']:g})"
        for point in roc["tpr_at_fpr"]
    ]
    return f"AUC {roc['auc']:.4f}, {', '.join(points)}"


def _confidence(audit: Any) -> str:
    return f"{(1 + audit.prob) / 2:.4g}"


def _number(value: Any, spec: str = ".5f", missing: str = "inf") -> str:
    if value is None or value == float("inf"):
        return missing
    return format(float(value), spec)


def _shown_prior(prior: Any) -> str:
    if isinstance(prior, dict):
        return ", ".join(f"{rate} Beta({a:g}, {b:g})" for rate, (a, b) in prior.items())
    return prior if isinstance(prior, str) else f"Beta({prior[0]:g}, {prior[1]:g})"
