"""Reading of aligned outputs and references, sentence by sentence."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_py.files.text_files import read_parallel
from pipeline_py.run.errors import InputError


def read_aligned_sentences(outputs: Sequence[Path], references: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield for every sentence its line in each output file, and then its line in each reference file.

    Raises:
        InputError: there is no reference or no sentence, files differ in length, or a reference line is empty.
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
