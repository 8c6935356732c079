"""A system's network, put together from the parts that its composition names."""

import importlib
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems import Initialization, System, module_of
from pipeline_py.nmt.batch import Batch
from pipeline_py.nmt.memory import Memory


def part(kind: str, name: str) -> Any:
    """Find a part: the class `Part` of its module, e.g. of `pipeline_py/nmt/weighting/local.py`."""
    return importlib.import_module(f"pipeline_py.{module_of(kind, name)}").Part


class Model(nn.Module):
    """Encoder and decoder of a system.

    Attributes:
        encoder: `Batch` → `Memory` without keys.
        decoder: what it offers is described at `decoder.conditional_gru.Part`.
    """

    def __init__(self, system: System, source_size: int, target_size: int) -> None:
        """Build the network; vocabulary sizes count EOS and the unknown word.

        The parameters are drawn from torch's global generator, as Nematus does: square recurrent matrices
        orthogonal, biases 0, everything else from N(0, 0.01²).
        """
        super().__init__()
        self.system = system
        self.source_size = source_size
        self.target_size = target_size
        hidden = system.model.hidden
        self.encoder = part("encoder", system.encoder.type)(system.encoder, system.model, source_size)
        self.decoder = part("decoder", system.decoder.type)(
            system.decoder,
            system.model,
            memory_size=self.encoder.size,
            target_size=target_size,
            scores=[part("score", score.type)(score, hidden, self.encoder.size) for score in system.scores],
            weightings=[part("weighting", context.type)(context, hidden) for context in system.contexts],
            score_of=[context.score for context in system.contexts],
        )
        self._initialize(system.model.initialization)

    def forward(self, batch: Batch) -> Tensor:
        """Compute the loss; see there."""
        return self.loss(batch)

    def encode(self, batch: Batch) -> Memory:
        """Read the sources; the memory holds the keys of all scores."""
        memory: Memory = self.encoder(batch)
        return replace(memory, keys=self.decoder.keys(memory.states))

    def loss(self, batch: Batch) -> Tensor:
        """Compute −log p of each target sentence (B,), summed over its words, EOS included."""
        loss: Tensor = self.decoder.loss(self.encode(batch), batch.target, batch.target_lengths)
        return loss

    @torch.no_grad()
    def _initialize(self, rule: Initialization) -> None:
        for name, parameter in self.named_parameters():
            if "bias" in name.rpartition(".")[2]:
                parameter.zero_()
            elif name.endswith("recurrent.weight"):
                for gate in parameter.split(parameter.shape[1]):
                    nn.init.orthogonal_(gate)
            elif rule == "nematus":
                parameter.normal_(std=0.01)
            elif rule == "lecun" and parameter.dim() > 1:
                # Inputs of unit variance stay so: an embedding has one unit at work, a matrix as many as it reads.
                parameter.normal_(std=1.0 if "embedding" in name else parameter.shape[1] ** -0.5)
            else:
                parameter.uniform_(-0.1, 0.1)
