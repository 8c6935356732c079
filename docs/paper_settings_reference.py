"""Write docs/reference/paper_settings.md, a page that compares the settings of the papers with our experiments.

Usage: python docs/paper_settings_reference.py [--check]

`docs/paper_settings/PAPER.yaml` lists the settings of a paper: what it states, word for word, and the value of a key in
the experiments with its data. A value that an experiment does not have ends the script with a message.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from pipeline_py.application.experiment_reader import read_experiment
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.systems.training import DEFAULT_EPSILONS, DEFAULT_LEARNING_RATES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "paper_settings.md"
PAPERS = [ROOT / "docs" / "paper_settings" / f"{name}.yaml" for name in ("sdatt", "sdrnmt", "tree2seq", "hierarchical")]
SYSTEM_SECTIONS = ("model", "training", "decoding")
STATUSES = ("as stated", "differs", "ours")

INTRODUCTION = """# Settings of the papers

This page compares each setting that a paper states with the experiments that have its data. The last column says
whether a value is *as stated*, *differs*, or is *ours* because the paper states none.

Values are those of the merged configuration: an experiment of `workflow/experiments/` over `config.yaml`. A key of
`model`, `training` or `decoding` holds for all systems of the tables, unless a row names the key of one system. Keys
that begin with `pipeline_py` are constants in the code. [Readings of the papers](../explanation/readings.md) lists what
the equations leave open.
"""


class Section(BaseModel):
    """Base class of the sections of a file of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExperimentFiles(Section):
    """The configuration files of an experiment, in order, and its command-line options KEY=VALUE."""

    files: list[str]
    overrides: list[str] = []

    @property
    def command_line_options(self) -> str:
        """Options of Snakemake that choose the experiment."""
        files = " ".join(f"workflow/experiments/{name}.yaml" for name in self.files)
        return " ".join([f"--configfile {files}", *(f"--config {override}" for override in self.overrides)])


class PaperSetting(Section):
    """A setting of a paper.

    Attributes:
        setting: its name on the page.
        stated: the words of the paper; None if it states nothing.
        key: a path in the configuration, with `*` for all items of a list, or a constant of the code; None: always so.
        value: our value in all experiments of the paper.
        values: our values by experiment instead, if not all have the row.
        differs: how our value differs from what is stated; None if it does not.
        note: a remark.
    """

    setting: str
    stated: str | None = None
    key: str | None = None
    value: Any = None
    values: dict[str, Any] | None = None
    differs: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _check_content(self) -> "PaperSetting":
        if self.key is None and (self.stated is None or not (self.note or self.differs)):
            raise ValueError(f"{self.setting}: a row without `key` needs `stated`, and a `note` or `differs`")
        if self.differs is not None and self.stated is None:
            raise ValueError(f"{self.setting}: only a stated setting can differ")
        return self

    @property
    def status(self) -> str:
        """Relation of our value to the paper."""
        return "ours" if self.stated is None else "differs" if self.differs else "as stated"


class PaperSettings(Section):
    """The settings of a paper, and the experiments with its data by the name of the task."""

    paper: str
    experiments: dict[str, ExperimentFiles]
    settings: list[PaperSetting]

    def get_values(self, setting: PaperSetting) -> dict[str, Any]:
        """Return the values of a row by experiment."""
        return dict.fromkeys(self.experiments, setting.value) if setting.values is None else setting.values

    def find_mismatches(self) -> Iterator[str]:
        """Yield a sentence for each value that an experiment does not have."""
        for setting in self.settings:
            for task, value in self.get_values(setting).items() if setting.key else ():
                experiment = load(self.experiments[task])
                for key in [setting.key, *self._list_system_keys(setting.key, task, experiment)]:
                    actual_value = resolve_key(experiment, key)
                    if actual_value != value:
                        yield (
                            f"{self.paper}, {task}: {key} is {format_value(actual_value)}, not {format_value(value)}; "
                            "correct the experiment or the table of settings"
                        )

    def _list_system_keys(self, key: str, task: str, experiment: ExperimentConfig) -> Iterator[str]:
        """Yield the key of each system that inherits an experiment's key and has no row of its own."""
        section = key.partition(".")[0]
        if section in SYSTEM_SECTIONS:
            keys = {setting.key for setting in self.settings if task in self.get_values(setting)}
            for system in list_requested_systems(experiment):
                system_key = f"systems.{system}.{key}"
                if hasattr(experiment.systems[system], section) and system_key not in keys:
                    yield system_key


