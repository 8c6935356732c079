"""Render a table of facts about systems: cost, parser, seed and software."""

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline_py.report.stage_results import read_ceilings
from pipeline_py.report.tables import renderings
from pipeline_py.report.tables.sheet import MISSING_VALUE, Cell, Column, InputFiles, Sheet
from pipeline_py.report.tables.system_measures import PARSER_METRICS, describe_shared_cores, read_parser_accuracies

# Column → key of facts.json.
FACT_KEYS = {
    "parameters": "parameters",
    "updates": "updates",
    "epochs": "epochs",
    "words_per_second": "target_words_per_second",
    "seconds": "seconds",
    "best_dev": "best_dev",
    "dev_metric": "early_stopping",
    "device": "device",
    "threads": "threads",
    "seed": "seed",
}
# Optional columns: a phrase-based system has none of these keys.
OPTIONAL_FACT_KEYS = (
    "embedding",
    "hidden",
    "loss",
    "samples",
    "dev_loss",
    "dev_perplexity",
    "training_seconds",
    "seconds_per_epoch",
    "cpu_seconds",
    "training_cpu_seconds",
    "cpu_seconds_per_epoch",
    "target_words_per_cpu_second",
    "target_words_per_gpu_second",
    "core_share",
    "machine_load",
    "gpu_hours",
    "processor",
    "precision",
    "kernels",
    "chosen_beam",
    "dev_bleu_by_beam",
)
# Packages that parse and score for every system.
SCORING_PACKAGE = "sacrebleu"
SHARED_PACKAGES = ("stanza", SCORING_PACKAGE)
LOCAL_ORIGIN = "here"
"""The origin of a system that this experiment trained."""


