"""A Transformer by the equations of Vaswani et al. (2017), one sentence and one position at a time, in float64."""

import math

import numpy as np

from pipeline_py.nmt.model import TranslationModel
from tests.nmt.formulas import softmax


class ReferenceTransformer:
    """Log-loss of a sentence, and the weights of the last layer's attention to the source.

    `build_score_change` and `build_cross_change` return the score transforms of `self_attention` and `cross_attention`
    parts; subclasses add further parts.
    """

    def __init__(self, model: TranslationModel) -> None:
        self.parameters = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        self.system = model.composition

    def apply_linear(self, layer_name: str, x: np.ndarray) -> np.ndarray:
        return self.parameters[f"{layer_name}.weight"] @ x + self.parameters[f"{layer_name}.bias"]

    def normalize_layer(self, layer_name: str, x: np.ndarray) -> np.ndarray:
        deviation = x - x.mean()
        return (
            deviation / math.sqrt((deviation**2).mean() + 1e-5) * self.parameters[f"{layer_name}.weight"]
            + self.parameters[f"{layer_name}.bias"]
        )

    def embed_words(self, embeddings: np.ndarray, words: list[int]) -> list[np.ndarray]:
        size = embeddings.shape[1]
        rows = []
        for i, word in enumerate(words):
            angles = [i / 10000 ** (2 * (k // 2) / size) for k in range(size)]
            position = [math.cos(angle) if k % 2 else math.sin(angle) for k, angle in enumerate(angles)]
            rows.append(math.sqrt(size) * embeddings[word] + np.array(position))
        return rows

    def apply_attention(self, layer_name, query_state, attended_states, head_count, score_changes=(), row_changes=()):
        """Return the attention output of state x.

        `score_changes` are functions of head, place and score, `row_changes` of head and the scores of all places.
        """
        size = len(query_state) // head_count
        query = self.apply_linear(f"{layer_name}.query", query_state)
        keys = [self.apply_linear(f"{layer_name}.key", attended) for attended in attended_states]
        values = [self.apply_linear(f"{layer_name}.value", attended) for attended in attended_states]
        mixed, shares = [], []
        for head in range(head_count):
            part = slice(head * size, (head + 1) * size)
            scores = [float(query[part] @ key[part]) / math.sqrt(size) for key in keys]
            for change in score_changes:
                scores = [change(head, j, score) for j, score in enumerate(scores)]
            for change in row_changes:
                scores = change(head, scores)
            weights = softmax(scores)
            shares.append(weights)
            mixed.append(sum(weight * value[part] for weight, value in zip(weights, values, strict=True)))
        mean = [sum(of_heads) / head_count for of_heads in zip(*shares, strict=True)]
        return self.apply_linear(f"{layer_name}.output", np.concatenate(mixed)), mean

    def apply_sublayer(self, layer_name, norm_place, states, compute_output):
        """Put f(states, number) around all states."""
        read = self.compute_sublayer_inputs(layer_name, norm_place, states)
        added = [x + compute_output(read, i) for i, x in enumerate(states)]
        return added if norm_place == "pre" else [self.normalize_layer(f"{layer_name}.norm", x) for x in added]

    def compute_sublayer_inputs(self, layer_name, norm_place, states):
        return [self.normalize_layer(f"{layer_name}.norm", x) for x in states] if norm_place == "pre" else states

    def apply_feed_forward(self, layer_name, norm_place, states):
        def compute_feed_forward(input_states, i):
            inner = np.maximum(0, self.apply_linear(f"{layer_name}.feed_forward.inner", input_states[i]))
            return self.apply_linear(f"{layer_name}.feed_forward.outer", inner)

        return self.apply_sublayer(f"{layer_name}.around_feed_forward", norm_place, states, compute_feed_forward)

    def encode_sentence(self, source, **syntax):
        """Annotations of a sentence, given by kind what its positions have (J, …) in the syntax that parts read."""
        options = self.system.encoders[0]
        self.head_scores = []
        rows = self.parameters["encoders.0.inputs.0.embedding.weight"][list(source)]
        if len(options.inputs) > 1:
            rows = np.hstack([rows, self.parameters["encoders.0.inputs.1.embedding.weight"][list(syntax["labels"])]])
        states = self.embed_words(rows, range(len(rows)))
        for layer in range(options.layers):
            name = f"encoders.0.layers.{layer}"
            parsed = self.compute_sublayer_inputs(f"{name}.around_attention", options.norm, states)
            parses = {
                number: self.score_heads(f"encoders.0.changes.{number}", parsed)
                for number, part in enumerate(options.attention)
                if part.type == "lisa" and self.is_in_layer(part, layer)
            }
            self.head_scores += [(options.attention[number].weight, rows) for number, rows in parses.items()]

            def attend_to_source(input_states, i, name=name, layer=layer, head_scores=parses):
                changes = []
                for number, part in enumerate(options.attention):
                    if not self.is_in_layer(part, layer):
                        continue
                    if part.type == "lisa":
                        changes.append(self.build_lisa_change(part, head_scores[number][i]))
                    else:
                        changes.append(self.build_score_change(part, i, **syntax))
                return self.apply_attention(f"{name}.attention", input_states[i], input_states, options.heads, changes)[
                    0
                ]

            states = self.apply_sublayer(f"{name}.around_attention", options.norm, states, attend_to_source)
            states = self.apply_feed_forward(name, options.norm, states)
        return [self.normalize_layer("encoders.0.last_norm", x) for x in states] if options.norm == "pre" else states

    @staticmethod
    def is_in_layer(part, layer):
        return part.layers is None or layer in part.layers

    def build_score_change(self, part, i, **syntax):
        """Return a function of head, position and score that transforms a score of position i."""
        selected = part.select_heads(self.system.encoders[0].heads)
        if part.type == "pascal":
            return self.build_pascal_change(part, selected, syntax["parents"][i])
        return self.build_distance_change(part, selected, syntax["distances"][i])

    @staticmethod
    def build_distance_change(part, head_numbers, distances):
        def change_score(head, j, score):
            if head not in head_numbers:
                return score
            gaussian = math.exp(-(float(distances[j]) ** 2) / (2 * part.sigma**2))
            return score * gaussian if part.gaussian == "score" else score + math.log(gaussian)

        return change_score

    def score_heads(self, part_name, states):
        def apply_leaky_relu(values):
            return [value if value > 0 else 0.01 * value for value in values]

        heads = [apply_leaky_relu(self.apply_linear(f"{part_name}.head", x)) for x in states]
        u, w = self.parameters[f"{part_name}.biaffine.bias"], self.parameters[f"{part_name}.biaffine.weight"]
        rows = []
        for x in states:
            dependent = apply_leaky_relu(self.apply_linear(f"{part_name}.dependent", x))
            mapped = w @ np.array(dependent)
            rows.append([float(mapped @ np.array(head) + u @ np.array(head)) for head in heads])
        return rows

    def build_lisa_change(self, part, head_scores):
        selected = {head % self.system.encoders[0].heads for head in part.heads}
        return lambda head, j, score: head_scores[j] if head in selected else score

    def compute_auxiliary_loss(self, heads):
        """Weighted −log p of the heads of all positions of the sentence that was encoded last."""
        total = 0.0
        for weight, rows in self.head_scores:
            for row, head in zip(rows, heads, strict=True):
                total -= weight * math.log(softmax(row)[head]) if head >= 0 else 0
        return total

    @staticmethod
    def build_pascal_change(part, head_numbers, parent_span):
        first, last = map(float, parent_span)

        def change_score(head, j, score):
            if head not in head_numbers or first < 0:
                return score
            exponent = -((j - (first + last) / 2) ** 2) / (2 * part.sigma**2)
            return score * math.exp(exponent) / (part.sigma * math.sqrt(2 * math.pi))

        return change_score

    def build_cross_change(self, part, distances):
        """Return a function of head and scores that transforms the source scores of the decoder."""
        selected = part.select_heads(self.system.decoder.heads)

        def change_scores(head, scores):
            if head not in selected:
                return scores
            places, sigma = range(len(scores)), part.window / 2
            weights = softmax(scores)
            m = [sum(weights[k] * float(distances[k][j]) for k in places) for j in places]
            furthest = max(part.window, min(m))
            gaussian = [math.exp(-(m[j] ** 2) / (2 * sigma**2)) for j in places]
            if part.gaussian == "score":
                near = [scores[j] * gaussian[j] for j in places]
            else:
                near = [scores[j] + math.log(gaussian[j]) for j in places]
            return [near[j] if m[j] <= furthest else -math.inf for j in places]

        return change_scores

    def decode_sentence(self, memory, target, **syntax):
        """Summed −log p of a target that ends with EOS, and for each word the weights of the memory.

        `build_cross_change` is told the syntax.
        """
        options, p = self.system.decoder, self.parameters
        states = self.embed_words(p["decoder.embedding.weight"], [0, *target[:-1]])
        attention = []
        for layer in range(options.layers):
            name = f"decoder.layers.{layer}"
            attention = []

            def attend_to_target(input_states, i, name=name):
                return self.apply_attention(f"{name}.attention", input_states[i], input_states[: i + 1], options.heads)[
                    0
                ]

            def attend_to_memory(input_states, i, name=name, attention=attention, layer=layer):
                parts = [part for part in options.attention if self.is_in_layer(part, layer)]
                of_rows = [self.build_cross_change(part, **syntax) for part in parts]
                mixed, weights = self.apply_attention(
                    f"{name}.to_memory", input_states[i], memory, options.heads, row_changes=of_rows
                )
                attention.append(weights)
                return mixed

            states = self.apply_sublayer(f"{name}.around_attention", options.norm, states, attend_to_target)
            states = self.apply_sublayer(f"{name}.around_memory", options.norm, states, attend_to_memory)
            states = self.apply_feed_forward(name, options.norm, states)
        if options.norm == "pre":
            states = [self.normalize_layer("decoder.last_norm", x) for x in states]
        matrix = p.get("decoder.softmax.weight", p["decoder.embedding.weight"])
        total = 0.0
        for x, word in zip(states, target, strict=True):
            total -= math.log(softmax(list(matrix @ x + p["decoder.softmax.bias"]))[word])
        return total, attention
