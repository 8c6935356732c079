"""Export translations and scores as files for other tools."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pipeline_py.files.artifacts import write_atomically
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.run.errors import InputError

Value = TypeVar("Value")

SCORE_DECIMALS = 2
"""Decimal places of exported scores."""


def export(
    *,
    sources: dict[str, Path],
    references: dict[str, list[Path]],
    translations: dict[str, dict[str, dict[str, Path]]],
    scores: dict[str, dict[str, dict[str, dict[str, Path]]]],
    source_language: str,
    target_language: str,
    output: Path,
) -> None:
    """Export translations and scores as files for other tools.

    - `text/SET/`: `source.txt`, the references `ref1.txt`, `ref2.txt` … and the translations `SYSTEM.RUN.txt`, plain
      text with one sentence a line, for compare-mt and the `sacrebleu` command. SYSTEM is the name of a system's
      folder.
    - `sacrebleu/SET/SYSTEM.RUN.METRIC.json`: scores of the whole set as `sacrebleu --format json --width 2` prints
      them. No score is computed again.
    - `mt-metrics-eval/SET/`: `sources`, `references`, `system-outputs` and `documents` in the layout of MT Metrics Eval
      V2 (package version 0.0.4). Each set is one document. Sets without references are left out.

    Args:
        sources: Source sentences by set.
        references: Reference translations by set.
        translations: Translations as text by set, folder of the system, and run.
        scores: Scores by set, folder of the system, run and metric, as `compute_metric_statistics` writes them.
        source_language: Code of the source language.
        target_language: Code of the target language.
        output: The folder.

    Raises:
        InputError: there are no translations.
    """
    if not translations:
        raise InputError("there are no translations to export; name a table with scores in `targets`", "configuration")
    pair = "-".join(language.replace("-", "_") for language in (source_language, target_language))
    with write_atomically(output) as folder:
        for split, systems in translations.items():
            outputs = _flatten_runs(systems)
            numbered_references = {f"ref{number}": path for number, path in enumerate(references[split], start=1)}
            _copy_texts({"source": sources[split], **numbered_references, **outputs}, folder / "text" / split)
            if numbered_references:
                layout = folder / "mt-metrics-eval" / split
                _copy_texts({pair: sources[split]}, layout / "sources")
                _copy_texts(
                    {f"{pair}.{name}": path for name, path in numbered_references.items()}, layout / "references"
                )
                _copy_texts(outputs, layout / "system-outputs" / pair)
                (layout / "documents").mkdir()
                lines = [f"{split} {split}\n" for _ in read_byte_lines(sources[split])]
                (layout / "documents" / f"{pair}.docs").write_text("".join(lines), encoding="utf-8")
        for split, systems_with_scores in scores.items():
            score_folder = folder / "sacrebleu" / split
            score_folder.mkdir(parents=True)
            for name, paths in _flatten_runs(systems_with_scores).items():
                for metric, path in paths.items():
                    text = _render_sacrebleu_json(json.loads(path.read_text(encoding="utf-8")))
                    (score_folder / f"{name}.{metric}.json").write_text(text, encoding="utf-8")


def _flatten_runs(systems: Mapping[str, Mapping[str, Value]]) -> dict[str, Value]:
    """Return values of systems and runs by the name of their files, SYSTEM.RUN."""
    return {f"{system}.{run}": value for system, runs in systems.items() for run, value in runs.items()}


def _copy_texts(paths_by_name: Mapping[str, Path], folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, path in paths_by_name.items():
        shutil.copyfile(path, folder / f"{name}.txt")


def _render_sacrebleu_json(content: Mapping[str, Any]) -> str:
    """Render a score of `compute_metric_statistics` as the `sacrebleu` command prints it."""
    from sacrebleu.metrics.base import Score

    score = Score(content["name"], content["score"])
    score._verbose = content.get("verbose_score", "")
    return score.format(width=SCORE_DECIMALS, signature=content["signature"], is_json=True) + "\n"
