"""``bayesaudit fano``: what a reconstruction attacker can gain."""

import argparse
import json
from pathlib import Path
from typing import Any

from bayesaudit.cli._output import emit_json, envelope, format_table, print_warnings

__all__ = ["add_parser", "run"]

EPILOG = """\
examples:
  bayesaudit fano --categories 10 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000
  bayesaudit fano --categories 10 --epsilon 1 --delta 1e-5
  bayesaudit fano --categories 10 --target-advantage 0.1 --sampling-rate 0.01 --steps 1000
"""
_METHODS = ("erokhin", "paper", "han-verdu")
_RELATIONS = ("add-or-remove-one", "replace-one")
_PREMISES = (
    "mutual_information",
    "rdp_epsilon",
    "pure_epsilon",
    "epsilon",
    "gdp_mu",
    "zcdp_rho",
    "noise_multiplier",
)


def add_parser(commands: Any, summary: str) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "fano",
        help=summary,
        description="Bound the advantage (s - p*)/(1 - p*) of every adversary who guesses a secret "
        "from the output of a mechanism: from its mutual information, a Renyi, zero-concentrated, "
        "Gaussian, approximate or pure privacy guarantee, or the parameters of DP-SGD. The "
        "smallest bound leads; each names its premise. With --target-advantage, the other way "
        "round: what keeps every adversary below it. All information is in nats.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument(
        "--categories", metavar="M", help="number of equally likely values of the secret"
    )
    secret.add_argument(
        "--prior",
        metavar="FILE|LIST",
        help="probabilities of the values: a file of numbers, or a list such as 0.4,0.35,0.2,0.05",
    )
    premise = parser.add_argument_group("what is known of the mechanism (give at least one)")
    premise.add_argument(
        "--mutual-information", type=float, metavar="NATS", help="bound on I(secret; output)"
    )
    premise.add_argument(
        "--rdp-epsilon", type=float, nargs="+", metavar="EPS", help="Renyi divergence, nats"
    )
    premise.add_argument(
        "--order", type=float, nargs="+", metavar="ALPHA", help="order >= 1 of each --rdp-epsilon"
    )
    premise.add_argument("--pure-epsilon", type=float, metavar="EPS", help="pure DP, nats")
    premise.add_argument(
        "--epsilon", type=float, metavar="EPS", help="(epsilon, delta)-DP, nats, with --delta"
    )
    premise.add_argument("--delta", type=float, metavar="D", help="delta of --epsilon")
    premise.add_argument("--gdp-mu", type=float, metavar="MU", help="Gaussian DP")
    premise.add_argument("--zcdp-rho", type=float, metavar="RHO", help="zero-concentrated DP, nats")
    premise.add_argument(
        "--noise-multiplier", type=float, metavar="Z", help="DP-SGD: noise over clipping norm"
    )
    premise.add_argument(
        "--sampling-rate", type=float, metavar="Q", help="DP-SGD: Poisson rate (default 1)"
    )
    premise.add_argument("--steps", type=int, metavar="T", help="DP-SGD: steps (default 1)")
    premise.add_argument(
        "--relation",
        choices=_RELATIONS,
        default=_RELATIONS[0],
        help="neighbouring relation of the guarantees (default: %(default)s)",
    )
    parser.add_argument(
        "--target-advantage",
        type=float,
        metavar="A",
        help="print the largest information and pure epsilon that keep every adversary's advantage "
        "at most A, and for --sampling-rate and --steps the least noise of DP-SGD",
    )
    parser.add_argument(
        "--method",
        choices=_METHODS,
        help="lead with this bound from the information instead of the smallest of all",
    )
    parser.add_argument(
        "--no-accountants",
        action="store_true",
        help="DP-SGD: leave out the bounds that need dp-accounting",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from bayesaudit import fano

    secret = _secret(args)
    _check_usage(args)
    if args.target_advantage is not None:
        return _calibrate(args, secret)
    warnings: list[str] = []
    information, premise = min(_informations(args, secret), key=lambda pair: pair[0])
    method = args.method or _METHODS[0]
    from_information = fano.fano_bound(information, method=method, premise=premise, **secret)
    bounds = _bounds(args, secret, warnings)
    lead = bounds[0] if args.method is None else from_information
    warnings += lead.notes
    if lead.vacuous:
        warnings.append(f"the {lead.method} bound is vacuous: it allows every adversary")
    if args.json:
        emit_json(
            envelope(
                inputs=_inputs(args, secret, lead),
                results={
                    "advantage": lead.advantage,
                    "success": lead.success,
                    "error": lead.error,
                    "method": lead.method,
                    "vacuous": lead.vacuous,
                    "premise": lead.premise,
                    "neighboring_relation": lead.neighboring_relation,
                    "mutual_information": information,
                    "mutual_information_premise": premise,
                    "base_success": lead.base_success,
                    "from_information": from_information.to_dict(),
                    "best": bounds[0].to_dict(),
                    "bounds": [bound.to_dict() for bound in bounds],
                },
                warnings=warnings,
            )
        )
    else:
        print(_table(lead, bounds, information, premise))
    print_warnings(warnings)
    return 0


def _calibrate(args: argparse.Namespace, secret: dict) -> int:
    """From a target back to what keeps it."""
    from bayesaudit import fano

    target = args.target_advantage
    noise = None
    budget = fano.information_budget(target, **secret)
    pure = fano.calibrate_epsilon(target, neighboring_relation=args.relation, **secret)
    if (args.sampling_rate, args.steps) != (None, None):
        rate, steps = _schedule(args)
        bound = "erokhin" if args.no_accountants else "best"
        noise = fano.calibrate_noise(target, sampling_rate=rate, steps=steps, bound=bound, **secret)
    if args.json:
        results = {
            "target_advantage": target,
            "mutual_information": budget,
            "pure_epsilon": pure.to_dict(),
            "noise_multiplier": None if noise is None else noise.to_dict(),
        }
        emit_json(envelope(inputs=_given(args, secret), results=results, warnings=[]))
        return 0
    rows = [
        ("mutual information", "at most", f"{budget:.6g}", f"{target:.6g}", "nats, erokhin"),
        ("pure epsilon", "at most", f"{pure.value:.6g}", f"{pure.advantage:.6g}", args.relation),
    ]
    if noise is not None:
        words = f"DP-SGD, rate {rate:g}, {steps} steps, {noise.neighboring_relation}"
        rows.append(
            ("noise multiplier", "at least", f"{noise.value:.6g}", f"{noise.advantage:.6g}", words)
        )
    print(f"every adversary's advantage is at most {target:g} with any one of")
    print(format_table(("parameter", "", "value", "advantage", ""), rows))
    return 0


def _secret(args: argparse.Namespace) -> dict[str, Any]:
    if args.categories is not None:
        try:
            return {"categories": int(args.categories)}
        except ValueError:
            pass
        try:
            number = float(args.categories)
        except ValueError:
            raise ValueError(
                f"--categories must be a whole number >= 2, got {args.categories!r}."
            ) from None
        return {"categories": number}
    path = Path(args.prior)
    if path.is_file():
        return {"prior": _numbers(path.read_text(encoding="utf-8"), str(path))}
    looks_like_list = all(c in "0123456789.,;eE+-[] \t" for c in args.prior)
    if not looks_like_list:
        path.read_text(encoding="utf-8")  # raises the error that names the file
    return {"prior": _numbers(args.prior, "--prior")}


def _numbers(text: str, name: str) -> list[float]:
    if text.lstrip().startswith("["):
        try:
            values = json.loads(text)
            return [float(value) for value in values]
        except (ValueError, TypeError):
            raise ValueError(f"{name}: not a JSON list of numbers.") from None
    values = []
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.split("#")[0].replace(",", " ").replace(";", " ").split():
            try:
                values.append(float(word))
            except ValueError:
                raise ValueError(f"{name}: line {number}: not a probability: {word!r}.") from None
    if not values:
        raise ValueError(f"{name}: no probabilities.")
    return values


def _check_usage(args: argparse.Namespace) -> None:
    if (args.rdp_epsilon is None) != (args.order is None):
        raise ValueError("--rdp-epsilon and --order go together.")
    if args.rdp_epsilon is not None and len(args.rdp_epsilon) != len(args.order):
        raise ValueError("give one --order for each --rdp-epsilon.")
    if (args.epsilon is None) != (args.delta is None):
        raise ValueError("--epsilon and --delta go together (without delta: --pure-epsilon).")
    given = [name for name in _PREMISES if getattr(args, name) is not None]
    if args.target_advantage is not None:
        if given:
            raise ValueError(f"--target-advantage is searched for: leave {_option(given[0])} out.")
        if args.method is not None:
            raise ValueError("--method does not go with --target-advantage.")
        return
    if args.noise_multiplier is None and (args.sampling_rate, args.steps) != (None, None):
        raise ValueError("--sampling-rate and --steps need --noise-multiplier.")
    if args.noise_multiplier is not None and args.relation != _RELATIONS[0]:
        raise ValueError("--noise-multiplier is add-or-remove-one: leave --relation out.")
    if not given:
        raise ValueError(
            "give one of --mutual-information, --rdp-epsilon with --order, --pure-epsilon, "
            "--epsilon with --delta, --gdp-mu, --zcdp-rho, --noise-multiplier."
        )


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _informations(args: argparse.Namespace, secret: dict) -> list[tuple[float, str]]:
    """Every information bound that the arguments give, with its premise."""
    from bayesaudit import fano

    # No output says more of the secret than the secret holds.
    found = [(fano.entropy(**secret), "entropy of the secret")]
    if args.mutual_information is not None:
        found.append((args.mutual_information, "mutual information as given"))
    divergences = [
        (epsilon, order, f"RDP at order {order:g}: {epsilon:g}")
        for epsilon, order in zip(args.rdp_epsilon or (), args.order or (), strict=True)
    ]
    if args.pure_epsilon is not None:
        kl = fano.pure_dp_kl(args.pure_epsilon)
        divergences.append((kl, 1, f"{args.pure_epsilon:g}-DP"))
    if args.gdp_mu is not None:
        divergences.append((0.5 * args.gdp_mu**2, 1, f"{args.gdp_mu:g}-GDP"))
    if args.zcdp_rho is not None:
        divergences.append((args.zcdp_rho, 1, f"{args.zcdp_rho:g}-zCDP"))
    for epsilon, order, words in divergences:
        value = fano.rdp_information(epsilon, order, neighboring_relation=args.relation, **secret)
        found.append((value, f"{words} ({args.relation})"))
    if args.noise_multiplier is not None:
        rate, steps = _schedule(args)
        value = steps * fano.subsampled_gaussian_kl(args.noise_multiplier, rate)
        found.append((value, "divergence of DP-SGD (add-or-remove-one)"))
    return found


def _schedule(args: argparse.Namespace) -> tuple[float, int]:
    rate = 1.0 if args.sampling_rate is None else args.sampling_rate
    steps = 1 if args.steps is None else args.steps
    if steps < 0:
        raise ValueError(f"--steps must be >= 0, got {steps}.")
    return rate, steps


def _bounds(args: argparse.Namespace, secret: dict, warnings: list[str]) -> list:
    """All bounds side by side, smallest advantage first."""
    from bayesaudit import fano

    premises: dict[str, Any] = {}
    if args.mutual_information is not None:
        premises["mutual_information"] = args.mutual_information
    if args.rdp_epsilon is not None:
        premises["rdp"] = (args.order, args.rdp_epsilon)
    if args.pure_epsilon is not None:
        premises["pure_epsilon"] = args.pure_epsilon
    if args.epsilon is not None:
        premises["profile"] = ([args.epsilon], [args.delta])
    if args.gdp_mu is not None:
        premises["gdp_mu"] = args.gdp_mu
    if args.zcdp_rho is not None:
        premises["rho"] = args.zcdp_rho
    bounds = []
    if premises:
        bounds += fano.best_bound(neighboring_relation=args.relation, **premises, **secret).bounds
    if args.noise_multiplier is not None:
        rate, steps = _schedule(args)
        accountants = not args.no_accountants
        try:
            found = fano.dp_sgd_bounds(
                args.noise_multiplier, rate, steps, accountants=accountants, **secret
            )
        except ImportError as error:
            warnings.append(f"only Fano's bounds are shown: {error}")
            found = fano.dp_sgd_bounds(
                args.noise_multiplier, rate, steps, accountants=False, **secret
            )
        bounds += found.bounds
    return sorted(bounds, key=lambda bound: bound.advantage)


def _inputs(args: argparse.Namespace, secret: dict, lead) -> dict:
    values = _given(args, secret)
    if args.noise_multiplier is not None:
        values["sampling_rate"], values["steps"] = _schedule(args)
    return {**values, "categories": int(lead.categories), "method": lead.method}


def _given(args: argparse.Namespace, secret: dict) -> dict:
    names = (*_PREMISES, "order", "delta", "sampling_rate", "steps", "relation")
    prior = secret.get("prior")
    return {
        "categories": secret.get("categories"),
        "prior": prior if prior is None or len(prior) <= 1000 else args.prior,
        **{name: getattr(args, name) for name in names},
    }


def _table(lead, bounds: list, information: float, premise: str) -> str:
    relation = f", {lead.neighboring_relation}" if lead.neighboring_relation else ""
    lines = [
        f"advantage: at most {lead.advantage:.6g}  success: at most {lead.success:.6g}  "
        f"error: at least {lead.error:.6g}  ({lead.method}: {lead.premise}{relation})",
        f"secret: {lead.categories:.12g} values, best guess without the output "
        f"{lead.base_success:.6g}",
        f"information: at most {information:.6g} nats ({premise})",
        "",
    ]
    rows = [
        (b.method, f"{b.advantage:.6g}", f"{b.success:.6g}", f"{b.error:.6g}", b.premise)
        for b in bounds
    ]
    lines.append(format_table(("bound", "advantage", "success", "error", "premise"), rows))
    return "\n".join(lines)
