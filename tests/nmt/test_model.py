"""Networks against a reference that follows the papers' equations word by word, in plain Python and float64."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.loss import blackout
from pipeline_py.nmt.model import Model, part

SOURCE_SIZE, TARGET_SIZE = 11, 9
SIZES = {"embedding": 5, "hidden": 4, "dropout": 0.0}
SIZES_OF_SYNTAX = {"labels": 4, "units": 8}
VOCABULARIES = {"source": SOURCE_SIZE, "target": TARGET_SIZE, **SIZES_OF_SYNTAX}
CONTEXTS: dict[str, list] = {
    "global": ["global"],
    "local": [{"type": "local", "window": 2}],
    "local of window 1": [{"type": "local", "window": 1}],
    "local, softmax in the window": [{"type": "local", "window": 1, "normalized": "window"}],
    "flexible": ["flexible"],
    "flexible with threshold": [{"type": "flexible", "sigma": 0.7, "threshold": 0.5}],
    "syntax": [{"type": "syntax", "window": 2}],
    "syntax, round": [{"type": "syntax", "window": 1, "position": "round"}],
    "syntax, attention": [{"type": "syntax", "window": 2, "position": "attention"}],
    "syntax, attention, small window": [{"type": "syntax", "window": 1, "position": "attention"}],
    "syntax, score": [{"type": "syntax", "window": 2, "gaussian": "score"}],
    "syntax, round, score": [{"type": "syntax", "window": 1, "position": "round", "gaussian": "score"}],
    "syntax, attention, score": [{"type": "syntax", "window": 2, "position": "attention", "gaussian": "score"}],
    "syntax, weight": [{"type": "syntax", "window": 3, "gaussian": "weight"}],
    "syntax, round, weight": [{"type": "syntax", "window": 1, "position": "round", "gaussian": "weight"}],
    "syntax, attention, weight": [{"type": "syntax", "window": 1, "position": "attention", "gaussian": "weight"}],
    "global and syntax": ["global", {"type": "syntax", "window": 2}],
    "two scores": ["global", {"type": "local", "window": 2, "score": 1}, {"type": "flexible", "score": 1}],
}
WORDS, UNITS = {"inputs": ["words"]}, {"inputs": ["units"]}
SCORE_OF_EACH = [{"type": "mlp", "encoder": 0}, {"type": "mlp", "encoder": 1}]
COMPOSITIONS: dict[str, dict] = {
    **{name: {"contexts": contexts} for name, contexts in CONTEXTS.items()},
    "labels": {"encoders": [{"inputs": ["words", {"type": "labels", "size": 2}]}]},
    "units beside words": {"encoders": [{"inputs": ["words", {"type": "units", "size": 2}]}]},
    "alternating convolutions": {"encoders": [{"inputs": [{"type": "units", "order": "alternate"}]}]},
    "everything side by side": {
        "encoders": [{"inputs": [{"type": "units", "size": 2}, {"type": "labels", "size": 1}, "words"]}],
        "contexts": ["global", "syntax"],
    },
    "two encoders": {
        "encoders": [WORDS, UNITS],
        "scores": SCORE_OF_EACH,
        "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
    },
    "two encoders, one score": {"encoders": [WORDS, UNITS]},
    "two encoders, many contexts": {
        "encoders": [UNITS, WORDS],
        "scores": SCORE_OF_EACH,
        "contexts": [{"type": "syntax", "score": 1}, "global", {"type": "local", "window": 2, "mixture": [0.3, 0.9]}],
    },
    "two encoders, both contexts fed": {
        "encoders": [WORDS, UNITS],
        "contexts": ["global", "flexible"],
        "decoder": {"type": "conditional_gru", "gru_context": "both"},
    },
}


pytestmark = pytest.mark.usefixtures("one_thread")


def make_system(composition: dict) -> System:
    several = any(isinstance(c, dict) and c.get("score") for c in composition.get("contexts", []))
    defaults = {"scores": ["mlp", "mlp"] if several else ["mlp"], "model": SIZES}
    return System.model_validate(defaults | composition)


def make_model(system: System, seed: int = 0) -> Model:
    """A model with parameters large enough that nothing is nearly linear or nearly uniform."""
    torch.manual_seed(seed)
    model = Model(system, VOCABULARIES).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.6)
    return model


def make_pairs(seed: int = 0, lengths: tuple[tuple[int, int], ...] = ((4, 5), (7, 2), (1, 3), (0, 0), (2, 4))):
    """Sentences of (source, target) lengths without EOS, and syntax.

    Distances are those in random trees, where EOS is a child of the root; labels and units are random.
    """
    random = np.random.default_rng(seed)
    sources, targets, distances, labels, units = [], [], [], [], []
    for source, target in lengths:
        sources.append(np.append(random.integers(1, SOURCE_SIZE, source), 0))
        targets.append(np.append(random.integers(1, TARGET_SIZE, target), 0))
        heads: list[int | None] = [None] + [int(random.integers(0, word)) for word in range(1, source)]
        heads += [0] if source else []
        distances.append(tree_distances(heads).astype(np.uint8).flatten())
        labels.append(random.integers(0, SIZES_OF_SYNTAX["labels"], source + 1).astype(np.int32))
        units.append(random.integers(0, SIZES_OF_SYNTAX["units"], (source + 1) * 10).astype(np.int32))
    return sources, targets, {"distances": distances, "labels": labels, "units": units}


def one_by_one(seed: int = 0):
    """The same pairs, each with its own syntax."""
    sources, targets, syntax = make_pairs(seed)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        yield source, target, {kind: rows[row] for kind, rows in syntax.items()}


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


def make_batch(seed: int = 0, multiple: int = 1) -> Batch:
    return collate(*make_pairs(seed), multiple)


# The reference: one sentence, one step at a time.


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(values: list[float]) -> list[float]:
    largest = max(values)
    powers = [math.exp(value - largest) for value in values]
    return [power / sum(powers) for power in powers]


class Reference:
    """Log-loss of a sentence by SDAtt eq. 1–14, SDRNMT eq. 7–14 and the cGRU of Nematus."""

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

    def represent(self, name: str, options, source: np.ndarray, j: int, syntax: dict) -> np.ndarray:
        """One of the vectors that an encoder reads at position j."""
        table = self.p[f"{name}.embedding.weight"]
        if options.type == "words":
            return table[source[j]]
        if options.type == "labels":
            return table[syntax["labels"][j]]
        rows = [table[word] for word in syntax["units"][10 * j : 10 * (j + 1)]]
        rows = self.convolve(f"{name}.first", rows)
        assert len(rows) == 8
        if options.order == "stacked":
            nothing = np.zeros_like(rows[0])
            rows = self.convolve(f"{name}.second", [nothing, *rows, nothing], stride=2)
            assert len(rows) == 4
            rows = self.pool(self.pool(rows))
        else:
            rows = self.pool(rows)
            assert len(rows) == 4
            rows = self.convolve(f"{name}.second", rows)
            assert len(rows) == 2
            rows = self.pool(rows)
        assert len(rows) == 1
        return sum(rows) / len(rows)

    def convolve(self, name: str, rows: list[np.ndarray], stride: int = 1) -> list[np.ndarray]:
        """Each of d kernels covers three rows; kernel k gives column k."""
        kernels, bias = self.p[f"{name}.weight"], self.p[f"{name}.bias"]
        d = len(rows[0])
        out = []
        for start in range(0, len(rows) - 2, stride):
            row = []
            for k in range(d):
                kernel = kernels[k].reshape(3, d)
                row.append(max(0.0, bias[k] + sum(kernel[r] @ rows[start + r] for r in range(3))))
            out.append(np.array(row))
        return out

    @staticmethod
    def pool(rows: list[np.ndarray]) -> list[np.ndarray]:
        return [np.maximum(rows[r], rows[r + 1]) for r in range(0, len(rows), 2)]

    def annotate(self, number: int, source: np.ndarray, syntax: dict) -> list[np.ndarray]:
        inputs = self.system.encoders[number].inputs
        name = f"encoders.{number}"
        read = [
            np.concatenate(
                [self.represent(f"{name}.inputs.{i}", part, source, j, syntax) for i, part in enumerate(inputs)]
            )
            for j in range(len(source))
        ]
        hidden = self.system.model.hidden
        right, left = [], []
        h = np.zeros(hidden)
        for x in read:
            h = self.gru(f"{name}.forwards", x, h)
            right.append(h)
        h = np.zeros(hidden)
        for x in reversed(read):
            h = self.gru(f"{name}.backwards", x, h)
            left.insert(0, h)
        return [np.concatenate(both) for both in zip(right, left, strict=True)]

    def losses(self, source: np.ndarray, target: np.ndarray, syntax: dict) -> tuple[float, list[list[float]]]:
        """Summed −log p, and the weights of the first context at each step."""
        p = {name.removeprefix("decoder."): value for name, value in self.p.items()}
        system = self.system
        matrix = syntax["distances"].reshape(len(source), -1)
        annotations = [self.annotate(k, source, syntax) for k in range(len(system.encoders))]
        s = [
            np.tanh(p[f"initial.{k}.weight"] @ (sum(h) / len(h)) + p[f"initial.{k}.bias"])
            for k, h in enumerate(annotations)
        ]
        word = np.zeros(system.model.embedding)
        centres = [0.0 for _ in system.contexts]
        total, attention = 0.0, []
        for y in target:
            queries = [self.gru(f"decoder.first.{k}", word, state) for k, state in enumerate(s)]
            scores = [
                self.score(number, queries[options.encoder], annotations[options.encoder])
                for number, options in enumerate(system.scores)
            ]
            vectors = []
            for number, options in enumerate(system.contexts):
                e, query = scores[options.score], queries[system.scores[options.score].encoder]
                if options.mixture is not None:
                    e = [
                        sum(a * b for a, b in zip(options.mixture, at_j, strict=True))
                        for at_j in zip(*scores, strict=True)
                    ]
                    query = queries[system.scores[0].encoder]
                part = {k.split(".", 2)[2]: v for k, v in p.items() if k.startswith(f"weightings.{number}.")}
                alpha = self.weigh(options, part, e, query, matrix, centres[number])
                centres[number] = sum(weight * j for j, weight in enumerate(alpha))
                vectors.append([sum(a * h for a, h in zip(alpha, states, strict=True)) for states in annotations])
                if number == 0:
                    attention.append(alpha)
            types = [options.type for options in system.contexts]
            first = types.index("global") if "global" in types else 0
            t = p["readout_word.weight"] @ word + p["readout_word.bias"]
            for k, query in enumerate(queries):
                both = system.decoder.gru_context == "both"
                fed = np.concatenate([context[k] for context in vectors]) if both else vectors[first][k]
                s[k] = self.gru(f"decoder.second.{k}", fed, query)
                t = t + p[f"readout_states.{k}.weight"] @ s[k] + p[f"readout_states.{k}.bias"]
            for number, c in enumerate(c for context in vectors for c in context):
                t = t + p[f"readout_contexts.{number}.weight"] @ c + p[f"readout_contexts.{number}.bias"]
            logits = p["softmax.weight"] @ np.tanh(t) + p["softmax.bias"]
            total -= math.log(softmax(list(logits))[y])
            word = p["embedding.weight"][y]
        return total, attention

    def score(self, number: int, query: np.ndarray, annotations: list[np.ndarray]) -> list[float]:
        p = {k.split(".", 3)[3]: v for k, v in self.p.items() if k.startswith(f"decoder.scores.{number}.")}
        return [
            float(p["vector"] @ np.tanh(p["query.weight"] @ query + p["key.weight"] @ h + p["key.bias"]) + p["bias"])
            for h in annotations
        ]

    def weigh(self, options, part, e: list[float], query: np.ndarray, matrix: np.ndarray, centre: float):
        J = len(e)
        if options.type == "global":
            return softmax(e)
        if options.type == "local":
            position = self.position(part, query, J)
            sigma = options.window / 2
            if options.normalized == "window":
                inside = [j for j in range(J) if abs(j - math.floor(position)) <= options.window]
                alpha = self.softmax_over(inside, e)
            else:
                alpha = [a if abs(j - position) <= options.window else 0.0 for j, a in enumerate(softmax(e))]
            return [a * math.exp(-((j - position) ** 2) / (2 * sigma**2)) for j, a in enumerate(alpha)]
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
            row = matrix[min(math.floor(position + 0.5), J - 1)]
            near = [j for j in range(J) if row[j] <= options.window]
            if options.position == "round" or J == 1:
                m = list(row)
            elif position > J - 1:  # the line through the last two rows goes on
                slopes = [float(matrix[J - 1][j]) - float(matrix[J - 2][j]) for j in range(J)]
                m = [matrix[J - 1][j] + (position - (J - 1)) * slopes[j] for j in range(J)]
            else:
                low = math.floor(position)
                f = position - low
                m = [(1 - f) * matrix[low][j] + f * matrix[min(low + 1, J - 1)][j] for j in range(J)]
        gaussian = [math.exp(-(float(m[j]) ** 2) / (2 * sigma**2)) for j in range(J)]
        if options.gaussian == "log":
            return self.softmax_over(near, [a - float(b) ** 2 / (2 * sigma**2) for a, b in zip(e, m, strict=True)])
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


@pytest.mark.parametrize("multiple", [1, 3, 8])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_loss_is_the_reference(composition: dict, training: bool, multiple: int) -> None:
    """Rounded up, the longest of the sentences has no padding with 1 and 8, and some with 3."""
    for seed in range(4 if multiple == 1 else 1):
        model = make_model(make_system(composition), seed).train(training)
        losses = model.loss(make_batch(seed, multiple)).tolist()
        reference = Reference(model)
        for loss, pair in zip(losses, one_by_one(seed), strict=True):
            expected, _ = reference.losses(*pair)
            assert loss == pytest.approx(expected, rel=1e-10)


def test_both_contexts_may_feed_the_second_gru() -> None:
    decoder = {"type": "conditional_gru", "gru_context": "both"}
    model = make_model(make_system({"contexts": ["global", "syntax"], "decoder": decoder}))
    reference = Reference(model)
    losses = model.loss(make_batch()).tolist()
    for loss, pair in zip(losses, one_by_one(), strict=True):
        expected, _ = reference.losses(*pair)
        assert loss == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_steps_are_the_reference_and_the_loss(composition: dict) -> None:
    model = make_model(make_system(composition)).eval()
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
    for row, (source, target, syntax) in enumerate(one_by_one()):
        _, expected = reference.losses(source, target, syntax)
        for step, weights in enumerate(expected):
            assert attention[step][row, : len(source)].tolist() == pytest.approx(weights, abs=1e-12)
            assert not attention[step][row, len(source) :].any()


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_gradients(composition: dict) -> None:
    model = make_model(make_system(composition))
    batch = collate(*make_pairs(lengths=((2, 2), (1, 1), (0, 1))))
    names, parameters = zip(*model.named_parameters(), strict=True)

    def loss(*values: Tensor) -> Tensor:
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (batch,)).sum()

    assert torch.autograd.gradcheck(loss, parameters, eps=1e-6, atol=1e-6, fast_mode=True)


def test_parameters_of_the_paper() -> None:
    """systems.md fixes the count of GlobalAtt at embedding 620, hidden 1000 and two vocabularies of 50K."""
    with torch.device("meta"):
        model = Model(System(), {"source": 50_000, "target": 50_000})
    assert sum(parameter.numel() for parameter in model.parameters()) == 126_893_261


def count_by_hand(composition: dict, labels: int = 50, words: int = 50_000) -> int:
    """Weights and biases at embedding 620 and hidden 1000, from the equations."""
    e, h = 620, 1000
    encoders = composition.get("encoders", [{"inputs": ["words"]}])
    contexts = composition.get("contexts", ["global"])
    total = words * e  # target embedding
    for encoder in encoders:
        for given in encoder["inputs"]:
            kind, size = (given, None) if isinstance(given, str) else (given["type"], given["size"])
            size = size or e - sum(other["size"] for other in encoder["inputs"] if isinstance(other, dict))
            table = {"words": words, "labels": labels, "units": words + 1}[kind]
            total += table * size + (2 * (3 * size * size + size) if kind == "units" else 0)
        total += 2 * (3 * h * e + 3 * h * h + 3 * h)  # both directions
        total += 2 * h * h + h  # initial state
        total += 3 * h * e + 3 * h * h + 3 * h  # GRU1
        total += 3 * h * 2 * h + 3 * h * h + 3 * h  # GRU2
        total += h * e + e  # L_d
        total += len(contexts) * (2 * h * e + e)  # L_c
    for _ in composition.get("scores", ["mlp"]):
        total += h * 2 * h + 2 * h * 2 * h + 2 * h + 2 * h + 1
    for context in contexts:
        kind = context if isinstance(context, str) else context["type"]
        total += {"global": 0, "local": h * h + h, "syntax": h * h + h, "flexible": h * h + h + h}[kind]
    return total + e * e + e + words * e + words  # L_w and the softmax


UNITS_BESIDE_WORDS = {"encoders": [{"inputs": [{"type": "words", "size": 360}, {"type": "units", "size": 260}]}]}
MIXTURE_OF_TWO = {
    "encoders": [WORDS, UNITS],
    "scores": SCORE_OF_EACH,
    "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
}


@pytest.mark.parametrize(
    ("composition", "expected"),
    [
        ({}, 126_893_261),
        ({"contexts": ["local"]}, 127_894_261),
        ({"contexts": ["flexible"]}, 127_895_261),
        ({"contexts": ["syntax"]}, 127_894_261),
        ({"encoders": [{"inputs": ["words", {"type": "labels", "size": 10}]}]}, 126_393_761),
        (UNITS_BESIDE_WORDS, 127_299_641),
        (MIXTURE_OF_TWO, 193_659_762),
        ({"contexts": ["global", "local"]}, 129_134_881),
        ({"contexts": ["global", "flexible"]}, 129_135_881),
        ({"contexts": ["global", "syntax"]}, 129_134_881),
    ],
)
def test_parameters_of_every_composition(composition: dict, expected: int) -> None:
    """docs/networks.md gives these numbers, with 50 labels and 50,000 words in units."""
    vocabularies = {"source": 50_000, "target": 50_000, "labels": 50, "units": 50_001}
    with torch.device("meta"):
        model = Model(System.model_validate(composition), vocabularies)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected == count_by_hand(composition)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_neighbours_in_a_batch_change_nothing(composition: dict) -> None:
    model = make_model(make_system(composition)).eval()
    together = model.loss(make_batch())
    for row, (source, target, syntax) in enumerate(one_by_one()):
        alone = model.loss(collate([source], [target], {kind: [values] for kind, values in syntax.items()}))
        torch.testing.assert_close(alone[0], together[row], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_selected_rows_go_on_as_before(composition: dict) -> None:
    model = make_model(make_system(composition)).eval()
    with torch.no_grad():
        memory = model.encode(make_batch())
        state = model.decoder.start(memory)
        _, state, _ = model.decoder.step(None, state, memory)
        index = torch.tensor([3, 0, 0, 2])
        words = torch.tensor([1, 2, 3, 4, 5])
        logits, _, _ = model.decoder.step(words, state, memory)
        state, memory = state.select(index), memory.select(index)
        chosen, _, _ = model.decoder.step(words[index], state, memory)
        further = torch.tensor([1, 3, 1])  # of rows that have their state in common with others
        again, _, _ = model.decoder.step(words[index][further], state.select(further), memory.select(further))
    torch.testing.assert_close(chosen, logits[index], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(again, logits[index][further], rtol=1e-12, atol=1e-12)


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
        [Reference(model).losses(*pair)[0] for pair in one_by_one()]
    )


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_extreme_parameters_give_no_nan(composition: dict) -> None:
    """Saturated positions, huge penalties and huge scores in single precision."""
    for seed in range(3):
        model = make_model(make_system(composition), seed).float()
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
    model = make_model(make_system({"contexts": ["global", "syntax", "local", "flexible"]})).float()
    exact = model.loss(make_batch())
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(make_batch())
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)


@pytest.mark.parametrize("gaussian", ["log", "score", "weight"])
def test_positions_behind_the_last_word_have_a_gradient_and_are_counted(gaussian: str) -> None:
    model = make_model(make_system({"contexts": [{"type": "syntax", "gaussian": gaussian}]}))
    weighting, vector = model.decoder.weightings[0], model.decoder.weightings[0].position.vector
    with torch.no_grad():
        weighting.position.query.weight.fill_(1.0)
        vector.fill_(0.8)
    batch = collate(*make_pairs(lengths=((4, 5), (7, 2), (2, 4))))
    memory = model.encode(batch)
    query = torch.ones(3, SIZES["hidden"], dtype=torch.float64)
    assert (weighting.position(query, memory) > memory.lengths - 1).all()
    weights, _ = weighting(torch.randn(memory.mask.shape, dtype=torch.float64), query, memory, ())
    (weights * torch.arange(weights.shape[1])).sum().backward()
    assert vector.grad is not None and vector.grad.abs().min() > 1e-6
    behind, steps = weighting.observe(torch.zeros_like(weights), query, memory, ())["positions_behind_the_last_word"]
    assert behind.tolist() == steps.tolist() == [1, 1, 1]


@pytest.mark.parametrize("position", ["interpolate", "round", "attention"])
def test_a_position_that_is_no_number_looks_at_no_row_outside(position: str) -> None:
    model = make_model(make_system({"contexts": [{"type": "syntax", "position": position}]}))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "decoder.first" in name:
                parameter.fill_(math.nan)
    assert model.loss(make_batch()).isnan().all()


def test_statistics_are_counted_over_real_words_only() -> None:
    model = make_model(make_system({"contexts": ["flexible", {"type": "syntax", "window": 1}]})).eval()
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
    model = make_model(make_system({"contexts": [context]})).float().eval()
    batch = make_batch()
    with torch.no_grad():
        exact = model.loss(batch)
        with torch.autocast("cpu", torch.bfloat16):
            memory = model.encode(batch)
            weighting = model.decoder.weightings[0]
            query = torch.randn(len(memory.mask), model.system.model.hidden)
            scores = torch.randn(memory.mask.shape)
            weights, carried = weighting(scores, query, memory, weighting.start(memory))
            rough = model.loss(batch)
    assert all(part.dtype == torch.float32 for part in (weights, *carried))
    if hasattr(weighting, "position") and weighting.position is not None:
        with torch.autocast("cpu", torch.bfloat16):
            assert weighting.position(query, memory).dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.05, atol=0.05)


def test_the_part_is_the_only_network_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert part("loss", "blackout") is blackout.BlackOutLoss, "not the class that it inherits from"
    one = type("OtherLoss", (nn.Module,), {"__module__": blackout.__name__})
    monkeypatch.setattr(blackout, "OtherLoss", one, raising=False)
    with pytest.raises(TypeError, match="blackout has 2 public classes of networks"):
        part("loss", "blackout")
