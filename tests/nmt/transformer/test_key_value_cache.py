"""Compare the cache of fixed size with the one that grows."""

import pytest
import torch

from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.cuda_graphs import flatten_nested
from pipeline_py.nmt.transformer.key_value_cache import FixedCache, GrowingCache, build_empty_cache
from pipeline_py.nmt.transformer.multi_head_attention import MultiHeadAttention

SENTENCES, ROWS, SIZE, LAYERS, STEPS = 3, 4, 8, 2, 6


def build_memory() -> EncoderMemory:
    """Build the memory of a search with several rows for each sentence."""
    annotations, rows = torch.zeros(SENTENCES, 5, SIZE, dtype=torch.float64), SENTENCES * ROWS
    return EncoderMemory(
        (annotations,), torch.ones(rows, 5, dtype=torch.bool), 5, torch.full((rows,), 5), (), keys=(annotations,)
    )


@torch.no_grad()
def test_fixed_cache_equals_growing_cache_and_moves_nothing() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(SIZE, 2).double()
    memory, first_rows = build_memory(), torch.arange(SENTENCES).repeat_interleave(ROWS) * ROWS
    fixed = FixedCache.build_empty(memory, LAYERS, SIZE, max_steps=STEPS)
    growing = GrowingCache.build_empty(memory, LAYERS, SIZE)
    shapes = [tensor.shape for tensor in flatten_nested(fixed)]
    for _ in range(STEPS):
        embeddings, outputs = torch.randn(SENTENCES * ROWS, 1, SIZE, dtype=torch.float64), []
        for cache in (fixed, growing):
            states, layers = cache.begin_step(embeddings), []
            for layer in range(LAYERS):
                states, keys_and_values = cache.attend(layer, attention, states)
                layers.append(keys_and_values)
            outputs.append((states, cache.end_step(tuple(layers))))
        (states, fixed), (expected, growing) = outputs
        torch.testing.assert_close(states, expected, rtol=1e-12, atol=1e-12)
        parents = first_rows + torch.randint(ROWS, (SENTENCES * ROWS,))
        selected = fixed.select_rows(parents)
        assert all(new is old for new, old in zip(selected.layers, fixed.layers, strict=True))
        fixed, growing = selected, growing.select_rows(parents)
    assert [tensor.shape for tensor in flatten_nested(fixed)] == shapes
    assert growing.layers[0].shape[2] == STEPS


def test_cache_has_fixed_size_only_on_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = build_memory()
    assert isinstance(build_empty_cache(memory, LAYERS, SIZE, STEPS), GrowingCache)
    monkeypatch.setattr("pipeline_py.nmt.torch_setup.CPU", "none")
    assert isinstance(build_empty_cache(memory, LAYERS, SIZE, STEPS), FixedCache)
    assert isinstance(build_empty_cache(memory, LAYERS, SIZE, None), GrowingCache)
