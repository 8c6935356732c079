"""What the rules of `syntax` are given: treebanks, models, and how parsers are trained."""

import json
from pathlib import Path
from shutil import which

from pipeline_py.config.parsers import TrainedParser

ANNOTATION = {"conllu": "dependency", "ptb": "constituency"}

PROCESSORS = {"conllu": ["tagger", "depparse"], "ptb": ["tagger", "constituency"]}

# A parser of lower-cased text is measured on lower-cased words.
CASE_OF_TREES = "--lowercase" if EXPERIMENT.corpora.source.case == "lower" else "--no-lowercase"

# Folders of a Stanza directory whose models decide the trees, among them what its models read words with.
READ_WITH = ["pretrain", "forward_charlm", "backward_charlm"]
STANZA_FOLDERS = {
    "conllu": ["pos", "lemma", "depparse", *READ_WITH],
    "ptb": ["pos", "constituency", *READ_WITH],
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
        return trees == "conllu" or options.treebank.has_constituents
    return (options.test if trees == "conllu" else options.constituency_test) is not None


def accuracies_of(parser: str) -> list[str]:
    """How good a parser is at each kind of trees that it has gold ones of; without any it shall be said what to give."""
    kinds = [trees for trees in ANNOTATION if has_gold(parser, trees)] or [*ANNOTATION]
    return [f"<results>/syntax/{parser}/accuracy/{trees}.tsv" for trees in kinds]


def treebank(parser: str, part: str, trees: str) -> str:
    """Gold trees of a parser: the user's, or generated."""
    if not isinstance(EXPERIMENT.parsers[parser], TrainedParser):
        file = getattr(EXPERIMENT.parsers[parser], "test" if trees == "conllu" else "constituency_test")
        if file is None:
            raise WorkflowError(
                f"parsers.{parser}: its accuracy is asked for; give `test` (CoNLL-U) or `constituency_test` (PTB)"
            )
        return EXPERIMENT.path(file)
    bank = EXPERIMENT.parsers[parser].treebank
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
    folder = Path(EXPERIMENT.path(options.directory))
    resources = folder / "resources.json"
    language = folder / language_of_stanza(resources)
    models = [str(file) for name in STANZA_FOLDERS[trees] for file in sorted((language / name).glob("*.pt"))]
    return [str(resources), *models]


def language_of_stanza(resources: Path) -> str:
    """What a Stanza directory calls the source language: its index knows other names, such as zh for zh-hans."""
    language = EXPERIMENT.corpora.source.language
    if not resources.is_file():
        return language
    try:
        entries = json.loads(resources.read_text(encoding="utf-8"))
    except ValueError as error:
        raise WorkflowError(f"{resources}: not the index of a Stanza directory ({error}); fetch it again") from None
    return entries.get(language, {}).get("alias", language)


def model_options(parser: str, trees: str, models) -> list[str]:
    """How `parse` finds its models."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        names = [*PROCESSORS[trees], "pretrain"]
        return [f"--{name}={file}" for name, file in zip(names, models, strict=True)]
    if options.directory is not None:
        return [f"--directory={EXPERIMENT.path(options.directory)}"]
    return [f"--package={options.package or 'default'}"]


def takes_gpu() -> int:
    """1 where networks run on the card: asked for, or present."""
    if EXPERIMENT.training.device == "auto":
        return int(which("nvidia-smi") is not None)
    return int(EXPERIMENT.training.device == "cuda")
