"""``bayesaudit simulate``: play the games, write the scores that ``estimate`` reads."""

import argparse
import sys
import time
from typing import Any

__all__ = ["add_parser", "run"]

EPILOG = """\
The pair score is written: > 0 means "z1", and the column member is the coin. Then:
  bayesaudit estimate scores.csv --threshold 0

Shards and their manifest are kept in OUT.run; --resume continues a killed run with identical
results. Every epsilon is under the substitution of one record (REPLACE_ONE).

examples:
  bayesaudit simulate --experiment 2 --mechanism dpsgd --challenges worst-case \\
      --samples 1000 --per-model 10 --seed 1 --out scores.csv
  bayesaudit simulate --mechanism gaussian --mu 1 --samples 1000 --seed 1 --out scores.csv
"""
MECHANISMS = ("dpsgd", "gaussian", "laplace", "randomized-response")
CHALLENGES = (
    "average-case",
    "worst-case",
    "mislabelled",
    "far-out",
    "orthogonal",
    "private-coordinate",
    "bias",
    "copies",
)
ATTACKS = ("loss", "calibrated", "step-likelihood", "optimal")


def add_parser(commands: Any, summary: str) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "simulate",
        help=summary,
        description="Play Experiment 1 or 2: train models on data with a secret challenge in it, "
        "attack them, write score,member,model,challenge.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the CSV to write")
    parser.add_argument("--seed", type=int, required=True, metavar="N", help="seed of the run")
    game = parser.add_argument_group("game")
    game.add_argument("--experiment", type=int, choices=(1, 2), default=1, help="(default 1)")
    game.add_argument("--samples", type=int, default=1000, metavar="N", help="guesses in all")
    game.add_argument(
        "--per-model", type=int, metavar="M", help="experiment 2: challenges a model (default 10)"
    )
    game.add_argument("--challenges", choices=CHALLENGES, default="worst-case")
    game.add_argument(
        "--attack", choices=ATTACKS, help="default: loss for dpsgd, optimal for the others"
    )
    game.add_argument("--references", type=int, default=16, metavar="N", help="reference models")
    game.add_argument("--data", choices=("synthetic", "digits"), default="synthetic")
    game.add_argument("--train-size", type=int, metavar="N", help="records (default 1000 or 100)")
    mechanism = parser.add_argument_group("mechanism")
    mechanism.add_argument("--mechanism", choices=MECHANISMS, default="dpsgd")
    privacy = mechanism.add_mutually_exclusive_group()
    privacy.add_argument("--epsilon", type=float, metavar="EPS", help="claim (default 4)")
    privacy.add_argument("--mu", type=float, metavar="MU", help="gaussian: mu of GDP")
    privacy.add_argument(
        "--noise-multiplier",
        type=float,
        metavar="S",
        help="dpsgd: noise over clipping norm; 0: none",
    )
    mechanism.add_argument("--delta", type=float, default=1e-5, metavar="D", help="(default 1e-5)")
    mechanism.add_argument("--sampling-rate", type=float, default=0.1, metavar="Q")
    mechanism.add_argument("--steps", type=int, default=200, metavar="T")
    mechanism.add_argument("--clip-norm", type=float, default=1.0, metavar="C")
    mechanism.add_argument("--learning-rate", type=float, default=1.0, metavar="R")
    mechanism.add_argument(
        "--hidden", type=int, default=0, metavar="H", help="0: softmax regression"
    )
    runs = parser.add_argument_group("run")
    runs.add_argument("--resume", action="store_true", help="continue the run in OUT.run")
    runs.add_argument("--jobs", type=int, metavar="N", help="worker processes (default 1)")
    runs.add_argument("--shard-size", type=int, default=64, metavar="N", help="models in a shard")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play the game, write the scores, print the tally; return the exit status."""
    try:
        return _run(args)
    except ImportError as error:
        raise ValueError(str(error)) from None
    except KeyboardInterrupt:
        print("bayesaudit simulate: interrupted; --resume continues it.", file=sys.stderr)
        return 130


def _run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from bayesaudit import games
    from bayesaudit._files import write_atomically

    if args.experiment == 1 and args.per_model not in (None, 1):
        raise ValueError(
            "--per-model is for --experiment 2; experiment 1 has one challenge a model."
        )
    per_model = 1 if args.experiment == 1 else (10 if args.per_model is None else args.per_model)
    out = Path(args.out)
    if not out.parent.is_dir():
        raise FileNotFoundError(2, "no such directory", str(out.parent))
    mechanism = _mechanism(args)
    adversary = _adversary(args, mechanism)
    data = _data(args)
    n_train = args.train_size
    if n_train is None:
        n_train = 1000 if args.mechanism == "dpsgd" else 100
    claim = mechanism.claim(args.delta)
    directory = Path(f"{args.out}.run")
    if (directory / "manifest.json").exists() and not args.resume:
        raise ValueError(f"{directory} holds a run already: add --resume, or remove it.")
    play, extra = games.experiment_1, {}
    if args.experiment == 2:
        play, extra = games.experiment_2, {"per_model": per_model}
    scores = play(
        mechanism,
        adversary,
        data,
        n_train=n_train,
        n_samples=args.samples,
        **extra,
        random_seed=args.seed,
        shard_size=args.shard_size,
        directory=directory,
        resume=args.resume,
        n_jobs=args.jobs,
        progress=_Progress(),
    )
    write_atomically(out, lambda file: file.write(_csv(scores)))
    _report(args, per_model, n_train, scores, claim, mechanism)
    return 0


def _data(args: argparse.Namespace) -> Any:
    from bayesaudit import games

    if args.data == "digits":
        return games.Digits()
    if args.mechanism == "dpsgd":
        return games.GaussianClasses()
    return games.GaussianClasses(n_classes=1, n_features=1)


def _mechanism(args: argparse.Namespace) -> Any:
    from bayesaudit import games
    from bayesaudit._gdp import gdp_mu

    if args.mu is not None and args.mechanism != "gaussian":
        raise ValueError("--mu is for --mechanism gaussian.")
    if args.noise_multiplier is not None and args.mechanism != "dpsgd":
        raise ValueError("--noise-multiplier is for --mechanism dpsgd.")
    epsilon = 4.0 if args.epsilon is None else args.epsilon
    if args.mechanism == "gaussian":
        return games.GaussianMean(
            float(gdp_mu(epsilon, args.delta)) if args.mu is None else args.mu
        )
    if args.mechanism == "laplace":
        return games.LaplaceMean(epsilon)
    if args.mechanism == "randomized-response":
        return games.RandomizedResponse(epsilon)
    sigma = args.noise_multiplier
    if sigma is None:
        sigma = games.noise_for_epsilon(
            epsilon, sampling_rate=args.sampling_rate, n_steps=args.steps, delta=args.delta
        )
    return games.DPSGD(
        n_classes=10,
        noise_multiplier=sigma,
        sampling_rate=args.sampling_rate,
        n_steps=args.steps,
        clip_norm=args.clip_norm,
        learning_rate=args.learning_rate,
        n_hidden=args.hidden,
        record=args.attack == "step-likelihood",
    )


def _challenges(args: argparse.Namespace) -> Any:
    from bayesaudit import games

    designs = {
        "average-case": games.AverageCase,
        "mislabelled": games.Mislabelled,
        "far-out": games.FarOut,
        "orthogonal": games.Orthogonal,
        "private-coordinate": games.PrivateCoordinate,
        "bias": games.Bias,
        "copies": games.Copies,
    }
    worst = {
        "dpsgd": games.Orthogonal,
        "gaussian": lambda: games.PrivateCoordinate(radius=1.0),
        "laplace": games.Extremes,
        "randomized-response": games.Extremes,
    }
    if args.challenges == "worst-case":
        return worst[args.mechanism]()
    return designs[args.challenges]()


def _adversary(args: argparse.Namespace, mechanism: Any) -> Any:
    from bayesaudit import games

    challenges = _challenges(args)
    dpsgd = args.mechanism == "dpsgd"
    attack = args.attack or ("loss" if dpsgd else "optimal")
    if dpsgd == (attack == "optimal"):
        raise ValueError(f"--attack {attack} does not fit --mechanism {args.mechanism}.")
    if attack == "optimal":
        return games.OptimalTest(challenges, mechanism)
    if attack == "calibrated":
        return games.CalibratedLoss(challenges, n_references=args.references)
    if attack == "step-likelihood":
        return games.StepLikelihood(
            challenges, "fixed-size" if args.challenges == "copies" else "poisson"
        )
    return games.LossComparison(challenges)


class _Progress:
    """Print to standard error, at most one line a second."""

    def __init__(self) -> None:
        self.start = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= 1 or done == total:
            self.last = now
            print(f"simulate: {done}/{total} models, {now - self.start:.1f} s", file=sys.stderr)


def _csv(scores: Any) -> bytes:
    rows = ["score,member,model,challenge"]
    columns = (scores.score, scores.member.astype(int), scores.model, scores.challenge)
    rows += [
        f"{float(score)!r},{member},{model},{challenge}"
        for score, member, model, challenge in zip(*columns, strict=True)
    ]
    return ("\n".join(rows) + "\n").encode()


def _report(
    args: argparse.Namespace,
    per_model: int,
    n_train: int,
    scores: Any,
    claim: Any,
    mechanism: Any,
) -> None:
    from bayesaudit.cli._output import emit_json, envelope, print_warnings
    from bayesaudit.games.runs import describe

    described = describe(mechanism)
    warnings = _warnings(args)

    tally = scores.counts(0.0)
    counts = {cell: int(getattr(tally, cell)) for cell in ("fn", "tp", "fp", "tn")}
    accuracy = (counts["tp"] + counts["tn"]) / len(scores)
    if args.json:
        inputs = {
            key: value
            for key, value in vars(args).items()
            if key not in ("run", "command", "given")
        }
        inputs |= {"per_model": per_model, "train_size": n_train}
        results = {
            "counts": counts,
            "accuracy": accuracy,
            "n_models": args.samples // per_model,
            "mechanism": described,
            "claim": claim.to_dict(),
            "scores": args.out,
        }
        emit_json(envelope(inputs=inputs, results=results, warnings=warnings))
        print_warnings(warnings)
        return
    print(f"{args.samples // per_model} models, {per_model} challenges each: {args.out}")
    kind = described.pop("type")
    print(f"{kind}: " + ", ".join(f"{name} {value:g}" for name, value in described.items()))
    print("FN {fn}  TP {tp}  FP {fp}  TN {tn}".format(**counts))
    print(f"accuracy {accuracy:.4f}; the claimed curve allows {claim.max_accuracy:.4f}")
    print(f"claim: epsilon {claim.epsilon:.4g} at delta {claim.delta:g} under {claim.relation}")
    print(f"next: bayesaudit estimate {args.out} --threshold 0 --delta {claim.delta:g}")
    print_warnings(warnings)


def _warnings(args: argparse.Namespace) -> list[str]:
    steps_are_read = args.mechanism != "dpsgd" or args.attack == "step-likelihood"
    if args.challenges != "copies" or steps_are_read:
        return []
    return [
        "with copies of one candidate all around, the last model says which candidate was copied, "
        "not which was trained on: the guess is nearly constant. Use --attack step-likelihood "
        "(every step is read), or other challenges."
    ]
