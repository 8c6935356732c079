"""Beam search against a plain one: one sentence at a time, Python lists, no batching, no early end."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.nmt.batch import collate
from pipeline_py.nmt.search import beam_search
from pipeline_py.subword.vocabulary import EOS

torch.set_num_threads(1)


# --- a toy decoder: a table of logits for (first source word, the last two tokens) ---


@dataclass
class ToyMemory:
    states: torch.Tensor  # (B, J, 1)
    words: torch.Tensor  # (B,)
    mask: torch.Tensor  # (B, J)

    def select(self, index):
        return ToyMemory(self.states[index], self.words[index], self.mask[index])


@dataclass
class ToyState:
    last: torch.Tensor  # (B,)

    def select(self, index):
        return ToyState(self.last[index])


class ToyDecoder:
    def __init__(self, table, weights):
        self.table, self.weights = table, weights

    def start(self, memory):
        return ToyState(torch.full_like(memory.words, self.table.shape[-1]))

    def step(self, previous, state, memory):
        previous = torch.full_like(memory.words, self.table.shape[-1]) if previous is None else previous
        attention = self.weights[previous, : memory.mask.shape[1]].masked_fill(~memory.mask, -torch.inf).softmax(1)
        return self.table[memory.words, state.last, previous], ToyState(previous), attention


class Toy:
    """A bigram model per source word; V tokens, V itself stands before the first."""

    def __init__(self, random, tokens, sharpness=2.0, dtype=torch.float64):
        table = random.normal(scale=sharpness, size=(9, tokens + 1, tokens + 1, tokens))
        self.table = torch.tensor(table, dtype=dtype)
        weights = torch.tensor(random.normal(size=(tokens + 1, 50)), dtype=dtype)
        self.decoder = ToyDecoder(self.table, weights)

    def encode(self, batch):
        mask = torch.arange(batch.source.shape[1]) < batch.source_lengths[:, None]
        return ToyMemory(batch.source[..., None].to(self.table.dtype), batch.source[:, 0], mask)

    def log_probabilities(self, source, prefix):
        tokens = self.table.shape[-1]
        before, previous = [tokens, tokens, *prefix][-2:]
        return self.table[source[0], before, previous].log_softmax(0).tolist()


def sentences(random, count, longest=6):
    return [np.array([*random.integers(1, 9, size=random.integers(0, longest)), EOS]) for _ in range(count)]


# --- the plain search ---


def plain_search(log_probabilities, beam, limit, alpha, n_best):
    """Nematus' rules; `log_probabilities(prefix)` is a list over tokens. Returns (score, sum, predictions)."""
    live = [(0.0, [])]
    finished = []
    for step in range(1, limit + 1):
        candidates = []
        for rank, (total, prefix) in enumerate(live):
            for token, value in enumerate(log_probabilities(prefix)):
                if value > -math.inf:
                    candidates.append((-(total + value), rank, token, prefix))
        candidates.sort(key=lambda candidate: candidate[:3])
        live = []
        for negative, _, token, prefix in candidates[: beam - len(finished)]:
            (finished if token == EOS or step == limit else live).append((-negative, [*prefix, token]))
        # A hypothesis that finishes narrows the beam only from the next step on.
        if not live:
            break
    scored = [(total / len(tokens) ** alpha, total, tokens) for total, tokens in finished]
    return sorted(scored, key=lambda entry: -entry[0])[:n_best]


def predictions(hypothesis):
    return hypothesis.tokens if hypothesis.cut else [*hypothesis.tokens, EOS]


def compare(found, expected):
    assert [predictions(hypothesis) for hypothesis in found] == [tokens for _, _, tokens in expected]
    for hypothesis, (score, total, tokens) in zip(found, expected, strict=True):
        assert hypothesis.score == pytest.approx(score, abs=1e-9)
        assert hypothesis.log_probability == pytest.approx(total, abs=1e-9)
        assert len(hypothesis.alignment) == len(tokens)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    tokens=st.integers(2, 12),
    beam=st.integers(1, 13),
    alpha=st.sampled_from([0.0, 0.0, 0.6, 1.0, 2.0]),
    sharpness=st.sampled_from([0.1, 1.0, 3.0]),
)
def test_agrees_with_the_plain_search(seed, tokens, beam, alpha, sharpness):
    random = np.random.default_rng(seed)
    toy = Toy(random, tokens, sharpness)
    sources = sentences(random, count=5)
    limits = random.integers(1, 9, size=5).tolist()
    n_best = int(random.integers(1, beam + 1))
    found = beam_search(
        [toy],
        collate(sources),
        beam=beam,
        max_lengths=torch.tensor(limits),
        length_normalization=alpha,
        n_best=n_best,
    )
    for hypotheses, source, limit in zip(found, sources, limits, strict=True):
        expected = plain_search(
            lambda prefix, source=source: toy.log_probabilities(source, prefix), beam, limit, alpha, n_best
        )
        compare(hypotheses, expected)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_beam_wider_than_the_space_finds_the_best_of_all(alpha):
    random = np.random.default_rng(5)
    toy = Toy(random, tokens=3)
    sources = sentences(random, count=4)
    limit, n_best = 5, 10

    def everything(source, prefix=(), total=0.0):
        for token, value in enumerate(toy.log_probabilities(source, list(prefix))):
            prolonged = (*prefix, token)
            if token == EOS or len(prolonged) == limit:
                yield (total + value) / len(prolonged) ** alpha, total + value, list(prolonged)
            else:
                yield from everything(source, prolonged, total + value)

    found = beam_search(
        [toy],
        collate(sources),
        beam=3**limit,
        max_lengths=torch.full((4,), limit),
        length_normalization=alpha,
        n_best=n_best,
    )
    for hypotheses, source in zip(found, sources, strict=True):
        compare(hypotheses, sorted(everything(source), key=lambda entry: -entry[0])[:n_best])
