"""Outputs and references of a set, sentence by sentence."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_py.files.text_files import read_parallel
from pipeline_py.run.errors import InputError


def read_aligned_sentences(outputs: Sequence[Path], references: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield, for every sentence, its line of each output and then of each reference.

    Args:
        outputs: files with one sentence a line, aligned with all others.
        references: the same.

    Raises:
        InputError: without a reference or a sentence, where files differ in length, or at an empty reference.
    """
    if not references:
        raise InputError("no reference given; give one or more")
    number = 0
    for number, lines in enumerate(read_parallel(*outputs, *references), start=1):
        for path, line in zip(references, lines[len(outputs) :], strict=True):
            if not line.strip():
                remedy = "translate the sentence or remove it from every file of the set"
                raise InputError(f"the reference is empty; {remedy}", path, number)
        yield lines
    if number == 0:
        raise InputError("the file has no sentences; nothing can be scored", references[0])
