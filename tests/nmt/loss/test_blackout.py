"""BlackOut against its formula, word by word in plain Python, with the same draws."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.decoders import BlackOutLossConfig, SoftmaxLossConfig
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.loss import softmax
from pipeline_py.nmt.loss.blackout import BlackOutLoss

COUNTS = (50, 3, 400, 0, 7, 120, 33, 1, 18)
V, E = len(COUNTS), 4
SENTENCES = (0, 2, 1, 0, 2, 1, 0, 2, 2, 2)
"""Sentence of each word, in the order of a decoder; sentence 3 of 4 is empty."""


def make_part(samples: int = 5, power: float = 0.4, counts: tuple[int, ...] = COUNTS) -> BlackOutLoss:
    part = BlackOutLoss(BlackOutLossConfig(samples=samples, power=power), len(counts))
    part.set_word_frequencies(torch.tensor(counts))
    return part.train()


def make_words(seed: int = 0, scale: float = 1.0) -> tuple[nn.Linear, Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    linear = nn.Linear(E, V).double()
    with torch.no_grad():
        linear.bias.normal_()
    readout = scale * torch.randn(len(SENTENCES), E, dtype=torch.float64)
    targets = torch.randint(0, V, (len(SENTENCES),))
    return linear, readout.requires_grad_(), targets, torch.tensor(SENTENCES)


def words_of(sentences: Tensor, count: int) -> PackedWords:
    """Give each word the next position of its sentence."""
    sizes, place = [0] * count, []
    for sentence in sentences.tolist():
        place.append(sizes[sentence] * count + sentence)
        sizes[sentence] += 1
    return PackedWords(torch.tensor(place), (count,) * max(sizes), tuple(sizes))


def draws_of(part: BlackOutLoss, seed: int, count: int = 4) -> list[list[int]]:
    torch.manual_seed(seed)
    return part._draw_samples(count).tolist()


def by_hand(scores: list[float], target: int, draws: list[int], power: float) -> float:
    """Ji et al. (2016) eq. 5 and 6 of one word: −log p̃(y) − Σ log(1 − p̃(y^k)), unseen words counted once."""
    raised = [max(count, 1) ** power for count in COUNTS]
    q = [sum(raised) / value for value in raised]
    draws = [word for word in draws if word != target]
    total = q[target] * math.exp(scores[target]) + sum(q[word] * math.exp(scores[word]) for word in draws)

    def p(word: int) -> float:
        return q[word] * math.exp(scores[word]) / total

    return -math.log(p(target)) - sum(math.log(1 - p(word)) for word in draws)


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("samples", [1, 5, 40])
def test_losses_are_the_formula(samples: int, power: float) -> None:
    part = make_part(samples, power)
    linear, readout, targets, sentences = make_words()
    draws = draws_of(part, seed=7)
    torch.manual_seed(7)
    losses = part(linear, readout, targets, words_of(sentences, 4))
    scores = (readout @ linear.weight.T + linear.bias).tolist()
    if samples == 40:  # the case of equal draws must occur
        assert any(target in draws[sentence] for target, sentence in zip(targets, sentences, strict=True))
    assert losses.tolist() == [
        pytest.approx(by_hand(scores[n], int(targets[n]), draws[SENTENCES[n]], power), rel=1e-12)
        for n in range(len(targets))
    ]


@pytest.mark.parametrize("samples", [1, 6])
def test_gradients(samples: int) -> None:
    part = make_part(samples)
    linear, readout, targets, sentences = make_words()

    def losses(readout: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        torch.manual_seed(3)
        parameters = {"weight": weight, "bias": bias}
        holder = nn.Linear(E, V)
        del holder.weight, holder.bias
        for name, value in parameters.items():
            setattr(holder, name, value)
        result: Tensor = part(holder, readout, targets, words_of(sentences, 4))
        return result

    inputs = (readout, linear.weight.detach().requires_grad_(), linear.bias.detach().requires_grad_())
    assert torch.autograd.gradcheck(losses, inputs)


def test_all_words_drawn_once_is_the_full_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    """With equal weights p̃ is then p: −log p(y) − Σ_{k ≠ y} log(1 − p(k)); zero outputs have p = 1 / V."""
    part = make_part(samples=V, power=0.0)
    monkeypatch.setattr(part, "_draw_samples", lambda count: torch.arange(V).repeat(count, 1))
    linear, readout, targets, sentences = make_words()
    p = (readout @ linear.weight.T + linear.bias).softmax(1)
    other_labels = torch.log1p(-p).sum(1) - torch.log1p(-p.gather(1, targets[:, None])).squeeze(1)
    expected = -p.gather(1, targets[:, None]).squeeze(1).log() - other_labels
    torch.testing.assert_close(part(linear, readout, targets, words_of(sentences, 4)), expected, rtol=1e-12, atol=0)
    with torch.no_grad():
        linear.weight.zero_()
        linear.bias.zero_()
    expected_loss = math.log(V) - (V - 1) * math.log(1 - 1 / V)
    assert part(linear, readout, targets, words_of(sentences, 4)).tolist() == pytest.approx(
        [expected_loss] * len(targets)
    )


def test_draws_that_are_the_word_itself_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    part = make_part(samples=3)
    linear, readout, _, _ = make_words()
    targets, sentences = torch.tensor([2, 4]), torch.tensor([0, 0])
    monkeypatch.setattr(part, "_draw_samples", lambda count: torch.tensor([[2, 2, 2]]))
    losses = part(linear, readout[:2], targets, words_of(sentences, 1))
    assert losses[0] == 0
    scores = (readout[1] @ linear.weight.T + linear.bias).tolist()
    assert losses[1].item() == pytest.approx(by_hand(scores, 4, [2, 2, 2], 0.4))
    (gradient,) = torch.autograd.grad(losses[0], readout)
    assert not gradient.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gap", [0.0, 30.0, 200.0, 30_000.0])
def test_a_draw_that_takes_all_leaves_a_finite_loss(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, gap: float
) -> None:
    """With one draw, 1 − p̃(y¹) = p̃(y), so the loss is 2 log(1 + e^gap), and its derivative 2 σ(gap)."""
    part = make_part(samples=1, power=0.0)
    monkeypatch.setattr(part, "_draw_samples", lambda count: torch.tensor([[1]]))
    linear = nn.Linear(1, V).to(dtype)
    with torch.no_grad():
        linear.weight.zero_()
        linear.bias.zero_()
        linear.weight[1] = 1
    readout = torch.full((1, 1), gap, dtype=dtype, requires_grad=True)
    for sign in (1, -1):
        loss = part(linear, sign * readout, torch.tensor([5]), words_of(torch.tensor([0]), 1))
        (gradient,) = torch.autograd.grad(loss, readout)
        expected = max(sign * gap, 0.0) + math.log1p(math.exp(-gap))
        assert loss.item() == pytest.approx(2 * expected, rel=1e-6)
        assert gradient.item() == pytest.approx(
            sign * 2 / (1 + math.exp(-sign * gap) if sign * gap > -700 else math.inf)
        )


def test_huge_outputs_give_no_nan() -> None:
    part = make_part(samples=30)
    for scale in (10.0, 1e3, 1e5):
        linear, readout, targets, sentences = make_words(scale=scale)
        linear, single = linear.float(), readout.detach().float().requires_grad_()
        losses = part(linear, single, targets, words_of(sentences, 4))
        losses.sum().backward()
        assert losses.isfinite().all() and (losses >= 0).all()
        for tensor in (single, linear.weight, linear.bias):
            assert tensor.grad is not None and tensor.grad.isfinite().all()


def test_words_may_stand_in_any_order() -> None:
    part = make_part()
    linear, readout, targets, sentences = make_words()
    torch.manual_seed(1)
    losses = part(linear, readout, targets, words_of(sentences, 4))
    order = torch.randperm(len(targets))
    torch.manual_seed(1)
    shuffled = part(linear, readout[order], targets[order], words_of(sentences[order], 4))
    torch.testing.assert_close(shuffled, losses[order], rtol=1e-12, atol=0)


def test_words_are_drawn_by_raised_frequency_for_each_sentence() -> None:
    part = make_part(samples=2_000)
    torch.manual_seed(0)
    draws = part._draw_samples(50)
    assert draws.shape == (50, 2_000) and not torch.equal(draws[0], draws[1])
    raised = [max(count, 1) ** 0.4 for count in COUNTS]
    for word, results in enumerate((torch.bincount(draws.flatten(), minlength=V) / draws.numel()).tolist()):
        expected = raised[word] / sum(raised)
        assert results == pytest.approx(expected, abs=5 * math.sqrt(expected / draws.numel()))
    torch.manual_seed(0)
    assert torch.equal(part._draw_samples(50), draws)


def test_evaluation_is_the_full_softmax_and_draws_nothing() -> None:
    part = make_part().eval()
    linear, readout, targets, sentences = make_words()
    state = torch.get_rng_state()
    losses = part(linear, readout, targets, words_of(sentences, 4))
    assert torch.equal(torch.get_rng_state(), state)
    expected = functional.cross_entropy(linear(readout), targets, reduction="none")
    torch.testing.assert_close(losses, expected)
    full = softmax.SoftmaxLoss(SoftmaxLossConfig(), V).train()
    torch.testing.assert_close(full(linear, readout, targets, words_of(sentences, 4)), losses, rtol=0, atol=0)


def test_half_precision_stays_close() -> None:
    part = make_part()
    linear, readout, targets, sentences = make_words()
    linear, single = linear.float(), readout.detach().float().requires_grad_()
    torch.manual_seed(5)
    exact = part(linear, single, targets, words_of(sentences, 4))
    torch.manual_seed(5)
    with torch.autocast("cpu", torch.bfloat16):
        half = part(linear, single.bfloat16(), targets, words_of(sentences, 4))
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.05)


def test_what_is_drawn_from_is_no_part_of_the_saved_state() -> None:
    assert not make_part().state_dict()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: make_part(counts=COUNTS[:-1]).set_word_frequencies(torch.ones(V)),
            r"shape \(9,\) for a vocabulary of 8",
        ),
        (lambda: make_part(counts=(0, *COUNTS[1:])), "the end of sentence has no count"),
    ],
)
def test_counts_that_do_not_fit(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()


def test_training_without_frequencies() -> None:
    part = BlackOutLoss(BlackOutLossConfig(), V).train()
    linear, readout, targets, sentences = make_words()
    words = words_of(sentences, 4)
    with pytest.raises(RuntimeError, match="call `set_word_frequencies` before training"):
        part(linear, readout, targets, words)
    part.eval()(linear, readout, targets, words)
