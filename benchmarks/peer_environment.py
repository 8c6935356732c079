"""The environment of the toolkits that we are compared with: a Python of their own with the torch that we have."""

import re
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from benchmarks.settings import BenchmarkSettings
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.errors import InputError

BENCHMARKS_FOLDER = Path(__file__).parent
TOOLKIT_REQUIREMENTS = BENCHMARKS_FOLDER / "peers.txt"
DEPENDENCY_REQUIREMENTS = BENCHMARKS_FOLDER / "peers_imports.txt"
"""Packages that the toolkits import, since their own requirements conflict with each other."""

IMPORT_STATEMENT = "import onmt.trainer, onmt.translate, joeynmt.training, joeynmt.search"


def find_peer_python(settings: BenchmarkSettings) -> Path | None:
    """Find the Python of the peers, or make its environment; None where ours is to be measured alone.

    Where it cannot be made, stderr says so in a sentence.

    Raises:
        InputError: a Python is named that does not have the peers.
    """
    if settings.peers == Path("none"):
        return None
    if settings.peers is not None:
        if not _has_peer_toolkits(settings.peers):
            raise InputError(
                f"--peers: it is no Python that imports onmt and joeynmt; install {TOOLKIT_REQUIREMENTS.name} and "
                f"{DEPENDENCY_REQUIREMENTS.name} of benchmarks/ there, or leave --peers out",
                settings.peers,
            )
        return settings.peers.absolute()
    folder = settings.work / "peers"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not _has_peer_toolkits(python) and not _create_environment(folder, python, settings.work / "logs" / "peers.txt"):
        return None
    return python


def _has_peer_toolkits(python: Path) -> bool:
    try:
        return subprocess.run([python, "-c", IMPORT_STATEMENT], capture_output=True).returncode == 0
    except OSError:
        return False


def _create_environment(folder: Path, python: Path, log_path: Path) -> bool:
    """Make the environment; false where that fails."""
    print(f"making the environment of the peers in {folder}, which takes minutes", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    torch = re.sub(r"\+.*", "", metadata.version("torch"))
    install: list[str | Path] = [python, "-m", "pip", "install"]
    steps: list[list[str | Path]] = [
        [f"torch=={torch}"],
        ["--no-deps", "-r", TOOLKIT_REQUIREMENTS],
        ["-r", DEPENDENCY_REQUIREMENTS],
    ]
    with open_atomic_text_file(log_path) as file:
        is_installed = all(
            subprocess.run([*install, *packages], stdout=file, stderr=subprocess.STDOUT).returncode == 0
            for packages in steps
        )
    if is_installed and _has_peer_toolkits(python):
        return True
    print(
        f"the peers cannot be installed ({log_path} says why): ours is measured alone, without ratios", file=sys.stderr
    )
    return False
