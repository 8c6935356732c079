"""The score of a one-layer perceptron (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.config.systems.decoders import MLPScore
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.linear import Linear, LoopLinear
from pipeline_py.nmt.fast.products import groups
from pipeline_py.nmt.initialization import Rule
from pipeline_py.nmt.recurrence.time_loop import LoopPart, Trace
from pipeline_py.nmt.search.owners import Owners


class PerceptronScore(LoopPart):
    """e_ij = vᵀ tanh(W s' + U h_j + b) + b_e, of width 2·hidden, or another."""

    def __init__(self, options: MLPScore, query_size: int, memory_size: int) -> None:
        super().__init__()
        width = round(options.width * query_size)
        self.query = LoopLinear(query_size, width, bias=False)
        self.key = Linear(memory_size, width)
        self.vector = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.zeros(()))

    def initialize(self, rule: Rule) -> None:
        """Begin as the rule says."""
        rule.vector(self.vector)
        rule.bias(self.bias)

    def keys(self, states: Tensor, there: Tensor | None = None) -> Tensor:
        """Compute U h_j + b, which no step changes.

        Args:
            states: (B, N, M).
            there: b · N + j of those that matter (n,); None: all.

        Returns:
            (B, N, A), at least float32, zero for those that do not matter.
        """
        if there is None:
            return at_least_single(self.key(states))
        keys = at_least_single(self.key(states.flatten(0, 1).index_select(0, there)))
        return (
            keys.new_zeros(states.shape[:2].numel(), keys.shape[1])
            .index_copy(0, there, keys)
            .view(*states.shape[:2], -1)
        )

    def forward(self, query: Tensor, keys: Tensor, owners: Owners | None = None) -> Tensor:
        """Score all annotations against one query.

        Args:
            query: (R, Q).
            keys: (B, N, A).
            owners: of the rows; None: rows are sentences.

        Returns:
            (R, N), at least float32; behind the last column that a row's sentence reaches anything finite.
        """
        query = at_least_single(self.query(query))
        if self.trace is not None:
            scores: Tensor = _Scores.apply(query, self.trace)
            return scores
        if not torch.is_grad_enabled() and elementwise.compute_scores(query, keys, self.vector):
            owner, reach = (None, None) if owners is None else (owners.sentence, owners.reach)
            return elementwise.scores(query, keys, self.vector, self.bias, _reach(reach, keys), owner)
        with torch.autocast(query.device.type, enabled=False):
            scores = query.new_zeros(len(query), keys.shape[1])
            for group, hidden in _hidden(query, keys, owners):
                scores[group] = hidden @ self.vector
            return scores + self.bias

    def traced(self, keys: Tensor, reach: Sequence[int] | None = None) -> Trace:
        """Begin a trace of a loop in which all is scored with `keys` (B, N, A).

        Each sentence needs the scores of its first columns, in number `reach` (B,); those behind them are 0.
        """
        return _ScoreTrace(self, keys, reach)


class _ScoreTrace(Trace):
    """Keys, v and b_e, and sums of the gradients so far.

    With t = tanh(…), the hidden units, and g the gradient of a score, that of a key is v ⊙ Σ g (1 − t²) over the
    steps: Σ g t² is summed up step by step, and the rest is done after the loop.
    """

    def __init__(self, part: PerceptronScore, keys: Tensor, reach: Sequence[int] | None) -> None:
        super().__init__(part, keys, part.vector, part.bias)
        columns, numbers = keys.shape[1], _reach(reach, keys)
        self.reach = numbers.tolist()
        self.reached: Tensor | None = None  # (B, N), where not all is
        if min(self.reach) < columns:
            reached = torch.arange(columns) < numbers.unsqueeze(1)
            self.reached = reached.to(keys.device, non_blocking=True)
        self.keys, self.vector, self.bias = keys.detach().contiguous(), part.vector.detach(), part.bias.detach()
        self.compiled = numbers if elementwise.compute_scores(self.keys, self.vector) else None
        self.squares: Tensor | None = None
        self.grad_vector = torch.zeros_like(self.keys[:, 0])
        self.grad_scores = torch.zeros_like(self.keys[:, :, 0])

    def gradients(self) -> Sequence[Tensor | None]:
        if self.squares is None:
            return None, None, None
        grad_keys = self.squares.neg_().add_(self.grad_scores.unsqueeze(2)).mul_(self.vector)
        found = grad_keys, self.grad_vector.sum(dim=0), self.grad_scores.sum()
        self.squares = None
        self.grad_vector, self.grad_scores = torch.zeros_like(self.grad_vector), torch.zeros_like(self.grad_scores)
        return found


