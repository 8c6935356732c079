"""Measure what each hand-written derivative, kernel and layout gains over plain torch.

    python -m benchmarks.gains
    python -m benchmarks.gains --embedding 256 --hidden 512 --sentences 64 --words 13 --vocabulary 7500

Both sides alternate in updating the same network with the same batch, or in translating it; in half precision, each
update has another batch, the same one on both sides. A ratio compares their CPU seconds within a round, which other
work on the machine hardly changes. Results are compared first.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.random_corpus import draw_batch
from benchmarks.rounds import summarize_ratios
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.decoder import recurrent
from pipeline_py.nmt.fast import elementwise, matrix_products, sentence_products, time_loop
from pipeline_py.nmt.loss import blackout, softmax
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.recurrence import gru, lstm, original_gru
from pipeline_py.nmt.score import mlp
from pipeline_py.nmt.search import beam_search
from pipeline_py.nmt.search.row_sentences import RowSentences
from pipeline_py.nmt.training.update import MicroBatch, Updater
from pipeline_py.nmt.trees import tree_gru, tree_lstm
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule
from pipeline_py.run.command_line import run_command

PatchFactory = Callable[[], AbstractContextManager[Any]]

LSTM_SYSTEM = {"encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm"}
TREE_SYSTEM = {"encoders": [{"type": "tree_gru", "leaves": "bidirectional", "top_down": True}], "decoder": "gru"}
SYSTEM_CONFIGS: dict[str, dict[str, Any]] = {
    "GlobalAtt": {},
    "Seq2Seq": LSTM_SYSTEM,
    "Tree2Seq": {**LSTM_SYSTEM, "encoders": ["tree_lstm"]},
    "Seq2Seq, BlackOut": {**LSTM_SYSTEM, "loss": {"type": "blackout", "samples": 500}},
    "Hierarchical": {**TREE_SYSTEM, "scores": [{"type": "mlp", "width": 1}]},
}


class Optimization(NamedTuple):
    """Something to do without.

    Attributes:
        description: of which code.
        system_name: where.
        disable: does without it, in a context.
        disable_on_both_sides: what both sides do without.
        is_search: translate instead of making updates.
        is_half_precision: make updates in half precision, with another number of words each time.
    """

    description: str
    system_name: str
    disable: PatchFactory
    disable_on_both_sides: PatchFactory = nullcontext
    is_search: bool = False
    is_half_precision: bool = False


def replace_autograd_function(module: Any, attribute: str, function: Callable[..., Any]) -> PatchFactory:
    """Put a function that autograd goes through where an autograd function is."""
    plain = type("Plain", (), {"apply": staticmethod(function)})
    return lambda: patch.object(module, attribute, plain)


def disable_kernels(*kernel_names: str) -> AbstractContextManager[Any]:
    """Do as where nothing compiles."""
    stack = ExitStack()
    for name in kernel_names:
        stack.enter_context(patch.object(elementwise, name, lambda *_: False))
    return stack


disable_gru_kernels = partial(disable_kernels, "can_compute_gru", "is_supported_gru_product")
disable_score_kernel = partial(disable_kernels, "can_compute_scores")
disable_all_kernels = partial(disable_kernels, "can_compute_gru", "is_supported_gru_product", "can_compute_scores")


@contextmanager
def disable_traces(*part_types: type) -> Iterator[None]:
    """Let autograd sum gradients step by step of some parts within loops, or of all."""
    original = time_loop.open_time_loop

    def time_loop_without_traces(state: Tensor, traces: Sequence[Any]) -> AbstractContextManager[Tensor]:
        return original(
            state, [trace for trace in traces if part_types and not isinstance(trace.func.__self__, part_types)]
        )

    with ExitStack() as stack:
        for module in (recurrent, gru, lstm, original_gru):
            stack.enter_context(patch.object(module, "open_time_loop", time_loop_without_traces))
        yield


def compute_gru_ascent(states: Tensor, weight: Tensor, bias: Tensor, schedule: TreeSchedule) -> Tensor:
    size, level_states = states.shape[1], [states]
    for level in schedule.step_slices:
        pair = torch.cat(level_states).index_select(0, schedule.child_rows[level].flatten()).view(-1, 2 * size)
        gates = torch.addmm(bias[: 3 * size], pair, weight[: 3 * size].T).sigmoid()
        candidate = torch.addmm(bias[3 * size :], gates[:, size:] * pair, weight[3 * size :].T).tanh()
        level_states.append(torch.lerp(pair[:, :size] + pair[:, size:], candidate, gates[:, :size]))
    return torch.cat(level_states[1:])


def compute_gru_descent(
    states: Tensor,
    input_weight: Tensor,
    input_bias: Tensor,
    gate_weight: Tensor,
    candidate_weight: Tensor,
    schedule: TreeSchedule,
) -> Tensor:
    words, size = len(states) - len(schedule.child_rows), states.shape[1]
    sides = [
        (functional.linear(states.index_select(0, children), weight, bias), *recurrent_weights)
        for children, weight, bias, *recurrent_weights in zip(
            schedule.child_rows.T, input_weight, input_bias, gate_weight.chunk(2), candidate_weight, strict=True
        )
    ]
    for level in reversed(schedule.step_slices):
        parents, child_states = states[words:][level], []
        for products, gates_recurrent, candidate_recurrent in sides:
            gates = (products[level, : 2 * size] + parents @ gates_recurrent.T).sigmoid()
            update, reset = gates.chunk(2, dim=1)
            candidate = (products[level, 2 * size :] + (reset * parents) @ candidate_recurrent.T).tanh()
            child_states.append(torch.lerp(parents, candidate, update))
        states = states.index_copy(0, schedule.child_rows[level].T.flatten(), torch.cat(child_states))
    return states


def compute_lstm_ascent(
    states: Tensor, cells: Tensor, weight: Tensor, bias: Tensor, _: Tensor | None, schedule: TreeSchedule
) -> Tensor:
    size, levels = states.shape[1], [torch.stack([states, cells])]
    for level in schedule.step_slices:
        children = torch.cat(levels, dim=1).index_select(1, schedule.child_rows[level].flatten())
        child_states, child_cells = children.view(2, -1, 2 * size)
        gates = functional.linear(child_states, weight, bias)
        write, left, right, read = gates[:, : 4 * size].sigmoid().chunk(4, dim=1)
        cell = write * gates[:, 4 * size :].tanh() + left * child_cells[:, :size] + right * child_cells[:, size:]
        levels.append(torch.stack([read * cell.tanh(), cell]))
    return torch.cat(levels[1:], dim=1)


def compute_softmax_losses(readout: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    logits = functional.linear(readout, weight, bias)
    return functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)


def compute_sampled_outputs(readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
    rows = functional.embedding(samples, weight)
    return torch.baddbmm(bias.unsqueeze(1), readout, rows.transpose(1, 2))


def multiply_row_matrices(values: Tensor, matrices: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
    """Multiply rows (R, X) with the matrices of their sentences (B, X, Y): (R, Y)."""
    if row_sentences is not None:
        matrices = matrices.index_select(0, row_sentences.sentence_indices)
    return torch.bmm(values.unsqueeze(1), matrices).squeeze(1)


def disable_weight_packing() -> AbstractContextManager[Any]:
    """Let a search multiply with weights as they are."""
    return patch.object(beam_search, "pack_weights", lambda _: nullcontext())


def disable_onednn() -> AbstractContextManager[Any]:
    """Let torch multiply float32 by the library that it does so with."""
    return patch.object(matrix_products, "_is_onednn_faster", lambda: False)


def disable_row_padding() -> AbstractContextManager[Any]:
    """Multiply as many rows as there are words."""
    return patch.object(matrix_products, "ROW_BLOCK_SIZE", 1)


def disable_row_grouping() -> AbstractContextManager[Any]:
    """Copy the matrix of a sentence for each of its rows."""
    return patch.object(sentence_products, "multiply_sentence_matrices", multiply_row_matrices)


OPTIMIZATIONS = [
    Optimization("products of float32 by oneDNN (fast/matrix_products.py)", "GlobalAtt", disable_onednn),
    Optimization(
        "few numbers of rows in bfloat16 (fast/matrix_products.py)",
        "GlobalAtt",
        disable_row_padding,
        is_half_precision=True,
    ),
    Optimization("gates of a GRU in C (elementwise.c)", "GlobalAtt", disable_gru_kernels),
    Optimization("gates of a GRU in C, in a search", "GlobalAtt", disable_gru_kernels, is_search=True),
    Optimization("scores in C (elementwise.c)", "GlobalAtt", disable_score_kernel),
    Optimization("scores in C, in a search", "GlobalAtt", disable_score_kernel, is_search=True),
    Optimization(
        "scores again backwards, without C (fast/perceptron_scores.py)",
        "GlobalAtt",
        lambda: disable_traces(mlp.PerceptronScore),
        disable_score_kernel,
    ),
    Optimization("gradients after the loop (fast/time_loop.py)", "GlobalAtt", disable_traces, disable_all_kernels),
    Optimization("gradients after the loop (fast/time_loop.py)", "Seq2Seq", disable_traces),
    Optimization("gradients after the loop (fast/time_loop.py)", "Hierarchical", disable_traces),
    Optimization(
        "loss in the memory of the logits (loss/softmax.py)",
        "GlobalAtt",
        replace_autograd_function(softmax, "_SoftmaxLossFunction", compute_softmax_losses),
    ),
    Optimization(
        "outputs of few rows (loss/blackout.py)",
        "Seq2Seq, BlackOut",
        replace_autograd_function(blackout, "_SampledLogitsFunction", compute_sampled_outputs),
    ),
    Optimization(
        "bottom-up trees (trees/tree_gru.py)",
        "Hierarchical",
        replace_autograd_function(tree_gru, "_BottomUpFunction", compute_gru_ascent),
    ),
    Optimization(
        "top-down trees (trees/tree_gru.py)",
        "Hierarchical",
        replace_autograd_function(tree_gru, "_TopDownFunction", compute_gru_descent),
    ),
    Optimization(
        "bottom-up trees (trees/tree_lstm.py)",
        "Tree2Seq",
        replace_autograd_function(tree_lstm, "_ComposeFunction", compute_lstm_ascent),
    ),
    Optimization("packed weights in a search (fast/linear.py)", "GlobalAtt", disable_weight_packing, is_search=True),
    Optimization(
        "grouped rows of a sentence in a search (search/row_sentences.py)",
        "GlobalAtt",
        disable_row_grouping,
        is_search=True,
    ),
]
"""All that is measured."""


def measure_gains(
    *,
    embedding: int = 128,
    hidden: int = 128,
    sentences: int = 32,
    words: int = 10,
    vocabulary: int = 3800,
    beam: int = 5,
    rounds: int = 9,
    threads: int = 1,
    only: str = "",
) -> None:
    """Print how much less CPU time an update or a search takes with each optimization.

    Args:
        embedding: Size of the embeddings; by default that of the embedded experiment.
        hidden: Size of the states.
        sentences: Sentences of a batch.
        words: Mean words of a sentence.
        vocabulary: Vocabulary size of each side.
        beam: Beam size.
        rounds: Number of timed runs of both sides, after one that does not count.
        threads: CPU threads.
        only: Measure only what has this in its name.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    sizes = {"embedding": embedding, "hidden": hidden, "dropout": 0, "initialization": "lecun"}
    print(f"torch {torch.__version__}, {threads} thread(s), embedding {embedding}, hidden {hidden},")
    print(f"{sentences} sentences of {words} words; what is gained, medians of {rounds} rounds (lowest–highest)\n")
    for gain in OPTIMIZATIONS:
        if only not in f"{gain.description} {gain.system_name}":
            continue
        times: tuple[list[float], list[float]] = ([], [])
        with gain.disable_on_both_sides():
            sides = [
                build_turn(gain, draw_batches(gain, sentences, words, vocabulary), sizes, vocabulary, beam)
                for _ in range(2)
            ]
            results = []
            for number in range(rounds + 1):
                for take, disable, seconds in zip(sides, (nullcontext, gain.disable), times, strict=True):
                    with disable():
                        began = time.process_time()
                        result = take()
                        if number:
                            seconds.append(time.process_time() - began)
                        else:
                            results.append(result)
        torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3)
        saved = summarize_ratios(times[0], times[1])
        saving = f"{1 - saved.median:.1%} ({1 - saved.highest:.1%}–{1 - saved.lowest:.1%})"
        print(f"{gain.description:<66}{gain.system_name:<19}{saving}")


