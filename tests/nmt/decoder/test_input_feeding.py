"""Recurrent decoders with input feeding against their references, in float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.decoder.base import DecoderParts
from pipeline_py.nmt.decoder.gru import GRUDecoder
from pipeline_py.nmt.decoder.lstm import LSTMDecoder
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.loss import softmax
from pipeline_py.nmt.model import find_part_class
from tests.nmt.decoder.reference_decoders import ReferenceDecoding, ReferenceGRUDecoder, ReferenceLSTMDecoder
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters, record_masks

E, H, V = 5, 4, 7
WORDS, PHRASES = (4, 7, 1, 3), (3, 5, 0, 0)
"""Numbers of words and phrases of each sentence; the last has no parse, the third is empty except EOS."""
TARGET_LENGTHS = (3, 1, 5, 4)
LSTM = {"type": "lstm"}
CASES = [
    (LSTM, "dot", ["global"], True),
    (LSTM, "mlp", ["global"], True),
    (LSTM, "dot", ["global", "global"], True),
    (LSTM, "dot", ["global"], False),
    (LSTM, "mlp", [{"type": "local", "window": 2}, "global"], False),
    *(
        ({"type": "gru", "phrase_weight": weight}, "mlp", ["global"], True)
        for weight in (None, 0.0, 0.5, 1.0, 0.3, "learned")
    ),
    ({"type": "gru", "phrase_weight": "learned"}, "dot", ["global"], True),
    ({"type": "gru", "phrase_weight": "learned"}, "mlp", ["global", "global"], True),
    ({"type": "gru", "phrase_weight": 0.3}, "mlp", ["global", "global"], True),
    ({"type": "gru"}, "mlp", ["global"], False),
    ({"type": "gru", "phrase_weight": "learned"}, "mlp", ["global"], False),
    ({"type": "gru"}, "mlp", [{"type": "flexible", "sigma": 0.7}, "global"], False),
]
TYPICAL = [(LSTM, "dot"), ({"type": "gru", "phrase_weight": "learned"}, "mlp")]


def make_decoder(options: dict, score: str, contexts: list, dropout: float = 0.0) -> LSTMDecoder | GRUDecoder:
    system = make_system(options, score, contexts, dropout)
    parts = DecoderParts(
        system,
        target_vocabulary_size=V,
        annotation_sizes=[H],
        summary_sizes=[summary_size(system)],
        scores=[find_part_class("score", score)(system.scores[0], H, H)],
        weightings=[find_part_class("weighting", context.type)(context, H) for context in system.contexts],
        loss=softmax.SoftmaxLoss(system.loss, V),
        vocabulary_sizes={},
    )
    decoder = find_part_class("decoder", system.decoder.type)(system.decoder, parts).double()
    torch.manual_seed(0)
    return draw_parameters(decoder, std=0.7)


def make_system(options: dict, score: str, contexts: list, dropout: float = 0.0) -> CompositionConfig:
    model = {"embedding": E, "hidden": H, "dropout": dropout}
    composition = {"encoders": [options["type"]], "scores": [score], "contexts": contexts, "decoder": options}
    return CompositionConfig.model_validate({**composition, "model": model})


def summary_size(system: CompositionConfig) -> int:
    return 2 * H if system.decoder.type == "lstm" else H


def make_memory(system: CompositionConfig, phrases: bool = True) -> EncoderMemory:
    """Draw annotations, also where there is nothing to annotate."""
    torch.manual_seed(1)
    words = torch.tensor(WORDS)
    columns = torch.arange(max(WORDS)) < words[:, None]
    if phrases:
        columns = torch.cat([columns, torch.arange(max(PHRASES)) < torch.tensor(PHRASES)[:, None]], dim=1)
    states = torch.randn(len(WORDS), columns.shape[1], H, dtype=torch.float64, requires_grad=True)
    summary = torch.randn(len(WORDS), summary_size(system), dtype=torch.float64, requires_grad=True)
    return EncoderMemory((states,), columns, max(WORDS), words, (summary,))


def with_keys(decoder: LSTMDecoder | GRUDecoder, memory: EncoderMemory) -> EncoderMemory:
    return replace(memory, keys=decoder.compute_keys(memory))


def make_target() -> tuple[Tensor, Tensor]:
    target = torch.from_numpy(np.random.default_rng(2).integers(1, V, (len(WORDS), max(TARGET_LENGTHS))))
    lengths = torch.tensor(TARGET_LENGTHS)
    target[torch.arange(len(WORDS)), lengths - 1] = 0
    return target * (torch.arange(target.shape[1]) < lengths[:, None]), lengths


def compute_losses(decoder: LSTMDecoder | GRUDecoder, memory: EncoderMemory) -> Tensor:
    target, lengths = make_target()
    return decoder.compute_loss(with_keys(decoder, memory), target, PackedWords.from_lengths(lengths))


def decode_by_reference(
    decoder: LSTMDecoder | GRUDecoder,
    system: CompositionConfig,
    memory: EncoderMemory,
    masks: list[Tensor] | None = None,
) -> list[ReferenceDecoding]:
    reference = (ReferenceLSTMDecoder if system.decoder.type == "lstm" else ReferenceGRUDecoder)(decoder, system)
    return list(reference.decode_batch(memory, *make_target(), masks or []))


@pytest.mark.parametrize(("options", "score", "contexts", "phrases"), CASES)
def test_losses_and_gradients_equal_reference(options, score, contexts, phrases) -> None:
    decoder, system = make_decoder(options, score, contexts), make_system(options, score, contexts)
    memory = make_memory(system, phrases)
    expected = [decoding.loss for decoding in decode_by_reference(decoder, system, memory)]
    leaves = [*decoder.parameters(), memory.annotations[0], memory.summaries[0]]
    assert_same_gradients(list(compute_losses(decoder, memory)), expected, leaves)


@pytest.mark.parametrize(("options", "score", "contexts", "phrases"), CASES)
@torch.no_grad()
def test_steps_equal_loss_and_reference(options, score, contexts, phrases) -> None:
    system = make_system(options, score, contexts)
    decoder = make_decoder(options, score, contexts).eval()
    memory = with_keys(decoder, make_memory(system, phrases))
    target, lengths = make_target()
    attention = decoder.compute_attention(memory, target, lengths)
    assert attention.weights.shape == (target.shape[1], *memory.mask.shape)
    state, previous, total = decoder.build_initial_state(memory), None, torch.zeros(len(WORDS), dtype=torch.float64)
    for number, words in enumerate(target.T):
        logits, state, weights = decoder.step(previous, state, memory)
        real = number < lengths
        total -= logits.log_softmax(1)[torch.arange(len(words)), words] * real
        torch.testing.assert_close(attention.weights[number], weights * real[:, None], rtol=1e-12, atol=1e-12)
        previous = words
    torch.testing.assert_close(
        total, decoder.compute_loss(memory, target, PackedWords.from_lengths(lengths)), rtol=1e-12, atol=1e-12
    )
    weighs_phrases = options.get("phrase_weight") is not None
    assert (attention.phrase_weights is not None) == weighs_phrases
    for row, decoding in enumerate(decode_by_reference(decoder, system, memory)):
        weights = attention.weights[: lengths[row], row]
        expected = [pytest.approx(weights, abs=1e-12) for weights in decoding.attention]
        assert weights[:, memory.mask[row]].tolist() == expected
        assert not weights[:, ~memory.mask[row]].any()
        if weighs_phrases:
            phrase_weights = attention.phrase_weights[:, row]
            assert phrase_weights[: lengths[row]].tolist() == pytest.approx(decoding.phrase_weights, abs=1e-12)
            assert not phrase_weights[lengths[row] :].any()


def test_closed_gate_equals_zero_weight() -> None:
    learned, fixed = (
        make_decoder({"type": "gru", "phrase_weight": weight}, "mlp", ["global"]) for weight in ("learned", 0.0)
    )
    fixed.load_state_dict({name: value for name, value in learned.state_dict().items() if "gate." not in name})
    with torch.no_grad():
        learned.gate.weight.zero_()
        learned.gate.bias.fill_(-1000.0)
    memory = make_memory(make_system({"type": "gru"}, "mlp", ["global"]))
    losses = [compute_losses(decoder, memory) for decoder in (learned, fixed)]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("options", "score", "sizes"), [(*TYPICAL[0], [E, 2 * H, H]), (*TYPICAL[1], [E, H, H, E])], ids=["lstm", "gru"]
)
def test_dropout_masks_equal_reference(options, score, sizes, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, system = make_decoder(options, score, ["global"], dropout=0.4), make_system(options, score, ["global"])
    memory = make_memory(system)
    recorded_masks = record_masks(decoder, monkeypatch)
    losses = compute_losses(decoder, memory)
    assert [mask.shape[1] for mask in recorded_masks] == sizes
    order = PackedWords.from_lengths(make_target()[1]).sentence_order.argsort()
    masks = [mask[order] for mask in recorded_masks]
    expected = [decoding.loss for decoding in decode_by_reference(decoder, system, memory, masks)]
    torch.testing.assert_close(losses, torch.stack(expected), rtol=1e-12, atol=1e-12)
    recorded_masks.clear()
    losses = compute_losses(decoder.eval(), memory)
    expected = [decoding.loss for decoding in decode_by_reference(decoder, system, memory)]
    torch.testing.assert_close(losses, torch.stack(expected), rtol=1e-12, atol=1e-12)
    assert recorded_masks == [None] * len(sizes)


@torch.no_grad()
def test_first_step_reads_no_word() -> None:
    decoder = make_decoder(LSTM, "dot", ["global"]).eval()
    memory = with_keys(decoder, make_memory(make_system(LSTM, "dot", ["global"])))
    before = decoder.step(None, decoder.build_initial_state(memory), memory)[0]
    decoder.lstm.input.bias.fill_(3.0)
    decoder.lstm.recurrent.weight.fill_(1.0)
    torch.testing.assert_close(
        decoder.step(None, decoder.build_initial_state(memory), memory)[0], before, rtol=0, atol=0
    )


@pytest.mark.parametrize(("options", "score"), TYPICAL, ids=["lstm", "gru"])
@torch.no_grad()
def test_selected_rows_continue_unchanged(options, score) -> None:
    decoder = make_decoder(options, score, ["global", "global"]).eval()
    memory = with_keys(decoder, make_memory(make_system(options, score, ["global", "global"])))
    first, state, _ = decoder.step(None, decoder.build_initial_state(memory), memory)
    index, words = torch.tensor([3, 0, 0, 2]), torch.tensor([1, 2, 3, 4])
    logits, _, _ = decoder.step(words, state, memory)
    selected, _, _ = decoder.step(words[index], state.select_rows(index), memory.select_rows(index))
    torch.testing.assert_close(selected, logits[index], rtol=1e-12, atol=1e-12)
    if options == LSTM:  # whose first step reads nothing
        again, _, _ = decoder.step(
            None, decoder.build_initial_state(memory).select_rows(index), memory.select_rows(index)
        )
        torch.testing.assert_close(again, first[index])


@pytest.mark.parametrize(("options", "score"), TYPICAL, ids=["lstm", "gru"])
def test_half_precision_stays_close(options, score) -> None:
    decoder = make_decoder(options, score, ["global"]).float()
    memory = make_memory(make_system(options, score, ["global"]))
    single = replace(memory, annotations=(memory.annotations[0].float(),), summaries=(memory.summaries[0].float(),))
    exact = compute_losses(decoder, single)
    with torch.autocast("cpu", torch.bfloat16):
        half = compute_losses(decoder, single)
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)
