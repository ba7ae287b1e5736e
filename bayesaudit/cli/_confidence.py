"""The confidence lines of ``bayesaudit estimate``: classical, exact and sequential bounds."""

import argparse
from typing import Any

__all__ = ["add_looks_argument", "confidence_lines", "guaranteed_lower"]

#: Trials a side up to which the exact unconditional bound is printed.
EXACT_LIMIT = 100_000
#: Whose lower end the conclusion quotes, in order of preference.
QUOTED = ("anytime", "exact-unconditional", "clopper-pearson")


def add_looks_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--looks``."""
    parser.add_argument(
        "--looks",
        type=_looks,
        metavar="L",
        help="how often the audit is looked at: a number declared beforehand (confidence bounds "
        "then share their error), or 'anytime' (one bound that holds at every moment)",
    )


def confidence_lines(args: argparse.Namespace, counts: Any, measure: Any, notes: list[str]) -> dict:
    """Return the confidence intervals of one tally, as the JSON holds them."""
    from bayesaudit.intervals import EXACT, METHODS, confidence_interval

    if args.looks == "anytime":
        from bayesaudit.anytime import anytime_bound

        notes.append(
            "--looks anytime: only the anytime bound holds when an audit is stopped at will; the "
            "credible interval is a statement about these data, not about repeated audits."
        )
        return {"anytime": _line(anytime_bound(counts, measure, args.prob))}
    prob = args.prob
    if args.looks is not None:
        from bayesaudit.calibration.sequential import looks_prob

        prob = looks_prob(args.prob, args.looks)
        notes.append(
            f"--looks {args.looks}: every confidence bound is computed at {1 / args.looks:.3g} of "
            "its error, so that all declared looks together keep their level."
        )
    methods = list(METHODS)
    if max(counts.n_pos, counts.n_neg) <= EXACT_LIMIT:
        methods.insert(0, EXACT)
    else:
        notes.append(
            f"exact-unconditional is left out above {EXACT_LIMIT} trials a side, where it takes "
            "seconds: confidence_interval(..., method='exact-unconditional') computes it."
        )
    return {
        method: _line(confidence_interval(counts, measure, prob, method=method))
        for method in methods
    }


def guaranteed_lower(lines: dict) -> float:
    """Return the lower end that a conclusion may quote."""
    return next(lines[method]["lower"] for method in QUOTED if method in lines)


def _line(found: Any) -> dict:
    line = {
        "lower": float(found.lower),
        "upper": float(found.upper),
        "guarantee": found.guarantee,
    }
    if found.upper == float("inf"):
        line["upper_reason"] = "a lower bound only" if found.kind == "lower" else "unbounded"
    return line


def _looks(text: str) -> int | str:
    if text == "anytime":
        return text
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1 or 'anytime', got {text!r}")
    return int(text)
