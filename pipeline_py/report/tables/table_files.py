"""What a table is made of: its description, and files by what they are of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.evaluation.files.named_files import named_files
from pipeline_py.input_error import InputError


@dataclass(frozen=True)
class Files:
    """Files by kind, and by what else stands before the `=`."""

    kinds: Mapping[str, Mapping[tuple[str, ...], Path]]

    def of(self, kind: str) -> Mapping[tuple[str, ...], Path]:
        """All files of a kind, in the order given."""
        return self.kinds.get(kind, {})

    def by_name(self, kind: str) -> dict[str, list[Path]]:
        """Files of a kind by the first part of their names, such as the runs of a system."""
        found: dict[str, list[Path]] = {}
        for (name, *_), path in self.of(kind).items():
            found.setdefault(name, []).append(path)
        return found

    def one(self, kind: str) -> Path:
        """The only file of a kind.

        Raises:
            InputError: if there is another number of them.
        """
        paths = [*self.of(kind).values()]
        if len(paths) != 1:
            raise InputError(f"{len(paths)} files of {kind!r}; give one, as --file {kind}=FILE")
        return paths[0]


def read_files(pairs: Sequence[str]) -> Files:
    """Read `KIND=FILE`, `KIND:NAME=FILE`, `KIND:NAME:NAME=FILE` …

    Raises:
        InputError: if one is no such pair, is given twice, or is missing.
    """
    kinds: dict[str, dict[tuple[str, ...], Path]] = {}
    for key, path in named_files(pairs, "--file").items():
        kind, *names = key.split(":")
        kinds.setdefault(kind, {})[tuple(names)] = path
    return Files(kinds)


def read_description(text: str, *needed: str) -> dict[str, Any]:
    """Read what the plan says of a table or figure.

    Raises:
        InputError: if it is no JSON object with what is needed.
    """
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict) or not {*needed} <= content.keys():
        raise InputError(f"--description is not a JSON object with {', '.join(needed)}; give that of the plan")
    return content
