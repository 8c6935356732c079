"""What the rules of `report` are given: the cells of a table."""

from pipeline_py.config.differences import notes, settings_of_trainings, warning

# What tables of counts call splits and languages.
NAMES_OF_SPLITS = {"train": "Train", "dev": "Development"}
LANGUAGES = [EXPERIMENT.corpora.source.language, EXPERIMENT.corpora.target.language]

# Tables that this run asks the inputs of.
TABLES_OF_RUN = set()


def tables_of_type(*types: str) -> str:
    """A pattern for the names of tables of some types."""
    return one_of(name for name, table in EXPERIMENT.tables.items() if table.type in types)


def in_this_run(table: str) -> str:
    TABLES_OF_RUN.add(table)
    return table


def warnings_of_tables() -> list[str]:
    """How systems of a table of this run differ in what it does not ask about."""
    found = (warning(EXPERIMENT, table) for table in EXPERIMENT.tables if table in TABLES_OF_RUN)
    return [*filter(None, found)]


def scores_of(table: str) -> dict[tuple[str, str, str], str]:
    """BLEU files by system, split and run."""
    return {
        (system, split, run): f"<results>/evaluation/{system}/{run}/{split}.bleu.json"
        for system in EXPERIMENT.tables[table].systems
        for split in EXPERIMENT.corpora.held_out
        for run in EXPERIMENT.runs(system)
    }


def trained_for(table: str) -> list[str]:
    """The systems behind a table's rows that are trained: themselves, or the members of an ensemble."""
    rows = EXPERIMENT.tables[table].systems
    return list(dict.fromkeys(system for row in rows for system in EXPERIMENT.networks(row) or [row]))


def facts_of(table: str) -> dict[tuple[str, str], str]:
    """Facts of the trainings behind a table's rows, by system and run."""
    return {
        (system, run): f"<results>/{ROOM_OF[system]}/{system}/{run}/facts.json"
        for system in trained_for(table)
        for run in EXPERIMENT.runs(system)
    }


def measures_of(table: str) -> dict[tuple[str, str, str, str], str]:
    """Scores that the columns of a table of measures come from, by system, set, run and metric."""
    options = EXPERIMENT.tables[table]
    asked = {*options.columns}
    metrics = [
        *(["bleu"] if asked & {"bleu", "brevity", "length"} else []),
        *(["ribes"] if "ribes" in asked else []),
    ]
    only = "" if options.parsed_by is None else f"parsed-{options.parsed_by}."
    return {
        (system, split, run, metric): f"<results>/evaluation/{system}/{run}/{split}.{only}{metric}.json"
        for system in options.systems
        for split in EXPERIMENT.sets_of(options)
        for run in EXPERIMENT.runs(system)
        for metric in metrics
    }


def comparisons_of(table: str) -> dict[str, str]:
    """Comparisons of the table's systems by set, where it has marks; of a table of BLEU on the test sets."""
    options = EXPERIMENT.tables[table]
    marked = TESTS if options.type == "bleu" else EXPERIMENT.sets_of(options) if options.marks else []
    return {split: f"<results>/evaluation/{table}/{split}.comparisons.tsv" for split in marked}


def settings_of(system: str) -> dict[str, str]:
    """What the configuration says of a system in the columns of a table."""
    options = EXPERIMENT.systems[system]
    if not EXPERIMENT.is_neural(system):
        return {}
    losses = [EXPERIMENT.systems[network].loss for network in EXPERIMENT.networks(system)]
    samples = {f"{loss.samples:,}" if loss.type == "blackout" else "" for loss in losses}
    search = [
        *(["normalized"] if options.decoding.length_normalization else []),
        *(["with length model"] if options.decoding.length_model else []),
    ]
    return {
        # Members of an ensemble may differ.
        "negative_samples": samples.pop() if len(samples) == 1 else "",
        "subword": "yes" if is_split(system) else "no",
        "search": ", ".join(search) or "plain",
        "beam": str(options.decoding.beam),
    }


def notes_of(table: str) -> list[str]:
    """What the configuration says below a table, as options."""
    return [f"--note={sentence}" for sentence in notes(EXPERIMENT, EXPERIMENT.tables[table])]


