"""Records of outputs: damage, swapped files, and files without a record."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.evaluation.column_files import write_sentence_columns
from pipeline_py.files.artifacts import write_json
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import (
    check_input_file,
    get_record_path,
    hash_content,
    read_record,
    remove_records,
    write_records,
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (folder := tmp_path / "results" / "corpus").mkdir(parents=True)
    for name in ("dev.source", "dev.target"):
        (folder / name).write_text(f"{name}\n")
        write_records({"stage": "corpus.clean"}, [folder / name], tmp_path / "results")
    return tmp_path / "results"


def test_a_record_is_next_to_its_output(results: Path) -> None:
    path = results / "corpus" / "dev.source"
    assert get_record_path(path) == results / "corpus" / ".dev.source.job.json"
    record = read_record(get_record_path(path))
    assert record == {"stage": "corpus.clean", "outputs": {"corpus/dev.source": hash_content(path)}}
    check_input_file(path)
    remove_records([path, results / "none"])
    assert not get_record_path(path).exists() and path.exists()


def test_all_outputs_of_a_job_are_in_each_of_its_records(tmp_path: Path) -> None:
    outputs = [tmp_path / "results" / "a", tmp_path / "b"]
    (tmp_path / "results").mkdir()
    for output in outputs:
        output.write_text(output.name)
    write_records({}, outputs, tmp_path / "results")
    records = [read_record(get_record_path(output)) for output in outputs]
    assert records[0] == records[1] == {"outputs": {output.name: hash_content(output) for output in outputs}}


def test_damage_is_detected(results: Path) -> None:
    path = results / "corpus" / "dev.source"
    path.write_text("dev.sourcE\n")
    with pytest.raises(InputError, match=r"dev\.source: damaged: its content is not that of its record; remove it"):
        check_input_file(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"outputs": []}', '{"outputs": {}}', "\udcff"])
def test_a_damaged_record_is_reported(results: Path, content: str) -> None:
    path = results / "corpus" / "dev.source"
    get_record_path(path).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=r"dev\.source: damaged"):
        check_input_file(path)


def test_files_swapped_with_their_records_are_detected(results: Path) -> None:
    """The content of each file matches its record, but the record belongs to another file."""
    source, target = (results / "corpus" / f"dev.{side}" for side in ("source", "target"))
    for first, second in ((source, target), (get_record_path(source), get_record_path(target))):
        first.rename(results / "aside")
        second.rename(first)
        (results / "aside").rename(second)
    with pytest.raises(
        InputError, match=r"dev\.source: its record says that it was made as corpus/dev\.target; remove"
    ):
        check_input_file(source)
    with pytest.raises(InputError, match=r"made as corpus/dev\.source"):
        check_input_file(target)


def test_swapped_outputs_of_a_job_are_detected(tmp_path: Path) -> None:
    """The records of the outputs are equal and name both files."""
    outputs = [tmp_path / name for name in ("a", "b")]
    for output in outputs:
        output.write_text(output.name)
    write_records({}, outputs, tmp_path)
    for output, content in zip(outputs, "ba", strict=True):
        output.write_text(content)
    for output in outputs:
        with pytest.raises(InputError, match="damaged: its content is not that of its record"):
            check_input_file(output)


def test_a_folder_of_results_may_move(results: Path) -> None:
    moved = results.parent / "elsewhere"
    shutil.move(results, moved)
    check_input_file(moved / "corpus" / "dev.source")


def test_files_without_a_record_are_accepted(tmp_path: Path) -> None:
    check_input_file(tmp_path / "missing")
    check_input_file(tmp_path / ("long" * 200))
    (tmp_path / "text").write_text("a\n")
    check_input_file(tmp_path / "text")
    write_sentence_columns(tmp_path / "c.arrow", {"bleu": np.zeros((2, 2))})
    check_input_file(tmp_path / "c.arrow")
    content = bytearray((tmp_path / "c.arrow").read_bytes())
    content[-50] ^= 1
    (tmp_path / "c.arrow").write_bytes(content)
    with pytest.raises(InputError, match=r"c\.arrow: damaged: its content and its checksum do not agree"):
        check_input_file(tmp_path / "c.arrow")


def test_a_folder_hash_includes_names_and_ignores_hidden_files(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_text("1")
    (folder / "inner" / "b").write_text("2")
    first = hash_content(folder)
    (folder / ".a.job.json").write_text("{}")
    assert hash_content(folder) == first
    write_records({}, [folder], tmp_path)
    check_input_file(folder)
    (folder / "inner" / "b").rename(folder / "inner" / "c")
    assert hash_content(folder) != first
    with pytest.raises(InputError, match="model: damaged"):
        check_input_file(folder)


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1")
    first = hash_content(path)
    path.write_text("2")
    assert hash_content(path) != first
    path.write_text("1")
    assert hash_content(path) == first


def test_an_invalid_record_is_ignored(tmp_path: Path) -> None:
    write_json(tmp_path / "a.job.json", {"stage": "x"})
    assert read_record(tmp_path / "a.job.json") is None and read_record(tmp_path / "none") is None
    (tmp_path / "b.job.json").write_text(json.dumps({"outputs": {"b": "0"}}))
    assert read_record(tmp_path / "b.job.json") == {"outputs": {"b": "0"}}
