"""How much work a job is beside another of its stage: sentences, times what one of them costs.

A rough measure for forecasts of time, of which only ratios mean anything.
"""

from collections.abc import Callable, Mapping

from pipeline_py.config.description import DEFAULT_UNITS
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.neural import NeuralSystem
from pipeline_py.config.parsers import StanzaParser, TrainedParser

PACKAGED = 5.0
"""How many times longer Stanza's own models take than those that `type: trained` makes by default."""

OVERHEAD = 2_000_000
"""Multiply-adds that would take as long as what a network does for a word whatever its size."""

TREES = 10_000
"""Trees of a treebank in files, about as many as those of Universal Dependencies have that parsers are trained on."""

EPOCHS = 5
"""Passes over a treebank where the configuration names none, about."""


def workload(
    experiment: Experiment, stage: str, wildcards: Mapping[str, str], sentences: Callable[[str], int]
) -> float:
    """The work of a job of ROOM/STAGE.

    Args:
        experiment: The whole configuration.
        stage: ROOM/STAGE.
        wildcards: Of the job: its `split`, `system` and `parser`, as far as it has them; without a split, the training
            text counts.
        sentences: How many sentences a split has.
    """
    parser = experiment.parsers.get(wildcards.get("parser", ""))
    if stage == "syntax/train_parser" and isinstance(parser, TrainedParser):
        return float(parser.treebank.generate or TREES) * (parser.depparse.epochs or EPOCHS)
    text = sentences(wildcards.get("split", "train"))
    if stage.startswith("syntax/parse"):
        shard = experiment.parsing.shard_size if "shard" in wildcards else text
        return min(text, shard) * (PACKAGED if isinstance(parser, StanzaParser) else 1.0)
    system = experiment.systems.get(wildcards.get("system", ""))
    if stage == "nmt/translate" and system is not None:
        networks = experiment.networks(wildcards["system"])
        return text * sum(_cost_of_search(experiment, name, sentences("train")) for name in networks)
    if stage in ("nmt/train", "nmt/pretrain") and isinstance(system, NeuralSystem):
        training = system.training
        of_epochs = text * training.epochs if training.epochs is not None else float("inf")
        of_updates = training.updates * training.batch_size if training.updates is not None else float("inf")
        return min(of_epochs, of_updates) * _cost_of_word(experiment, system, text)
    return text


def _cost_of_search(experiment: Experiment, network: str, sentences: int) -> float:
    """Multiply-adds of a network for all hypotheses of a target word, about."""
    system = experiment.systems[network]
    assert isinstance(system, NeuralSystem)
    return system.decoding.beam * _cost_of_word(experiment, system, sentences)


def _cost_of_word(experiment: Experiment, system: NeuralSystem, sentences: int) -> float:
    """Multiply-adds of a network for a target word, about: two recurrences with attention, and the softmax."""
    embedding, hidden = system.model.embedding, system.model.hidden
    units = experiment.units[system.subword or DEFAULT_UNITS]
    vocabulary = units.merges if units.scheme == "bpe" else 60 * sentences**0.5  # Heaps' law
    vocabulary = min(vocabulary, units.target_vocabulary.max_size or vocabulary)
    return OVERHEAD + 12 * hidden**2 + 8 * embedding * hidden + embedding * vocabulary
