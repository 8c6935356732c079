"""Reader of the lexicon tables in this folder.

A table is a tab-separated file such as `nouns.tsv`. Lines that begin with `#` are comments. The first other line
contains the column names. Cells can be empty if the name of their column ends in `?`; at the end of a line they can be
omitted. Entries are sorted by frequency where it matters.
"""

from collections.abc import Callable, Collection
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError

Entry = TypeVar("Entry")

LEXICON_FOLDER = Path(__file__).parent


def parse_known_words(cell: str, allowed_words: Collection[str]) -> frozenset[str]:
    """Split a cell into words.

    Raises:
        KeyError: a word is not in `allowed_words`.
    """
    for word in cell.split():
        if word not in allowed_words:
            raise KeyError(word)
    return frozenset(cell.split())


def read_entries(table_name: str, build_entry: Callable[..., Entry]) -> tuple[Entry, ...]:
    """Read a table, and build an entry from each line.

    Args:
        table_name: Name of the table, without `.tsv`.
        build_entry: Takes the cells of a line as keyword arguments; raises `KeyError(word)` for an unknown word.

    Raises:
        InputError: a line has too many or too few cells, or an unknown word.
    """
    path = LEXICON_FOLDER / f"{table_name}.tsv"
    entries: list[Entry] = []
    columns: list[str] = []
    for number, line in enumerate(read_lines(path), start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells) or line.startswith("#"):
            continue
        if not columns:
            columns = cells
            continue
        if len(cells) > len(columns):
            raise InputError(f"{len(cells)} cells; there are only {len(columns)} columns", path, number)
        row = dict(zip_longest(columns, cells, fillvalue=""))
        missing = [column for column, cell in row.items() if not cell and not column.endswith("?")]
        if missing:
            raise InputError(f"the column `{missing[0]}` is empty; fill it in", path, number)
        try:
            entries.append(build_entry(**{column.removesuffix("?"): cell for column, cell in row.items()}))
        except KeyError as error:
            raise InputError(
                f"`{error.args[0]}` is not allowed here; see the comments at the top", path, number
            ) from None
    return tuple(entries)
