"""Model files whose bytes depend on the model only.

Stanza saves in torch's old format, which names tensors by their addresses in memory.
"""

from pathlib import Path
from typing import Any

import torch

from pipeline_py.artifact import whole


def load_model(path: Path) -> Any:
    """The content of a model file (tensors and plain values only: nothing in it is executed)."""
    return torch.load(path, map_location="cpu", weights_only=True)


def save_reproducibly(content: Any, path: Path) -> None:
    """Save tensors and plain values so that equal content gives equal bytes."""
    params = content.get("params") if isinstance(content, dict) else None
    if isinstance(params, dict) and "rare_words" in params:
        params["rare_words"] = sorted(params["rare_words"])  # Stanza saves a set in any order
    with whole(path) as temporary, temporary.open("wb") as file:
        torch.save(content, file)
