"""A table of the run's facts: what each system cost, and with which parser, seed and software it was made."""

from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline_py import stage
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.report.json_object import read_object
from pipeline_py.report.names import names
from pipeline_py.report.tables import renderings
from pipeline_py.report.tables.parser_accuracy import METRICS, read_accuracies
from pipeline_py.report.tables.sheet import NOTHING, Cell, Column, Sheet
from pipeline_py.report.tables.training_notes import note_on_shared_cores
from pipeline_py.stage import InputError

# Column → key of facts.json.
COLUMNS = {
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
# Columns that are there if a file has the key of the same name: a phrase-based system has none of them.
OPTIONAL = (
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
    "energy_joules",
    "energy_of",
    "kernels",
)
# What parses and scores whatever the system is made with.
SHARED_SOFTWARE = ("stanza", "sacrebleu")


def facts(
    *,
    facts: list[str],
    output: Path,
    title: str = "Facts of the run",
    parser: list[str] | None = None,
    parser_accuracy: list[str] | None = None,
    setting: list[str] | None = None,
    markdown_output: Path | None = None,
) -> None:
    """Lay out parameters, updates, speed, time, energy, dev score, hardware, seed, parser and versions of every system.

    The TSV has an empty value, and the renderings a dash, where a fact does not apply. Versions are those that
    trained the system; where it did not load stanza or sacrebleu, those installed here.

    Seconds are those on the wall, which other work on the machine makes longer. `cpu_seconds` are those that processors
    worked, over all threads and processes, `training_` without looks at the development set; target words per second of
    a processor, or of a card, are of `training_`. `core_share` is the share of the time that a training asked for a
    core that it had one, and `machine_load` the mean number of tasks that asked for one, by the machine's cores.
    `kernels` says whether the compiled code of `nmt/kernels/elementwise.c` was there on a processor.

    Search, training, data and units have columns where the table's systems differ in them, with what differs.

    What networks alone have, such as the perplexity on dev, and what their parts observed there, such as the vision
    span of flexible attention, has columns where at least one system has it.

    Args:
        facts: SYSTEM=FILE, or SYSTEM:RUN=FILE where a system has several runs, the facts.json of a training; give the
            option once for each, in the table's order.
        output: the table as TSV.
        title: headline of the table.
        parser: SYSTEM=PARSER, the parser whose trees a system reads; repeatable.
        parser_accuracy: PARSER=FILE, TSV of `syntax.accuracy`, or PARSER:TREES=FILE where both kinds of trees were
            measured; repeatable.
        setting: SYSTEM:COLUMN=TEXT, what the systems of a table differ in beyond what they are; repeatable.
        markdown_output: the table as Markdown.

    Raises:
        InputError: if a file lacks a fact, or a system or parser is unknown.
    """
    read = {name: _read_facts(path) for name, path in named_files(facts, "--facts").items()}
    system_of = {name: name.rpartition(":")[0] or name for name in read}
    parsers = names(parser or [], list(dict.fromkeys(system_of.values())), "--parser")
    accuracies = _accuracies(parser_accuracy or [], parsers)
    metrics = [metric for metric in METRICS if any(metric in found for found in accuracies.values())]
    software = list(
        dict.fromkeys([*(name for content in read.values() for name in content["versions"]), *SHARED_SOFTWARE])
    )
    observed = {name: _statistics(content) for name, content in read.items()}
    statistics = list(dict.fromkeys(column for values in observed.values() for column in values))
    optional = [key for key in OPTIONAL if any(content.get(key) is not None for content in read.values())]
    settings = _settings(setting or [])
    kinds = list(dict.fromkeys(kind for _, kind in settings))
    columns = ["system", *COLUMNS, *optional, *statistics, *kinds, "parser", *metrics, *software]
    rows = [
        [
            system_of[name],
            *(content[key] for key in COLUMNS.values()),
            *(content.get(key) for key in optional),
            *(observed[name].get(column) for column in statistics),
            *(settings.get((system_of[name], kind)) for kind in kinds),
            parsers.get(system_of[name]),
            *(accuracies.get(parsers.get(system_of[name], ""), {}).get(metric) for metric in metrics),
            *(content["versions"].get(package, _installed(package)) for package in software),
        ]
        for name, content in read.items()
    ]
    shares: dict[str, list[float]] = {}
    for name, content in read.items():
        if content.get("core_share") is not None:
            shares.setdefault(system_of[name], []).append(content["core_share"])
    layout = Sheet(
        title,
        [Column(column, column) for column in columns],
        [[Cell(_readable(value), "" if value is None else _text(value)) for value in row] for row in rows],
        note_on_shared_cores(shares, str),
    )
    renderings.write(layout, output, markdown_output=markdown_output)


def _read_facts(path: Path) -> dict[str, Any]:
    content = read_object(path, "train the system again")
    for key in (*COLUMNS.values(), "versions"):
        if key not in content:
            raise InputError(f"the file lacks {key!r}; train the system again", path)
    if not isinstance(content["versions"], dict):
        raise InputError("'versions' is no JSON object; train the system again", path)
    observed = content.get("statistics", [])
    if not isinstance(observed, list) or not all(isinstance(context, dict) for context in observed):
        raise InputError("'statistics' is no list of JSON objects; train the system again", path)
    return content


def _statistics(content: dict[str, Any]) -> dict[str, Any]:
    """Name what each context of the decoder observed; contexts after the first get their number."""
    return {
        name if number == 1 else f"{name} ({number})": value
        for number, context in enumerate(content.get("statistics", []), start=1)
        for name, value in context.items()
    }


def _accuracies(pairs: list[str], parsers: dict[str, str]) -> dict[str, dict[str, str]]:
    """Read accuracies by parser and metric."""
    accuracies = read_accuracies(named_files(pairs, "--parser-accuracy"))
    for name in accuracies:
        if name not in parsers.values():
            raise InputError(f"--parser-accuracy {name!r} is no system's parser; name it with --parser")
    return {name: {metric: found.value for metric, found in of.items()} for name, of in accuracies.items()}


def _settings(pairs: list[str]) -> dict[tuple[str, str], str]:
    """Read SYSTEM:COLUMN=TEXT."""
    settings = {}
    for pair in pairs:
        head, equals, text = pair.partition("=")
        system, colon, column = head.rpartition(":")
        if not equals or not colon:
            raise InputError(f"--setting {pair!r} is no SYSTEM:COLUMN=TEXT; write it so")
        settings[system, column] = text
    return settings


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package) if package in SHARED_SOFTWARE else None
    except metadata.PackageNotFoundError:
        return None


def _readable(value: Any) -> str:
    """Write a value for people: a dash for none, no more decimals than matter."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return _text(value)


def _text(value: Any) -> str:
    """Write a value as it is, and what is true or false as yes or no."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    stage.run(facts)