def render_facts(
    *, description: dict[str, Any], files: dict[str, dict[str, Path]], tsv_output: Path, markdown_output: Path
) -> None:
    """Render a table of the parameters, speed, time, hardware, seed, parser and versions of every system.

    Where a fact does not apply, the TSV has an empty value and other formats a dash. Versions are those that trained
    the system, or the installed ones of stanza and sacrebleu if training did not load them.

    `seconds` is wall-clock time, which includes waiting for other work on the machine. `cpu_seconds` is CPU time over
    all threads and processes. The prefix `training_` excludes validation; so do target words per CPU or GPU second.
    `core_share` is the fraction of the requested core time that a training received; `machine_load` is the mean number
    of tasks that wanted a core, divided by the number of cores. `kernels` is true if a training on a CPU used the
    compiled code of `nmt/fast/elementwise.c`.

    Settings of search, training, data and subwords have columns if the table's systems differ in them.

    `chosen_beam` is the beam width chosen on dev, and `dev_bleu_by_beam` the BLEU that decided. A row whose table also
    has ensembles of the network names each of them.

    Facts that only networks have, such as the perplexity on dev, and statistics of their parts on dev, such as the
    vision span of flexible attention, have columns if at least one system has them.

    `ceiling_SET` is the BLEU of the references of a set after tokenizing and detokenizing
    (`evaluation.compute_bleu_ceiling`).

    External systems have rows after the others. The column `origin` names their maker, if known. Their other cells are
    empty in the TSV, and `unknown` in other formats.

    Args:
        description: The plan's description of the systems: `parsers`, the parser of each system;
            `settings`, by column and system, the settings in which systems differ; `from_elsewhere`, the origin of each
            external system; `sets`, the sets of the table, if there is a file of ceilings.
        files: Inputs by kind and name: `facts` by SYSTEM:RUN, the facts.json of trainings in the table's order;
            `beams` by SYSTEM:RUN:ROW, the widths that `nmt.choose_beam` chose for rows of the table that search with
            a system; `accuracy` by PARSER:TREES, TSV of `syntax.measure_accuracy`; `ceiling`, TSV of
            `evaluation.compute_bleu_ceiling`.
        tsv_output: The table as TSV.
        markdown_output: The table as Markdown.
    """
    inputs = InputFiles(files)
    ceilings = {
        f"ceiling_{ceiling.set}": round(ceiling.bleu, 2)
        for path in inputs.get_files("ceiling").values()
        for ceiling in read_ceilings(path)
        if ceiling.set in description["sets"]
    }
    choices: dict[tuple[str, ...], dict[str, Any]] = {}
    for (*training, searching_row), path in inputs.get_files("beams").items():
        choices.setdefault(tuple(training), {})[searching_row] = _read_json(path)
    read: list[tuple[str, dict[str, Any]]] = [
        (training[0], {**_read_json(path), **_describe_beam_choices(training[0], choices.get(training, {}))})
        for training, path in inputs.get_files("facts").items()
    ]
    accuracies = read_parser_accuracies(inputs.get_files("accuracy"))
    software = dict.fromkeys([*(name for _, content in read for name in content["versions"]), *SHARED_PACKAGES])
    origins: dict[str, str | None] = description.get("from_elsewhere", {})
    unknown: dict[str, Any] = dict.fromkeys(FACT_KEYS.values()) | {
        "versions": dict.fromkeys({*software} - {SCORING_PACKAGE})
    }
    rows = []
    for system, content in [*read, *((system, unknown) for system in origins)]:
        parser = description["parsers"].get(system)
        accuracy = accuracies.get(parser, {})
        row: list[dict[str, Any]] = [
            {"system": system, **{column: content[key] for column, key in FACT_KEYS.items()}},
            {key: content.get(key) for key in OPTIONAL_FACT_KEYS},
            _collect_context_statistics(content),
            {column: values_by_system.get(system) for column, values_by_system in description["settings"].items()},
            {"parser": parser},
            {metric: accuracy[metric].value if metric in accuracy else None for metric in PARSER_METRICS},
            {package: content["versions"].get(package, _get_installed_version(package)) for package in software},
            {"origin": origins.get(system, LOCAL_ORIGIN)} if origins else {},
            ceilings,
        ]
        rows.append(row)
    # Optional facts and parser metrics (parts 1 and 5) have a column only if a row has a value.
    columns = [
        (place, name)
        for place, parts in enumerate(zip(*rows, strict=True))
        for name in dict.fromkeys(name for part in parts for name in part)
        if place not in (1, 5) or any(part[name] is not None for part in parts)
    ]
    shares: dict[str, list[float]] = {}
    for system, content in read:
        if content.get("core_share") is not None:
            shares.setdefault(system, []).append(content["core_share"])
    values = [[row[place].get(name) for place, name in columns] for row in rows]
    cells = [
        [Cell(_format_value(value), "" if value is None else _format_raw_value(value)) for value in row]
        for row in values
    ]
    for row_of_cells in cells[len(read) :]:
        row_of_cells[1:] = [Cell("unknown", "") if cell.text == MISSING_VALUE else cell for cell in row_of_cells[1:]]
    layout = Sheet(
        "Facts of the run", [Column(name, name) for _, name in columns], cells, describe_shared_cores(shares, str)
    )
    renderings.write_sheet(layout, tsv_output, markdown_output=markdown_output)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _describe_beam_choices(system: str, choices_by_row: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the facts about the beam widths of rows that search with a system; empty without a choice."""
    facts: dict[str, list[str]] = {}
    for row, choice in choices_by_row.items():
        prefix = "" if row == system else f"{row}: "
        scores = ", ".join(f"{width['beam']}: {width['bleu']:.2f}" for width in choice["widths"])
        facts.setdefault("chosen_beam", []).append(f"{prefix}{choice['beam']}")
        facts.setdefault("dev_bleu_by_beam", []).append(f"{prefix}{scores}")
    return {fact: "; ".join(texts) for fact, texts in facts.items()}


def _collect_context_statistics(facts: dict[str, Any]) -> dict[str, Any]:
    """Return statistics of the decoder's contexts; names after the first context get its number."""
    return {
        name if number == 1 else f"{name} ({number})": value
        for number, context in enumerate(facts.get("statistics", []), start=1)
        for name, value in context.items()
    }


def _get_installed_version(package: str) -> str | None:
    try:
        return metadata.version(package) if package in SHARED_PACKAGES else None
    except metadata.PackageNotFoundError:
        return None


def _format_value(value: Any) -> str:
    """Format a value for readers, with a dash for None and four significant digits."""
    if value is None:
        return MISSING_VALUE
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return _format_raw_value(value)


def _format_raw_value(value: Any) -> str:
    """Format a value for programs, booleans as yes or no."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
