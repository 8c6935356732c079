"""Masks of every number for itself, and the places of a network that have them."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import DropoutConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.dropout import Dropout, DropoutSite, SharedDropout
from pipeline_py.nmt.model import TranslationModel
from tests.nmt.reference_network import MODEL_OPTIONS, VOCABULARY_SIZES, build_model, build_pairs

pytestmark = pytest.mark.usefixtures("one_thread")

STACK = {"type": "transformer", "layers": 1, "heads": 2}
NETWORKS = {
    "conditional GRU": {},
    "several contexts": {"contexts": ["global", "flexible"], "decoder": {"gru_context": "both"}},
    "LSTM": {"encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm"},
    "GRU": {"encoders": ["gru"], "decoder": "gru"},
    "Transformer": {"encoders": [STACK], "decoder": STACK},
}
NEARLY_ALL = 1 - 1e-12
BATCH = build_pairs(pair_lengths=((4, 3), (2, 4)))


def network(composition: dict, dropout: object) -> TranslationModel:
    size = {**MODEL_OPTIONS, "embedding": 4, "hidden": 4, "dropout": dropout}
    return build_model(CompositionConfig.model_validate({**composition, "model": size})).train()


def drawn_losses(model: TranslationModel, sources: list = BATCH[0]) -> Tensor:
    torch.manual_seed(5)
    return model.compute_loss(collate_batch(sources, *BATCH[1:]))


def with_other_words() -> list[np.ndarray]:
    return [np.append(1 + row[:-1] % (VOCABULARY_SIZES["source"] - 1), row[-1]) for row in BATCH[0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_remaining_values_are_scaled(rate: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    values = torch.ones(300, 333, dtype=dtype, requires_grad=True)
    dropped = Dropout(rate).train()(values)
    remaining = dropped != 0
    # Five standard deviations of a share of so many numbers.
    assert remaining.double().mean().item() == pytest.approx(
        1 - rate, abs=5 * (rate * (1 - rate) / values.numel()) ** 0.5
    )
    torch.testing.assert_close(
        dropped[remaining].double(), torch.full_like(dropped[remaining], 1 / (1 - rate)).double(), rtol=0.01, atol=0
    )
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped)


def test_a_tiny_rate_drops_next_to_nothing() -> None:
    values = torch.ones(1000)
    assert Dropout(1e-6).train()(values).mean().item() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.9])
@pytest.mark.parametrize("site", ["embeddings", "states", "contexts", "readout"])
def test_remaining_values_of_shared_masks_are_scaled(rate: float, site: DropoutSite) -> None:
    torch.manual_seed(0)
    mask = SharedDropout(DropoutConfig.model_validate({site: rate})).train().draw_mask(site, 300, 333, torch.ones(1))
    assert mask is not None
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - rate)])
    # Five standard deviations of a mean of so many numbers.
    assert mask.mean().item() == pytest.approx(1, abs=5 * (rate / (1 - rate) / mask.numel()) ** 0.5)


def test_neighbours_are_uncorrelated() -> None:
    torch.manual_seed(0)
    remaining = (Dropout(0.5).train()(torch.ones(400, 401)) != 0).double()
    correlations = [
        torch.corrcoef(torch.stack([remaining[:, :-far].flatten(), remaining[:, far:].flatten()]))[0, 1]
        for far in (1, 2, 3, 4)
    ]
    assert max(abs(correlation) for correlation in correlations) < 5 / remaining.numel() ** 0.5


def test_masks_depend_on_seed_and_differ_between_calls() -> None:
    values, dropout = torch.ones(7, 9), Dropout(0.5).train()
    torch.manual_seed(1)
    first, second = dropout(values), dropout(values)
    torch.manual_seed(1)
    assert torch.equal(dropout(values), first) and not torch.equal(first, second)


def test_identity_outside_training_and_at_rate_zero() -> None:
    values = torch.randn(3, 5)
    assert Dropout(0.5).eval()(values) is values and Dropout(0.0).train()(values) is values


@pytest.mark.parametrize("composition", NETWORKS.values(), ids=NETWORKS)
def test_single_rate_applies_to_all_sites(composition: dict) -> None:
    model = network(composition, 0.5)
    everywhere, places = drawn_losses(model), sorted(model.composition.decoder.dropout_places)
    assert torch.equal(drawn_losses(network(composition, dict.fromkeys(places, 0.5))), everywhere)
    no_dropout_losses = drawn_losses(network(composition, 0.0))
    assert torch.equal(drawn_losses(network(composition, {})), no_dropout_losses)
    for place in places:
        single_site_losses = drawn_losses(network(composition, {place: 0.5}))
        assert not torch.equal(single_site_losses, no_dropout_losses) and not torch.equal(
            single_site_losses, everywhere
        )
        assert torch.equal(drawn_losses(network(composition, {place: 0.5}).eval()), no_dropout_losses)


def test_unsupported_site_raises_error() -> None:
    for composition, place in ((NETWORKS["LSTM"], "contexts"), (NETWORKS["Transformer"], "readout")):
        with pytest.raises(ValueError, match=rf"has no dropout of `{place}`; give `dropout: {{{place}: 0}}`"):
            network(composition, {place: 0.5})
        network(composition, {place: 0})


@pytest.mark.parametrize("name", ["conditional GRU", "several contexts"])
def test_context_dropout_hides_source(name: str) -> None:
    model = network(NETWORKS[name], {"contexts": NEARLY_ALL})
    assert torch.equal(drawn_losses(model, with_other_words()), drawn_losses(model))
    model = network(NETWORKS[name], {"states": 0.5, "embeddings": 0.5, "readout": 0.5})
    assert not torch.equal(drawn_losses(model, with_other_words()), drawn_losses(model))


@pytest.mark.parametrize("name", ["conditional GRU", "LSTM", "GRU"])
def test_readout_dropout_leaves_only_bias(name: str) -> None:
    model = network(NETWORKS[name], {"readout": NEARLY_ALL})
    _, targets, _ = BATCH
    guesses = model.decoder.softmax.bias.log_softmax(0)
    expected = [-guesses[torch.as_tensor(target).long()].sum() for target in targets]
    torch.testing.assert_close(drawn_losses(model), torch.stack(expected))


@pytest.mark.parametrize("composition", NETWORKS.values(), ids=NETWORKS)
def test_embedding_dropout_hides_words(composition: dict) -> None:
    model = network(composition, {"embeddings": NEARLY_ALL})
    assert torch.equal(drawn_losses(model, with_other_words()), drawn_losses(model))
    model = network(composition, 0.5)
    assert not torch.equal(drawn_losses(model, with_other_words()), drawn_losses(model))


@pytest.mark.parametrize("composition", NETWORKS.values(), ids=NETWORKS)
def test_embedding_dropout_hides_previous_target_words(composition: dict) -> None:
    """If words do not depend on previous ones, the losses of ab and ba have the sum of those of aa and bb."""

    def compute_mixed_loss(dropout: dict) -> float:
        losses = []
        for words in ((3, 4), (4, 3), (3, 3), (4, 4)):
            torch.manual_seed(5)
            batch = collate_batch(BATCH[0], [np.array([*words, 0])] * 2, *BATCH[2:])
            losses.append(network(composition, dropout).double().compute_loss(batch).sum().item())
        return losses[0] + losses[1] - losses[2] - losses[3]

    assert compute_mixed_loss({"embeddings": NEARLY_ALL}) == pytest.approx(0, abs=1e-9)
    assert abs(compute_mixed_loss({"embeddings": 0.1})) > 1e-6
