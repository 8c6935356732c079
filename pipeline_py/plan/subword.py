"""What the rules of `subword` are given, and where the units of the models lie."""

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline_py.config.experiment import Experiment
from pipeline_py.kinds.kind import Kind, all_kinds, kind_of
from pipeline_py.plan.corpus import CorpusPlan

INHERITED = {kind.of_words: kind.name for kind in all_kinds() if kind.of_words}
"""How the files end that hold syntax of words, and the kind that pieces inherit from them."""


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
        language = "joint" if self.experiment.units[units].joint else self.corpus.trained_side(side)
        return f"<results>/subword/{units}/codes.{language}"

    def pieces(self, units: str, side: str) -> str:
        """The path of the units of one side, with {split} open: pieces, or the words themselves."""
        if units in self.experiment.tasks:
            return f"<results>/subword/{units}/tagged/{{split}}.{side}"
        split = self.experiment.units[units].scheme == "bpe"
        return f"<results>/subword/{units}/pieces/{{split}}.{side}" if split else self.words(units, side)

    def of_translation(self, units: str) -> str:
        """The units that translation alone has: those of two tasks without tags and parses."""
        return self.experiment.tasks[units].of if units in self.experiment.tasks else units

    def vocabulary(self, units: str, side: str) -> str:
        """The vocabulary of one side: its own, or the one that both share."""
        shared = self.experiment.units[units].joint_vocabulary is not None
        return f"<results>/subword/{units}/vocabulary.{'joint' if shared else self.corpus.trained_side(side)}"

    def packed(self, units: str, split: str, side: str) -> str:
        """Identifiers of the units of one side of a split."""
        return f"<results>/subword/{units}/packed/{split}.{side}.arrow"

    def syntax(self, units: str, kind: str) -> str:
        """The path of syntax over the units, with {parser} and {split} open; words pass on their own."""
        folder = f"subword/{units}" if self.experiment.units[units].scheme == "bpe" else "syntax"
        return f"<results>/{folder}/{{parser}}/{{split}}.{kind_of(kind).of_words}"

    def syntax_of(self, network: str, split: str, kinds: Iterable[str]) -> list[str]:
        """Files of some kinds of syntax in a network's units, made by its parser."""
        units, parser = self.experiment.units_of(network), self.experiment.systems[network].parser
        folder = f"<results>/subword/{units}/packed"

        def file(kind: Kind) -> str:
            if not kind.packed:
                return self.syntax(units, kind.name).format(parser=parser, split=split)
            of_parser = f"{folder}/{parser}" if kind.trees else folder
            return f"{of_parser}/{split}.{kind.name}.arrow"

        return [file(kind_of(name)) for name in kinds]

    def vocabularies_of_syntax(self, network: str) -> dict[str, str]:
        """Vocabularies of the syntax that a network, or the one it is like, reads or predicts, by kind.

        Units hold words, labels are the parser's.
        """
        folder = f"<results>/subword/{self.experiment.units_of(network)}"
        files: dict[str, str] = {}
        for name in (network, self.experiment.network(network).like):
            if name is not None:
                composition = self.experiment.network(name)
                files = {
                    kind.name: f"{folder}/{kind.identifiers.vocabulary.format(parser=composition.parser)}"
                    for kind in composition.kinds
                    if kind.identifiers
                } | files
        return files