def draw_batches(
    optimization: Optimization, sentence_count: int, mean_words: int, vocabulary_size: int
) -> Iterator[Batch]:
    """Draw the batches of a side's turns."""
    random = np.random.default_rng(1)
    batches = (draw_batch(random, sentence_count, mean_words, vocabulary_size) for _ in count())
    return batches if optimization.is_half_precision else repeat(next(batches))


def build_turn(
    optimization: Optimization,
    batches: Iterator[Batch],
    model_options: dict[str, Any],
    vocabulary_size: int,
    beam_size: int,
) -> Callable[[], Tensor]:
    """Build the network, and what one turn with it does: returns the loss, or the scores of the translations."""
    torch.manual_seed(1)
    system = CompositionConfig.model_validate({**SYSTEM_CONFIGS[optimization.system_name], "model": model_options})
    model = TranslationModel(system, {"source": vocabulary_size, "target": vocabulary_size})
    model.set_word_frequencies(torch.arange(vocabulary_size, 0, -1))
    if optimization.is_search:
        batch = next(batches)
        limits = torch.full((len(batch.source),), 2 * batch.source.shape[1])

        def translate() -> Tensor:
            results = beam_search.beam_search([model.eval()], [batch], beam_size=beam_size, max_lengths=limits)
            return torch.tensor([hypotheses[0].log_probability for hypotheses in results])

        return translate
    training = TrainingConfig(precision="bfloat16" if optimization.is_half_precision else "float32")
    update = Updater(
        model.train(), model.compute_loss, torch.optim.Adam(model.parameters()), training, torch.device("cpu")
    )

    def train() -> Tensor:
        torch.manual_seed(2)
        update.compute_gradients([MicroBatch(next(batches))])
        loss = update.apply_gradients()
        return torch.tensor([loss.loss, loss.gradient_norm])

    return train


if __name__ == "__main__":
    run_command(measure_gains)
