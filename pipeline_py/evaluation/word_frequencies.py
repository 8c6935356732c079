"""How often the words of the target language occur in the training text, words being what BLEU counts."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation.metric import Tokenizer
from pipeline_py.evaluation.metrics.bleu import word_splitter
from pipeline_py.options import Option
from pipeline_py.progress import progress
from pipeline_py.text import read_lines


def word_frequencies(
    *,
    input: Path,
    output: Path,
    tokenizer: Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Count the words of a text, cut as BLEU cuts text to be scored.

    Args:
        input: the target side of the training text, as people write it.
        output: `word count` a line as in a vocabulary, most frequent first; equally frequent words in the order of
            their codepoints.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: whether case is ignored, the same as for the scores.
    """
    split = word_splitter(tokenizer, lowercase)
    counts: Counter[str] = Counter()
    for line in progress(read_lines(input), "word frequencies"):
        counts.update(split(line))
    with writing(output) as file:
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word} {count}\n")


if __name__ == "__main__":
    stage.run(word_frequencies)
