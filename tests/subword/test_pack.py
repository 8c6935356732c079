"""Packed rows: identifiers with EOS, nothing lost."""

import json
from pathlib import Path

import numpy as np

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.subword.pack import pack
from pipeline_py.subword.vocabulary import EOS, Vocabulary

VOCABULARY = "</s> 0\n<unk> 0\na 5\nb@@ 4\nz\u00a0z 1\n"


def test_rows_are_identifiers_and_eos(tmp_path: Path) -> None:
    (tmp_path / "vocabulary").write_text(VOCABULARY)
    (tmp_path / "text").write_text("b@@ a new\n\nz\u00a0z </s> a\n")
    paths = {name: tmp_path / name for name in ("vocabulary", "output", "counts_output")}
    pack(input=tmp_path / "text", **paths)
    rows = RaggedArrayFile(tmp_path / "output")
    assert [rows[k].tolist() for k in range(len(rows))] == [[3, 2, 1, 0], [0], [4, 1, 2, 0]]
    assert rows[0].dtype == np.int32
    assert json.loads((tmp_path / "counts_output").read_text()) == {
        "in": 3,
        "kept": 3,
        "dropped": {},
        "noted": {"empty line": 1, "tokens": 6, "unknown tokens": 2},
    }
    first = (tmp_path / "output").read_bytes()
    pack(input=tmp_path / "text", **paths)
    assert (tmp_path / "output").read_bytes() == first


def test_known_tokens_decode_to_the_text_across_blocks(tmp_path: Path) -> None:
    (tmp_path / "vocabulary").write_text(VOCABULARY)
    lines = [" ".join(["a", "b@@", "z\u00a0z"][: k % 4]) for k in range(9000)]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    paths = {name: tmp_path / name for name in ("vocabulary", "output", "counts_output")}
    pack(input=tmp_path / "text", **paths)
    rows = RaggedArrayFile(tmp_path / "output")
    vocabulary_tokens = Vocabulary.load(tmp_path / "vocabulary")
    assert len(rows) == len(lines)
    assert all(rows[k][-1] == EOS for k in range(len(rows)))
    assert [" ".join(vocabulary_tokens.decode(rows[k][:-1])) for k in range(len(rows))] == lines
