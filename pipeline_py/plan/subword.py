"""What the rules of `subword` are given, and where the units of the models lie."""

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parts import KINDS_WITH_VOCABULARY
from pipeline_py.plan.corpus import CorpusPlan

SYNTAX_FILES = {
    "distances": "distances.arrow",
    "labels": "labels",
    "trees": "binary.ptb",
    "units": "units.arrow",
}
"""Kinds of syntax, as the systems' parts name them, and their files."""

PACKED_KINDS = (*KINDS_WITH_VOCABULARY, "heads", "trees")
"""What is packed once more after `inherit`, and then has the kind in its name."""


@dataclass(frozen=True)
class SubwordPlan:
    """Where the words, pieces, identifiers and syntax of the models' units lie."""

    experiment: Experiment
    corpus: CorpusPlan

    def words(self, units: str, side: str) -> str:
        """The path of the words that are cut into units, with {split} open: rare numbers may be generalised."""
        rarer = self.experiment.units[units].generalise
        return self.corpus.tokens(side) if rarer is None else f"<results>/corpus/generalised/{rarer}/{{split}}.{side}"

    def codes(self, units: str, side: str) -> str:
        """The merges of one side: its own, or those that both share."""
        return f"<results>/subword/{units}/codes.{'joint' if self.experiment.units[units].joint else side}"

    def pieces(self, units: str, side: str) -> str:
        """The path of the units of one side, with {split} open: pieces, or the words themselves."""
        split = self.experiment.units[units].scheme == "bpe"
        return f"<results>/subword/{units}/pieces/{{split}}.{side}" if split else self.words(units, side)

    def packed(self, units: str, split: str, side: str) -> str:
        """Identifiers of the units of one side of a split."""
        return f"<results>/subword/{units}/packed/{split}.{side}.arrow"

    def syntax(self, units: str, kind: str) -> str:
        """The path of syntax over the units, with {parser} and {split} open; words pass on their own."""
        folder = f"subword/{units}" if self.experiment.units[units].scheme == "bpe" else "syntax"
        return f"<results>/{folder}/{{parser}}/{{split}}.{SYNTAX_FILES[kind]}"

    def syntax_of(self, network: str, split: str, kinds: Iterable[str]) -> list[str]:
        """Files of some kinds of syntax in a network's units, made by its parser."""
        units, parser = self.experiment.units_of(network), self.experiment.systems[network].parser
        folder = f"<results>/subword/{units}/packed"

        def file(kind: str) -> str:
            if kind == "lexical_trees":
                return f"{folder}/{split}.lexical_trees.arrow"
            if kind in PACKED_KINDS:
                return f"{folder}/{parser}/{split}.{kind}.arrow"
            return self.syntax(units, kind).format(parser=parser, split=split)

        return [*map(file, kinds)]

    def vocabularies_of_syntax(self, network: str) -> dict[str, str]:
        """Vocabularies of the syntax that a network, or the one it is like, reads or predicts, by kind.

        Units hold words, labels are the parser's.
        """
        folder = f"<results>/subword/{self.experiment.units_of(network)}"
        files: dict[str, str] = {}
        for name in (network, self.experiment.network(network).like):
            if name is not None:
                composition = self.experiment.network(name)
                own = {"labels": f"vocabulary.labels.{composition.parser}", "units": "vocabulary.units"}
                files = {kind: f"{folder}/{own[kind]}" for kind in composition.kinds_with_vocabulary} | files
        return files
