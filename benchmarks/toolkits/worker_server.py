"""A worker process: it builds a network, then answers each request, one line of JSON, with one line.

    {"command": "train", "batches": FILE, "first": 0, "count": 8}
    {"command": "translate", "batches": FILE, "beam": 12}
    {"command": "translate_again", "batches": FILE, "beam": 12, "is_profiled": true}
    {"command": "train_with_rates", "batches": FILE, "seed": 1, "first": 0, "rates": [0.002]}
    {"command": "count_multiply_adds", "batches": FILE, "count": 1}
    {"command": "save_weights", "weights": FILE}
    {"command": "load_weights", "weights": FILE}

Answers to the first three have the seconds of the work of the `ToolkitAdapter`. Nothing here imports other packages of
this project, since the environment of other toolkits has only torch and NumPy.
"""

import json
import math
import os
import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, addmm_flop, baddbmm_flop

from benchmarks.toolkits.batch_file import SentenceBatch, read_batches
from benchmarks.toolkits.kernel_profile import profile_kernels


def count_linear_flops(
    value_shape: Sequence[int], weight_shape: Sequence[int], *unused_shapes: Any, **options: Any
) -> int:
    """Count what a linear map (Y, X) of values (…, X) takes, given their shapes."""
    return 2 * math.prod(value_shape) * weight_shape[0]


EXTRA_FLOP_COUNTERS: dict[Any, Callable[..., int]] = {
    torch.ops.aten.addmm_: addmm_flop,
    torch.ops.aten.baddbmm_: baddbmm_flop,
}
"""Products that torch's counter does not know."""

if torch.backends.mkldnn.is_available():
    EXTRA_FLOP_COUNTERS[torch.ops.mkldnn._linear_pointwise] = count_linear_flops


class ToolkitAdapter(ABC):
    """A network with its optimizer, and what its own toolkit does with a batch.

    Attributes:
        model: the network.
        version: of its toolkit.
    """

    model: torch.nn.Module
    version: str

    @abstractmethod
    def prepare_batch(self, batch: SentenceBatch) -> Any:
        """Make of a batch what `train_batch` and `translate_batch` take; that is not timed."""

    @abstractmethod
    def train_batch(self, batch: Any) -> None:
        """Make one update: forward, loss, backward, clipping, step of the optimizer."""

    @abstractmethod
    def set_learning_rate(self, learning_rate: float) -> None:
        """Set the learning rate of the updates that follow."""

    @abstractmethod
    def translate_batch(self, batch: Any, beam_size: int) -> list[list[int]]:
        """Search the best translation of each sentence: its predictions, the end of sentence included."""

    def search_context(self) -> AbstractContextManager[None]:
        """Enter what its toolkit has around the searches of a file."""
        return nullcontext()


