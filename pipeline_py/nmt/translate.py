"""Translate packed sentences with a trained system."""

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np
from typer import Option

from pipeline_py import stage
from pipeline_py.artifact import Ledger, writing
from pipeline_py.config.base import from_json
from pipeline_py.config.decoding import Decoding
from pipeline_py.progress import progress

if TYPE_CHECKING:
    from pipeline_py.nmt.hypothesis import Hypothesis
    from pipeline_py.nmt.model import Model
    from pipeline_py.nmt.sources import Sources
    from pipeline_py.subword.vocabulary import Vocabulary


def translate(
    *,
    model: Annotated[Path, Option()],
    config: Annotated[Path, Option()],
    source: Annotated[Path, Option()],
    syntax: Annotated[list[str] | None, Option()] = None,
    target_vocabulary: Annotated[Path, Option()],
    decoding: Annotated[str, Option()] = "{}",
    device: Annotated[str, Option()] = "auto",
    threads: Annotated[int, Option()] = 1,
    output: Annotated[Path, Option()],
    alignment_output: Annotated[Path, Option()],
    n_best_output: Annotated[Path | None, Option()] = None,
    attention_output: Annotated[Path | None, Option()] = None,
    ledger_output: Annotated[Path, Option()],
) -> None:
    """Translate every sentence by beam search; line k of each output belongs to sentence k of the source.

    An empty source (EOS alone) becomes an empty line without asking the model.

    Args:
        model: Weights that `nmt.train` wrote.
        config: The configuration that it wrote beside them.
        source: Packed source sentences (ragged int32, each row ending with EOS).
        syntax: KIND=FILE for each kind of syntax that the system reads, e.g. distances=test.distances.arrow.
        target_vocabulary: `token count` per line, the one that the model was trained with.
        decoding: `decoding` of the configuration as JSON.
        device: auto, cpu or cuda.
        threads: CPU threads.
        output: Pieces of the best translation, separated by spaces.
        alignment_output: For each of these pieces the 0-based source position that it attended to most (first
            context; the last position is EOS).
        n_best_output: The `decoding.n_best` best translations of each sentence, best first, as Moses writes them:
            `0 ||| pieces ||| score`, sentences counted from 0.
        attention_output: Weights of the first context for the best translation (ragged float32). A row holds a
            matrix row by row: one row for each piece and one for the predicted EOS (none where the translation was
            cut at its greatest length), J columns, the last for the source's EOS. Empty for an empty source.
        ledger_output: JSON counts of sentences, of those cut at their greatest length, and of empty ones.

    Raises:
        InputError: options or files are not what they should be, or do not belong together.
    """
    options = _decoding(decoding, n_best_output)
    if threads < 1:
        raise stage.InputError("--threads must be at least 1")

    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.packed import syntax_files
    from pipeline_py.nmt.saved import load
    from pipeline_py.nmt.sources import Sources
    from pipeline_py.ragged import write_rows
    from pipeline_py.subword.vocabulary import Vocabulary

    network = load(model, config, prepare(device, threads))
    vocabulary = Vocabulary.load(target_vocabulary)
    if len(vocabulary) != network.vocabularies["target"]:
        raise stage.InputError(
            f"the vocabulary has {len(vocabulary)} tokens and the model in {model} predicts "
            f"{network.vocabularies['target']}; "
            "give the vocabulary that the model was trained with",
            target_vocabulary,
        )
    sources = Sources(source, syntax_files(network.system.syntax, syntax or [], "--syntax"), network.vocabularies)

    ledger = Ledger()
    searched = _search(network, sources, options, attention_output is not None, ledger)
    found = _in_order(progress(searched, f"translate {source.name}", total=len(sources)))
    with ExitStack() as files:
        pieces = files.enter_context(writing(output))
        alignment = files.enter_context(writing(alignment_output))
        n_best = files.enter_context(writing(n_best_output)) if n_best_output is not None else None
        # The ragged writer asks for its rows one by one; the lines of the text files are written as it goes.
        rows = _write(found, vocabulary, ledger, pieces, alignment, n_best)
        try:
            if attention_output is not None:
                write_rows(attention_output, rows, "float32")
            else:
                deque(rows, maxlen=0)
        except FloatingPointError as error:
            raise stage.InputError(f"{error}; train the system again", model) from None
    ledger.write(ledger_output)


def _decoding(text: str, n_best_output: Path | None) -> Decoding:
    options = from_json(Decoding, text, "--decoding")
    if n_best_output is not None and options.n_best == 0:
        raise stage.InputError("--n-best-output: decoding.n_best is 0; set it to how many translations to write")
    return options


def _search(
    network: "Model", sources: "Sources", options: Decoding, attention: bool, ledger: Ledger
) -> Iterator[tuple[int, list["Hypothesis"]]]:
    """Yield the number of each sentence and its best translations, in the order of the search."""
    import torch

    from pipeline_py.nmt.hypothesis import Hypothesis
    from pipeline_py.nmt.search import beam_search

    device = next(network.parameters()).device
    nothing = Hypothesis(tokens=[], score=0.0, log_probability=0.0, cut=False, alignment=[])
    for sentences in sources.batches(options.batch_size):
        words = sources.lengths[sentences] - 1
        for number in sentences[words == 0].tolist():
            ledger.note("empty source")
            yield number, [nothing]
        sentences, words = sentences[words > 0], words[words > 0]
        if len(sentences):
            limits = np.floor(options.max_length_ratio * words).astype(np.int64) + 10
            found = beam_search(
                [network],
                sources.batch(sentences).to(device),
                beam=options.beam,
                max_lengths=torch.from_numpy(limits),
                length_normalization=options.length_normalization,
                n_best=max(1, options.n_best),
                attention=attention,
            )
            yield from zip(sentences.tolist(), found, strict=True)


def _in_order(found: Iterator[tuple[int, list["Hypothesis"]]]) -> Iterator[list["Hypothesis"]]:
    """Yield what belongs to sentence 0, 1, 2, …; what comes early waits, at most for the rest of its window."""
    waiting: dict[int, list[Hypothesis]] = {}
    following = 0
    for number, hypotheses in found:
        waiting[number] = hypotheses
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _write(
    found: Iterator[list["Hypothesis"]],
    vocabulary: "Vocabulary",
    ledger: Ledger,
    pieces: IO[str],
    alignment: IO[str],
    n_best: IO[str] | None,
) -> Iterator[np.ndarray]:
    """Write a line of each file for each sentence and yield its attention, flattened (empty if it was not kept)."""
    for number, hypotheses in enumerate(found):
        best = hypotheses[0]
        ledger.keep()
        if best.cut:
            ledger.note("cut at the greatest length")
        if not best.tokens:
            ledger.note("empty translation")
        pieces.write(" ".join(vocabulary.decode(best.tokens)) + "\n")
        alignment.write(" ".join(map(str, best.alignment[: len(best.tokens)])) + "\n")
        if n_best is not None:
            for hypothesis in hypotheses:
                text = " ".join(vocabulary.decode(hypothesis.tokens))
                n_best.write(f"{number} ||| {text} ||| {hypothesis.score:.6f}\n")
        yield np.zeros(0, dtype=np.float32) if best.attention is None else best.attention.ravel()


if __name__ == "__main__":
    stage.run(translate)
