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

from benchmarks.random_text import draw_batch
from benchmarks.rounds import ratio
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.decoder import recurrent
from pipeline_py.nmt.fast import elementwise, products, time_loop
from pipeline_py.nmt.loss import blackout, softmax
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.recurrence import gru, lstm, original_gru
from pipeline_py.nmt.score import mlp
from pipeline_py.nmt.search import beam_search
from pipeline_py.nmt.search.owners import Owners
from pipeline_py.nmt.training.update import Part, Update
from pipeline_py.nmt.trees import tree_gru
from pipeline_py.run.command import run_command

Without = Callable[[], AbstractContextManager[Any]]

LSTM = {"encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm"}
TREES = {"encoders": [{"type": "tree_gru", "leaves": "bidirectional", "top_down": True}], "decoder": "gru"}
SYSTEMS: dict[str, dict[str, Any]] = {
    "GlobalAtt": {},
    "Seq2Seq": LSTM,
    "Seq2Seq, BlackOut": {**LSTM, "loss": {"type": "blackout", "samples": 500}},
    "Hierarchical": {**TREES, "scores": [{"type": "mlp", "width": 1}]},
}


class Gain(NamedTuple):
    """Something to do without.

    Attributes:
        what: of which code.
        system: where.
        without: does without it, in a context.
        beside: what both sides do without.
        searched: translate instead of making updates.
        half: make updates in half precision, with another number of words each time.
    """

    what: str
    system: str
    without: Without
    beside: Without = nullcontext
    searched: bool = False
    half: bool = False


def replaced(module: Any, name: str, function: Callable[..., Any]) -> Without:
    """Put a function that autograd goes through where an autograd function is."""
    plain = type("Plain", (), {"apply": staticmethod(function)})
    return lambda: patch.object(module, name, plain)


def no_kernel(*names: str) -> AbstractContextManager[Any]:
    """Do as where nothing compiles."""
    stack = ExitStack()
    for name in names:
        stack.enter_context(patch.object(elementwise, name, lambda *_: False))
    return stack


no_gru = partial(no_kernel, "compute_gru", "read_by_gru")
no_score = partial(no_kernel, "compute_scores")
nothing_in_c = partial(no_kernel, "compute_gru", "read_by_gru", "compute_scores")


@contextmanager
def untraced(*parts: type) -> Iterator[None]:
    """Let autograd sum gradients step by step of some parts within loops, or of all."""
    original = time_loop.time_loop

    def loop(state: Tensor, traces: Sequence[Any]) -> AbstractContextManager[Tensor]:
        return original(state, [trace for trace in traces if parts and not isinstance(trace.func.__self__, parts)])

    with ExitStack() as stack:
        for module in (recurrent, gru, lstm, original_gru):
            stack.enter_context(patch.object(module, "time_loop", loop))
        yield


def ascent_gru(states: Tensor, weight: Tensor, bias: Tensor, children: Tensor, levels: Sequence[slice]) -> Tensor:
    size, done = states.shape[1], [states]
    for level in levels:
        pair = torch.cat(done).index_select(0, children[level].flatten()).view(-1, 2 * size)
        gates = torch.addmm(bias[: 3 * size], pair, weight[: 3 * size].T).sigmoid()
        candidate = torch.addmm(bias[3 * size :], gates[:, size:] * pair, weight[3 * size :].T).tanh()
        done.append(torch.lerp(pair[:, :size] + pair[:, size:], candidate, gates[:, :size]))
    return torch.cat(done[1:])


def softmax_losses(readout: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    logits = functional.linear(readout, weight, bias)
    return functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)


