"""The systems that translate together, and their predictions step by step."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pipeline_py.nmt.data.dataset import SourceDataset
from pipeline_py.nmt.data.packed_files import check_syntax_kinds
from pipeline_py.nmt.fast.cuda_graphs import LENGTH_MULTIPLE, GraphedFunction, build_cuda_recorder
from pipeline_py.nmt.fast.linear import pack_weights
from pipeline_py.nmt.fast.matrix_products import allow_bfloat16_rounding, detect_bfloat16_mode
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import load_model
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import Vocabulary


@dataclass(frozen=True)
class EnsembleMember:
    """A network in evaluation mode and its sentences; a system that translates alone is the only member."""

    network: TranslationModel
    sources: SourceDataset


@dataclass(frozen=True)
class NetworkEnsemble:
    """Networks in evaluation mode that translate together, and the target vocabulary that they share."""

    models: Sequence[TranslationModel]
    vocabulary: Vocabulary

    @classmethod
    def load(
        cls, models: Sequence[Path], configs: Sequence[Path], vocabulary: Path, device: torch.device
    ) -> "NetworkEnsemble":
        """Load networks and their target vocabulary.

        Args:
            models: the weights of each network.
            configs: their configurations.
            vocabulary: the target vocabulary.
            device: where the networks go.

        Raises:
            InputError: a file is not what it should be, or does not fit another.
        """
        target = Vocabulary.load(vocabulary)
        networks = [load_model(*files, device) for files in zip(models, configs, strict=True)]
        for network, model in zip(networks, models, strict=True):
            _check_vocabulary(network, model, vocabulary, len(target))
        return cls(networks, target)

    def open_members(self, sources: Sequence[Path], syntax: Sequence[Mapping[str, Path]]) -> list[EnsembleMember]:
        """Open the sentences of each network and check that they belong together.

        Members may differ in all that they read: units, vocabulary, syntax. They have the same number of sentences, and
        the same sentences are empty.

        Args:
            sources: the packed sentences of each network, or one file for all.
            syntax: the files of each network, by kind.

        Raises:
            InputError: a file is not what it should be, or does not fit another.
        """
        if len(sources) == 1:
            sources = [*sources] * len(self.models)
        members = []
        for network, source, files in zip(self.models, sources, syntax, strict=True):
            check_syntax_kinds(files, network.composition.required_syntax_names)
            members.append(EnsembleMember(network, SourceDataset(source, files, network.vocabulary_sizes)))
        for member, source in zip(members[1:], sources[1:], strict=True):
            _check_same_text(member.sources, source, members[0].sources, sources[0])
        return members


def _check_vocabulary(network: TranslationModel, model: Path, vocabulary: Path, size: int) -> None:
    if size != network.vocabulary_sizes["target"]:
        raise InputError(
            f"the vocabulary has {size} tokens and the model in {model} predicts {network.vocabulary_sizes['target']}; "
            "give the vocabulary that the model was trained with",
            vocabulary,
        )


def _check_same_text(sources: SourceDataset, path: Path, first: SourceDataset, first_path: Path) -> None:
    remedy = "make both from the same text"
    if len(sources) != len(first):
        raise InputError(f"the file has {len(sources)} sentences and {first_path} has {len(first)}; {remedy}", path)
    differs = np.flatnonzero((sources.lengths == 1) != (first.lengths == 1))
    if len(differs):
        raise InputError(
            f"the sentence is empty here or in {first_path}, but not in both; {remedy}", path, differs[0] + 1
        )


MAX_RECORDED_STEPS = 8
"""The most recorded steps: the results of each, logits above all, stay on the GPU, and batches have similar lengths."""


class StepPredictor:
    """Predicts with all models.

    On a GPU steps are recorded as graphs, whatever their batch, where no state grows from step to step.

    Attributes:
        length_multiple: what lengths of sources should be rounded up to, for few shapes.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        """Take the models, all on one device; what their decoders have says `nmt.decoder.base`."""
        device = next(models[0].parameters()).device
        recorded = not is_cpu(device) and not any(model.decoder.has_growing_state for model in models)
        compute = partial(predict_step, models)
        self._compute = GraphedFunction(compute, build_cuda_recorder(), MAX_RECORDED_STEPS) if recorded else compute
        self.length_multiple = LENGTH_MULTIPLE if recorded else 1

    def __call__(
        self, previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
    ) -> tuple[Tensor, Sequence[Any], Tensor]:
        """Predict one word of each hypothesis; see `predict_step`. The next call may overwrite all but the weights."""
        logits, states, weights = self._compute(previous, states, memories)
        return logits, states, weights.clone() if isinstance(self._compute, GraphedFunction) else weights


@contextmanager
def open_predictor(models: Sequence[Any], is_bfloat16: bool = False) -> Iterator[StepPredictor]:
    """Make models ready for the searches of many batches; meanwhile no weight may change.

    Args:
        models: as in `beam_search`.
        is_bfloat16: whether matrix products on a CPU read bfloat16, in the way that this processor has
            (`precision.half_products`); they are summed in float32, and logits are float32.
    """
    way = detect_bfloat16_mode() if is_bfloat16 else None
    rounding = allow_bfloat16_rounding() if way == "implicit" else nullcontext()
    with rounding, pack_weights([model.decoder for model in models], should_round_to_bfloat16=way == "explicit"):
        yield StepPredictor(models)


def predict_step(
    models: Sequence[Any], previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
) -> tuple[Tensor, Sequence[Any], Tensor]:
    """Make one step of all models: logits (R, V) of their mean probability, states, the first one's attention (R, N).

    Args:
        models: as in `beam_search`.
        previous: words before (R,); None at the first position.
        states: of each model's decoder.
        memories: of each model, what its decoder attends to.
    """
    steps = [
        model.decoder.step(previous, state, memory)
        for model, state, memory in zip(models, states, memories, strict=True)
    ]
    states = [state for _, state, _ in steps]
    logits, _, weights = steps[0]
    if len(models) > 1:
        logits = torch.stack([logits.log_softmax(1) for logits, _, _ in steps]).logsumexp(0) - math.log(len(models))
    return logits, states, weights
