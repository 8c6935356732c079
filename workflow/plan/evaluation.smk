"""What the rules of `evaluation` are given: translations, references and how BLEU is counted."""

TESTS = [test.name for test in EXPERIMENT.corpora.tests]


def references_of(wildcards) -> list[str]:
    return [f"<results>/corpus/clean/{wildcards.split}.{side}" for side in REFERENCES[wildcards.split]]


def bleu_options() -> list[str]:
    evaluation = EXPERIMENT.evaluation
    return [
        f"--tokenizer={evaluation.tokenizer}",
        "--lowercase" if evaluation.lowercase else "--cased",
    ]


def translation(system: str) -> dict[str, str]:
    """A system's translations, with {run} and {split} open, and what words are put back into them from."""
    made = f"<results>/{ROOM_OF[system]}/{system}/{{run}}/{{split}}"
    files = {"pieces": f"{made}.pieces"}
    if restores_unknown(system) or restores_placeholders(system):
        files |= {"alignment": f"{made}.alignment", "source": pieces(EXPERIMENT.units_of(system), "source")}
    if restores_placeholders(system):
        files |= {"tokens": tokens("source")}
    return files


def restores_unknown(system: str) -> bool:
    """Whether unknown words are taken from the source afterwards; the phrase-based decoder does it itself."""
    return EXPERIMENT.is_neural(system) and EXPERIMENT.systems[system].decoding.replace_unknown


def restores_placeholders(system: str) -> bool:
    """Whether a system knows rare times, dates and numbers as placeholders."""
    return EXPERIMENT.is_neural(system) and EXPERIMENT.units[EXPERIMENT.units_of(system)].generalise is not None


def is_split(system: str) -> bool:
    """Whether a system translates into pieces of words."""
    return EXPERIMENT.is_neural(system) and EXPERIMENT.units[EXPERIMENT.units_of(system)].scheme == "bpe"


def putting_back(system: str, input) -> list[str]:
    """Options of `postprocess` for what is put back."""
    return [
        *(["--replace-unknown"] if restores_unknown(system) else []),
        *(["--restore-placeholders"] if restores_placeholders(system) else []),
        *(
            f"--{option}={input[name]}"
            for option, name in (("alignment", "alignment"), ("source-pieces", "source"), ("source-tokens", "tokens"))
            if name in input.keys()
        ),
    ]


def attended_systems(table: str) -> dict[tuple[str, str, str], str]:
    """What the systems of a table attended to, read and said: files by system, run and option."""
    split = EXPERIMENT.tables[table].set
    return {
        (system, run, option): file
        for system in EXPERIMENT.tables[table].systems
        for run in EXPERIMENT.runs(system)
        for option, file in (
            ("attention", f"<results>/nmt/{system}/{run}/{split}.attention.arrow"),
            ("source", packed(EXPERIMENT.units_of(system), split, "source")),
            ("pieces", f"<results>/nmt/{system}/{run}/{split}.pieces"),
        )
    }


def outputs_of(table: str, split: str, systems: list[str] | None = None) -> dict[tuple[str, str], str]:
    """Detokenized outputs of a table's systems on one set, by system and run, in the table's order or another."""
    return {
        (system, run): f"<results>/evaluation/{system}/{run}/{split}.txt"
        for system in systems or EXPERIMENT.tables[table].systems
        for run in EXPERIMENT.runs(system)
    }


def compared_sets(table: str) -> list[str]:
    """The held-out sets on which a table's systems are laid beside each other; none where it is no table of scores."""
    options = EXPERIMENT.tables[table]
    if options.type == "bleu":
        return [*EXPERIMENT.corpora.held_out]
    return EXPERIMENT.sets_of(options) if options.type == "measures" else []


def from_baseline(table: str) -> list[str]:
    """A table's systems, in front the one that others are compared with: its baseline, or else its first row."""
    options = EXPERIMENT.tables[table]
    first = getattr(options, "baseline", options.systems[0])
    return [first, *(system for system in options.systems if system != first)]


def tested_metrics(table: str) -> list[str]:
    """What a table's systems are compared by: BLEU, and RIBES where a table marks it."""
    options = EXPERIMENT.tables[table]
    return ["bleu", *(["ribes"] if options.type == "measures" and options.marks and "ribes" in options.columns else [])]


def first_runs(table: str, split: str) -> dict[str, str]:
    """Detokenized outputs by system, of several runs that of the first, from the baseline on."""
    return {
        system: f"<results>/evaluation/{system}/{EXPERIMENT.runs(system)[0]}/{split}.txt"
        for system in from_baseline(table)
    }


def trees_of_sentences(table: str, split: str) -> dict[str, str]:
    """The trees that sentences are grouped by: annotation and file; nothing without a parser.

    They are those that the table's networks read, or else others do that are asked for: no tree is made for this alone.
    Dependencies say more than phrases, and control trees say nothing.
    """
    networks = [network for row in EXPERIMENT.tables[table].systems for network in EXPERIMENT.networks(row)]
    read = [
        (EXPERIMENT.systems[network].parser, trees)
        for network in [*networks, *EXPERIMENT.networks_asked]
        for trees in EXPERIMENT.trees_read(network)
    ]
    telling = [(parser, trees) for parser, trees in read if EXPERIMENT.parsers[parser].type != "control"]
    if not telling:
        return {}
    parser, trees = min(telling, key=lambda one: one[1] != "conllu")
    option = "dependencies" if trees == "conllu" else "phrases"
    return {option: f"<results>/syntax/{parser}/{split}.{trees}"}


def parsed_only(table: str, split: str) -> dict[str, str]:
    """The trees that say which sentences a table scores; nothing where it scores all."""
    parser = getattr(EXPERIMENT.tables[table], "parsed_by", None)
    return {} if parser is None else {"trees": f"<results>/syntax/{parser}/{split}.ptb"}