def sampled_outputs(readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
    rows = functional.embedding(samples, weight)
    return torch.baddbmm(bias.unsqueeze(1), readout, rows.transpose(1, 2))


def not_laid_out() -> AbstractContextManager[Any]:
    """Let a search multiply with weights as they are."""
    return patch.object(beam_search, "laid_out", lambda _: nullcontext())


def by_mkl() -> AbstractContextManager[Any]:
    """Let torch multiply float32 by the library that it does so with."""
    return patch.object(products, "_is_faster", lambda: False)


def not_filled_up() -> AbstractContextManager[Any]:
    """Multiply as many rows as there are words."""
    return patch.object(products, "BLOCK", 1)


def not_together() -> AbstractContextManager[Any]:
    """Say nothing of where rows of a sentence stand, as on a GPU."""
    return patch.object(Owners, "of", lambda sentence, _, reach=None: Owners(sentence, reach))


GAINS = [
    Gain("products of float32 by oneDNN (fast/products.py)", "GlobalAtt", by_mkl),
    Gain("few numbers of rows in bfloat16 (fast/products.py)", "GlobalAtt", not_filled_up, half=True),
    Gain("gates of a GRU in C (elementwise.c)", "GlobalAtt", no_gru),
    Gain("gates of a GRU in C, in a search", "GlobalAtt", no_gru, searched=True),
    Gain("scores in C (elementwise.c)", "GlobalAtt", no_score),
    Gain("scores in C, in a search", "GlobalAtt", no_score, searched=True),
    Gain(
        "scores again backwards, without C (fast/perceptron_scores.py)",
        "GlobalAtt",
        lambda: untraced(mlp.PerceptronScore),
        no_score,
    ),
    Gain("gradients after the loop (fast/time_loop.py)", "GlobalAtt", untraced, nothing_in_c),
    Gain("gradients after the loop (fast/time_loop.py)", "Seq2Seq", untraced),
    Gain("loss where the logits stood (loss/softmax.py)", "GlobalAtt", replaced(softmax, "_Losses", softmax_losses)),
    Gain(
        "outputs of few rows (loss/blackout.py)", "Seq2Seq, BlackOut", replaced(blackout, "_Outputs", sampled_outputs)
    ),
    Gain("trees upwards (trees/tree_gru.py)", "Hierarchical", replaced(tree_gru, "_Ascent", ascent_gru)),
    Gain("weights laid out for a search (fast/linear.py)", "GlobalAtt", not_laid_out, searched=True),
    Gain("rows of a sentence together in a search (search/owners.py)", "GlobalAtt", not_together, searched=True),
]
"""All that is measured."""


def gains(
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
    for gain in GAINS:
        if only not in f"{gain.what} {gain.system}":
            continue
        times: tuple[list[float], list[float]] = ([], [])
        with gain.beside():
            sides = [side(gain, drawn(gain, sentences, words, vocabulary), sizes, vocabulary, beam) for _ in range(2)]
            results = []
            for number in range(rounds + 1):
                for take, without, seconds in zip(sides, (nullcontext, gain.without), times, strict=True):
                    with without():
                        began = time.process_time()
                        result = take()
                        if number:
                            seconds.append(time.process_time() - began)
                        else:
                            results.append(result)
        torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3)
        saved = ratio(times[0], times[1])
        found = f"{1 - saved.median:.1%} ({1 - saved.highest:.1%}–{1 - saved.lowest:.1%})"
        print(f"{gain.what:<64}{gain.system:<19}{found}")


def drawn(gain: Gain, sentences: int, words: int, vocabulary: int) -> Iterator[Batch]:
    """Draw the batches of a side's turns."""
    random = np.random.default_rng(1)
    batches = (draw_batch(random, sentences, words, vocabulary) for _ in count())
    return batches if gain.half else repeat(next(batches))


def side(
    gain: Gain, batches: Iterator[Batch], sizes: dict[str, Any], vocabulary: int, beam: int
) -> Callable[[], Tensor]:
    """Build the network, and what one turn with it does: returns the loss, or the scores of the translations."""
    torch.manual_seed(1)
    system = System.model_validate({**SYSTEMS[gain.system], "model": sizes})
    model = Model(system, {"source": vocabulary, "target": vocabulary})
    model.learn_frequencies(torch.arange(vocabulary, 0, -1))
    if gain.searched:
        batch = next(batches)
        limits = torch.full((len(batch.source),), 2 * batch.source.shape[1])

        def translate() -> Tensor:
            found = beam_search.beam_search([model.eval()], [batch], beam=beam, max_lengths=limits)
            return torch.tensor([hypotheses[0].log_probability for hypotheses in found])

        return translate
    training = Training(precision="bfloat16" if gain.half else "float32")
    update = Update(model.train(), model.loss, torch.optim.Adam(model.parameters()), training, torch.device("cpu"))

    def train() -> Tensor:
        torch.manual_seed(2)
        update.begin([Part(next(batches))])
        made = update.finish()
        return torch.tensor([made.loss, made.gradient_norm])

    return train


if __name__ == "__main__":
    run_command(gains)
