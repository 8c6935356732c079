"""Exported files are read by other tools, and give the same scores there."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.export import export
from pipeline_py.evaluation.import_translations import import_translations
from pipeline_py.run.errors import InputError
from tests.text_files import read_lines, write_lines

SOURCE = ["the cat sleeps .", "a dog", "It's 3.5 % of it ."]
REFERENCES = [["Die Katze schläft.", "Ein Hund", "Es sind 3,5 %."], ["Es schläft die Katze.", "ein Hund", "3,5 %"]]
OUTPUTS = {
    ("SDAtt@random", "seed1"): ["die Katze schläft.", "", "Es sind 3,5 % davon."],
    ("SDAtt@random", "seed2"): ["Eine Katze schläft.", "ein Hund", "Es ist 3,5 %."],
    ("PBSMT", "single"): ["Die Katze schläft tief.", "ein Hund bellt", "Es sind 3,5 %."],
}
METRICS = ["bleu", "chrf", "ter"]


def build_inputs(folder: Path, references: Sequence[Sequence[str]] = REFERENCES, **options: Any) -> dict[str, Any]:
    """Write the translations of the set `one`, score them, and return the arguments of `export` except the folder."""
    source = write_lines(folder / "one.source", SOURCE)
    reference_paths = [
        write_lines(folder / f"one.target{number}", lines) for number, lines in enumerate(references, start=1)
    ]
    translations: dict[str, dict[str, Path]] = {}
    scores: dict[str, dict[str, dict[str, Path]]] = {}
    for (system, run), lines in OUTPUTS.items():
        output = write_lines(folder / f"{system}.{run}.txt", lines)
        translations.setdefault(system, {})[run] = output
        if references:
            paths = {metric: folder / f"{system}.{run}.{metric}.json" for metric in METRICS}
            scores.setdefault(system, {})[run] = paths
            compute_metric_statistics(
                hypothesis=output,
                references=reference_paths,
                output=folder / "one.statistics.arrow",
                metrics=METRICS,
                scores_output=[*paths.values()],
                **options,
            )
    return {
        "sources": {"one": source},
        "references": {"one": reference_paths},
        "translations": {"one": translations},
        "scores": {"one": scores} if references else {},
        "source_language": "en",
        "target_language": "de",
    }


def list_files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


NAMES = ["PBSMT.single", "SDAtt@random.seed1", "SDAtt@random.seed2"]


def test_every_tool_has_a_folder(tmp_path: Path) -> None:
    export(**build_inputs(tmp_path), output=tmp_path / "export")
    layout = "mt-metrics-eval/one"
    assert list_files(tmp_path / "export") == {
        *(f"text/one/{name}.txt" for name in ("source", "ref1", "ref2", *NAMES)),
        *(f"sacrebleu/one/{name}.{metric}.json" for name in NAMES for metric in METRICS),
        f"{layout}/documents/en-de.docs",
        f"{layout}/sources/en-de.txt",
        *(f"{layout}/references/en-de.{name}.txt" for name in ("ref1", "ref2")),
        *(f"{layout}/system-outputs/en-de/{name}.txt" for name in NAMES),
    }


def test_texts_are_those_that_were_scored(tmp_path: Path) -> None:
    export(**build_inputs(tmp_path), output=tmp_path / "export")
    text, layout = tmp_path / "export" / "text" / "one", tmp_path / "export" / "mt-metrics-eval" / "one"
    assert read_lines(text / "source.txt") == read_lines(layout / "sources" / "en-de.txt") == SOURCE
    assert read_lines(layout / "documents" / "en-de.docs") == ["one one"] * len(SOURCE)
    for number, lines in enumerate(REFERENCES, start=1):
        assert read_lines(text / f"ref{number}.txt") == lines
        assert read_lines(layout / "references" / f"en-de.ref{number}.txt") == lines
    for (system, run), lines in OUTPUTS.items():
        name = f"{system}.{run}.txt"
        assert read_lines(text / name) == read_lines(layout / "system-outputs" / "en-de" / name) == lines


@pytest.mark.parametrize(("lowercase", "reference_count"), [(True, 2), (False, 1)])
def test_scores_are_printed_as_by_the_sacrebleu_command(tmp_path: Path, lowercase: bool, reference_count: int) -> None:
    inputs = build_inputs(tmp_path, REFERENCES[:reference_count], lowercase=lowercase)
    export(**inputs, output=tmp_path / "export")
    text = tmp_path / "export" / "text" / "one"
    references = [str(text / f"ref{number}.txt") for number in range(1, reference_count + 1)]
    case_options = {
        "bleu": ["--lowercase"] if lowercase else [],
        "chrf": ["--chrf-lowercase"] if lowercase else [],
        "ter": [] if lowercase else ["--ter-case-sensitive"],
    }
    name = "SDAtt@random.seed1"
    for metric, options in case_options.items():
        command = [sys.executable, "-m", "sacrebleu", *references, "-i", str(text / f"{name}.txt"), "-m", metric]
        command += ["--format", "json", "--width", "2", *options]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        exported = (tmp_path / "export" / "sacrebleu" / "one" / f"{name}.{metric}.json").read_text(encoding="utf-8")
        assert exported == printed and json.loads(exported)["nrefs"] == str(reference_count)


def test_exported_translations_can_be_imported(tmp_path: Path) -> None:
    inputs = build_inputs(tmp_path)
    export(**inputs, output=tmp_path / "export")
    text = tmp_path / "export" / "text" / "one"
    for system, runs in inputs["translations"]["one"].items():
        for run in runs:
            import_translations(
                translations=text / f"{system}.{run}.txt",
                source=text / "source.txt",
                name="one",
                output=tmp_path / "imported.txt",
            )
            compute_metric_statistics(
                hypothesis=tmp_path / "imported.txt",
                references=[text / "ref1.txt", text / "ref2.txt"],
                output=tmp_path / "imported.statistics.arrow",
                metrics=["bleu"],
                scores_output=[tmp_path / "imported.json"],
            )
            original_score = inputs["scores"]["one"][system][run]["bleu"].read_text(encoding="utf-8")
            assert (tmp_path / "imported.json").read_text(encoding="utf-8") == original_score


def test_a_set_without_references_has_only_texts(tmp_path: Path) -> None:
    export(**build_inputs(tmp_path, references=[]), output=tmp_path / "export")
    assert list_files(tmp_path / "export") == {f"text/one/{name}.txt" for name in ("source", *NAMES)}


def test_regions_of_languages_do_not_split_the_language_pair(tmp_path: Path) -> None:
    inputs = {**build_inputs(tmp_path), "source_language": "zh-hans", "target_language": "pt-BR"}
    export(**inputs, output=tmp_path / "export")
    assert (tmp_path / "export" / "mt-metrics-eval" / "one" / "sources" / "zh_hans-pt_BR.txt").is_file()


def test_nothing_to_export_is_an_error(tmp_path: Path) -> None:
    inputs = {**build_inputs(tmp_path), "translations": {}, "scores": {}}
    with pytest.raises(InputError, match="no translations to export; name a table with scores in `targets`"):
        export(**inputs, output=tmp_path / "export")
