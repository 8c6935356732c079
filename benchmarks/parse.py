"""Time our parsing, from tokens to the written file, against Stanza on the same batches.

    python -m benchmarks.parse --text ../shared/data/multi30k/train.en.gz
    python -m benchmarks.parse --text TEXT --models results/syntax/PARSER/model

The batches are those of the stage `parse`, sorted by length. Runs of both alternate.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import stanza
import torch
from pipeline_py.artifact import Counts, writing
from pipeline_py.input_error import InputError
from pipeline_py.order import in_order
from pipeline_py.text import read_lines, tokens_of
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root
from stanza.models.depparse import model as depparse

from pipeline_py import stage
from pipeline_py.syntax.stanza.batches import BatchParser
from pipeline_py.syntax.stanza.model_source import ModelSource
from pipeline_py.syntax.stanza.pipeline import models_left_alone
from pipeline_py.syntax.stanza.spanning_tree import with_greedy_trees
from pipeline_py.syntax.stanza.text_parser import text_parser
from pipeline_py.syntax.trees.formats import Annotation
from pipeline_py.syntax.words.parser_words import Sentence, in_tokens

DIRECTORY = Path("../shared/data/stanza_en")


def compare(
    *,
    text: Path,
    directory: Path = DIRECTORY,
    models: Path | None = None,
    language: str = "en",
    sentences: int = 600,
    batch_size: int = 100,
    repetitions: int = 5,
    device: str = "auto",
    threads: int = 1,
) -> None:
    """Print the median times of Stanza and of our stage, for dependency and constituency trees, and their ratios.

    The first ratio is of wall-clock time; the second is of CPU time, which other work on the machine hardly changes.

    Args:
        text: Tokenized text, one sentence a line, plain or gzipped.
        directory: Folder with Stanza's models.
        models: Instead of --directory: a folder with models of `train_parser` (tagger.pt, depparse.pt and
            constituency.pt, with their .pretrain.pt). An annotation without a model is left out.
        language: Stanza's code of the language.
        sentences: Number of sentences, from the beginning of the text.
        batch_size: Sentences of a batch.
        repetitions: Number of timed runs of each way, after one that does not count.
        device: auto, cpu or cuda.
        threads: CPU threads.

    Raises:
        InputError: the models or the text are not there.
    """
    if models is None and not directory.is_dir():
        raise InputError("no Stanza directory; give one with --directory, or trained models with --models", directory)
    torch.set_num_threads(threads)
    print(f"stanza {stanza.__version__}, torch {torch.__version__}, {threads} thread(s), batches of {batch_size},")
    print(f"medians of {repetitions}\n")
    print(f"{'':<14}{'sentences':>10}{'words':>8}{'Stanza':>18}{'with ours':>18}{'ratio':>8}{'of CPU':>8}")
    for annotation in Annotation:
        source = source_of(annotation, language, directory, models)
        if source is None:
            continue
        pipeline = source.load(device, batch_size)
        parser = text_parser(pipeline, annotation, batch_size, 250, Counts())
        with tempfile.TemporaryDirectory() as folder:
            tokens = Path(folder) / "tokens"
            tokens.write_text("".join(f"{line}\n" for line in islice(read_lines(text), sentences)), encoding="utf-8")
            batches = batches_of(parser, tokens)
            ways: dict[str, Callable[[], None]] = {
                "stanza": partial(directly, pipeline, batches),
                "ours": partial(to_file, parser, tokens, Path(folder) / "trees"),
            }
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
            for repetition in range(repetitions + 1):
                for name, way in ways.items():
                    times_of_way = seconds(way)
                    if repetition:
                        times[name].append(times_of_way)
        number = sum(map(len, batches))
        theirs, ours = ([median(column) for column in zip(*rows, strict=True)] for rows in times.values())
        print(
            f"{annotation:<14}{number:>10}{sum(len(words) for batch in batches for words in batch):>8}"
            f"{theirs[0]:>7.2f} s {number / theirs[0]:>6.0f}/s{ours[0]:>7.2f} s {number / ours[0]:>6.0f}/s"
            f"{ours[0] / theirs[0]:>8.3f}{ours[1] / theirs[1]:>8.3f}"
        )


def source_of(annotation: Annotation, language: str, directory: Path, models: Path | None) -> ModelSource | None:
    """The directory, or the trained models of the annotation; None where it has none."""
    if models is None:
        return ModelSource(annotation, language, directory=directory)
    name = "depparse" if annotation is Annotation.DEPENDENCY else "constituency"
    if not (models / f"{name}.pt").is_file():
        return None
    pretrain = models / f"{name}.pretrain.pt"
    return ModelSource(
        annotation,
        language,
        tagger=models / "tagger.pt",
        depparse=models / "depparse.pt",
        constituency=models / "constituency.pt",
        pretrain=pretrain if pretrain.is_file() else None,
    )


def batches_of(parser: BatchParser[str], tokens: Path) -> list[list[list[str]]]:
    """The batches that the parser makes of a text, as Stanza takes them."""
    batches = []

    def record(batch: Sequence[Sentence]) -> list[str]:
        batches.append([list(sentence.words) for sentence in batch])
        return [""] * len(batch)

    for _ in replace(parser, parse=record, counts=Counts()).parsed(sentences_of(tokens)):
        pass
    return batches


def sentences_of(tokens: Path) -> Iterator[Sentence]:
    """The sentences of a text."""
    return (in_tokens(tuple(tokens_of(line))) for line in read_lines(tokens))


def directly(pipeline: stanza.Pipeline, batches: list[list[list[str]]]) -> None:
    """Parse as Stanza does by itself, and forget."""
    depparse.chuliu_edmonds_one_root = chuliu_edmonds_one_root
    try:
        for batch in batches:
            pipeline(batch)
    finally:
        with_greedy_trees()


def to_file(parser: BatchParser[str], tokens: Path, trees: Path) -> None:
    """Parse as the stage does."""
    with writing(trees) as file, models_left_alone():
        file.writelines(in_order(parser.parsed(sentences_of(tokens))))


def seconds(way: Callable[[], None]) -> tuple[float, float]:
    """Time it: what passed, and what the CPU spent."""
    start = time.perf_counter(), time.process_time()
    way()
    return time.perf_counter() - start[0], time.process_time() - start[1]


if __name__ == "__main__":
    stage.run(compare)
