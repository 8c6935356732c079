"""What the rules of `subword` are given, and where the units of the models lie."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline_py.config.experiment import Experiment
from pipeline_py.kinds.kind import Kind, all_kinds, kind_of
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.run.job import Job

INHERITED = {kind.of_words: kind.name for kind in all_kinds() if kind.of_words}
"""How the files end that hold syntax of words, and the kind that pieces inherit from them."""

JOINT = "joint"
"""Both sides together, in the place of a side."""


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
        language = JOINT if self.experiment.units[units].joint else self.corpus.trained_side(side)
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
        return f"<results>/subword/{units}/vocabulary.{JOINT if shared else self.corpus.trained_side(side)}"

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

    # Jobs of the rules, each called like its rule.

    def learn_bpe(self, units: str, side: str) -> Job:
        """Learn the merges of one side of the training text, or of both."""
        return Job(
            "subword.learn_bpe",
            files={"input": [self.words(units, one).format(split="train") for one in _sides(side)]},
            settings=self.experiment.units[units].model_dump(include={"merges", "min_frequency"}),
            software=["subword-nmt"],
        )

    def apply_bpe(self, units: str, split: str, side: str) -> Job:
        """Split the words of a text into pieces."""
        return Job(
            "subword.apply_bpe",
            files={"input": self.words(units, side).format(split=split), "codes": self.codes(units, side)},
            software=["subword-nmt"],
        )

    def parsing_task(self, units: str) -> Job:
        """Make the training text of translation and parsing."""
        return Job(
            "subword.parsing_task",
            files={
                **{side: self._translation_pieces(units, "train", side) for side in ("source", "target")},
                "trees": f"<results>/syntax/{self.experiment.tasks[units].parser}/train.ptb",
            },
        )

    def parsing_task_held_out(self, units: str, split: str, side: str) -> Job:
        """Tag a text to translate for systems that also parse."""
        return Job(
            "subword.parsing_task_held_out",
            files={"pieces": self._translation_pieces(units, split, side)},
            settings={"is_source": side == "source"},
        )

    def _translation_pieces(self, units: str, split: str, side: str) -> str:
        """Return the pieces of units without tags and parses."""
        return self.pieces(self.of_translation(units), side).format(split=split)

    def inherit(self, units: str, parser: str, split: str, syntax: str) -> Job:
        """Transfer syntax of words to their pieces; `syntax` is how its files end."""
        return Job(
            "subword.inherit",
            files={
                "input": f"<results>/syntax/{parser}/{split}.{syntax}",
                "pieces": self.pieces(units, "source").format(split=split),
            },
            settings={"kind": INHERITED[syntax]},
            software=["pyarrow"],
            modules=[f"kinds.{INHERITED[syntax]}"],
        )

    def make_vocabulary(self, units: str, side: str) -> Job:
        """Make the vocabulary of one side, or of both."""
        return Job(
            "subword.vocabulary",
            files={"input": [self.pieces(units, one).format(split="train") for one in _sides(side)]},
            settings=getattr(self.experiment.units[units], f"{side}_vocabulary").model_dump(),
        )

    def vocabulary_of_units(self, units: str) -> Job:
        """Make the vocabulary of the words in dependency units."""
        return Job(
            "subword.vocabulary",
            files={"input": [self.corpus.tokens("source").format(split="train")]},
            settings=self.experiment.units[units].unit_vocabulary.model_dump(),
        )

    def vocabulary_of_labels(self, units: str, parser: str) -> Job:
        """Make the vocabulary of a parser's labels."""
        del units  # each has a copy
        return Job(
            "subword.vocabulary",
            files={"input": [f"<results>/syntax/{parser}/train.labels"]},
            settings={"max_size": 0, "min_count": 1},
        )

    def pack(self, units: str, split: str, side: str) -> Job:
        """Pack the pieces of a text."""
        return Job(
            "subword.pack",
            files={
                "input": self.pieces(units, side).format(split=split),
                "vocabulary": self.vocabulary(units, side),
            },
            software=["pyarrow"],
        )

    def pack_labels(self, units: str, parser: str, split: str) -> Job:
        """Pack the labels of pieces."""
        return Job(
            "subword.pack",
            files={
                "input": self.syntax(units, "labels").format(parser=parser, split=split),
                "vocabulary": f"<results>/subword/{units}/vocabulary.labels.{parser}",
            },
            software=["pyarrow"],
        )

    def pack_units(self, units: str, parser: str, split: str) -> Job:
        """Pack the dependency units of pieces."""
        return Job(
            "subword.pack_units",
            files={
                "units": self.syntax(units, "units").format(parser=parser, split=split),
                "tokens": self.corpus.tokens("source").format(split=split),
                "vocabulary": f"<results>/subword/{units}/vocabulary.units",
            },
            software=["pyarrow"],
        )

    def pack_trees(self, units: str, parser: str, split: str) -> Job:
        """Pack the phrase trees over pieces."""
        return Job(
            "subword.pack_trees",
            files={
                "trees": self.syntax(units, "trees").format(parser=parser, split=split),
                "pieces": self.pieces(units, "source").format(split=split),
            },
            software=["pyarrow"],
        )

    def pack_lexical_trees(self, units: str, split: str) -> Job:
        """Pack trees over the pieces of each split word."""
        return Job(
            "subword.pack_trees",
            files={"pieces": self.pieces(units, "source").format(split=split)},
            software=["pyarrow"],
        )

    def pack_heads(self, units: str, parser: str, split: str) -> Job:
        """Pack the head of each piece."""
        return self._heads(units, parser, split, {})

    def pack_parents(self, units: str, parser: str, split: str) -> Job:
        """Pack the first and last piece of the head word of each piece."""
        return self._heads(units, parser, split, {"parents": True})

    def _heads(self, units: str, parser: str, split: str, settings: Mapping[str, bool]) -> Job:
        return Job(
            "subword.pack_heads",
            files={
                "trees": f"<results>/syntax/{parser}/{split}.conllu",
                "tokens": self.corpus.tokens("source").format(split=split),
                "pieces": self.pieces(units, "source").format(split=split),
            },
            settings=settings,
            software=["pyarrow"],
        )


def _sides(side: str) -> tuple[str, ...]:
    """Return a side, or both if they are joint."""
    return ("source", "target") if side == JOINT else (side,)