def settings_in_facts(table: str) -> list[str]:
    """What the trainings behind a table's rows differ in, as options of `facts`."""
    settings = settings_of_trainings(EXPERIMENT, EXPERIMENT.tables[table])
    return [f"--setting={system}:{kind}={text}" for (system, kind), text in settings.items()]


def names_of_sets(table: str) -> dict[str, str]:
    """What a table calls its sets, where not by their split."""
    dev = EXPERIMENT.corpora.dev.name
    return (
        {"dev": "Dev" if dev.lower() == "dev" else f"Dev ({dev})"}
        if "dev" in EXPERIMENT.sets_of(EXPERIMENT.tables[table])
        else {}
    )


def names_in(table: str, option: str, names: dict[str, str]) -> list[str]:
    """--OPTION=SYSTEM=NAME for each system of a table that has another name."""
    systems = EXPERIMENT.tables[table].systems
    return [f"--{option}={system}={name}" for system, name in names.items() if system in systems]


def everything_of(table: str) -> list[str]:
    """A table and, as far as it has such, its facts and its figure, in all their formats."""
    type_of_table = EXPERIMENT.tables[table].type
    endings = ["tsv", "md", "tex", *(["facts.tsv"] if type_of_table in ("bleu", "measures") else [])]
    return [
        *(f"<results>/{table}.{ending}" for ending in endings),
        *(f"<results>/figures/{table}.length.{ending}" for ending in ("svg", "pdf") if type_of_table == "bleu"),
    ]


def pictures_of(figure: str) -> list[str]:
    """The pictures of a figure, one for each sentence."""
    return [
        f"<results>/figures/{figure}.{sentence}.{ending}"
        for sentence in EXPERIMENT.figures[figure].sentences
        for ending in ("svg", "pdf")
    ]


def picture_inputs(figure: str) -> dict[str, str]:
    """What a system read, said and attended to; its trees where it has such. Of several runs it is the first."""
    options = EXPERIMENT.figures[figure]
    system, split = options.system, options.set
    units, run = EXPERIMENT.units_of(system), EXPERIMENT.runs(system)[0]
    made = f"<results>/nmt/{system}/{run}/{split}"
    reads_trees = "trees" in EXPERIMENT.systems[system].syntax
    parser = EXPERIMENT.systems[system].parser
    trees = {"tree": syntax_of_units(units, "trees").format(parser=parser, split=split)} if reads_trees else {}
    return {
        **trees,
        "source_pieces": pieces(units, "source").format(split=split),
        "translation": f"{made}.pieces",
        "attention": f"{made}.attention.arrow",
        "gates": f"{made}.gates.arrow",
        "reference": f"<results>/corpus/tokenized/{split}.target",
    }


def reads_lexical_trees(figure: str) -> bool:
    return "lexical_trees" in EXPERIMENT.systems[EXPERIMENT.figures[figure].system].syntax


def called(target: str, names) -> list[str]:
    """Those that are called like a target, or stand in the folder that is."""
    return [name for name in names if name.partition("/")[0] == target]


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


# Found before there are jobs, as are Stanza's models.
PUBLISHED = {name: published_files(name) for name, table in EXPERIMENT.tables.items() if table.type == "bleu"}


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


def accuracy_files(table: str) -> dict[tuple[str, str], str]:
    """Accuracy of the trees that the table's systems read, by parser and kind, where there are gold ones."""
    read = {
        (EXPERIMENT.systems[system].parser, trees)
        for system in trained_for(table)
        for trees in EXPERIMENT.trees_read(system)
    }
    return {
        (parser, trees): f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
        for parser, trees in sorted(read)
        if has_gold(parser, trees)
    }


def accuracy_options(table: str, files) -> list[str]:
    """--parser-accuracy of each parser and kind of trees."""
    return [
        f"--parser-accuracy={parser}:{trees}={file}"
        for (parser, trees), file in zip(accuracy_files(table), files, strict=True)
    ]


def table_of_measures(table: str) -> str:
    """A table of measures as JSON, its sets spelt out."""
    options = EXPERIMENT.tables[table]
    return options.model_copy(update={"sets": EXPERIMENT.sets_of(options)}).model_dump_json()


include: "page.smk"
