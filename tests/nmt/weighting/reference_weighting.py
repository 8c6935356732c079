"""The attention weights of one sentence and step, as the papers' equations say, in plain Python and float64."""

import math

import numpy as np

from tests.nmt.formulas import sigmoid, softmax


def compute_weights(
    options, parameters, scores: list[float], query: np.ndarray, distances: np.ndarray, centre: float, is_training: bool
) -> list[float]:
    """Compute the attention weights of one step (SDAtt eq. 2–11; Shu and Nakayama 2017)."""
    J = len(scores)
    if options.type == "global":
        return softmax(scores)
    if options.type == "local":
        position = predict_position(parameters, query, J)
        sigma = options.window / 2
        if options.normalized == "window":
            inside = [j for j in range(J) if abs(j - math.floor(position)) <= options.window]
            alpha = softmax_at_positions(inside, scores)
        else:
            alpha = [a if abs(j - position) <= options.window else 0.0 for j, a in enumerate(softmax(scores))]
        return [a * math.exp(-((j - position) ** 2) / (2 * sigma**2)) for j, a in enumerate(alpha)]
    if options.type == "flexible":
        g = math.exp(parameters["vector"] @ np.tanh(parameters["query.weight"] @ query + parameters["query.bias"]))
        penalty = [g * (j - centre) ** 2 / (2 * options.sigma**2) for j in range(J)]
        allowed = list(range(J))
        if options.threshold is not None and not is_training:
            allowed = [j for j in allowed if penalty[j] <= options.threshold or penalty[j] == min(penalty)]
        return softmax_at_positions(allowed, [a - b for a, b in zip(scores, penalty, strict=True)])
    sigma = options.window / 2
    if options.position == "attention":
        alpha = softmax(scores)
        m = [sum(alpha[k] * distances[k][j] for k in range(J)) for j in range(J)]
        near = [j for j in range(J) if m[j] <= options.window] or [j for j in range(J) if m[j] == min(m)]
    else:
        position = predict_position(parameters, query, J)
        row = distances[min(math.floor(position + 0.5), J - 1)]
        near = [j for j in range(J) if row[j] <= options.window]
        if options.position == "round" or J == 1:
            m = list(row)
        elif position > J - 1:  # the line through the last two rows goes on
            slopes = [float(distances[J - 1][j]) - float(distances[J - 2][j]) for j in range(J)]
            m = [distances[J - 1][j] + (position - (J - 1)) * slopes[j] for j in range(J)]
        else:
            low = math.floor(position)
            f = position - low
            m = [(1 - f) * distances[low][j] + f * distances[min(low + 1, J - 1)][j] for j in range(J)]
    gaussian = [math.exp(-(float(m[j]) ** 2) / (2 * sigma**2)) for j in range(J)]
    if options.gaussian == "log":
        return softmax_at_positions(near, [a - float(b) ** 2 / (2 * sigma**2) for a, b in zip(scores, m, strict=True)])
    if options.gaussian == "score":
        return softmax_at_positions(near, [a * b for a, b in zip(scores, gaussian, strict=True)])
    return [a * b for a, b in zip(softmax_at_positions(near, scores), gaussian, strict=True)]


def predict_position(parameters, query: np.ndarray, source_length: int) -> float:
    weights = parameters["position.vector"] @ np.tanh(parameters["position.query.weight"] @ query)
    return source_length * float(sigmoid(weights))


def softmax_at_positions(positions: list[int], values: list[float]) -> list[float]:
    inside = softmax([values[j] for j in positions])
    weights = [0.0] * len(values)
    for j, weight in zip(positions, inside, strict=True):
        weights[j] = weight
    return weights
