"""The LSTM decoder against tree2seq eq. 3–8 and 20–21, one sentence and one step at a time, in float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.batch import Words
from pipeline_py.nmt.decoder.base import Parts
from pipeline_py.nmt.decoder.lstm import LSTMDecoder
from pipeline_py.nmt.loss import softmax
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.model import part

E, H, V = 5, 4, 7
WORDS, PHRASES = (4, 7, 1, 3), (3, 5, 0, 0)
"""Of each sentence; the last could not be parsed, the one before is empty but for EOS."""
TARGET_LENGTHS = (3, 1, 5, 4)
CASES = [
    ("dot", ["global"], True),
    ("mlp", ["global"], True),
    ("dot", ["global", "global"], True),
    ("dot", ["global"], False),
    ("mlp", [{"type": "local", "window": 2}, "global"], False),
]


def make_system(score: str, contexts: list, dropout: float = 0.0) -> System:
    return System.model_validate(
        {
            "encoders": ["lstm"],
            "scores": [score],
            "contexts": contexts,
            "decoder": "lstm",
            "model": {"embedding": E, "hidden": H, "dropout": dropout},
        }
    )


def make_decoder(system: System, seed: int = 0) -> LSTMDecoder:
    decoder = LSTMDecoder(
        system.decoder,
        Parts(
            system,
            target_size=V,
            memory_sizes=[H],
            summary_sizes=[2 * H],
            scores=[part("score", system.scores[0].type)(system.scores[0], H, H)],
            weightings=[part("weighting", options.type)(options, H) for options in system.contexts],
            loss=softmax.SoftmaxLoss(system.loss, V),
            vocabularies={},
        ),
    ).double()
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.normal_(std=0.7)
    return decoder


def make_memory(phrases: bool, seed: int = 1) -> Memory:
    """Random annotations, also where there is nothing to annotate."""
    torch.manual_seed(seed)
    words = torch.tensor(WORDS)
    columns = torch.arange(max(WORDS)) < words[:, None]
    if phrases:
        columns = torch.cat([columns, torch.arange(max(PHRASES)) < torch.tensor(PHRASES)[:, None]], dim=1)
    states = torch.randn(len(WORDS), columns.shape[1], H, dtype=torch.float64, requires_grad=True)
    summary = torch.randn(len(WORDS), 2 * H, dtype=torch.float64, requires_grad=True)
    return Memory((states,), columns, max(WORDS), words, (summary,))


def with_keys(decoder: LSTMDecoder, memory: Memory) -> Memory:
    return replace(memory, keys=decoder.keys(memory))


def make_target() -> tuple[Tensor, Tensor]:
    target = torch.from_numpy(np.random.default_rng(2).integers(1, V, (len(WORDS), max(TARGET_LENGTHS))))
    lengths = torch.tensor(TARGET_LENGTHS)
    target[torch.arange(len(WORDS)), lengths - 1] = 0
    return target * (torch.arange(target.shape[1]) < lengths[:, None]), lengths


class Reference:
    """One sentence: −log p of its words, and the weights of the first context at each step."""

    def __init__(self, decoder: LSTMDecoder, system: System) -> None:
        self.p = dict(decoder.named_parameters())
        self.system = system

    def score(self, h: Tensor, state: Tensor) -> Tensor:
        if self.system.scores[0].type == "dot":
            return sum(a * b for a, b in zip(h, state, strict=True))
        p = {name.removeprefix("scores.0."): value for name, value in self.p.items()}
        hidden = torch.tanh(p["query.weight"] @ h + p["key.weight"] @ state + p["key.bias"])
        return p["vector"] @ hidden + p["bias"]

    def weigh(self, number: int, e: list[Tensor], h: Tensor) -> list[Tensor]:
        total = sum(torch.exp(value) for value in e)
        alpha = [torch.exp(value) / total for value in e]
        options = self.system.contexts[number]
        if options.type == "global":
            return alpha
        name, length = f"weightings.{number}.position", len(e)
        position = length * torch.sigmoid(self.p[f"{name}.vector"] @ torch.tanh(self.p[f"{name}.query.weight"] @ h))
        sigma = options.window / 2
        return [
            weight * torch.exp(-((j - position) ** 2) / (2 * sigma**2)) * (abs(j - position.item()) <= options.window)
            for j, weight in enumerate(alpha)
        ]

    def losses(
        self, states: list[Tensor], summary: Tensor, target: list[int], masks: list[Tensor] | None = None
    ) -> tuple[Tensor, list[list[float]]]:
        p = self.p
        of_word, of_recurrent, of_softmax = masks or [torch.ones(()).double()] * 3
        h, c = summary[:H], summary[H:]
        fed = torch.zeros(H, dtype=torch.float64)
        loss, attention = torch.zeros((), dtype=torch.float64), []
        for j, y in enumerate(target):
            if j > 0:  # h_1 and c_1 are the encoder's
                word = p["embedding.weight"][target[j - 1]] * of_word
                recurrent = torch.cat([h, fed]) * of_recurrent
                z = p["lstm.input.weight"] @ word + p["lstm.input.bias"] + p["lstm.recurrent.weight"] @ recurrent
                i, f, o = (torch.sigmoid(z[gate * H : (gate + 1) * H]) for gate in range(3))
                c = i * torch.tanh(z[3 * H :]) + f * c
                h = o * torch.tanh(c)
            e = [self.score(h, state) for state in states]
            parts = [h]
            for number in range(len(self.system.contexts)):
                alpha = self.weigh(number, e, h)
                parts.append(sum(weight * state for weight, state in zip(alpha, states, strict=True)))
                if number == 0:
                    attention.append([weight.item() for weight in alpha])
            fed = torch.tanh(p["combine.weight"] @ torch.cat(parts) + p["combine.bias"])
            logits = p["softmax.weight"] @ (fed * of_softmax) + p["softmax.bias"]
            loss = loss - logits[y] + torch.log(sum(torch.exp(value) for value in logits))
        return loss, attention

    def of_batch(self, memory: Memory, target: Tensor, lengths: Tensor, masks: list[Tensor] | None = None):
        for row in range(len(lengths)):
            states = [memory.states[0][row, column] for column in memory.mask[row].nonzero().flatten()]
            said = target[row, : lengths[row]].tolist()
            yield self.losses(states, memory.summary[0][row], said, masks and [mask[row] for mask in masks])


@pytest.mark.parametrize(("score", "contexts", "phrases"), CASES)
def test_losses_and_gradients_are_the_reference(score: str, contexts: list, phrases: bool) -> None:
    system = make_system(score, contexts)
    decoder, memory = make_decoder(system), make_memory(phrases)
    target, lengths = make_target()
    expected = torch.stack([loss for loss, _ in Reference(decoder, system).of_batch(memory, target, lengths)])
    losses = decoder.loss(with_keys(decoder, memory), target, Words.of_lengths(lengths))
    torch.testing.assert_close(losses, expected, rtol=1e-12, atol=1e-12)

    direction = torch.randn(len(losses), dtype=torch.float64)
    names, parameters = zip(*decoder.named_parameters(), strict=True)
    leaves = [*parameters, memory.states[0], memory.summary[0]]
    ours = torch.autograd.grad((losses * direction).sum(), leaves)
    theirs = torch.autograd.grad((expected * direction).sum(), leaves)
    for name, one, other in zip([*names, "states", "summary"], ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize(("score", "contexts", "phrases"), CASES)
@torch.no_grad()
def test_steps_are_the_loss_and_the_reference(score: str, contexts: list, phrases: bool) -> None:
    system = make_system(score, contexts)
    decoder = make_decoder(system).eval()
    memory = with_keys(decoder, make_memory(phrases))
    target, lengths = make_target()
    attention = decoder.attend(memory, target, lengths)
    assert attention.phrase_weights is None
    assert attention.weights.shape == (target.shape[1], *memory.mask.shape)
    state, previous, total = decoder.start(memory), None, torch.zeros(len(WORDS), dtype=torch.float64)
    for number, words in enumerate(target.T):
        logits, state, weights = decoder.step(previous, state, memory)
        real = number < lengths
        total -= logits.log_softmax(1)[torch.arange(len(words)), words] * real
        torch.testing.assert_close(attention.weights[number], weights * real[:, None], rtol=1e-12, atol=1e-12)
        previous = words
    torch.testing.assert_close(total, decoder.loss(memory, target, Words.of_lengths(lengths)), rtol=1e-12, atol=1e-12)
    for row, (_, expected) in enumerate(Reference(decoder, system).of_batch(memory, target, lengths)):
        ours = attention.weights[: lengths[row], row]
        assert ours[:, memory.mask[row]].tolist() == [pytest.approx(weights, abs=1e-12) for weights in expected]
        assert not ours[:, ~memory.mask[row]].any()


@torch.no_grad()
def test_the_first_word_is_predicted_without_reading_one() -> None:
    decoder = make_decoder(make_system("dot", ["global"])).eval()
    memory = with_keys(decoder, make_memory(True))
    before = decoder.step(None, decoder.start(memory), memory)[0]
    decoder.lstm.input.bias.fill_(3.0)
    decoder.lstm.recurrent.weight.fill_(1.0)
    torch.testing.assert_close(decoder.step(None, decoder.start(memory), memory)[0], before, rtol=0, atol=0)


@torch.no_grad()
def test_selected_rows_go_on_as_before() -> None:
    decoder = make_decoder(make_system("dot", ["global", "global"])).eval()
    memory = with_keys(decoder, make_memory(True))
    _, state, _ = decoder.step(None, decoder.start(memory), memory)
    index, words = torch.tensor([3, 0, 0, 2]), torch.tensor([1, 2, 3, 4])
    logits, _, _ = decoder.step(words, state, memory)
    chosen, _, _ = decoder.step(words[index], state.select(index), memory.select(index))
    torch.testing.assert_close(chosen, logits[index], rtol=1e-12, atol=1e-12)
    again, _, _ = decoder.step(None, decoder.start(memory).select(index), memory.select(index))
    torch.testing.assert_close(again, decoder.step(None, decoder.start(memory), memory)[0][index])


def test_dropout_is_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    system = make_system("dot", ["global"], dropout=0.4)
    decoder, memory = make_decoder(system), make_memory(True)
    target, lengths = make_target()
    drawn: list[Tensor] = []
    draw = decoder.dropout.draw
    monkeypatch.setattr(
        decoder.dropout, "draw", lambda *given, **named: drawn.append(draw(*given, **named)) or drawn[-1]
    )
    words = Words.of_lengths(lengths)
    losses = decoder.loss(with_keys(decoder, memory), target, words)
    assert [mask.shape[1] for mask in drawn] == [E, 2 * H, H]
    masks = [mask[words.order.argsort()] for mask in drawn]
    expected = [loss for loss, _ in Reference(decoder, system).of_batch(memory, target, lengths, masks)]
    torch.testing.assert_close(losses, torch.stack(expected), rtol=1e-12, atol=1e-12)
    decoder.eval()
    drawn.clear()
    expected = [loss for loss, _ in Reference(decoder, system).of_batch(memory, target, lengths)]
    torch.testing.assert_close(
        decoder.loss(with_keys(decoder, memory), target, Words.of_lengths(lengths)),
        torch.stack(expected),
        rtol=1e-12,
        atol=1e-12,
    )
    assert drawn == [None, None, None]


def test_half_precision_stays_close() -> None:
    decoder, memory = make_decoder(make_system("dot", ["global"])).float(), make_memory(True)
    single = replace(memory, states=(memory.states[0].float(),), summary=(memory.summary[0].float(),))
    target, lengths = make_target()
    exact = decoder.loss(with_keys(decoder, single), target, Words.of_lengths(lengths))
    with torch.autocast("cpu", torch.bfloat16):
        half = decoder.loss(with_keys(decoder, single), target, Words.of_lengths(lengths))
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)
