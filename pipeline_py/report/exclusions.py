"""Systems and sets without verdicts, as `evaluation.claims` writes them, with the reason."""

from dataclasses import dataclass, field
from pathlib import Path

from pipeline_py.evaluation.claims import EXCLUSION_COLUMNS
from pipeline_py.report.read_table import read_table

REMEDY = "Train longer or on more data, or change sizes or the learning rate."


@dataclass(frozen=True)
class Exclusions:
    """What a report does not draw conclusions from.

    Attributes:
        systems: reasons why systems count as untrained, by system.
        sets: reasons why sets are too small, by set.
    """

    systems: dict[str, str] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Describe the exclusions, a sentence for each system and set."""
        untrained = [
            f"{name} has not learned to translate, so no verdict includes it: {reason}."
            for name, reason in self.systems.items()
        ]
        small = [f"No verdict uses the set {name}: it has {reason}." for name, reason in self.sets.items()]
        return [*untrained, *([REMEDY] if untrained else []), *small]


def read_exclusions(path: Path) -> Exclusions:
    """Read the exclusions of an experiment or table.

    Raises:
        InputError: if the file is not an output of `evaluation.claims`.
    """
    exclusions = Exclusions()
    for row in read_table(path, EXCLUSION_COLUMNS).to_dict("records"):
        (exclusions.systems if row["kind"] == "system" else exclusions.sets)[row["name"]] = row["reason"]
    return exclusions
