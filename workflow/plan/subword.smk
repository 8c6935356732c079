"""What the rules of `subword` are given, and where the units of the models lie."""

from pipeline_py.config.systems import KINDS_WITH_VOCABULARY

BPE = EXPERIMENT.subword.scheme == "bpe"


def codes(side: str) -> str:
    """The merges of one side: its own, or those that both share."""
    return f"<results>/subword/codes.{'joint' if EXPERIMENT.subword.joint else side}"


def pieces(side: str) -> str:
    """The path of the units of one side, with {split} open: pieces, or the words themselves."""
    return f"<results>/subword/pieces/{{split}}.{side}" if BPE else tokens(side)


# Kinds of syntax, as the systems' parts name them, and their files.
SYNTAX_FILES = {"distances": "distances.arrow", "labels": "labels", "units": "units.arrow"}


def syntax_of_units(kind: str) -> str:
    """The path of syntax over the units of the models, with {parser} and {split} open; words pass on their own."""
    return f"<results>/{'subword' if BPE else 'syntax'}/{{parser}}/{{split}}.{SYNTAX_FILES[kind]}"


def syntax_of_system(system: str, split: str) -> dict[str, str]:
    """Files of syntax that a system reads, by kind; what has a vocabulary is packed."""
    composition = EXPERIMENT.systems[system]
    packed = "<results>/subword/packed/{parser}/{split}.{kind}.arrow"
    return {
        kind: (packed if kind in KINDS_WITH_VOCABULARY else syntax_of_units(kind)).format(
            parser=composition.parser, split=split, kind=kind
        )
        for kind in composition.syntax
    }


def vocabularies_of_syntax(system: str) -> dict[str, str]:
    """Vocabularies of the syntax that a system reads, by kind: units hold words, labels are the parser's."""
    composition = EXPERIMENT.systems[system]
    files = {
        "labels": f"<results>/subword/vocabulary.labels.{composition.parser}",
        "units": "<results>/subword/vocabulary.units",
    }
    return {kind: files[kind] for kind in composition.syntax if kind in files}
