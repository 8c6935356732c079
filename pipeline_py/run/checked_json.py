"""JSON files that only save time, such as known hashes: a damaged one counts as missing."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline_py.artifact import write_json
from pipeline_py.input_error import InputError
from pipeline_py.run.job import hash_json


def read_checked_json(path: Path) -> dict[str, Any]:
    """Return what `write_checked_json` wrote; an empty dictionary if the file is missing or damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        file = json.loads(path.read_text(encoding="utf-8"))
        if file["checksum"] == hash_json(file["content"]):
            return dict(file["content"])
    return {}


def write_checked_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with its checksum, if the file can be written."""
    with suppress(OSError, InputError):
        write_json(path, {"checksum": hash_json(content), "content": content})
