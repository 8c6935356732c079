"""The chapter about provenance: command, seeds, software, texts, code and configuration."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.report.page_parts import Chapter, PageManifest, PageSection
from pipeline_py.report.tables.sheet import Sheet, build_sheet

PAGE_ORDER = 30


def build_text_table(count_files: Mapping[str, Path]) -> Sheet:
    """Build the table of sentences of each text, kept and dropped.

    Args:
        count_files: JSON of `corpus.clean`, by split.
    """
    counts_by_split = {split: json.loads(path.read_text(encoding="utf-8")) for split, path in count_files.items()}
    reasons = list(
        dict.fromkeys(reason for split_counts in counts_by_split.values() for reason in split_counts["dropped"])
    )
    return build_sheet(
        "Sentences of each text: read, kept, and dropped by reason.",
        ["Text", "Read", "Kept", *(reason.replace("_", " ") for reason in reasons)],
        [
            [
                split,
                *(f"{split_counts[key]:,}" for key in ("in", "kept")),
                *(f"{split_counts['dropped'].get(reason, 0):,}" for reason in reasons),
            ]
            for split, split_counts in counts_by_split.items()
        ],
    )


def select_requested_settings(experiment: ExperimentConfig) -> dict[str, Any]:
    """Return the configuration without presets and without systems, tables and figures that no target needs."""
    config = experiment.model_dump(mode="json", exclude_unset=True, exclude={"presets"})
    tables, figures = (experiment.select_requested_names(part) for part in (experiment.tables, experiment.figures))
    rows = [row for table in tables for row in experiment.get_rows(table)]
    systems = {*rows, *experiment.requested_networks}
    systems |= {like for name in systems if (like := getattr(experiment.systems[name], "like", None))}
    names_by_key = {"systems": systems, "tables": tables, "figures": figures}
    selections = {
        key: {name: settings for name, settings in config[key].items() if name in names}
        for key, names in names_by_key.items()
        if key in config
    }
    return {**config, **selections}


def build_chapters(manifest: PageManifest) -> Iterator[Chapter]:
    """Yield the chapter about provenance."""
    experiment, counts = manifest.experiment, manifest.get_files("counts")
    code_hashes, versions, command = manifest.code_hashes, manifest.package_versions, manifest.rerun_command
    configuration = yaml.safe_dump(
        select_requested_settings(experiment), sort_keys=False, allow_unicode=True, width=100
    )
    seeds = ", ".join(map(str, experiment.get_seeds()))
    sections = [
        PageSection(
            "How to reproduce this page",
            ["Run this command in the folder of the experiment to reproduce everything on this page:"],
            preformatted_text=command,
        )
        if command
        else PageSection(),
        PageSection(
            "Seeds and software",
            [f"Networks were trained with {'these seeds' if ',' in seeds else 'this seed'}: {seeds}."]
            if experiment.requested_networks
            else ["No network was trained."],
            tables=[_build_key_value_table("Versions of installed packages.", "Package", "Version", versions)]
            if versions
            else [],
        ),
        PageSection("Texts", tables=[build_text_table(counts)] if counts else []),
        PageSection(
            "Code",
            tables=[
                _build_key_value_table(
                    "Hash of the code of each stage: of its module and all modules of the project that it imports, "
                    "without comments.",
                    "Stage",
                    "Code",
                    code_hashes,
                )
            ]
            if code_hashes
            else [],
            is_folded=True,
        ),
        PageSection(
            "Configuration",
            ["Only with the systems, tables and figures of the targets."],
            preformatted_text=configuration,
            is_folded=True,
        ),
    ]
    yield Chapter("provenance", "Provenance", [section for section in sections if not section.is_empty])


def _build_key_value_table(caption: str, key_head: str, value_head: str, entries: Mapping[str, str]) -> Sheet:
    return build_sheet(caption, [key_head, value_head], [*entries.items()], text_heads=[value_head])
