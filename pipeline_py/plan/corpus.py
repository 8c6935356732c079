"""What the rules of `corpus` are given: origins of text, limits, tokenization."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_py.config.corpora import (
    ContrastiveSet,
    Generated,
    GeneratedPairs,
    Generator,
    HeldOutText,
    Language,
    Share,
    Side,
    share_of_contrast,
    share_of_split,
)
from pipeline_py.config.experiment import Experiment
from pipeline_py.files.contrastive import read_pairs
from pipeline_py.files.languages import has_moses_rules
from pipeline_py.files.text import read_bytes
from pipeline_py.plan.paths import ContentsOf
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job
from pipeline_py.syntax.stanza.models import INDEX, tokenizer_in

CORRECT, CONTRASTIVE = "target", "target1"
"""Sides of a contrastive set: its translations stand there like two references of a held-out set."""

BYTES_OF_A_GENERATED_SENTENCE = 52
"""The mean of the embedded corpus's sources."""

BYTES_OF_A_WORD = 6
"""Of text, with the space behind it where there is one: of English, and about as many of Chinese."""

SOFTWARE_OF_TOKENIZERS = {"moses": ["sacremoses"], "jieba": ["jieba"], "stanza": ["stanza"], "none": []}


@cache
def lines_and_bytes(*files: str) -> tuple[int, int]:
    """Count the lines of all files, and the bytes in these; each file is read once in a run.

    Raises:
        InputError: a file cannot be read.
    """
    lines = size = 0
    try:
        for file in files:
            for line in read_bytes(Path(file)):
                lines, size = lines + 1, size + len(line)
    except OSError as error:
        raise InputError(str(error)) from None
    return lines, size


def generation_job(what: Generated, generator: Generator, share: Share, is_learnt: bool) -> Job:
    """Return the job that generates a text.

    Args:
        what: the sentences.
        generator: the language.
        share: the part of the language that they are from.
        is_learnt: whether something learns from the text, so that it may be ambiguous.
    """
    settings = {**_generation_settings(what, generator, share), "ambiguous": generator.ambiguous if is_learnt else 0}
    return Job("corpus.generate", settings=settings)


def _generation_settings(what: Generated | GeneratedPairs, generator: Generator, share: Share) -> dict[str, Any]:
    """Return the settings that `generate` and `generate_contrast` have in common."""
    share_from, share_to = share
    return {
        **what.model_dump(),
        "lexicon": generator.lexicon,
        "digits": generator.digits,
        "share_from": share_from,
        "share_to": share_to,
    }


def pairs_of_sets(experiment: Experiment) -> dict[str, int]:
    """Count the pairs of each contrastive set, and see to it that they are such.

    Raises:
        InputError: a file is none of contrastive pairs.
    """
    return {
        name: text.generate.sentences
        if text.generate is not None and not text.file
        else sum(1 for file in text.file for _ in read_pairs(Path(experiment.path(file))))
        for name, text in experiment.corpora.contrastive.items()
    }


