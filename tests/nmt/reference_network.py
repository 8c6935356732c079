"""Small networks of every composition, and a reference by the equations of the papers, in plain Python and float64."""

import math

import numpy as np
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.model import TranslationModel
from tests.nmt.formulas import sigmoid, softmax
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.weighting.reference_weighting import compute_weights

SOURCE_VOCABULARY_SIZE, TARGET_VOCABULARY_SIZE = 11, 9
MODEL_OPTIONS = {"embedding": 5, "hidden": 4, "dropout": 0.0}
SYNTAX_VOCABULARY_SIZES = {"labels": 4, "units": 8}
VOCABULARY_SIZES = {"source": SOURCE_VOCABULARY_SIZE, "target": TARGET_VOCABULARY_SIZE, **SYNTAX_VOCABULARY_SIZES}
CONTEXTS: dict[str, list] = {
    "global": ["global"],
    "local": [{"type": "local", "window": 2}],
    "local of window 1": [{"type": "local", "window": 1}],
    "local, softmax in the window": [{"type": "local", "window": 1, "normalized": "window"}],
    "flexible": ["flexible"],
    "flexible with threshold": [{"type": "flexible", "sigma": 0.7, "threshold": 0.5}],
    "syntax, interpolate": [{"type": "syntax", "window": 2, "position": "interpolate"}],
    "syntax, round": [{"type": "syntax", "window": 1, "position": "round"}],
    "syntax, attention": [{"type": "syntax", "window": 2, "position": "attention"}],
    "syntax, attention, small window": [{"type": "syntax", "window": 1, "position": "attention"}],
    "syntax, score": [{"type": "syntax", "window": 2, "position": "interpolate", "gaussian": "score"}],
    "syntax, round, score": [{"type": "syntax", "window": 1, "position": "round", "gaussian": "score"}],
    "syntax, attention, score": [{"type": "syntax", "window": 2, "position": "attention", "gaussian": "score"}],
    "syntax, weight": [{"type": "syntax", "window": 3, "position": "interpolate", "gaussian": "weight"}],
    "syntax, round, weight": [{"type": "syntax", "window": 1, "position": "round", "gaussian": "weight"}],
    "syntax, attention, weight": [{"type": "syntax", "window": 1, "position": "attention", "gaussian": "weight"}],
    "global and syntax": ["global", {"type": "syntax", "window": 2}],
    "two scores": ["global", {"type": "local", "window": 2, "score": 1}, {"type": "flexible", "score": 1}],
}
WORD_ENCODER, UNIT_ENCODER = {"inputs": ["words"]}, {"inputs": ["units"]}
SCORE_PER_ENCODER = [{"type": "mlp", "encoder": 0}, {"type": "mlp", "encoder": 1}]
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
        "encoders": [WORD_ENCODER, UNIT_ENCODER],
        "scores": SCORE_PER_ENCODER,
        "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
    },
    "two encoders, one score": {"encoders": [WORD_ENCODER, UNIT_ENCODER]},
    "two encoders, many contexts": {
        "encoders": [UNIT_ENCODER, WORD_ENCODER],
        "scores": SCORE_PER_ENCODER,
        "contexts": [{"type": "syntax", "score": 1}, "global", {"type": "local", "window": 2, "mixture": [0.3, 0.9]}],
    },
    "two encoders, both contexts fed": {
        "encoders": [WORD_ENCODER, UNIT_ENCODER],
        "contexts": ["global", "flexible"],
        "decoder": {"type": "conditional_gru", "gru_context": "both"},
    },
}


def build_system(composition: dict) -> CompositionConfig:
    several = any(isinstance(c, dict) and c.get("score") for c in composition.get("contexts", []))
    defaults = {"scores": ["mlp", "mlp"] if several else ["mlp"], "model": MODEL_OPTIONS}
    return CompositionConfig.model_validate(defaults | composition)


def build_model(system: CompositionConfig, seed: int = 0) -> TranslationModel:
    torch.manual_seed(seed)
    return draw_parameters(TranslationModel(system, VOCABULARY_SIZES).double(), std=0.6)


