"""Make synthetic parallel text of any size: invented words by Zipf's law, with numbers and punctuation.

    python -m benchmarks.synthetic_text --sentences 1000 --source-output text.source --target-output text.target

Words consist of syllables, frequent words of fewer, so that byte-pair encoding finds common pieces. Unlike in natural
text, the number of different words is bounded. Memory holds the words and one block of sentences.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from pipeline_py.artifact import writing
from pipeline_py.input_error import InputError

from pipeline_py import stage

SYLLABLES = [
    onset + vowel + coda
    for onset in ("b", "d", "fl", "g", "k", "l", "m", "n", "pr", "s", "st", "t", "v", "z")
    for vowel in ("a", "e", "i", "o", "u", "ä", "ei")
    for coda in ("", "", "n", "r", "s", "ng")
]
BLOCK = 10_000
"""Sentences that memory holds."""

NAMES = 0.1
"""Share of the words that are always capitalized."""

NUMBERS, COMMAS, REPEATED = 0.02, 0.05, 0.005
"""Shares: of the words of a sentence that are numbers, that have a comma behind them; of pairs that came before."""


def synthetic_text(
    *,
    sentences: int,
    words: int = 25,
    vocabulary: int = 50_000,
    seed: int = 1,
    source_output: Path,
    target_output: Path,
) -> None:
    """Write synthetic sentence pairs.

    Args:
        sentences: Number of sentence pairs.
        words: Mean words of a source sentence: lengths are uniform from 0.2 to 1.8 times this; a target length differs
            from its source length by a fifth at most.
        vocabulary: Different words on each side, without numbers.
        seed: The same seed gives the same text.
        source_output: Source text, one sentence a line.
        target_output: The same lines in other words.

    Raises:
        InputError: a size is too small.
    """
    if sentences < 1 or words < 5 or vocabulary < 1:
        raise InputError("--sentences and --vocabulary must be at least 1 and --words at least 5")
    random = np.random.default_rng(seed)
    forms = [_forms(random, vocabulary) for _ in range(2)]
    with ExitStack() as stack:
        files = [stack.enter_context(writing(path)) for path in (source_output, target_output)]
        for first in range(0, sentences, BLOCK):
            count = min(BLOCK, sentences - first)
            lengths = random.integers(words // 5, words * 9 // 5 + 1, count)
            other = np.maximum(1, (lengths * random.uniform(0.8, 1.2, count)).astype(int))
            repeated = random.random(count) < REPEATED
            repeated[0] = False
            for file, side, of_side in zip(files, forms, (lengths, other), strict=True):
                before = ""
                for line, again in zip(_lines(random, side, of_side), repeated, strict=True):
                    before = before if again else line
                    file.write(before)


def _forms(random: np.random.Generator, vocabulary: int) -> list[str]:
    """Make different words, the shorter ones first."""
    found: dict[str, None] = {}
    while len(found) < vocabulary:
        syllables = 1 + int(np.log1p(len(found)) / 4) + int(random.integers(0, 2))
        found["".join(SYLLABLES[place] for place in random.integers(0, len(SYLLABLES), syllables))] = None
    return [
        form.capitalize() if name else form for form, name in zip(found, random.random(vocabulary) < NAMES, strict=True)
    ]


def _lines(random: np.random.Generator, forms: list[str], lengths: np.ndarray) -> Iterator[str]:
    total = int(lengths.sum())
    shares = (1 / np.arange(1, len(forms) + 1)).cumsum()
    ranks = np.searchsorted(shares, random.random(total) * shares[-1]).tolist()
    tokens = [forms[rank] for rank in ranks]
    for place in np.flatnonzero(random.random(total) < NUMBERS).tolist():
        tokens[place] = _number(random)
    for place in np.flatnonzero(random.random(total) < COMMAS).tolist():
        tokens[place] += ","
    start = 0
    for end in lengths.cumsum().tolist():
        sentence = " ".join(tokens[start:end])
        yield sentence[:1].upper() + sentence[1:] + ".\n"
        start = end


def _number(random: np.random.Generator) -> str:
    """Draw one of some ten thousand numbers: a year, a small one, a time, a grouped or a decimal one."""
    kind, value = int(random.integers(0, 5)), int(random.integers(0, 2000))
    forms = (str(1000 + value), str(value % 100), f"{value % 24}:{value % 60:02}", f"{1 + value % 9},{value % 1000:03}")
    return forms[kind] if kind < len(forms) else f"{value % 100}.{value % 10}"


if __name__ == "__main__":
    stage.run(synthetic_text)
