"""How the trees of a text came about: how long it took, on what, with which versions and models.

Unlike the trees these differ from run to run, so they stand in a file of their own that no stage reads but those that
join them and those of the report.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from pipeline_py.artifact import write_json
from pipeline_py.input_error import InputError
from pipeline_py.regular_file import open_regular_file

NO_DEVICE = "none"


@dataclass(frozen=True)
class TreeFacts:
    """Facts of one file of trees.

    Attributes:
        sentences: how many trees.
        seconds: time spent on making them, without starting up and loading models.
        device: cpu or cuda; none where there was nothing to parse.
        versions: of the libraries that decide the trees, by name.
        models: SHA-256 of each file that decides the trees (models, or trees that were given), by the names that
            `checksums` gives them.
    """

    sentences: int
    seconds: float
    device: str = "cpu"
    versions: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the facts as JSON."""
        write_json(path, {**asdict(self), "seconds": round(self.seconds, 3)})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote.

        Raises:
            InputError: if it is no such file.
        """
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise InputError(f"no facts of trees ({error}); make the trees again", path) from None

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The facts of all parts of a text; where parts differ in device, version or model, each is named.

        Parts without sentences used no device and no model, and do not count.
        """
        parts = [part for part in parts if part.sentences] or parts
        return cls(
            sentences=sum(part.sentences for part in parts),
            seconds=sum(part.seconds for part in parts),
            device=", ".join(dict.fromkeys(part.device for part in parts)),
            versions=_all([part.versions for part in parts]),
            models=_all([part.models for part in parts]),
        )


def checksums(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of files by their paths below the folder that holds them all: `tagger.pt`, or `pos/ewt.pt`."""
    files = [path.absolute() for path in files]
    folder = os.path.commonpath([path.parent for path in files]) if files else ""
    return {str(path.relative_to(folder)): _checksum(path) for path in files}


def _checksum(path: Path) -> str:
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _all(parts: Sequence[dict[str, str]]) -> dict[str, str]:
    """For each name its values in all parts, without repetition."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in parts if name in part)) for name in names}
