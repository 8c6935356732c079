"""Networks against a reference that follows the papers' equations word by word, in plain Python and float64."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems import System
from pipeline_py.nmt.batch import Batch, collate
from pipeline_py.nmt.model import Model

SOURCE_SIZE, TARGET_SIZE = 11, 9
SIZES = {"embedding": 5, "hidden": 4, "dropout": 0.0}
CONTEXTS: dict[str, list] = {
    "global": ["global"],
    "local": [{"type": "local", "window": 2}],
    "local of window 1": [{"type": "local", "window": 1}],
    "flexible": ["flexible"],
    "flexible with threshold": [{"type": "flexible", "sigma": 0.7, "threshold": 0.5}],
    "syntax": [{"type": "syntax", "window": 2}],
    "syntax, round": [{"type": "syntax", "window": 1, "position": "round"}],
    "syntax, attention": [{"type": "syntax", "window": 2, "position": "attention"}],
    "syntax, attention, small window": [{"type": "syntax", "window": 1, "position": "attention"}],
    "syntax, weight": [{"type": "syntax", "window": 3, "gaussian": "weight"}],
    "syntax, round, weight": [{"type": "syntax", "window": 1, "position": "round", "gaussian": "weight"}],
    "global and syntax": ["global", {"type": "syntax", "window": 2}],
    "two scores": ["global", {"type": "local", "window": 2, "score": 1}, {"type": "flexible", "score": 1}],
}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def make_system(contexts: list, **more: object) -> System:
    scores = ["mlp", "mlp"] if any(isinstance(c, dict) and c.get("score") for c in contexts) else ["mlp"]
    return System.model_validate({"contexts": contexts, "scores": scores, "model": SIZES, "parser": "any"} | more)


def make_model(system: System, seed: int = 0) -> Model:
    """A model with parameters large enough that nothing is nearly linear or nearly uniform."""
    torch.manual_seed(seed)
    model = Model(system, SOURCE_SIZE, TARGET_SIZE).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.6)
    return model


def make_pairs(seed: int = 0, lengths: tuple[tuple[int, int], ...] = ((4, 5), (7, 2), (1, 3), (0, 0), (2, 4))):
    """Sentences of (source, target) lengths without EOS, and distances in random trees; EOS is a child of the root."""
    random = np.random.default_rng(seed)
    sources, targets, distances = [], [], []
    for source, target in lengths:
        sources.append(np.append(random.integers(1, SOURCE_SIZE, source), 0))
        targets.append(np.append(random.integers(1, TARGET_SIZE, target), 0))
        heads: list[int | None] = [None] + [int(random.integers(0, word)) for word in range(1, source)]
        heads += [0] if source else []
        distances.append(tree_distances(heads).astype(np.uint8).flatten())
    return sources, targets, distances


def tree_distances(heads: list[int | None]) -> np.ndarray:
    """Edges between every two words, by walking up from both."""

    def ancestors(word: int | None) -> list[int]:
        path = []
        while word is not None:
            path.append(word)
            word = heads[word]
        return path

    size = len(heads)
    matrix = np.zeros((size, size), dtype=int)
    for a in range(size):
        for b in range(size):
            up, other = ancestors(a), ancestors(b)
            common = next(word for word in up if word in other)
            matrix[a, b] = up.index(common) + other.index(common)
    return matrix


def make_batch(seed: int = 0) -> Batch:
    sources, targets, distances = make_pairs(seed)
    return collate(sources, targets, {"distances": distances})


# The reference: one sentence, one step at a time.


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(values: list[float]) -> list[float]:
    largest = max(values)
    powers = [math.exp(value - largest) for value in values]
    return [power / sum(powers) for power in powers]


class Reference:
    """Log-loss of a sentence by SDAtt eq. 1–14 and the cGRU of Nematus."""

    def __init__(self, model: Model) -> None:
        self.p = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        self.system = model.system
        self.training = model.training

    def gru(self, name: str, x: np.ndarray, h: np.ndarray) -> np.ndarray:
        w, u, b = (self.p[f"{name}.{part}"] for part in ("input.weight", "recurrent.weight", "input.bias"))
        size = len(h)
        wr, wz, wn = w[:size], w[size : 2 * size], w[2 * size :]
        ur, uz, un = u[:size], u[size : 2 * size], u[2 * size :]
        br, bz, bn = b[:size], b[size : 2 * size], b[2 * size :]
        r = sigmoid(wr @ x + br + ur @ h)
        z = sigmoid(wz @ x + bz + uz @ h)
        n = np.tanh(wn @ x + bn + r * (un @ h))
        return (1 - z) * n + z * h

    def annotate(self, source: np.ndarray) -> list[np.ndarray]:
        embedded = [self.p["encoder.embedding.weight"][word] for word in source]
        hidden = self.system.model.hidden
        right, left = [], []
        h = np.zeros(hidden)
        for x in embedded:
            h = self.gru("encoder.forwards", x, h)
            right.append(h)
        h = np.zeros(hidden)
        for x in reversed(embedded):
            h = self.gru("encoder.backwards", x, h)
            left.insert(0, h)
        return [np.concatenate(both) for both in zip(right, left, strict=True)]

    def losses(self, source: np.ndarray, target: np.ndarray, matrix: np.ndarray) -> tuple[float, list[list[float]]]:
        """Summed −log p, and the weights of the first context at each step."""
        p = {name.removeprefix("decoder."): value for name, value in self.p.items()}
        annotations = self.annotate(source)
        mean = sum(annotations) / len(annotations)
        s = np.tanh(p["initial.weight"] @ mean + p["initial.bias"])
        word = np.zeros(self.system.model.embedding)
        centres = [0.0 for _ in self.system.contexts]
        total, attention = 0.0, []
        for y in target:
            query = self.gru("decoder.first", word, s)
            vectors = []
            for number, options in enumerate(self.system.contexts):
                score = {k.split(".", 2)[2]: v for k, v in p.items() if k.startswith(f"scores.{options.score}.")}
                e = [
                    float(
                        score["vector"]
                        @ np.tanh(score["query.weight"] @ query + score["key.weight"] @ h + score["key.bias"])
                        + score["bias"]
                    )
                    for h in annotations
                ]
                part = {k.split(".", 2)[2]: v for k, v in p.items() if k.startswith(f"weightings.{number}.")}
                alpha = self.weigh(options, part, e, query, matrix, centres[number])
                centres[number] = sum(weight * j for j, weight in enumerate(alpha))
                vectors.append(sum(weight * h for weight, h in zip(alpha, annotations, strict=True)))
                if number == 0:
                    attention.append(alpha)
            fed = np.concatenate(vectors) if self.system.decoder.gru_context == "both" else vectors[0]
            s = self.gru("decoder.second", fed, query)
            t = p["readout_word.weight"] @ word + p["readout_word.bias"]
            t = t + p["readout_state.weight"] @ s + p["readout_state.bias"]
            for number, c in enumerate(vectors):
                t = t + p[f"readout_contexts.{number}.weight"] @ c + p[f"readout_contexts.{number}.bias"]
            logits = p["softmax.weight"] @ np.tanh(t) + p["softmax.bias"]
            total -= math.log(softmax(list(logits))[y])
            word = p["embedding.weight"][y]
        return total, attention

    def weigh(self, options, part, e: list[float], query: np.ndarray, matrix: np.ndarray, centre: float):
        J = len(e)
        if options.type == "global":
            return softmax(e)
        if options.type == "local":
            position = self.position(part, query, J)
            sigma = options.window / 2
            return [
                a * math.exp(-((j - position) ** 2) / (2 * sigma**2)) if abs(j - position) <= options.window else 0.0
                for j, a in enumerate(softmax(e))
            ]
        if options.type == "flexible":
            g = math.exp(part["vector"] @ np.tanh(part["query.weight"] @ query + part["query.bias"]))
            penalty = [g * (j - centre) ** 2 / (2 * options.sigma**2) for j in range(J)]
            seen = list(range(J))
            if options.threshold is not None and not self.training:
                seen = [j for j in seen if penalty[j] <= options.threshold or penalty[j] == min(penalty)]
            return self.softmax_over(seen, [a - b for a, b in zip(e, penalty, strict=True)])
        sigma = options.window / 2
        if options.position == "attention":
            alpha = softmax(e)
            m = [sum(alpha[k] * matrix[k][j] for k in range(J)) for j in range(J)]
            near = [j for j in range(J) if m[j] <= options.window] or [j for j in range(J) if m[j] == min(m)]
        else:
            position = self.position(part, query, J)
            low = math.floor(position)
            high = min(low + 1, J - 1)
            f = position - low
            row = matrix[low] if f < 0.5 else matrix[high]
            near = [j for j in range(J) if row[j] <= options.window]
            m = (
                list(row)
                if options.position == "round"
                else [(1 - f) * matrix[low][j] + f * matrix[high][j] for j in range(J)]
            )
        gaussian = [math.exp(-(float(m[j]) ** 2) / (2 * sigma**2)) for j in range(J)]
        if options.gaussian == "score":
            return self.softmax_over(near, [a * b for a, b in zip(e, gaussian, strict=True)])
        return [a * b for a, b in zip(self.softmax_over(near, e), gaussian, strict=True)]

    @staticmethod
    def position(part, query: np.ndarray, J: int) -> float:
        weights = part["position.vector"] @ np.tanh(part["position.query.weight"] @ query)
        return J * float(sigmoid(weights))

    @staticmethod
    def softmax_over(places: list[int], values: list[float]) -> list[float]:
        inside = softmax([values[j] for j in places])
        weights = [0.0] * len(values)
        for j, weight in zip(places, inside, strict=True):
            weights[j] = weight
        return weights


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_loss_is_the_reference(contexts: list, training: bool) -> None:
    for seed in range(4):
        model = make_model(make_system(contexts), seed).train(training)
        losses = model.loss(make_batch(seed)).tolist()
        reference = Reference(model)
        for loss, source, target, distances in zip(losses, *make_pairs(seed), strict=True):
            expected, _ = reference.losses(source, target, distances.reshape(len(source), -1))
            assert loss == pytest.approx(expected, rel=1e-10)


def test_both_contexts_may_feed_the_second_gru() -> None:
    system = make_system(["global", "syntax"], decoder={"type": "conditional_gru", "gru_context": "both"})
    model = make_model(system)
    reference = Reference(model)
    losses = model.loss(make_batch()).tolist()
    for loss, source, target, distances in zip(losses, *make_pairs(), strict=True):
        expected, _ = reference.losses(source, target, distances.reshape(len(source), -1))
        assert loss == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_steps_are_the_reference_and_the_loss(contexts: list) -> None:
    model = make_model(make_system(contexts)).eval()
    batch = make_batch()
    assert batch.target is not None and batch.target_lengths is not None
    with torch.no_grad():
        losses = model.loss(batch)
        memory = model.encode(batch)
        state = model.decoder.start(memory)
        total = torch.zeros_like(losses)
        previous, attention = None, []
        for number, words in enumerate(batch.target.T):
            logits, state, weights = model.decoder.step(previous, state, memory)
            log_probability = logits.log_softmax(1).gather(1, words.unsqueeze(1)).squeeze(1)
            total -= log_probability * (number < batch.target_lengths)
            attention.append(weights)
            previous = words
    torch.testing.assert_close(total, losses, rtol=1e-12, atol=1e-12)
    reference = Reference(model)
    for row, (source, target, distances) in enumerate(zip(*make_pairs(), strict=True)):
        _, expected = reference.losses(source, target, distances.reshape(len(source), -1))
        for step, weights in enumerate(expected):
            assert attention[step][row, : len(source)].tolist() == pytest.approx(weights, abs=1e-12)
            assert not attention[step][row, len(source) :].any()


@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_gradients(contexts: list) -> None:
    model = make_model(make_system(contexts))
    sources, targets, distances = make_pairs(lengths=((2, 2), (1, 1), (0, 1)))
    batch = collate(sources, targets, {"distances": distances})
    names, parameters = zip(*model.named_parameters(), strict=True)

    def loss(*values: Tensor) -> Tensor:
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (batch,)).sum()

    assert torch.autograd.gradcheck(loss, parameters, eps=1e-6, atol=1e-6, fast_mode=True)


def test_parameters_of_the_paper() -> None:
    """systems.md fixes the count of GlobalAtt at embedding 620, hidden 1000 and two vocabularies of 50K."""
    with torch.device("meta"):
        model = Model(System(), 50_000, 50_000)
    assert sum(parameter.numel() for parameter in model.parameters()) == 126_893_261


@pytest.mark.parametrize(
    ("rule", "embeddings", "matrices", "vectors"),
    [
        ("nematus", 0.01, lambda reads: 0.01, 0.01),
        ("uniform", 0.1 / 3**0.5, lambda reads: 0.1 / 3**0.5, 0.1 / 3**0.5),
        ("lecun", 1.0, lambda reads: reads**-0.5, 0.1 / 3**0.5),
    ],
)
def test_initial_parameters(rule: str, embeddings: float, matrices: Callable[[int], float], vectors: float) -> None:
    """Standard deviations by hand: a uniform distribution over ±a has a/√3."""
    torch.manual_seed(0)
    sizes = {"embedding": 30, "hidden": 40, "initialization": rule}
    model = Model(System.model_validate({"model": sizes, "contexts": ["local"]}), 200, 200)
    for name, parameter in model.named_parameters():
        if name.endswith("recurrent.weight"):
            for gate in parameter.split(40):
                torch.testing.assert_close(gate @ gate.T, torch.eye(40), atol=1e-5, rtol=0)
        elif "bias" in name:
            assert not parameter.any(), name
        else:
            expected = embeddings if "embedding" in name else vectors
            if "embedding" not in name and parameter.dim() == 2:
                expected = matrices(parameter.shape[1])
            assert parameter.std().item() == pytest.approx(expected, rel=0.25), name


@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_neighbours_in_a_batch_change_nothing(contexts: list) -> None:
    model = make_model(make_system(contexts)).eval()
    together = model.loss(make_batch())
    for row, (source, target, distances) in enumerate(zip(*make_pairs(), strict=True)):
        alone = model.loss(collate([source], [target], {"distances": [distances]}))
        torch.testing.assert_close(alone[0], together[row], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_selected_rows_go_on_as_before(contexts: list) -> None:
    model = make_model(make_system(contexts)).eval()
    with torch.no_grad():
        memory = model.encode(make_batch())
        state = model.decoder.start(memory)
        _, state, _ = model.decoder.step(None, state, memory)
        index = torch.tensor([3, 0, 0, 2])
        words = torch.tensor([1, 2, 3, 4, 5])
        logits, _, _ = model.decoder.step(words, state, memory)
        chosen, _, _ = model.decoder.step(words[index], state.select(index), memory.select(index))
    torch.testing.assert_close(chosen, logits[index], rtol=1e-12, atol=1e-12)


def test_dropout_is_the_same_at_every_step_and_gone_when_translating() -> None:
    system = System.model_validate({"model": SIZES | {"dropout": 0.5}})
    model = make_model(system)
    batch = make_batch()
    first, second = model.loss(batch), model.loss(batch)
    assert not torch.allclose(first, second)
    torch.manual_seed(3)
    first = model.loss(batch)
    torch.manual_seed(3)
    torch.testing.assert_close(model.loss(batch), first, rtol=0, atol=0)
    model.eval()
    assert [loss.item() for loss in model.loss(batch)] == pytest.approx(
        [Reference(model).losses(s, t, d.reshape(len(s), -1))[0] for s, t, d in zip(*make_pairs(), strict=True)]
    )


@pytest.mark.parametrize("contexts", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_extreme_parameters_give_no_nan(contexts: list) -> None:
    """Saturated positions, huge penalties and huge scores in single precision."""
    for seed in range(3):
        model = make_model(make_system(contexts), seed).float()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(40)
        loss = model.loss(make_batch(seed))
        loss.sum().backward()
        assert loss.isfinite().all()
        for name, parameter in model.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), name
        model.eval()
        assert model.loss(make_batch(seed)).isfinite().all()


def test_half_precision_stays_close() -> None:
    model = make_model(make_system(["global", "syntax", "local", "flexible"])).float()
    exact = model.loss(make_batch())
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(make_batch())
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)


def test_statistics_are_counted_over_real_words_only() -> None:
    model = make_model(make_system(["flexible", {"type": "syntax", "window": 1}])).eval()
    batch = make_batch()
    memory = model.encode(batch)
    flexible, syntax = model.decoder.observe(memory, batch.target, batch.target_lengths)
    assert batch.target_lengths is not None
    span, steps = flexible["vision_span"]
    assert steps.tolist() == batch.target_lengths.tolist()
    assert span.tolist() == (batch.target_lengths * batch.source_lengths).tolist()  # no threshold: all positions
    negative, words = syntax["negative_scores"]
    assert (negative <= words).all() and (words >= batch.target_lengths).all()


@pytest.mark.parametrize("context", ["local", "flexible", {"type": "syntax", "position": "attention"}, "syntax"])
def test_positions_stay_exact_where_products_are_in_half_precision(context: object) -> None:
    """bfloat16 has 8 bits: from position 64 on, it could not even tell a position from the one half-way to the next."""
    model = make_model(make_system([context])).float().eval()
    batch = make_batch()
    with torch.no_grad():
        exact = model.loss(batch)
        with torch.autocast("cpu", torch.bfloat16):
            memory = model.encode(batch)
            weighting = model.decoder.weightings[0]
            query = torch.randn(len(memory.states), model.system.model.hidden)
            scores = torch.randn(memory.mask.shape)
            weights, carried = weighting(scores, query, memory, weighting.start(memory))
            rough = model.loss(batch)
    assert all(part.dtype == torch.float32 for part in (weights, *carried))
    if hasattr(weighting, "position") and weighting.position is not None:
        with torch.autocast("cpu", torch.bfloat16):
            assert weighting.position(query, memory).dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.05, atol=0.05)
