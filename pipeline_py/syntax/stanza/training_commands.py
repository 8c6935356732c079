"""Stanza's training commands, run in this process, without network and Java.

The commands train on files in the current directory and write `MODEL_FILE` there, so that models contain no paths of
this machine. The settings suit short training on one CPU core: small batches, little dropout, only the first optimizer,
and one evaluation per epoch, of which the best is kept.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from stanza.models import constituency_parser, parser, tagger
from stanza.models.common.pretrain import Pretrain
from stanza.models.constituency import parser_training, retagging

from pipeline_py.files.artifacts import write_atomically
from pipeline_py.files.text_files import is_whole_number, read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.stanza.pipeline import StanzaPipeline, convert_phrase_node
from pipeline_py.syntax.trees.bracket_scoring import BracketCounts, count_matching_brackets
from pipeline_py.syntax.trees.constituency import PhraseTree


def load_model_content(path: Path) -> Any:
    """Load the tensors and plain values of a model file, without executing code."""
    return torch.load(path, map_location="cpu", weights_only=True)


def save_reproducibly(content: Any, path: Path) -> None:
    """Save tensors and plain values so that equal content gives equal bytes.

    Stanza's own files are not reproducible, because they name tensors by their addresses in memory.
    """
    params = content.get("params") if isinstance(content, dict) else None
    if isinstance(params, dict) and "rare_words" in params:
        params["rare_words"] = sorted(params["rare_words"])  # Stanza saves a set in arbitrary order
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        torch.save(content, file)


# Used if there are no word vectors: the parser then only uses the embeddings that it learns.
ZERO_VECTORS_TEXT = "1 8\n<none> 0 0 0 0 0 0 0 0\n"


def write_pretrain(vectors_path: Path | None, output: Path) -> None:
    """Convert a word2vec text file; without one, write a pretrain in which every word has the zero vector.

    Raises:
        InputError: The file is not in word2vec's text format.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = vectors_path
        if text is None:
            text = Path(folder) / "none.txt"
            text.write_text(ZERO_VECTORS_TEXT, encoding="utf-8")
        else:
            _check_vector_file(text)
        pretrain = Pretrain(None, str(text), save_to_file=False)
        save_reproducibly({"vocab": pretrain.vocab.state_dict(), "emb": pretrain.emb}, output)


def _check_vector_file(vectors_path: Path) -> None:
    dimension = number = 0
    promised_count = None
    for number, line in enumerate(show_progress(read_lines(vectors_path), "word vectors", unit="lines"), start=1):
        columns = line.rstrip().split()
        if number == 1 and len(columns) == 2 and all(map(is_whole_number, columns)):
            promised_count, dimension = map(int, columns)
            continue
        dimension = dimension or len(columns) - 1
        try:
            vector = [float(column) for column in columns[-dimension:]]
        except ValueError:
            vector = []
        if dimension < 1 or len(vector) != dimension or len(columns) <= dimension:
            raise InputError(
                f"not a word and {dimension} numbers; give word vectors in word2vec's text format", vectors_path, number
            )
    if number == 0:
        raise InputError("the file is empty; give word vectors in word2vec's text format", vectors_path)
    if promised_count not in (None, number - 1):
        raise InputError(
            f"the first line promises {promised_count} word vectors, but {number - 1} follow; fetch the file again",
            vectors_path,
        )


TRAIN_FILE, DEV_FILE, MODEL_FILE, PRETRAIN_FILE = "train.txt", "dev.txt", "model.pt", "pretrain.pt"

TAGGER_BATCH_SENTENCES = 15
DEPPARSE_BATCH_WORDS = 500
CONSTITUENCY_BATCH_SENTENCES = 10


@dataclass(frozen=True)
class TrainingBudget:
    """The size of a model and the amount of its training.

    Attributes:
        hidden_size: Size of the recurrent and scoring layers.
        epochs: Number of passes over the training sentences.
        seed: Seed of all random numbers.
        sentence_count: Number of training sentences.
        word_count: Number of training words.
    """

    hidden_size: int
    epochs: int
    seed: int
    sentence_count: int
    word_count: int


