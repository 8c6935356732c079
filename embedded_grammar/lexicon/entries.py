"""Reads the lexicon: the tables beside this module, which people edit.

A table (`nouns.tsv`) has its cells between tabs. Lines that begin with `#` are comments. The first other line names the
columns; cells of a column whose name ends in `?` may be empty, and empty ones at the end of a line be left out.
Where frequency matters, entries stand in its order.
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
    """The words of a cell, all of which must be among some.

    Raises:
        KeyError: one is not.
    """
    for word in cell.split():
        if word not in allowed_words:
            raise KeyError(word)
    return frozenset(cell.split())


def read_entries(table_name: str, build_entry: Callable[..., Entry]) -> tuple[Entry, ...]:
    """What `build_entry` makes of each line of a table, in the order of the lines.

    Args:
        table_name: its name, without `.tsv`.
        build_entry: takes the cells of a line, by the names of the columns, and raises `KeyError(word)` where it does not
            know a word in them.

    Raises:
        InputError: a line has too many cells, or too few, or a word that `build_entry` does not know.
    """
    path = LEXICON_FOLDER / f"{table_name}.tsv"
    made: list[Entry] = []
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
            made.append(build_entry(**{column.removesuffix("?"): cell for column, cell in row.items()}))
        except KeyError as error:
            raise InputError(
                f"`{error.args[0]}` is not allowed here; see the comments at the top", path, number
            ) from None
    return tuple(made)
