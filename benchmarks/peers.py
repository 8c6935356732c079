"""The environment of the toolkits that we are compared with: a Python of their own with the torch that we have."""

import re
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from benchmarks.setting import Setting
from pipeline_py.files.artifacts import writing
from pipeline_py.run.errors import InputError

HERE = Path(__file__).parent
TOOLKITS = HERE / "peers.txt"
IMPORTS = HERE / "peers_imports.txt"
"""What the toolkits import; their own requirements ask for more, and for versions that exclude each other."""

CHECK = "import onmt.trainer, onmt.translate, joeynmt.training, joeynmt.search"


def interpreter(setting: Setting) -> Path | None:
    """Find the Python of the peers, or make its environment; None where ours is to be measured alone.

    Where it cannot be made, stderr says so in a sentence.

    Raises:
        InputError: a Python is named that does not have the peers.
    """
    if setting.peers == Path("none"):
        return None
    if setting.peers is not None:
        if not _imports(setting.peers):
            raise InputError(
                f"--peers: it is no Python that imports onmt and joeynmt; install {TOOLKITS.name} and "
                f"{IMPORTS.name} of benchmarks/ there, or leave --peers out",
                setting.peers,
            )
        return setting.peers.absolute()
    folder = setting.work / "peers"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not _imports(python) and not _made(folder, python, setting.work / "logs" / "peers.txt"):
        return None
    return python


def _imports(python: Path) -> bool:
    try:
        return subprocess.run([python, "-c", CHECK], capture_output=True).returncode == 0
    except OSError:
        return False


def _made(folder: Path, python: Path, log: Path) -> bool:
    """Make the environment; false where that fails."""
    print(f"making the environment of the peers in {folder}, which takes minutes", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    torch = re.sub(r"\+.*", "", metadata.version("torch"))
    install: list[str | Path] = [python, "-m", "pip", "install"]
    steps: list[list[str | Path]] = [[f"torch=={torch}"], ["--no-deps", "-r", TOOLKITS], ["-r", IMPORTS]]
    with writing(log) as file:
        done = all(
            subprocess.run([*install, *what], stdout=file, stderr=subprocess.STDOUT).returncode == 0 for what in steps
        )
    if done and _imports(python):
        return True
    print(f"the peers cannot be installed ({log} says why): ours is measured alone, without ratios", file=sys.stderr)
    return False
