"""Code in C, compiled where it is first needed and kept in the user's cache.

What is kept is machine code that every later job runs, so nothing is loaded but what this user compiled: the file and
its folder belong to them, nobody else may write to either, and the file ends with a checksum of what stands before.
"""

import contextlib
import ctypes
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_py.run.locks import BY_OTHERS, make_private_folder

COMPILERS = ("gcc", "cc")
"""GCC under its names: torch has the OpenMP of GCC, which code of other compilers does not find."""

OPTIONS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp", "-fPIC", "-Wno-psabi")
SECONDS = 120
"""After so many a compiler is taken for one that hangs."""

CHECKSUM = hashlib.sha256().digest_size
"""Bytes at the end of a file."""


def load(source: Path, functions: Sequence[str]) -> ctypes.CDLL | None:
    """Load compiled code, after compiling it where nobody has yet.

    Where the user's cache cannot be used, code is compiled for this process alone. That, and a file of the cache that
    is not what was compiled, is told by a warning on stderr.

    Args:
        source: in C, its loops divided by OpenMP.
        functions: that it has.

    Returns:
        Its functions; None, and a warning that says so, where nothing compiles or loads it.
    """
    key = hashlib.sha256(source.read_bytes() + " ".join((*OPTIONS, platform.machine())).encode()).hexdigest()[:16]
    reason = ""
    for make_folder in (lambda: contextlib.nullcontext(make_private_folder()), _passing):
        try:
            with make_folder() as place:
                found = _load_or_compile(source, place / f"{source.stem}-{key}.so", functions)
        except OSError as error:
            reason = " ".join(str(error).split())
            continue
        if reason:
            _warn(f"{source.name}: compiled for this process alone ({reason}); correct that to compile it only once")
        return found
    _warn(
        f"{source.name}: not compiled ({reason}), so torch computes in small steps, which is slower and rounds "
        "otherwise; install GCC, or mend that"
    )
    return None


@contextlib.contextmanager
def _passing() -> Iterator[Path]:
    """A folder of this process, since others may write to those for temporary files."""
    with tempfile.TemporaryDirectory(prefix="compiled.", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _load_or_compile(source: Path, path: Path, functions: Sequence[str]) -> ctypes.CDLL:
    try:
        return _load(path, functions)
    except FileNotFoundError:
        pass
    except OSError as error:
        _warn(f"{path}: not what was compiled ({error}), so it is compiled again")
        path.unlink()
    reason = f"neither {' nor '.join(COMPILERS)} is there"
    for compiler in filter(None, map(shutil.which, COMPILERS)):
        try:
            _compile(compiler, source, path)
            return _load(path, functions)
        except OSError as error:
            reason = str(error)
    raise OSError(reason)


def _load(path: Path, functions: Sequence[str]) -> ctypes.CDLL:
    """Load what is kept.

    Raises:
        FileNotFoundError: nothing is.
        OSError: it is not what this user compiled.
    """
    # The descriptor stays open for a library that is loaded: by its name the loader would take the next for the same.
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("no file")
        if status.st_uid != os.geteuid() or status.st_mode & BY_OTHERS:
            raise OSError("others may write to it")
        with open(opened, "rb", closefd=False) as file:
            content = file.read()
        if content[-CHECKSUM:] != _checksum(content[:-CHECKSUM]):
            raise OSError("its checksum does not match")
        # What is loaded is what was looked at, whoever renames folders meanwhile.
        library = ctypes.CDLL(f"/proc/self/fd/{opened}" if Path("/proc/self/fd").exists() else str(path))
    except OSError:
        os.close(opened)
        raise
    if missing := [function for function in functions if not hasattr(library, function)]:
        raise OSError(f"it has no {missing[0]}")
    return library


def _compile(compiler: str, source: Path, path: Path) -> None:
    """Compile to a file that is whole as soon as it is there, and that is never replaced: others may have loaded it.

    Raises:
        OSError: the compiler fails, or the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="compiled.", dir=path.parent, ignore_cleanup_errors=True) as work:
        compiled, linked = Path(work, "object.o"), Path(work, path.name)
        # OpenMP is not linked: torch has it, whose threads are used, as a second pool of them would be in the way.
        for arguments in ((*OPTIONS, "-c", source, "-o", compiled), ("-shared", compiled, "-o", linked)):
            _run([compiler, *map(str, arguments)], work)
        with linked.open("r+b") as file:
            checksum = _checksum(file.read())
            file.write(checksum)
            file.flush()
            os.fsync(file.fileno())
        linked.chmod(0o700)
        try:
            path.hardlink_to(linked)
        except FileExistsError:
            return
        except OSError:  # of a file system without such links
            linked.replace(path)


def _run(command: Sequence[str], work: str) -> None:
    environment = {**os.environ, "TMPDIR": work}  # the usual folder for temporary files may be full
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} hangs") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").split()[-20:]
        raise OSError(" ".join(said) or f"{command[0]} ends with {done.returncode}")


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _warn(what: str) -> None:
    print(f"warning: {what}", file=sys.stderr)
