"""Ensembles of networks and their step-by-step predictions."""

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
from pipeline_py.nmt.fast.cuda_graphs import LENGTH_MULTIPLE, GraphedLoop, build_cuda_recorder, copy_tensors
from pipeline_py.nmt.fast.linear import pack_weights
from pipeline_py.nmt.fast.matrix_products import allow_bfloat16_rounding, detect_bfloat16_mode
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import load_model
from pipeline_py.nmt.search.recorded_beams import RecordedBeams
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import Vocabulary


@dataclass(frozen=True)
class EnsembleMember:
    """A network in evaluation mode and its source sentences."""

    network: TranslationModel
    sources: SourceDataset


@dataclass(frozen=True)
class NetworkEnsemble:
    """Networks in evaluation mode that translate together, with their common target vocabulary."""

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
            device: device of the networks.

        Raises:
            InputError: a file is invalid, or files do not belong together.
        """
        target = Vocabulary.load(vocabulary)
        networks = [load_model(*files, device) for files in zip(models, configs, strict=True)]
        for network, model in zip(networks, models, strict=True):
            _check_vocabulary(network, model, vocabulary, len(target))
        return cls(networks, target)

    def open_member_datasets(
        self, sources: Sequence[Path], syntax: Sequence[Mapping[str, Path]]
    ) -> list[EnsembleMember]:
        """Open the dataset of source sentences of each network, and check that the datasets belong together.

        Members may read different units, vocabularies and syntax. They must have the same number of sentences, and the
        same sentences must be empty.

        Args:
            sources: the packed sentences of each network, or one file for all.
            syntax: the files of each network, by kind.

        Raises:
            InputError: a file is invalid, or files do not belong together.
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


MAX_RECORDINGS = 4
"""Maximum number of recorded graphs, because the tensors of each (memory, states, logits) stay in GPU memory.

Sentences are sorted by length, so that consecutive batches have few shapes.
"""


class StepPredictor:
    """The steps of the searches with an ensemble, recorded as CUDA graphs on a GPU.

    Attributes:
        length_multiple: source lengths should be padded to a multiple of this, for few different shapes.
        graphs: recordings of `advance_recorded_beams`; None on a CPU.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        """Prepare models on one device, whose decoders implement `nmt.decoder.base.Decoder`."""
        device = next(models[0].parameters()).device
        self.length_multiple, self.graphs = 1, None
        if not is_cpu(device):
            self.length_multiple = LENGTH_MULTIPLE
            self.graphs = GraphedLoop(partial(advance_recorded_beams, models), build_cuda_recorder(), MAX_RECORDINGS)


@contextmanager
def open_predictor(models: Sequence[Any], is_bfloat16: bool = False) -> Iterator[StepPredictor]:
    """Prepare models for the searches of many batches, during which no weight may change.

    Args:
        models: as in `beam_search`.
        is_bfloat16: whether matrix products on a CPU read bfloat16, in the mode of this processor
            (`matrix_products.detect_bfloat16_mode`); sums and logits are float32.
    """
    mode = detect_bfloat16_mode() if is_bfloat16 else None
    rounding = allow_bfloat16_rounding() if mode == "implicit" else nullcontext()
    with rounding, pack_weights([model.decoder for model in models], should_round_to_bfloat16=mode == "explicit"):
        yield StepPredictor(models)


def predict_step(
    models: Sequence[Any], previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
) -> tuple[Tensor, Sequence[Any], Tensor]:
    """Predict one step with all models.

    Args:
        models: as in `beam_search`.
        previous: previous words (R,); None at the first position.
        states: decoder state of each model.
        memories: encoder memory of each model.

    Returns:
        Logits (R, V) of the mean probability, states, attention of the first model (R, N).
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


def advance_beams(
    models: Sequence[Any], beams: RecordedBeams, states: Sequence[Any], memories: Sequence[Any]
) -> Sequence[Any]:
    """Compute one step of a search on a GPU, which changes the tensors of beams in place; return the new states."""
    logits, new_states, weights = predict_step(models, beams.tokens, states, memories)
    beams.extend(logits, weights)
    return [state.select_rows(beams.parent_rows) for state in new_states]


def advance_recorded_beams(
    models: Sequence[Any], beams: RecordedBeams, states: Sequence[Any], memories: Sequence[Any]
) -> None:
    """Compute one step like `advance_beams`, and change the tensors of states of fixed size in place as well."""
    copy_tensors(advance_beams(models, beams, states, memories), states)
