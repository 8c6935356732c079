"""What the names on a page mean: systems, sets and trees, a line each."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from pipeline_py.config.corpora import ContrastiveSet, Generated, HeldOutText
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parsers import ControlParser
from pipeline_py.config.systems.any_system import NeuralSystem
from pipeline_py.config.tables import TableOfSystems
from pipeline_py.report.page_parts import Chapter, Manifest, Part
from pipeline_py.report.tables.sheet import Sheet, listed

PLACE = -10


def chapters(manifest: Manifest) -> Iterator[Chapter]:
    """One chapter, of the systems, sets and parsers of the tables that are asked for."""
    experiment = manifest.experiment
    tables = [sheet for sheet in (systems(experiment), sets(experiment), trees(experiment)) if sheet.rows]
    yield Chapter("names", "What the names mean", [Part(tables=tables)])


def systems(experiment: Experiment) -> Sheet:
    """What each system is made of; crossed with parsers it has one line."""
    called: dict[str, dict[str, None]] = {}
    read: dict[str, dict[str, None]] = {}
    for name in experiment.asked(experiment.tables):
        table = experiment.tables[name]
        for row, label in table.called.items() if isinstance(table, TableOfSystems) else ():
            system = row.partition(" [")[0]
            system = system if system in experiment.systems else row
            called.setdefault(system, {}).update({label: None} if " [" not in label and label != system else {})
            read.setdefault(system, {}).update(dict.fromkeys(experiment.parsers_of(row)))
    return listed(
        "Systems: their labels in tables where these differ from the name, the parts in which networks differ, and the "
        "parsers whose trees they read. A parser in square brackets after a system is the one whose trees it reads.",
        ["System", "In tables", "What it is", "Reads trees of"],
        [[row, ", ".join(labels), _made_of(experiment, row), ", ".join(read[row])] for row, labels in called.items()],
        texts=["In tables", "What it is", "Reads trees of"],
    )


def _made_of(experiment: Experiment, row: str) -> str:
    """What the documentation of its parts says: of a network, encoders with what they read, and contexts."""
    system = experiment.systems[row]
    if not isinstance(system, NeuralSystem):
        members = f" Of {', '.join(system.members)}." if system.members else ""
        return _said([system]) + members
    read = [one for encoder in system.encoders for one in encoder.inputs if one.reads]
    several = f"{len(system.encoders)} encoders. " if len(system.encoders) > 1 else ""
    return f"{several}{_said([*system.encoders, *read])} Attention: {_said(system.contexts)}"


def _said(described: Sequence[BaseModel]) -> str:
    """The first line of what the documentation says of each."""
    return " ".join(dict.fromkeys((type(one).__doc__ or "").split("\n")[0] for one in described))


def sets(experiment: Experiment) -> Sheet:
    """What each text that something is measured on consists of."""
    corpora = experiment.corpora
    texts: list[tuple[str, HeldOutText | ContrastiveSet]] = []
    texts += (
        []
        if corpora.dev is None
        else [("dev" if corpora.dev.name.lower() == "dev" else f"dev ({corpora.dev.name})", corpora.dev)]
    )
    texts += [(text.name, text) for text in corpora.tests]
    texts += [(text.name, text) for text in corpora.contrast]
    return listed(
        "Sets on which systems are measured. A contrastive set has pairs of a correct and a wrong translation.",
        ["Set", "What it is"],
        [[name, _text(text)] for name, text in texts],
        texts=["What it is"],
    )


def _text(text: HeldOutText | ContrastiveSet) -> str:
    files = text.file if isinstance(text, ContrastiveSet) else [text.source] if text.source else []
    if files or text.generate is None:
        return f"From {', '.join(files)}."
    made = text.generate
    what, kinds = "sentences", ""
    if not isinstance(made, Generated):
        what, kinds = "contrastive pairs", f"; what is wrong: {', '.join(made.kinds)}".replace("_", " ")
    elif made.focus != "any":
        kinds = f", each containing: {made.focus}".replace("_", " ")
    return f"{made.sentences:,} generated {what} of {made.min_length} to {made.max_length} words{kinds}."


def trees(experiment: Experiment) -> Sheet:
    """Where trees come from."""
    rows = []
    for name in experiment.parsers_asked:
        parser = experiment.parsers[name]
        said = _said([parser])
        rows.append([name, f"Shape: {parser.shape}. {said}" if isinstance(parser, ControlParser) else said])
    return listed("Parsers: the sources of trees.", ["Parser", "What it is"], rows, texts=["What it is"])
