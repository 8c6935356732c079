"""The GRU decoder against hierarchical sections 2.2 and 3.4, one sentence and one step at a time, in float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.batch import Words
from pipeline_py.nmt.decoder.base import Parts
from pipeline_py.nmt.decoder.gru import GRUDecoder
from pipeline_py.nmt.loss import softmax
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.model import part

E, H, V = 5, 4, 7
WORDS, PHRASES = (4, 7, 1, 3), (3, 5, 0, 0)
"""Of each sentence; the last could not be parsed, the one before is empty but for EOS."""
TARGET_LENGTHS = (3, 1, 5, 4)
PHRASE_WEIGHTS = (None, 0.0, 0.5, 1.0, 0.3, "learned")
CASES = [
    *(("mlp", ["global"], True, phrase_weight) for phrase_weight in PHRASE_WEIGHTS),
    ("dot", ["global"], True, "learned"),
    ("mlp", ["global", "global"], True, "learned"),
    ("mlp", ["global", "global"], True, 0.3),
    ("mlp", ["global"], False, None),
    ("mlp", ["global"], False, "learned"),
    ("mlp", [{"type": "flexible", "sigma": 0.7}, "global"], False, None),
]


def make_system(score: str, contexts: list, phrase_weight: object, dropout: float = 0.0) -> System:
    return System.model_validate(
        {
            "encoders": ["gru"],
            "scores": [score],
            "contexts": contexts,
            "decoder": {"type": "gru", "phrase_weight": phrase_weight},
            "model": {"embedding": E, "hidden": H, "dropout": dropout},
        }
    )


def make_decoder(system: System, seed: int = 0) -> GRUDecoder:
    decoder = GRUDecoder(
        system.decoder,
        Parts(
            system,
            target_size=V,
            memory_sizes=[H],
            summary_sizes=[H],
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
    summary = torch.randn(len(WORDS), H, dtype=torch.float64, requires_grad=True)
    return Memory((states,), columns, max(WORDS), words, (summary,))


def with_keys(decoder: GRUDecoder, memory: Memory) -> Memory:
    return replace(memory, keys=decoder.keys(memory))


def make_target() -> tuple[Tensor, Tensor]:
    target = torch.from_numpy(np.random.default_rng(2).integers(1, V, (len(WORDS), max(TARGET_LENGTHS))))
    lengths = torch.tensor(TARGET_LENGTHS)
    target[torch.arange(len(WORDS)), lengths - 1] = 0
    return target * (torch.arange(target.shape[1]) < lengths[:, None]), lengths


class Reference:
    """One sentence: −log p of its words, the weights of the first context at each step, and β."""

    def __init__(self, decoder: GRUDecoder, system: System) -> None:
        self.p = dict(decoder.named_parameters())
        self.system = system

    def score(self, s: Tensor, state: Tensor) -> Tensor:
        if self.system.scores[0].type == "dot":
            return sum(a * b for a, b in zip(s, state, strict=True))
        p = {name.removeprefix("scores.0."): value for name, value in self.p.items()}
        hidden = torch.tanh(p["query.weight"] @ s + p["key.weight"] @ state + p["key.bias"])
        return p["vector"] @ hidden + p["bias"]

    def weigh(self, number: int, e: list[Tensor], s: Tensor, centre: Tensor | float) -> list[Tensor]:
        options = self.system.contexts[number]
        if options.type == "flexible":
            p = {name.removeprefix(f"weightings.{number}."): value for name, value in self.p.items()}
            g = torch.exp(p["vector"] @ torch.tanh(p["query.weight"] @ s + p["query.bias"]))
            e = [value - g * (j - centre) ** 2 / (2 * options.sigma**2) for j, value in enumerate(e)]
        total = sum(torch.exp(value) for value in e)
        return [torch.exp(value) / total for value in e]

    def gru(self, word: Tensor, c: Tensor, s: Tensor, of_state: Tensor) -> Tensor:
        p = self.p
        x = torch.cat([word, c])
        w = torch.cat([p["gru.input.weight"], p["feed.weight"]], dim=1)  # (3·H, E + H)
        (wz, wr, wn), (bz, br, bn) = w.split(H), p["gru.input.bias"].split(H)
        uz, ur = p["gru.gates_recurrent.weight"].split(H)
        read = s * of_state
        z = torch.sigmoid(wz @ x + bz + uz @ read)
        r = torch.sigmoid(wr @ x + br + ur @ read)
        candidate = torch.tanh(wn @ x + bn + p["gru.candidate_recurrent.weight"] @ (r * read))
        return (1 - z) * s + z * candidate

    def beta(self, c: Tensor) -> Tensor | float | None:
        weight = self.system.decoder.phrase_weight
        if weight != "learned":
            return weight
        return torch.sigmoid(self.p["gate.weight"] @ c + self.p["gate.bias"]).squeeze()

    def losses(
        self,
        words: list[Tensor],
        phrases: list[Tensor],
        summary: Tensor,
        target: list[int],
        masks: list[Tensor] | None = None,
    ) -> tuple[Tensor, list[list[float]], list[float | None]]:
        p = self.p
        of_word, of_state, of_fed, of_softmax = masks or [torch.ones(()).double()] * 4
        s = torch.tanh(p["initial.weight"] @ summary + p["initial.bias"])
        c, word = torch.zeros(H, dtype=torch.float64), torch.zeros(E, dtype=torch.float64)
        centres: list[Tensor | float] = [0.0 for _ in self.system.contexts]
        loss, attention, betas = torch.zeros((), dtype=torch.float64), [], []
        for y in target:
            beta = self.beta(c)
            s = self.gru(word * of_word, c * of_fed, s, of_state)
            e = [self.score(s, state) for state in words + phrases]
            parts = [s]
            for number, centre in enumerate(centres):
                alpha = self.weigh(number, e, s, centre)
                centres[number] = sum(j * weight for j, weight in enumerate(alpha))
                nothing = torch.zeros(H, dtype=torch.float64)
                of_words = sum((weight * h for weight, h in zip(alpha, words, strict=False)), nothing)
                of_phrases = sum((weight * h for weight, h in zip(alpha[len(words) :], phrases, strict=True)), nothing)
                plain = beta is None
                parts.append(of_words + of_phrases if plain else (1 - beta) * of_words + beta * of_phrases)
                if number == 0:
                    attention.append([weight.item() for weight in alpha])
            betas.append(beta.item() if isinstance(beta, Tensor) else beta)
            c = torch.tanh(p["combine.weight"] @ torch.cat(parts) + p["combine.bias"])
            readout = torch.tanh(p["readout.weight"] @ c + p["readout.bias"])
            logits = p["softmax.weight"] @ (readout * of_softmax) + p["softmax.bias"]
            loss = loss - logits[y] + torch.log(sum(torch.exp(value) for value in logits))
            word = p["embedding.weight"][y]
        return loss, attention, betas

    def of_batch(self, memory: Memory, target: Tensor, lengths: Tensor, masks: list[Tensor] | None = None):
        for row in range(len(lengths)):
            columns = memory.mask[row].nonzero().flatten().tolist()
            words = [memory.states[0][row, column] for column in columns if column < memory.words]
            phrases = [memory.states[0][row, column] for column in columns if column >= memory.words]
            said = target[row, : lengths[row]].tolist()
            yield self.losses(words, phrases, memory.summary[0][row], said, masks and [mask[row] for mask in masks])


@pytest.mark.parametrize(("score", "contexts", "phrases", "phrase_weight"), CASES)
def test_losses_and_gradients_are_the_reference(score, contexts, phrases, phrase_weight) -> None:
    system = make_system(score, contexts, phrase_weight)
    decoder, memory = make_decoder(system), make_memory(phrases)
    target, lengths = make_target()
    expected = torch.stack([loss for loss, *_ in Reference(decoder, system).of_batch(memory, target, lengths)])
    losses = decoder.loss(with_keys(decoder, memory), target, Words.of_lengths(lengths))
    torch.testing.assert_close(losses, expected, rtol=1e-12, atol=1e-12)

    direction = torch.randn(len(losses), dtype=torch.float64)
    names, parameters = zip(*decoder.named_parameters(), strict=True)
    leaves = [*parameters, memory.states[0], memory.summary[0]]
    ours = torch.autograd.grad((losses * direction).sum(), leaves)
    theirs = torch.autograd.grad((expected * direction).sum(), leaves)
    for name, one, other in zip([*names, "states", "summary"], ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize(("score", "contexts", "phrases", "phrase_weight"), CASES)
@torch.no_grad()
def test_steps_are_the_loss_and_the_reference(score, contexts, phrases, phrase_weight) -> None:
    system = make_system(score, contexts, phrase_weight)
    decoder = make_decoder(system).eval()
    memory = with_keys(decoder, make_memory(phrases))
    target, lengths = make_target()
    attention = decoder.attend(memory, target, lengths)
    state, previous, total = decoder.start(memory), None, torch.zeros(len(WORDS), dtype=torch.float64)
    for number, words in enumerate(target.T):
        logits, state, weights = decoder.step(previous, state, memory)
        real = number < lengths
        total -= logits.log_softmax(1)[torch.arange(len(words)), words] * real
        torch.testing.assert_close(attention.weights[number], weights * real[:, None], rtol=1e-12, atol=1e-12)
        previous = words
    torch.testing.assert_close(total, decoder.loss(memory, target, Words.of_lengths(lengths)), rtol=1e-12, atol=1e-12)
    for row, (_, expected, betas) in enumerate(Reference(decoder, system).of_batch(memory, target, lengths)):
        ours = attention.weights[: lengths[row], row]
        assert ours[:, memory.mask[row]].tolist() == [pytest.approx(weights, abs=1e-12) for weights in expected]
        assert not ours[:, ~memory.mask[row]].any()
        if phrase_weight is None:
            assert attention.phrase_weights is None
        else:
            assert attention.phrase_weights is not None
            assert attention.phrase_weights[: lengths[row], row].tolist() == pytest.approx(betas, abs=1e-12)
            assert not attention.phrase_weights[lengths[row] :, row].any()


def test_a_gate_that_is_shut_is_a_weight_of_zero() -> None:
    learned, fixed = (make_decoder(make_system("mlp", ["global"], weight)) for weight in ("learned", 0.0))
    fixed.load_state_dict({name: value for name, value in learned.state_dict().items() if "gate." not in name})
    assert learned.gate is not None and learned.gate.bias is not None
    with torch.no_grad():
        learned.gate.weight.zero_()
        learned.gate.bias.fill_(-1000.0)
    target, lengths = make_target()
    losses = [
        decoder.loss(with_keys(decoder, make_memory(True)), target, Words.of_lengths(lengths))
        for decoder in (learned, fixed)
    ]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=0)


def test_dropout_is_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    system = make_system("mlp", ["global"], "learned", dropout=0.4)
    decoder, memory = make_decoder(system), make_memory(True)
    target, lengths = make_target()
    drawn: list[Tensor] = []
    draw = decoder.dropout.draw
    monkeypatch.setattr(
        decoder.dropout, "draw", lambda *given, **named: drawn.append(draw(*given, **named)) or drawn[-1]
    )
    words = Words.of_lengths(lengths)
    losses = decoder.loss(with_keys(decoder, memory), target, words)
    assert [mask.shape[1] for mask in drawn] == [E, H, H, E]
    masks = [mask[words.order.argsort()] for mask in drawn]
    expected = [loss for loss, *_ in Reference(decoder, system).of_batch(memory, target, lengths, masks)]
    torch.testing.assert_close(losses, torch.stack(expected), rtol=1e-12, atol=1e-12)
    decoder.eval()
    expected = [loss for loss, *_ in Reference(decoder, system).of_batch(memory, target, lengths)]
    torch.testing.assert_close(
        decoder.loss(with_keys(decoder, memory), target, Words.of_lengths(lengths)),
        torch.stack(expected),
        rtol=1e-12,
        atol=1e-12,
    )


@torch.no_grad()
def test_selected_rows_go_on_as_before() -> None:
    decoder = make_decoder(make_system("mlp", ["global"], "learned")).eval()
    memory = with_keys(decoder, make_memory(True))
    _, state, _ = decoder.step(None, decoder.start(memory), memory)
    index, words = torch.tensor([3, 0, 0, 2]), torch.tensor([1, 2, 3, 4])
    logits, _, _ = decoder.step(words, state, memory)
    chosen, _, _ = decoder.step(words[index], state.select(index), memory.select(index))
    torch.testing.assert_close(chosen, logits[index], rtol=1e-12, atol=1e-12)


def test_half_precision_stays_close() -> None:
    decoder, memory = make_decoder(make_system("mlp", ["global"], "learned")).float(), make_memory(True)
    single = replace(memory, states=(memory.states[0].float(),), summary=(memory.summary[0].float(),))
    target, lengths = make_target()
    exact = decoder.loss(with_keys(decoder, single), target, Words.of_lengths(lengths))
    with torch.autocast("cpu", torch.bfloat16):
        half = decoder.loss(with_keys(decoder, single), target, Words.of_lengths(lengths))
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)
