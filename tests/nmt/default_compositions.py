"""Networks of every composition of the default experiment in small, and batches for them."""

from pathlib import Path

import numpy as np
import torch
import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.self_attention.pascal import ParentScaledAttention
from pipeline_py.subword.pack_heads import find_parent_spans, find_piece_heads
from pipeline_py.subword.vocabulary import EOS
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads
from tests.nmt.random_tree import draw_tree_row

VOCABULARY_SIZES = {"source": 12, "target": 9, "units": 8, "labels": 5}

LARGE_VOCABULARY_SIZE = 2000
"""Tokens of which `rank_tokens` searches only some blocks."""
MODEL_OPTIONS = {"embedding": 16, "hidden": 16, "dropout": 0.0, "initialization": "lecun"}
SENTENCE_LENGTHS = ((7, 3), (8, 9), (1, 7), (15, 1), (0, 0), (5, 8), (16, 16))
"""Words of sources and targets without their ends: on both sides of multiples of 8, and just such."""

SDATT_READINGS = {
    f"syntax, {gaussian}, {position}": {"contexts": [{"type": "syntax", "gaussian": gaussian, "position": position}]}
    for gaussian in ("log", "score", "weight")
    for position in ("interpolate", "round", "attention")
}


def collect_systems() -> dict[str, CompositionConfig]:
    """The systems of the default experiment that are composed differently, and the readings of SDAtt."""
    experiment = load_experiment(yaml.safe_load(Path("config.yaml").read_text()), should_check_files=False)
    compositions: dict[str, CompositionConfig] = {}
    for name, system in experiment.systems.items():
        if not isinstance(system, CompositionConfig):
            continue
        composition = CompositionConfig.model_validate(
            {
                **system.model_dump(include={"encoders", "scores", "contexts", "decoder", "loss"}),
                "model": MODEL_OPTIONS,
            }
        )
        if composition not in compositions.values():
            compositions[name] = composition
    readings = {
        name: CompositionConfig.model_validate({**parts, "model": MODEL_OPTIONS})
        for name, parts in SDATT_READINGS.items()
    }
    return compositions | readings


SYSTEMS = collect_systems()


def build_system_model(system_name: str, dropout: float = 0.0) -> TranslationModel:
    """Draw the weights of a network in double precision, the same each time; PASCAL ignores as many as are dropped."""
    torch.manual_seed(0)
    system = SYSTEMS[system_name]
    sized = system.model.model_copy(update={"dropout": dropout})
    model = TranslationModel(system.model_copy(update={"model": sized}), VOCABULARY_SIZES).double()
    for part in model.modules():
        if isinstance(part, ParentScaledAttention):
            part.parent_ignoring_rate = dropout
    model.set_word_frequencies(torch.arange(1, VOCABULARY_SIZES["target"] + 1))
    return model


def build_system_batch(
    system: CompositionConfig, sentence_numbers: list[int], multiple: int = 1, seed: int = 0
) -> Batch:
    """Some of the sentences, with the syntax that a system reads or learns to predict; the third one has no parse."""
    sources, targets, syntax = [], [], {kind.name: [] for kind in system.syntax_kinds}
    for row in sentence_numbers:
        random = np.random.default_rng([seed, row])
        source, target = SENTENCE_LENGTHS[row]
        sources.append(np.append(random.integers(1, VOCABULARY_SIZES["source"], source), EOS))
        targets.append(np.append(random.integers(1, VOCABULARY_SIZES["target"], target), EOS))
        words, unknown = range(source), -np.ones(source + 1, dtype=int)
        tree = build_control_heads(ControlShape.RANDOM, source, f"{seed} {row}") if row != 2 else None
        square = random.integers(1, 5, (source + 1, source + 1))
        values = {
            "distances": (square * (1 - np.eye(source + 1, dtype=int))).astype(np.uint8).ravel(),
            "labels": random.integers(0, VOCABULARY_SIZES["labels"], source + 1),
            "units": random.integers(0, VOCABULARY_SIZES["units"], 10 * (source + 1)),
            "heads": unknown if tree is None else np.array(find_piece_heads(tree, words)),
            "parents": unknown.repeat(2) if tree is None else np.array(find_parent_spans(tree, words)),
            "trees": draw_tree_row(random, source, is_parsed=row != 2),
            "lexical_trees": np.array([-1, 0, 1, 1, source, 2, 2] if source > 2 else [-1]),
        }
        for kind, of_kind in syntax.items():
            of_kind.append(values[kind])
    return collate_batch(sources, targets, syntax, multiple)


ALL_SENTENCES = list(range(len(SENTENCE_LENGTHS)))
