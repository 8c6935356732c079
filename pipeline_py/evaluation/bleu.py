"""BLEU (Papineni et al. 2002) as sacrebleu computes it, for one corpus or for many near copies of it at once.

A sentence's *statistics* are ten integers: length of the output, closest reference length, matched n-grams
and output n-grams for n = 1 … 4. Corpus BLEU is a function of their sum over sentences.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline_py.stage import InputError
from pipeline_py.syntax.constituency import read_trees
from pipeline_py.text import read_parallel

if TYPE_CHECKING:
    import numpy as np
    from sacrebleu.metrics.bleu import BLEU, BLEUScore

Tokenizer = Literal["13a", "intl", "zh", "ja-mecab", "char", "none"]

ORDERS = 4
STATISTICS = 2 + 2 * ORDERS


def metric(tokenizer: Tokenizer, lowercase: bool, references: Sequence[Sequence[str]] | None = None) -> "BLEU":
    """Give sacrebleu's BLEU with its default smoothing ("exp").

    Args:
        tokenizer: sacrebleu's tokenizer.
        lowercase: whether case is ignored.
        references: references of the sentences that will be scored, a list for each; counted once for many outputs.

    Raises:
        InputError: if the tokenizer needs a package that is not installed.
    """
    from sacrebleu.metrics.bleu import BLEU

    try:
        # `force` only silences the warning about text that looks tokenized, which is meant to be so here.
        return BLEU(lowercase=lowercase, tokenize=tokenizer, force=tokenizer == "none", references=references)
    except (ImportError, RuntimeError) as error:
        raise InputError(
            f'tokenizer {tokenizer} is not installed; run pip install "sacrebleu[ja]" or choose another one'
        ) from error


def word_splitter(tokenizer: Tokenizer, lowercase: bool) -> Callable[[str], list[str]]:
    """Give what splits a line into the words that BLEU counts.

    Args:
        tokenizer: sacrebleu's tokenizer.
        lowercase: whether case is ignored.

    Raises:
        InputError: if the tokenizer needs a package that is not installed.
    """
    counting = metric(tokenizer, lowercase)
    return lambda line: counting._preprocess_segment(line).split()


def read_sentences(
    outputs: Sequence[Path], references: Sequence[Path], trees: Path | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield, for every sentence, its line of each output and then of each reference.

    Args:
        outputs: files with one sentence a line, aligned with all others.
        references: the same.
        trees: a parser's phrase trees, aligned with them; only sentences that were parsed are yielded. All if None.

    Raises:
        InputError: without a reference or a sentence, where files differ in length, at an empty reference or a line
            that is no tree.
    """
    if not references:
        raise InputError("no reference given; name at least one with --reference")
    texts = [*outputs, *references]
    number = wanted = 0
    parsed = (
        repeat(True) if trees is None else (tree.root is not None and not tree.failed for tree in read_trees(trees))
    )
    aligned = zip(read_parallel(*texts, *([trees] if trees else [])), parsed, strict=False)
    for number, (lines, is_wanted) in enumerate(aligned, start=1):
        for path, line in zip(references, lines[len(outputs) : len(texts)], strict=True):
            if not line.strip():
                remedy = "translate the sentence or remove it from every file of the set"
                raise InputError(f"the reference is empty; {remedy}", path, number)
        if is_wanted:
            wanted += 1
            yield lines[: len(texts)]
    if number == 0:
        raise InputError("the file has no sentences; nothing can be scored", references[0])
    if wanted == 0:
        raise InputError("no sentence was parsed, so none is left to score; leave --trees out", trees)


def sentence_statistics(bleu: "BLEU", output: str, references: Sequence[str]) -> list[int]:
    """Give the ten statistics of one output against its references."""
    score = bleu.corpus_score([output], [[reference] for reference in references])
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def corpus_score(statistics: "np.ndarray") -> "BLEUScore":
    """Give sacrebleu's score of sentences with `statistics` (sentences, 10)."""
    from sacrebleu.metrics.bleu import BLEU

    total = [int(value) for value in statistics.sum(axis=0)]
    counts, totals = total[2 : 2 + ORDERS], total[2 + ORDERS :]
    return BLEU.compute_bleu(counts, totals, sys_len=total[0], ref_len=total[1], smooth_method="exp")


def scores(sums: "np.ndarray") -> "np.ndarray":
    """BLEU of many corpora at once, smoothed as sacrebleu's default "exp" does.

    The k-th order without a match counts as 1/2^k matches (NIST's mteval-v13a.pl; Chen and Cherry 2014, method
    3). A corpus without any match, or with no n-gram of some order, has BLEU 0.

    Args:
        sums: statistics summed over each corpus, (corpora, 10), integers.

    Returns:
        BLEU in percent, (corpora,), float64.
    """
    import numpy as np

    lengths, reference_lengths = sums[:, 0], sums[:, 1]
    matches, ngrams = sums[:, 2 : 2 + ORDERS], sums[:, 2 + ORDERS :]
    defined = (ngrams > 0).all(axis=1) & (matches > 0).any(axis=1)

    missing = matches == 0
    smoothed = np.where(missing, 0.5 ** missing.cumsum(axis=1), matches)
    precisions = smoothed / np.where(ngrams > 0, ngrams, 1)
    brevity = np.minimum(0.0, 1.0 - reference_lengths / np.where(lengths > 0, lengths, 1))
    return np.where(defined, 100.0 * np.exp(brevity + np.log(precisions).mean(axis=1)), 0.0)
