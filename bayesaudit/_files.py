"""Files written whole or not at all, and targets that are refused before the work starts."""

import os
import secrets
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["check_target", "write_atomically"]

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_target(
    path: str | os.PathLike,
    *,
    inputs: Iterable[str | os.PathLike] = (),
    overwrite: bool = False,
) -> Path:
    """Return where an output goes, links followed; refuse what must not be written to.

    Parameters
    ----------
    path : str or path
        The file to write.
    inputs : iterable of str or path
        Files that are read, or written as well: the output must be none of them, by whatever name
        or link.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    FileExistsError
        If the path is one of the inputs, is no regular file, or exists and must not be replaced.
    OSError
        If its directory does not exist or may not be written to.
    """
    target = Path(os.path.realpath(path))
    for other in inputs:
        same = Path(os.path.realpath(other)) == target
        if same or (target.exists() and os.path.exists(other) and os.path.samefile(target, other)):
            raise FileExistsError(f"{path} must not be a file that is used already: {other}.")
    if os.path.lexists(target):
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = _KINDS.get(stat.S_IFMT(mode), "something else")
            raise FileExistsError(f"{path} must be a regular file, got {kind}.")
        if not overwrite:
            raise FileExistsError(f"{path} exists already; overwrite=True (--force) replaces it.")
    if not target.parent.is_dir():
        raise NotADirectoryError(f"{path} must be in a directory that exists.")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"{path} must be in a directory that may be written to.")
    return target


def write_atomically(
    path: str | os.PathLike, write: Callable[[Any], Any], *, overwrite: bool = True
) -> None:
    """Write a file under a temporary name in its directory, then rename it into place.

    Parameters
    ----------
    path : str or path
        The file to create or replace. A link is followed; a replaced file's mode is kept.
    write : callable
        ``write(file)`` writes the content to a binary file.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    OSError
        As in `check_target`, or if the content cannot be written (a full disk): the error names
        `path`, which is then what it was before, and nothing is left over.
    """
    target = check_target(path, overwrite=overwrite)
    temporary = target.with_name(f".{target.name[:60]}.{secrets.token_hex(6)}.partial")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            write(file)
            file.flush()
            os.fsync(file.fileno())
        check_target(path, overwrite=overwrite)
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise
