"""Files are written whole or not at all, and nothing else is written over."""

import errno
import os
import resource
import socket
import stat
import subprocess
import sys

import pytest

import bayesaudit as ba
from bayesaudit._files import check_target, write_atomically


def write(content):
    return lambda file: file.write(content)


def names(directory):
    return sorted(os.listdir(directory))


def test_file_is_written_whole(tmp_path):
    path = tmp_path / "out.csv"
    write_atomically(path, write(b"one"))
    write_atomically(str(path), write(b"two"))
    assert path.read_bytes() == b"two" and names(tmp_path) == ["out.csv"]
    write_atomically(tmp_path / ("x" * 250), write(b"long"))


def test_modes_are_those_of_the_replaced_file_or_of_the_mask(tmp_path):
    path = tmp_path / "out"
    old = os.umask(0o027)
    try:
        write_atomically(path, write(b""))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_atomically(path, write(b"new"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_links_are_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("later")
    write_atomically(tmp_path / "link", write(b"new"))
    write_atomically(tmp_path / "dangling", write(b"first"))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "later").read_bytes() == b"first"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("bad"), OSError("no number")])
def test_failure_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise error

    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["out"]


FULL = """
import resource, sys
import bayesaudit as ba
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
path, kind = sys.argv[1:]
if kind == "bytes":
    from bayesaudit._files import write_atomically
    write_atomically(path, lambda file: file.write(bytes(100_000)))
else:
    ba.save(ba.sample(ba.AttackCounts(fn=3, tp=4, fp=5, tn=6), random_seed=1), path)
"""


@pytest.mark.parametrize("kind", ["bytes", "tree"])
def test_full_disk_is_one_error_and_leaves_nothing(tmp_path, kind):
    path = tmp_path / "out.nc"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), kind], capture_output=True, text=True
    )
    assert done.returncode == 1
    said = f"OSError: [Errno {errno.EFBIG}] {os.strerror(errno.EFBIG)}: '{path}'"
    assert done.stderr.strip().splitlines()[-1] == said
    assert path.read_bytes() == b"old" and names(tmp_path) == ["out.nc"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_what_is_no_regular_file_is_refused(tmp_path):
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    (tmp_path / "null").symlink_to("/dev/null")
    kinds = {"directory": "a directory", "pipe": "a pipe", "socket": "a socket", "null": "a device"}
    try:
        for name, kind in kinds.items():
            with pytest.raises(FileExistsError, match=f"{name} must be a regular file, got {kind}"):
                write_atomically(tmp_path / name, write(b"x"))
    finally:
        server.close()
    assert names(tmp_path) == sorted(kinds)


def test_existing_files_are_kept_where_that_is_asked(tmp_path):
    path = tmp_path / "out"
    write_atomically(path, write(b"first"), overwrite=False)
    with pytest.raises(FileExistsError, match="out exists already; overwrite=True"):
        write_atomically(path, write(b"second"), overwrite=False)
    assert path.read_bytes() == b"first"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out"

    def slow(file):
        path.write_bytes(b"theirs")
        file.write(b"ours")

    with pytest.raises(FileExistsError):
        write_atomically(path, slow, overwrite=False)
    assert path.read_bytes() == b"theirs" and names(tmp_path) == ["out"]


def test_an_output_must_not_be_an_input_by_any_name(tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(b"data")
    (tmp_path / "soft").symlink_to("in.csv")
    os.link(source, tmp_path / "hard")
    for name in ("in.csv", "soft", "hard", "../" + tmp_path.name + "/in.csv"):
        with pytest.raises(FileExistsError, match="must not be a file that is used already"):
            check_target(tmp_path / name, inputs=[source])
    # Two outputs of one name, neither of which exists yet.
    with pytest.raises(FileExistsError, match="used already"):
        check_target(tmp_path / "new", inputs=[tmp_path / "sub" / ".." / "new"])
    assert check_target(tmp_path / "out.csv", inputs=[source, "-"]) == tmp_path / "out.csv"


def test_directories_are_checked_before_the_work(tmp_path, monkeypatch):
    with pytest.raises(NotADirectoryError, match="must be in a directory that exists"):
        check_target(tmp_path / "none" / "out.csv")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="may be written to"):
        check_target(tmp_path / "out.csv")


def test_save_refuses_to_replace_a_tree(tmp_path):
    tree = ba.sample(ba.AttackCounts(fn=3, tp=4, fp=5, tn=6), draws=20, random_seed=1)
    path = ba.save(tree, tmp_path / "run.nc", overwrite=False)
    with pytest.raises(FileExistsError):
        ba.save(tree, path, overwrite=False)
    assert ba.load(ba.save(tree, path)).attrs == tree.attrs
