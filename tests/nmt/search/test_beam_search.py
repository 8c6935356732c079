"""Compare beam search with a plain search over Python lists, without batches and without early ends."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import (
    FlexibleContextConfig,
    GlobalContextConfig,
    LocalContextConfig,
    SyntaxContextConfig,
)
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.beams import _find_greatest_values, scan_logits
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.search.plain_search import plain_search, stepwise

torch.set_num_threads(1)


# --- a toy decoder: an automaton with random logits in every state ---

STATES = 10007


@dataclass
class ToyMemory:
    first: torch.Tensor  # (B,) the first word of each source
    position_count: int  # J
    mask: torch.Tensor  # (B, N)

    def select_rows(self, index):
        return ToyMemory(self.first[index], self.position_count, self.mask[index])


@dataclass
class ToyState:
    number: torch.Tensor  # (B,)

    def select_rows(self, index):
        return ToyState(self.number[index])


class ToyDecoder:
    def __init__(self, logits, attention):
        self.logits, self.attention = logits, attention

    def prepare_search(self, memory):
        return memory

    def modules(self):
        return []

    def build_initial_state(self, memory, max_steps=None):
        return ToyState(memory.first)

    def step(self, previous, state, memory):
        number = state.number if previous is None else (state.number * 31 + previous * 7 + 3) % STATES
        phrases = memory.mask.shape[1] - memory.position_count
        weights = torch.cat(
            [self.attention[number, : memory.position_count], self.attention[number, 16 : 16 + phrases]], dim=1
        )
        return self.logits[number], ToyState(number), weights.masked_fill(~memory.mask, -torch.inf).softmax(1)


class Toy:
    """With `phrases`, a sentence of J positions has J − 2 of them, and none where its first word is odd."""

    def __init__(self, random, tokens, sharpness=2.0, phrases=False):
        self.logits = torch.tensor(random.normal(scale=sharpness, size=(STATES, tokens)))
        self.decoder = ToyDecoder(self.logits, torch.tensor(random.normal(size=(STATES, 32))))
        self.phrases = phrases

    def encode(self, batch):
        positions = torch.arange(batch.source.shape[1])
        mask = positions < batch.source_lengths[:, None]
        if self.phrases:
            parsed = (batch.source[:, :1] % 2 == 0) & (positions < batch.source_lengths[:, None] - 2)
            mask = torch.cat([mask, parsed], dim=1)
        return ToyMemory(batch.source[:, 0], len(positions), mask)

    def log_probabilities(self, source, prefix):
        number = int(source[0])
        for token in prefix:
            number = (number * 31 + token * 7 + 3) % STATES
        return self.logits[number].log_softmax(0).tolist()


def sentences(random, count, longest=6):
    return [np.array([*random.integers(1, 9, size=random.integers(0, longest)), EOS]) for _ in range(count)]


def random_terms(random, count, longest, spread):
    """Terms (B, I_max + 1) of a length model; the first sentence has none, its length being unknown."""
    terms = -spread * random.exponential(size=(count, longest + 1))
    terms[0] = 0
    return torch.tensor(terms)


def predictions(hypothesis):
    return hypothesis.tokens if hypothesis.is_cut else [*hypothesis.tokens, EOS]


def compare(results, expected):
    assert [predictions(hypothesis) for hypothesis in results] == [tokens for _, _, tokens in expected]
    for hypothesis, (score, total, tokens) in zip(results, expected, strict=True):
        assert hypothesis.score == pytest.approx(score, abs=1e-9)
        assert hypothesis.log_probability == pytest.approx(total, abs=1e-9)
        assert len(hypothesis.alignment) == len(tokens)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    tokens=st.integers(2, 12),
    beam=st.integers(1, 13),
    alpha=st.sampled_from([0.0, 0.0, 0.6, 1.0, 2.0]),
    sharpness=st.sampled_from([0.1, 1.0, 3.0]),
    lengths=st.sampled_from([0.0, 1.0, 9.0]),
)
def test_toy_results_equal_plain_search(seed, tokens, beam, alpha, sharpness, lengths):
    random = np.random.default_rng(seed)
    toy = Toy(random, tokens, sharpness)
    sources = sentences(random, count=5)
    limits = random.integers(1, 9, size=5).tolist()
    n_best = int(random.integers(1, beam + 1))
    terms = random_terms(random, 5, max(limits), lengths)
    results = beam_search(
        [toy],
        [collate_batch(sources)],
        beam_size=beam,
        max_lengths=torch.tensor(limits),
        length_normalization=alpha,
        length_terms=terms if lengths else None,
        n_best=n_best,
    )
    for hypotheses, source, limit, term in zip(results, sources, limits, terms.tolist(), strict=True):
        expected = plain_search(
            lambda prefix, source=source: toy.log_probabilities(source, prefix),
            beam,
            limit,
            alpha,
            n_best,
            term.__getitem__,
        )
        compare(hypotheses, expected)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    tokens=st.integers(2, 150),
    alpha=st.sampled_from([0.0, 0.6, 1.0]),
    sharpness=st.sampled_from([0.0, 0.1, 3.0]),
    attention=st.booleans(),
)
def test_greedy_search_equals_general_search(seed, tokens, alpha, sharpness, attention):
    random = np.random.default_rng(seed)
    toy = Toy(random, tokens, sharpness)
    batch = collate_batch(sentences(random, count=7))
    options = {"max_lengths": torch.tensor(random.integers(1, 9, size=7)), "length_normalization": alpha}
    options |= {"beam_size": 1, "should_return_attention": attention}
    results = beam_search([toy], [batch], **options)
    zero_terms = torch.zeros(
        7, int(options["max_lengths"].max()) + 1, dtype=torch.float64
    )  # selects the general search
    expected = beam_search([toy], [batch], **options, length_terms=zero_terms)
    for (greedy,), (general,) in zip(results, expected, strict=True):
        assert (greedy.tokens, greedy.is_cut, greedy.alignment) == (general.tokens, general.is_cut, general.alignment)
        assert (greedy.score, greedy.log_probability) == (general.score, general.log_probability)
        assert greedy.attention is general.attention is None or np.array_equal(greedy.attention, general.attention)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("lengths", [0.0, 3.0])
def test_exhaustive_beam_finds_best_hypotheses(alpha, lengths):
    random = np.random.default_rng(5)
    toy = Toy(random, tokens=3)
    sources = sentences(random, count=4)
    limit, n_best = 5, 10
    terms = random_terms(random, 4, limit, lengths)

    def enumerate_hypotheses(source, term, prefix=(), total=0.0):
        for token, value in enumerate(toy.log_probabilities(source, list(prefix))):
            prolonged = (*prefix, token)
            if token == EOS or len(prolonged) == limit:
                words = [word for word in prolonged if word != EOS]
                score = (total + value + term[len(words)]) / len(prolonged) ** alpha
                yield score, total + value, list(prolonged)
            else:
                yield from enumerate_hypotheses(source, term, prolonged, total + value)

    results = beam_search(
        [toy],
        [collate_batch(sources)],
        beam_size=3**limit,
        max_lengths=torch.full((4,), limit),
        length_normalization=alpha,
        length_terms=terms,
        n_best=n_best,
    )
    for hypotheses, source, term in zip(results, sources, terms.tolist(), strict=True):
        compare(hypotheses, sorted(enumerate_hypotheses(source, term), key=lambda entry: -entry[0])[:n_best])


def ending_toy(tokens, probability_of_end):
    """Every prediction is the end with the same probability, and the other tokens share the rest evenly."""
    toy = Toy(np.random.default_rng(0), tokens)
    toy.logits[:] = math.log((1 - probability_of_end) / (tokens - 1))
    toy.logits[:, EOS] = math.log(probability_of_end)
    return toy


def test_length_model_removes_unlikely_endings():
    toy, batch, limits = ending_toy(4, 0.4), collate_batch([np.array([5, EOS])]), torch.tensor([9])
    (plain,) = beam_search([toy], [batch], beam_size=3, max_lengths=limits, n_best=3)
    assert plain[0].tokens == []
    assert max(len(hypothesis.tokens) for hypothesis in plain) == 1
    terms = torch.full((1, 10), math.log(1e-6), dtype=torch.float64)
    terms[0, 4], terms[0, 5] = math.log(0.9), math.log(0.1)
    (results,) = beam_search([toy], [batch], beam_size=3, max_lengths=limits, length_terms=terms, n_best=3)
    assert [len(hypothesis.tokens) for hypothesis in results] == [4, 4, 4]
    assert results[0].log_probability == pytest.approx(4 * math.log(0.2) + math.log(0.4))
    assert results[0].score == pytest.approx(results[0].log_probability + math.log(0.9))


def test_cut_hypotheses_get_length_term():
    """With two predictions, [x x] is cut at length 2; it wins over [x EOS] because p(1) is very low."""
    toy, batch = ending_toy(3, 0.5), collate_batch([np.array([5, EOS])])
    terms = torch.tensor([[math.log(1e-9), math.log(1e-3), math.log(0.5)]], dtype=torch.float64)
    (results,) = beam_search([toy], [batch], beam_size=1, max_lengths=torch.tensor([2]), length_terms=terms)
    assert (results[0].tokens, results[0].is_cut) == ([1, 1], True)
    assert results[0].log_probability == pytest.approx(2 * math.log(0.25))
    assert results[0].score == pytest.approx(2 * math.log(0.25) + math.log(0.5))
    # The other way round, EOS rises above tokens that are likelier by themselves and would leave it no room.
    toy, terms = ending_toy(3, 0.02), terms.flip(1)
    terms[0, 0] = math.log(1e-9)
    (results,) = beam_search([toy], [batch], beam_size=1, max_lengths=torch.tensor([2]), length_terms=terms)
    assert (results[0].tokens, results[0].is_cut) == ([1], False)
    assert results[0].score == pytest.approx(math.log(0.49) + math.log(0.02) + math.log(1e-3))


def test_ties_prefer_better_parent_and_lower_token():
    toy = Toy(np.random.default_rng(0), tokens=7)
    toy.logits.zero_()
    toy.logits[:, 3:] += 1.0  # tokens 3 to 6 tie for the first place, in every row
    toy.logits[:, EOS] -= 9.0
    sources = sentences(np.random.default_rng(1), count=3)
    results = beam_search([toy], [collate_batch(sources)], beam_size=6, max_lengths=torch.full((3,), 4), n_best=6)
    for hypotheses, source in zip(results, sources, strict=True):
        compare(
            hypotheses,
            plain_search(lambda prefix, source=source: toy.log_probabilities(source, prefix), 6, 4, 0.0, 6),
        )
    assert [hypothesis.tokens for hypothesis in results[0]][:2] == [[3, 3, 3, 3], [3, 3, 3, 4]]


def test_impossible_tokens_are_never_selected():
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, 2:] = -torch.inf
    results = beam_search(
        [toy], [collate_batch([np.array([4, EOS])])], beam_size=8, max_lengths=torch.tensor([3]), n_best=8
    )
    # EOS or 1 at each of three predictions: 3 translations that end and one that is cut.
    assert sorted(hypothesis.tokens for hypothesis in results[0]) == [[], [1], [1, 1], [1, 1, 1]]
    assert [hypothesis.is_cut for hypothesis in results[0] if len(hypothesis.tokens) == 3] == [True]


@pytest.mark.parametrize("beam", [1, 5])
def test_nan_logits_raise_error(beam):
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, 3] = torch.nan
    with pytest.raises(FloatingPointError, match="not a number"):
        beam_search([toy], [collate_batch([np.array([4, EOS])])], beam_size=beam, max_lengths=torch.tensor([9]))


@pytest.mark.parametrize("lengths", [0.0, 2.0])
def test_ensemble_averages_probabilities(lengths):
    """Each member reads different sentences, of different lengths and memory widths."""
    random = np.random.default_rng(11)
    toys = [Toy(random, tokens=9, phrases=phrases) for phrases in (False, True, False)]
    sources = [sentences(random, count=4, longest=longest) for longest in (6, 12, 3)]
    terms = random_terms(random, 4, 7, lengths)

    def mean(number, prefix):
        return [
            math.log(sum(map(math.exp, values)) / 3)
            for values in zip(
                *(toy.log_probabilities(read[number], prefix) for toy, read in zip(toys, sources, strict=True)),
                strict=True,
            )
        ]

    batches = [collate_batch(read) for read in sources]
    limits = torch.full((4,), 7)
    results = beam_search(toys, batches, beam_size=4, max_lengths=limits, length_terms=terms, n_best=4)
    for number, (hypotheses, term) in enumerate(zip(results, terms.tolist(), strict=True)):
        compare(
            hypotheses,
            plain_search(lambda prefix, number=number: mean(number, prefix), 4, 7, 0.0, 4, term.__getitem__),
        )


@pytest.mark.parametrize("n_best", [0, 4])
def test_n_best_must_fit_the_beam(n_best):
    with pytest.raises(ValueError, match="n_best"):
        beam_search(
            [Toy(np.random.default_rng(0), 4)],
            [collate_batch([np.array([EOS])])],
            beam_size=3,
            max_lengths=torch.tensor([3]),
            n_best=n_best,
        )


# --- real networks ---

CONTEXTS = {
    "global": [GlobalContextConfig()],
    "local": [LocalContextConfig(window=2)],
    "flexible": [FlexibleContextConfig(threshold=3.0)],
    "syntax": [SyntaxContextConfig(window=2, position="interpolate")],
    "two": [GlobalContextConfig(), SyntaxContextConfig(window=2)],
}


def network(contexts, seed=3, dtype=torch.float64, target_size=11):
    """A network whose predictions are far from uniform."""
    torch.manual_seed(seed)
    system = CompositionConfig(contexts=contexts, model=ModelConfig(embedding=5, hidden=6))
    return draw_parameters(Network(system, {"source": 9, "target": target_size}).to(dtype).eval())


def trees(random, sources):
    squares = [random.integers(1, 5, size=(len(source), len(source))).astype(np.uint8) for source in sources]
    for square in squares:
        np.fill_diagonal(square, 0)
    return {"distances": [square.ravel() for square in squares]}


@pytest.mark.parametrize("contexts", CONTEXTS)
@torch.no_grad()
def test_network_results_equal_plain_search(contexts):
    random = np.random.default_rng(4)
    model = network(CONTEXTS[contexts])
    sources = sentences(random, count=5)
    syntax = trees(random, sources)
    results = beam_search(
        [model], [collate_batch(sources, syntax=syntax)], beam_size=4, max_lengths=torch.full((5,), 7), n_best=3
    )
    for number, source in enumerate(sources):
        single_sentence = collate_batch([source], syntax={"distances": [syntax["distances"][number]]})
        compare(results[number], plain_search(stepwise(model, single_sentence), 4, 7, 0.0, 3))


@torch.no_grad()
def test_ensemble_with_different_sources_equals_plain_search():
    random = np.random.default_rng(14)
    models = [network(CONTEXTS["syntax"]), network(CONTEXTS["local"], seed=5)]
    sources = [sentences(random, count=5), sentences(random, count=5, longest=11)]
    syntax, terms = trees(random, sources[0]), random_terms(random, 5, 7, 2.0)
    batches = [collate_batch(sources[0], syntax=syntax), collate_batch(sources[1])]
    limits = torch.full((5,), 7)
    results = beam_search(models, batches, beam_size=4, max_lengths=limits, length_terms=terms, n_best=3)
    for number, term in enumerate(terms.tolist()):
        single_sentence = [
            stepwise(
                models[0], collate_batch([sources[0][number]], syntax={"distances": [syntax["distances"][number]]})
            ),
            stepwise(models[1], collate_batch([sources[1][number]])),
        ]

        def mean(prefix, single_sentence=single_sentence):
            probabilities = [np.exp(log_probabilities(prefix)) for log_probabilities in single_sentence]
            return np.log(np.mean(probabilities, axis=0)).tolist()

        compare(results[number], plain_search(mean, 4, 7, 0.0, 3, term.__getitem__))


def test_ensemble_results_do_not_depend_on_batch():
    random = np.random.default_rng(8)
    models = [network(CONTEXTS["local"], dtype=torch.float32), network(CONTEXTS["flexible"], 5, torch.float32)]
    sources = [sentences(random, count=40, longest=longest) for longest in (12, 7)]
    terms = random_terms(random, 40, 20, 3.0)

    def search(start, end):
        batches = [collate_batch(read[start:end]) for read in sources]
        limits = batches[0].source_lengths + 3
        reached = terms[start:end, : int(limits.max()) + 1]
        return beam_search(models, batches, beam_size=5, max_lengths=limits, length_terms=reached, n_best=2)

    separate_results = [hypotheses for start in range(0, 40, 4) for hypotheses in search(start, start + 4)]
    for actual, expected in zip(search(0, 40), separate_results, strict=True):
        for hypothesis, reference in zip(actual, expected, strict=True):
            assert (hypothesis.tokens, hypothesis.is_cut, hypothesis.alignment) == (
                reference.tokens,
                reference.is_cut,
                reference.alignment,
            )
            assert hypothesis.score == pytest.approx(reference.score, abs=1e-4)
            assert hypothesis.log_probability == pytest.approx(reference.log_probability, abs=1e-4)


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("size", [1, 3])
def test_results_do_not_depend_on_batch(contexts, size):
    random = np.random.default_rng(8)
    model = network(CONTEXTS[contexts], dtype=torch.float32)
    sources = sentences(random, count=64, longest=12)
    syntax = trees(random, sources)

    def search(start, end):
        batch = collate_batch(sources[start:end], syntax={"distances": syntax["distances"][start:end]})
        limits = 2 * batch.source_lengths + 3
        return beam_search([model], [batch], beam_size=5, max_lengths=limits, n_best=2, should_return_attention=True)

    batch_results = search(0, 64)
    separate_results = [hypotheses for start in range(0, 24, size) for hypotheses in search(start, start + size)]
    for actual, expected in zip(batch_results, separate_results, strict=False):
        for hypothesis, reference in zip(actual, expected, strict=True):
            assert (hypothesis.tokens, hypothesis.is_cut, hypothesis.alignment) == (
                reference.tokens,
                reference.is_cut,
                reference.alignment,
            )
            assert hypothesis.score == pytest.approx(reference.score, abs=1e-4)
            np.testing.assert_allclose(hypothesis.attention, reference.attention, atol=1e-5)


def toy_models(*phrases):
    random = np.random.default_rng(6)
    return [Toy(random, tokens=6, phrases=has_phrases) for has_phrases in phrases]


@pytest.mark.parametrize(
    "models",
    [[network(CONTEXTS["global"])], toy_models(True), toy_models(False, True), toy_models(True, False)],
    ids=["network", "with phrases", "ensemble", "ensemble with phrases"],
)
@torch.no_grad()
def test_attention_is_from_first_model(models):
    """Alignments exclude phrases; attention has the columns of the unpadded sentence."""
    model = models[0]
    sources = sentences(np.random.default_rng(6), count=6)
    batches = [collate_batch(sources) for _ in models]
    options = {"beam_size": 4, "max_lengths": torch.full((6,), 6), "n_best": 4}
    results = beam_search(models, batches, **options, should_return_attention=True)
    plain = beam_search(models, batches, **options)
    assert any(hypothesis.is_cut for hypotheses in results for hypothesis in hypotheses)
    phrases = 0
    for hypotheses, plain_hypotheses, source in zip(results, plain, sources, strict=True):
        for hypothesis, reference in zip(hypotheses, plain_hypotheses, strict=True):
            memory = model.encode(collate_batch([source]))
            state, previous, rows = model.decoder.build_initial_state(memory), None, []
            for token in predictions(hypothesis):
                _, state, attention = model.decoder.step(previous, state, memory)
                rows.append(attention[0, memory.mask[0]].numpy())
                previous = torch.tensor([token])
            np.testing.assert_allclose(hypothesis.attention, np.stack(rows), atol=1e-12)
            to_words = np.stack(rows)[:, : len(source)]
            assert hypothesis.alignment == reference.alignment == np.argmax(to_words, axis=1).tolist()
            assert reference.attention is None
            phrases += sum(row.argmax() >= len(source) for row in rows)
    assert (phrases > 0) == getattr(model, "phrases", False)


def test_finished_sentences_are_not_computed():
    model = network(CONTEXTS["global"], dtype=torch.float32)
    step, rows = model.decoder.step, []
    model.decoder.step = lambda previous, state, memory: (rows.append(len(memory.mask)), step(previous, state, memory))[
        1
    ]
    limits = torch.tensor([1] * 30 + [12] * 2)
    batch = collate_batch(sentences(np.random.default_rng(1), count=32))
    beam_search([model], [batch], beam_size=6, max_lengths=limits, n_best=6)
    assert rows[0] == 32
    assert max(rows[1:]) <= 12


@pytest.mark.parametrize("size", [5, 640, 2 * 13 * 64, 2 * 13 * 64 + 64, 4000, 4096])
def test_greatest_values_of_each_row_are_found(size: int) -> None:
    logits = torch.randn(40, size, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    logits[0, -5:] += 10  # all in the last block, or behind it
    logits[1, :4] += 10
    count = min(13, size)
    normalizers, maxima = scan_logits(logits)
    torch.testing.assert_close(normalizers, logits.logsumexp(dim=1, keepdim=True))
    values, tokens = _find_greatest_values(logits, maxima, count)
    for row, (greatest, places) in enumerate(zip(values.tolist(), tokens.tolist(), strict=True)):
        expected = sorted(range(size), key=lambda token: -logits[row, token].item())[:count]
        assert places == expected
        assert greatest == logits[row, expected].tolist()
