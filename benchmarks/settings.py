"""Settings that all networks and rounds of a benchmark share, as command-line options."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.run.errors import InputError


class CorpusName(StrEnum):
    """The source of sentences."""

    AUTO = "auto"
    MULTI30K = "multi30k"
    EMBEDDED = "embedded"
    RANDOM = "random"


class Architecture(StrEnum):
    """The architecture of encoders and decoders."""

    RECURRENT = "recurrent"
    TRANSFORMER = "transformer"


DEFAULT_SYSTEMS = {Architecture.RECURRENT: "GlobalAtt", Architecture.TRANSFORMER: "Transformer-base"}


class NetworkSize(NamedTuple):
    """The sizes of a network."""

    embedding: int
    hidden: int

    def __str__(self) -> str:
        return f"{self.embedding}/{self.hidden}"


@dataclass(frozen=True, kw_only=True)
class BenchmarkSettings:
    """Settings of a measurement.

    Attributes:
        architecture: `recurrent` or `transformer`; in a Transformer, embedding and hidden size are the same.
        embedding: Size of word embeddings; repeatable, once for each --hidden.
        hidden: Size of states; repeatable. In our encoders and JoeyNMT's this is the size of each direction; in
            OpenNMT-py's, of both together.
        precision: `float32`, `bfloat16` or, on a GPU, `tf32`; repeatable. Translation by the peers is
            measured in the first precision, translation on a GPU in float32.
        system: Our systems by their names in `config.yaml`; repeatable. By default GlobalAtt or Transformer-base.
        batch_size: Sentences of a batch.
        dropout: Dropout rate; each toolkit applies it in its own places.
        rounds: Number of rounds; in a round each side is measured once.
        batches: Updates of each side in a round; the same batches for all sides and rounds.
        threads: CPU threads.
        device: auto, cpu or cuda.
        corpus: `multi30k` or `embedded` (both prepared by the workflow), `random`, or `auto`: multi30k if --data has
            it.
        data: Folder that has multi30k.
        vocabulary: Vocabulary size of each side of random sentences.
        updates: Updates that train each side before it translates.
        beam: Beam size.
        together: Sentences that are translated at a time; 1: as for somebody who waits for each.
        sentences: Number of sentences to translate.
        level: BLEU on the development set whose time is measured; repeatable.
        minutes: CPU minutes of training after which a side is stopped that has not reached the highest level.
        peers: Python of an environment with OpenNMT-py and JoeyNMT. By default the environment is made in --work;
            `none` measures only our systems.
        work: Folder for prepared files: data, weights, the peers' environment, logs.
        results: Folder for tables and figures.
    """

    architecture: Architecture = Architecture.RECURRENT
    embedding: list[int] = field(default_factory=lambda: [256, 128])
    hidden: list[int] = field(default_factory=lambda: [512, 256])
    precision: list[str] = field(default_factory=lambda: ["float32", "bfloat16"])
    system: list[str] = field(default_factory=list)
    batch_size: int = 64
    dropout: float = 0.1
    rounds: int = 5
    batches: int = 8
    threads: int = 2
    device: str = "auto"
    corpus: CorpusName = CorpusName.AUTO
    data: Path = Path("../shared/data")
    vocabulary: int = 8000
    updates: int = 200
    beam: int = 12
    together: int = 32
    sentences: int = 256
    level: list[float] = field(default_factory=lambda: [30.0, 33.0, 35.0])
    minutes: float = 60.0
    peers: Path | None = None
    work: Path = Path("benchmarks/work")
    results: Path = Path("benchmarks/results")

    def __post_init__(self) -> None:
        """Check what no type says.

        Raises:
            InputError: sizes do not come in pairs, or a number is too small.
        """
        if len(self.embedding) != len(self.hidden):
            raise InputError(
                f"--embedding is given {len(self.embedding)} times and --hidden {len(self.hidden)}; give both as often"
            )
        if self.architecture is Architecture.TRANSFORMER and self.embedding != self.hidden:
            raise InputError("--architecture transformer: give --embedding and --hidden the same sizes")
        for name in ("batch_size", "rounds", "batches", "threads", "updates", "beam", "together", "sentences"):
            if getattr(self, name) < 1:
                raise InputError(f"--{name.replace('_', '-')} must be at least 1")
        if unknown := {*self.precision} - {"float32", "tf32", "bfloat16"}:
            raise InputError(f"--precision: {min(unknown)} is none of float32, tf32 and bfloat16")
        # Workers are asked with paths, and have the project's directory as their own.
        object.__setattr__(self, "work", self.work.absolute())

    @property
    def network_sizes(self) -> list[NetworkSize]:
        """The sizes of networks, in the order in which they are given."""
        return [NetworkSize(*sizes) for sizes in zip(self.embedding, self.hidden, strict=True)]

    @property
    def system_names(self) -> list[str]:
        """Names of our systems, at least one."""
        return self.system or [DEFAULT_SYSTEMS[self.architecture]]


def build_command(benchmark: Callable[[BenchmarkSettings], object]) -> Callable[..., None]:
    """Return a function with the attributes of a `BenchmarkSettings` as keyword-only parameters, for the command line.

    Args:
        benchmark: the benchmark; its docstring describes the command.
    """

    def run(**options: Any) -> None:
        benchmark(BenchmarkSettings(**options))

    _, _, attributes = (inspect.getdoc(BenchmarkSettings) or "").partition("Attributes:")
    parameters = inspect.signature(BenchmarkSettings).parameters
    defaults = {
        option.name: option.default_factory()
        for option in fields(BenchmarkSettings)
        if option.default_factory is not MISSING
    }
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(default=defaults.get(name, parameter.default)) for name, parameter in parameters.items()]
    )
    run.__doc__ = f"{inspect.getdoc(benchmark)}\n\nArgs:{attributes}"
    return run
