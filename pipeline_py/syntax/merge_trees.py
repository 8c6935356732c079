"""Join the trees of a text that was parsed in shards."""

import shutil
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts, write_atomically
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.tree_formats import (
    REPARSE_HINT,
    TREE_FILE_FORMATS,
    TreeKind,
    TreeMetadata,
    has_same_words,
)


def merge_trees(
    *,
    annotation: TreeKind,
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
        InputError: The shards belong to another text, or their order is wrong.
    """
    total, tree_counts = SentenceCounts(), []
    for path in counts:
        shard_counts = SentenceCounts.from_json_file(path)
        tree_counts.append(shard_counts.kept_count)
        total.add_counts(shard_counts)
    with write_atomically(output) as temporary, temporary.open("wb") as file:
        for part in parts:
            with part.open("rb") as trees:
                shutil.copyfileobj(trees, file)
        _check_tree_order(parts, tree_counts, annotation, tokens)
    total.write_json_file(counts_output)
    TreeMetadata.merge([TreeMetadata.read(path) for path in facts]).write(facts_output)


def _check_tree_order(
    shard_paths: list[Path], shard_tree_counts: list[int], annotation: TreeKind, tokens_path: Path
) -> None:
    """Compare the first tree of each shard, and the number of all trees, with the text."""
    first_lines = [1 + sum(shard_tree_counts[:k]) for k in range(len(shard_paths))]
    shards = {first_lines[k]: path for k, path in enumerate(shard_paths) if shard_tree_counts[k]}
    number = 0
    for number, line in enumerate(read_lines(tokens_path), start=1):
        if (shard := shards.get(number)) is not None:
            words = next(TREE_FILE_FORMATS[annotation].read_trees(shard)).words
            if not has_same_words(words, tuple(split_tokens(line))):
                raise InputError(f"the first tree is not that of {tokens_path}, line {number}; {REPARSE_HINT}", shard)
    if number != (tree_count := sum(shard_tree_counts)):
        difference = f"there are {tree_count} trees, but {tokens_path} has {number} lines"
        raise InputError(f"with this last part {difference}; {REPARSE_HINT}", shard_paths[-1])
