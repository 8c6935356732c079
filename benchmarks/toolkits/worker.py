"""The process of one side: it builds a network, then answers one line of JSON for each line that asks for something.

    {"do": "train", "batches": FILE, "first": 0, "count": 8}     make an update with each of these batches
    {"do": "translate", "batches": FILE, "beam": 12}             search translations of all batches
    {"do": "study", "batches": FILE, "seed": 1, "first": 0, "rates": [0.002]}   make an update at each of these rates
    {"do": "multiply_adds", "batches": FILE, "count": 1}         count those of matrix products, for each target word
    {"do": "save", "weights": FILE}, {"do": "load", "weights": FILE}

Answers to the first two say how many seconds what the `Side` does took. Nothing here is this project's, since the
environment of other toolkits has torch and NumPy, but not what else it needs.
"""

import json
import math
import os
import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, addmm_flop, baddbmm_flop

from benchmarks.toolkits.batches import Sentences, read


def linear_flop(values: Sequence[int], weight: Sequence[int], *more: Any, **options: Any) -> int:
    """Count what a linear map (Y, X) of values (…, X) takes, given their shapes."""
    return 2 * math.prod(values) * weight[0]


PASSED_OVER: dict[Any, Callable[..., int]] = {
    torch.ops.aten.addmm_: addmm_flop,
    torch.ops.aten.baddbmm_: baddbmm_flop,
}
"""Products that torch's counter does not know."""

if torch.backends.mkldnn.is_available():
    PASSED_OVER[torch.ops.mkldnn._linear_pointwise] = linear_flop


class Side(ABC):
    """A network with its optimizer, and what its own toolkit does with a batch.

    Attributes:
        model: the network.
        version: of its toolkit.
    """

    model: torch.nn.Module
    version: str

    @abstractmethod
    def prepared(self, batch: Sentences) -> Any:
        """Make of a batch what `update` and `translate` take; that is not timed."""

    @abstractmethod
    def update(self, batch: Any) -> None:
        """Make one update: forward, loss, backward, clipping, step of the optimizer."""

    @abstractmethod
    def take_rate(self, rate: float) -> None:
        """Set the learning rate of the updates that follow."""

    @abstractmethod
    def translate(self, batch: Any, beam: int) -> list[list[int]]:
        """Search the best translation of each sentence: its predictions, the end of sentence included."""

    def searching(self) -> AbstractContextManager[None]:
        """Enter what its toolkit has around the searches of a file."""
        return nullcontext()


class Rounds:
    """Makes a side do what is asked, and tells what it took."""

    def __init__(self, side: Side, device: torch.device) -> None:
        self.side = side
        self._device = device
        self._prepared: dict[str, list[tuple[Sentences, Any]]] = {}

    @property
    def facts(self) -> dict[str, Any]:
        """What is known before anything is asked."""
        parameters = sum(parameter.numel() for parameter in self.side.model.parameters())
        return {"parameters": parameters, "version": self.side.version, "torch": torch.__version__}

    def answer(self, do: str, **asked: Any) -> dict[str, Any]:
        """Do what a line asks for."""
        return getattr(self, do)(**asked)

    def train(self, batches: str, first: int, count: int) -> dict[str, Any]:
        """Make an update with each of `count` batches from number `first` on; after the last comes the first."""
        chosen = self._chosen(batches, first, count)
        self.side.model.train()
        start = self._now()
        for _, prepared in chosen:
            self.side.update(prepared)
        seconds = self._now() - start
        return {"seconds": seconds, "words": sum(batch.words for batch, _ in chosen), "peak_memory": self._peak()}

    def translate(self, batches: str, beam: int) -> dict[str, Any]:
        """Translate all batches; the answer has pairs of the number of a sentence and its predictions."""
        chosen = self._of_file(batches)
        self.side.model.eval()
        predictions: list[list[int]] = []
        start = self._now()
        with self.side.searching():
            for _, prepared in chosen:
                predictions += self.side.translate(prepared, beam)
        seconds = self._now() - start
        counts = {"sentences": len(predictions), "words": sum(map(len, predictions))}
        numbers = [number for batch, _ in chosen for number in batch.numbers.tolist()]
        translations = [*zip(numbers, predictions, strict=True)]
        return {"seconds": seconds, **counts, "peak_memory": self._peak(), "translations": translations}

    def study(self, batches: str, seed: int, first: int, rates: Sequence[float]) -> dict[str, Any]:
        """Make an update at each rate, with the batches of a file from number `first` on; they are not kept."""
        chosen = [(batch, self.side.prepared(batch)) for batch in read(batches)[first : first + len(rates)]]
        torch.manual_seed(seed)
        self.side.model.train()
        start = time.process_time()
        for (_, prepared), rate in zip(chosen, rates, strict=True):
            self.side.take_rate(rate)
            self.side.update(prepared)
        return {"cpu_seconds": time.process_time() - start, "words": sum(batch.words for batch, _ in chosen)}

    def multiply_adds(self, batches: str, count: int) -> dict[str, Any]:
        """Count the multiply-adds of matrix products in updates with the first batches."""
        chosen = self._chosen(batches, 0, count)
        self.side.model.train()
        with FlopCounterMode(display=False, custom_mapping=PASSED_OVER) as counter:
            for _, prepared in chosen:
                self.side.update(prepared)
        return {"multiply_adds": counter.get_total_flops() / 2 / sum(batch.words for batch, _ in chosen)}

    def save(self, weights: str) -> dict[str, Any]:
        """Write the network's weights."""
        torch.save(self.side.model.state_dict(), weights)
        return {}

    def load(self, weights: str) -> dict[str, Any]:
        """Read what `save` wrote."""
        # Not `load_state_dict` alone, which OpenNMT-py's networks have made something else of.
        torch.nn.Module.load_state_dict(self.side.model, torch.load(weights, map_location=self._device))
        return {}

    def _of_file(self, batches: str) -> list[tuple[Sentences, Any]]:
        if batches not in self._prepared:
            self._prepared[batches] = [(batch, self.side.prepared(batch)) for batch in read(batches)]
        return self._prepared[batches]

    def _chosen(self, batches: str, first: int, count: int) -> list[tuple[Sentences, Any]]:
        of_file = self._of_file(batches)
        return [of_file[place % len(of_file)] for place in range(first, first + count)]

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()

    def _peak(self) -> int:
        """Bytes: on a CPU the largest resident set of the process so far, on a GPU the most that tensors took."""
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def set_up(job: dict[str, Any]) -> torch.device:
    """Make torch compute as a job says."""
    torch.set_num_threads(job["threads"])
    torch.set_float32_matmul_precision("high" if job["precision"] == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = job["precision"] == "tf32"
    torch.manual_seed(1)
    return torch.device(job["device"])


def serve(build: Callable[[dict[str, Any]], Side]) -> None:
    """Be a worker until nothing more is asked; the one argument of the command line says what to build, as JSON."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # toolkits print as they please; answers go to whoever asks
    job = json.loads(sys.argv[1])
    device = set_up(job)
    rounds = Rounds(build(job), device)
    print(json.dumps(rounds.facts), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(rounds.answer(**json.loads(line))), file=answers, flush=True)
