"""Records of jobs: a hidden file next to each output describes the job that made it.

    results/subword/default/pieces/dev.source
    results/subword/default/pieces/.dev.source.job.json

A record contains the stage, its arguments, code and versions, hashes of inputs and outputs, seconds, and the peak
memory of the process unless the outputs were restored.
`python -m pipeline_py.run RECORD` runs the job again. Hashes detect damage and mistakes, not forgery.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import write_json
from pipeline_py.files.text_files import open_regular_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import HASH_DIGITS

RECORD_SUFFIX = ".job.json"

RECORD_MISMATCH_ERROR = "damaged: its content is not that of its record; remove it and run again"


def get_record_path(path: Path) -> Path:
    """Return the path of the record of an output."""
    return path.parent / f".{path.name}{RECORD_SUFFIX}"


def hash_content(path: Path) -> str:
    """Hash the content of a file, or the names and contents of all visible files in a folder."""
    if not path.is_dir():
        status = path.stat()
        return _hash_file(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    content = "\n".join(f"{file.relative_to(path)} {hash_content(file)}" for file in files)
    return hashlib.sha256(content.encode()).hexdigest()[:HASH_DIGITS]


@cache
def _hash_file(path: Path, *_: int) -> str:
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:HASH_DIGITS]


def remove_records(paths: Iterable[Path]) -> None:
    """Remove the records of outputs that will be written."""
    for path in paths:
        if _is_existing_path(get_record_path(path)):
            get_record_path(path).unlink()


def write_records(record: Mapping[str, Any], outputs: Iterable[Path], results_folder: Path) -> None:
    """Write the record of a job next to each of its outputs.

    Args:
        record: metadata of the job.
        outputs: existing files or folders; names in the record are relative to `results_folder` if they are below it.
        results_folder: the folder of results.
    """
    paths = [*outputs]
    hashes = {_get_recorded_name(path, results_folder): hash_content(path) for path in paths}
    for path in paths:
        write_json(get_record_path(path), {**record, "outputs": hashes})


def _get_recorded_name(path: Path, results_folder: Path) -> str:
    return str(path.relative_to(results_folder)) if path.is_relative_to(results_folder) else path.name


def read_record(path: Path) -> dict[str, Any] | None:
    """Read a record; None if it is missing or invalid.

    Raises:
        InputError: the file is not a regular file.
    """
    try:
        with open_regular_file(path) as file:
            record = json.loads(file.read())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("outputs"), dict) else None


def has_recorded_name(path: Path, recorded_name: str) -> bool:
    """Return whether a path ends with the name that an output has in its record."""
    return path.parts[-len(Path(recorded_name).parts) :] == Path(recorded_name).parts


def check_input_file(path: Path) -> None:
    """Check a file that a job wrote against its record.

    A file without a record, such as the user's, is checked against its internal checksum, if its format has one. A
    missing file passes.

    Raises:
        InputError: the file is damaged, or its record belongs to another file.
    """
    if not _is_existing_path(path):
        return
    if not _is_existing_path(get_record_path(path)):
        if path.suffix in artifacts.CHECKSUM_SUFFIXES and path.is_file() and not artifacts.has_valid_checksum(path):
            raise InputError(artifacts.CHECKSUM_MISMATCH_ERROR, path)
        return
    record = read_record(get_record_path(path))
    hashes = {} if record is None else record["outputs"]
    names = [name for name in hashes if has_recorded_name(path, name)]
    if not names and hashes:
        raise InputError(
            f"its record says that it was made as {next(iter(hashes))}; remove both files and run again", path
        )
    if not names or hashes[names[0]] != hash_content(path):
        raise InputError(RECORD_MISMATCH_ERROR, path)


def _is_existing_path(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 (a name may be too long, or below a file)
