"""Differences between the systems of a table in search, training, data and units, and notes about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.base import SettingEffect
from pipeline_py.config.base_experiment import BaseExperimentConfig
from pipeline_py.config.subword import SubwordConfig
from pipeline_py.config.systems.system_types import EnsembleConfig, NeuralSystemConfig
from pipeline_py.config.tables import SettingKind, SystemTableConfig

MIN_UNLISTED_ROWS = 6
"""Minimum number of rows with the most frequent settings that a note summarizes as "all other rows"."""

FlatSettings = dict[str, Any]
"""Settings by dotted keys of the configuration."""


@dataclass(frozen=True)
class SettingDifference:
    """Settings of one kind that differ between the rows of a table.

    Attributes:
        setting_kind: kind of the settings.
        settings_by_row: formatted settings by row; rows without settings of this kind are left out.
    """

    setting_kind: SettingKind
    settings_by_row: dict[str, str]

    def format_rows_by_setting(self, display_names: Mapping[str, str]) -> str:
        """Format settings with their rows; the most frequent settings come last if their rows are not listed."""
        labels: dict[str, list[str]] = {}
        for row, settings in self.settings_by_row.items():
            labels.setdefault(settings, []).append(display_names[row])
        most_frequent = max(labels, key=lambda settings: len(labels[settings]))
        if len(labels[most_frequent]) >= MIN_UNLISTED_ROWS:
            del labels[most_frequent]
            labels[most_frequent] = ["all other rows"]
        return "; ".join(f"{settings} ({', '.join(names)})" for settings, names in labels.items())


def find_setting_differences(experiment: BaseExperimentConfig, rows: Sequence[str]) -> list[SettingDifference]:
    """Return the differences between systems, at most one for each kind of settings."""
    differences = []
    for kind, collector in SETTING_COLLECTORS.items():
        settings_by_row = {
            row: settings for row in rows if (settings := _collect_row_settings(experiment, row, collector))
        }
        keys = dict.fromkeys(key for settings in settings_by_row.values() for key in settings)
        differing_keys = [
            key
            for key in keys
            if len({str(settings[key]) for settings in settings_by_row.values() if key in settings}) > 1
        ]
        if differing_keys:
            texts = {row: _format_settings(settings, differing_keys) for row, settings in settings_by_row.items()}
            differences.append(SettingDifference(kind, {row: text for row, text in texts.items() if text}))
    return differences


def format_table_notes(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """Return notes below a table: a sentence for each kind of differing settings, and one about external systems."""
    return [
        *(
            f"Rows differ in {difference.setting_kind}: {difference.format_rows_by_setting(table.display_names)}."
            for difference in find_setting_differences(experiment, table.systems)
        ),
        *format_external_row_notes(experiment, table),
    ]


def format_external_row_notes(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """Return a note about the origins of external systems in a table; empty if there are none."""
    labels: dict[str | None, list[str]] = {}
    for row in table.systems:
        if external := experiment.find_external_system(row):
            labels.setdefault(external.origin, []).append(table.display_names[row])
    if not labels:
        return []
    origins = "; ".join(f"{', '.join(rows)}{f' ({origin})' if origin else ''}" for origin, rows in labels.items())
    return [
        f"External translations: {origins}. The training and search of these systems are unknown, so a difference may "
        "have other causes than the architecture."
    ]


def describe_paper_deviations(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """Return sentences about deviations of rows from published equations, one for each kind of deviation."""
    rows: dict[str, list[str]] = {}
    for row in table.systems:
        texts = [
            text
            for network in experiment.get_networks(row)
            for text in experiment.get_network(network).paper_deviations
        ]
        if texts:
            rows.setdefault("; ".join(dict.fromkeys(texts)), []).append(table.display_names[row])
    return [
        f"Not as printed in the paper ({', '.join(labels)}): {text}. See docs/explanation/readings.md."
        for text, labels in rows.items()
    ]


def collect_differing_settings(
    experiment: BaseExperimentConfig, table: SystemTableConfig
) -> dict[tuple[str, SettingKind], str]:
    """Return differing settings of a table's trained systems, by system and kind of settings.

    If several rows search with the same network, its search settings are those of all these rows.
    """
    trained_systems = {row: experiment.get_networks(row) or [row] for row in table.systems}
    systems = list(dict.fromkeys(system for row_systems in trained_systems.values() for system in row_systems))
    settings: dict[tuple[str, SettingKind], str] = {}
    for difference in find_setting_differences(experiment, systems):
        if difference.setting_kind != "search":
            settings |= {(system, difference.setting_kind): text for system, text in difference.settings_by_row.items()}
    for difference in find_setting_differences(experiment, table.systems):
        if difference.setting_kind == "search":
            for row, text in difference.settings_by_row.items():
                for system in trained_systems[row]:
                    search_text = text if row == system else f"{row}: {text}"
                    previous_text = settings.get((system, "search"))
                    settings[system, "search"] = (
                        search_text if previous_text is None else f"{previous_text}; {search_text}"
                    )
    return settings


def format_difference_warning(experiment: BaseExperimentConfig, title: str) -> str | None:
    """Format a warning about settings in which a table's networks differ, except those in `about`.

    Phrase-based systems always use words; a note below the table says so.
    """
    table = experiment.tables[title]
    if not isinstance(table, SystemTableConfig):
        return None
    networks = [row for row in table.systems if experiment.is_neural(row)]
    differences = [
        difference
        for difference in find_setting_differences(experiment, networks)
        if difference.setting_kind not in table.about
    ]
    if not differences:
        return None
    text = ", and in ".join(
        f"{difference.setting_kind}: {difference.format_rows_by_setting(table.display_names)}"
        for difference in differences
    )
    kinds = ", ".join(difference.setting_kind for difference in differences)
    return (
        f"Table `{title}`: its systems also differ in {text}; give them the same settings, or allow it in the table by "
        f"`about: [{kinds}]`."
    )


def _collect_row_settings(
    experiment: BaseExperimentConfig, row: str, collect_settings: Callable[[BaseExperimentConfig, str], FlatSettings]
) -> FlatSettings:
    """Return the settings of a system; different values of an ensemble's members are joined by "or"."""
    systems = [row] if collect_settings is _collect_search_settings else experiment.get_networks(row) or [row]
    settings_by_system = [collect_settings(experiment, system) for system in systems]
    return {
        key: " or ".join(dict.fromkeys(_format_yaml_value(settings.get(key)) for settings in settings_by_system))
        for key in dict.fromkeys(key for settings in settings_by_system for key in settings)
    }


