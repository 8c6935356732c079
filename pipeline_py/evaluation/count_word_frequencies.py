"""Count how often target words occur in the training text, with the words of BLEU."""

from collections import Counter
from pathlib import Path

from pipeline_py.evaluation.metric import TokenizerName
from pipeline_py.evaluation.metrics.bleu import build_word_splitter
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.progress_display import show_progress


def count_word_frequencies(
    *,
    text: Path,
    output: Path,
    tokenizer: TokenizerName = "13a",
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
    split = build_word_splitter(tokenizer, lowercase)
    counts: Counter[str] = Counter()
    for line in show_progress(read_lines(text), "word frequencies"):
        counts.update(split(line))
    with open_atomic_text_file(output) as file:
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word} {count}\n")
