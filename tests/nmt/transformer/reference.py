"""A Transformer by the equations of Vaswani et al. (2017), one sentence and one position at a time, in float64."""

import math

import numpy as np

from pipeline_py.nmt.model import Model
from tests.nmt.formulas import softmax


class Reference:
    """Log-loss of a sentence, and the weights of the last layer's attention to the source.

    `change` and `cross_change` say what a part of the kind `self_attention` or `cross_attention` makes of scores; a
    further part has a subclass that says it.
    """

    def __init__(self, model: Model) -> None:
        self.p = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        self.system = model.system

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return self.p[f"{name}.weight"] @ x + self.p[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        deviation = x - x.mean()
        return deviation / math.sqrt((deviation**2).mean() + 1e-5) * self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def read(self, table: np.ndarray, words: list[int]) -> list[np.ndarray]:
        size = table.shape[1]
        rows = []
        for i, word in enumerate(words):
            angles = [i / 10000 ** (2 * (k // 2) / size) for k in range(size)]
            position = [math.cos(angle) if k % 2 else math.sin(angle) for k, angle in enumerate(angles)]
            rows.append(math.sqrt(size) * table[word] + np.array(position))
        return rows

    def attend(self, name, x, others, heads, changes=(), of_rows=()):
        """What one state x makes of others.

        `changes` are functions of head, place and score, `of_rows` of head and the scores of all places.
        """
        size = len(x) // heads
        query = self.linear(f"{name}.query", x)
        keys = [self.linear(f"{name}.key", other) for other in others]
        values = [self.linear(f"{name}.value", other) for other in others]
        mixed, shares = [], []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = [float(query[part] @ key[part]) / math.sqrt(size) for key in keys]
            for change in changes:
                scores = [change(head, j, score) for j, score in enumerate(scores)]
            for change in of_rows:
                scores = change(head, scores)
            weights = softmax(scores)
            shares.append(weights)
            mixed.append(sum(weight * value[part] for weight, value in zip(weights, values, strict=True)))
        mean = [sum(of_heads) / heads for of_heads in zip(*shares, strict=True)]
        return self.linear(f"{name}.output", np.concatenate(mixed)), mean

    def sublayer(self, name, norm, states, sublayer):
        """Put f(states, number) around all states."""
        read = self.read_by_sublayer(name, norm, states)
        added = [x + sublayer(read, i) for i, x in enumerate(states)]
        return added if norm == "pre" else [self.norm(f"{name}.norm", x) for x in added]

    def read_by_sublayer(self, name, norm, states):
        return [self.norm(f"{name}.norm", x) for x in states] if norm == "pre" else states

    def feed(self, name, norm, states):
        def mapped(read, i):
            inner = np.maximum(0, self.linear(f"{name}.feed_forward.inner", read[i]))
            return self.linear(f"{name}.feed_forward.outer", inner)

        return self.sublayer(f"{name}.around_feed_forward", norm, states, mapped)

    def encode(self, source, **syntax):
        """Annotations of a sentence, given by kind what its positions have (J, …) in the syntax that parts read."""
        options = self.system.encoders[0]
        self.parses = []
        rows = self.p["encoders.0.inputs.0.embedding.weight"][list(source)]
        if len(options.inputs) > 1:
            rows = np.hstack([rows, self.p["encoders.0.inputs.1.embedding.weight"][list(syntax["labels"])]])
        states = self.read(rows, range(len(rows)))
        for layer in range(options.layers):
            name = f"encoders.0.layers.{layer}"
            parsed = self.read_by_sublayer(f"{name}.around_attention", options.norm, states)
            parses = {
                number: self.parse(f"encoders.0.changes.{number}", parsed)
                for number, part in enumerate(options.attention)
                if part.type == "lisa" and self.is_in(part, layer)
            }
            self.parses += [(options.attention[number].weight, rows) for number, rows in parses.items()]

            def attended(read, i, name=name, layer=layer, parses=parses):
                changes = []
                for number, part in enumerate(options.attention):
                    if not self.is_in(part, layer):
                        continue
                    if part.type == "lisa":
                        changes.append(self.predicted(part, parses[number][i]))
                    else:
                        changes.append(self.change(part, i, **syntax))
                return self.attend(f"{name}.attention", read[i], read, options.heads, changes)[0]

            states = self.sublayer(f"{name}.around_attention", options.norm, states, attended)
            states = self.feed(name, options.norm, states)
        return [self.norm("encoders.0.last_norm", x) for x in states] if options.norm == "pre" else states

    @staticmethod
    def is_in(part, layer):
        return part.layers is None or layer in part.layers

    def change(self, part, i, **syntax):
        """What a part makes, in position i, of a score: a function of head, place and score."""
        chosen = part.chosen(self.system.encoders[0].heads)
        if part.type == "pascal":
            return self.parent_scaled(part, chosen, syntax["parents"][i])
        return self.near_in_the_tree(part, chosen, syntax["distances"][i])

    @staticmethod
    def near_in_the_tree(part, chosen, distances):
        def changed(head, j, score):
            if head not in chosen:
                return score
            gaussian = math.exp(-(float(distances[j]) ** 2) / (2 * part.sigma**2))
            return score * gaussian if part.gaussian == "score" else score + math.log(gaussian)

        return changed

    def parse(self, name, states):
        def leaky(values):
            return [value if value > 0 else 0.01 * value for value in values]

        heads = [leaky(self.linear(f"{name}.head", x)) for x in states]
        u, w = self.p[f"{name}.biaffine.bias"], self.p[f"{name}.biaffine.weight"]
        rows = []
        for x in states:
            dependent = leaky(self.linear(f"{name}.dependent", x))
            mapped = w @ np.array(dependent)
            rows.append([float(mapped @ np.array(head) + u @ np.array(head)) for head in heads])
        return rows

    def predicted(self, part, row):
        chosen = {head % self.system.encoders[0].heads for head in part.heads}
        return lambda head, j, score: row[j] if head in chosen else score

    def auxiliary(self, heads):
        """Weighted −log p of the heads of all positions of the sentence that was encoded last."""
        total = 0.0
        for weight, rows in self.parses:
            for row, head in zip(rows, heads, strict=True):
                total -= weight * math.log(softmax(row)[head]) if head >= 0 else 0
        return total

    @staticmethod
    def parent_scaled(part, chosen, parent):
        first, last = map(float, parent)

        def changed(head, j, score):
            if head not in chosen or first < 0:
                return score
            exponent = -((j - (first + last) / 2) ** 2) / (2 * part.sigma**2)
            return score * math.exp(exponent) / (part.sigma * math.sqrt(2 * math.pi))

        return changed

    def cross_change(self, part, distances):
        """What a part makes of the scores of the source in the decoder: a function of head and the scores of places."""
        chosen = part.chosen(self.system.decoder.heads)

        def changed(head, scores):
            if head not in chosen:
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

        return changed

    def decode(self, memory, target, **syntax):
        """Summed −log p of a target that ends with EOS, and for each word the weights of the memory.

        `cross_change` is told the syntax.
        """
        options, p = self.system.decoder, self.p
        states = self.read(p["decoder.embedding.weight"], [0, *target[:-1]])
        attention = []
        for layer in range(options.layers):
            name = f"decoder.layers.{layer}"
            attention = []

            def to_itself(read, i, name=name):
                return self.attend(f"{name}.attention", read[i], read[: i + 1], options.heads)[0]

            def to_memory(read, i, name=name, attention=attention, layer=layer):
                parts = [part for part in options.attention if self.is_in(part, layer)]
                of_rows = [self.cross_change(part, **syntax) for part in parts]
                mixed, weights = self.attend(f"{name}.to_memory", read[i], memory, options.heads, of_rows=of_rows)
                attention.append(weights)
                return mixed

            states = self.sublayer(f"{name}.around_attention", options.norm, states, to_itself)
            states = self.sublayer(f"{name}.around_memory", options.norm, states, to_memory)
            states = self.feed(name, options.norm, states)
        if options.norm == "pre":
            states = [self.norm("decoder.last_norm", x) for x in states]
        matrix = p.get("decoder.softmax.weight", p["decoder.embedding.weight"])
        total = 0.0
        for x, word in zip(states, target, strict=True):
            total -= math.log(softmax(list(matrix @ x + p["decoder.softmax.bias"]))[word])
        return total, attention
