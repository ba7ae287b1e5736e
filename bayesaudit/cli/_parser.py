"""The argument parser of every command: whole names, each option once, errors in one line."""

import argparse
import sys
from typing import Any, NoReturn

__all__ = ["Parser"]


class _Once(argparse.Action):
    """Store a value, and refuse a second one: the last would win without a word."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: Any = None
    ) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if option is not None and self.dest in given:
            parser.error(f"{option} must be given once.")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on standard error, with exit status 2."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})
        self.register("action", None, _Once)
        self.register("action", "store", _Once)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        text = " ".join(message.removeprefix("argument ").split())
        print(f"{self.prog}: {text.rstrip('.')}. See {self.prog} --help.", file=sys.stderr)
        sys.exit(2)
