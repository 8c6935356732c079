"""What the rules of `syntax` are given: treebanks, models, texts in shards, and what is compared."""

from itertools import combinations
from math import ceil
from pathlib import Path
from shutil import which

from pipeline_py.config.parsers import StanzaParser, TrainedParser
from pipeline_py.syntax.annotation import Annotation
from pipeline_py.syntax.stanza_directory import models_in, tokenizer_in

ANNOTATION = {"conllu": "dependency", "ptb": "constituency"}


def parsers_of_type(*types: str) -> str:
    """A pattern for the names of parsers of some types."""
    return one_of(name for name, parser in EXPERIMENT.parsers.items() if parser.type in types)


WITH_STANZA = [name for name, parser in EXPERIMENT.parsers.items() if parser.runs_stanza]
PARSERS_WITH_STANZA = one_of(WITH_STANZA)

# How many shards each text is parsed in. Cleaning may leave fewer sentences of the training text than that, so that
# its last shards may be empty. Texts are not read to be counted where nothing is parsed.
SHARDS = {
    split: max(1, ceil(most_sentences(split) / EXPERIMENT.parsing.shard_size)) if WITH_STANZA else 1
    for split in EXPERIMENT.corpora.splits
}

PROCESSORS = {"conllu": ["tagger", "depparse"], "ptb": ["tagger", "constituency"]}

# A parser of lower-cased text is measured on lower-cased words.
CASE_OF_TREES = "--lowercase" if EXPERIMENT.corpora.source.case == "lower" else "--no-lowercase"


def models_of_directory(directory: str) -> dict[str, list[str]]:
    """Files of a Stanza directory that decide each kind of trees."""
    language = EXPERIMENT.corpora.source.language
    try:
        return {
            trees: [str(file) for file in models_in(Path(directory), language, Annotation(annotation))]
            for trees, annotation in ANNOTATION.items()
        }
    except InputError as error:
        raise WorkflowError(str(error)) from None


# Found before there are jobs: where an input function fails, Snakemake goes on with what the results already hold.
STANZA_MODELS = {
    name: models_of_directory(EXPERIMENT.path(parser.directory))
    for name, parser in EXPERIMENT.parsers.items()
    if isinstance(parser, StanzaParser) and parser.directory is not None
}


def tokenizer_of(name: str, parser: StanzaParser) -> list[str]:
    """Files of the tokenizer that a parser reads the words of."""
    if parser.directory is None:
        return []
    directory = EXPERIMENT.path(parser.directory)
    try:
        files = [str(file) for file in tokenizer_in(Path(directory), EXPERIMENT.corpora.source.language)]
    except InputError as error:
        raise WorkflowError(str(error)) from None
    if not files and parser.words == "stanza":
        raise WorkflowError(
            f"parsers.{name}.words: stanza, but {directory} has no tokenizer; choose auto, text or english"
        )
    return files


TOKENIZERS = {
    name: tokenizer_of(name, parser) for name, parser in EXPERIMENT.parsers.items() if isinstance(parser, StanzaParser)
}


def words_of(parser: str) -> str:
    """What a parser reads of the texts: `text` (their tokens), `english` or `stanza`."""
    options = EXPERIMENT.parsers[parser]
    downloaded = isinstance(options, StanzaParser) and options.directory is None
    return options.words_of(EXPERIMENT.corpora.source, downloaded or bool(TOKENIZERS.get(parser)))


def text_to_divide(parser: str, split: str) -> dict[str, str | list[str]]:
    """What `parse` finds the words of a parser in and with, where these are not the tokens."""
    words = words_of(parser)
    return {
        **({"text": f"<results>/corpus/clean/{split}.source"} if words != "text" else {}),
        **({"tokenizer": TOKENIZERS[parser]} if words == "stanza" else {}),
    }


