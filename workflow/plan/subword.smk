"""What the rules of `subword` are given, and where the units of the models lie."""

from pipeline_py.config.parts import KINDS_WITH_VOCABULARY


def words(units: str, side: str) -> str:
    """The path of the words that are cut into units, with {split} open: rare numbers may be generalised."""
    rarer = EXPERIMENT.units[units].generalise
    return tokens(side) if rarer is None else generalised(side, rarer)


def codes(units: str, side: str) -> str:
    """The merges of one side: its own, or those that both share."""
    return f"<results>/subword/{units}/codes.{'joint' if EXPERIMENT.units[units].joint else side}"


def pieces(units: str, side: str) -> str:
    """The path of the units of one side, with {split} open: pieces, or the words themselves."""
    split = EXPERIMENT.units[units].scheme == "bpe"
    return f"<results>/subword/{units}/pieces/{{split}}.{side}" if split else words(units, side)


def packed(units: str, split: str, side: str) -> str:
    """Identifiers of the units of one side of a split."""
    return f"<results>/subword/{units}/packed/{split}.{side}.arrow"


# Kinds of syntax, as the systems' parts name them, and their files.
SYNTAX_FILES = {
    "distances": "distances.arrow",
    "labels": "labels",
    "trees": "binary.ptb",
    "units": "units.arrow",
}

# What is packed once more after `inherit`, and then has the kind in its name.
PACKED_KINDS = (*KINDS_WITH_VOCABULARY, "heads", "trees")


def syntax_of_units(units: str, kind: str) -> str:
    """The path of syntax over the units, with {parser} and {split} open; words pass on their own."""
    folder = f"subword/{units}" if EXPERIMENT.units[units].scheme == "bpe" else "syntax"
    return f"<results>/{folder}/{{parser}}/{{split}}.{SYNTAX_FILES[kind]}"


def syntax_of_system(system: str, split: str) -> dict[str, str]:
    """Files of syntax that a network reads, by kind."""
    return syntax_of_kinds(system, split, EXPERIMENT.systems[system].syntax)


def syntax_of_kinds(system: str, split: str, kinds: list[str]) -> dict[str, str]:
    """Files of some kinds of syntax in a network's units, made by its parser."""
    units, parser = EXPERIMENT.units_of(system), EXPERIMENT.systems[system].parser
    folder = f"<results>/subword/{units}/packed"

    def file(kind: str) -> str:
        if kind == "lexical_trees":
            return f"{folder}/{split}.lexical_trees.arrow"
        if kind in PACKED_KINDS:
            return f"{folder}/{parser}/{split}.{kind}.arrow"
        return syntax_of_units(units, kind).format(parser=parser, split=split)

    return {kind: file(kind) for kind in kinds}


def vocabularies_of_syntax(system: str) -> dict[str, str]:
    """Vocabularies of the syntax that a network, or the one it is like, reads or predicts, by kind.

    Units hold words, labels are the parser's.
    """
    folder = f"<results>/subword/{EXPERIMENT.units_of(system)}"
    like = EXPERIMENT.systems[system].like
    files = {}
    for composition in [EXPERIMENT.systems[name] for name in (system, like) if name is not None]:
        own = {"labels": f"vocabulary.labels.{composition.parser}", "units": "vocabulary.units"}
        files = {kind: f"{folder}/{own[kind]}" for kind in composition.kinds_with_vocabulary} | files
    return files
