"""The decoder of Nematus step by step, against the reference and against the loss of whole sentences."""

import pytest
import torch

from tests.nmt.reference_network import (
    COMPOSITIONS,
    ReferenceNetwork,
    build_batch,
    build_model,
    build_system,
    iterate_pairs,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def test_both_contexts_can_feed_second_gru() -> None:
    decoder = {"type": "conditional_gru", "gru_context": "both"}
    model = build_model(build_system({"contexts": ["global", "syntax"], "decoder": decoder}))
    reference = ReferenceNetwork(model)
    losses = model.compute_loss(build_batch()).tolist()
    for loss, pair in zip(losses, iterate_pairs(), strict=True):
        expected, _ = reference.compute_loss(*pair)
        assert loss == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_steps_equal_reference_and_loss(composition: dict) -> None:
    model = build_model(build_system(composition)).eval()
    batch = build_batch()
    assert batch.target is not None and batch.target_lengths is not None
    with torch.no_grad():
        losses = model.compute_loss(batch)
        memory = model.encode(batch)
        state = model.decoder.build_initial_state(memory)
        total = torch.zeros_like(losses)
        previous, attention = None, []
        for number, words in enumerate(batch.target.T):
            logits, state, weights = model.decoder.step(previous, state, memory)
            log_probability = logits.log_softmax(1).gather(1, words.unsqueeze(1)).squeeze(1)
            total -= log_probability * (number < batch.target_lengths)
            attention.append(weights)
            previous = words
    torch.testing.assert_close(total, losses, rtol=1e-12, atol=1e-12)
    reference = ReferenceNetwork(model)
    for row, (source, target, syntax) in enumerate(iterate_pairs()):
        _, expected = reference.compute_loss(source, target, syntax)
        for step, weights in enumerate(expected):
            assert attention[step][row, : len(source)].tolist() == pytest.approx(weights, abs=1e-12)
            assert not attention[step][row, len(source) :].any()


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_selected_rows_continue_unchanged(composition: dict) -> None:
    model = build_model(build_system(composition)).eval()
    with torch.no_grad():
        memory = model.encode(build_batch())
        state = model.decoder.build_initial_state(memory)
        _, state, _ = model.decoder.step(None, state, memory)
        index = torch.tensor([3, 0, 0, 2])
        words = torch.tensor([1, 2, 3, 4, 5])
        logits, _, _ = model.decoder.step(words, state, memory)
        state, memory = state.select_rows(index), memory.select_rows(index)
        selected, _, _ = model.decoder.step(words[index], state, memory)
        next_index = torch.tensor([1, 3, 1])  # of rows that have their state in common with others
        again, _, _ = model.decoder.step(
            words[index][next_index], state.select_rows(next_index), memory.select_rows(next_index)
        )
    torch.testing.assert_close(selected, logits[index], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(again, logits[index][next_index], rtol=1e-12, atol=1e-12)


def test_statistics_exclude_padding() -> None:
    model = build_model(
        build_system({"contexts": ["flexible", {"type": "syntax", "window": 1, "position": "interpolate"}]})
    ).eval()
    batch = build_batch()
    memory = model.encode(batch)
    flexible, syntax = model.decoder.collect_statistics(memory, batch.target, batch.target_lengths)
    assert batch.target_lengths is not None
    span, steps = flexible["vision_span"]
    assert steps.tolist() == batch.target_lengths.tolist()
    assert span.tolist() == (batch.target_lengths * batch.source_lengths).tolist()  # no threshold: all positions
    negative, words = syntax["negative_scores"]
    assert (negative <= words).all() and (words >= batch.target_lengths).all()
