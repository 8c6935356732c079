"""`evaluation.comet`: where COMET and its weights are.

unbabel-comet needs versions of numpy and protobuf that this project cannot have beside it, so it runs by a Python of
its own.
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import Field

from pipeline_py.config.base import Section
from pipeline_py.config.numbers import CountOrZero
from pipeline_py.input_error import InputError

PROBE = """
import json, sys
from importlib.metadata import version
from huggingface_hub import try_to_load_from_cache
found = try_to_load_from_cache(sys.argv[1], "checkpoints/model.ckpt") if sys.argv[2] == "hub" else None
print(json.dumps([version("unbabel-comet"), found if isinstance(found, str) else None]))
"""
"""Asks the Python of COMET for its version, and where the weights lie that its hub gave it before."""


class Comet(Section):
    """How COMET is run."""

    python: str = Field("python", description="The Python of an environment that has unbabel-comet.")
    model: str = Field(
        description="A folder with hparams.yaml and checkpoints/model.ckpt, the checkpoint in it, or a name of COMET's "
        "hub, such as Unbabel/wmt22-comet-da, that was downloaded before."
    )
    gpus: CountOrZero = Field(0, description="GPUs that score; 0: processors.")


@dataclass(frozen=True)
class FoundComet:
    """COMET as it is on this machine: its version, and the file of its weights."""

    version: str
    checkpoint: str


@cache
def find_comet(python: str, model: str, data: str) -> FoundComet:
    """Find the package and the weights.

    Args:
        python: of the environment that has unbabel-comet.
        model: as configured.
        data: the folder that a relative path starts from.

    Raises:
        InputError: if either is absent.
    """
    place = Path(data, model)
    local = place if place.is_file() else place / "checkpoints" / "model.ckpt"
    try:
        answer = subprocess.run(
            [python, "-c", PROBE, model, "local" if local.is_file() else "hub"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"evaluation.comet: {python} has no unbabel-comet; install it in an environment of its own (pip install "
            "unbabel-comet==2.2.7 setuptools==80.9.0), and name the Python of that environment by `python`",
            "configuration",
        ) from None
    version, downloaded = json.loads(answer.stdout.splitlines()[-1])
    checkpoint = str(local) if local.is_file() else downloaded
    if checkpoint is None or not (Path(checkpoint).parents[1] / "hparams.yaml").is_file():
        raise InputError(
            f"evaluation.comet: no weights of {model!r}; give a folder with hparams.yaml and checkpoints/model.ckpt, "
            f'or get them with {python} -c "from comet import download_model, load_from_checkpoint as load; '
            f"load(download_model('NAME'))\"",
            "configuration",
        )
    return FoundComet(version, checkpoint)
