"""Plain formulas of the papers, for one sentence and one position at a time, in float64.

References without gradients compute with floats and numpy arrays, those with gradients with tensors.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from pipeline_py.nmt.recurrence.lstm import LSTM
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU

NO_DROPOUT = torch.ones((), dtype=torch.float64)
"""The factor that dropout gives where nothing is dropped."""


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(values: Sequence[float]) -> list[float]:
    largest = max(values)
    powers = [math.exp(value - largest) for value in values]
    return [power / sum(powers) for power in powers]


def softmax_tensors(scores: Sequence[Tensor]) -> list[Tensor]:
    """Return the softmax of scalars."""
    total = sum(torch.exp(score) for score in scores)
    return [torch.exp(score) / total for score in scores]


def compute_log_loss(scores: Tensor, index: int) -> Tensor:
    """Return −log of one probability of the softmax of scores (N,)."""
    return torch.log(sum(torch.exp(score) for score in scores)) - scores[index]


def compute_weighted_sum(weights: Sequence[Tensor], states: Sequence[Tensor], size: int) -> Tensor:
    """Return Σ weight · state; zeros if there are no states."""
    return sum((w * h for w, h in zip(weights, states, strict=True)), torch.zeros(size, dtype=torch.float64))


def compute_mlp_score(parameters: Mapping[str, Tensor], query: Tensor, annotation: Tensor) -> Tensor:
    key = parameters["key.weight"] @ annotation + parameters["key.bias"]
    return parameters["vector"] @ torch.tanh(parameters["query.weight"] @ query + key) + parameters["bias"]


def step_lstm(
    lstm: LSTM, x: Tensor, h: Tensor, c: Tensor, mask_x: Tensor = NO_DROPOUT, mask_h: Tensor = NO_DROPOUT
) -> tuple[Tensor, Tensor]:
    """Return the next state and cell, one gate at a time, each with matrices of its own.

    Args:
        lstm: the parameters.
        x: what is read.
        h: the last state.
        c: the last cell.
        mask_x: the factors that dropout gives x.
        mask_h: the factors that dropout gives h within U.
    """
    W_i, W_f, W_o, W_c = lstm.input.weight.chunk(4)
    U_i, U_f, U_o, U_c = lstm.recurrent.weight.chunk(4)
    b_i, b_f, b_o, b_c = lstm.input.bias.chunk(4)  # type: ignore[union-attr]
    x, h = mask_x * x, mask_h * h
    i = torch.sigmoid(W_i @ x + U_i @ h + b_i)
    f = torch.sigmoid(W_f @ x + U_f @ h + b_f)
    o = torch.sigmoid(W_o @ x + U_o @ h + b_o)
    c = i * torch.tanh(W_c @ x + U_c @ h + b_c) + f * c
    return o * torch.tanh(c), c


def run_lstm(
    lstm: LSTM, inputs: Sequence[Tensor], mask_x: Tensor = NO_DROPOUT, mask_h: Tensor = NO_DROPOUT
) -> list[tuple[Tensor, Tensor]]:
    """Return the state and cell of each step, from zeros on."""
    h = c = torch.zeros(lstm.recurrent.weight.shape[1], dtype=torch.float64)
    steps = []
    for x in inputs:
        h, c = step_lstm(lstm, x, h, c, mask_x, mask_h)
        steps.append((h, c))
    return steps


def step_gru(
    gru: OriginalGRU, x: Tensor, h: Tensor, mask_x: Tensor = NO_DROPOUT, mask_h: Tensor = NO_DROPOUT
) -> Tensor:
    """Return the next state by hierarchical eq. 3; dropout as in `step_lstm`."""
    W_z, W_r, W_n = gru.input.weight.chunk(3)
    b_z, b_r, b_n = gru.input.bias.chunk(3)  # type: ignore[union-attr]
    U_z, U_r = gru.gates_recurrent.weight.chunk(2)
    x, dropped_h = mask_x * x, mask_h * h
    z = torch.sigmoid(W_z @ x + U_z @ dropped_h + b_z)
    r = torch.sigmoid(W_r @ x + U_r @ dropped_h + b_r)
    candidate = torch.tanh(W_n @ x + gru.candidate_recurrent.weight @ (r * dropped_h) + b_n)
    return (1 - z) * h + z * candidate


def run_gru(
    gru: OriginalGRU, inputs: Sequence[Tensor], mask_x: Tensor = NO_DROPOUT, mask_h: Tensor = NO_DROPOUT
) -> list[Tensor]:
    """Return the state of each step, from zeros on."""
    h = torch.zeros(gru.candidate_recurrent.weight.shape[0], dtype=torch.float64)
    states = []
    for x in inputs:
        h = step_gru(gru, x, h, mask_x, mask_h)
        states.append(h)
    return states


def compose_lstm_node(
    weight: Tensor, bias: Tensor, left: Sequence[Tensor], right: Sequence[Tensor], mask_h: Tensor = NO_DROPOUT
) -> list[Tensor]:
    """Return the state and cell of a node by tree2seq eq. 12–18.

    Args:
        weight: U_l and U_r of all gates side by side (5·H, 2·H).
        bias: of all gates (5·H,).
        left: state and cell of the left child.
        right: those of the right child.
        mask_h: the factors that dropout gives both states (2·H,).
    """
    h_l, h_r = (mask_h * torch.cat([left[0], right[0]])).chunk(2)
    U_l, U_r = weight.chunk(2, dim=1)
    gates = [
        left_matrix @ h_l + right_matrix @ h_r + gate_bias
        for left_matrix, right_matrix, gate_bias in zip(U_l.chunk(5), U_r.chunk(5), bias.chunk(5), strict=True)
    ]
    i, f_l, f_r, o = map(torch.sigmoid, gates[:4])
    c = i * torch.tanh(gates[4]) + f_l * left[1] + f_r * right[1]
    return [o * torch.tanh(c), c]


def compose_gru_node(tree_gru: torch.nn.Module, left: Tensor, right: Tensor) -> Tensor:
    """Return the state of a node by the five equations of hierarchical section 2.1."""
    L, R = tree_gru.left_recurrent.weight.chunk(4), tree_gru.right_recurrent.weight.chunk(4)
    b = tree_gru.left_recurrent.bias.chunk(4)
    z, r_left, r_right = (torch.sigmoid(L[k] @ left + R[k] @ right + b[k]) for k in range(3))
    candidate = torch.tanh(L[3] @ (r_left * left) + R[3] @ (r_right * right) + b[3])
    return z * candidate + (1 - z) * (left + right)