def _collect_search_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    options = experiment.systems[system]
    if not isinstance(options, NeuralSystemConfig | EnsembleConfig):
        return {}
    return options.decoding.model_dump(
        mode="json", exclude=options.decoding.collect_ineffective_keys(SettingEffect.RESULT)
    )


def _collect_training_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    network = experiment.systems[system]
    if not isinstance(network, NeuralSystemConfig):
        return {}
    data_keys = {*_collect_data_settings(experiment, system)}
    excluded_keys = network.training.collect_ineffective_keys(SettingEffect.RESULT) | data_keys
    settings = dict(_flatten_settings(network.training.model_dump(exclude=excluded_keys)))
    epochs = (encoder.pretraining_passes for encoder in network.encoders)
    return {**settings, "pretraining_epochs": next(filter(None, epochs), None)}


def _collect_data_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    network = experiment.systems[system]
    if not isinstance(network, NeuralSystemConfig):
        return {}
    return {"max_length": network.training.max_length, "auxiliary_task": network.auxiliary_task}


def _collect_subword_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    if experiment.find_external_system(system):
        return {}
    if not isinstance(experiment.systems[system], NeuralSystemConfig):
        return {"scheme": SubwordConfig().scheme}
    units = experiment.subword_configs[experiment.get_subword_name(system)]
    settings = dict(_flatten_settings(units.model_dump(exclude=units.collect_ineffective_keys(SettingEffect.RESULT))))
    merges = settings.pop("merges", None)
    return {**settings, "scheme": units.scheme if merges is None else f"{units.scheme}, merges {merges}"}


SETTING_COLLECTORS: dict[SettingKind, Callable[[BaseExperimentConfig, str], FlatSettings]] = {
    "search": _collect_search_settings,
    "training": _collect_training_settings,
    "data": _collect_data_settings,
    "units": _collect_subword_settings,
}
"""Functions that collect the settings of a system, by kind of settings."""


def _flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flatten_settings(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _format_settings(settings: FlatSettings, keys: Sequence[str]) -> str:
    return ", ".join(f"{key} {settings[key]}" for key in keys if key in settings)


def _format_yaml_value(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