class RequestHandler:
    """Makes a side do what is asked, and tells what it took."""

    def __init__(self, adapter: ToolkitAdapter, device: torch.device) -> None:
        self.adapter = adapter
        self._device = device
        self._batches_by_file: dict[str, list[tuple[SentenceBatch, Any]]] = {}

    @property
    def network_metadata(self) -> dict[str, Any]:
        """Metadata that is sent before the first request."""
        parameters = sum(parameter.numel() for parameter in self.adapter.model.parameters())
        return {"parameters": parameters, "version": self.adapter.version, "torch": torch.__version__}

    def handle_request(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Do what a line asks for."""
        return getattr(self, command)(**arguments)

    def train(self, batches: str, first: int, count: int, is_profiled: bool = False) -> dict[str, Any]:
        """Make an update with each of `count` batches from number `first` on; after the last comes the first."""
        selected_batches = self._select_batches(batches, first, count)
        self.adapter.model.train()
        with measure_work(self._device, is_profiled) as measurements:
            for _, prepared in selected_batches:
                self.adapter.train_batch(prepared)
        return {**measurements, "words": sum(batch.target_word_count for batch, _ in selected_batches)}

    def translate(self, batches: str, beam: int) -> dict[str, Any]:
        """Translate all batches; the answer has pairs of the number of a sentence and its predictions."""
        self.adapter.model.eval()
        loaded_batches = self._load_batches(batches)
        with measure_work(self._device, False) as measurements, self.adapter.search_context():
            predictions = self._translate_batches(loaded_batches, beam)
        return self._build_translation_response(loaded_batches, predictions, measurements)

    def translate_again(self, batches: str, beam: int, is_profiled: bool = False) -> dict[str, Any]:
        """Translate all batches twice and measure the second time, when recorded steps exist and are reused."""
        self.adapter.model.eval()
        loaded_batches = self._load_batches(batches)
        with self.adapter.search_context():
            self._translate_batches(loaded_batches, beam)
            with measure_work(self._device, is_profiled) as measurements:
                predictions = self._translate_batches(loaded_batches, beam)
        return self._build_translation_response(loaded_batches, predictions, measurements)

    def _translate_batches(self, batches: list[tuple[SentenceBatch, Any]], beam_size: int) -> list[list[int]]:
        return [tokens for _, prepared in batches for tokens in self.adapter.translate_batch(prepared, beam_size)]

    @staticmethod
    def _build_translation_response(
        batches: list[tuple[SentenceBatch, Any]], predictions: list[list[int]], measurements: dict[str, float]
    ) -> dict[str, Any]:
        counts = {"sentences": len(predictions), "words": sum(map(len, predictions))}
        numbers = [number for batch, _ in batches for number in batch.sentence_numbers.tolist()]
        return {**measurements, **counts, "translations": [*zip(numbers, predictions, strict=True)]}

    def train_with_rates(self, batches: str, seed: int, first: int, rates: Sequence[float]) -> dict[str, Any]:
        """Make an update at each rate, with the batches of a file from number `first` on; they are not kept."""
        selected_batches = [
            (batch, self.adapter.prepare_batch(batch)) for batch in read_batches(batches)[first : first + len(rates)]
        ]
        torch.manual_seed(seed)
        self.adapter.model.train()
        start = time.process_time()
        for (_, prepared), rate in zip(selected_batches, rates, strict=True):
            self.adapter.set_learning_rate(rate)
            self.adapter.train_batch(prepared)
        return {
            "cpu_seconds": time.process_time() - start,
            "words": sum(batch.target_word_count for batch, _ in selected_batches),
        }

    def count_multiply_adds(self, batches: str, count: int) -> dict[str, Any]:
        """Count the multiply-adds of matrix products in updates with the first batches."""
        selected_batches = self._select_batches(batches, 0, count)
        self.adapter.model.train()
        with FlopCounterMode(display=False, custom_mapping=EXTRA_FLOP_COUNTERS) as counter:
            for _, prepared in selected_batches:
                self.adapter.train_batch(prepared)
        return {
            "multiply_adds": counter.get_total_flops()
            / 2
            / sum(batch.target_word_count for batch, _ in selected_batches)
        }

    def save_weights(self, weights: str) -> dict[str, Any]:
        """Write the network's weights."""
        torch.save(self.adapter.model.state_dict(), weights)
        return {}

    def load_weights(self, weights: str) -> dict[str, Any]:
        """Read what `save_weights` wrote."""
        # Not `load_state_dict` alone, which OpenNMT-py's networks have made something else of.
        torch.nn.Module.load_state_dict(self.adapter.model, torch.load(weights, map_location=self._device))
        return {}

    def _load_batches(self, batches_path: str) -> list[tuple[SentenceBatch, Any]]:
        if batches_path not in self._batches_by_file:
            self._batches_by_file[batches_path] = [
                (batch, self.adapter.prepare_batch(batch)) for batch in read_batches(batches_path)
            ]
        return self._batches_by_file[batches_path]

    def _select_batches(self, batches_path: str, first: int, count: int) -> list[tuple[SentenceBatch, Any]]:
        of_file = self._load_batches(batches_path)
        return [of_file[place % len(of_file)] for place in range(first, first + count)]


@contextmanager
def measure_work(device: torch.device, is_profiled: bool) -> Iterator[dict[str, float]]:
    """Measure the work in this context.

    Yields:
        A dictionary that has "seconds" and "peak_memory" after the work, and what `profile_kernels` counts, if asked.
    """
    profiler: AbstractContextManager[dict[str, float]] = profile_kernels(device) if is_profiled else nullcontext({})
    with profiler as measurements:
        start = read_clock(device)
        yield measurements
        measurements["seconds"] = read_clock(device) - start
    measurements["peak_memory"] = get_peak_memory(device)


def read_clock(device: torch.device) -> float:
    """Return the time in seconds when the device has done all work so far."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def get_peak_memory(device: torch.device) -> int:
    """Bytes: on a CPU the largest resident set of the process so far, on a GPU the most that tensors took."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def configure_torch(worker_options: dict[str, Any]) -> torch.device:
    """Make torch compute as a job says."""
    torch.set_num_threads(worker_options["threads"])
    torch.set_float32_matmul_precision("high" if worker_options["precision"] == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = worker_options["precision"] == "tf32"
    torch.manual_seed(1)
    return torch.device(worker_options["device"])


def serve_requests(build_adapter: Callable[[dict[str, Any]], ToolkitAdapter]) -> None:
    """Be a worker until nothing more is asked; the one argument of the command line says what to build, as JSON."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # toolkits print as they please; answers go to whoever asks
    job = json.loads(sys.argv[1])
    device = configure_torch(job)
    rounds = RequestHandler(build_adapter(job), device)
    print(json.dumps(rounds.network_metadata), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(rounds.handle_request(**json.loads(line))), file=answers, flush=True)
