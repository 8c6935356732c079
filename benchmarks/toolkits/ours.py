"""The pipeline's own side: any composition, trained and searched as `nmt.train` and `nmt.translate` do."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import torch

from benchmarks.toolkits.batches import Sentences
from benchmarks.toolkits.worker import Side, serve
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.batch import collate
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.device import on_cpu, prepare
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import Steps, searching
from pipeline_py.nmt.training.checkpoint import moving_average
from pipeline_py.nmt.training.update import Part, Update, build, recorded, set_learning_rate
from pipeline_py.subword.vocabulary import EOS


class Ours(Side):
    """A system of this project."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.version = metadata.version("arbitree")
        self._device = prepare(job["device"], job["threads"])
        system = System.model_validate(job["system"])
        files = {name: Path(path) for name, path in job["packed"].items()}
        sizes = {"source": job["source"], "target": job["target"], **job["syntax_sizes"]}
        syntax = {kind: files[kind] for kind in system.trained_on}
        self._data = Dataset(files["source"], files["target"], syntax, sizes)
        model = Model(system, sizes)
        model.learn_frequencies(torch.from_numpy(self._data.target_frequencies(sizes["target"])))
        self.model: Model = model.to(self._device)
        optimizer = {"name": job["optimizer"], "learning_rate": job["learning_rate"]}
        settings = {"optimizer": optimizer, **{key: job[key] for key in ("clip", "precision", "graphs")}}
        training = recorded(Training.model_validate(settings), system)
        self._rule = build(training.optimizer, self.model.parameters())
        self._update = Update(self.model, self.model.loss, self._rule, training, self._device)
        self._half = job["precision"] == "bfloat16" and on_cpu(self._device)
        self._steps: Steps | None = None
        self._average = moving_average(self.model, job["moving_average"]) if job["moving_average"] else None

    def prepared(self, batch: Sentences) -> Sentences:
        """Leave it as it is: the pipeline makes its batches as it trains and translates, and so they are timed."""
        return batch

    def update(self, batch: Sentences) -> None:
        """Read the pairs from the packed files and make one update."""
        self._update.begin([Part(self._data.batch(batch.numbers, self._update.multiple).to(self._device))])
        self._update.finish()
        if self._average is not None:
            self._average.update_parameters(self.model)

    def take_rate(self, rate: float) -> None:
        """Set that of all parameters."""
        set_learning_rate(self._rule, rate)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Make ready as `nmt.translate` does."""
        with searching([self._translating], self._half) as self._steps:
            yield

    def translate(self, batch: Sentences, beam: int) -> list[list[int]]:
        """Make the batch and search as `nmt.translate` does."""
        limits = torch.full((len(batch.source),), batch.longest_translation)
        assert self._steps is not None
        made = collate(batch.source, multiple=self._steps.multiple).to(self._device)
        found = beam_search([self._translating], [made], beam=beam, max_lengths=limits, steps=self._steps)
        return [best.tokens if best.cut else [*best.tokens, EOS] for best, *_ in found]

    @property
    def _translating(self) -> Model:
        return self.model if self._average is None else cast("Model", self._average.module)


if __name__ == "__main__":
    serve(Ours)
