"""Files that a page is made of, by what they are of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.evaluation.named_files import named_files
from pipeline_py.stage import InputError

PER_TABLE = ("table", "facts", "published")
PER_SET = (
    *("comparisons", "intervals", "breakdown", "sentence_scores", "words", "ngrams", "examples"),
    "source_tree",
)


@dataclass(frozen=True)
class Sources:
    """Files by option, and by what stands before the `=` there."""

    files: Mapping[str, Mapping[str, Path]]

    def of(self, option: str, name: str) -> Path | None:
        """The file that an option gives for a name; None where it gives none."""
        return self.files[option].get(name)

    def by_set(self, option: str, table: str) -> Iterator[tuple[str, Path]]:
        """Sets of a table, and their files."""
        for name, path in self.files[option].items():
            of_table, _, split = name.rpartition(":")
            if of_table == table:
                yield split, path


def read_sources(given: Mapping[str, Sequence[str] | None], tables: Sequence[str], sets: Sequence[str]) -> Sources:
    """Read NAME=FILE of all options.

    Args:
        given: values of each option.
        tables: those of the experiment.
        sets: its sets.

    Raises:
        InputError: if a value is no such pair, or names another table or set.
    """
    files = {option: named_files(pairs or [], f"--{option.replace('_', '-')}") for option, pairs in given.items()}
    for option in (*PER_TABLE, *PER_SET):
        for name in files[option]:
            table, _, split = name.rpartition(":") if option in PER_SET else (name, "", "")
            if table not in tables or (split and split not in sets):
                form = "TABLE:SET" if option in PER_SET else "TABLE"
                raise InputError(
                    f"--{option.replace('_', '-')} {name!r} is of no table or set of the experiment; "
                    f"write {form}=FILE with one of its tables"
                )
    return Sources(files)
