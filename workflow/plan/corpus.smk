"""What the rules of `corpus` are given: origins of text, limits, tokenization."""

from pathlib import Path

from pipeline_py.config.corpora import Generated, share_of_split, share_of_treebank
from pipeline_py.config.parsers import TrainedParser
from pipeline_py.syntax.stanza_directory import INDEX, tokenizer_in
from pipeline_py.text import read_bytes


def generation(what: Generated, share: tuple[float, float]) -> dict:
    """Parameters of `generate`."""
    return {**what.model_dump(), "share": share, "made_by": made_by("corpus.generate")}


def generation_of_split(split: str) -> dict:
    corpora = EXPERIMENT.corpora
    text = corpora.train[0] if split == "train" else corpora.held_out[split]
    return generation(text.generate, share_of_split(corpora.splits.index(split)))


def files_of(split: str, side: str) -> list[str]:
    """The user's files of one side of a split, in order; empty where the text is generated."""
    corpora = EXPERIMENT.corpora
    if split == "train":
        files = [text.source if side == "source" else text.target for text in corpora.train]
    else:
        files = [corpora.held_out[split].sides.get(side)]
    return [EXPERIMENT.path(file) for file in files if file is not None]


def raw(split: str, side: str) -> str:
    """The text of a split before cleaning: the user's, or the generated."""
    folder = "raw" if files_of(split, side) else "generated"
    return f"<results>/corpus/{folder}/{split}.{side}"


def copies_of_files(split: str, texts: dict[str, str]) -> list[str]:
    """What texts before cleaning, by side, are copies of, as options of `clean`; texts that are joined have no such."""
    files = {side: files_of(split, side) for side in texts}
    return [f"--called={texts[side]}={of_side[0]}" for side, of_side in files.items() if len(of_side) == 1]


def most_sentences(split: str) -> int:
    """How many sentences a split has before cleaning, which may drop some of the training text."""
    corpora = EXPERIMENT.corpora
    files = files_of(split, "source")
    if files:
        try:
            return sum(sum(1 for _ in read_bytes(Path(file))) for file in files)
        except (InputError, OSError) as error:
            raise WorkflowError(str(error)) from None
    return (corpora.train[0] if split == "train" else corpora.held_out[split]).generate.sentences


def sets_that_may_leak() -> list[str]:
    """Sources of the held-out sets whose sentences are taken out of the training text.

    Generated splits lie in shares of the language that do not meet, so a further one leaves training as it is.
    """
    corpora = EXPERIMENT.corpora
    generated = corpora.is_generated
    return [
        raw(split, "source")
        for split, text in corpora.held_out.items()
        if text.removed_from_training and not (generated["train"] and generated[split])
    ]


def tokenized_already(side: str) -> bool:
    return getattr(EXPERIMENT.corpora, side).tokenizer == "none"


# A rule's outputs are fixed in number, so held-out sets are cleaned by one rule for each number of references.
REFERENCES = {split: [*text.sides][1:] for split, text in EXPERIMENT.corpora.held_out.items()}


# Stanza tokenizes with the software of the room that parses.
TOKENIZER_ENVIRONMENT = (
    "../../envs/syntax.yaml"
    if "stanza" in (EXPERIMENT.corpora.source.tokenizer, EXPERIMENT.corpora.target.tokenizer)
    else "../../envs/text.yaml"
)


def treebank_of_words() -> dict[str, str]:
    """Gold trees that say what a word of the Chinese source is, as inputs; none where that is not learnt.

    A parser knows the words of its treebank. So where Stanza shall separate words and no directory has its models, the
    first parser that is trained from files gives its treebank, and text and trees agree.
    """
    source = EXPERIMENT.corpora.source
    if source.tokenizer != "stanza" or source.stanza_directory or not source.language.startswith("zh"):
        return {}
    banks = [parser.treebank for parser in EXPERIMENT.parsers.values() if isinstance(parser, TrainedParser)]
    in_files = [bank for bank in banks if not bank.is_generated]
    return {part: EXPERIMENT.path(getattr(bank, part)) for bank in in_files[:1] for part in ("train", "dev")}


def segmenter(side: str) -> list[str]:
    """The model that separates the words of a side, where it is learnt."""
    return ["<results>/corpus/segmenter.pt"] if side == "source" and treebank_of_words() else []


def models_of_tokenizer(language) -> list[str]:
    """The files of a Stanza directory that decide the words of a side, where it names one."""
    index = Path(EXPERIMENT.path(language.stanza_directory or "")) / INDEX
    if language.tokenizer != "stanza" or not language.stanza_directory or not index.is_file():
        return []
    try:
        return [str(file) for file in (index, *tokenizer_in(index.parent, language.language))]
    except InputError as error:
        raise WorkflowError(str(error)) from None


def tokenization(side: str) -> dict:
    language = getattr(EXPERIMENT.corpora, "source" if side == "source" else "target")
    distribution = {
        "moses": ["sacremoses"],
        "jieba": ["jieba"],
        "stanza": ["stanza"],
        "none": [],
    }[language.tokenizer]
    return {
        **language.model_dump(),
        "content": contents_of(models_of_tokenizer(language)),
        "made_by": made_by("corpus.tokenize", *distribution),
    }


def tokens(side: str) -> str:
    """The path of the words that parsers and subword models read, with {split} open."""
    folder = "truecased" if getattr(EXPERIMENT.corpora, side).case == "true" else "tokenized"
    return f"<results>/corpus/{folder}/{{split}}.{side}"


def generalised(side: str, rarer: int) -> str:
    """The path of words whose times, dates and numbers that are rarer became placeholders, with {split} open."""
    return f"<results>/corpus/generalised/{rarer}/{{split}}.{side}"
