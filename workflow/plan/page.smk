"""What the page of the whole experiment is made of."""

import json
import shlex

import pipeline_py

# Tables of papers whose numbers stand below tables that have no folder of the paper's name.
TABLES_OF_PAPERS = {"table1": ("sdatt", ["1"]), "table2": ("sdatt", ["2"]), "sdrnmt": ("sdrnmt", ["1"])}

# What decides how numbers are counted and how the page looks.
SOFTWARE_OF_PAGE = ["snakemake", "torch", "stanza", "sacrebleu", "sacremoses", "subword-nmt", "sil-machine", "scipy"]
SOFTWARE_OF_PAGE += ["matplotlib", "jinja2"]

TEMPLATES_OF_PAGE = sorted(map(str, (Path(pipeline_py.__file__).parent / "report" / "templates").iterdir()))


def tables_on_page(*types: str) -> list[str]:
    """Tables that are asked for, of some types."""
    return [name for name in EXPERIMENT.asked(EXPERIMENT.tables) if EXPERIMENT.tables[name].type in types]


def printed_tables(table: str) -> tuple[str, list[str]] | None:
    """The paper, and numbers of its tables, that a table is made after; None where it is after none.

    A table that is called PAPER/table3_4 is made after Tables 3 and 4. Those whose numbers stand in its own columns
    are not shown again.
    """
    if getattr(EXPERIMENT.tables[table], "published", None) is not None:
        return None
    found = re.fullmatch(r"(\w+)/table(\d+(?:_\d+)*)", table)
    paper, numbers = (found[1], found[2].split("_")) if found else TABLES_OF_PAPERS.get(table, ("", []))
    file = Path(workflow.basedir) / "workflow" / "published" / f"{paper}.tsv"
    return (paper, numbers) if paper and file.is_file() else None


def sets_on_page(table: str) -> list[str]:
    """The held-out sets of a table, test sets first."""
    return sorted(compared_sets(table), key=lambda split: split == "dev")


def pair_on_page(table: str) -> list[str]:
    """The systems whose attention is drawn with examples: what a table proposes first, and its baseline."""
    options = EXPERIMENT.tables[table]
    pair = [*options.proposed[:1], options.baseline] if options.type == "bleu" else []
    return pair if len(pair) == 2 and all(map(EXPERIMENT.is_neural, pair)) else []


def attention_on_page(table: str) -> dict[str, str]:
    """What these two attended to on the first test set, by system, set and option; of several runs in the first."""
    split, found = TESTS[0], {}
    for system in pair_on_page(table):
        units, run = EXPERIMENT.units_of(system), EXPERIMENT.runs(system)[0]
        made = f"<results>/nmt/{system}/{run}/{split}"
        options = EXPERIMENT.systems[EXPERIMENT.networks(system)[0]]
        found |= {
            f"{system}:{split}:source_pieces": pieces(units, "source").format(split=split),
            f"{system}:{split}:translation": f"{made}.pieces",
            f"{system}:{split}:attention": f"{made}.attention.arrow",
            f"{system}:{split}:gates": f"{made}.gates.arrow",
        }
        if "trees" in options.syntax:
            found[f"{system}:{split}:tree"] = syntax_of_units(units, "trees").format(parser=options.parser, split=split)
    return found


