"""The pipeline's own side: any composition, trained and searched as `nmt.train` and `nmt.translate` do."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import torch

from benchmarks.toolkits.batch_file import SentenceBatch
from benchmarks.toolkits.worker_server import ToolkitAdapter, serve_requests
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import StepPredictor, open_predictor
from pipeline_py.nmt.torch_setup import is_cpu, prepare_torch
from pipeline_py.nmt.training.checkpoint import build_moving_average
from pipeline_py.nmt.training.update import (
    MicroBatch,
    Updater,
    build_optimizer,
    disable_unsupported_graphs,
    set_learning_rate,
)
from pipeline_py.subword.vocabulary import EOS


class ArbitreeAdapter(ToolkitAdapter):
    """A system of this project."""

    def __init__(self, worker_options: dict[str, Any]) -> None:
        self.version = metadata.version("arbitree")
        self._device = prepare_torch(worker_options["device"], worker_options["threads"])
        system = CompositionConfig.model_validate(worker_options["system"])
        files = {name: Path(path) for name, path in worker_options["packed"].items()}
        sizes = {
            "source": worker_options["source"],
            "target": worker_options["target"],
            **worker_options["syntax_sizes"],
        }
        syntax = {kind: files[kind] for kind in system.training_syntax_names}
        self._dataset = ParallelDataset(files["source"], files["target"], syntax, sizes)
        model = TranslationModel(system, sizes)
        model.set_word_frequencies(torch.from_numpy(self._dataset.count_target_frequencies(sizes["target"])))
        self.model: TranslationModel = model.to(self._device)
        optimizer = {"name": worker_options["optimizer"], "learning_rate": worker_options["learning_rate"]}
        settings = {"optimizer": optimizer, **{key: worker_options[key] for key in ("clip", "precision", "graphs")}}
        training = disable_unsupported_graphs(TrainingConfig.model_validate(settings))
        self._optimizer = build_optimizer(training.optimizer, self.model.parameters())
        self._update = Updater(self.model, self.model.compute_loss, self._optimizer, training, self._device)
        self._is_half_precision = worker_options["precision"] == "bfloat16" and is_cpu(self._device)
        self._decoder_steps: StepPredictor | None = None
        self._averaged_model = (
            build_moving_average(self.model, worker_options["moving_average"])
            if worker_options["moving_average"]
            else None
        )

    def prepare_batch(self, batch: SentenceBatch) -> SentenceBatch:
        """Leave it as it is: the pipeline makes its batches as it trains and translates, and so they are timed."""
        return batch

    def train_batch(self, batch: SentenceBatch) -> None:
        """Read the pairs from the packed files and make one update."""
        self._update.compute_gradients(
            [
                MicroBatch(
                    self._dataset.build_batch(batch.sentence_numbers, self._update.length_multiple).to(self._device)
                )
            ]
        )
        self._update.apply_gradients()
        if self._averaged_model is not None:
            self._averaged_model.update_parameters(self.model)

    def set_learning_rate(self, learning_rate: float) -> None:
        """Set that of all parameters."""
        set_learning_rate(self._optimizer, learning_rate)

    @contextmanager
    def search_context(self) -> Iterator[None]:
        """Make ready as `nmt.translate` does."""
        with open_predictor([self._translation_model], self._is_half_precision) as self._decoder_steps:
            yield

    def translate_batch(self, batch: SentenceBatch, beam_size: int) -> list[list[int]]:
        """Make the batch and search as `nmt.translate` does."""
        limits = torch.full((len(batch.source),), batch.max_translation_length)
        assert self._decoder_steps is not None
        source_batch = collate_batch(batch.source, length_multiple=self._decoder_steps.length_multiple).to(self._device)
        hypotheses = beam_search(
            [self._translation_model],
            [source_batch],
            beam_size=beam_size,
            max_lengths=limits,
            predictor=self._decoder_steps,
        )
        return [best.tokens if best.is_cut else [*best.tokens, EOS] for best, *_ in hypotheses]

    @property
    def _translation_model(self) -> TranslationModel:
        return self.model if self._averaged_model is None else cast("TranslationModel", self._averaged_model.module)


if __name__ == "__main__":
    serve_requests(ArbitreeAdapter)
