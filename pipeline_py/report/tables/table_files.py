"""Input files of a table by kind and name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.input_error import InputError


@dataclass(frozen=True)
class Files:
    """Files by kind and name; the parts of a name are joined by colons: `SYSTEM:RUN:SET`."""

    kinds: Mapping[str, Mapping[str, Path]]

    def of(self, kind: str) -> Mapping[tuple[str, ...], Path]:
        """Return all files of a kind by the parts of their names, in the order given."""
        return {tuple(filter(None, name.split(":"))): path for name, path in self.kinds.get(kind, {}).items()}

    def by_name(self, kind: str) -> dict[str, list[Path]]:
        """Return files of a kind by the first part of their names, such as the runs of a system."""
        paths: dict[str, list[Path]] = {}
        for (name, *_), path in self.of(kind).items():
            paths.setdefault(name, []).append(path)
        return paths

    def one(self, kind: str) -> Path:
        """Return the only file of a kind.

        Raises:
            InputError: there is another number of them.
        """
        paths = [*self.of(kind).values()]
        if len(paths) != 1:
            raise InputError(f"{len(paths)} files of {kind!r} instead of one")
        return paths[0]
