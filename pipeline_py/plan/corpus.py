"""Jobs of the rules of `corpus`: text from files or the generator, cleaning and tokenization."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_py.config.corpora import (
    ContrastiveSetConfig,
    CorpusSide,
    GeneratedContrastConfig,
    GeneratedTextConfig,
    GeneratorConfig,
    HeldOutTextConfig,
    LanguageConfig,
    LanguageShare,
    compute_contrast_share,
    compute_split_share,
)
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.files.contrastive_pair_files import read_contrastive_pairs
from pipeline_py.files.language_properties import has_moses_rules
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.plan.paths import UserFileHasher
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job
from pipeline_py.syntax.stanza.model_directory import INDEX_FILE, list_tokenizer_files

CORRECT_SIDE, CONTRASTIVE_SIDE = "target", "target1"
"""Sides of a contrastive set: its two translations are stored like two references of a held-out set."""

BYTES_PER_GENERATED_SENTENCE = 52
"""Mean length of the sources of the embedded corpus."""

BYTES_PER_WORD = 6
"""Mean bytes of an English word with the following space; similar for Chinese."""

MAX_LENGTH_TEXT_RATIO = 1e6
"""Limit of the ratio of lengths in a text for length models, which no pair exceeds."""

TOKENIZER_SOFTWARE = {"moses": ["sacremoses"], "jieba": ["jieba"], "stanza": ["stanza"], "none": []}


@cache
def count_lines_and_bytes(*files: str) -> tuple[int, int]:
    """Count the lines of files and their bytes; each file is read once in a run.

    Raises:
        InputError: a file cannot be read.
    """
    lines = size = 0
    try:
        for file in files:
            for line in read_byte_lines(Path(file)):
                lines, size = lines + 1, size + len(line)
    except OSError as error:
        raise InputError(str(error)) from None
    return lines, size


def build_generation_job(
    text_config: GeneratedTextConfig,
    generator: GeneratorConfig,
    language_share: LanguageShare,
    vocabulary_texts: Mapping[str, list[str]],
    is_training_text: bool,
) -> Job:
    """Build the job that generates a text.

    Args:
        text_config: configuration of the sentences.
        generator: configuration of the language.
        language_share: part of the language to draw sentences from.
        vocabulary_texts: texts with the words that may occur, from `CorpusPlan.vocabulary_texts`.
        is_training_text: whether the text is for training and may be ambiguous.
    """
    settings = {
        **_build_generation_settings(text_config, generator, language_share),
        "ambiguous": generator.ambiguous if is_training_text else 0,
    }
    return Job("corpus.generate", files=vocabulary_texts, settings=settings)


def _build_generation_settings(
    generated_config: GeneratedTextConfig | GeneratedContrastConfig,
    generator: GeneratorConfig,
    language_share: LanguageShare,
) -> dict[str, Any]:
    """Return the common settings of `generate` and `generate_contrastive_pairs`."""
    share_from, share_to = language_share
    return {
        **generated_config.model_dump(),
        "lexicon": generator.lexicon,
        "digits": generator.digits,
        "share_from": share_from,
        "share_to": share_to,
        **({"min_count": generator.min_count} if generator.min_count else {}),
    }


def count_contrastive_pairs(experiment: ExperimentConfig) -> dict[str, int]:
    """Count and check the pairs of each contrastive set.

    Raises:
        InputError: a file of contrastive pairs is malformed.
    """
    return {
        name: text.generate.sentences
        if text.generate is not None and not text.file
        else sum(1 for file in text.file for _ in read_contrastive_pairs(Path(experiment.resolve_path(file))))
        for name, text in experiment.corpora.contrastive_sets.items()
    }


@dataclass(frozen=True)
class CorpusPlan:
    """Jobs and file paths for the text of each split and side.

    Attributes:
        pair_counts: number of pairs of each contrastive set.
        overlap_counts: number of training pairs whose source is in a set, by set, if known.
    """

    experiment: ExperimentConfig
    hash_user_files: UserFileHasher
    pair_counts: Mapping[str, int] = field(default_factory=dict)
    overlap_counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def scored_test_sets(self) -> list[str]:
        """The test sets that are scored."""
        return self.experiment.corpora.scored_tests

    @property
    def reference_sides(self) -> dict[str, list[str]]:
        """The reference sides of each held-out set.

        A rule has a fixed number of outputs, so there is one cleaning rule for each number of references.
        """
        corpora = self.experiment.corpora
        return {
            **{split: [*text.files_by_side][1:] for split, text in corpora.held_out_sets.items()},
            **{split: [CORRECT_SIDE, CONTRASTIVE_SIDE] for split in corpora.contrastive_sets},
        }

    @property
    def has_stanza_tokenizer(self) -> bool:
        """True if Stanza tokenizes a side."""
        return "stanza" in (self.get_language_config("source").tokenizer, self.get_language_config("target").tokenizer)

    def get_user_files(self, split: str, side: str) -> list[str]:
        """Return the user's files of one side of a split; empty if the text is generated or contrastive."""
        if split in self.experiment.corpora.contrastive_sets:
            return []
        corpora = self.experiment.corpora
        texts = corpora.length_texts_by_name
        if split == "train":
            files = [text.source if side == "source" else text.target for text in corpora.train]
        elif split in texts:
            files = [texts[split].source if side == "source" else texts[split].target]
        else:
            files = [corpora.held_out_sets[split].files_by_side.get(side)]
        return [self.experiment.resolve_path(file) for file in files if file is not None]

    def get_raw_path(self, split: str, side: str) -> str:
        """Return the path of a split before cleaning."""
        return f"<results>/corpus/{self._get_raw_folder_name(split)}/{split}.{side}"

    def get_pair_metadata_path(self, split: str) -> str:
        """Return the path of the metadata of a contrastive set's pairs."""
        return f"<results>/corpus/{self._get_raw_folder_name(split)}/{split}.pairs.tsv"

    def get_user_contrastive_files(self, split: str) -> list[str]:
        """Return the user's files of a contrastive set; empty if it is generated."""
        return [self.experiment.resolve_path(file) for file in self.experiment.corpora.contrastive_sets[split].file]

    def get_raw_contrastive_paths(self, split: str) -> list[str]:
        """Return the files of a contrastive set: the user's, or the generated one."""
        return self.get_user_contrastive_files(split) or [f"<results>/corpus/contrastive/{split}.generated.tsv"]

    @property
    def vocabulary_texts(self) -> dict[str, list[str]]:
        """The user's texts with the words that generated text may have, by option of its stages; empty: all words."""
        if not self.experiment.corpora.generator.min_count:
            return {}
        return {f"{side}_texts": self.get_user_files("train", side) for side in ("source", "target")}

    def get_gold_tree_path(self, split: str, tree_format: str) -> str:
        """Return the path of the gold trees of the generated sentences of a split."""
        folder = "contrastive" if split in self.experiment.corpora.contrastive_sets else "generated"
        return f"<results>/corpus/{folder}/{split}.{tree_format}"

    def count_raw_sentences(self, split: str) -> int:
        """Count the sentences of a split before cleaning.

        Raises:
            InputError: a file cannot be read.
        """
        if split in self.pair_counts:
            return self.pair_counts[split]
        line_count, _ = count_lines_and_bytes(*self.get_user_files(split, "source"))
        generated_config = self.find_generated_config(split)
        return line_count + (generated_config.sentences if generated_config else 0)

    def count_raw_bytes(self, split: str) -> int:
        """Count the bytes of a split's source before cleaning; generated sentences are estimated.

        Raises:
            InputError: a file cannot be read.
        """
        lines, size = count_lines_and_bytes(*self.get_user_files(split, "source"))
        return size + (self.count_raw_sentences(split) - lines) * BYTES_PER_GENERATED_SENTENCE

    def compute_relative_length(self, split: str) -> float:
        """Compute the mean length in bytes of a split's sources, relative to the embedded corpus.

        Raises:
            InputError: a file cannot be read.
        """
        lines, size = count_lines_and_bytes(*self.get_user_files(split, "source"))
        return size / lines / BYTES_PER_GENERATED_SENTENCE if lines else 1.0

    def estimate_sentence_count(self, word_count: int, split: str) -> int:
        """Estimate how many sentences of a split have `word_count` words.

        The result is rounded to two digits, so that it does not change if the text grows a little.

        Raises:
            InputError: a file cannot be read.
        """
        words_per_sentence = self.compute_relative_length(split) * BYTES_PER_GENERATED_SENTENCE / BYTES_PER_WORD
        return max(1, int(float(f"{word_count / words_per_sentence:.1e}")))

    def get_overlapping_set_paths(self) -> list[str]:
        """Return the sources of held-out sets whose sentences are removed from the training text.

        Generated splits come from disjoint shares of the language. They, sets without common sentences and sets that
        are not scored are omitted, so that adding one does not change the training text.
        """
        return [self.get_raw_path(split, "source") for split in self._get_overlapping_sets()]

    def format_new_set_warnings(self) -> list[str]:
        """Format a warning for each new set that causes the training text to be cleaned again."""
        results = self.experiment.get_output_folder("results")
        if not Path(f"{results}/corpus/clean/train.source").is_file():
            return []
        return [
            f"The set `{split}` is new, and {self._describe_overlap(split)}. They are removed from it, and everything "
            "that depends on it is trained again. To avoid this, set `removed_from_training: false` in the set."
            for split in self._get_overlapping_sets()
            if not Path(self.get_raw_path(split, "source").replace("<results>", results)).is_file()
        ]

    def _describe_overlap(self, split: str) -> str:
        if (count := self.overlap_counts.get(split)) is None:
            return "the training text may contain some of its sentences"
        return f"its sentences occur {count:,} time{'s' * (count != 1)} in the training text"

    def _get_overlapping_sets(self) -> list[str]:
        corpora = self.experiment.corpora
        generated = corpora.is_generated_by_split
        texts: dict[str, HeldOutTextConfig | ContrastiveSetConfig] = {
            **corpora.held_out_sets,
            **corpora.contrastive_sets,
        }
        return [
            split
            for split, text in texts.items()
            if text.removed_from_training
            and split not in corpora.unscored_tests
            and not (generated.get("train") and generated[split])
            and self.overlap_counts.get(split, 1)
        ]

    def get_language_config(self, side: str) -> LanguageConfig:
        """Return the language configuration of a side; all references are in the target language."""
        return self.experiment.get_side_language(self.get_training_side(side))

    def format_tokenizer_warnings(self) -> list[str]:
        """Format a warning for each language for which Moses' tokenizer has no rules."""
        languages = {f"corpora.{side}": self.get_language_config(side) for side in ("source", "target")}
        return [
            f"{key}: Moses has no rules for {side.language} and tokenizes it like English without abbreviations; "
            "`tokenizer: stanza` has models of more languages."
            for key, side in languages.items()
            if side.tokenizer == "moses" and not has_moses_rules(side.language)
        ]

    def get_segmenter_treebank(self, side: str) -> dict[str, str]:
        """Return the treebank files on which a side's tokenizer is trained, by part; empty without training."""
        treebank = self.experiment.find_tokenizer_treebank(self.get_training_side(side))
        if treebank is None:
            return {}
        return {part: self.experiment.resolve_path(getattr(treebank, part)) for part in ("train", "dev")}

    def get_segmenter_paths(self, side: str) -> list[str]:
        """Return the path of a side's trained tokenizer as a list; empty without training."""
        return (
            [f"<results>/corpus/segmenter.{self.get_training_side(side)}.pt"]
            if self.get_segmenter_treebank(side)
            else []
        )

    def get_training_side(self, side: str) -> CorpusSide:
        """Return the side of the training text in the language of a side, which may be one of several references."""
        return "source" if side == "source" else "target"

    def get_untokenized_path_pattern(self, side: str) -> str:
        """Return the path of text before tokenization, with the placeholder {split}."""
        folder = "normalized" if self.get_language_config(side).punctuation == "normalize" else "clean"
        return f"<results>/corpus/{folder}/{{split}}.{side}"

    def get_token_path_pattern(self, side: str) -> str:
        """Return the path of the tokens that parsers and subword models read, with the placeholder {split}."""
        folder = "truecased" if self.get_language_config(side).case == "true" else "tokenized"
        return f"<results>/corpus/{folder}/{{split}}.{side}"

    def _get_raw_folder_name(self, split: str) -> str:
        if split in self.experiment.corpora.contrastive_sets:
            return "contrastive"
        return "raw" if self.get_user_files(split, "source") else "generated"

    def find_generated_config(self, split: str) -> GeneratedTextConfig | None:
        """Return the configuration of the generated sentences of a split; None for text from files alone."""
        corpora = self.experiment.corpora
        if split == "train":
            return corpora.generated_training_text
        text = corpora.held_out_sets.get(split)
        return text.generate if text is not None and text.source is None else None

    def _find_stanza_tokenizer_files(self, language: LanguageConfig) -> list[str]:
        """Return the files of a side's Stanza directory that affect its tokens; empty without a directory."""
        index = Path(self.experiment.resolve_path(language.stanza_directory or "")) / INDEX_FILE
        if language.tokenizer != "stanza" or not language.stanza_directory or not index.is_file():
            return []
        return [str(file) for file in (index, *list_tokenizer_files(index.parent, language.language))]

    def _build_tokenized_settings(self) -> dict[str, bool]:
        """Return the settings of `build_clean_job` that say whether each side is already tokenized."""
        return {
            f"{side}_tokenized": self.get_language_config(side).tokenizer == "none" for side in ("source", "target")
        }

    def _get_original_files(self, split: str, sides: Sequence[str]) -> list[str | None]:
        """Return the user's file that each side is a copy of before cleaning; None for a side of several files."""
        files = [self.get_user_files(split, side) for side in sides]
        return [side_files[0] if len(side_files) == 1 else None for side_files in files]

    # Jobs of the rules, named after their rules.

    def build_generate_job(self, split: str) -> Job:
        """Build the job that generates the text of a split."""
        corpora = self.experiment.corpora
        share = compute_split_share(corpora.splits.index(split))
        generated_config = self.find_generated_config(split)
        assert generated_config is not None
        return build_generation_job(
            generated_config, corpora.generator, share, self.vocabulary_texts, is_training_text=split == "train"
        )

    def build_fetch_job(self, split: str, side: str) -> Job:
        """Build the job that copies the user's files of one side of a split, followed by its generated sentences.

        The files of a target of several parts are compared with those of the source.
        """
        generated_files = [f"<results>/corpus/generated/{split}.{side}"] if self.find_generated_config(split) else []
        files = {"input": self.get_user_files(split, side) + generated_files}
        if side == "target" and len(files["input"]) > 1:
            files["parallel_input"] = self.get_user_files(split, "source")
        return Job("corpus.fetch", files=files)

    def build_clean_job(self) -> Job:
        """Build the job that cleans the training text."""
        source = self.get_language_config("source").comparison_options
        return Job(
            "corpus.clean",
            files={
                "source_input": self.get_raw_path("train", "source"),
                "target_input": [self.get_raw_path("train", "target")],
                "held_out": self.get_overlapping_set_paths(),
            },
            settings={
                "mode": "train",
                **self.experiment.corpora.limits.model_dump(),
                **self._build_tokenized_settings(),
                "ignore_case": source["ignores_case"],
                "punctuation_language": source["punctuation_language"],
            },
            execution_settings={"originals": self._get_original_files("train", ["source", "target"])},
            software=["sacremoses"] if source["punctuation_language"] else [],
        )

    def build_clean_length_text_job(self, split: str) -> Job:
        """Build the job that drops the unusable pairs of a text for length models."""
        return Job(
            "corpus.clean",
            files={
                "source_input": self.get_raw_path(split, "source"),
                "target_input": [self.get_raw_path(split, "target")],
            },
            settings={
                "mode": "train",
                "max_length": 0,
                "max_ratio": MAX_LENGTH_TEXT_RATIO,
                "keep_duplicates": True,
                **self._build_tokenized_settings(),
            },
            execution_settings={"originals": self._get_original_files(split, ["source", "target"])},
        )

    def build_clean_held_out_job(self, split: str) -> Job:
        """Build the job that cleans a held-out or contrastive set."""
        targets = self.reference_sides[split]
        return Job(
            "corpus.clean",
            files={
                "source_input": self.get_raw_path(split, "source"),
                "target_input": [self.get_raw_path(split, side) for side in targets],
            },
            settings={"mode": "held-out", **self._build_tokenized_settings()},
            execution_settings={"originals": self._get_original_files(split, ["source", *targets])},
        )

    def build_generate_contrastive_pairs_job(self, split: str) -> Job:
        """Build the job that generates a contrastive set."""
        corpora = self.experiment.corpora
        generated_config = corpora.contrastive_sets[split].generate
        assert generated_config is not None
        return Job(
            "corpus.generate_contrastive_pairs",
            files=self.vocabulary_texts,
            settings=_build_generation_settings(generated_config, corpora.generator, compute_contrast_share()),
        )

    def build_split_contrastive_pairs_job(self, split: str) -> Job:
        """Build the job that turns a contrastive set into a held-out set."""
        return Job("corpus.split_contrastive_pairs", files={"input": self.get_raw_contrastive_paths(split)})

    def build_learn_segmenter_job(self, side: str) -> Job:
        """Build the job that trains a tokenizer for a side."""
        return Job(
            "corpus.learn_segmenter",
            files={f"treebank_{part}": file for part, file in self.get_segmenter_treebank(side).items()},
            settings={"language": self.get_language_config(side).language},
            software=["stanza", "torch", "jieba"],
        )

    def build_normalize_punctuation_job(self, split: str, side: str) -> Job:
        """Build the job that normalizes the punctuation of a clean text."""
        return Job(
            "corpus.normalize_punctuation",
            files={"input": f"<results>/corpus/clean/{split}.{side}"},
            settings={"language": self.get_language_config(side).language},
            software=["sacremoses"],
        )

    def build_tokenize_job(self, split: str, side: str) -> Job:
        """Build the job that tokenizes one side of a split."""
        return self.build_tokenization_job(self.get_untokenized_path_pattern(side).format(split=split), side)

    def build_tokenization_job(self, text_path: str, side: str) -> Job:
        """Build the job that tokenizes a text like a side of the corpus."""
        language = self.get_language_config(side)
        directory = language.stanza_directory
        return Job(
            "corpus.tokenize",
            files={
                "input": text_path,
                "segmenter": next(iter(self.get_segmenter_paths(side)), None),
                "stanza_models": self._find_stanza_tokenizer_files(language),
            },
            settings={
                "language": language.language,
                "tokenizer": language.tokenizer,
                "lowercase": language.case == "lower",
                "stanza_package": language.stanza_package,
            },
            execution_settings={"stanza_directory": self.experiment.resolve_path(directory) if directory else None},
            software=TOKENIZER_SOFTWARE[language.tokenizer],
        )

    def build_learn_truecaser_job(self, side: str) -> Job:
        """Build the job that trains a truecaser on one side of the training text."""
        return Job(
            "corpus.learn_truecaser",
            files={"input": f"<results>/corpus/tokenized/train.{side}"},
            software=["sacremoses"],
        )

    def build_truecase_job(self, split: str, side: str) -> Job:
        """Build the job that truecases the tokens of one side of a split."""
        return Job(
            "corpus.truecase",
            files={
                "input": f"<results>/corpus/tokenized/{split}.{side}",
                "model": f"<results>/corpus/truecaser.{self.get_training_side(side)}",
            },
        )

    def build_generalise_job(self, rarer: str, split: str, side: str) -> Job:
        """Build the job that replaces times, dates and numbers that are rare in the training text.

        `rarer` is the lowest frequency of an expression that is not rare.
        """
        return Job(
            "corpus.generalise",
            files={
                "input": self.get_token_path_pattern(side).format(split=split),
                "train": self.get_token_path_pattern(self.get_training_side(side)).format(split="train"),
            },
            settings={"min_count": int(rarer)},
        )
