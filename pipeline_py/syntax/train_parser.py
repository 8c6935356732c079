"""Train one processor of a parser on a treebank, with Stanza's own training commands."""

import contextlib
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field, PositiveInt

from pipeline_py.config.parser_defaults import DEFAULT_EPOCHS, DEFAULT_HIDDEN_SIZE
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.training_treebank import write_bracketed_training_trees, write_conllu_training_trees


class StanzaProcessor(StrEnum):
    """A Stanza processor that can be trained."""

    TAGGER = "tagger"
    DEPPARSE = "depparse"
    CONSTITUENCY = "constituency"


def train_parser(
    *,
    processor: StanzaProcessor,
    treebank_train: Path,
    treebank_dev: Path,
    output: Path,
    counts_output: Path,
    language: str = "en",
    vectors: Path | None = None,
    tagger: Path | None = None,
    pretrain_output: Path | None = None,
    lowercase: bool = False,
    hidden: Annotated[int, Field(ge=4)] = DEFAULT_HIDDEN_SIZE,
    epochs: PositiveInt | None = None,
    seed: int = 1,
    threads: PositiveInt = 1,
    device: str = "cpu",
) -> None:
    """Train a tagger, a dependency parser or a constituency parser.

    Trees that Stanza cannot learn from are adapted and counted (`stanza.training_treebank` lists the changes). The
    model of the epoch that is best on the dev trees is kept. On the CPU, the same seed and number of threads give the
    same model, byte by byte.

    Args:
        processor: The model to train.
        treebank_train: CoNLL-U for tagger and depparse, Penn Treebank brackets for constituency; plain or gzipped.
        treebank_dev: The same, with other sentences.
        output: The Stanza model.
        counts_output: JSON counts of training sentences.
        language: Stanza's code of the language.
        vectors: Word vectors in word2vec's text format.
        tagger: For constituency: the trained tagger that the parser will work with, trained with the same vectors.
        pretrain_output: The vectors in Stanza's format (zero vectors if none are given). Constituency parsers, and
            processors trained with vectors, cannot be loaded without it.
        lowercase: Learn from lower-cased words.
        hidden: Size of the layers.
        epochs: Passes over the training trees; by default 5 (constituency: 2).
        seed: Seed of all random numbers.
        threads: CPU threads.
        device: auto, cpu or cuda.
    """
    needs_pretrain = vectors is not None or processor is StanzaProcessor.CONSTITUENCY
    if needs_pretrain and pretrain_output is None:
        raise InputError("this model cannot be loaded without its word vectors; write them to `pretrain_output`")
    if processor is StanzaProcessor.CONSTITUENCY and tagger is None:
        raise InputError("the constituency parser learns from the tags that it will see, which needs a tagger")

    epochs = epochs or DEFAULT_EPOCHS[processor]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts, sentences, words = _write_training_data(processor, treebank_train, treebank_dev, folder, lowercase)

        # Stanza and torch take seconds to import, so that treebanks are checked first.
        import torch

        from pipeline_py.run.torch_compile_hooks import disable_torch_compile_hooks
        from pipeline_py.syntax.stanza import training_commands as stanza_training
        from pipeline_py.syntax.stanza.pipeline import load_pipeline_from_files
        from pipeline_py.syntax.stanza.training_commands import load_model_content, save_reproducibly, write_pretrain
        from pipeline_py.syntax.stanza.training_progress import report_training_progress

        torch.set_num_threads(threads)
        disable_torch_compile_hooks()
        device = select_device(device)
        pretrain = folder / stanza_training.PRETRAIN_FILE
        if pretrain_output is not None:
            write_pretrain(vectors, pretrain)
        budget = stanza_training.TrainingBudget(hidden, epochs, seed, sentences, words)
        tagger_pipeline = None
        if processor is StanzaProcessor.CONSTITUENCY and tagger is not None:
            tagger_pipeline = load_pipeline_from_files({"pos": tagger}, pretrain, language, device, batch_size=100)
        with contextlib.chdir(folder), report_training_progress(processor, epochs):
            if processor is StanzaProcessor.TAGGER:
                stanza_training.train_tagger(language, budget, vectors is not None, device)
            elif processor is StanzaProcessor.DEPPARSE:
                stanza_training.train_depparse(language, budget, vectors is not None, device)
            else:
                stanza_training.train_constituency(language, budget, tagger_pipeline, device)
        save_reproducibly(load_model_content(folder / stanza_training.MODEL_FILE), output)
        if pretrain_output is not None:
            save_reproducibly(load_model_content(pretrain), pretrain_output)
    counts.write_json_file(counts_output)


def _write_training_data(
    processor: StanzaProcessor, train_treebank: Path, dev_treebank: Path, folder: Path, lowercase: bool
) -> tuple[SentenceCounts, int, int]:
    """Check both treebanks and write them for Stanza; return counts, training sentences and training words."""
    write = write_bracketed_training_trees if processor is StanzaProcessor.CONSTITUENCY else write_conllu_training_trees
    counts = SentenceCounts()
    words = write(train_treebank, folder / "train.txt", lowercase, counts)
    dev_counts = SentenceCounts()
    write(dev_treebank, folder / "dev.txt", lowercase, dev_counts)
    for note, sentences in (dev_counts.dropped_by_reason + dev_counts.noted_by_reason).items():
        counts.add_noted(f"dev: {note}", sentences)
    return counts, counts.kept_count, words
