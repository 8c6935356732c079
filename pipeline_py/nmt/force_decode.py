"""Compute the probability of given translations under a trained system or an ensemble (forced decoding)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.input_error import InputError
from pipeline_py.options import Option
from pipeline_py.progress import progress

if TYPE_CHECKING:
    from pipeline_py.nmt.search.ensemble import Member

BATCH_SIZE = 64

COLUMNS = ("log_probability", "pieces")


def force_decode(
    *,
    model: Annotated[list[Path], Option()],
    config: Annotated[list[Path], Option()],
    source: Annotated[list[Path], Option()],
    syntax: Annotated[list[str] | None, Option()] = None,
    translation: Annotated[list[Path], Option()],
    target_vocabulary: Annotated[Path, Option()],
    device: Annotated[str, Option()] = "auto",
    threads: Annotated[int, Option()] = 1,
    output: Annotated[list[Path], Option()],
) -> None:
    """Compute log p(translation | source) of given translations; row k of each output belongs to sentence k.

    At each step the decoder reads the preceding words of the given translation. p is the system's probability over the
    whole vocabulary, without length normalization or length model. For several models it is the ensemble's, as in beam
    search: the mean of their probabilities of each piece. A piece outside the vocabulary becomes `<unk>`. Two
    translations with the same identifiers have exactly the same value.

    Args:
        model: Weights from `nmt.train`; repeatable for an ensemble.
        config: The configuration from `nmt.train`, beside the weights; one for each model, in the same order.
        source: Packed source sentences (ragged int32, each row ending with EOS): one file for all models, or one for
            each in the same order.
        syntax: KIND=FILE for each kind of syntax that the system reads, e.g. distances=test.distances.arrow;
            repeatable. In an ensemble NUMBER:KIND=FILE, with models numbered from 1.
        translation: Pieces of a translation on each line, separated by spaces; repeatable.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        device: auto, cpu or cuda.
        threads: CPU threads.
        output: TSV with a header; one file for each file of translations, in the same order. Columns:
            `log_probability`, the sum of the natural logarithms of the probabilities of all pieces and EOS; `pieces`,
            their number, EOS included.

    Raises:
        InputError: options or files are invalid, or do not belong together; a source is empty.
    """
    if threads < 1:
        raise InputError("--threads must be at least 1")
    if len(output) != len(translation):
        raise InputError(f"--output: {len(output)} for {len(translation)} files of translations; give as many")

    from pipeline_py.nmt.data.translations import read_translations
    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.search.ensemble import open_members
    from pipeline_py.subword.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(target_vocabulary)
    predicted = target_vocabulary, len(vocabulary)
    members = open_members(model, config, source, syntax or [], predicted, prepare(device, threads))
    sources = members[0].sources
    if (sources.lengths == 1).any():
        raise InputError(
            "the sentence is empty, so that its translation has no probability; leave it out of all files",
            source[0],
            int((sources.lengths == 1).argmax()) + 1,
        )
    files = [read_translations(path, vocabulary, source[0], len(sources)) for path in translation]

    scores = np.empty((len(files), len(sources)))
    computed = progress(_log_probabilities(members, files), f"force_decode {source[0].name}", total=len(sources))
    for number, of_files in computed:
        # Rounding depends on the rest of a batch; it must not tell apart what is the same.
        of_translation: dict[bytes, float] = {}
        for place, score in enumerate(of_files):
            scores[place, number] = of_translation.setdefault(files[place][number].tobytes(), score)
    if not np.isfinite(scores).all():
        models = ", ".join(map(str, model))
        raise InputError("the model predicts something that is not a number; train the system again", models)
    for path, rows, targets in zip(output, scores.tolist(), files, strict=True):
        with writing(path) as file:
            file.write("\t".join(COLUMNS) + "\n")
            file.writelines(f"{score!r}\t{len(target)}\n" for score, target in zip(rows, targets, strict=True))


def _log_probabilities(
    members: Sequence["Member"], files: Sequence[Sequence[np.ndarray]]
) -> Iterator[tuple[int, list[float]]]:
    """Yield the number of each sentence and log p of its translation in each file, in the order of the batches."""
    import torch

    from pipeline_py.nmt.data.batch import collate

    device = next(members[0].network.parameters()).device
    for numbers in members[0].sources.batches(BATCH_SIZE):
        with torch.inference_mode():
            memories = [member.network.encode(member.sources.batch(numbers).to(device)) for member in members]
            sums = []
            for targets in files:
                target = collate([targets[number] for number in numbers]).to(device)
                of_members = torch.stack(
                    [
                        -member.network.decoder.word_losses(memory, target.source, target.source_words).double()
                        for member, memory in zip(members, memories, strict=True)
                    ]
                )
                # Behind EOS all are log 1. No probability exceeds 1, though rounding may say so.
                of_words = (of_members.logsumexp(0) - np.log(len(members))).clamp(max=0)
                sums.append(of_words.sum(dim=1))
            rows = torch.stack(sums, dim=1).tolist()
        yield from zip(numbers.tolist(), rows, strict=True)


if __name__ == "__main__":
    stage.run(force_decode)
