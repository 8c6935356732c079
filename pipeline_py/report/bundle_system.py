"""Make the folder of a system self-contained: its files outside of the folder, a description and a model card."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.files.artifacts import open_atomic_text_file, write_atomically, write_json
from pipeline_py.run.job_record import hash_content
from pipeline_py.run.workflow_files import read_version

DESCRIPTION_NAME = "system.json"
"""Name of the description in the folder of a run."""

CARD_NAME = "README.md"
"""Name of the model card in the folder of a run."""

FILES_NAME = "files"
"""Name of the folder of copied files in the folder of a run."""

UNKNOWN_LICENSE = "not stated"


def bundle_system(
    *,
    name: str,
    run: str,
    config: dict[str, Any],
    data_folder: str,
    run_files: dict[str, Path],
    copied_files: dict[str, Path],
    parser_files: dict[str, Path],
    user_files: dict[str, Path],
    scores: dict[str, dict[str, Path]],
    training_facts: list[Path],
    parse_facts: list[Path],
    training_counts: Path,
    licenses: dict[str, str | None],
    card_output: Path,
    description_output: Path,
    files_output: Path,
) -> None:
    """Make the folder of a system self-contained, so that it translates without the experiment.

    Parser models are hard links where the file system allows it, since many systems share them.

    Args:
        name: Name of the system.
        run: Name of the run.
        config: Configuration of an experiment with this system and its members.
        data_folder: Folder of the user's files: absolute, or relative to the folder of the run.
        run_files: Files in the folder of the run, by path below the results.
        copied_files: Files to copy, by path below the results.
        parser_files: Parser models to copy or link, by path below the results.
        user_files: Files of the user, by path below `data_folder`.
        scores: Scores by set and metric, as `compute_metric_statistics` writes them.
        training_facts: Facts of the training of the system, or of its members.
        parse_facts: Facts of the parses of a set.
        training_counts: Counts of the cleaned training text.
        licenses: Licences of the weights, the training data and the parser models; null if not stated.
        card_output: The model card, Markdown with the metadata of the Hugging Face Hub.
        description_output: The system, run, configuration, and hashes of all files, from which `load` opens the system.
        files_output: The copied files and parser models, with their paths below the results.
    """
    with write_atomically(files_output) as folder:
        folder.mkdir(exist_ok=True)
        for files, copy_file in ((copied_files, shutil.copyfile), (parser_files, _link_or_copy)):
            for file, path in files.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                copy_file(path, folder / file)
    parser_hashes = {file: hash_content(path) for file, path in parser_files.items()}
    user_hashes = {file: hash_content(path) for file, path in user_files.items()}
    write_json(
        description_output,
        {
            "version": read_version(),
            "system": name,
            "run": run,
            "data_folder": data_folder,
            "config": config,
            "files": {
                **{file: hash_content(path) for file, path in {**run_files, **copied_files}.items()},
                **parser_hashes,
            },
            "user_files": user_hashes,
        },
    )
    with open_atomic_text_file(card_output) as card:
        sections = [
            _render_metadata(config["corpora"], licenses["weights"], scores),
            _render_introduction(name, run, config["corpora"]),
            _render_scores(scores),
            _render_data(config["corpora"], _read_json(training_counts)),
            _render_recipe(name, config, [*map(_read_json, training_facts)]),
            _render_parser(name, config, [*map(_read_json, parse_facts)]),
            _render_licenses(licenses),
            _render_files([*copied_files, *parser_files], user_hashes),
        ]
        card.write("\n".join(line for section in sections for line in section))


def _link_or_copy(path: Path, target: Path) -> None:
    try:
        target.hardlink_to(path)
    except OSError:  # another file system, or one without links
        shutil.copyfile(path, target)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _render_metadata(corpora: Mapping[str, Any], weights_license: str | None, scores: Mapping[str, Any]) -> list[str]:
    metadata = {
        "language": [corpora[side]["language"] for side in ("source", "target")],
        "license": weights_license or "unknown",
        "tags": ["translation", "arbitree"],
        "metrics": sorted({metric for paths in scores.values() for metric in paths}),
    }
    return ["---", yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True).rstrip(), "---", ""]


def _render_introduction(name: str, run: str, corpora: Mapping[str, Any]) -> list[str]:
    return [
        f"# {name} ({run})",
        "",
        f"This system translates from {corpora['source']['language']} to {corpora['target']['language']}. Arbitree "
        "trained it and can use it wherever this folder is:",
        "",
        "```sh",
        "arbitree translate FOLDER < input.txt",
        "```",
        "",
    ]


def _render_scores(scores: Mapping[str, Mapping[str, Path]]) -> Iterator[str]:
    yield from ("## Scores", "")
    results = {split: {metric: _read_json(path) for metric, path in paths.items()} for split, paths in scores.items()}
    metrics = list(dict.fromkeys(metric for values in results.values() for metric in values))
    if not metrics:
        yield from ("No table has scores of this system on a test set.", "")
        return
    names = {metric: values[metric]["name"] for values in results.values() for metric in values}
    yield from _render_table(
        ["test set", "sentences", *(names[metric] for metric in metrics)],
        (
            [split, next(iter(values.values()))["sentences"], *(f"{values[metric]['score']:.2f}" for metric in metrics)]
            for split, values in results.items()
        ),
    )
    signatures = {value["signature"]: names[metric] for values in results.values() for metric, value in values.items()}
    yield from (f"- {name}: `{signature}`" for signature, name in signatures.items())
    yield ""


def _render_data(corpora: Mapping[str, Any], counts: Mapping[str, Any]) -> Iterator[str]:
    yield from ("## Data", "")
    dev = corpora["dev"]
    yield from _render_table(
        ["text", "source"],
        [
            [f"training ({counts['kept']} of {counts['in']} pairs)", "; ".join(map(_describe_text, corpora["train"]))],
            *([[f"development ({dev['name']})", _describe_text(dev)]] if dev else []),
            *([side, _describe_side(corpora[side])] for side in ("source", "target")),
        ],
    )


def _describe_side(side: Mapping[str, Any]) -> str:
    return f"language {side['language']}, tokenizer {side['tokenizer']}, case {side['case']}"


def _describe_text(text: Mapping[str, Any]) -> str:
    if text["source"]:
        return f"`{text['source']}`"
    generator = text["generate"]
    return f"embedded grammar, {generator['sentences']} sentences, seed {generator['seed']}"


def _render_recipe(name: str, config: Mapping[str, Any], facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## Recipe", "")
    rows = {
        "parameters": "parameters",
        "epochs": "epochs",
        "updates": "updates",
        "dev_perplexity": "perplexity (development set)",
        "best_dev": "best value of the stopping criterion",
        "early_stopping": "stopping criterion",
        "seconds": "training time in seconds",
        "device": "device",
        "processor": "processor",
        "precision": "precision",
    }
    systems = config["systems"]
    members = _list_members(name, systems)
    yield from _render_table(
        ["", *members],
        (
            [label, *(_format_value(values.get(key)) for values in facts)]
            for key, label in rows.items()
            if any(values.get(key) is not None for values in facts)
        ),
    )
    yield from (f"The parts, and all other settings, are in `{DESCRIPTION_NAME}`:", "", "```yaml")
    parts = ("type", "encoders", "scores", "contexts", "decoder", "loss")
    for member in members:
        system = {key: systems[member][key] for key in parts if key in systems[member]}
        if "model" in systems[member]:
            system["model"] = {**config["model"], **systems[member]["model"]}
        yield yaml.safe_dump({member: system}, sort_keys=False, allow_unicode=True, default_flow_style=None).rstrip()
    yield from ("```", "")


def _list_members(name: str, systems: Mapping[str, Any]) -> list[str]:
    """Return the members of an ensemble, or the system itself."""
    return systems[name].get("members") or [name]


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if value < 1000 else f"{value:.0f}"
    return "–" if value is None else str(value)


def _render_parser(name: str, config: Mapping[str, Any], parse_facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## Parser", "")
    systems = config["systems"]
    parsers = dict.fromkeys(filter(None, (systems[member].get("parser") for member in _list_members(name, systems))))
    if not parsers:
        yield from ("The system reads no trees.", "")
        return
    for parser in parsers:
        yield from (f"The system reads the trees of `{parser}` (`type: {config['parsers'][parser]['type']}`).", "")
    versions = {f"{package} {version}" for facts in parse_facts for package, version in facts["versions"].items()}
    if versions:
        yield from (f"Parsed with {', '.join(sorted(versions))}.", "")


def _render_licenses(licenses: Mapping[str, str | None]) -> list[str]:
    rows = [[name.replace("_", " "), value or UNKNOWN_LICENSE] for name, value in licenses.items()]
    return ["## Licences", "", *_render_table(["", "licence"], rows)]


def _render_files(files: Iterable[str], user_hashes: Mapping[str, str]) -> Iterator[str]:
    yield from ("## Files", "")
    rows = [
        [f"`{DESCRIPTION_NAME}`", "configuration, and hashes of all files"],
        *([f"`{FILES_NAME}/{file}`", "copied from the results"] for file in files),
    ]
    yield from _render_table(["file", "content"], rows)
    if user_hashes:
        yield from ("These files are not in this folder; `--config data=FOLDER` names the folder that has them:", "")
        yield from _render_table(
            ["file", "hash"], ([f"`{file}`", f"`{content_hash}`"] for file, content_hash in user_hashes.items())
        )


def _render_table(header: Sequence[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
