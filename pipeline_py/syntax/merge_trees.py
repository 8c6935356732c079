"""Join the trees of a text that was parsed in shards."""

import shutil
from pathlib import Path

from pipeline_py.files.artifacts import Counts, whole
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.formats import FORMATS, REMEDY, Annotation, TreeFacts, same_words


def merge_trees(
    *,
    annotation: Annotation,
    parts: list[Path],
    counts: list[Path],
    facts: list[Path],
    tokens: Path,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Join the trees of all shards of a text, byte for byte and in the given order.

    All shards together must have as many trees as the text has lines. To find shards in the wrong order, the first tree
    of each is compared with its line; later stages compare all trees.

    Args:
        annotation: `dependency` (CoNLL-U) or `constituency` (brackets, one tree a line).
        parts: Trees of the shards, in order. A shard after the end of the text is empty.
        counts: Counts of the shards, in the same order.
        facts: Facts of the shards, in the same order.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: All trees.
        counts_output: The summed counts.
        facts_output: The combined facts.

    Raises:
        InputError: if the shards are those of another text, or in another order.
    """
    total, kept = Counts(), []
    for path in counts:
        counted = Counts.of(path)
        kept.append(counted.kept)
        total.add(counted)
    with whole(output) as temporary, temporary.open("wb") as file:
        for part in parts:
            with part.open("rb") as trees:
                shutil.copyfileobj(trees, file)
        _check(parts, kept, annotation, tokens)
    total.write(counts_output)
    TreeFacts.joined([TreeFacts.read(path) for path in facts]).write(facts_output)


def _check(parts: list[Path], counts: list[int], annotation: Annotation, tokens: Path) -> None:
    """Compare the first words of each part and the number of all trees with the text."""
    begins = {1 + sum(counts[:k]): part for k, part in enumerate(parts) if counts[k]}
    number = 0
    for number, line in enumerate(read_lines(tokens), start=1):
        if number in begins:
            words = next(FORMATS[annotation].read(begins[number])).words
            if not same_words(words, tuple(tokens_of(line))):
                raise InputError(f"the first tree is not that of {tokens}, line {number}; {REMEDY}", begins[number])
    if number != sum(counts):
        raise InputError(
            f"with this last part there are {sum(counts)} trees, but {tokens} has {number} lines; {REMEDY}", parts[-1]
        )
