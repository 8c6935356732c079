"""What takes part: ours in several compositions and sizes, and the peers."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.material import Material
from benchmarks.processes import ROOT, Worker
from benchmarks.setting import Setting, Shape
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Optimizer
from pipeline_py.run.device import device_named
from pipeline_py.run.errors import InputError

LEARNING_RATE = 0.001
CLIP = 1.0
STEP = 8
"""Hidden sizes that are tried are its multiples: sizes that nobody would choose are slower."""

STACK = {"layers": 4, "heads": 4, "feed_forward": 4, "norm": "pre"}
"""Of all Transformers; its names are those of our configuration, sizes are in hidden ones."""

NOT_OF_NETWORKS = ("parser", "decoding", "subword", "training", "like")
"""Keys of a system in the configuration that say nothing about its network."""

COUNTERPARTS = {
    "Sequential-bidirectional": {
        "encoders": [{"type": "gru", "direction": "bidirectional"}],
        "decoder": "gru",
        "scores": [{"type": "mlp", "width": 1}],
    }
}
"""Compositions that no table has: what `Hierarchical` is without phrases."""

OURS, OPENNMT, JOEYNMT = "ours", "opennmt", "joeynmt"
"""Modules of `benchmarks.toolkits`."""


@dataclass(frozen=True)
class Side:
    """A network that is measured.

    Attributes:
        name: what it is called.
        toolkit: `OURS`, `OPENNMT` or `JOEYNMT`.
        shape: its sizes.
        precision: float32, tf32 or bfloat16.
        system: of ours, its name in `config.yaml`.
        optimizer: adam or sgd.
        learning_rate: of it, at its height.
        warmup: updates over which the rate rises to it.
        falls_over: epochs over which the rate falls linearly to 0; 0: it is constant.
        clip: the largest norm of a gradient.
        moving_average: decay of the mean of weights that translates; 0: the weights themselves do. JoeyNMT has none.
        tied: the target's embeddings are the weights of the softmax; of the peers only where they have the hidden size.
        model: of ours, options of the network that are not those of all sides.
        graphs: of ours, on a GPU: updates are recorded as CUDA graphs where they can be.
    """

    name: str
    toolkit: str
    shape: Shape
    precision: str = "float32"
    system: str = "GlobalAtt"
    optimizer: str = "adam"
    learning_rate: float = LEARNING_RATE
    warmup: int = 0
    falls_over: int = 0
    clip: float = CLIP
    moving_average: float = 0.0
    tied: bool = False
    model: Mapping[str, Any] = field(default_factory=dict)
    graphs: bool = True

    def rate(self, update: int, of_epoch: int) -> float:
        """The learning rate of an update, from 0 on, where an epoch has so many."""
        from pipeline_py.nmt.training.update import scheduled

        falls = {"schedule": "linear"} if self.falls_over else {}
        options = Optimizer.model_validate({"learning_rate": self.learning_rate, "warmup": self.warmup, **falls})
        return scheduled(options, update, min(update / (self.falls_over * of_epoch), 1.0) if self.falls_over else 0.0)


def composition(system: str, shape: Shape, dropout: float) -> dict[str, Any]:
    """Compose a system of the default configuration, or a counterpart, in given sizes.

    Raises:
        InputError: the system is unknown or not a network.
    """
    systems = {**yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["systems"], **COUNTERPARTS}
    if "type" in systems.get(system, {"type": "unknown"}):
        raise InputError(f"--system {system}: config.yaml has no network of this name; name one of its `systems`")
    parts = {key: value for key, value in systems[system].items() if key not in NOT_OF_NETWORKS}
    model = {**shape._asdict(), "dropout": dropout}
    if parts.get("decoder", {}) == systems["Transformer-base"]["decoder"]:
        encoders = [{**encoder, **STACK} for encoder in parts["encoders"]]
        return {
            "encoders": encoders,
            "decoder": {**parts["decoder"], **STACK},
            "model": {**model, "initialization": "glorot"},
        }
    return {**parts, "model": {**model, "initialization": "lecun_small"}}


def as_large_as(parameters: int, side: Side, sizes: Mapping[str, int]) -> Shape:
    """Give a side of ours the smallest hidden size with which it has no fewer parameters; its embedding stays."""
    from pipeline_py.nmt.training import capacity

    hidden = STEP
    while True:
        sized = replace(side, shape=Shape(side.shape.embedding, hidden))
        if capacity.parameters(System.model_validate(network(sized, 0.0)), sizes) >= parameters:
            return sized.shape
        hidden += STEP


def network(side: Side, dropout: float) -> dict[str, Any]:
    """Compose the network of a side of ours."""
    parts = composition(side.system, side.shape, dropout)
    parts["model"] |= {**side.model, **({"tied_embeddings": "target"} if side.tied else {})}
    return parts


def worker(
    side: Side, setting: Setting, material: Material, python: Path | None, threads: int, number: int = 0
) -> Worker:
    """Start the process of a side.

    Args:
        side: what it is to be.
        setting: its sizes apart, what all share.
        material: the vocabularies, and what ours makes batches from.
        python: of the environment of the peers.
        threads: CPU threads.
        number: of the process, where a side has several at the same time.
    """
    log = re.sub(r"\W+", "_", f"{side.name} {side.precision} {side.shape} {number}").lower()
    interpreter = Path(sys.executable) if side.toolkit == OURS or python is None else python
    given = job(side, setting, material, threads)
    return Worker(side.name, interpreter, side.toolkit, given, setting.work / "logs" / f"{log}.txt")


def job(side: Side, setting: Setting, material: Material, threads: int) -> dict[str, Any]:
    """Say what a worker is to build."""
    sizes = dict(material.sizes)
    vocabularies = {name: sizes.pop(name) for name in ("source", "target")}
    return {
        **{"architecture": setting.architecture, **STACK},
        **{"device": device_named(setting.device), "threads": threads, "precision": side.precision},
        **side.shape._asdict(),
        **{"dropout": setting.dropout, "optimizer": side.optimizer},
        **{"learning_rate": side.learning_rate, "clip": side.clip, "moving_average": side.moving_average},
        "tied": side.tied and side.shape.embedding == side.shape.hidden,
        "graphs": side.graphs,
        **vocabularies,
        "system": network(side, setting.dropout) if side.toolkit == OURS else None,
        "syntax_sizes": sizes,
        "packed": {name: str(path) for name, path in material.packed.items()},
    }
