"""``bayesaudit estimate``."""

import argparse

__all__ = ["add_parser", "run"]


def add_parser(commands) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("estimate", help="the posterior of epsilon from attack counts")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    raise ValueError("not there yet")
