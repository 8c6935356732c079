"""Beam search against a plain one: one sentence at a time, Python lists, no batching, no early end."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.config.systems import FlexibleContext, GlobalContext, LocalContext, Model, SyntaxContext, System
from pipeline_py.nmt.batch import collate
from pipeline_py.nmt.model import Model as Network
from pipeline_py.nmt.search import beam_search
from pipeline_py.subword.vocabulary import EOS

torch.set_num_threads(1)


# --- a toy decoder: an automaton with random logits in every state ---

STATES = 10007


@dataclass
class ToyMemory:
    states: torch.Tensor  # (B, J, 1)
    words: torch.Tensor  # (B,) the first word of each source
    mask: torch.Tensor  # (B, J)

    def select(self, index):
        return ToyMemory(self.states[index], self.words[index], self.mask[index])


@dataclass
class ToyState:
    number: torch.Tensor  # (B,)

    def select(self, index):
        return ToyState(self.number[index])


class ToyDecoder:
    def __init__(self, logits, attention):
        self.logits, self.attention = logits, attention

    def start(self, memory):
        return ToyState(memory.words)

    def step(self, previous, state, memory):
        number = state.number if previous is None else (state.number * 31 + previous * 7 + 3) % STATES
        weights = self.attention[number, : memory.mask.shape[1]].masked_fill(~memory.mask, -torch.inf).softmax(1)
        return self.logits[number], ToyState(number), weights


class Toy:
    def __init__(self, random, tokens, sharpness=2.0):
        self.logits = torch.tensor(random.normal(scale=sharpness, size=(STATES, tokens)))
        self.decoder = ToyDecoder(self.logits, torch.tensor(random.normal(size=(STATES, 8))))

    def encode(self, batch):
        mask = torch.arange(batch.source.shape[1]) < batch.source_lengths[:, None]
        return ToyMemory(batch.source[..., None].double(), batch.source[:, 0], mask)

    def log_probabilities(self, source, prefix):
        number = int(source[0])
        for token in prefix:
            number = (number * 31 + token * 7 + 3) % STATES
        return self.logits[number].log_softmax(0).tolist()


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


def test_ties_go_to_the_better_parent_and_the_lower_token():
    toy = Toy(np.random.default_rng(0), tokens=7)
    toy.logits.zero_()
    toy.logits[:, 3:] += 1.0  # tokens 3 to 6 tie for the first place, in every row
    toy.logits[:, EOS] -= 9.0
    sources = sentences(np.random.default_rng(1), count=3)
    found = beam_search([toy], collate(sources), beam=6, max_lengths=torch.full((3,), 4), n_best=6)
    for hypotheses, source in zip(found, sources, strict=True):
        compare(
            hypotheses,
            plain_search(lambda prefix, source=source: toy.log_probabilities(source, prefix), 6, 4, 0.0, 6),
        )
    assert [hypothesis.tokens for hypothesis in found[0]][:2] == [[3, 3, 3, 3], [3, 3, 3, 4]]


def test_impossible_tokens_are_never_chosen():
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, 2:] = -torch.inf
    found = beam_search([toy], collate([np.array([4, EOS])]), beam=8, max_lengths=torch.tensor([3]), n_best=8)
    # EOS or 1 at each of three predictions: 3 translations that end and one that is cut.
    assert sorted(hypothesis.tokens for hypothesis in found[0]) == [[], [1], [1, 1], [1, 1, 1]]
    assert [hypothesis.cut for hypothesis in found[0] if len(hypothesis.tokens) == 3] == [True]


def test_output_that_is_not_a_number_is_an_error():
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, 3] = torch.nan
    with pytest.raises(FloatingPointError, match="not a number"):
        beam_search([toy], collate([np.array([4, EOS])]), beam=5, max_lengths=torch.tensor([9]))


def test_an_ensemble_averages_probabilities():
    random = np.random.default_rng(11)
    toys = [Toy(random, tokens=9) for _ in range(3)]
    sources = sentences(random, count=4)

    def mean(source, prefix):
        return [
            math.log(sum(map(math.exp, values)) / 3)
            for values in zip(*(toy.log_probabilities(source, prefix) for toy in toys), strict=True)
        ]

    found = beam_search(toys, collate(sources), beam=4, max_lengths=torch.full((4,), 7), n_best=4)
    for hypotheses, source in zip(found, sources, strict=True):
        compare(hypotheses, plain_search(lambda prefix, source=source: mean(source, prefix), 4, 7, 0.0, 4))


@pytest.mark.parametrize("n_best", [0, 4])
def test_n_best_must_fit_the_beam(n_best):
    with pytest.raises(ValueError, match="n_best"):
        beam_search(
            [Toy(np.random.default_rng(0), 4)],
            collate([np.array([EOS])]),
            beam=3,
            max_lengths=torch.tensor([3]),
            n_best=n_best,
        )


# --- real networks ---

CONTEXTS = {
    "global": [GlobalContext()],
    "local": [LocalContext(window=2)],
    "flexible": [FlexibleContext(threshold=3.0)],
    "syntax": [SyntaxContext(window=2)],
    "two": [GlobalContext(), SyntaxContext(window=2)],
}


def network(contexts, seed=3, dtype=torch.float64, target_size=11):
    """A network whose predictions are far from uniform."""
    torch.manual_seed(seed)
    system = System(contexts=contexts, model=Model(embedding=5, hidden=6))
    model = Network(system, {"source": 9, "target": target_size}).to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.8)
    return model


def trees(random, sources):
    squares = [random.integers(1, 5, size=(len(source), len(source))).astype(np.uint8) for source in sources]
    for square in squares:
        np.fill_diagonal(square, 0)
    return {"distances": [square.ravel() for square in squares]}


def stepwise(model, batch):
    """Log-probabilities after a prefix of the one sentence in `batch`."""
    memory = model.encode(batch)

    def log_probabilities(prefix):
        state, previous = model.decoder.start(memory), None
        for token in [*prefix, None]:
            logits, state, _ = model.decoder.step(previous, state, memory)
            previous = torch.tensor([token or 0])
        return logits[0].log_softmax(0).tolist()

    return log_probabilities


@pytest.mark.parametrize("contexts", CONTEXTS)
@torch.no_grad()
def test_networks_agree_with_the_plain_search(contexts):
    random = np.random.default_rng(4)
    model = network(CONTEXTS[contexts])
    sources = sentences(random, count=5)
    syntax = trees(random, sources)
    found = beam_search([model], collate(sources, syntax=syntax), beam=4, max_lengths=torch.full((5,), 7), n_best=3)
    for number, source in enumerate(sources):
        alone = collate([source], syntax={"distances": [syntax["distances"][number]]})
        compare(found[number], plain_search(stepwise(model, alone), 4, 7, 0.0, 3))


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("size", [1, 3])
def test_the_company_of_a_sentence_does_not_matter(contexts, size):
    random = np.random.default_rng(8)
    model = network(CONTEXTS[contexts], dtype=torch.float32)
    sources = sentences(random, count=64, longest=12)
    syntax = trees(random, sources)

    def search(start, end):
        batch = collate(sources[start:end], syntax={"distances": syntax["distances"][start:end]})
        limits = 2 * batch.source_lengths + 3
        return beam_search([model], batch, beam=5, max_lengths=limits, n_best=2, attention=True)

    together = search(0, 64)
    apart = [hypotheses for start in range(0, 24, size) for hypotheses in search(start, start + size)]
    for some, others in zip(together, apart, strict=False):
        for one, other in zip(some, others, strict=True):
            assert (one.tokens, one.cut, one.alignment) == (other.tokens, other.cut, other.alignment)
            assert one.score == pytest.approx(other.score, abs=1e-4)
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)


@torch.no_grad()
def test_attention_is_that_of_the_predictions():
    random = np.random.default_rng(6)
    model = network(CONTEXTS["global"])
    sources = sentences(random, count=6)
    found = beam_search([model], collate(sources), beam=4, max_lengths=torch.full((6,), 6), n_best=4, attention=True)
    plain = beam_search([model], collate(sources), beam=4, max_lengths=torch.full((6,), 6), n_best=4)
    assert any(hypothesis.cut for hypotheses in found for hypothesis in hypotheses)
    for hypotheses, others, source in zip(found, plain, sources, strict=True):
        for hypothesis, other in zip(hypotheses, others, strict=True):
            memory = model.encode(collate([source]))
            state, previous, rows = model.decoder.start(memory), None, []
            for token in predictions(hypothesis):
                _, state, attention = model.decoder.step(previous, state, memory)
                rows.append(attention[0].numpy())
                previous = torch.tensor([token])
            np.testing.assert_allclose(hypothesis.attention, np.stack(rows), atol=1e-12)
            assert hypothesis.alignment == other.alignment == np.argmax(rows, axis=1).tolist()
            assert other.attention is None


def test_parts_of_the_batch_that_are_done_are_not_computed():
    model = network(CONTEXTS["global"], dtype=torch.float32)
    step, rows = model.decoder.step, []
    model.decoder.step = lambda previous, state, memory: (rows.append(len(memory.mask)), step(previous, state, memory))[
        1
    ]
    limits = torch.tensor([1] * 30 + [12] * 2)
    beam_search([model], collate(sentences(np.random.default_rng(1), count=32)), beam=6, max_lengths=limits, n_best=6)
    assert rows[0] == 32
    assert max(rows[1:]) <= 12
