"""Transformers against torch's own with the same weights, and a reference by the equations of the paper."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.network_parts import PASCALConfig
from pipeline_py.config.systems.training import DropoutConfig as Rates
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import load_model, save_config, save_weights
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.self_attention.pascal import ParentScaledAttention
from pipeline_py.nmt.transformer.transformer_layers import LayerMemory, TransformerDecoderLayer, TransformerEncoderLayer
from tests.nmt.reference_network import VOCABULARY_SIZES, build_batch, build_model, build_pairs, iterate_pairs
from tests.nmt.transformer.reference_transformer import ReferenceTransformer

pytestmark = pytest.mark.usefixtures("one_thread")

SIZES = {"embedding": 8, "hidden": 8, "dropout": 0.0}


def stack(**options: Any) -> dict[str, Any]:
    return {"type": "transformer", "layers": 2, "heads": 2, "feed_forward": 1.5, **options}


def transformer(
    norm: str = "post", tied: str = "none", cross: Sequence[Any] = (), **of_encoder: Any
) -> CompositionConfig:
    parts = {"encoders": [stack(norm=norm, **of_encoder)], "decoder": stack(norm=norm, attention=[*cross])}
    return CompositionConfig.model_validate({**parts, "model": {**SIZES, "tied_embeddings": tied}})


COMPOSITIONS = {
    "post-norm": transformer(),
    "pre-norm": transformer("pre", tied="target"),
    "labels beside words": transformer(inputs=["words", {"type": "labels", "size": 3}]),
    "tree distances scale scores": transformer(attention=["deps_san"]),
    "of some heads of some layers": transformer(
        attention=[
            {"type": "deps_san", "gaussian": "log", "layers": [1], "heads": [0], "sigma": 1.5},
            {"type": "deps_san", "layers": [0]},
        ]
    ),
    "near the parent": transformer(attention=[{"type": "pascal", "heads": [-1], "parent_ignoring": 0}]),
    "near the parent and in the tree": transformer(
        attention=[{"type": "pascal", "sigma": 0.5, "layers": None, "parent_ignoring": 0}, "deps_san"]
    ),
    "learning the parent": transformer(attention=["lisa"]),
    "learning the parent in the last of the heads and layers": transformer(
        "pre",
        attention=[{"type": "lisa", "layers": [1], "heads": [-1], "weight": 0.3}, {"type": "deps_san", "heads": [0]}],
    ),
    "syntax-directed attention to the source": transformer(cross=["syntax"]),
    "of a narrow window in some heads of some layers": transformer(
        cross=[
            {"type": "syntax", "window": 1, "layers": [1], "heads": [1]},
            {"type": "syntax", "window": 2, "gaussian": "score", "layers": [0]},
        ]
    ),
}
CROSSED = {
    "transformer encoder, conditional GRU": {"encoders": [stack()], "contexts": ["global", "syntax"]},
    "transformer encoder, GRU": {"encoders": [stack()], "decoder": "gru"},
    "bidirectional GRU, transformer decoder": {"decoder": stack()},
    "GRU, transformer decoder": {"encoders": ["gru"], "decoder": stack(norm="pre")},
    "LSTM, transformer decoder": {"encoders": ["lstm"], "decoder": stack()},
    "bidirectional GRU, syntax-directed transformer decoder": {"decoder": stack(attention=["syntax"])},
}
CROSSINGS = {name: CompositionConfig.model_validate({**parts, "model": SIZES}) for name, parts in CROSSED.items()}
ALL = COMPOSITIONS | CROSSINGS


@pytest.mark.parametrize("multiple", [1, 3])
@pytest.mark.parametrize("system", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_loss_is_the_reference(system: CompositionConfig, multiple: int) -> None:
    for seed in range(2):
        model = build_model(system, seed)
        losses = model.compute_loss(build_batch(seed, multiple)).tolist()
        reference = ReferenceTransformer(model)
        for loss, (source, target, syntax) in zip(losses, iterate_pairs(seed), strict=True):
            distances = syntax["distances"].reshape(len(source), -1)
            parents = syntax["parents"].reshape(-1, 2)
            states = reference.encode_sentence(source, distances=distances, parents=parents, labels=syntax["labels"])
            expected, _ = reference.decode_sentence(states, list(target), distances=distances)
            assert loss == pytest.approx(
                expected + reference.compute_auxiliary_loss(list(syntax["parents"][::2])), rel=1e-10
            )


def test_attention_is_the_last_layers() -> None:
    model, batch = build_model(COMPOSITIONS["post-norm"]).eval(), build_batch()
    assert batch.target is not None and batch.target_lengths is not None
    attention = model.decoder.compute_attention(model.encode(batch), batch.target, batch.target_lengths).weights
    reference = ReferenceTransformer(model)
    for number, (source, target, _) in enumerate(iterate_pairs()):
        _, expected = reference.decode_sentence(reference.encode_sentence(source), list(target))
        np.testing.assert_allclose(attention[: len(target), number, : len(source)], expected, rtol=1e-9)
        assert not attention[len(target) :, number].any() and not attention[:, number, len(source) :].any()


@pytest.mark.parametrize("system", ALL.values(), ids=ALL.keys())
def test_gradients(system: CompositionConfig) -> None:
    model = build_model(system)
    batch = collate_batch(*build_pairs(pair_lengths=((2, 2), (1, 1), (0, 1))))
    names, parameters = zip(*model.named_parameters(), strict=True)

    def loss(*values: Tensor) -> Tensor:
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (batch,)).sum()

    assert torch.autograd.gradcheck(loss, parameters, eps=1e-6, atol=1e-6, fast_mode=True)


@pytest.mark.parametrize("system", ALL.values(), ids=ALL.keys())
def test_half_precision_is_near(system: CompositionConfig) -> None:
    model, batch = build_model(system).float(), build_batch()
    result = []
    for half in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            losses = model.compute_loss(batch)
        gradients = torch.autograd.grad(losses.sum(), [*model.parameters()], allow_unused=True)
        result.append((losses, torch.cat([entry.flatten() for entry in gradients if entry is not None])))
    (losses, gradients), (of_half, half_gradients) = result
    torch.testing.assert_close(of_half, losses, rtol=0.02, atol=0)
    assert torch.linalg.vector_norm(half_gradients - gradients) < 0.05 * torch.linalg.vector_norm(gradients)
    assert not torch.equal(of_half, losses)


def copy_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@torch.no_grad()
def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    copy_attention(ours.attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    norms = [ours.around_attention, ours.around_feed_forward]
    if isinstance(ours, TransformerDecoderLayer):
        copy_attention(ours.to_memory, theirs.multihead_attn)
        norms.insert(1, ours.around_memory)
    for number, residual in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_layers_are_those_of_torch(norm: str) -> None:
    torch.manual_seed(0)
    options = transformer(norm).encoders[0]
    encoder, decoder = (
        TransformerEncoderLayer(options, 8, 0.0).double(),
        TransformerDecoderLayer(options, 8, 8, Rates()).double(),
    )
    for parameter in (*encoder.parameters(), *decoder.parameters()):
        nn.init.normal_(parameter)
    settings = {"d_model": 8, "nhead": 2, "dim_feedforward": 12, "dropout": 0.0, "batch_first": True}
    theirs = nn.TransformerEncoderLayer(**settings, norm_first=norm == "pre").double()
    theirs_too = nn.TransformerDecoderLayer(**settings, norm_first=norm == "pre").double()
    copy_layer(encoder, theirs)
    copy_layer(decoder, theirs_too)

    states, mask = torch.randn(3, 5, 8, dtype=torch.double), torch.arange(5) < torch.tensor([[5], [2], [4]])
    expected = theirs(states, src_key_padding_mask=~mask)
    annotations = encoder(states, mask)
    torch.testing.assert_close(annotations[mask], expected[mask])

    system = transformer(norm)
    memory = build_model(system).encode(build_batch())
    targets = torch.randn(len(memory.mask), 4, 8, dtype=torch.double)
    (read,), later_mask = memory.annotations, torch.ones(4, 4, dtype=torch.bool).triu(1)
    expected = theirs_too(targets, read, tgt_mask=later_mask, memory_key_padding_mask=~memory.mask)
    attended = LayerMemory(memory, decoder.to_memory.key(read), decoder.to_memory.value(read))
    torch.testing.assert_close(decoder(targets, attended)[0], expected)


@pytest.mark.parametrize("system", ALL.values(), ids=ALL.keys())
@torch.no_grad()
def test_a_search_finds_what_whole_prefixes_give(system: CompositionConfig) -> None:
    """A score is that of the loss, which computes whole sentences without anything kept from word to word."""
    sources, _, syntax = build_pairs(pair_lengths=((4, 0), (7, 0), (1, 0), (0, 0), (2, 0)))
    model = build_model(system).eval()
    assert model.decoder.softmax.bias is not None
    model.decoder.softmax.weight *= 0.1  # so that some hypotheses end early, and rows are laid anew
    model.decoder.softmax.bias.zero_()[0] = 1.5
    limits = torch.full((len(sources),), 7)
    result = beam_search([model], [collate_batch(sources, syntax=syntax)], beam_size=12, max_lengths=limits, n_best=12)
    ended = [(row, hypothesis) for row, of_row in enumerate(result) for hypothesis in of_row if not hypothesis.is_cut]
    assert len(ended) >= 10 and max(len(hypothesis.tokens) for _, hypothesis in ended) > 1
    again = collate_batch(
        [sources[row] for row, _ in ended],
        [np.array([*hypothesis.tokens, 0]) for _, hypothesis in ended],
        {kind: [rows[row] for row, _ in ended] for kind, rows in syntax.items()},
    )
    scores = [hypothesis.log_probability for _, hypothesis in ended]
    np.testing.assert_allclose(scores, -model.compute_loss(again), rtol=1e-11)

    greedy = beam_search([model], [collate_batch(sources, syntax=syntax)], beam_size=1, max_lengths=limits)
    for row, (best,) in enumerate(greedy):
        of_row = {kind: [rows[row]] for kind, rows in syntax.items()}
        for place, word in enumerate([*best.tokens, *([] if best.is_cut else [0])]):
            endings = [np.array([*best.tokens[:place], piece]) for piece in range(VOCABULARY_SIZES["target"])]
            losses = [float(model.compute_loss(collate_batch([sources[row]], [ending], of_row))) for ending in endings]
            assert losses[word] == min(losses)


@pytest.mark.parametrize("system", ALL.values(), ids=ALL.keys())
@torch.no_grad()
def test_padding_and_company_have_no_influence(system: CompositionConfig) -> None:
    model = build_model(system).eval()
    sources, targets, syntax = build_pairs()
    batched = model.compute_loss(build_batch(multiple=8))
    for row, loss in enumerate(batched):
        single = collate_batch([sources[row]], [targets[row]], {kind: [rows[row]] for kind, rows in syntax.items()})
        torch.testing.assert_close(model.compute_loss(single), loss.unsqueeze(0), rtol=1e-12, atol=1e-12)


def test_parents_are_ignored_in_training_alone() -> None:
    options = PASCALConfig(parent_ignoring=0.25)
    part, batch = ParentScaledAttention(options, 8, 2, {}), build_batch()
    torch.manual_seed(0)
    scores = 1 + torch.rand(len(batch), 400, *2 * batch.source.shape[1:])
    scaled = part.eval()(scores, scores, batch)
    torch.testing.assert_close(part(scores, scores, batch), scaled, rtol=0, atol=0)
    parsed = (batch.get_syntax("parents")[:, :, 0] >= 0)[:, None].expand(scores.shape[:3])
    assert (scaled[parsed] < 0.4 * scores[parsed]).all() and torch.equal(scaled[~parsed], scores[~parsed])
    result = part.train()(scores, scores, batch)
    ignored, library_path = (result == scores).all(dim=3), (result == scaled).all(dim=3)
    assert (ignored | library_path).all(), "a row is scaled as a whole, or not at all"
    assert ignored[parsed].float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert ignored[0, :, 0].any() and library_path[0, :, 0].any(), "each head decides for itself"


def test_parents_are_learnt_in_training_alone_and_needed_nowhere_else() -> None:
    model = build_model(COMPOSITIONS["learning the parent"])
    batch = build_batch()
    bare = replace(batch, syntax={})
    (learnt,) = model.encode(batch).auxiliary_losses
    assert not model.encode(bare).auxiliary_losses
    torch.testing.assert_close(model.compute_loss(batch), model.compute_loss(bare) + learnt.loss)
    torch.testing.assert_close(model.eval().compute_loss(batch), model.compute_loss(bare))
    assert model.composition.required_syntax_names == [] and model.composition.training_syntax_names == ["parents"]
    right, counted = learnt.statistics["unlabelled_attachment"]
    lengths = batch.source_lengths - 1  # without EOS
    assert counted.tolist() == [0 if row == 1 else length for row, length in enumerate(lengths.tolist())]
    assert (right <= counted).all() and learnt.loss[1] == 0


def test_parents_that_follow_from_the_words_are_learnt() -> None:
    torch.manual_seed(0)
    model = TranslationModel(transformer(attention=["lisa"]), VOCABULARY_SIZES).train()
    sources = [np.array([2, 3, 4, 0]), np.array([4, 2, 3, 5, 0])]
    parents = [np.array([1, 1, 1, 1, 0, 0, 3, 3]), np.array([2, 3, 2, 3, 2, 3, 0, 0, 4, 4])]
    batch = collate_batch(sources, sources, {"parents": parents})
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        model.compute_loss(batch).sum().backward()
        optimizer.step()
    right, counted = model.encode(batch).auxiliary_losses[0].statistics["unlabelled_attachment"]
    assert right.tolist() == counted.tolist() == [3, 4]


@pytest.mark.parametrize(("tied", "matrices"), [("none", 3), ("target", 2), ("all", 1)])
def test_parameters_of_the_published_size(tied: str, matrices: int) -> None:
    """Vaswani et al. (2017), base: D = 512, inner layer F = 2048, 6 + 6 layers; V words on both sides.

    A layer of the encoder has 4 (D² + D) of its attention, 2 D F + F + D of the feed-forward network, and 2 · 2 D of
    its normalizations; a layer of the decoder has another attention and normalization.
    """
    d, f, v = 512, 2048, 37_000
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
    layers = 6 * (attention + feed_forward + 2 * norm) + 6 * (2 * attention + feed_forward + 3 * norm)
    settings = {"embedding": d, "hidden": d, "tied_embeddings": tied}
    system = CompositionConfig.model_validate(
        {"encoders": ["transformer"], "decoder": "transformer", "model": settings}
    )
    with torch.device("meta"):
        model = TranslationModel(system, {"source": v, "target": v})
    assert sum(p.numel() for p in model.parameters()) == layers + matrices * v * d + v
    assert layers == 44_138_496


def test_tied_embeddings_are_one_parameter_before_and_after_saving(tmp_path) -> None:
    model = build_model(COMPOSITIONS["pre-norm"])
    assert model.decoder.softmax.weight is model.decoder.embedding.weight
    assert "decoder.softmax.weight" not in model.state_dict()
    save_weights(tmp_path / "weights", {name: tensor.float() for name, tensor in model.state_dict().items()})
    save_config(tmp_path / "config", model)
    again = load_model(tmp_path / "weights", tmp_path / "config")
    assert again.decoder.softmax.weight is again.decoder.embedding.weight
    torch.testing.assert_close(
        again.compute_loss(build_batch()).double(), model.eval().compute_loss(build_batch()), rtol=1e-4, atol=1e-4
    )
    fresh = build_model(COMPOSITIONS["pre-norm"], seed=3)
    fresh.load_state_dict(copy.deepcopy(model.state_dict()))
    torch.testing.assert_close(fresh.decoder.softmax.weight, model.decoder.embedding.weight)


def test_one_embedding_of_both_sides_learns_from_both(tmp_path) -> None:
    torch.manual_seed(0)
    model = TranslationModel(transformer(tied="all"), {"source": 9, "target": 9}).double().eval()
    embedding = model.decoder.embedding.weight
    assert model.encoders[0].inputs[0].embedding.weight is embedding is model.decoder.softmax.weight
    assert [name for name in model.state_dict() if "embedding" in name] == ["decoder.embedding.weight"]
    assert (embedding.max(dim=0).values - embedding.min(dim=0).values > 0).all()
    batch = collate_batch([np.array([2, 3, 0])], [np.array([4, 0])], {})
    model.compute_loss(batch).sum().backward()
    read_alone, unchanged = embedding.grad[3].clone(), embedding.grad[8].clone()
    assert not torch.allclose(read_alone, unchanged)
    save_weights(tmp_path / "weights", {name: tensor.float() for name, tensor in model.state_dict().items()})
    save_config(tmp_path / "config", model)
    again = load_model(tmp_path / "weights", tmp_path / "config")
    assert again.encoders[0].inputs[0].embedding.weight is again.decoder.softmax.weight
    torch.testing.assert_close(again.compute_loss(batch).double(), model.compute_loss(batch), rtol=1e-4, atol=1e-4)


def test_dropout_is_of_what_is_read_and_of_what_sublayers_add() -> None:
    """With all of it dropped, a pre-norm stack without what it reads gives the same for all words."""
    sizes = {**SIZES, "dropout": 0.99999999}
    system = CompositionConfig.model_validate(
        {"encoders": [stack(norm="pre")], "decoder": stack(norm="pre"), "model": sizes}
    )
    torch.manual_seed(0)
    model = TranslationModel(system, VOCABULARY_SIZES).train()
    (states,), batch = model.encode(build_batch()).annotations, build_batch()
    torch.testing.assert_close(states[batch.source_mask], torch.zeros(int(batch.source_mask.sum()), 8))
    assert model.eval().encode(batch).annotations[0][batch.source_mask].any(dim=1).all()
