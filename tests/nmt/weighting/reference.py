"""The attention weights of one sentence and step, as the papers' equations say, in plain Python and float64."""

import math

import numpy as np

from tests.nmt.formulas import sigmoid, softmax


def weigh(
    options, part, e: list[float], query: np.ndarray, matrix: np.ndarray, centre: float, training: bool
) -> list[float]:
    """Attention weights of one step (SDAtt eq. 2–11; Shu and Nakayama 2017); `part` are the weighting's parameters."""
    J = len(e)
    if options.type == "global":
        return softmax(e)
    if options.type == "local":
        position = position_of(part, query, J)
        sigma = options.window / 2
        if options.normalized == "window":
            inside = [j for j in range(J) if abs(j - math.floor(position)) <= options.window]
            alpha = softmax_over(inside, e)
        else:
            alpha = [a if abs(j - position) <= options.window else 0.0 for j, a in enumerate(softmax(e))]
        return [a * math.exp(-((j - position) ** 2) / (2 * sigma**2)) for j, a in enumerate(alpha)]
    if options.type == "flexible":
        g = math.exp(part["vector"] @ np.tanh(part["query.weight"] @ query + part["query.bias"]))
        penalty = [g * (j - centre) ** 2 / (2 * options.sigma**2) for j in range(J)]
        seen = list(range(J))
        if options.threshold is not None and not training:
            seen = [j for j in seen if penalty[j] <= options.threshold or penalty[j] == min(penalty)]
        return softmax_over(seen, [a - b for a, b in zip(e, penalty, strict=True)])
    sigma = options.window / 2
    if options.position == "attention":
        alpha = softmax(e)
        m = [sum(alpha[k] * matrix[k][j] for k in range(J)) for j in range(J)]
        near = [j for j in range(J) if m[j] <= options.window] or [j for j in range(J) if m[j] == min(m)]
    else:
        position = position_of(part, query, J)
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
        return softmax_over(near, [a - float(b) ** 2 / (2 * sigma**2) for a, b in zip(e, m, strict=True)])
    if options.gaussian == "score":
        return softmax_over(near, [a * b for a, b in zip(e, gaussian, strict=True)])
    return [a * b for a, b in zip(softmax_over(near, e), gaussian, strict=True)]


def position_of(part, query: np.ndarray, J: int) -> float:
    weights = part["position.vector"] @ np.tanh(part["position.query.weight"] @ query)
    return J * float(sigmoid(weights))


def softmax_over(places: list[int], values: list[float]) -> list[float]:
    inside = softmax([values[j] for j in places])
    weights = [0.0] * len(values)
    for j, weight in zip(places, inside, strict=True):
        weights[j] = weight
    return weights
