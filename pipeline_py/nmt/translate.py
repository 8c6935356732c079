"""Translate packed sentences with a trained system or an ensemble."""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import Counts, writing
from pipeline_py.config.base import from_json
from pipeline_py.config.effects import Effect
from pipeline_py.config.systems.decoding import Decoding
from pipeline_py.input_error import InputError
from pipeline_py.options import Option
from pipeline_py.order import in_order
from pipeline_py.output_cache import OutputCache, identity
from pipeline_py.progress import progress

if TYPE_CHECKING:
    from pipeline_py.nmt.length_model import LengthModel
    from pipeline_py.nmt.search.ensemble import Member
    from pipeline_py.nmt.search.hypothesis import Hypothesis
    from pipeline_py.subword.vocabulary import Vocabulary

LIBRARIES = ("torch", "numpy")
"""Their versions decide the result."""


def translate(
    *,
    model: Annotated[list[Path], Option()],
    config: Annotated[list[Path], Option()],
    source: Annotated[list[Path], Option()],
    syntax: Annotated[list[str] | None, Option()] = None,
    target_vocabulary: Annotated[Path, Option()],
    length_model: Annotated[Path | None, Option()] = None,
    decoding: Annotated[str, Option()] = "{}",
    device: Annotated[str, Option()] = "auto",
    threads: Annotated[int, Option()] = 1,
    code: Annotated[str, Option()] = "",
    cache: Annotated[Path | None, Option()] = None,
    output: Annotated[Path, Option()],
    alignment_output: Annotated[Path, Option()],
    n_best_output: Annotated[Path | None, Option()] = None,
    attention_output: Annotated[Path | None, Option()] = None,
    counts_output: Annotated[Path, Option()],
) -> None:
    """Translate sentences by beam search; line k of each output belongs to sentence k of the source.

    An empty source (EOS alone) becomes an empty line without a search. Several models form an ensemble: their
    probabilities are averaged; source positions, lengths and attention are those of the first model. A run with the
    same inputs, settings and code as the last finished one reuses its outputs.

    Args:
        model: Weights from `nmt.train`; repeatable for an ensemble.
        config: The configuration from `nmt.train`, beside the weights; one for each model, in the same order.
        source: Packed source sentences (ragged int32, each row ending with EOS): one file for all models, or one for
            each in the same order.
        syntax: KIND=FILE for each kind of syntax that the system reads, e.g. distances=test.distances.arrow;
            repeatable. In an ensemble NUMBER:KIND=FILE, with models numbered from 1.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        length_model: The counts of `nmt.length_model`; required if `decoding.length_model` is true, and only then.
        decoding: `decoding` of the configuration as JSON.
        device: auto, cpu or cuda.
        threads: CPU threads.
        code: Any text that identifies the version of the code; outputs of another version are not reused.
        cache: Folder for the outputs of this run when it last finished; no other run may use it, and it must not be an
            output folder. Without it, every run translates.
        output: Pieces of the best translation, separated by spaces.
        alignment_output: For each piece, the source position (from 0) with the highest attention weight of the first
            context; the last position is EOS, and phrases are not counted.
        n_best_output: The `decoding.n_best` best translations of each sentence, best first, in Moses' format: `0 |||
            pieces ||| score`, sentences counted from 0.
        attention_output: Weights of the first context for the best translation (ragged float32). A row holds a matrix,
            row by row: a row for each piece and one for the predicted EOS (none if the translation was cut at the
            maximum length); a column for each source position, the last one for EOS, and then for each phrase if the
            system attends to phrases. Empty for an empty source.
        counts_output: JSON counts of sentences, of translations cut at the maximum length, of empty sources, of sources
            with a length that the length model does not know, and of searches in bfloat16.

    Raises:
        InputError: options or files are invalid, or do not belong together.
    """
    options = _decoding(decoding, n_best_output, length_model)
    _check_counts(len(model), len(config), len(source))
    if threads < 1:
        raise InputError("--threads must be at least 1")
    requested = [path for path in (n_best_output, attention_output) if path is not None]
    outputs = output, alignment_output, counts_output, *requested
    made_from = ""
    if cache is not None:
        inputs = [*model, *config, *source, target_vocabulary, *([] if length_model is None else [length_model])]
        asked = str([n_best_output is not None, attention_output is not None])
        made_from = _identity(inputs, syntax or [], options, asked, device, str(threads), code)
    finished = OutputCache(cache, made_from)
    if finished.restore(*outputs):
        return

    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.length_model import LengthModel
    from pipeline_py.nmt.search.ensemble import open_members
    from pipeline_py.ragged import write_rows
    from pipeline_py.subword.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(target_vocabulary)
    predicted = target_vocabulary, len(vocabulary)
    members = open_members(model, config, source, syntax or [], predicted, prepare(device, threads))
    lengths = None if length_model is None else LengthModel.load(length_model, options.length_floor)

    counts = Counts()
    searched = _search(members, options, lengths, attention_output is not None, counts)
    found = in_order(progress(searched, f"translate {source[0].name}", total=len(members[0].sources)))
    with closing(searched), ExitStack() as files:
        pieces = files.enter_context(writing(output))
        alignment = files.enter_context(writing(alignment_output))
        n_best = files.enter_context(writing(n_best_output)) if n_best_output is not None else None
        # The ragged writer asks for its rows one by one; the lines of the text files are written as it goes.
        rows = _write(found, vocabulary, counts, pieces, alignment, n_best)
        try:
            if attention_output is not None:
                write_rows(attention_output, rows, "float32")
            else:
                deque(rows, maxlen=0)
        except FloatingPointError as error:
            raise InputError(f"{error}; train the system again", ", ".join(map(str, model))) from None
    counts.write(counts_output)
    finished.store(*outputs)