def read_paper(path: Path) -> PaperSettings:
    """Read a file of `docs/paper_settings/`."""
    return PaperSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def load(files: ExperimentFiles) -> ExperimentConfig:
    """Load an experiment as Snakemake merges it."""
    return _load_merged(tuple(files.files), tuple(files.overrides))


@cache
def _load_merged(files: tuple[str, ...], overrides: tuple[str, ...]) -> ExperimentConfig:
    return read_experiment(ROOT, [f"workflow/experiments/{name}.yaml" for name in files], overrides)


def list_requested_systems(experiment: ExperimentConfig) -> list[str]:
    """Return the systems of the experiment's tables and figures, with the members of ensembles."""
    rows = [row for table in experiment.select_requested_names(experiment.tables) for row in experiment.get_rows(table)]
    return list(dict.fromkeys([*rows, *experiment.requested_networks]))


def resolve_key(experiment: ExperimentConfig, key: str) -> Any:
    """Return the value of a path in the configuration, or of a constant of the code.

    Raises:
        LookupError: there is no such key.
    """
    if key.startswith("pipeline_py."):
        module, _, name = key.rpartition(".")
        return getattr(import_module(module), name)
    content = experiment.model_dump(mode="json", include={key.partition(".")[0]})
    return _follow_path(content, key.split("."))


def _follow_path(content: Any, path: list[str]) -> Any:
    if not path:
        return content
    name, *rest = path
    if isinstance(content, list):
        return [_follow_path(item, rest) for item in content] if name == "*" else _follow_path(content[int(name)], rest)
    value = content[name]
    if value is None and not rest and "rho" in content:  # null in a mapping of the optimizer: its default
        value = {"learning_rate": DEFAULT_LEARNING_RATES, "epsilon": DEFAULT_EPSILONS}[name][content["name"]]
    return _follow_path(value, rest)


def render(papers: list[PaperSettings]) -> str:
    return "\n".join([INTRODUCTION, *(line for paper in papers for line in _render_paper(paper))])


def _render_paper(paper: PaperSettings) -> Iterator[str]:
    counts = Counter(setting.status for setting in paper.settings)
    yield f"## {paper.paper}\n"
    yield from (f"- {task}: `{files.command_line_options}`" for task, files in paper.experiments.items())
    yield f"\n{len(paper.settings)} rows: {', '.join(f'{counts[status]} *{status}*' for status in STATUSES)}.\n"
    yield "| setting | the paper | key | our value | |\n|---|---|---|---|---|"
    for setting in paper.settings:
        remark = "; ".join(filter(None, [setting.status, setting.differs, setting.note]))
        cells = [
            setting.setting,
            f"“{setting.stated}”" if setting.stated else "",
            f"`{setting.key}`" if setting.key else "",
            _render_values(paper.get_values(setting), len(paper.experiments)) if setting.key else "",
            remark.replace("differs; ", "differs: "),
        ]
        yield f"| {' | '.join(map(_escape_cell, cells))} |"
    yield ""


def _render_values(values: Mapping[str, Any], experiment_count: int) -> str:
    texts = {task: f"`{format_value(value)}`" for task, value in values.items()}
    if len({*texts.values()}) == 1 and len(texts) == experiment_count:
        return next(iter(texts.values()))
    return "; ".join(f"{task}: {text}" for task, text in texts.items())


def format_value(value: Any) -> str:
    """Format a value as YAML in one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).strip()
    return text.removesuffix("...").strip()


def _escape_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def main() -> int:
    papers = [*map(read_paper, PAPERS)]
    if mismatches := [sentence for paper in papers for sentence in paper.find_mismatches()]:
        print("\n".join(mismatches))
        return 1
    content = render(papers)
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == content:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is out of date; run: python docs/paper_settings_reference.py")
        return 1
    PAGE.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
