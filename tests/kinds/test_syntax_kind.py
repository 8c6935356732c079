"""Kinds of syntax: lookup by name, and support for a new kind."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline_py import kinds
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.kinds.syntax_kind import load_all_syntax_kinds, load_syntax_kind
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.data.packed_files import count_syntax_identifiers, open_syntax
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.run.errors import InputError
from pipeline_py.subword.inherit import inherit

ROOT = Path(__file__).parents[2]


def test_a_kind_has_the_name_of_its_module():
    names = [kind.name for kind in load_all_syntax_kinds()]
    assert names == ["distances", "heads", "labels", "lexical_trees", "parents", "trees", "units"]
    assert [load_syntax_kind(name).name for name in names] == names


def test_kinds_have_distinct_files():
    for files in (
        [kind.word_file_suffix for kind in load_all_syntax_kinds() if kind.word_file_suffix],
        [kind.vocabulary_ids.vocabulary_file for kind in load_all_syntax_kinds() if kind.vocabulary_ids],
    ):
        assert len({*files}) == len(files)


@pytest.fixture
def tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a kind with two identifiers per word, in a text file."""
    (tmp_path / "tags.py").write_text(
        "from pipeline_py.kinds.syntax_kind import SyntaxKind, VocabularyIds\n"
        'VALUES = VocabularyIds(2, vocabulary_file="vocabulary.tags", extra_id_count=1)\n'
        'SYNTAX_KIND = SyntaxKind("tags", "conllu", VALUES, word_file_suffix="tags")\n'
    )
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    yield
    sys.modules.pop("pipeline_py.kinds.tags", None)


@pytest.mark.usefixtures("tags")
def test_a_new_kind_is_planned_inherited_checked_and_batched(tmp_path: Path) -> None:
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    plan = ExperimentPlan(load_experiment(default, should_check_files=False), ROOT, tmp_path / "contents.json").subword
    assert plan.get_syntax_path_pattern("default", "tags") == "<results>/syntax/{parser}/{split}.tags"
    assert plan.get_network_syntax_paths("SDAtt", "dev", ["tags"]) == [
        "<results>/subword/default/packed/embedded/dev.tags.arrow"
    ]

    (tmp_path / "words").write_text("A B\n")
    (tmp_path / "pieces").write_text("a@@ a b\n")
    inherit(kind="tags", input=tmp_path / "words", pieces=tmp_path / "pieces", output=tmp_path / "inherited")
    assert (tmp_path / "inherited").read_text() == "A A B\n"

    (tmp_path / "vocabulary").write_text("</s> 0\n<unk> 0\nA 2\n")
    vocabularies = count_syntax_identifiers({"tags": tmp_path / "vocabulary"})
    assert vocabularies == {"tags": 4}
    write_ragged_rows(tmp_path / "source", [np.array([2, 0])], "int32")
    source = RaggedArrayFile(tmp_path / "source")
    for row, message in (([1, 2], "2 values of tags"), ([1, 2, 3, 4], "outside the vocabulary of 4")):
        write_ragged_rows(tmp_path / "tags", [np.array(row)], "int32")
        with pytest.raises(InputError, match=message):
            open_syntax({"tags": tmp_path / "tags"}, source, vocabularies)
    batch = collate_batch([np.array([2, 0])], syntax={"tags": [np.array([1, 2, 3, 0])]})
    assert batch.get_syntax("tags").tolist() == [[[1, 2], [3, 0]]]


def test_syntax_without_values_for_words_is_not_inherited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"heads: .* give one of distances, labels, trees, units"):
        inherit(kind="heads", input=tmp_path / "x", pieces=tmp_path / "x", output=tmp_path / "y")
