"""Files of contrastive pairs: a source, a correct translation, and a translation with an error.

Files are TSV with a header and without quoting, or JSON in the format of LingEval97 (Sennrich 2017), also compressed.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.files.encoding_faults import find_surrogate_fault
from pipeline_py.files.text_files import get_uncompressed_name, is_whole_number, read_byte_lines, read_lines
from pipeline_py.run.errors import InputError

TEXT_COLUMNS = ("source", "correct", "contrastive")
METADATA_COLUMNS = ("kind", "distance", "frequency")
SENTENCE_COLUMN = "sentence"
"""Column of the number of a pair's source sentence, in the properties of the pairs of a set."""


class ContrastivePair(NamedTuple):
    """A contrastive pair; empty strings stand for unknown metadata.

    Attributes:
        source: source sentence.
        correct: correct translation.
        contrastive: translation with an error.
        kind: kind of error.
        distance: number of words between the words that have to agree.
        frequency: frequency of the affected word in training text.
    """

    source: str
    correct: str
    contrastive: str
    kind: str = ""
    distance: str = ""
    frequency: str = ""


def read_contrastive_pairs(path: Path) -> Iterator[ContrastivePair]:
    """Yield the pairs of a file; `.json` and `.json.gz` are JSON in LingEval97's format, other files are TSV.

    A TSV file has the columns `source`, `correct`, `contrastive` and optionally `kind`, `distance` and `frequency`.
    `kind` defaults to the name of the file. A JSON file is a list of objects with `source`, `reference` and `errors`, a
    list of objects with `contrastive`, `type` and optionally `distance` and `frequency`. Each error makes one pair.

    Raises:
        InputError: a line or entry is malformed, or the file has no pairs.
    """
    name = get_uncompressed_name(path)
    pairs = _read_json_pairs(path) if name.endswith(".json") else _read_tsv_pairs(path, name.removesuffix(".tsv"))
    pair = None
    for pair in pairs:
        yield pair
    if pair is None:
        raise InputError("the file has no contrastive pairs; add some, or leave the file out", path)


def _read_tsv_pairs(path: Path, default_kind: str) -> Iterator[ContrastivePair]:
    columns: list[str] = []
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if number == 1:
            columns = fields
            _check_columns(columns, path)
            continue
        if len(fields) != len(columns):
            raise InputError(
                f"the line has {len(fields)} columns and the header has {len(columns)}; columns are separated by tabs",
                path,
                number,
            )
        named = dict(zip(columns, fields, strict=True))
        if mistake := _find_pair_error(named):
            raise InputError(mistake, path, number)
        yield ContrastivePair(**{"kind": default_kind, **named})


def _check_columns(columns: list[str], path: Path) -> None:
    for name in columns:
        if name not in (*TEXT_COLUMNS, *METADATA_COLUMNS) or columns.count(name) > 1:
            fault = "stands twice" if columns.count(name) > 1 else "is unknown"
            raise InputError(
                f"the column {name!r} {fault}; columns are {', '.join((*TEXT_COLUMNS, *METADATA_COLUMNS))}", path, 1
            )
    if missing := [name for name in TEXT_COLUMNS if name not in columns]:
        raise InputError(f"no column {missing[0]!r}; the first line must name {', '.join(TEXT_COLUMNS)}", path, 1)


def _read_json_pairs(path: Path) -> Iterator[ContrastivePair]:
    try:
        content = json.loads(b"\n".join(read_byte_lines(path)))
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8 ({error.reason}); convert the file", path) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON ({error.msg}); correct it", path, error.lineno) from None
    if not isinstance(content, list):
        raise InputError("the file is not a list of sentences; give a file in LingEval97's JSON format", path)
    for number, entry in enumerate(content, start=1):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("errors"), list):
            raise InputError(
                f"entry {number} is not a sentence with a list of `errors`; give a file in LingEval97's JSON format",
                path,
            )
        for error_entry in entry["errors"]:
            if not isinstance(error_entry, Mapping):
                raise InputError(f"entry {number}: an error is an object with `contrastive`, not {error_entry!r}", path)
            fields = {
                "source": entry.get("source"),
                "correct": entry.get("reference"),
                "contrastive": error_entry.get("contrastive"),
                "kind": error_entry.get("type", ""),
                "distance": error_entry.get("distance", ""),
                "frequency": error_entry.get("frequency", ""),
            }
            fields = {name: str(value) if type(value) is int else value for name, value in fields.items()}
            if fault := _find_pair_error(fields):
                raise InputError(f"entry {number}: {fault}", path)
            yield ContrastivePair(**fields)


def _find_pair_error(fields: Mapping[str, Any]) -> str | None:
    """Return an error message for a malformed pair; None if it is well-formed."""
    for name, text in fields.items():
        if not isinstance(text, str):
            return f"`{name}` must be text, not {text!r}; write it"
        if fault := find_surrogate_fault(text):
            return f"`{name}` {fault}"
        if "\n" in text:
            return f"`{name}` is on several lines; write it on one"
        if name in TEXT_COLUMNS and not text.strip():
            return f"`{name}` is empty; write it, or leave the pair out"
        if name in ("distance", "frequency") and text and not is_whole_number(text):
            return f"`{name}` must be a whole number, not {text!r}; leave it empty if it is unknown"
    if fields["correct"] == fields["contrastive"]:
        return "both translations are the same, so that neither can be the better one; leave the pair out"
    if "\t" in fields.get("kind", ""):
        return "`kind` has a tab; leave it out"
    return None