def build_pairs(seed: int = 0, pair_lengths: tuple[tuple[int, int], ...] = ((4, 5), (7, 2), (1, 3), (0, 0), (2, 4))):
    """Sentences of (source, target) lengths without EOS, and syntax.

    Distances are those in random trees, where EOS is a child of the root; labels and units are random.
    """
    random = np.random.default_rng(seed)
    sources, targets, distances, labels, units = [], [], [], [], []
    for source, target in pair_lengths:
        sources.append(np.append(random.integers(1, SOURCE_VOCABULARY_SIZE, source), 0))
        targets.append(np.append(random.integers(1, TARGET_VOCABULARY_SIZE, target), 0))
        heads: list[int | None] = [None] + [int(random.integers(0, word)) for word in range(1, source)]
        heads += [0] if source else []
        distances.append(compute_tree_distances(heads).astype(np.uint8).flatten())
        labels.append(random.integers(0, SYNTAX_VOCABULARY_SIZES["labels"], source + 1).astype(np.int32))
        units.append(random.integers(0, SYNTAX_VOCABULARY_SIZES["units"], (source + 1) * 10).astype(np.int32))
    apart = np.random.default_rng([seed, 1])
    spans = [np.sort(apart.integers(0, len(source), (len(source), 2)), axis=1) for source in sources]
    spans[1] = np.full((len(sources[1]), 2), -1)  # without a parse
    parents = [span.astype(np.int16).flatten() for span in spans]
    return sources, targets, {"distances": distances, "labels": labels, "units": units, "parents": parents}


def iterate_pairs(seed: int = 0):
    """Yield the pairs of `build_pairs`, each with its syntax."""
    sources, targets, syntax = build_pairs(seed)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        yield source, target, {kind: rows[row] for kind, rows in syntax.items()}


def compute_tree_distances(heads: list[int | None]) -> np.ndarray:
    """Edges between every two words, by walking up from both."""

    def list_ancestors(word: int | None) -> list[int]:
        path = []
        while word is not None:
            path.append(word)
            word = heads[word]
        return path

    size = len(heads)
    matrix = np.zeros((size, size), dtype=int)
    for a in range(size):
        for b in range(size):
            ancestors, other_ancestors = list_ancestors(a), list_ancestors(b)
            common = next(word for word in ancestors if word in other_ancestors)
            matrix[a, b] = ancestors.index(common) + other_ancestors.index(common)
    return matrix


def build_batch(seed: int = 0, multiple: int = 1) -> Batch:
    return collate_batch(*build_pairs(seed), multiple)


# The reference: one sentence, one step at a time.


