"""Whole networks of tree2seq and of the bidirectional hierarchical encoder: sizes, beginnings, training and search."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.random_tree import draw_tree_row

LSTM = {"decoder": "lstm", "scores": ["dot"]}
SYSTEMS: dict[str, dict] = {
    "sequence to sequence": {"encoders": ["lstm"], **LSTM},
    "reversed": {"encoders": [{"type": "lstm", "direction": "reversed"}], **LSTM},
    "two directions": {"encoders": [{"type": "lstm", "direction": "bidirectional"}], **LSTM},
    "tree to sequence": {"encoders": ["tree_lstm"], **LSTM},
    "leaves are embeddings": {"encoders": [{"type": "tree_lstm", "leaves": "embeddings"}], **LSTM},
    "sequential": {"encoders": ["gru"], "decoder": "gru"},
    "vanilla trees": {"encoders": ["tree_gru"], "decoder": "gru"},
    "lexical trees": {
        "encoders": [{"type": "tree_gru", "leaves": "bidirectional", "top_down": True, "trees": "lexical"}],
        "decoder": "gru",
    },
    "hierarchical": {
        "encoders": [{"type": "tree_gru", "leaves": "bidirectional", "top_down": True}],
        "decoder": {"type": "gru", "phrase_weight": "learned"},
    },
}
VOCABULARIES = {"source": 12, "target": 6}


pytestmark = pytest.mark.usefixtures("one_thread")


def make_system(composition: dict, size: int = 4, dropout: float = 0.0, **more) -> CompositionConfig:
    return CompositionConfig.model_validate(
        {**composition, "model": {"embedding": size, "hidden": size, "dropout": dropout}, **more}
    )


def make_model(system: CompositionConfig, seed: int = 0) -> TranslationModel:
    torch.manual_seed(seed)
    model = draw_parameters(TranslationModel(system, VOCABULARIES).double(), std=0.7)
    model.set_word_frequencies(torch.arange(1, VOCABULARIES["target"] + 1))
    return model


def make_pairs(seed: int = 0, lengths=((5, 3), (2, 5), (0, 0), (7, 2), (3, 1))):
    """Random sentences of (source, target) lengths; the last has no tree."""
    random = np.random.default_rng(seed)
    sources = [np.append(random.integers(1, VOCABULARIES["source"], source), EOS) for source, _ in lengths]
    targets = [np.append(random.integers(1, VOCABULARIES["target"], target), EOS) for _, target in lengths]
    trees = [
        draw_tree_row(random, source, is_parsed=place < len(lengths) - 1) for place, (source, _) in enumerate(lengths)
    ]
    joined = [np.array([-1, 0, 1, 1], dtype=np.int32) if source > 2 else trees[2] for source, _ in lengths]
    return sources, targets, {"trees": trees, "lexical_trees": joined}


def make_batch(seed: int = 0, rows: list[int] | None = None, **options) -> Batch:
    sources, targets, syntax = make_pairs(seed, **options)
    rows = list(range(len(sources))) if rows is None else rows
    return collate_batch(
        [sources[row] for row in rows],
        [targets[row] for row in rows],
        {kind: [values[row] for row in rows] for kind, values in syntax.items()},
    )


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_score_is_negative_loss(name: str) -> None:
    model = make_model(make_system(SYSTEMS[name], dropout=0.3)).eval()
    assert model.decoder.softmax.bias is not None
    model.decoder.softmax.bias[EOS] += 2  # so that hypotheses end
    sources, _, syntax = make_pairs()
    results = beam_search([model], [make_batch()], beam_size=5, max_lengths=torch.full((len(sources),), 7), n_best=5)
    pairs = [(row, hypothesis) for row, best in enumerate(results) for hypothesis in best if not hypothesis.is_cut]
    assert len(pairs) >= 10
    again = collate_batch(
        [sources[row] for row, _ in pairs],
        [np.array([*hypothesis.tokens, EOS]) for _, hypothesis in pairs],
        {kind: [values[row] for row, _ in pairs] for kind, values in syntax.items()},
    )
    scores = [hypothesis.log_probability for _, hypothesis in pairs]
    np.testing.assert_allclose(scores, -model.compute_loss(again).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_loss_does_not_depend_on_batch(name: str) -> None:
    model = make_model(make_system(SYSTEMS[name])).eval()
    batch_losses = model.compute_loss(make_batch())
    for row in range(len(batch_losses)):
        torch.testing.assert_close(
            model.compute_loss(make_batch(rows=[row]))[0], batch_losses[row], rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("loss", ["softmax", {"type": "blackout", "samples": 4}])
def test_gradients(name: str, loss: object) -> None:
    model = make_model(make_system(SYSTEMS[name], loss=loss))
    batch = make_batch(lengths=((3, 2), (0, 1), (2, 1)))
    names, parameters = zip(*model.named_parameters(), strict=True)

    def total(*values: Tensor) -> Tensor:
        torch.manual_seed(3)
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (batch,)).sum()

    assert torch.autograd.gradcheck(total, parameters, eps=1e-6, atol=1e-6, fast_mode=True)


@pytest.mark.parametrize("name", SYSTEMS)
def test_extreme_parameters_give_no_nan(name: str) -> None:
    for loss in ("softmax", "blackout"):
        model = make_model(make_system(SYSTEMS[name], loss=loss)).float()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(40)
        losses = model.compute_loss(make_batch())
        losses.sum().backward()
        assert losses.isfinite().all()
        for place, parameter in model.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), place
        assert model.eval().compute_loss(make_batch()).isfinite().all()


def test_blackout_applies_only_in_training() -> None:
    composition = SYSTEMS["tree to sequence"]
    sampled, full = (make_model(make_system(composition, loss=loss)) for loss in ("blackout", "softmax"))
    full.load_state_dict(sampled.state_dict())
    batch = make_batch()
    torch.manual_seed(1)
    first = sampled.compute_loss(batch)
    assert not torch.allclose(first, full.compute_loss(batch))
    assert not torch.equal(first, sampled.compute_loss(batch)), "every batch has draws of its own"
    torch.manual_seed(1)
    torch.testing.assert_close(sampled.compute_loss(batch), first, rtol=0, atol=0)
    torch.testing.assert_close(sampled.eval().compute_loss(batch), full.eval().compute_loss(batch), rtol=0, atol=0)


def count(composition: dict, embedding: int, hidden: int, source: int, target: int) -> int:
    options = {**composition, "model": {"embedding": embedding, "hidden": hidden}}
    with torch.device("meta"):
        model = TranslationModel(CompositionConfig.model_validate(options), {"source": source, "target": target})
    return sum(parameter.numel() for parameter in model.parameters())


def tree2seq_by_hand(d: int, source: int, target: int, trees: bool, weights_of_a_node: int = 10) -> int:
    """Embeddings; LSTMs of encoder and decoder, the latter with input feeding; W_2; W_1; two Tree-LSTMs."""
    total = (source + target) * d
    total += 4 * (d * d + d * d + d)
    total += 4 * (d * d + 2 * d * d + d)
    total += d * 2 * d + d
    total += target * d + target
    return total + (2 * (weights_of_a_node * d * d + 5 * d) if trees else 0)


@pytest.mark.parametrize(
    ("source", "target", "d", "millions"),
    [(29_011, 32_640, 269, 27.0), (25_456, 23_509, 272, 21.4)],
    ids=["Chinese to Japanese", "English to Japanese"],
)
def test_sequence_model_sizes_of_table_7(source: int, target: int, d: int, millions: float) -> None:
    """The paper prints 25.6 and 21.4 million; the first does not fit its vocabularies, whose size is 27.0 million."""
    trees = count(SYSTEMS["tree to sequence"], 256, 256, source, target)
    sequence = count(SYSTEMS["sequence to sequence"], d, d, source, target)
    assert trees == tree2seq_by_hand(256, source, target, trees=True)
    assert sequence == tree2seq_by_hand(d, source, target, trees=False)
    assert count(SYSTEMS["sequence to sequence"], d - 1, d - 1, source, target) < trees <= sequence
    assert round(sequence / 1e6, 1) == millions


def test_eq_13_as_printed_does_not_fit_table_7() -> None:
    """With one U_r for both forget gates a node has 9 d² weights; 268 would then do for Chinese to Japanese."""
    sizes = (29_011, 32_640)
    misprinted = tree2seq_by_hand(256, *sizes, trees=True, weights_of_a_node=9)
    assert misprinted < tree2seq_by_hand(268, *sizes, trees=False)


def hierarchical_by_hand(v: int, encoder: int) -> int:
    """All but the encoder's recurrences at 620 and 1000: embeddings, score, decoder, readout."""
    e, h = 620, 1000
    total = 2 * v * e + encoder
    total += 2 * h * h + 2 * h * h + 2 * h + 2 * h + 1  # U_a, W_a, b_a, V_a and a bias
    total += h * h + h  # s_0
    total += 3 * (h * e + h * h + h * h + h)  # GRU of E[y], c, s
    total += h * 2 * h + h  # c_j
    return total + e * h + e + v * e + v


