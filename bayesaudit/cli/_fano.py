"""``bayesaudit fano``: what a reconstruction attacker can gain."""

import argparse
import json
from pathlib import Path
from typing import Any

from bayesaudit.cli._output import emit_json, envelope, format_table, print_warnings

__all__ = ["add_parser", "run"]

_METHODS = ("erokhin", "paper", "han-verdu")
_RELATIONS = ("add-or-remove-one", "replace-one")


def add_parser(commands: Any, summary: str) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "fano",
        help=summary,
        description="Bound the advantage (s - p*)/(1 - p*) of every adversary who guesses a secret "
        "from the output of a mechanism: from its mutual information, a Renyi guarantee, pure "
        "differential privacy or the parameters of DP-SGD. All information is in nats.",
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
        help="neighbouring relation of --rdp-epsilon and --pure-epsilon (default: %(default)s)",
    )
    parser.add_argument(
        "--method",
        choices=_METHODS,
        default="erokhin",
        help="bound from the information (default: erokhin, the tightest)",
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
    warnings: list[str] = []
    information, premise = min(_informations(args, secret), key=lambda pair: pair[0])
    chosen = fano.fano_bound(information, method=args.method, premise=premise, **secret)
    warnings += chosen.notes
    if chosen.vacuous:
        warnings.append(f"the {args.method} bound is vacuous: it allows every adversary")
    bounds = _bounds(args, secret, warnings)
    best = bounds[0]
    if args.json:
        emit_json(
            envelope(
                inputs=_inputs(args, secret, chosen),
                results={
                    "advantage": chosen.advantage,
                    "success": chosen.success,
                    "error": chosen.error,
                    "method": chosen.method,
                    "vacuous": chosen.vacuous,
                    "premise": chosen.premise,
                    "mutual_information": information,
                    "base_success": chosen.base_success,
                    "best": best.to_dict(),
                    "bounds": [bound.to_dict() for bound in bounds],
                },
                warnings=warnings,
            )
        )
    else:
        print(_table(chosen, bounds, information))
    print_warnings(warnings)
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
    if args.noise_multiplier is None and (args.sampling_rate, args.steps) != (None, None):
        raise ValueError("--sampling-rate and --steps need --noise-multiplier.")
    if args.noise_multiplier is not None and args.relation != _RELATIONS[0]:
        raise ValueError("--noise-multiplier is add-or-remove-one: leave --relation out.")
    given = (args.mutual_information, args.rdp_epsilon, args.pure_epsilon, args.noise_multiplier)
    if all(value is None for value in given):
        raise ValueError(
            "give one of --mutual-information, --rdp-epsilon with --order, --pure-epsilon, "
            "--noise-multiplier."
        )


def _informations(args: argparse.Namespace, secret: dict) -> list[tuple[float, str]]:
    """Every information bound that the arguments give, with its premise."""
    from bayesaudit import fano

    found = []
    if args.mutual_information is not None:
        found.append((args.mutual_information, "mutual information as given"))
    for epsilon, order in zip(args.rdp_epsilon or (), args.order or (), strict=True):
        value = fano.rdp_information(epsilon, order, neighboring_relation=args.relation, **secret)
        found.append((value, f"RDP at order {order:g}: {epsilon:g} ({args.relation})"))
    if args.pure_epsilon is not None:
        value = fano.rdp_information(
            fano.pure_dp_kl(args.pure_epsilon), 1, neighboring_relation=args.relation, **secret
        )
        found.append((value, f"{args.pure_epsilon:g}-DP ({args.relation})"))
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


def _inputs(args: argparse.Namespace, secret: dict, chosen) -> dict:
    names = (
        "mutual_information",
        "rdp_epsilon",
        "order",
        "pure_epsilon",
        "noise_multiplier",
        "sampling_rate",
        "steps",
        "relation",
        "method",
    )
    values = {name: getattr(args, name) for name in names}
    if args.noise_multiplier is not None:
        values["sampling_rate"], values["steps"] = _schedule(args)
    prior = secret.get("prior")
    return {
        "categories": int(chosen.categories),
        "prior": prior if prior is None or len(prior) <= 1000 else args.prior,
        **values,
    }


def _table(chosen, bounds: list, information: float) -> str:
    lines = [
        f"secret: {chosen.categories:.12g} values, best guess without the output "
        f"{chosen.base_success:.6g}",
        f"information: at most {information:.6g} nats ({chosen.premise})",
        f"advantage: at most {chosen.advantage:.6g}  success: at most {chosen.success:.6g}  "
        f"error: at least {chosen.error:.6g}  ({chosen.method})",
        "",
    ]
    rows = [
        (b.method, f"{b.advantage:.6g}", f"{b.success:.6g}", f"{b.error:.6g}", b.premise)
        for b in bounds
    ]
    lines.append(format_table(("bound", "advantage", "success", "error", "premise"), rows))
    return "\n".join(lines)