def generation_of_treebank(parser: str, part: str) -> dict:
    sentences = EXPERIMENT.parsers[parser].treebank.generate
    places = ("train", "dev", "test")
    what = Generated(sentences=sentences if part == "train" else max(sentences // 10, 20))
    return generation(what, share_of_treebank(places.index(part)))


def has_gold(parser: str, trees: str) -> bool:
    """Whether there are gold trees that a parser's accuracy is measured on."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        return EXPERIMENT.makes(parser, trees)
    return isinstance(options, StanzaParser) and options.test_file(trees) is not None


def accuracies_of(parser: str) -> list[str]:
    """How good a parser is at each kind of trees that it has gold ones of; without any it shall be said what to give."""
    kinds = [trees for trees in ANNOTATION if has_gold(parser, trees)] or [*ANNOTATION]
    return [f"<results>/syntax/{parser}/accuracy/{trees}.tsv" for trees in kinds]


def treebank(parser: str, part: str, trees: str) -> str:
    """Gold trees of a parser: the user's, or generated."""
    options = EXPERIMENT.parsers[parser]
    if not isinstance(options, TrainedParser):
        file = options.test_file(trees) if isinstance(options, StanzaParser) else None
        if not options.runs_stanza:
            raise WorkflowError(
                f"parsers.{parser}: its trees are not parsed, so they have no accuracy; ask for its report"
            )
        if file is None:
            raise WorkflowError(
                f"parsers.{parser}: its accuracy is asked for; give `test` (CoNLL-U) or `constituency_test` (PTB)"
            )
        return EXPERIMENT.path(file)
    bank = options.treebank
    if bank.is_generated:
        return f"<results>/syntax/{parser}/treebank/{part}.{trees}"
    file = getattr(bank, part if trees == "conllu" else f"constituency_{part}")
    if file is None:
        raise WorkflowError(
            f"parsers.{parser}.treebank: constituency trees are asked for; give `constituency_{part}` (PTB brackets)"
        )
    return EXPERIMENT.path(file)


def model_file(parser: str, name: str) -> str:
    return f"<results>/syntax/{parser}/model/{name}.pt"


def training_inputs(parser: str, processor: str) -> dict[str, str]:
    """Gold trees and word vectors; the constituency parser learns from the tags that it will see."""
    trees = "ptb" if processor == "constituency" else "conllu"
    vectors = EXPERIMENT.parsers[parser].vectors
    return {
        "train": treebank(parser, "train", trees),
        "dev": treebank(parser, "dev", trees),
        **({"vectors": EXPERIMENT.path(vectors)} if vectors else {}),
        **({"tagger": model_file(parser, "tagger")} if processor == "constituency" else {}),
    }


def training_of(parser: str, processor: str) -> dict:
    options = EXPERIMENT.parsers[parser]
    return {
        "language": EXPERIMENT.corpora.source.language,
        "seed": options.seed,
        "case": CASE_OF_TREES,
        **getattr(options, processor).model_dump(),
        "content": contents_of(training_inputs(parser, processor).values()),
        "made_by": made_by("syntax.train_parser", "stanza", "torch"),
    }


def training_options(parser: str, processor: str, input) -> list[str]:
    sizes = getattr(EXPERIMENT.parsers[parser], processor).model_dump()
    return [
        *(f"--{name}={value}" for name, value in sizes.items() if value is not None),
        *(f"--{name}={input[name]}" for name in ("vectors", "tagger") if name in input.keys()),
    ]


def models_of(parser: str, trees: str) -> list[str]:
    """Model files that a parse is made with, so that it is made again when they change; none for a download."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        tagger, last = PROCESSORS[trees]
        return [model_file(parser, name) for name in (tagger, last, f"{last}.pretrain")]
    if options.directory is None:
        return []
    return STANZA_MODELS[parser][trees]


def models_for_text(parser: str, split: str, trees: str) -> list[str]:
    """Model files that a text is parsed with, if the parser knows such text or is asked for by name."""
    if parser in EXPERIMENT.unfit_parsers and split in EXPERIMENT.splits_in_files:
        raise WorkflowError(EXPERIMENT.unfit_parsers[parser])
    return models_of(parser, trees)


def model_options(parser: str, trees: str, models) -> list[str]:
    """How `parse` finds its models."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        names = [*PROCESSORS[trees], "pretrain"]
        return [f"--{name}={file}" for name, file in zip(names, models, strict=True)]
    if options.directory is not None:
        return [f"--directory={EXPERIMENT.path(options.directory)}"]
    return [f"--package={options.package or 'default'}"]


def parsing_of(parser: str, trees: str, words: str = "text") -> dict:
    """What decides the trees that Stanza makes, beside its models."""
    return {
        "annotation": ANNOTATION[trees],
        "language": EXPERIMENT.corpora.source.language,
        **({"words": words} if words != "text" else {}),
        **EXPERIMENT.parsers[parser].model_dump(include={"max_words", "batch_size", "package"}),
        "content": contents_of(models_of(parser, trees)),
        "made_by": made_by("syntax.parse", "stanza", "torch"),
    }


def options_of_words(parser: str, text: str | None) -> list[str]:
    """Options of `parse` where the parser reads other words than the tokens of a text."""
    return [f"--text={text}", f"--words={words_of(parser)}"] if text else []


def part_of_text(shard: int) -> list[str]:
    """Options of `parse` for one shard."""
    size = EXPERIMENT.parsing.shard_size
    return [f"--first={shard * size}", f"--sentences={size}"]


def shards_of(parser: str, split: str, trees: str) -> dict[str, list[str]]:
    """Trees, ledgers and facts of the shards of a text, in order."""
    shards = [f"<results>/syntax/{parser}/shards/{split}/{shard:04}.{trees}" for shard in range(SHARDS[split])]
    return {
        "parts": shards,
        "ledgers": [f"{shard}.json" for shard in shards],
        "facts": [f"{shard}.facts.json" for shard in shards],
    }


def given_trees(parser: str, split: str, trees: str) -> list[str]:
    """Trees that the user brings for a text, in order; those of the generator for a generated one."""
    try:
        return EXPERIMENT.given_trees(parser, split, trees) or [f"<results>/corpus/generated/{split}.{trees}"]
    except InputError as error:
        raise WorkflowError(str(error)) from None


def report_files(parser: str) -> dict[str, dict[str, str]]:
    """What a parser's report says, by option and by what it is of: each text and kind of trees that systems read."""
    kinds = EXPERIMENT.trees_of(parser)
    files = {
        f"{split}:{ANNOTATION[trees]}": f"<results>/syntax/{parser}/{split}.{trees}"
        for split in EXPERIMENT.corpora.splits
        for trees in kinds
    }
    return {
        "statistics": {name: f"{file}.statistics.json" for name, file in files.items()},
        "ledger": {name: f"{file}.json" for name, file in files.items()},
        "facts": {name: f"{file}.facts.json" for name, file in files.items()},
        "accuracy": {
            ANNOTATION[trees]: f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
            for trees in kinds
            if has_gold(parser, trees)
        },
    }


def report_options(parser: str, input) -> list[str]:
    return [
        f"--{option}={name}={file}"
        for option, files in report_files(parser).items()
        for name, file in zip(files, input.get(option, []), strict=True)
    ]


def kinds_of_both(parser: str, other: str) -> list[str]:
    """Kinds of trees that systems read of both parsers."""
    return [trees for trees in EXPERIMENT.trees_of(parser) if trees in EXPERIMENT.trees_of(other)]


def compared_trees(parser: str, other: str, which: str) -> dict[str, str]:
    """Trees of one of two parsers, by text and annotation; phrase trees once they are binary."""
    return {
        f"{split}:{ANNOTATION[trees]}": f"<results>/syntax/{which}/{split}.{'conllu' if trees == 'conllu' else 'binary.ptb'}"
        for split in EXPERIMENT.corpora.splits
        for trees in kinds_of_both(parser, other)
    }


def agreement_options(parser: str, other: str, input) -> list[str]:
    names = compared_trees(parser, other, parser)
    return [
        f"--{option}={name}={file}"
        for option in ("first", "second")
        for name, file in zip(names, input[option], strict=True)
    ]


def reports_of_parsers() -> list[str]:
    """The reports on the parsers behind all that is asked for, and how far each two of them agree.

    A pair has one file, whatever the order of `parsers`.
    """
    parsers = sorted(EXPERIMENT.parsers_asked)
    return [
        *(f"<results>/syntax/{parser}/report.tsv" for parser in parsers),
        *(
            f"<results>/syntax/{parser}/agreement.{other}.tsv"
            for parser, other in combinations(parsers, 2)
            if kinds_of_both(parser, other)
        ),
    ]


def takes_gpu() -> int:
    """1 where networks run on the card: asked for, or present."""
    if EXPERIMENT.training.device == "auto":
        return int(which("nvidia-smi") is not None)
    return int(EXPERIMENT.training.device == "cuda")
