"""Text of two tasks: what is translated, what is parsed, and what a parse is."""

import json
from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.subword.parsing_task import parsing_task

SOURCE = "the ca@@ t sleeps\n\nno parse\nhm\n"
TARGET = "die Kat@@ ze schläft\n\nkeine\nhm\n"
TREES = """(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))

(FAILED (X no) (X parse))
(UH hm)
"""


def files(folder: Path, source: str = SOURCE, target: str = TARGET, trees: str = TREES) -> dict[str, Path]:
    lines = {"source": source, "target": target, "trees": trees}
    for name, text in lines.items():
        (folder / name).write_text(text, encoding="utf-8")
    outputs = {f"{name}_output": folder / f"{name}.made" for name in ("source", "target", "counts")}
    return {name: folder / name for name in lines} | outputs


def test_a_worked_example(tmp_path: Path) -> None:
    parsing_task(**files(tmp_path))
    assert (tmp_path / "source.made").read_text(encoding="utf-8").splitlines() == [
        "<translate> the ca@@ t sleeps <translate>",
        "<translate> <translate>",
        "<translate> no parse <translate>",
        "<translate> hm <translate>",
        "<parse> the ca@@ t sleeps <parse>",
    ]
    assert (tmp_path / "target.made").read_text(encoding="utf-8").splitlines() == [
        *TARGET.splitlines(),
        "(ROOT (S (NP )NP (VP )VP )S )ROOT",
    ]
    assert json.loads((tmp_path / "counts.made").read_text())["noted"] == {"no parse": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trees": "(UH hm)\n"}, "{folder}/trees: the file has 1 sentences and others have more"),
        ({"source": "a\n"}, "{folder}/source: the file has 1 sentences and others have more"),
        ({"target": "a\n" * 5}, "the file has 4 sentences and others have more"),
    ],
)
def test_files_of_other_texts_are_refused(tmp_path: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        parsing_task(**files(tmp_path, **change))
    assert message.format(folder=tmp_path) in str(error.value)
    assert not (tmp_path / "source.made").exists() and not (tmp_path / "target.made").exists()