class ReferenceNetwork:
    """Log-loss of a sentence by SDAtt eq. 1–14, SDRNMT eq. 7–14 and the cGRU of Nematus."""

    def __init__(self, model: TranslationModel) -> None:
        self.parameters = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        self.system = model.composition
        self.training = model.training

    def step_gru(self, layer_name: str, x: np.ndarray, h: np.ndarray) -> np.ndarray:
        w, u, b = (
            self.parameters[f"{layer_name}.{part}"] for part in ("input.weight", "recurrent.weight", "input.bias")
        )
        size = len(h)
        wr, wz, wn = w[:size], w[size : 2 * size], w[2 * size :]
        ur, uz, un = u[:size], u[size : 2 * size], u[2 * size :]
        br, bz, bn = b[:size], b[size : 2 * size], b[2 * size :]
        r = sigmoid(wr @ x + br + ur @ h)
        z = sigmoid(wz @ x + bz + uz @ h)
        n = np.tanh(wn @ x + bn + r * (un @ h))
        return (1 - z) * n + z * h

    def compute_input_vector(self, input_name: str, options, source: np.ndarray, j: int, syntax: dict) -> np.ndarray:
        """One of the vectors that an encoder reads at position j."""
        table = self.parameters[f"{input_name}.embedding.weight"]
        if options.type == "words":
            return table[source[j]]
        if options.type == "labels":
            return table[syntax["labels"][j]]
        rows = [table[word] for word in syntax["units"][10 * j : 10 * (j + 1)]]
        rows = self.convolve(f"{input_name}.first", rows)
        assert len(rows) == 8
        if options.order == "stacked":
            zeros = np.zeros_like(rows[0])
            rows = self.convolve(f"{input_name}.second", [zeros, *rows, zeros], stride=2)
            assert len(rows) == 4
            rows = self.pool_rows(self.pool_rows(rows))
        else:
            rows = self.pool_rows(rows)
            assert len(rows) == 4
            rows = self.convolve(f"{input_name}.second", rows)
            assert len(rows) == 2
            rows = self.pool_rows(rows)
        assert len(rows) == 1
        return sum(rows) / len(rows)

    def convolve(self, layer_name: str, rows: list[np.ndarray], stride: int = 1) -> list[np.ndarray]:
        """Each of d kernels covers three rows; kernel k gives column k."""
        kernels, bias = self.parameters[f"{layer_name}.weight"], self.parameters[f"{layer_name}.bias"]
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
    def pool_rows(rows: list[np.ndarray]) -> list[np.ndarray]:
        return [np.maximum(rows[r], rows[r + 1]) for r in range(0, len(rows), 2)]

    def compute_annotations(self, encoder_number: int, source: np.ndarray, syntax: dict) -> list[np.ndarray]:
        inputs = self.system.encoders[encoder_number].inputs
        name = f"encoders.{encoder_number}"
        read = [
            np.concatenate(
                [
                    self.compute_input_vector(f"{name}.inputs.{i}", part, source, j, syntax)
                    for i, part in enumerate(inputs)
                ]
            )
            for j in range(len(source))
        ]
        hidden = self.system.model.hidden
        right, left = [], []
        h = np.zeros(hidden)
        for x in read:
            h = self.step_gru(f"{name}.forwards", x, h)
            right.append(h)
        h = np.zeros(hidden)
        for x in reversed(read):
            h = self.step_gru(f"{name}.backwards", x, h)
            left.insert(0, h)
        return [np.concatenate(states) for states in zip(right, left, strict=True)]

    def compute_loss(self, source: np.ndarray, target: np.ndarray, syntax: dict) -> tuple[float, list[list[float]]]:
        """Summed −log p, and the weights of the first context at each step."""
        p = {name.removeprefix("decoder."): value for name, value in self.parameters.items()}
        system = self.system
        matrix = syntax["distances"].reshape(len(source), -1)
        annotations = [self.compute_annotations(k, source, syntax) for k in range(len(system.encoders))]
        s = [
            np.tanh(p[f"initial.{k}.weight"] @ (sum(h) / len(h)) + p[f"initial.{k}.bias"])
            for k, h in enumerate(annotations)
        ]
        word = np.zeros(system.model.embedding)
        centres = [0.0 for _ in system.contexts]
        total, attention = 0.0, []
        for y in target:
            queries = [self.step_gru(f"decoder.first.{k}", word, state) for k, state in enumerate(s)]
            scores = [
                self.compute_scores(number, queries[options.encoder], annotations[options.encoder])
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
                alpha = compute_weights(options, part, e, query, matrix, centres[number], self.training)
                centres[number] = sum(weight * j for j, weight in enumerate(alpha))
                vectors.append([sum(a * h for a, h in zip(alpha, states, strict=True)) for states in annotations])
                if number == 0:
                    attention.append(alpha)
            types = [options.type for options in system.contexts]
            first = types.index("global") if "global" in types else 0
            t = p["readout_word.weight"] @ word + p["readout_word.bias"]
            for k, query in enumerate(queries):
                feeds_both = system.decoder.gru_context == "both"
                fed = np.concatenate([context[k] for context in vectors]) if feeds_both else vectors[first][k]
                s[k] = self.step_gru(f"decoder.second.{k}", fed, query)
                t = t + p[f"readout_states.{k}.weight"] @ s[k] + p[f"readout_states.{k}.bias"]
            for number, c in enumerate(c for context in vectors for c in context):
                t = t + p[f"readout_contexts.{number}.weight"] @ c + p[f"readout_contexts.{number}.bias"]
            logits = p["softmax.weight"] @ np.tanh(t) + p["softmax.bias"]
            total -= math.log(softmax(list(logits))[y])
            word = p["embedding.weight"][y]
        return total, attention

    def compute_scores(self, score_number: int, query: np.ndarray, annotations: list[np.ndarray]) -> list[float]:
        p = {
            k.split(".", 3)[3]: v for k, v in self.parameters.items() if k.startswith(f"decoder.scores.{score_number}.")
        }
        return [
            float(p["vector"] @ np.tanh(p["query.weight"] @ query + p["key.weight"] @ h + p["key.bias"]) + p["bias"])
            for h in annotations
        ]
