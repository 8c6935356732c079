"""The positive control: which systems use true trees where only trees tell what is right."""

from collections.abc import Iterator

from pipeline_py.config.generated import OPEN_ATTACHMENTS
from pipeline_py.report.manifest import Manifest
from pipeline_py.report.sections.contrast import of_whole_sets

CHANCE = 50
"""Accuracy of guessing, in percent."""


def positive_control(manifest: Manifest) -> Iterator[str]:
    """Say of each contrastive set of open attachments which systems use true trees for them, and which do not."""
    experiment = manifest.experiment
    true = {name for name, parser in experiment.parsers.items() if parser.type == "given"}
    for split, pairs in experiment.corpora.contrastive.items():
        if pairs.generate is None or not {*pairs.generate.kinds} <= {*OPEN_ATTACHMENTS}:
            continue
        files = [file for place, file in manifest.all("contrast").items() if place.rpartition(":")[2] == split]
        read = [of_whole_sets({split: file})[0] for file in files]
        low = {system: bounds[0] for groups in read for (system, _), bounds in groups.intervals.items()}
        accuracy = {
            system: value
            for groups in read
            for (system, _), value in groups.values.items()
            if experiment.systems[system].parser in true
        }
        seen = [f"{system} {value:.0f} %" for system, value in accuracy.items() if low[system] > CHANCE]
        unseen = [f"{system} {value:.0f} %" for system, value in accuracy.items() if low[system] <= CHANCE]
        if accuracy:
            better = f"these choose the right one more often in these runs: {', '.join(seen)}" if seen else ""
            no_better = f"these do not do better than chance: {', '.join(unseen)}" if unseen else ""
            yield (
                f"Positive control: in the set {split} only the tree tells which of two translations is right, and "
                f"chance gives {CHANCE} %. With true trees {'; '.join(filter(None, (better, no_better)))}."
            )
