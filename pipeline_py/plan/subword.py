"""Jobs of the rules of `subword`, and paths of the units that models read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.subword import SubwordConfig
from pipeline_py.kinds.syntax_kind import SyntaxKind, load_all_syntax_kinds, load_syntax_kind
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.run.job import Job

SYNTAX_NAME_BY_SUFFIX = {kind.word_file_suffix: kind.name for kind in load_all_syntax_kinds() if kind.word_file_suffix}
"""Kinds of syntax that pieces inherit from words, by file suffix."""

HEAPS_FACTOR = 60
"""Words in the vocabulary of a text, divided by the square root of its sentences (Heaps' law)."""

JOINT_SIDE = "joint"
"""Name of both sides together, in the place of a side."""


@dataclass(frozen=True)
class SubwordPlan:
    """Jobs and file paths for the words, pieces, identifiers and syntax of the models' units."""

    experiment: ExperimentConfig
    corpus: CorpusPlan

    def get_word_path_pattern(self, subword_name: str, side: str) -> str:
        """Return the path of words before segmentation, possibly generalised, with the placeholder {split}."""
        rarer = self.experiment.subword_configs[subword_name].generalise
        return (
            self.corpus.get_token_path_pattern(side)
            if rarer is None
            else f"<results>/corpus/generalised/{rarer}/{{split}}.{side}"
        )

    def get_codes_path(self, subword_name: str, side: str) -> str:
        """Return the path of the BPE merges of a side, which may be joint."""
        language = (
            JOINT_SIDE if self.experiment.subword_configs[subword_name].joint else self.corpus.get_training_side(side)
        )
        return f"<results>/subword/{subword_name}/codes.{language}"

    def get_piece_path_pattern(self, subword_name: str, side: str) -> str:
        """Return the path of the units of a side (pieces or words), with the placeholder {split}."""
        if subword_name in self.experiment.parsing_tasks:
            return f"<results>/subword/{subword_name}/tagged/{{split}}.{side}"
        split = self.experiment.subword_configs[subword_name].scheme == "bpe"
        return (
            f"<results>/subword/{subword_name}/pieces/{{split}}.{side}"
            if split
            else self.get_word_path_pattern(subword_name, side)
        )

    def get_base_subword_name(self, subword_name: str) -> str:
        """Return the units without the tags and parses of an auxiliary task."""
        return (
            self.experiment.parsing_tasks[subword_name].base_subword
            if subword_name in self.experiment.parsing_tasks
            else subword_name
        )

    def get_vocabulary_path(self, subword_name: str, side: str) -> str:
        """Return the path of the vocabulary of a side, which may be joint."""
        is_joint = self.experiment.subword_configs[subword_name].joint_vocabulary is not None
        vocabulary_side = JOINT_SIDE if is_joint else self.corpus.get_training_side(side)
        return f"<results>/subword/{subword_name}/vocabulary.{vocabulary_side}"

    def get_packed_path(self, subword_name: str, split: str, side: str) -> str:
        """Return the path of the packed units of one side of a split."""
        return f"<results>/subword/{subword_name}/packed/{split}.{side}.arrow"

    def get_syntax_path_pattern(self, subword_name: str, syntax_name: str) -> str:
        """Return the path of syntax over the units, with the placeholders {parser} and {split}."""
        folder = (
            f"subword/{subword_name}" if self.experiment.subword_configs[subword_name].scheme == "bpe" else "syntax"
        )
        return f"<results>/{folder}/{{parser}}/{{split}}.{load_syntax_kind(syntax_name).word_file_suffix}"

    def get_network_syntax_paths(self, network: str, split: str, syntax_names: Iterable[str]) -> list[str]:
        """Return the files of some kinds of syntax over a network's units, from its parser."""
        units, parser = self.experiment.get_subword_name(network), self.experiment.systems[network].parser
        folder = f"<results>/subword/{units}/packed"

        def get_path(syntax_kind: SyntaxKind) -> str:
            if not syntax_kind.is_packed:
                return self.get_syntax_path_pattern(units, syntax_kind.name).format(parser=parser, split=split)
            kind_folder = f"{folder}/{parser}" if syntax_kind.tree_format else folder
            return f"{kind_folder}/{split}.{syntax_kind.name}.arrow"

        return [get_path(load_syntax_kind(name)) for name in syntax_names]

    def get_syntax_vocabulary_paths(self, network: str) -> dict[str, str]:
        """Return the vocabularies of the syntax that a network (or the one it is `like`) uses, by kind."""
        folder = f"<results>/subword/{self.experiment.get_subword_name(network)}"
        files: dict[str, str] = {}
        for name in (network, self.experiment.get_network(network).like):
            if name is not None:
                composition = self.experiment.get_network(name)
                files = {
                    kind.name: f"{folder}/{kind.vocabulary_ids.vocabulary_file.format(parser=composition.parser)}"
                    for kind in composition.syntax_kinds
                    if kind.vocabulary_ids
                } | files
        return files

    # Jobs of the rules, named after their rules.

    def build_learn_bpe_job(self, units: str, side: str) -> Job:
        """Build the job that learns the BPE merges of one side of the training text, or of both sides."""
        return Job(
            "subword.learn_bpe",
            files={
                "input": [
                    self.get_word_path_pattern(units, text_side).format(split="train")
                    for text_side in _expand_joint_side(side)
                ]
            },
            settings=self.experiment.subword_configs[units].model_dump(include={"merges", "min_frequency"}),
            software=["subword-nmt"],
        )

    def build_apply_bpe_job(self, units: str, split: str, side: str) -> Job:
        """Build the job that splits the words of a text into pieces."""
        return Job(
            "subword.apply_bpe",
            files={
                "input": self.get_word_path_pattern(units, side).format(split=split),
                "codes": self.get_codes_path(units, side),
            },
            software=["subword-nmt"],
        )

    def build_parsing_task_job(self, units: str) -> Job:
        """Build the job that writes the training text for translation and parsing."""
        return Job(
            "subword.parsing_task",
            files={
                **{side: self._get_untagged_piece_path(units, "train", side) for side in ("source", "target")},
                "trees": f"<results>/syntax/{self.experiment.parsing_tasks[units].parser}/train.ptb",
            },
        )

    def build_tag_held_out_text_job(self, units: str, split: str, side: str) -> Job:
        """Build the job that tags a text for systems that also parse."""
        return Job(
            "subword.tag_held_out_text",
            files={"pieces": self._get_untagged_piece_path(units, split, side)},
            settings={"is_source": side == "source"},
        )

    def _get_untagged_piece_path(self, subword_name: str, split: str, side: str) -> str:
        """Return the path of pieces without tags and parses."""
        return self.get_piece_path_pattern(self.get_base_subword_name(subword_name), side).format(split=split)

    def build_inherit_job(self, units: str, parser: str, split: str, syntax: str) -> Job:
        """Build the job that transfers syntax of words to their pieces; `syntax` is the suffix of the files."""
        return Job(
            "subword.inherit",
            files={
                "input": f"<results>/syntax/{parser}/{split}.{syntax}",
                "pieces": self.get_piece_path_pattern(units, "source").format(split=split),
            },
            settings={"kind": SYNTAX_NAME_BY_SUFFIX[syntax]},
            software=["pyarrow"],
            modules=[f"kinds.{SYNTAX_NAME_BY_SUFFIX[syntax]}"],
        )

    def build_make_vocabulary_job(self, units: str, side: str) -> Job:
        """Build the job that builds the vocabulary of one side, or of both sides."""
        return Job(
            "subword.vocabulary",
            files={
                "input": [
                    self.get_piece_path_pattern(units, text_side).format(split="train")
                    for text_side in _expand_joint_side(side)
                ]
            },
            settings=getattr(self.experiment.subword_configs[units], f"{side}_vocabulary").model_dump(),
        )

    def build_vocabulary_of_units_job(self, units: str) -> Job:
        """Build the job that builds the vocabulary of the words in dependency units."""
        return Job(
            "subword.vocabulary",
            files={"input": [self.corpus.get_token_path_pattern("source").format(split="train")]},
            settings=self.experiment.subword_configs[units].unit_vocabulary.model_dump(),
        )

    def build_vocabulary_of_labels_job(self, units: str, parser: str) -> Job:
        """Build the job that builds the vocabulary of a parser's labels."""
        del units  # each subword configuration has a copy
        return Job(
            "subword.vocabulary",
            files={"input": [f"<results>/syntax/{parser}/train.labels"]},
            settings={"max_size": 0, "min_count": 1},
        )

    def build_pack_job(self, units: str, split: str, side: str) -> Job:
        """Build the job that packs the pieces of a text."""
        return Job(
            "subword.pack",
            files={
                "input": self.get_piece_path_pattern(units, side).format(split=split),
                "vocabulary": self.get_vocabulary_path(units, side),
            },
            software=["pyarrow"],
        )

    def build_pack_labels_job(self, units: str, parser: str, split: str) -> Job:
        """Build the job that packs the labels of pieces."""
        return Job(
            "subword.pack",
            files={
                "input": self.get_syntax_path_pattern(units, "labels").format(parser=parser, split=split),
                "vocabulary": f"<results>/subword/{units}/vocabulary.labels.{parser}",
            },
            software=["pyarrow"],
        )

    def build_pack_units_job(self, units: str, parser: str, split: str) -> Job:
        """Build the job that packs the dependency units of pieces."""
        return Job(
            "subword.pack_units",
            files={
                "units": self.get_syntax_path_pattern(units, "units").format(parser=parser, split=split),
                "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
                "vocabulary": f"<results>/subword/{units}/vocabulary.units",
            },
            software=["pyarrow"],
        )

    def build_pack_trees_job(self, units: str, parser: str, split: str) -> Job:
        """Build the job that packs the phrase trees over pieces."""
        return Job(
            "subword.pack_trees",
            files={
                "trees": self.get_syntax_path_pattern(units, "trees").format(parser=parser, split=split),
                "pieces": self.get_piece_path_pattern(units, "source").format(split=split),
            },
            software=["pyarrow"],
        )

    def build_pack_lexical_trees_job(self, units: str, split: str) -> Job:
        """Build the job that packs trees over the pieces of each split word."""
        return Job(
            "subword.pack_trees",
            files={"pieces": self.get_piece_path_pattern(units, "source").format(split=split)},
            software=["pyarrow"],
        )

    def build_pack_heads_job(self, units: str, parser: str, split: str) -> Job:
        """Build the job that packs the head of each piece."""
        return self._build_head_packing_job(units, parser, split, {})

    def build_pack_parents_job(self, units: str, parser: str, split: str) -> Job:
        """Build the job that packs the first and last piece of the head word of each piece."""
        return self._build_head_packing_job(units, parser, split, {"parents": True})

    def _build_head_packing_job(self, subword_name: str, parser: str, split: str, settings: Mapping[str, bool]) -> Job:
        return Job(
            "subword.pack_heads",
            files={
                "trees": f"<results>/syntax/{parser}/{split}.conllu",
                "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
                "pieces": self.get_piece_path_pattern(subword_name, "source").format(split=split),
            },
            settings=settings,
            software=["pyarrow"],
        )


def _expand_joint_side(side: str) -> tuple[str, ...]:
    return ("source", "target") if side == JOINT_SIDE else (side,)


def estimate_vocabulary_size(units: SubwordConfig, sentence_count: int) -> int:
    """Estimate the vocabulary size of a language from the number of training sentences; for words by Heaps' law."""
    return units.merges if units.scheme == "bpe" else round(HEAPS_FACTOR * sentence_count**0.5)
