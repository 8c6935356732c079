"""Files that a stage leaves behind: whole or not at all, and with nothing dropped in silence."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` (for a file or a directory) that takes its place on success.

    A killed job leaves at most the temporary, never a half file that looks whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        if temporary.is_dir() and path.is_dir():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """Open `path` for UTF-8 text with LF line ends; it appears only once it is whole."""
    with whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with keys in the order given."""
    with writing(path) as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
        file.write("\n")


class Ledger:
    """Counts what a stage did with each of its sentences: in = kept + dropped, always.

    `kept` sentences may still be marked (`note`: truncated, parsed by fallback, …); a note says nothing
    about keeping.
    """

    def __init__(self) -> None:
        self.kept = 0
        self.dropped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    def keep(self, sentences: int = 1) -> None:
        """Count sentences that went on to the next stage."""
        self.kept += sentences

    def drop(self, reason: str, sentences: int = 1) -> None:
        """Count sentences that did not."""
        self.dropped[reason] += sentences

    def note(self, what: str, sentences: int = 1) -> None:
        """Count something that happened to sentences whether or not they were kept."""
        self.noted[what] += sentences

    @property
    def read(self) -> int:
        """Sentences that came in."""
        return self.kept + self.dropped.total()

    def write(self, path: Path) -> None:
        """Write the counts as JSON: `{"in", "kept", "dropped": {reason: n}, "noted": {what: n}}`."""
        write_json(
            path,
            {
                "in": self.read,
                "kept": self.kept,
                "dropped": dict(sorted(self.dropped.items())),
                "noted": dict(sorted(self.noted.items())),
            },
        )
