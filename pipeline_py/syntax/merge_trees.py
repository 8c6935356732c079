"""Join the trees of a text that was parsed in slices."""

from pathlib import Path
from typing import IO

from pipeline_py import stage
from pipeline_py.artifact import Counts, whole
from pipeline_py.input_error import InputError
from pipeline_py.syntax.trees.alignment import REMEDY, same_words
from pipeline_py.syntax.trees.formats import FORMATS, Annotation
from pipeline_py.syntax.trees.tree_facts import TreeFacts
from pipeline_py.text import read_lines, tokens_of

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
    """Join the trees of all slices of a text, byte for byte and in the order given.

    Every part must hold as many trees as its counts and facts count, and all parts together as many as the text has
    lines. Of each part the words of the first tree are compared with the line that it belongs to, which finds parts in
    another order; those who read the trees compare all.

    Args:
        annotation: dependency (CoNLL-U) or constituency (one tree in brackets a line).
        parts: trees of the slices, first to last; those of a slice beyond the end of the text are empty.
        counts: of the parts, in the same order.
        facts: of the parts, in the same order.
        tokens: the text, one sentence a line.
        output: all trees.
        counts_output: the sums of the counts.
        facts_output: what the facts say together.

    Raises:
        InputError: where a tree is missing or too many, with the part.
    """
    if not parts or not len(parts) == len(counts) == len(facts):
        raise InputError("give each part with its counts and its facts: --parts, --counts, --facts")
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


if __name__ == "__main__":
    stage.run(merge_trees)
