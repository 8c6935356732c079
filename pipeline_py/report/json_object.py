"""Results that stages wrote as JSON."""

import json
from pathlib import Path
from typing import Any

from pipeline_py.input_error import InputError


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        path: the file.
        remedy: what to do where it is none, for the message.

    Raises:
        InputError: if the file is no JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError(f"the file is not a JSON object; {remedy}", path)
    return content
