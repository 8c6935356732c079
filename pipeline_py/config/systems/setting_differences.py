"""How the systems of one table differ beyond what they are: in search, training, data and units."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.base import SettingEffect
from pipeline_py.config.base_experiment import BaseExperimentConfig
from pipeline_py.config.subword import SubwordConfig
from pipeline_py.config.systems.system_types import EnsembleConfig, NeuralSystemConfig
from pipeline_py.config.tables import SettingKind, SystemTableConfig

MIN_UNLISTED_ROWS = 6
"""If so many rows or more have the same settings, and no other settings are those of more, the rows are not listed."""

FlatSettings = dict[str, Any]
"""Options by the keys of the configuration, sections joined by dots."""


@dataclass(frozen=True)
class SettingDifference:
    """Settings of one kind that are not the same for all rows of a table.

    Attributes:
        setting_kind: which.
        settings_by_row: of each row, in words; of a row that has no such settings, nothing.
    """

    setting_kind: SettingKind
    settings_by_row: dict[str, str]

    def format_rows_by_setting(self, display_names: Mapping[str, str]) -> str:
        """Settings with the rows that have them, those of most rows last where these are many."""
        rows: dict[str, list[str]] = {}
        for row, settings in self.settings_by_row.items():
            rows.setdefault(settings, []).append(display_names[row])
        most = max(rows, key=lambda settings: len(rows[settings]))
        if len(rows[most]) >= MIN_UNLISTED_ROWS:
            rows[most] = ["all other rows"]
            rows[most] = rows.pop(most)
        return "; ".join(f"{settings} ({', '.join(of)})" for settings, of in rows.items())


def find_setting_differences(experiment: BaseExperimentConfig, rows: Sequence[str]) -> list[SettingDifference]:
    """Say in what some systems differ, a difference for each kind of settings."""
    found = []
    for kind, settings_of in SETTING_COLLECTORS.items():
        of_row = {row: settings for row in rows if (settings := _collect_row_settings(experiment, row, settings_of))}
        keys = dict.fromkeys(key for settings in of_row.values() for key in settings)
        differing = [key for key in keys if len({str(of[key]) for of in of_row.values() if key in of}) > 1]
        if differing:
            description = {row: _format_settings(settings, differing) for row, settings in of_row.items()}
            found.append(SettingDifference(kind, {row: text for row, text in description.items() if text}))
    return found


def format_table_notes(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """What stands below a table whose rows differ, a sentence for each kind of settings, and on rows from elsewhere."""
    return [
        *(
            f"Rows differ in {difference.setting_kind}: {difference.format_rows_by_setting(table.display_names)}."
            for difference in find_setting_differences(experiment, table.systems)
        ),
        *format_external_row_notes(experiment, table),
    ]


def format_external_row_notes(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """Say of rows that were made elsewhere who made them, and what they need not owe to their architecture."""
    origins: dict[str | None, list[str]] = {}
    for row in table.systems:
        if outside := experiment.find_external_system(row):
            origins.setdefault(outside.origin, []).append(table.display_names[row])
    if not origins:
        return []
    made = "; ".join(f"{', '.join(rows)}{f' ({origin})' if origin else ''}" for origin, rows in origins.items())
    return [
        f"Translations from elsewhere: {made}. The training and search of such a system are unknown here, so a "
        "difference need not come from the architecture."
    ]


def describe_paper_deviations(experiment: BaseExperimentConfig, table: SystemTableConfig) -> list[str]:
    """Describe how rows depart from the equations that their papers print, a sentence for each kind."""
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
    """What the trainings behind a table's rows differ in, by system and kind of settings.

    Of a training whose network several rows search with, it is the search of each.
    """
    behind = {row: experiment.get_networks(row) or [row] for row in table.systems}
    trained = list(dict.fromkeys(system for systems in behind.values() for system in systems))
    found: dict[tuple[str, SettingKind], str] = {}
    for difference in find_setting_differences(experiment, trained):
        if difference.setting_kind != "search":
            found |= {
                (system, difference.setting_kind): description
                for system, description in difference.settings_by_row.items()
            }
    for difference in find_setting_differences(experiment, table.systems):
        if difference.setting_kind == "search":
            for row, description in difference.settings_by_row.items():
                for system in behind[row]:
                    searched = found.get((system, "search"))
                    one = description if row == system else f"{row}: {description}"
                    found[system, "search"] = one if searched is None else f"{searched}; {one}"
    return found


def format_difference_warning(experiment: BaseExperimentConfig, title: str) -> str | None:
    """What is said before a table is made whose rows differ in what it does not ask about.

    Phrase-based systems know words alone, whatever the units of networks; that is said below the table.
    """
    table = experiment.tables[title]
    if not isinstance(table, SystemTableConfig):
        return None
    networks = [row for row in table.systems if experiment.is_neural(row)]
    unasked = [one for one in find_setting_differences(experiment, networks) if one.setting_kind not in table.about]
    if not unasked:
        return None
    described = ", and in ".join(
        f"{one.setting_kind}: {one.format_rows_by_setting(table.display_names)}" for one in unasked
    )
    kinds = ", ".join(one.setting_kind for one in unasked)
    return (
        f"Table `{title}`: its systems also differ in {described}; give them the same settings, or allow it in the "
        f"table by `about: [{kinds}]`."
    )


def _collect_row_settings(
    experiment: BaseExperimentConfig, row: str, collect_settings: Callable[[BaseExperimentConfig, str], FlatSettings]
) -> FlatSettings:
    """Settings of a system; where members of an ensemble differ in one, all that they have."""
    behind = [row] if collect_settings is _collect_search_settings else experiment.get_networks(row) or [row]
    found = [collect_settings(experiment, system) for system in behind]
    return {
        key: " or ".join(dict.fromkeys(_format_yaml_value(settings.get(key)) for settings in found))
        for key in dict.fromkeys(key for settings in found for key in settings)
    }


def _collect_search_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    found = experiment.systems[system]
    if not isinstance(found, NeuralSystemConfig | EnsembleConfig):
        return {}
    return found.decoding.model_dump(exclude=found.decoding.collect_ineffective_keys(SettingEffect.RESULT))


def _collect_training_settings(experiment: BaseExperimentConfig, system: str) -> FlatSettings:
    network = experiment.systems[system]
    if not isinstance(network, NeuralSystemConfig):
        return {}
    of_data = {*_collect_data_settings(experiment, system)}
    settings = dict(
        _flatten_settings(
            network.training.model_dump(
                exclude=network.training.collect_ineffective_keys(SettingEffect.RESULT) | of_data
            )
        )
    )
    pretraining = [encoder.pretraining_passes for encoder in network.encoders]
    return {**settings, "pretraining_epochs": next(filter(None, pretraining), None)}


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
"""Kinds of settings, and which settings of a system they are."""


def _flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flatten_settings(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _format_settings(settings: FlatSettings, keys: Sequence[str]) -> str:
    return ", ".join(f"{key} {settings[key]}" for key in keys if key in settings)


def _format_yaml_value(value: Any) -> str:
    """A value as YAML writes it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
