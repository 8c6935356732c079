"""A corpus for tests of subwords."""

from pathlib import Path

import pytest

from pipeline_py.corpus.generate import generate


@pytest.fixture(scope="session")
def generated_texts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return 2,000 generated sentences in English and in German."""
    folder = tmp_path_factory.mktemp("generated")
    outputs = {name: folder / name for name in ("source", "target", "conllu", "ptb", "counts")}
    generate(sentences=2000, **{f"{name}_output": path for name, path in outputs.items()})
    return [outputs["source"], outputs["target"]]
