"""As many parameters: the size that is found is the one that trying all finds, and that of the paper."""

import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.training.capacity import count_parameters, match_parameter_count
from pipeline_py.run.errors import InputError

VOCABULARIES = {"source": 30, "target": 40, "labels": 5, "units": 20}
LABELS = {"type": "labels", "size": 10}


def composition(embedding: int = 7, hidden: int = 9, **parts: object) -> CompositionConfig:
    return CompositionConfig.model_validate(
        {"model": {"embedding": embedding, "hidden": hidden, "dropout": 0.3}, **parts}
    )


def built(system: CompositionConfig) -> int:
    return sum(parameter.numel() for parameter in TranslationModel(system, VOCABULARIES).parameters())


def smallest_by_trial(parts: dict, wanted: int) -> int:
    for size in range(1, 64):
        try:
            system = composition(size, size, **parts)
        except ValueError:
            continue
        if built(system) >= wanted:
            return size
    raise AssertionError("no size is large enough")


@pytest.mark.parametrize(
    ("parts", "embedding"),
    [
        ({}, 7),
        ({"contexts": ["local", "flexible"]}, 7),
        ({"encoders": [{"inputs": ["words", LABELS]}]}, 12),
        ({"encoders": [{"inputs": ["words", {"type": "units", "share": 0.3}]}]}, 7),
        # 20 and half of d are d at 39, 40 and 41 alone.
        ({"encoders": [{"inputs": [{"type": "words", "size": 20}, {"type": "labels", "share": 0.5}]}]}, 40),
    ],
    ids=["plain", "two contexts", "at least 11", "shared out", "about 40"],
)
@pytest.mark.parametrize("hidden", [8, 15, 21])
def test_the_size_is_the_first_that_is_large_enough(parts: dict, embedding: int, hidden: int) -> None:
    system = composition(embedding, **parts)
    like = composition(11, hidden, encoders=[{}, {"inputs": ["units"]}], contexts=["syntax"])
    result = match_parameter_count(system, like, VOCABULARIES)
    size = smallest_by_trial(parts, built(like))
    assert (result.model.embedding, result.model.hidden, result.model.dropout) == (size, size, 0.3)
    assert result.model_dump(exclude={"model"}) == system.model_dump(exclude={"model"})


def test_a_system_is_as_large_as_itself() -> None:
    system = composition(17, 17)
    assert match_parameter_count(composition(3, 5), system, VOCABULARIES) == system


def test_an_odd_size_is_passed_over_where_directions_are_halves() -> None:
    parts = {"encoders": ["gru"], "decoder": "gru"}
    for hidden in (11, 12, 18, 27):
        like = composition(12, hidden)
        result = match_parameter_count(composition(8, 8, **parts), like, VOCABULARIES).model.hidden
        assert result % 2 == 0
        assert result == smallest_by_trial(parts, built(like))


def test_counting_takes_no_memory_and_no_chance() -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    system = composition(8192, 8192)
    assert count_parameters(system, {"source": 10**6, "target": 10**6}) > 10**10
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    "inputs",
    [
        [{"type": "words", "size": 20}, LABELS],  # 30 is the only size, and too small
        [{"type": "words", "share": 0.2}, {"type": "units", "size": 4}],  # 5 is
    ],
)
def test_a_composition_that_cannot_grow_is_named(inputs: list) -> None:
    embedding = 30 if inputs[1] is LABELS else 5
    system = composition(embedding, encoders=[{"inputs": inputs}])
    with pytest.raises(InputError, match="no embedding and hidden size up to 8192 that fits the inputs gives"):
        match_parameter_count(system, composition(90, 90), VOCABULARIES)


@pytest.mark.parametrize(
    ("source", "target", "size"),
    [(29_011, 32_640, 269), (25_456, 23_509, 272)],
    ids=["Chinese to Japanese", "English to Japanese"],
)
def test_sizes_of_the_paper(source: int, target: int, size: int) -> None:
    """Tree2seq section 5.3: trees at 256, and the sequence model with as many parameters."""
    parts = {"scores": ["dot"], "decoder": "lstm"}
    tree = composition(256, 256, encoders=["tree_lstm"], **parts)
    vocabularies = {"source": source, "target": target}
    # Embeddings and softmax; LSTMs that read d and 2 d; the layer above; two Tree-LSTMs of five gates.
    d = 256
    by_hand = (source + 2 * target) * d + target + (8 + 12 + 2) * d * d + (4 + 4 + 1) * d + 2 * (10 * d * d + 5 * d)
    assert count_parameters(tree, vocabularies) == by_hand
    assert match_parameter_count(composition(**parts, encoders=["lstm"]), tree, vocabularies).model.hidden == size
