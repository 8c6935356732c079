"""What the rules of `report` are given: the cells of a table."""

TESTS = [test.name for test in EXPERIMENT.corpora.tests]


def scores_of(table: str) -> dict[tuple[str, str], str]:
    """BLEU files by system and split."""
    return {
        (system, split): f"<results>/evaluation/{system}/{split}.bleu.json"
        for system in EXPERIMENT.tables[table].systems
        for split in EXPERIMENT.corpora.held_out
    }


def accuracy_files(table: str) -> dict[str, str]:
    """Dependency accuracy of the table's parsers that were trained here."""
    parsers = {EXPERIMENT.systems[system].parser for system in EXPERIMENT.tables[table].systems} - {None}
    return {
        parser: f"<results>/syntax/{parser}/accuracy/conllu.tsv"
        for parser in sorted(parsers)
        if isinstance(EXPERIMENT.parsers[parser], TrainedParser)
    }
