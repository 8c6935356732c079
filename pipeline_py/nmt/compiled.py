"""Code in C, compiled where it is first needed and kept in the user's cache."""

import contextlib
import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

COMPILERS = ("gcc", "cc")
"""GCC under its names: torch has the OpenMP of GCC, which code of other compilers does not find."""

OPTIONS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp", "-fPIC", "-Wno-psabi")
FOLDER = "syntax-nmt-pipeline"
"""In the user's cache."""


def load(source: Path) -> ctypes.CDLL | None:
    """Load compiled code, after compiling it where nobody has yet.

    Args:
        source: in C, its loops divided by OpenMP.

    Returns:
        Its functions; None, and a line on stderr that says so, where nothing compiles it.
    """
    key = hashlib.sha256(source.read_bytes() + " ".join((*OPTIONS, platform.machine())).encode()).hexdigest()[:16]
    reason = f"neither {' nor '.join(COMPILERS)} is there"
    for folder in _folders():
        kept = folder / f"{source.stem}-{key}.so"
        if (found := _load(kept)) is not None:
            return found
        for compiler in filter(None, map(shutil.which, COMPILERS)):
            try:
                _compile(compiler, source, kept)
            except subprocess.CalledProcessError as error:
                reason = " ".join(error.stderr.split()[-20:]) or str(error)
            except OSError as error:
                reason = str(error)
            else:
                if (found := _load(kept)) is not None:
                    return found
                reason = f"what {compiler} makes cannot be loaded"
    said = f"{source.stem}: not compiled ({reason}), so torch computes in small steps; GCC makes it faster"
    print(said, file=sys.stderr)
    return None


def _folders() -> Iterator[Path]:
    """Where compiled code may be: the user's cache, or else a folder of this process, as others may write to /tmp."""
    with contextlib.suppress(RuntimeError):  # who has no home has no cache
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / FOLDER
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory(prefix="compiled.") as passing:
        yield Path(passing)


def _load(path: Path) -> ctypes.CDLL | None:
    """Load what is kept, if it is; what cannot be loaded is not kept any longer."""
    if not path.exists():
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _compile(compiler: str, source: Path, path: Path) -> None:
    """Compile to a file that is whole as soon as it is there, and that is never replaced: others may have loaded it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compiled.", dir=path.parent) as work:
        compiled, linked = Path(work, "object.o"), Path(work, path.name)
        # OpenMP is not linked: torch has it, whose threads are used, as a second pool of them would be in the way.
        for arguments in ((*OPTIONS, "-c", source, "-o", compiled), ("-shared", compiled, "-o", linked)):
            subprocess.run([compiler, *arguments], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        with linked.open("rb") as file:
            os.fsync(file.fileno())
        try:
            path.hardlink_to(linked)
        except FileExistsError:
            return
        except OSError:  # of a file system without such links
            linked.replace(path)
