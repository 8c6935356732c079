"""Explanations of results agree with what Snakemake would do."""

from pathlib import Path

import pytest

from pipeline_py.commands.explain_file import compare_values, explain_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import RECORD_SUFFIX
from tests.project_copy import ProjectCopy

CONFIG = {
    "data": "texts",
    "parser": "right-branching",
    "corpora": {
        "train": [{"source": "train.en", "target": "train.de"}],
        "dev": {"name": "dev", "source": "dev.en", "references": ["dev.de"]},
        "tests": [{"name": "one", "source": "one.en", "references": ["one.de"]}],
    },
}
TARGETS = ["results/nmt/GlobalAtt/seed1/README.md", "results/evaluation/GlobalAtt/seed1/one.txt"]


def write_text(folder: Path, split: str, count: int) -> None:
    words = ("cat", "dog", "bird", "horse", "child")
    for side in ("en", "de"):
        lines = [f"{words[i % 5]} {side} {words[i // 5 % 5]} {i // 25}\n" for i in range(count)]
        (folder / f"{split}.{side}").write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ProjectCopy:
    """A project with a trained network on a user's text, whose training text contains the sets."""
    project = ProjectCopy(tmp_path_factory.mktemp("explained"))
    (project.folder / "texts").mkdir()
    for split, count in (("train", 120), ("dev", 10), ("one", 15)):
        write_text(project.folder / "texts", split, count)
    result = project.run_snakemake(*TARGETS, config=CONFIG)
    assert result.returncode == 0, result.stderr[-3000:]
    return project


@pytest.fixture(autouse=True)
def working_folder(project, monkeypatch) -> Path:
    monkeypatch.chdir(project.folder)
    return project.folder


def explain(capsys: pytest.CaptureFixture[str], file: str | Path, *config: str) -> str:
    explain_file(file=Path(file), configfile=["small.yaml"], config=[*config])
    return capsys.readouterr().out


def test_every_output_is_up_to_date_after_a_run(project, capsys):
    assert not project.count_planned_jobs(*TARGETS, config=CONFIG)
    records = [*Path("results").rglob(f".*{RECORD_SUFFIX}")]
    assert len(records) > 15
    for record in records:
        output = record.parent / record.name[1:].removesuffix(RECORD_SUFFIX)
        assert explain(capsys, output).endswith("  up to date with this experiment\n"), output


def test_a_changed_setting_is_named(capsys):
    model = explain(capsys, "results/nmt/GlobalAtt/seed1/model.safetensors", "training={epochs: 3}")
    assert "would be made again: training.epochs is 3 and was 1\n" in model and model.count("made again") == 1
    text = explain(capsys, TARGETS[1], "decoding={beam: 7}")
    assert "its input results/nmt/GlobalAtt/seed1/one.pieces would: decoding.beam is 7 and was 2\n" in text


def test_a_job_that_the_experiment_lacks_is_named(capsys):
    output = explain(
        capsys,
        "results/corpus/tokenized/one.source",
        "corpora={tests: [{name: two, source: one.en, references: [one.de]}]}",
    )
    assert "this experiment has no such job" in output


def test_a_changed_file_is_named(working_folder, capsys):
    file = working_folder / "results/corpus/clean/dev.source"
    content = file.read_bytes()
    try:
        file.write_bytes(b"other\n")
        assert "would be made again: the file is not the one that the job wrote" in explain(
            capsys, "results/corpus/clean/dev.source"
        )
        assert "would be made again: results/corpus/clean/dev.source has changed" in explain(
            capsys, "results/corpus/tokenized/dev.source"
        )
    finally:
        file.write_bytes(content)


def test_files_that_cannot_be_explained_are_rejected(working_folder, monkeypatch, tmp_path, capsys):
    with pytest.raises(InputError, match="none: no such file; `arbitree check FILE`"):
        explain(capsys, "results/none")
    with pytest.raises(InputError, match="no record of a stage's job is next to this file"):
        explain(capsys, "small.yaml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"in another folder; change to {working_folder}"):
        explain(capsys, working_folder / TARGETS[1])


def test_differing_values_are_named_by_key():
    assert [*compare_values("", {"a": {"b": 1, "c": [2]}}, {"a": {"b": 3, "c": [2], "d": 4}})] == [
        "a.b is 1 and was 3",
        "a.d is not set any more",
    ]
    assert [*compare_values("a", "x" * 200, "y")] == ["a has changed"]
    assert [*compare_values("a", {"b": 1}, None)] == ["a is {'b': 1} and was None"]
