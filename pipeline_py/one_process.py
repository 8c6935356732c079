"""What several stages in one process need: each finds it as a process of its own would be, but for loaded models."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr
from functools import cache
from importlib import import_module
from io import TextIOBase
from typing import Any

OF_NETWORKS = ("nmt.search.ensemble:load",)

LOADERS = {
    "corpus.tokenize": ("corpus.tokenize:load",),
    "syntax.parse": ("syntax.stanza.model_source:ModelSource.load", "syntax.stanza.model_source:ModelSource.tokenizer"),
    "nmt.translate": OF_NETWORKS,
    "nmt.force_decode": OF_NETWORKS,
    "nmt.attend": OF_NETWORKS,
    "smt.translate": ("smt.thot:load",),
}
"""What takes a stage long to load: functions whose result stays as it is, by module and name."""

WARNING = "warning: "


class OneProcess:
    """Stages that share what they load."""

    def __init__(self) -> None:
        self._once: dict[str, Callable[..., Any]] = {}

    @contextmanager
    def stage(self, module: str) -> Iterator[None]:
        """Run a stage within it: `nmt.translate`."""
        originals = []
        try:
            for loader in LOADERS.get(module, ()):
                place, _, path = loader.partition(":")
                *outer, name = path.split(".")
                owner: Any = import_module(f"pipeline_py.{place}")
                for part in outer:
                    owner = getattr(owner, part)
                original = getattr(owner, name)
                originals.append((owner, name, original))
                setattr(owner, name, self._once.setdefault(loader, cache(original)))
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)
            _leave_torch_as_new()


def _leave_torch_as_new() -> None:
    """Take back what `nmt.device.prepare` sets, which other stages, and a notebook, do without."""
    gc.unfreeze()
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_deterministic_debug_mode("default")
        torch.set_flush_denormal(False)


def warnings_alone() -> AbstractContextManager[object]:
    """Let nothing through that stages say but warnings, and at a terminal all."""
    return nullcontext() if sys.stderr.isatty() else redirect_stderr(_Warnings(sys.stderr))


class _Warnings(TextIOBase):
    """A stderr that lets warnings through."""

    def __init__(self, stderr: Any) -> None:
        self._stderr = stderr
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if line.startswith(WARNING):
                self._stderr.write(f"{line}\n")
        return len(text)
