"""Networks of benchmarks are composed as configured, and have the requested size."""

from dataclasses import replace

import pytest
import yaml

from benchmarks.network_specs import (
    ARBITREE,
    EXTRA_SYSTEMS,
    HIDDEN_SIZE_MULTIPLE,
    TRANSFORMER_OPTIONS,
    NetworkSpec,
    compose_network,
    compose_system,
    find_matching_size,
)
from benchmarks.settings import NetworkSize
from benchmarks.worker_process import ROOT
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.training.capacity import count_parameters
from pipeline_py.run.errors import InputError

RECURRENT = ["GlobalAtt", "BiRNN-GCN", "LocalAtt", "FlexAtt", "SDAtt", "+SDAtt", "SDRNMT-2", "Seq2Seq", "Tree2Seq"]
TRANSFORMERS = [
    "Transformer-base",
    "Transformer-labels",
    "Transformer-LISA",
    "Transformer-PASCAL",
    "Transformer-Deps-SAN",
]
SIZES = {"source": 60, "target": 50, "units": 40, "labels": 10}


@pytest.mark.parametrize("system", [*RECURRENT, "Hierarchical", *EXTRA_SYSTEMS])
def test_systems_are_composed_as_configured(system: str) -> None:
    composition = CompositionConfig.model_validate(compose_system(system, NetworkSize(16, 32), 0.1))
    assert (composition.model.embedding, composition.model.hidden, composition.model.dropout) == (16, 32, 0.1)
    if system not in EXTRA_SYSTEMS:
        config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
        configured_system = load_experiment(config, should_check_files=False).systems[system]
        for part in ("encoders", "scores", "contexts", "decoder", "loss"):
            assert getattr(composition, part) == getattr(configured_system, part)


@pytest.mark.parametrize("system", ["GlobalAt", "PBSMT", "Tree2Seq-beam10"])
def test_a_system_that_is_no_network_is_refused(system: str) -> None:
    with pytest.raises(InputError, match=f"--system {system}: config.yaml has no network of this name"):
        compose_system(system, NetworkSize(16, 32), 0.1)


def test_the_sequential_baseline_is_hierarchical_without_phrases() -> None:
    hierarchical, sequential = (
        CompositionConfig.model_validate(compose_system(name, NetworkSize(16, 32), 0.0))
        for name in ("Hierarchical", "Sequential-bidirectional")
    )
    assert sequential.scores == hierarchical.scores and sequential.contexts == hierarchical.contexts
    assert sequential.decoder.type == hierarchical.decoder.type
    assert not sequential.encoders[0].has_phrases and not sequential.required_syntax_names


@pytest.mark.parametrize("system", TRANSFORMERS)
def test_transformers_differ_only_in_configured_parts(system: str) -> None:
    composition = CompositionConfig.model_validate(compose_system(system, NetworkSize(16, 16), 0.1))
    configured_system = load_experiment(
        yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")), should_check_files=False
    ).systems[system]
    (encoder,), (configured_encoder,) = composition.encoders, configured_system.encoders
    assert (encoder.attention, encoder.inputs) == (configured_encoder.attention, configured_encoder.inputs)
    for stack in (encoder, composition.decoder):
        assert {key: getattr(stack, key) for key in TRANSFORMER_OPTIONS} == TRANSFORMER_OPTIONS
    assert composition.loss.label_smoothing == 0 and composition.model.tied_embeddings == "none"


def test_a_rate_rises_and_then_falls_over_epochs() -> None:
    """By hand: 3 updates of warm-up, 2 epochs of 10 updates."""
    side = NetworkSpec("arbitree", ARBITREE, NetworkSize(8, 8), learning_rate=0.4, warmup_updates=3, decay_epochs=2)
    rates = [side.compute_learning_rate(update, 10) for update in (0, 1, 3, 5, 15, 20, 25)]
    assert rates == pytest.approx([0.1, 0.2 * 0.95, 0.4 * 0.85, 0.4 * 0.75, 0.4 * 0.25, 0, 0])
    assert NetworkSpec("peer", ARBITREE, NetworkSize(8, 8), learning_rate=0.4).compute_learning_rate(99, 10) == 0.4


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("parameter_count", [5_000, 20_000, 91_234])
def test_a_side_is_the_smallest_with_as_many_parameters(parameter_count: int, is_tied: bool) -> None:
    side = NetworkSpec("arbitree", ARBITREE, NetworkSize(16, 999), has_tied_embeddings=is_tied)
    matching_size = find_matching_size(parameter_count, side, SIZES)
    smaller = NetworkSize(16, matching_size.hidden - HIDDEN_SIZE_MULTIPLE)

    def count_network_parameters(size: NetworkSize) -> int:
        return count_parameters(CompositionConfig.model_validate(compose_network(replace(side, size=size), 0.0)), SIZES)

    assert matching_size.embedding == 16 and matching_size.hidden % HIDDEN_SIZE_MULTIPLE == 0
    assert count_network_parameters(matching_size) >= parameter_count and (
        smaller.hidden == 0 or count_network_parameters(smaller) < parameter_count
    )
