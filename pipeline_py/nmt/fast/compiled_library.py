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

from pipeline_py.run.file_locks import NON_OWNER_WRITE_BITS, create_private_folder

COMPILERS = ("gcc", "cc")
"""GCC under its names: torch has the OpenMP of GCC, which code of other compilers does not find."""

COMPILER_OPTIONS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp", "-fPIC", "-Wno-psabi")
COMPILER_TIMEOUT_SECONDS = 120
"""After so many a compiler is taken for one that hangs."""

CHECKSUM_SIZE = hashlib.sha256().digest_size
"""Bytes at the end of a file."""


def load_library(source_path: Path, function_names: Sequence[str]) -> ctypes.CDLL | None:
    """Load compiled code, after compiling it where nobody has yet.

    Where the user's cache cannot be used, code is compiled for this process alone. That, and a file of the cache that
    is not what was compiled, is told by a warning on stderr.

    Args:
        source_path: in C, its loops divided by OpenMP.
        function_names: that it has.

    Returns:
        Its functions; None, and a warning that says so, where nothing compiles or loads it.
    """
    key = hashlib.sha256(
        source_path.read_bytes() + " ".join((*COMPILER_OPTIONS, platform.machine())).encode()
    ).hexdigest()[:16]
    reason = ""
    for make_folder in (lambda: contextlib.nullcontext(create_private_folder()), _create_temporary_folder):
        try:
            with make_folder() as place:
                found = _load_or_compile_library(source_path, place / f"{source_path.stem}-{key}.so", function_names)
        except OSError as error:
            reason = " ".join(str(error).split())
            continue
        if reason:
            _print_warning(
                f"{source_path.name}: compiled for this process alone ({reason}); correct that to compile it only once"
            )
        return found
    _print_warning(
        f"{source_path.name}: not compiled ({reason}), so torch computes in small steps, which is slower and rounds "
        "otherwise; install GCC, or mend that"
    )
    return None


@contextlib.contextmanager
def _create_temporary_folder() -> Iterator[Path]:
    """A folder of this process, since others may write to those for temporary files."""
    with tempfile.TemporaryDirectory(prefix="compiled.", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _load_or_compile_library(source_path: Path, library_path: Path, function_names: Sequence[str]) -> ctypes.CDLL:
    try:
        return _load_cached_library(library_path, function_names)
    except FileNotFoundError:
        pass
    except OSError as error:
        _print_warning(f"{library_path}: not what was compiled ({error}), so it is compiled again")
        library_path.unlink()
    reason = f"neither {' nor '.join(COMPILERS)} is there"
    for compiler in filter(None, map(shutil.which, COMPILERS)):
        try:
            _compile_library(compiler, source_path, library_path)
            return _load_cached_library(library_path, function_names)
        except OSError as error:
            reason = str(error)
    raise OSError(reason)


def _load_cached_library(library_path: Path, function_names: Sequence[str]) -> ctypes.CDLL:
    """Load what is kept.

    Raises:
        FileNotFoundError: nothing is.
        OSError: it is not what this user compiled.
    """
    # The descriptor stays open for a library that is loaded: by its name the loader would take the next for the same.
    opened = os.open(library_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("no file")
        if status.st_uid != os.geteuid() or status.st_mode & NON_OWNER_WRITE_BITS:
            raise OSError("others may write to it")
        with open(opened, "rb", closefd=False) as file:
            content = file.read()
        if content[-CHECKSUM_SIZE:] != _compute_checksum(content[:-CHECKSUM_SIZE]):
            raise OSError("its checksum does not match")
        # What is loaded is what was looked at, whoever renames folders meanwhile.
        library = ctypes.CDLL(f"/proc/self/fd/{opened}" if Path("/proc/self/fd").exists() else str(library_path))
    except OSError:
        os.close(opened)
        raise
    if missing := [function for function in function_names if not hasattr(library, function)]:
        raise OSError(f"it has no {missing[0]}")
    return library


def _compile_library(compiler: str, source_path: Path, library_path: Path) -> None:
    """Compile to a file that is whole as soon as it is there, and that is never replaced: others may have loaded it.

    Raises:
        OSError: the compiler fails, or the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="compiled.", dir=library_path.parent, ignore_cleanup_errors=True) as work:
        compiled, linked = Path(work, "object.o"), Path(work, library_path.name)
        # OpenMP is not linked: torch has it, whose threads are used, as a second pool of them would be in the way.
        for arguments in ((*COMPILER_OPTIONS, "-c", source_path, "-o", compiled), ("-shared", compiled, "-o", linked)):
            _run_compiler([compiler, *map(str, arguments)], work)
        with linked.open("r+b") as file:
            checksum = _compute_checksum(file.read())
            file.write(checksum)
            file.flush()
            os.fsync(file.fileno())
        linked.chmod(0o700)
        try:
            library_path.hardlink_to(linked)
        except FileExistsError:
            return
        except OSError:  # of a file system without such links
            linked.replace(library_path)


def _run_compiler(command: Sequence[str], work_folder: str) -> None:
    environment = {**os.environ, "TMPDIR": work_folder}  # the usual folder for temporary files may be full
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMPILER_TIMEOUT_SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} hangs") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").split()[-20:]
        raise OSError(" ".join(said) or f"{command[0]} ends with {done.returncode}")


def _compute_checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _print_warning(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)
