"""Count how often target words occur in the training text, with the words of BLEU."""

from collections import Counter
from pathlib import Path

from pipeline_py.evaluation.metric import Tokenizer
from pipeline_py.evaluation.metrics.bleu import word_splitter
from pipeline_py.files.artifacts import writing
from pipeline_py.files.text import read_lines
from pipeline_py.run.progress import progress


def word_frequencies(
    *,
    text: Path,
    output: Path,
    tokenizer: Tokenizer = "13a",
    lowercase: bool = True,
) -> None:
    """Count the words of a text, tokenized as for BLEU.

    Args:
        text: The target side of the training text, not tokenized.
        output: `word count` on each line, as in a vocabulary: most frequent first, equally frequent words in code point
            order.
        tokenizer: Sacrebleu's tokenizer, the same as for the scores.
        lowercase: Whether case is ignored, the same as for the scores.
    """
    split = word_splitter(tokenizer, lowercase)
    counts: Counter[str] = Counter()
    for line in progress(read_lines(text), "word frequencies"):
        counts.update(split(line))
    with writing(output) as file:
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word} {count}\n")
