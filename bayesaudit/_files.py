"""Files are written whole or not at all, and never over what was read."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "write_atomically"]


def check_target(path: str | Path, *, inputs: Iterable[str] = (), overwrite: bool = False) -> Path:
    """Refuse a place to write that would lose something; before the work starts.

    Parameters
    ----------
    path : str or path
        The file to write.
    inputs : iterable of str
        Files that are read, which it must not be.
    overwrite : bool
        Whether an existing file may be replaced.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"{path}: must be in a directory that exists.")
    if path.exists():
        if not path.is_file():
            raise ValueError(f"{path}: must be a regular file, or none yet.")
        if any(Path(one).exists() and path.samefile(one) for one in inputs):
            raise ValueError(f"{path}: must not be the input, which it would replace.")
        if not overwrite:
            raise ValueError(f"{path}: exists already; --force replaces it.")
    return path


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file through a temporary one in its directory, which then takes its name."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