class _Scores(Function):
    """vᵀ tanh(query + key) + b_e; going backwards, leaves the gradients of keys, v and b_e for later.

    The hidden units are computed again on the way back: they are the most that a step makes, and to write them to
    memory and read them again takes longer.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, trace: _ScoreTrace) -> Tensor:
        ctx.trace = trace
        ctx.save_for_backward(query)
        if trace.compiled is not None:
            return elementwise.scores(query, trace.keys, trace.vector, trace.bias, trace.compiled)
        scores = trace.keys.new_zeros(len(query), trace.keys.shape[1])
        with torch.autocast(query.device.type, enabled=False):
            for group, hidden in _traced_hidden(query, trace):
                torch.add(hidden @ trace.vector, trace.bias, out=scores[group])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (query,), trace = ctx.saved_tensors, ctx.trace
        if trace.squares is None:
            trace.squares = torch.zeros_like(trace.keys)
        if trace.reached is not None:
            gradient = gradient * trace.reached[: len(query)]
        trace.grad_scores[: len(query)].add_(gradient)
        if trace.compiled is not None:
            given = gradient, query, trace.keys, trace.vector, trace.compiled, trace.squares, trace.grad_vector
            return elementwise.scores_back(*given), None
        grad_query = torch.empty_like(query).unsqueeze(1)
        for group, hidden in _traced_hidden(query, trace):
            rows, grad_group = group[0], gradient[group].unsqueeze(1)
            trace.grad_vector[rows] += torch.bmm(grad_group, hidden).squeeze(1)
            hidden.mul_(hidden)
            torch.bmm(grad_group, hidden, out=grad_query[rows])
            trace.squares[group].addcmul_(hidden, grad_group.transpose(1, 2))
        return (gradient.sum(dim=1, keepdim=True) - grad_query.squeeze(1)).mul_(trace.vector), None


def _traced_hidden(query: Tensor, trace: _ScoreTrace) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Compute the hidden units of a step: groups of rows, with their columns, and their units (G, C, A)."""
    for rows in groups(len(query), trace.keys[0].numel(), trace.keys.device):
        part = rows, slice(0, max(trace.reach[rows]))
        yield part, (trace.keys[part] + query[rows].unsqueeze(1)).tanh_()


def _reach(reach: Sequence[int] | None, keys: Tensor) -> Tensor:
    """How many columns each sentence of keys (B, N, A) has (B,); without a reach all."""
    return torch.tensor(reach or [keys.shape[1]] * len(keys))


def _hidden(query: Tensor, keys: Tensor, owners: Owners | None) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Compute tanh(query + key), (R, A), (B, N, A): groups of rows, with their columns, and their units (G, C, A)."""
    width, device = keys[0].numel(), keys.device
    if owners is not None and owners.runs is not None:
        for run, sentence in owners.runs:
            columns = slice(0, keys.shape[1] if owners.reach is None else owners.reach[sentence])
            for rows in groups(run.stop - run.start, width, device):
                part = slice(run.start + rows.start, run.start + rows.stop)
                yield (part, columns), (keys[sentence, columns] + query[part].unsqueeze(1)).tanh_()
    else:
        for rows in groups(len(query), width, device):
            own = keys[rows] if owners is None else keys.index_select(0, owners.sentence[rows])
            yield (rows, slice(0, keys.shape[1])), (own + query[rows].unsqueeze(1)).tanh_()
