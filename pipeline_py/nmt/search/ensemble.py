"""The systems that translate together, each with the sentences as it reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from pipeline_py.input_error import InputError
from pipeline_py.nmt.data.packed import check_kinds
from pipeline_py.nmt.data.sources import Sources
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.saved import load
from pipeline_py.subword.vocabulary import Vocabulary


@dataclass(frozen=True)
class Member:
    """A network in evaluation mode and its sentences; a system that translates alone is the only member."""

    network: Model
    sources: Sources


@dataclass(frozen=True)
class Networks:
    """Networks in evaluation mode that translate together, and the target vocabulary that they share."""

    models: Sequence[Model]
    vocabulary: Vocabulary

    @classmethod
    def load(
        cls, models: Sequence[Path], configs: Sequence[Path], vocabulary: Path, device: torch.device
    ) -> "Networks":
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
        networks = [load(*files, device) for files in zip(models, configs, strict=True)]
        for network, model in zip(networks, models, strict=True):
            _check_vocabulary(network, model, vocabulary, len(target))
        return cls(networks, target)

    def open_members(self, sources: Sequence[Path], syntax: Sequence[Mapping[str, Path]]) -> list[Member]:
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
            check_kinds(files, network.system.syntax)
            members.append(Member(network, Sources(source, files, network.vocabularies)))
        for member, source in zip(members[1:], sources[1:], strict=True):
            _check_same_text(member.sources, source, members[0].sources, sources[0])
        return members


def _check_vocabulary(network: Model, model: Path, vocabulary: Path, size: int) -> None:
    if size != network.vocabularies["target"]:
        raise InputError(
            f"the vocabulary has {size} tokens and the model in {model} predicts {network.vocabularies['target']}; "
            "give the vocabulary that the model was trained with",
            vocabulary,
        )


def _check_same_text(sources: Sources, path: Path, first: Sources, first_path: Path) -> None:
    remedy = "make both from the same text"
    if len(sources) != len(first):
        raise InputError(f"the file has {len(sources)} sentences and {first_path} has {len(first)}; {remedy}", path)
    differs = np.flatnonzero((sources.lengths == 1) != (first.lengths == 1))
    if len(differs):
        raise InputError(
            f"the sentence is empty here or in {first_path}, but not in both; {remedy}", path, differs[0] + 1
        )
