"""The command line: ``bayesaudit COMMAND``; each command is a module with `add_parser` and `run`.

Only the chosen command is imported, and it imports what it needs inside `run`, so that ``--help``
answers at once.
"""

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence

from bayesaudit._version import __version__
from bayesaudit.cli._parser import Parser

__all__ = ["main"]

#: Command -> what it is for; its module is ``bayesaudit.cli._COMMAND``.
COMMANDS = {
    "estimate": "the exact posterior of epsilon from what an attack guessed",
    "sample": "posterior draws by PyMC, cross-checked against the exact posterior",
    "diagnose": "can the draws in a file be trusted",
    "fano": "bound what a reconstruction attacker can gain",
    "report": "one audit as a page for a reviewer: HTML, Markdown or JSON",
    "plan": "how many trials and models show a claim, with what assurance",
    "simulate": "train models, attack them, write the scores",
}


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser(
        prog="bayesaudit",
        description="How private was the training? From what an attack guessed to the posterior "
        "of epsilon, with the evidence that the number can be trusted.",
    )
    parser.add_argument("--version", action="version", version=f"bayesaudit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = next((word for word in argv if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        if name == chosen:
            importlib.import_module(f"bayesaudit.cli._{name}").add_parser(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; ``sys.argv[1:]`` by default.

    Returns
    -------
    int
        0 done; 1 a finding that the caller asked to fail on; 2 a usage or data error, which
        prints one line to standard error; 130 interrupted; 141 the reader of standard output has
        gone.
    """
    argv = sys.argv[1:] if argv is None else argv
    args = _parser(argv).parse_args(argv)
    args.argv = list(argv)
    try:
        status = args.run(args)
        if sys.stdout is None:
            raise OSError("standard output is closed.")
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _let_go_of_output()  # the reader (`head`, say) has gone: leave quietly
        return 141
    except KeyboardInterrupt:
        print(f"bayesaudit {args.command}: interrupted.", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"bayesaudit {args.command}: needs more memory than there is.", file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError, ImportError, RecursionError) as error:
        _let_go_of_output()
        print(f"bayesaudit {args.command}: {_one_line(error, args)}", file=sys.stderr)
        return 2


def _let_go_of_output() -> None:
    """Keep the interpreter from flushing into a closed pipe or a full disk at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


#: Arguments of the library whose options have other names, or that stand inside a sentence.
RENAMED = {
    "random_seed": "seed",
    "n_canaries": "canaries",
    "n_guesses": "guesses",
    "n_correct": "correct",
    "icc_prior": "icc-prior",
}
#: Arguments that a sentence may name after one of these words.
INSIDE = r"(\b(?:no|needs?|with) )(threshold|looks)\b"


def _one_line(error: Exception, args: argparse.Namespace) -> str:
    """Return an error's text in one line, the library's arguments named as options."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    first = text.split(" ", 1)[0]
    if first in vars(args) and first not in ("file", "run", "command", "argv", "given"):
        text = f"--{first.replace('_', '-')}{text[len(first) :]}"
    for name, option in RENAMED.items():
        text = re.sub(rf"(?<!-)\b{name}\b", f"--{option}", text)
    return re.sub(INSIDE, r"\1--\2", text)