def files_of_tables() -> dict[str, dict[str, str]]:
    """What the page says of tables, by option and name."""
    of_scores = tables_on_page("bleu", "measures")
    printed = {name: printed for name in of_scores if (printed := printed_tables(name)) is not None}
    by_set = {
        option: {
            f"{table}:{split}": f"<results>/evaluation/{table}/{split}.{kind}.tsv"
            for table in of_scores
            for split in sets_on_page(table)
        }
        for option, kind in (
            ("comparisons", "comparisons"),
            ("intervals", "intervals"),
            ("breakdown", "by_sentence"),
            ("sentence_scores", "sentence_scores"),
            ("words", "words"),
            ("ngrams", "ngrams"),
            ("examples", "examples"),
        )
    }
    return {
        "table": {name: f"<results>/{name}.md" for name in EXPERIMENT.asked(EXPERIMENT.tables)},
        "facts": {name: f"<results>/{name}.facts.tsv" for name in of_scores},
        "published": {
            name: str(Path(workflow.basedir) / "workflow" / "published" / f"{paper}.tsv")
            for name, (paper, _) in printed.items()
        },
        **by_set,
        "source_tree": {
            f"{table}:{TESTS[0]}": file
            for table in tables_on_page("bleu")
            if pair_on_page(table)
            for file in trees_of_sentences(table, TESTS[0]).values()
        },
        "attended": {name: file for table in tables_on_page("bleu") for name, file in attention_on_page(table).items()},
    }


def files_of_page() -> dict[str, dict[str, str]]:
    """Everything that the page is made of, by option and name."""
    networks = [
        network
        for network in dict.fromkeys(
            network for table in tables_on_page("bleu", "measures") for network in trained_for(table)
        )
        if EXPERIMENT.is_neural(network)
    ]
    parsers = sorted(EXPERIMENT.parsers_asked)
    return {
        **files_of_tables(),
        "curve": {
            f"{network}:{run}": f"<results>/nmt/{network}/{run}/learning_curve.tsv"
            for network in networks
            for run in EXPERIMENT.runs(network)
        },
        "figure": {
            f"{figure}:{sentence}": f"<results>/figures/{figure}.{sentence}.svg"
            for figure in EXPERIMENT.asked(EXPERIMENT.figures)
            for sentence in EXPERIMENT.figures[figure].sentences
        },
        "accuracy": {parser: f"<results>/syntax/{parser}/accuracy.tsv" for parser in EXPERIMENT.trained_parsers},
        "parser": {parser: f"<results>/syntax/{parser}/report.tsv" for parser in parsers},
        "agreement": {
            f"{parser}:{other}": f"<results>/syntax/{parser}/agreement.{other}.tsv"
            for parser, other in combinations(parsers, 2)
            if kinds_of_both(parser, other)
        },
        "ledger": {split: f"<results>/corpus/clean/{split}.json" for split in EXPERIMENT.corpora.splits},
    }


def stages() -> list[str]:
    """Every stage, as ROOM.STAGE."""
    folder = Path(pipeline_py.__file__).parent
    return [
        f"{file.parent.name}.{file.stem}"
        for file in sorted(folder.glob("*/*.py"))
        if f"stage.run({file.stem})" in file.read_text(encoding="utf-8")
    ]


def options_of_page(input) -> list[str]:
    """Options of the stage `report` for its files, and for what is known without any."""
    files = files_of_page()
    return [
        *(
            f"--{option.replace('_', '-')}={name}={file}"
            for option, of_option in files.items()
            for name, file in zip(of_option, input.get(option, []), strict=True)
        ),
        *(f"--published-table={table}={number}" for table in files["published"] for number in printed_tables(table)[1]),
    ]


def made_by_all() -> list[str]:
    """The hash of every stage's code, and the versions of installed packages, as options of the stage `report`."""
    versions = made_by("report.report", *SOFTWARE_OF_PAGE)
    return [
        *(f"--code={stage}={made_by(stage)['code']}" for stage in stages()),
        *(f"--version={name}={versions[name]}" for name in SOFTWARE_OF_PAGE),
    ]


def command_of_page() -> str:
    """What makes the page again: files and settings of the configuration as they were given."""
    words = ["snakemake", "--cores", "8", f"{EXPERIMENT.folder('results')}/report.html"]
    if files := workflow.overwrite_configfiles or []:
        words += ["--configfile", *(os.path.relpath(file) for file in files)]
    if settings := workflow.config_settings.config:
        words += [
            "--config",
            *(f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()),
        ]
    return shlex.join(words)
