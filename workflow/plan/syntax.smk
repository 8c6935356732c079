"""What the rules of `syntax` are given: treebanks, models, and how parsers are trained."""

from pathlib import Path

from pipeline_py.config.parsers import TrainedParser

ANNOTATION = {"conllu": "dependency", "ptb": "constituency"}

PROCESSORS = {"conllu": ["tagger", "depparse"], "ptb": ["tagger", "constituency"]}

# A parser of lower-cased text is measured on lower-cased words.
CASE_OF_TREES = "--lowercase" if EXPERIMENT.corpora.source.case == "lower" else "--no-lowercase"

STANZA_FOLDERS = {"conllu": ["pos", "depparse"], "ptb": ["pos", "constituency"]}


def generation_of_treebank(parser: str, part: str) -> dict:
    sentences = EXPERIMENT.parsers[parser].treebank.generate
    places = ("train", "dev", "test")
    what = Generated(sentences=sentences if part == "train" else max(sentences // 10, 20))
    return generation(what, share_of_treebank(places.index(part)))


def treebank(parser: str, part: str, trees: str) -> str:
    """Gold trees of a trained parser: the user's, or generated."""
    bank = EXPERIMENT.parsers[parser].treebank
    if bank.is_generated:
        return f"<results>/syntax/{parser}/treebank/{part}.{trees}"
    file = getattr(bank, part if trees == "conllu" else f"constituency_{part}")
    if file is None:
        raise WorkflowError(
            f"parsers.{parser}.treebank: constituency trees are asked for; give `constituency_{part}` (PTB brackets)"
        )
    return EXPERIMENT.path(file)


def training_of(parser: str, processor: str) -> dict:
    options = EXPERIMENT.parsers[parser]
    return {
        "processor": processor,
        "language": EXPERIMENT.corpora.source.language,
        "seed": options.seed,
        **getattr(options, processor).model_dump(),
        "vectors": options.vectors,
        "made_by": made_by("syntax.train_parser", "stanza", "torch"),
    }


def models_of(parser: str, trees: str) -> list[str]:
    """Model files that a parse is made with, so that it is made again when they change; none for a download."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        return [f"<results>/syntax/{parser}/model/{processor}.pt" for processor in PROCESSORS[trees]]
    if options.directory is None:
        return []
    folder = Path(EXPERIMENT.path(options.directory)) / EXPERIMENT.corpora.source.language
    return sorted(str(file) for name in STANZA_FOLDERS[trees] for file in (folder / name).glob("*.pt"))


def model_options(parser: str, trees: str) -> list[str]:
    """How `parse` finds its models."""
    options = EXPERIMENT.parsers[parser]
    if isinstance(options, TrainedParser):
        folder = f"{EXPERIMENT.folder('results')}/syntax/{parser}/model"
        return [f"--{processor}={folder}/{processor}.pt" for processor in PROCESSORS[trees]]
    return [
        *([f"--directory={EXPERIMENT.path(options.directory)}"] if options.directory else []),
        *([f"--package={options.package}"] if options.package else []),
    ]
