"""Time updates of Tree2Seq against Seq2Seq, and count the multiply-adds of each.

    python -m benchmarks.tree2seq
    python -m benchmarks.tree2seq --samples 0       the full softmax

Both are trained on the same batches of random sentences and trees, alternating.
"""

import time
from statistics import median

import numpy as np
import torch
from pipeline_py.input_error import InputError
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.tree_lstm import random_tree, row_of
from pipeline_py import stage
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.training.update import Part, Update
from pipeline_py.subword.vocabulary import EOS

SPECIALS = 2


def compare(
    *,
    hidden: int = 256,
    vocabulary: int = 23509,
    samples: int = 500,
    words: int = 24,
    sentences: int = 128,
    batches: int = 4,
    repetitions: int = 5,
    threads: int = 1,
    seed: int = 1,
) -> None:
    """Print the time and the multiply-adds of an update per target word, and their ratios.

    Args:
        hidden: Size of embeddings and states.
        vocabulary: Vocabulary size of each side; by default that of the target in tree2seq's small English-Japanese
            task.
        samples: Samples of BlackOut (K); 0: the full softmax.
        words: Mean words of a sentence: source lengths are uniform from 0.5 to 1.5 times this; a target length differs
            from its source length by a fifth at most.
        sentences: Sentences of a batch (B).
        batches: Number of different batches.
        repetitions: Number of timed passes over the batches, after one that does not count.
        threads: CPU threads.
        seed: Seed of sentences and parameters.

    Raises:
        InputError: sentences are too short.
    """
    if words < 2:
        raise InputError("--words must be at least 2")
    torch.set_num_threads(threads)
    random = np.random.default_rng(seed)
    data = [random_batch(random, sentences, words, vocabulary) for _ in range(batches)]
    models = {name: network(name, hidden, vocabulary, samples, seed) for name in ("lstm", "tree_lstm")}
    training, cpu = Training(clip=3.0), torch.device("cpu")
    updates = {
        name: Update(model, model.loss, torch.optim.SGD(model.parameters(), lr=0.1), training, cpu)
        for name, model in models.items()
    }

    products = {name: multiply_adds(model, data) for name, model in models.items()}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for repetition in range(repetitions + 1):
        for batch in data:
            for name, update in updates.items():
                start = time.perf_counter()
                update.begin([Part(batch)])
                update.finish()
                if repetition:
                    seconds[name].append((time.perf_counter() - start) / target_words(batch))

    loss = f"BlackOut, K = {samples}" if samples else "softmax"
    print(f"torch {torch.__version__}, {threads} thread(s), {loss}, embedding and hidden {hidden},")
    print(f"{vocabulary:,} words, batches of {sentences} sentences, medians of {repetitions * batches} updates each;")
    print("a target word counts with its share of padding left out, end of sentence included\n")
    print(f"{'':<12}{'µs a word':>12}{'words/s':>12}{'multiply-adds a word':>24}")
    times = {name: median(values) for name, values in seconds.items()}
    for name, called in (("lstm", "Seq2Seq"), ("tree_lstm", "Tree2Seq")):
        print(f"{called:<12}{1e6 * times[name]:>12.1f}{1 / times[name]:>12,.0f}{products[name]:>24,.0f}")
    in_time, in_products = times["tree_lstm"] / times["lstm"], products["tree_lstm"] / products["lstm"]
    print(f"{'ratio':<12}{in_time:>12.2f}{'':>12}{in_products:>24.2f}")
    print(f"\nratio of times to ratio of multiply-adds: {in_time / in_products:.2f}")
    print("ratio of times in the paper (Table 4): 1.30 with BlackOut, K = 500, and 1.05 with the softmax")


def network(encoder: str, hidden: int, vocabulary: int, samples: int, seed: int) -> Model:
    """Build a system of tree2seq's with one of its encoders."""
    loss = {"type": "blackout", "samples": samples} if samples else "softmax"
    sizes = {"embedding": hidden, "hidden": hidden, "dropout": 0, "initialization": "uniform"}
    parts = {"encoders": [encoder], "scores": ["dot"], "decoder": "lstm", "loss": loss, "model": sizes}
    torch.manual_seed(seed)
    model = Model(System.model_validate(parts), {"source": vocabulary, "target": vocabulary})
    model.learn_frequencies(torch.arange(vocabulary, 0, -1))
    return model.train()


def random_batch(random: np.random.Generator, sentences: int, words: int, vocabulary: int) -> Batch:
    """Draw sentences, words by Zipf's law, and a tree over each source."""

    def sentence(length: int) -> np.ndarray:
        drawn = SPECIALS + (random.zipf(1.3, length) % (vocabulary - SPECIALS))
        return np.array([*drawn, EOS])

    lengths = random.integers(words // 2, words + words // 2 + 1, sentences)
    of_target = np.maximum(1, (lengths * random.uniform(0.8, 1.2, sentences)).astype(int))
    trees = [row_of(random_tree(random, 0, int(length)), int(length)) for length in lengths]
    return collate([sentence(n) for n in lengths], [sentence(n) for n in of_target], {"trees": trees})


def multiply_adds(model: Model, data: list[Batch]) -> float:
    """Count the multiply-adds of all matrix products of an update, for each target word."""
    with FlopCounterMode(display=False) as counter:
        for batch in data:
            model.loss(batch).mean().backward()
    return counter.get_total_flops() / 2 / sum(map(target_words, data))


def target_words(batch: Batch) -> int:
    """Count target words, end of sentence included."""
    assert batch.target_lengths is not None
    return int(batch.target_lengths.sum())


if __name__ == "__main__":
    stage.run(compare)
