"""Word vectors in Stanza's own format ("pretrain"), which its constituency parser cannot do without."""

import tempfile
from pathlib import Path

from stanza.models.common.pretrain import Pretrain

from pipeline_py.input_error import InputError
from pipeline_py.progress import progress
from pipeline_py.syntax.stanza.reproducible import save_reproducibly
from pipeline_py.text import is_number, read_lines

# Of the words that a parser gets without vectors: it then knows words by the embeddings that it learns itself.
NO_VECTORS = "1 8\n<none> 0 0 0 0 0 0 0 0\n"


def write_pretrain(vectors: Path | None, output: Path) -> None:
    """Convert a word2vec text file; without one, write a pretrain in which every word has the zero vector.

    Raises:
        InputError: where the file is not in word2vec's text format.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = vectors
        if text is None:
            text = Path(folder) / "none.txt"
            text.write_text(NO_VECTORS, encoding="utf-8")
        else:
            _check(text)
        pretrain = Pretrain(None, str(text), save_to_file=False)
        save_reproducibly({"vocab": pretrain.vocab.state_dict(), "emb": pretrain.emb}, output)


def _check(vectors: Path) -> None:
    dimension = 0
    number = 0
    promised = None
    for number, line in enumerate(progress(read_lines(vectors), "word vectors", unit="lines"), start=1):
        columns = line.rstrip().split()
        if number == 1 and len(columns) == 2 and all(map(is_number, columns)):
            promised, dimension = map(int, columns)
            continue
        dimension = dimension or len(columns) - 1
        try:
            finite = [float(column) for column in columns[-dimension:]]
        except ValueError:
            finite = []
        if dimension < 1 or len(finite) != dimension or len(columns) <= dimension:
            raise InputError(
                f"not a word and {dimension} numbers; give word vectors in word2vec's text format", vectors, number
            )
    if number == 0:
        raise InputError("the file is empty; give word vectors in word2vec's text format", vectors)
    if promised not in (None, number - 1):
        raise InputError(
            f"the first line promises {promised} word vectors, but {number - 1} follow; fetch the file again", vectors
        )
