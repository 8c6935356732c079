"""Compilation of C code at first use, cached in the user's cache folder.

For security, only libraries compiled by this user are loaded: file and folder belong to the user, nobody else may write
to them, and the file ends with a checksum of its content.
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
"""Names of GCC; other compilers do not find the OpenMP runtime of torch."""

COMPILER_OPTIONS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp", "-fPIC", "-Wno-psabi")
COMPILER_TIMEOUT_SECONDS = 120
"""Time limit for a compiler."""

CHECKSUM_SIZE = hashlib.sha256().digest_size
"""Size of the checksum at the end of a library, in bytes."""


def load_library(source_path: Path, function_names: Sequence[str]) -> ctypes.CDLL | None:
    """Load a compiled library, and compile it if it is not in the cache.

    If the cache cannot be used, the library is compiled for this process only. Warnings on stderr report this and
    invalid files of the cache.

    Args:
        source_path: C source with OpenMP.
        function_names: functions that the library must have.

    Returns:
        The library; None, with a warning, if it cannot be compiled or loaded.
    """
    key = hashlib.sha256(
        source_path.read_bytes() + " ".join((*COMPILER_OPTIONS, platform.machine())).encode()
    ).hexdigest()[:16]
    reason = ""
    for open_folder in (lambda: contextlib.nullcontext(create_private_folder()), _create_temporary_folder):
        try:
            with open_folder() as folder:
                library = _load_or_compile_library(source_path, folder / f"{source_path.stem}-{key}.so", function_names)
        except OSError as error:
            reason = " ".join(str(error).split())
            continue
        if reason:
            _print_warning(
                f"{source_path.name}: compiled for this process alone ({reason}); correct that to compile it only once"
            )
        return library
    _print_warning(
        f"{source_path.name}: not compiled ({reason}), so torch computes in small steps, which is slower and rounds "
        "otherwise; install GCC, or mend that"
    )
    return None


@contextlib.contextmanager
def _create_temporary_folder() -> Iterator[Path]:
    """Create a temporary folder for this process."""
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
    """Load a library from the cache.

    Raises:
        FileNotFoundError: there is no library.
        OSError: the library is invalid or not safe to load.
    """
    # The descriptor of a loaded library stays open: the loader identifies libraries by this name.
    descriptor = os.open(library_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("no file")
        if status.st_uid != os.geteuid() or status.st_mode & NON_OWNER_WRITE_BITS:
            raise OSError("others may write to it")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        if content[-CHECKSUM_SIZE:] != _compute_checksum(content[:-CHECKSUM_SIZE]):
            raise OSError("its checksum does not match")
        # Load by descriptor: the checked file is loaded even if folders are renamed meanwhile.
        library = ctypes.CDLL(f"/proc/self/fd/{descriptor}" if Path("/proc/self/fd").exists() else str(library_path))
    except OSError:
        os.close(descriptor)
        raise
    if missing := [function for function in function_names if not hasattr(library, function)]:
        raise OSError(f"it has no {missing[0]}")
    return library


def _compile_library(compiler: str, source_path: Path, library_path: Path) -> None:
    """Compile a library atomically, and never replace an existing file, which other processes may have loaded.

    Raises:
        OSError: the compiler fails, or the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="compiled.", dir=library_path.parent, ignore_cleanup_errors=True) as work:
        compiled, linked = Path(work, "object.o"), Path(work, library_path.name)
        # OpenMP is not linked: the library uses the thread pool of torch.
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
        except OSError:  # file system without hard links
            linked.replace(library_path)


def _run_compiler(command: Sequence[str], work_folder: str) -> None:
    environment = {**os.environ, "TMPDIR": work_folder}  # the default temporary folder may be full
    try:
        process = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMPILER_TIMEOUT_SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} hangs") from None
    if process.returncode != 0:
        last_words = process.stderr.decode(errors="replace").split()[-20:]
        raise OSError(" ".join(last_words) or f"{command[0]} ends with {process.returncode}")


def _compute_checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _print_warning(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)