@dataclass(frozen=True)
class CorpusPlan:
    """Where the text of each split and side comes from, and what is done with it.

    Attributes:
        pairs: how many each contrastive set has.
        shared: how many training pairs have a source that is in a set, as far as that can be known.
    """

    experiment: Experiment
    contents_of: ContentsOf
    pairs: Mapping[str, int] = field(default_factory=dict)
    shared: Mapping[str, int] = field(default_factory=dict)

    @property
    def tests(self) -> list[str]:
        """The test sets that are scored."""
        return self.experiment.corpora.scored_tests

    @property
    def references(self) -> dict[str, list[str]]:
        """Sides of each held-out set that are references.

        A rule's outputs are fixed in number, so these sets are cleaned by one rule for each number of references.
        """
        corpora = self.experiment.corpora
        return {
            **{split: [*text.sides][1:] for split, text in corpora.held_out.items()},
            **{split: [CORRECT, CONTRASTIVE] for split in corpora.contrastive},
        }

    @property
    def stanza_tokenizes(self) -> bool:
        """Whether a side is tokenized with the software of the package that parses."""
        return "stanza" in (self.language("source").tokenizer, self.language("target").tokenizer)

    def files_of(self, split: str, side: str) -> list[str]:
        """The user's files of one side of a split, in order; empty where the text is generated or contrastive."""
        if split in self.experiment.corpora.contrastive:
            return []
        if split == "train":
            files = [text.source if side == "source" else text.target for text in self.experiment.corpora.train]
        else:
            files = [self.experiment.corpora.held_out[split].sides.get(side)]
        return [self.experiment.path(file) for file in files if file is not None]

    def raw(self, split: str, side: str) -> str:
        """The text of a split before cleaning: the user's, or the generated."""
        return f"<results>/corpus/{self._folder(split)}/{split}.{side}"

    def pairs_of(self, split: str) -> str:
        """What is known of each pair of a contrastive set."""
        return f"<results>/corpus/{self._folder(split)}/{split}.pairs.tsv"

    def files_of_pairs(self, split: str) -> list[str]:
        """The user's files of a contrastive set, in order; empty where it is generated."""
        return [self.experiment.path(file) for file in self.experiment.corpora.contrastive[split].file]

    def raw_pairs(self, split: str) -> list[str]:
        """The files of a contrastive set: the user's, or the generated one."""
        return self.files_of_pairs(split) or [f"<results>/corpus/contrastive/{split}.generated.tsv"]

    def gold_trees(self, split: str, trees: str) -> str:
        """The true trees of a generated text."""
        folder = "contrastive" if split in self.experiment.corpora.contrastive else "generated"
        return f"<results>/corpus/{folder}/{split}.{trees}"

    def most_sentences(self, split: str) -> int:
        """How many sentences a split has before cleaning, which may drop some of the training text.

        Raises:
            InputError: a file cannot be read.
        """
        if split in self.pairs:
            return self.pairs[split]
        files = self.files_of(split, "source")
        return lines_and_bytes(*files)[0] if files else self._generated(split).sentences

    def relative_length(self, split: str) -> float:
        """The mean length of a split's sources before cleaning, as a multiple of a generated one's.

        It is counted in bytes, which grow with words in every language alike.

        Raises:
            InputError: a file cannot be read.
        """
        lines, size = lines_and_bytes(*self.files_of(split, "source"))
        return size / lines / BYTES_OF_A_GENERATED_SENTENCE if lines else 1.0

    def sentences_with(self, words: int, split: str) -> int:
        """How many sentences of a split have so many words, rounded to two digits: as many if the text grows a little.

        Raises:
            InputError: a file cannot be read.
        """
        of_a_sentence = self.relative_length(split) * BYTES_OF_A_GENERATED_SENTENCE / BYTES_OF_A_WORD
        return max(1, int(float(f"{words / of_a_sentence:.1e}")))

    def sets_that_may_leak(self) -> list[str]:
        """Sources of the held-out sets whose sentences are taken out of the training text.

        Generated splits lie in shares of the language that do not meet. So a further one leaves training as it is, and
        so do a set that has no sentence in common with the training text, and one that is not scored.
        """
        return [self.raw(split, "source") for split in self._splits_that_may_leak()]

    def sentences_on_new_sets(self) -> list[str]:
        """Say of sets that are new to cleaned training text that it is cleaned again, and how that is not asked for."""
        results = self.experiment.folder("results")
        if not Path(f"{results}/corpus/clean/train.source").is_file():
            return []
        return [
            f"The set `{split}` is new, and {self._sharing(split)}, which is cleaned of them: what learns from it is "
            "made again. To train nothing, say `removed_from_training: false` in the set."
            for split in self._splits_that_may_leak()
            if not Path(self.raw(split, "source").replace("<results>", results)).is_file()
        ]

    def _sharing(self, split: str) -> str:
        if (count := self.shared.get(split)) is None:
            return "sentences of it may stand in the training text"
        return f"sentences of it stand {count:,} time{'s' * (count != 1)} in the training text"

    def _splits_that_may_leak(self) -> list[str]:
        corpora = self.experiment.corpora
        generated = corpora.is_generated
        texts: dict[str, HeldOutText | ContrastiveSet] = {**corpora.held_out, **corpora.contrastive}
        return [
            split
            for split, text in texts.items()
            if text.removed_from_training
            and split not in corpora.unscored_tests
            and not (generated.get("train") and generated[split])
            and self.shared.get(split, 1)
        ]

    def language(self, side: str) -> Language:
        """What the configuration says of the language of a side; all references are in the target's."""
        return self.experiment.language_of_side(self.trained_side(side))

    def warnings_on_tokenizers(self) -> list[str]:
        """Name the languages for which Moses' tokenizer has no rules."""
        languages = {f"corpora.{side}": self.language(side) for side in ("source", "target")}
        return [
            f"{key}: Moses has no rules for {side.language} and tokenizes it like English without abbreviations; "
            "`tokenizer: stanza` has models of more languages."
            for key, side in languages.items()
            if side.tokenizer == "moses" and not has_moses_rules(side.language)
        ]

    def segmenter_treebank(self, side: str) -> dict[str, str]:
        """Return the gold trees that a side's tokenizer learns from, as inputs; empty if it learns nothing."""
        treebank = self.experiment.tokenizer_treebank(self.trained_side(side))
        if treebank is None:
            return {}
        return {part: self.experiment.path(getattr(treebank, part)) for part in ("train", "dev")}

    def segmenter(self, side: str) -> list[str]:
        """Return the file of the tokenizer that a side learns; empty if it learns nothing."""
        return [f"<results>/corpus/segmenter.{self.trained_side(side)}.pt"] if self.segmenter_treebank(side) else []

    def trained_side(self, side: str) -> Side:
        """The side of the training text that is in the language of a side, which may be one of several references."""
        return "source" if side == "source" else "target"

    def text(self, side: str) -> str:
        """The path of the text that is tokenized, with {split} open."""
        folder = "normalized" if self.language(side).punctuation == "normalize" else "clean"
        return f"<results>/corpus/{folder}/{{split}}.{side}"

    def tokens(self, side: str) -> str:
        """The path of the words that parsers and subword models read, with {split} open."""
        folder = "truecased" if self.language(side).case == "true" else "tokenized"
        return f"<results>/corpus/{folder}/{{split}}.{side}"

    def _folder(self, split: str) -> str:
        """Where a text lies before cleaning."""
        if split in self.experiment.corpora.contrastive:
            return "contrastive"
        return "raw" if self.files_of(split, "source") else "generated"

    def _generated(self, split: str) -> Generated:
        text = self.experiment.corpora.train[0] if split == "train" else self.experiment.corpora.held_out[split]
        assert text.generate is not None
        return text.generate

    def _models_of_tokenizer(self, language: Language) -> list[str]:
        """The files of a Stanza directory that decide the words of a side, where it names one."""
        index = Path(self.experiment.path(language.stanza_directory or "")) / INDEX
        if language.tokenizer != "stanza" or not language.stanza_directory or not index.is_file():
            return []
        return [str(file) for file in (index, *tokenizer_in(index.parent, language.language))]

    def _tokenized_sides(self) -> dict[str, bool]:
        """Return whether each side comes tokenized, as settings of `clean`."""
        return {f"{side}_tokenized": self.language(side).tokenizer == "none" for side in ("source", "target")}

    def _originals(self, split: str, sides: Sequence[str]) -> list[str | None]:
        """Return the user's file that each side's text before cleaning is a copy of; joined texts have no such."""
        files = [self.files_of(split, side) for side in sides]
        return [of_side[0] if len(of_side) == 1 else None for of_side in files]

    # Jobs of the rules, each called like its rule.

    def generate(self, split: str) -> Job:
        """Generate the text of a split."""
        corpora = self.experiment.corpora
        share = share_of_split(corpora.splits.index(split))
        return generation_job(self._generated(split), corpora.generator, share, is_learnt=split == "train")

    def fetch(self, split: str, side: str) -> Job:
        """Copy the user's files of one side of a split."""
        return Job("corpus.fetch", files={"input": self.files_of(split, side)})

    def clean(self) -> Job:
        """Clean the training text."""
        source = self.language("source").comparison
        return Job(
            "corpus.clean",
            files={
                "source_input": self.raw("train", "source"),
                "target_input": [self.raw("train", "target")],
                "held_out": self.sets_that_may_leak(),
            },
            settings={
                "mode": "train",
                **self.experiment.corpora.limits.model_dump(),
                **self._tokenized_sides(),
                "ignore_case": source["ignores_case"],
                "punctuation_language": source["punctuation_language"],
            },
            execution={"originals": self._originals("train", ["source", "target"])},
            software=["sacremoses"] if source["punctuation_language"] else [],
        )

    def clean_held_out(self, split: str) -> Job:
        """Clean a held-out or contrastive set."""
        targets = self.references[split]
        return Job(
            "corpus.clean",
            files={
                "source_input": self.raw(split, "source"),
                "target_input": [self.raw(split, side) for side in targets],
            },
            settings={"mode": "held-out", **self._tokenized_sides()},
            execution={"originals": self._originals(split, ["source", *targets])},
        )

    def generate_contrast(self, split: str) -> Job:
        """Generate a contrastive set."""
        corpora = self.experiment.corpora
        what = corpora.contrastive[split].generate
        assert what is not None
        return Job(
            "corpus.generate_contrast", settings=_generation_settings(what, corpora.generator, share_of_contrast())
        )

    def contrastive_pairs(self, split: str) -> Job:
        """Turn a contrastive set into a held-out set."""
        return Job("corpus.contrastive_pairs", files={"input": self.raw_pairs(split)})

    def learn_segmenter(self, side: str) -> Job:
        """Learn to divide a side into tokens."""
        return Job(
            "corpus.learn_segmenter",
            files={f"treebank_{part}": file for part, file in self.segmenter_treebank(side).items()},
            settings={"language": self.language(side).language},
            software=["stanza", "torch", "jieba"],
        )

    def normalize_punctuation(self, split: str, side: str) -> Job:
        """Normalize the punctuation of a clean text."""
        return Job(
            "corpus.normalize_punctuation",
            files={"input": f"<results>/corpus/clean/{split}.{side}"},
            settings={"language": self.language(side).language},
            software=["sacremoses"],
        )

    def tokenize(self, split: str, side: str) -> Job:
        """Tokenize one side of a split."""
        return self.tokenization_job(self.text(side).format(split=split), side)

    def tokenization_job(self, text: str, side: str) -> Job:
        """Return the job that tokenizes a text as those of a side."""
        language = self.language(side)
        directory = language.stanza_directory
        return Job(
            "corpus.tokenize",
            files={
                "input": text,
                "segmenter": next(iter(self.segmenter(side)), None),
                "stanza_models": self._models_of_tokenizer(language),
            },
            settings={
                "language": language.language,
                "tokenizer": language.tokenizer,
                "lowercase": language.case == "lower",
                "stanza_package": language.stanza_package,
            },
            execution={"stanza_directory": self.experiment.path(directory) if directory else None},
            software=SOFTWARE_OF_TOKENIZERS[language.tokenizer],
        )

    def learn_truecaser(self, side: str) -> Job:
        """Learn the case of words of one side of the training text."""
        return Job(
            "corpus.learn_truecaser",
            files={"input": f"<results>/corpus/tokenized/train.{side}"},
            software=["sacremoses"],
        )

    def truecase(self, split: str, side: str) -> Job:
        """Truecase the tokens of one side of a split."""
        return Job(
            "corpus.truecase",
            files={
                "input": f"<results>/corpus/tokenized/{split}.{side}",
                "model": f"<results>/corpus/truecaser.{self.trained_side(side)}",
            },
        )

    def generalise(self, rarer: str, split: str, side: str) -> Job:
        """Replace times, dates and numbers that are rarer than a number in the training text."""
        return Job(
            "corpus.generalise",
            files={
                "input": self.tokens(side).format(split=split),
                "train": self.tokens(self.trained_side(side)).format(split="train"),
            },
            settings={"min_count": int(rarer)},
        )
