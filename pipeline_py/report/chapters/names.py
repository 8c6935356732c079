"""The chapter that explains the names of systems, sets and parsers."""

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
    """Yield one chapter with the systems, sets and parsers of the requested tables."""
    experiment = manifest.experiment
    tables = [
        sheet
        for sheet in (build_system_table(experiment), build_set_table(experiment), build_parser_table(experiment))
        if sheet.rows
    ]
    yield Chapter("names", "What the names mean", [PageSection(tables=tables)])


def build_system_table(experiment: ExperimentConfig) -> Sheet:
    """Build the table of systems; a system with several parsers has one row."""
    labels_by_system: dict[str, dict[str, None]] = {}
    parsers_by_system: dict[str, dict[str, None]] = {}
    for name in experiment.select_requested_names(experiment.tables):
        table = experiment.tables[name]
        for row, label in table.display_names.items() if isinstance(table, SystemTableConfig) else ():
            system = row.partition(" [")[0]
            system = system if system in experiment.systems else row
            labels_by_system.setdefault(system, {}).update(
                {label: None} if " [" not in label and label != system else {}
            )
            parsers_by_system.setdefault(system, {}).update(dict.fromkeys(experiment.get_system_parsers(row)))
    return build_sheet(
        "Systems: their labels in tables where these differ from the name, the parts in which networks differ, and the "
        "parsers whose trees they read. A parser in square brackets after a system is the one whose trees it reads.",
        ["System", "In tables", "What it is", "Reads trees of"],
        [
            [row, ", ".join(system_labels), _describe_composition(experiment, row), ", ".join(parsers_by_system[row])]
            for row, system_labels in labels_by_system.items()
        ],
        text_heads=["In tables", "What it is", "Reads trees of"],
    )


def _describe_composition(experiment: ExperimentConfig, row: str) -> str:
    """Join the docstring summaries of the parts of a system: encoders, their inputs, and contexts."""
    system = experiment.systems[row]
    if not isinstance(system, NeuralSystemConfig):
        members = f" Of {', '.join(system.members)}." if system.members else ""
        return _join_docstring_summaries([system]) + members
    inputs = [
        encoder_input
        for encoder in system.encoders
        for encoder_input in encoder.inputs
        if encoder_input.required_syntax
    ]
    several = f"{len(system.encoders)} encoders. " if len(system.encoders) > 1 else ""
    encoders = _join_docstring_summaries([*system.encoders, *inputs])
    return f"{several}{encoders} Attention: {_join_docstring_summaries(system.contexts)}"


def _join_docstring_summaries(configs: Sequence[BaseModel]) -> str:
    """Join the first docstring lines of the types of these configurations."""
    return " ".join(dict.fromkeys((type(config).__doc__ or "").split("\n")[0] for config in configs))


def build_set_table(experiment: ExperimentConfig) -> Sheet:
    """Build the table of development, test and contrastive sets."""
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
    generated = text.generate
    unit, kinds = "sentences", ""
    if not isinstance(generated, GeneratedTextConfig):
        unit, kinds = "contrastive pairs", f"; what is wrong: {', '.join(generated.kinds)}".replace("_", " ")
    elif generated.focus != "any":
        kinds = f", each containing: {generated.focus}".replace("_", " ")
    return f"{generated.sentences:,} generated {unit} of {generated.min_length} to {generated.max_length} words{kinds}."


def build_parser_table(experiment: ExperimentConfig) -> Sheet:
    """Build the table of parsers."""
    rows = []
    sources = map(experiment.get_tree_sources, experiment.requested_parsers)
    for name in dict.fromkeys(name for parsers in sources for name in parsers):
        parser = experiment.parsers[name]
        summary = _join_docstring_summaries([parser])
        if isinstance(parser, ControlParserConfig):
            shape = parser.shape if parser.parser is None else f"{parser.shape}, from trees of {parser.parser}"
            summary = f"Shape: {shape}. {summary}"
        elif parser.fallback is not None:
            summary = f"{summary} Where it fails: trees of {parser.fallback}."
        rows.append([name, summary])
    return build_sheet("Parsers: the sources of trees.", ["Parser", "What it is"], rows, text_heads=["What it is"])
