"""Specifications of the compared networks: Arbitree in several compositions and sizes, and peers."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.packed_corpus import PackedCorpus
from benchmarks.settings import BenchmarkSettings, NetworkSize
from benchmarks.worker_process import ROOT, WorkerProcess
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import OptimizerConfig
from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError

DEFAULT_LEARNING_RATE = 0.001
DEFAULT_GRADIENT_CLIP = 1.0
HIDDEN_SIZE_MULTIPLE = 8
"""Hidden sizes that are tried are its multiples: sizes that nobody would choose are slower."""

TRANSFORMER_OPTIONS = {"layers": 4, "heads": 4, "feed_forward": 4, "norm": "pre"}
"""Options of all Transformers, named as in our configuration; sizes are multiples of the hidden size."""

NON_NETWORK_KEYS = ("parser", "decoding", "subword", "training", "like")
"""Keys of a system in the configuration that say nothing about its network."""

EXTRA_SYSTEMS = {
    "Sequential-bidirectional": {
        "encoders": [{"type": "gru", "direction": "bidirectional"}],
        "decoder": "gru",
        "scores": [{"type": "mlp", "width": 1}],
    }
}
"""Compositions that no table has: what `Hierarchical` is without phrases."""

ARBITREE, OPENNMT, JOEYNMT = "arbitree", "opennmt", "joeynmt"
"""Modules of `benchmarks.toolkits`."""


@dataclass(frozen=True)
class NetworkSpec:
    """A network that is measured.

    Attributes:
        name: what it is called.
        toolkit: `ARBITREE`, `OPENNMT` or `JOEYNMT`.
        size: its sizes.
        precision: float32, tf32 or bfloat16.
        system_name: of ours, its name in `config.yaml`.
        optimizer: adam or sgd.
        learning_rate: of it, at its height.
        warmup_updates: updates over which the rate rises to it.
        decay_epochs: epochs over which the rate falls linearly to 0; 0: it is constant.
        max_gradient_norm: the largest norm of a gradient.
        average_decay: decay of the mean of weights that translates; 0: the weights themselves do. JoeyNMT has none.
        has_tied_embeddings: whether the target's embeddings are the weights of the softmax; in peers only if they have
            the hidden size.
        model_options: of ours, options of the network that are not those of all sides.
        uses_cuda_graphs: of ours, on a GPU: updates are recorded as CUDA graphs where they can be.
    """

    name: str
    toolkit: str
    size: NetworkSize
    precision: str = "float32"
    system_name: str = "GlobalAtt"
    optimizer: str = "adam"
    learning_rate: float = DEFAULT_LEARNING_RATE
    warmup_updates: int = 0
    decay_epochs: int = 0
    max_gradient_norm: float = DEFAULT_GRADIENT_CLIP
    average_decay: float = 0.0
    has_tied_embeddings: bool = False
    model_options: Mapping[str, Any] = field(default_factory=dict)
    uses_cuda_graphs: bool = True

    def compute_learning_rate(self, update: int, updates_per_epoch: int) -> float:
        """The learning rate of an update, from 0 on, where an epoch has so many."""
        from pipeline_py.nmt.training.update import compute_learning_rate

        falls = {"schedule": "linear"} if self.decay_epochs else {}
        options = OptimizerConfig.model_validate(
            {"learning_rate": self.learning_rate, "warmup": self.warmup_updates, **falls}
        )
        return compute_learning_rate(
            options, update, min(update / (self.decay_epochs * updates_per_epoch), 1.0) if self.decay_epochs else 0.0
        )


def compose_system(system_name: str, size: NetworkSize, dropout: float) -> dict[str, Any]:
    """Compose a system of the default configuration, or a counterpart, in given sizes.

    Raises:
        InputError: the system is unknown or not a network.
    """
    systems = {**yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["systems"], **EXTRA_SYSTEMS}
    if "type" in systems.get(system_name, {"type": "unknown"}):
        raise InputError(f"--system {system_name}: config.yaml has no network of this name; name one of its `systems`")
    parts = {key: value for key, value in systems[system_name].items() if key not in NON_NETWORK_KEYS}
    model = {**size._asdict(), "dropout": dropout}
    if parts.get("decoder", {}) == systems["Transformer-base"]["decoder"]:
        encoders = [{**encoder, **TRANSFORMER_OPTIONS} for encoder in parts["encoders"]]
        return {
            "encoders": encoders,
            "decoder": {**parts["decoder"], **TRANSFORMER_OPTIONS},
            "model": {**model, "initialization": "glorot"},
        }
    return {**parts, "model": {**model, "initialization": "lecun_small"}}


def find_matching_size(min_parameters: int, spec: NetworkSpec, vocabulary_sizes: Mapping[str, int]) -> NetworkSize:
    """Give a side of ours the smallest hidden size with which it has no fewer parameters; its embedding stays."""
    from pipeline_py.nmt.training import capacity

    hidden = HIDDEN_SIZE_MULTIPLE
    while True:
        sized = replace(spec, size=NetworkSize(spec.size.embedding, hidden))
        if (
            capacity.count_parameters(CompositionConfig.model_validate(compose_network(sized, 0.0)), vocabulary_sizes)
            >= min_parameters
        ):
            return sized.size
        hidden += HIDDEN_SIZE_MULTIPLE


def compose_network(spec: NetworkSpec, dropout: float) -> dict[str, Any]:
    """Compose the network of a side of ours."""
    parts = compose_system(spec.system_name, spec.size, dropout)
    parts["model"] |= {**spec.model_options, **({"tied_embeddings": "target"} if spec.has_tied_embeddings else {})}
    return parts


def start_worker(
    spec: NetworkSpec,
    settings: BenchmarkSettings,
    corpus: PackedCorpus,
    peer_python: Path | None,
    threads: int,
    process_number: int = 0,
) -> WorkerProcess:
    """Start the process of a side.

    Args:
        spec: what it is to be.
        settings: its sizes apart, what all share.
        corpus: the vocabularies, and what ours makes batches from.
        peer_python: of the environment of the peers.
        threads: CPU threads.
        process_number: of the process, where a side has several at the same time.
    """
    log = re.sub(r"\W+", "_", f"{spec.name} {spec.precision} {spec.size} {process_number}").lower()
    interpreter = Path(sys.executable) if spec.toolkit == ARBITREE or peer_python is None else peer_python
    worker_options = build_worker_options(spec, settings, corpus, threads)
    return WorkerProcess(spec.name, interpreter, spec.toolkit, worker_options, settings.work / "logs" / f"{log}.txt")


def build_worker_options(
    spec: NetworkSpec, settings: BenchmarkSettings, corpus: PackedCorpus, threads: int
) -> dict[str, Any]:
    """Say what a worker is to build."""
    sizes = dict(corpus.vocabulary_sizes)
    vocabularies = {name: sizes.pop(name) for name in ("source", "target")}
    return {
        **{"architecture": settings.architecture, **TRANSFORMER_OPTIONS},
        **{"device": select_device(settings.device), "threads": threads, "precision": spec.precision},
        **spec.size._asdict(),
        **{"dropout": settings.dropout, "optimizer": spec.optimizer},
        **{"learning_rate": spec.learning_rate, "clip": spec.max_gradient_norm, "moving_average": spec.average_decay},
        "tied": spec.has_tied_embeddings and spec.size.embedding == spec.size.hidden,
        "graphs": spec.uses_cuda_graphs,
        **vocabularies,
        "system": compose_network(spec, settings.dropout) if spec.toolkit == ARBITREE else None,
        "syntax_sizes": sizes,
        "packed": {name: str(path) for name, path in corpus.train_files.items()},
    }
