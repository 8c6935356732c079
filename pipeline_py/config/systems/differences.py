"""How the systems of one table differ beyond what they are: in search, training, data and units."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.base import Effect
from pipeline_py.config.description import Description
from pipeline_py.config.subword import Subword
from pipeline_py.config.systems.any_system import Ensemble, NeuralSystem
from pipeline_py.config.tables import Compared, TableOfSystems

MANY_ROWS = 6
"""If so many rows or more have the same settings, and no other settings are those of more, the rows are not listed."""

Settings = dict[str, Any]
"""Options by the keys of the configuration, sections joined by dots."""


@dataclass(frozen=True)
class Difference:
    """Settings of one kind that are not the same for all rows of a table.

    Attributes:
        kind: which.
        settings: of each row, in words; of a row that has no such settings, nothing.
    """

    kind: Compared
    settings: dict[str, str]

    def described(self, called: Mapping[str, str]) -> str:
        """Settings with the rows that have them, those of most rows last where these are many."""
        rows: dict[str, list[str]] = {}
        for row, settings in self.settings.items():
            rows.setdefault(settings, []).append(called[row])
        most = max(rows, key=lambda settings: len(rows[settings]))
        if len(rows[most]) >= MANY_ROWS:
            rows[most] = ["all other rows"]
            rows[most] = rows.pop(most)
        return "; ".join(f"{settings} ({', '.join(of)})" for settings, of in rows.items())


def differences(experiment: Description, rows: Sequence[str]) -> list[Difference]:
    """Say in what some systems differ, a difference for each kind of settings."""
    found = []
    for kind, settings_of in SETTINGS.items():
        of_row = {row: settings for row in rows if (settings := _of_row(experiment, row, settings_of))}
        keys = dict.fromkeys(key for settings in of_row.values() for key in settings)
        differing = [key for key in keys if len({str(of[key]) for of in of_row.values() if key in of}) > 1]
        if differing:
            description = {row: _described(settings, differing) for row, settings in of_row.items()}
            found.append(Difference(kind, {row: text for row, text in description.items() if text}))
    return found


def notes(experiment: Description, table: TableOfSystems) -> list[str]:
    """What stands below a table whose rows differ, a sentence for each kind of settings, and on rows from elsewhere."""
    return [
        *(
            f"Rows differ in {difference.kind}: {difference.described(table.called)}."
            for difference in differences(experiment, table.systems)
        ),
        *on_rows_from_elsewhere(experiment, table),
    ]


def on_rows_from_elsewhere(experiment: Description, table: TableOfSystems) -> list[str]:
    """Say of rows that were made elsewhere who made them, and what they need not owe to their architecture."""
    origins: dict[str | None, list[str]] = {}
    for row in table.systems:
        if outside := experiment.from_elsewhere(row):
            origins.setdefault(outside.origin, []).append(table.called[row])
    if not origins:
        return []
    made = "; ".join(f"{', '.join(rows)}{f' ({origin})' if origin else ''}" for origin, rows in origins.items())
    return [
        f"Translations from elsewhere: {made}. The training and search of such a system are unknown here, so a "
        "difference need not come from the architecture."
    ]


def describe_departures(experiment: Description, table: TableOfSystems) -> list[str]:
    """Describe how rows depart from the equations that their papers print, a sentence for each kind."""
    rows: dict[str, list[str]] = {}
    for row in table.systems:
        texts = [text for network in experiment.networks(row) for text in experiment.network(network).departures]
        if texts:
            rows.setdefault("; ".join(dict.fromkeys(texts)), []).append(table.called[row])
    return [
        f"Not as printed in the paper ({', '.join(labels)}): {text}. See docs/readings.md."
        for text, labels in rows.items()
    ]


def settings_of_trainings(experiment: Description, table: TableOfSystems) -> dict[tuple[str, Compared], str]:
    """What the trainings behind a table's rows differ in, by system and kind of settings.

    Of a training whose network several rows search with, it is the search of each.
    """
    behind = {row: experiment.networks(row) or [row] for row in table.systems}
    trained = list(dict.fromkeys(system for systems in behind.values() for system in systems))
    found: dict[tuple[str, Compared], str] = {}
    for difference in differences(experiment, trained):
        if difference.kind != "search":
            found |= {(system, difference.kind): description for system, description in difference.settings.items()}
    for difference in differences(experiment, table.systems):
        if difference.kind == "search":
            for row, description in difference.settings.items():
                for system in behind[row]:
                    searched = found.get((system, "search"))
                    one = description if row == system else f"{row}: {description}"
                    found[system, "search"] = one if searched is None else f"{searched}; {one}"
    return found


def warning(experiment: Description, title: str) -> str | None:
    """What is said before a table is made whose rows differ in what it does not ask about.

    Phrase-based systems know words alone, whatever the units of networks; that is said below the table.
    """
    table = experiment.tables[title]
    if not isinstance(table, TableOfSystems):
        return None
    networks = [row for row in table.systems if experiment.is_neural(row)]
    unasked = [one for one in differences(experiment, networks) if one.kind not in table.about]
    if not unasked:
        return None
    described = ", and in ".join(f"{one.kind}: {one.described(table.called)}" for one in unasked)
    kinds = ", ".join(one.kind for one in unasked)
    return (
        f"Table `{title}`: its systems also differ in {described}; give them the same settings, or allow it in the "
        f"table by `about: [{kinds}]`."
    )


def _of_row(experiment: Description, row: str, settings_of: Callable[[Description, str], Settings]) -> Settings:
    """Settings of a system; where members of an ensemble differ in one, all that they have."""
    behind = [row] if settings_of is _search else experiment.networks(row) or [row]
    found = [settings_of(experiment, system) for system in behind]
    return {
        key: " or ".join(dict.fromkeys(_value(settings.get(key)) for settings in found))
        for key in dict.fromkeys(key for settings in found for key in settings)
    }


def _search(experiment: Description, system: str) -> Settings:
    found = experiment.systems[system]
    if not isinstance(found, NeuralSystem | Ensemble):
        return {}
    return found.decoding.model_dump(exclude=found.decoding.without(Effect.RESULT))


def _training(experiment: Description, system: str) -> Settings:
    network = experiment.systems[system]
    if not isinstance(network, NeuralSystem):
        return {}
    of_data = {*_data(experiment, system)}
    settings = dict(_flat(network.training.model_dump(exclude=network.training.without(Effect.RESULT) | of_data)))
    pretraining = [encoder.passes_of_pretraining for encoder in network.encoders]
    return {**settings, "pretraining_epochs": next(filter(None, pretraining), None)}


def _data(experiment: Description, system: str) -> Settings:
    network = experiment.systems[system]
    if not isinstance(network, NeuralSystem):
        return {}
    return {"max_length": network.training.max_length, "auxiliary_task": network.auxiliary_task}


def _units(experiment: Description, system: str) -> Settings:
    if experiment.from_elsewhere(system):
        return {}
    if not isinstance(experiment.systems[system], NeuralSystem):
        return {"scheme": Subword().scheme}
    units = experiment.units[experiment.units_of(system)]
    settings = dict(_flat(units.model_dump(exclude=units.without(Effect.RESULT))))
    merges = settings.pop("merges", None)
    return {**settings, "scheme": units.scheme if merges is None else f"{units.scheme}, merges {merges}"}


SETTINGS: dict[Compared, Callable[[Description, str], Settings]] = {
    "search": _search,
    "training": _training,
    "data": _data,
    "units": _units,
}
"""Kinds of settings, and which settings of a system they are."""


def _flat(given: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{key}.")
        else:
            yield within + key, value


def _described(settings: Settings, keys: Sequence[str]) -> str:
    return ", ".join(f"{key} {settings[key]}" for key in keys if key in settings)


def _value(value: Any) -> str:
    """A value as YAML writes it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