def _decoding(text: str, n_best_output: Path | None, length_model: Path | None) -> Decoding:
    options = from_json(Decoding, text, "--decoding")
    if n_best_output is not None and options.n_best == 0:
        raise InputError("--n-best-output: decoding.n_best is 0; set it to how many translations to write")
    if options.length_model and length_model is None:
        raise InputError("decoding.length_model is true; give --length-model FILE")
    if length_model is not None and not options.length_model:
        raise InputError("--length-model: decoding.length_model is false; set it, or leave the file out")
    return options


def _check_counts(models: int, configs: int, sources: int) -> None:
    if configs != models:
        raise InputError(f"--config: {configs} for {models} models; give one for each, in the same order")
    if sources not in (1, models):
        raise InputError(
            f"--source: {sources} for {models} models; give one for all, or one for each in the same order"
        )


def _identity(inputs: Sequence[Path], syntax: Sequence[str], options: Decoding, *settings: str) -> str:
    """Hash what the translations depend on; which syntax that should be, only the networks know, once they are open."""
    files = dict(sorted(dict(text.partition("=")[::2] for text in syntax).items()))
    return identity(
        [*inputs, *(Path(path) for path in files.values() if path)],
        *files,
        options.model_dump_json(exclude=options.without(Effect.ROUNDING, "nmt.translate")),
        *settings,
        *map(metadata.version, LIBRARIES),
    )


def _search(
    members: Sequence["Member"], options: Decoding, lengths: "LengthModel | None", attention: bool, counts: Counts
) -> Generator[tuple[int, list["Hypothesis"]]]:
    """Yield the number of each sentence and its best translations, in the order of the search."""
    import torch

    from pipeline_py.nmt.precision import searches_in_half
    from pipeline_py.nmt.search.beam_search import beam_search
    from pipeline_py.nmt.search.hypothesis import Hypothesis
    from pipeline_py.nmt.search.steps import searching

    networks = [member.network for member in members]
    device = next(networks[0].parameters()).device
    sources = members[0].sources
    half = searches_in_half(options, max(network.system.model.hidden for network in networks), len(sources), device)
    nothing = Hypothesis(tokens=[], score=0.0, log_probability=0.0, cut=False, alignment=[])
    with searching(networks, half) as steps:
        for sentences in sources.batches(options.batch_size):
            words = sources.lengths[sentences] - 1
            for number in sentences[words == 0].tolist():
                counts.note("empty source")
                yield number, [nothing]
            sentences, words = sentences[words > 0], words[words > 0]
            if len(sentences):
                limits = np.floor(options.max_length_ratio * words).astype(np.int64) + 10
                if options.max_length is not None:
                    limits = limits.clip(max=options.max_length)
                terms = None
                if lengths is not None:
                    terms = torch.from_numpy(lengths.log_probabilities(words, int(limits.max())))
                    unknown = sum(not lengths.knows(length) for length in words.tolist())
                    if unknown:
                        counts.note("source of a length that the length model does not know", unknown)
                found = beam_search(
                    networks,
                    [member.sources.batch(sentences, steps.multiple).to(device) for member in members],
                    beam=options.beam,
                    max_lengths=torch.from_numpy(limits),
                    length_normalization=options.length_normalization,
                    length_terms=terms,
                    n_best=max(1, options.n_best),
                    attention=attention,
                    steps=steps,
                )
                if half:
                    counts.note("searched in bfloat16", len(sentences))
                yield from zip(sentences.tolist(), found, strict=True)


def _write(
    found: Iterator[list["Hypothesis"]],
    vocabulary: "Vocabulary",
    counts: Counts,
    pieces: IO[str],
    alignment: IO[str],
    n_best: IO[str] | None,
) -> Iterator[np.ndarray]:
    """Write a line of each file for each sentence and yield its attention, flattened (empty if it was not kept)."""
    for number, hypotheses in enumerate(found):
        best = hypotheses[0]
        counts.keep()
        if best.cut:
            counts.note("cut at the greatest length")
        if not best.tokens:
            counts.note("empty translation")
        pieces.write(" ".join(vocabulary.decode(best.tokens)) + "\n")
        alignment.write(" ".join(map(str, best.alignment[: len(best.tokens)])) + "\n")
        if n_best is not None:
            for hypothesis in hypotheses:
                text = " ".join(vocabulary.decode(hypothesis.tokens))
                n_best.write(f"{number} ||| {text} ||| {hypothesis.score:.6f}\n")
        yield np.zeros(0, dtype=np.float32) if best.attention is None else best.attention.ravel()


if __name__ == "__main__":
    stage.run(translate)
