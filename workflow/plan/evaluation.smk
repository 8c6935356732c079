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
    """A system's translations, with {run} and {split} open; a network's also with what restores unknown words."""
    made = f"<results>/{ROOM_OF[system]}/{system}/{{run}}/{{split}}"
    restoring = {"alignment": f"{made}.alignment", "source": pieces("source")} if restores_unknown(system) else {}
    return {"pieces": f"{made}.pieces", **restoring}


def restores_unknown(system: str) -> bool:
    """Whether unknown words are taken from the source afterwards; the phrase-based decoder does it itself."""
    return EXPERIMENT.decoding.replace_unknown and EXPERIMENT.is_neural(system)


def outputs_of(table: str, split: str) -> dict[tuple[str, str], str]:
    """Detokenized outputs of a table's systems on one set, by system and run."""
    return {
        (system, run): f"<results>/evaluation/{system}/{run}/{split}.txt"
        for system in EXPERIMENT.tables[table].systems
        for run in EXPERIMENT.runs(system)
    }
