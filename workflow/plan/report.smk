"""What the rules of `report` are given: the cells of a table."""


def scores_of(table: str) -> dict[tuple[str, str, str], str]:
    """BLEU files by system, split and run."""
    return {
        (system, split, run): f"<results>/evaluation/{system}/{run}/{split}.bleu.json"
        for system in EXPERIMENT.tables[table].systems
        for split in EXPERIMENT.corpora.held_out
        for run in EXPERIMENT.runs(system)
    }


def facts_of(table: str) -> dict[tuple[str, str], str]:
    """Facts of the trainings of a table's systems, by system and run."""
    return {
        (system, run): f"<results>/{ROOM_OF[system]}/{system}/{run}/facts.json"
        for system in EXPERIMENT.tables[table].systems
        for run in EXPERIMENT.runs(system)
    }


def names_in(table: str, option: str, names: dict[str, str]) -> list[str]:
    """--OPTION=SYSTEM=NAME for each system of a table that has another name."""
    systems = EXPERIMENT.tables[table].systems
    return [f"--{option}={system}={name}" for system, name in names.items() if system in systems]


def everything_of(table: str) -> list[str]:
    """A table, its facts and its figure, in all their formats."""
    return [
        *(f"<results>/{table}.{ending}" for ending in ("tsv", "md", "tex", "facts.tsv")),
        *(f"<results>/figures/{table}.length.{ending}" for ending in ("svg", "pdf")),
    ]


def published_files(table: str) -> list[str]:
    """The printed numbers that stand beside ours, where a table asks for some."""
    asked = EXPERIMENT.tables[table].published
    if asked is None:
        return []
    folder = Path(workflow.basedir) / "workflow" / "published"
    if not (folder / f"{asked.paper}.tsv").is_file():
        papers = ", ".join(sorted(file.stem for file in folder.glob("*.tsv")))
        raise WorkflowError(f"tables.{table}.published: unknown paper `{asked.paper}`; known are {papers}")
    return [str(folder / f"{asked.paper}.tsv")]


def published_options(table: str, files: list[str]) -> list[str]:
    asked = EXPERIMENT.tables[table].published
    if asked is None:
        return []
    return [
        f"--published={files[0]}",
        f"--published-table={asked.table}",
        f"--published-task={asked.task}",
        *names_in(table, "published-name", asked.names),
    ]


def accuracy_files(table: str) -> dict[str, str]:
    """Dependency accuracy of the table's parsers that were trained here."""
    parsers = {EXPERIMENT.systems[system].parser for system in EXPERIMENT.tables[table].systems} - {None}
    return {
        parser: f"<results>/syntax/{parser}/accuracy/conllu.tsv"
        for parser in sorted(parsers)
        if isinstance(EXPERIMENT.parsers[parser], TrainedParser)
    }
