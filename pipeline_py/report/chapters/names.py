"""What the names on a page mean: systems, sets and trees, a line each."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from pipeline_py.config.corpora import ContrastiveSetConfig, GeneratedTextConfig, HeldOutTextConfig
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parsers import ControlParserConfig
from pipeline_py.config.systems.system_types import NeuralSystemConfig
from pipeline_py.config.tables import SystemTableConfig
from pipeline_py.report.page_parts import Chapter, PageManifest, PageSection
from pipeline_py.report.tables.sheet import Sheet, build_sheet

PAGE_ORDER = -10


def build_chapters(manifest: PageManifest) -> Iterator[Chapter]:
    """One chapter, of the systems, sets and parsers of the tables that are asked for."""
    experiment = manifest.experiment
    tables = [
        sheet
        for sheet in (build_system_table(experiment), build_set_table(experiment), build_parser_table(experiment))
        if sheet.rows
    ]
    yield Chapter("names", "What the names mean", [PageSection(tables=tables)])


def build_system_table(experiment: ExperimentConfig) -> Sheet:
    """What each system is made of; crossed with parsers it has one line."""
    called: dict[str, dict[str, None]] = {}
    read: dict[str, dict[str, None]] = {}
    for name in experiment.select_requested_names(experiment.tables):
        table = experiment.tables[name]
        for row, label in table.display_names.items() if isinstance(table, SystemTableConfig) else ():
            system = row.partition(" [")[0]
            system = system if system in experiment.systems else row
            called.setdefault(system, {}).update({label: None} if " [" not in label and label != system else {})
            read.setdefault(system, {}).update(dict.fromkeys(experiment.get_system_parsers(row)))
    return build_sheet(
        "Systems: their labels in tables where these differ from the name, the parts in which networks differ, and the "
        "parsers whose trees they read. A parser in square brackets after a system is the one whose trees it reads.",
        ["System", "In tables", "What it is", "Reads trees of"],
        [
            [row, ", ".join(labels), _describe_composition(experiment, row), ", ".join(read[row])]
            for row, labels in called.items()
        ],
        text_heads=["In tables", "What it is", "Reads trees of"],
    )


def _describe_composition(experiment: ExperimentConfig, row: str) -> str:
    """What the documentation of its parts says: of a network, encoders with what they read, and contexts."""
    system = experiment.systems[row]
    if not isinstance(system, NeuralSystemConfig):
        members = f" Of {', '.join(system.members)}." if system.members else ""
        return _join_docstring_summaries([system]) + members
    read = [one for encoder in system.encoders for one in encoder.inputs if one.required_syntax]
    several = f"{len(system.encoders)} encoders. " if len(system.encoders) > 1 else ""
    return f"{several}{_join_docstring_summaries([*system.encoders, *read])} Attention: {_join_docstring_summaries(system.contexts)}"


def _join_docstring_summaries(configs: Sequence[BaseModel]) -> str:
    """The first line of what the documentation says of each."""
    return " ".join(dict.fromkeys((type(one).__doc__ or "").split("\n")[0] for one in configs))


def build_set_table(experiment: ExperimentConfig) -> Sheet:
    """What each text that something is measured on consists of."""
    corpora = experiment.corpora
    texts: list[tuple[str, HeldOutTextConfig | ContrastiveSetConfig]] = []
    texts += (
        []
        if corpora.dev is None
        else [("dev" if corpora.dev.name.lower() == "dev" else f"dev ({corpora.dev.name})", corpora.dev)]
    )
    texts += [(text.name, text) for text in corpora.tests]
    texts += [(text.name, text) for text in corpora.contrast]
    return build_sheet(
        "Sets on which systems are measured. A contrastive set has pairs of a correct and a wrong translation.",
        ["Set", "What it is"],
        [[name, _describe_text(text)] for name, text in texts],
        text_heads=["What it is"],
    )


def _describe_text(text: HeldOutTextConfig | ContrastiveSetConfig) -> str:
    files = text.file if isinstance(text, ContrastiveSetConfig) else [text.source] if text.source else []
    if files or text.generate is None:
        return f"From {', '.join(files)}."
    made = text.generate
    what, kinds = "sentences", ""
    if not isinstance(made, GeneratedTextConfig):
        what, kinds = "contrastive pairs", f"; what is wrong: {', '.join(made.kinds)}".replace("_", " ")
    elif made.focus != "any":
        kinds = f", each containing: {made.focus}".replace("_", " ")
    return f"{made.sentences:,} generated {what} of {made.min_length} to {made.max_length} words{kinds}."


def build_parser_table(experiment: ExperimentConfig) -> Sheet:
    """Where trees come from."""
    rows = []
    for name in experiment.requested_parsers:
        parser = experiment.parsers[name]
        said = _join_docstring_summaries([parser])
        rows.append([name, f"Shape: {parser.shape}. {said}" if isinstance(parser, ControlParserConfig) else said])
    return build_sheet("Parsers: the sources of trees.", ["Parser", "What it is"], rows, text_heads=["What it is"])