@pytest.mark.parametrize(
    ("name", "encoder"),
    [
        ("sequential", 2 * 3 * (500 * 620 + 500 * 500 + 500)),
        ("vanilla trees", 3 * (1000 * 620 + 1000 * 1000 + 1000) + 4 * (2 * 1000 * 1000 + 1000)),
    ],
)
def test_parameter_count_of_hierarchical_systems(name: str, encoder: int) -> None:
    assert count(SYSTEMS[name], 620, 1000, 40_000, 40_000) == hierarchical_by_hand(40_000, encoder)


def test_top_down_encoder_adds_parameters_of_paper() -> None:
    """104.1 − 92.0 is 12.1 of rounded millions: two GRUs that read 1000 and carry 1000."""
    leaves = {"type": "tree_gru", "leaves": "bidirectional"}
    bottom_up, hierarchical = (
        count({"encoders": [{**leaves, "top_down": down}], "decoder": "gru"}, 620, 1000, 40_000, 40_000)
        for down in (False, True)
    )
    assert hierarchical - bottom_up == 2 * 3 * (1000 * 1000 + 1000 * 1000 + 1000)
    assert round((hierarchical - bottom_up) / 1e6, 1) == 12.0
    gated = {"encoders": [{**leaves, "top_down": True}], "decoder": {"type": "gru", "phrase_weight": "learned"}}
    assert count(gated, 620, 1000, 40_000, 40_000) - hierarchical == 1000 + 1
