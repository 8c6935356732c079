"""The systems that translate together, each with the sentences as it reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from pipeline_py.input_error import InputError
from pipeline_py.nmt.data.packed import syntax_files
from pipeline_py.nmt.data.sources import Sources
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.saved import load


@dataclass(frozen=True)
class Member:
    """A network in evaluation mode and its sentences; a system that translates alone is the only member."""

    network: Model
    sources: Sources


def open_members(
    models: Sequence[Path],
    configs: Sequence[Path],
    sources: Sequence[Path],
    syntax: Sequence[str],
    target_vocabulary: tuple[Path, int],
    device: torch.device,
) -> list[Member]:
    """Open systems and sentences and check that they belong together.

    Members may differ in all that they read: units, vocabulary, syntax. What they have in common is the target
    vocabulary, the number of sentences, and which of them are empty.

    Args:
        models: the weights of each member.
        configs: their configurations.
        sources: the packed sentences of each member, or one file for all.
        syntax: options KIND=FILE of a single member, NUMBER:KIND=FILE of several, numbered from 1.
        target_vocabulary: where it stands, and its size.
        device: where the networks go.

    Raises:
        InputError: a file is not what it should be, or does not fit another.
    """
    networks = [load(*files, device) for files in zip(models, configs, strict=True)]
    for network, model in zip(networks, models, strict=True):
        _check_vocabulary(network, model, *target_vocabulary)
    if len(sources) == 1:
        sources = [*sources] * len(networks)
    files = _syntax_of_members([network.system.syntax for network in networks], syntax)
    members = [
        Member(network, Sources(source, of_member, network.vocabularies))
        for network, source, of_member in zip(networks, sources, files, strict=True)
    ]
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


def _syntax_of_members(kinds: Sequence[Sequence[str]], given: Sequence[str]) -> list[dict[str, Path]]:
    """Share out the options; of several members the kinds bear their numbers."""
    several = len(kinds) > 1
    names = [
        {kind: f"{number}:{kind}" if several else kind for kind in read} for number, read in enumerate(kinds, start=1)
    ]
    files = syntax_files([name for of_member in names for name in of_member.values()], given, "--syntax")
    return [{kind: files[name] for kind, name in of_member.items()} for of_member in names]


def _check_same_text(sources: Sources, path: Path, first: Sources, first_path: Path) -> None:
    remedy = "make both from the same text"
    if len(sources) != len(first):
        raise InputError(f"the file has {len(sources)} sentences and {first_path} has {len(first)}; {remedy}", path)
    differs = np.flatnonzero((sources.lengths == 1) != (first.lengths == 1))
    if len(differs):
        raise InputError(
            f"the sentence is empty here or in {first_path}, but not in both; {remedy}", path, differs[0] + 1
        )