def train_tagger(language: str, budget: TrainingBudget, has_vectors: bool, device: str) -> None:
    """Train a tagger of UPOS, XPOS and features on CoNLL-U."""
    tagger.main(
        [
            *_build_file_options(language, budget, device),
            *_build_step_options(-(-budget.sentence_count // TAGGER_BATCH_SENTENCES), budget, TAGGER_BATCH_SENTENCES),
            *_build_vector_options(has_vectors),
            *("--dropout", "0.3", "--word_dropout", "0.2"),
            *("--fix_eval_interval", "--no_second_optim"),
            *("--hidden_dim", str(budget.hidden_size), "--char_hidden_dim", str(budget.hidden_size)),
            *("--share_hid", "--deep_biaff_hidden_dim", str(budget.hidden_size)),
            *("--char_emb_dim", "50", "--num_layers", "1", "--word_cutoff", "2", "--lr", "0.003"),
        ]
    )


def train_depparse(language: str, budget: TrainingBudget, has_vectors: bool, device: str) -> None:
    """Train a dependency parser on CoNLL-U."""
    parser.main(
        [
            *_build_file_options(language, budget, device),
            *_build_step_options(-(-budget.word_count // DEPPARSE_BATCH_WORDS), budget, DEPPARSE_BATCH_WORDS),
            *_build_vector_options(has_vectors),
            *("--dropout", "0.3", "--word_dropout", "0.2"),
            *("--optim", "adam", "--lr", "0.004", "--beta2", "0.95", "--weight_decay", "0"),
            *("--no_second_optim", "--no_plateau", "--no_checkpoint"),
            *("--hidden_dim", str(budget.hidden_size), "--char_hidden_dim", str(budget.hidden_size)),
            *("--deep_biaff_hidden_dim", str(budget.hidden_size), "--deep_biaff_output_dim", str(budget.hidden_size)),
            *("--char_emb_dim", "50", "--num_layers", "2", "--word_cutoff", "2"),
        ]
    )


def train_constituency(language: str, budget: TrainingBudget, tagger_pipeline: StanzaPipeline, device: str) -> None:
    """Train a constituency parser on brackets.

    The tags of the trees are replaced by those that `tagger_pipeline` predicts, as at parsing time: XPOS if the tagger
    has them, else UPOS. The model records which.
    """
    tags = "xpos" if tagger_pipeline.processors["pos"].get_known_xpos() else "upos"
    options = [
        *_build_file_options(language, budget, device),
        *("--wordvec_pretrain_file", PRETRAIN_FILE, "--retag_package", "tagger", "--retag_method", tags),
        *("--epochs", str(budget.epochs), "--epoch_size", "0", "--train_batch_size", str(CONSTITUENCY_BATCH_SENTENCES)),
        *("--hidden_size", str(budget.hidden_size), "--num_lstm_layers", "1", "--no_multistage", "--optim", "adadelta"),
        *("--no_check_valid_states", "--no_condense_output_layers", "--no_checkpoint", "--no_train_remove_duplicates"),
    ]
    with (
        _patch_attribute(parser_training, "EvaluateParser", _BracketScorer),
        _patch_attribute(retagging, "build_retag_pipeline", lambda _: [tagger_pipeline]),
    ):
        constituency_parser.main(options)


def _build_file_options(language: str, budget: TrainingBudget, device: str) -> list[str]:
    return [
        *("--lang", language, "--shorthand", f"{language}_own", "--seed", str(budget.seed), "--device", device),
        *("--train_file", TRAIN_FILE, "--eval_file", DEV_FILE, "--save_dir", ".", "--save_name", MODEL_FILE),
    ]


def _build_step_options(steps_per_epoch: int, budget: TrainingBudget, batch_size: int) -> list[str]:
    steps = str(steps_per_epoch * budget.epochs)
    return [
        *("--max_steps", steps, "--max_steps_before_stop", steps, "--eval_interval", str(steps_per_epoch)),
        *("--log_step", str(steps_per_epoch), "--batch_size", str(batch_size)),
    ]


def _build_vector_options(has_vectors: bool) -> list[str]:
    return ["--wordvec_pretrain_file", PRETRAIN_FILE] if has_vectors else ["--no_pretrain"]


@contextmanager
def _patch_attribute(module: Any, name: str, value: Any) -> Iterator[None]:
    """Temporarily set `module.name` to `value`."""
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, original)


class _BracketScorer:
    """A replacement of Stanza's `EvaluateParser`, which scores the development trees with a Java program."""

    def __init__(self, kbest: int | None = None) -> None:
        self.kbest = kbest

    def __enter__(self) -> "_BracketScorer":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def process(self, results: list[Any]) -> SimpleNamespace:
        """Compute the bracket F1 (in percent) of Stanza's pairs of gold and predicted trees."""
        counts = BracketCounts()
        for result in results:
            gold, predicted = convert_phrase_node(result.gold), convert_phrase_node(result.predictions[0].tree)
            counts = counts.add_counts(count_matching_brackets(PhraseTree(gold), PhraseTree(predicted)))
        return SimpleNamespace(f1=counts.f1, treeF1=[], kbestF1=None, HasField=lambda _: False)
