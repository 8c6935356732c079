"""Networks of every composition of the default experiment in small, and batches for them."""

from pathlib import Path

import numpy as np
import torch
import yaml

from pipeline_py.config.load import load
from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.self_attention.pascal import ParentScaled
from pipeline_py.subword.pack_heads import heads_of_pieces, parents_of_pieces
from pipeline_py.subword.vocabulary import EOS
from pipeline_py.syntax.trees.control_shapes import Shape, heads
from tests.nmt.random_tree import random_tree

VOCABULARIES = {"source": 12, "target": 9, "units": 8, "labels": 5}
SIZES = {"embedding": 16, "hidden": 16, "dropout": 0.0, "initialization": "lecun"}
LENGTHS = ((7, 3), (8, 9), (1, 7), (15, 1), (0, 0), (5, 8), (16, 16))
"""Words of sources and targets without their ends: on both sides of multiples of 8, and just such."""

READINGS = {
    f"syntax, {gaussian}, {position}": {"contexts": [{"type": "syntax", "gaussian": gaussian, "position": position}]}
    for gaussian in ("log", "score", "weight")
    for position in ("interpolate", "round", "attention")
}


def systems() -> dict[str, System]:
    """The systems of the default experiment that are composed differently, and the readings of SDAtt."""
    experiment = load(yaml.safe_load(Path("config.yaml").read_text()), check_files=False)
    found: dict[str, System] = {}
    for name, system in experiment.systems.items():
        if not isinstance(system, System):
            continue
        one = System.model_validate(
            {
                **system.model_dump(include={"encoders", "scores", "contexts", "decoder", "loss"}),
                "model": SIZES,
            }
        )
        if one not in found.values():
            found[name] = one
    readings = {name: System.model_validate({**parts, "model": SIZES}) for name, parts in READINGS.items()}
    return found | readings


SYSTEMS = systems()


def make_model(name: str, dropout: float = 0.0) -> Model:
    """Draw the weights of a network in double precision, the same each time; PASCAL ignores as many as are dropped."""
    torch.manual_seed(0)
    system = SYSTEMS[name]
    sized = system.model.model_copy(update={"dropout": dropout})
    model = Model(system.model_copy(update={"model": sized}), VOCABULARIES).double()
    for part in model.modules():
        if isinstance(part, ParentScaled):
            part.ignoring = dropout
    model.learn_frequencies(torch.arange(1, VOCABULARIES["target"] + 1))
    return model


def make_batch(system: System, rows: list[int], multiple: int = 1, seed: int = 0) -> Batch:
    """Some of the sentences, with the syntax that a system reads or learns to predict; the third one has no parse."""
    sources, targets, syntax = [], [], {kind.name: [] for kind in system.kinds}
    for row in rows:
        random = np.random.default_rng([seed, row])
        source, target = LENGTHS[row]
        sources.append(np.append(random.integers(1, VOCABULARIES["source"], source), EOS))
        targets.append(np.append(random.integers(1, VOCABULARIES["target"], target), EOS))
        words, unknown = range(source), -np.ones(source + 1, dtype=int)
        tree = heads(Shape.RANDOM, source, f"{seed} {row}") if row != 2 else None
        square = random.integers(1, 5, (source + 1, source + 1))
        values = {
            "distances": (square * (1 - np.eye(source + 1, dtype=int))).astype(np.uint8).ravel(),
            "labels": random.integers(0, VOCABULARIES["labels"], source + 1),
            "units": random.integers(0, VOCABULARIES["units"], 10 * (source + 1)),
            "heads": unknown if tree is None else np.array(heads_of_pieces(tree, words)),
            "parents": unknown.repeat(2) if tree is None else np.array(parents_of_pieces(tree, words)),
            "trees": random_tree(random, source, parsed=row != 2),
            "lexical_trees": np.array([-1, 0, 1, 1, source, 2, 2] if source > 2 else [-1]),
        }
        for kind, of_kind in syntax.items():
            of_kind.append(values[kind])
    return collate(sources, targets, syntax, multiple)


ALL = list(range(len(LENGTHS)))
