"""Join the trees of a text that was parsed in shards."""

from pathlib import Path
from typing import IO

from pipeline_py.files.artifacts import Counts, whole
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.formats import FORMATS, REMEDY, Annotation, TreeFacts, same_words

AGAIN = "parse this slice again"


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

    Each shard must have as many trees as its counts and facts say, and all shards together as many as the text has
    lines. To find shards in the wrong order, the first tree of each is compared with its line; later stages compare all
    trees.

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
        InputError: if a shard has too few or too many trees; it names the shard.
    """
    if not parts or not len(parts) == len(counts) == len(facts):
        raise InputError("each part needs its counts and its facts; give as many of each")
    total, kept = Counts(), []
    for path in counts:
        counted = Counts.of(path, f"no counts of sentences; {AGAIN}")
        kept.append(counted.kept)
        total.add(counted)
    all_facts = [TreeFacts.read(path) for path in facts]
    with whole(output) as temporary, temporary.open("wb") as file:
        for part, sentences, of_part in zip(parts, kept, all_facts, strict=True):
            trees = _copy(part, file, annotation)
            if not trees == sentences == of_part.sentences:
                raise InputError(
                    f"the file has {trees} trees, its counts say {sentences}, its facts {of_part.sentences}; {AGAIN}",
                    part,
                )
        _check(parts, kept, annotation, tokens)
    total.write(counts_output)
    TreeFacts.joined(all_facts).write(facts_output)


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


def _copy(part: Path, file: IO[bytes], annotation: Annotation) -> int:
    """Copy a part and count its trees; one whose end is missing is none."""
    trees = 0
    in_block = False
    with part.open("rb") as lines:
        for line in lines:
            file.write(line)
            if annotation is Annotation.CONSTITUENCY:
                trees += line.endswith(b"\n")
            elif line == b"\n":
                trees += in_block
                in_block = False
            else:
                in_block = True
    return trees
