"""Where everything on a page comes from: texts, configuration, code, versions, seeds and the command."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from pipeline_py.report.page_parts import Chapter, Manifest, Part
from pipeline_py.report.tables.sheet import Sheet, listed

PLACE = 30


def texts(counts: Mapping[str, Path]) -> Sheet:
    """How many sentences each text has, and what cleaning dropped.

    Args:
        counts: of `corpus.clean`, by split.
    """
    read = {split: json.loads(path.read_text(encoding="utf-8")) for split, path in counts.items()}
    reasons = list(dict.fromkeys(reason for content in read.values() for reason in content["dropped"]))
    return listed(
        "Sentences of each text: read, kept, and dropped by reason.",
        ["Text", "Read", "Kept", *(reason.replace("_", " ") for reason in reasons)],
        [
            [
                split,
                *(f"{content[key]:,}" for key in ("in", "kept")),
                *(f"{content['dropped'].get(reason, 0):,}" for reason in reasons),
            ]
            for split, content in read.items()
        ],
    )


def chapters(manifest: Manifest) -> Iterator[Chapter]:
    """Yield the last chapter."""
    experiment, counts = manifest.experiment, manifest.all("counts")
    code, versions, command = manifest.code, manifest.versions, manifest.command
    configuration = yaml.safe_dump(
        experiment.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True, width=100
    )
    seeds = ", ".join(map(str, experiment.seeds()))
    parts = [
        Part(
            "How it was made",
            ["This command, in a clone of the project, makes everything on this page again:"],
            verbatim=command,
        )
        if command
        else Part(),
        Part(
            "Seeds and software",
            [f"Networks were trained with {'these seeds' if ',' in seeds else 'this seed'}: {seeds}."]
            if experiment.networks_asked
            else ["No network was trained."],
            tables=[_pairs("Versions of installed packages.", "Package", "Version", versions)] if versions else [],
        ),
        Part("Texts", tables=[texts(counts)] if counts else []),
        Part(
            "Code",
            tables=[
                _pairs(
                    "Hash of the code of each stage: of its module and all modules of the project that it imports, "
                    "without comments.",
                    "Stage",
                    "Code",
                    code,
                )
            ]
            if code
            else [],
            folded=True,
        ),
        Part("Configuration", verbatim=configuration, folded=True),
    ]
    yield Chapter("provenance", "Provenance", [part for part in parts if not part.is_empty])


def _pairs(caption: str, name: str, value: str, pairs: Mapping[str, str]) -> Sheet:
    return listed(caption, [name, value], [*pairs.items()], texts=[value])
