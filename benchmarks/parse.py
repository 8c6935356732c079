"""Time our parsing, from tokens to the written file, against Stanza on the same batches.

    python -m benchmarks.parse --text ../shared/data/multi30k/train.en.gz

The batches are those of the stage `parse`, sorted by length. Runs of both alternate.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import stanza
import torch
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root
from stanza.models.depparse import model as depparse

from benchmarks.rounds import run_alternating_rounds, summarize_ratios
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import read_lines, restore_input_order, split_tokens
from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.model_source import ModelSource
from pipeline_py.syntax.stanza.pipeline import patch_maximum_tree_search, without_garbage_collection
from pipeline_py.syntax.stanza.text_parser import BatchParser, build_text_parser
from pipeline_py.syntax.trees.tree_formats import TreeKind
from pipeline_py.syntax.words.parser_words import ParserSentence, build_parser_sentence_of_tokens


def compare_parsing_speed(
    *,
    text: Path,
    directory: Path = Path("../shared/data/stanza_en"),
    sentences: int = 600,
    batch_size: int = 100,
    repetitions: int = 5,
    device: str = "auto",
    threads: int = 1,
) -> None:
    """Print the speed of Stanza and of our stage for English dependency and constituency trees, and ratios of times.

    The first ratio is of wall-clock time; the second is of CPU time, which other work on the machine hardly changes.

    Args:
        text: Tokenized text, one sentence a line, plain or gzipped.
        directory: Folder with Stanza's models.
        sentences: Number of sentences, from the beginning of the text.
        batch_size: Sentences of a batch.
        repetitions: Number of timed runs of each way, after one that does not count.
        device: auto, cpu or cuda.
        threads: CPU threads.

    Raises:
        InputError: the models or the text are not there.
    """
    if not directory.is_dir():
        raise InputError("no Stanza directory; give one with --directory", directory)
    torch.set_num_threads(threads)
    print(f"stanza {stanza.__version__}, torch {torch.__version__}, {threads} thread(s), batches of {batch_size},")
    print(f"medians of {repetitions}\n")
    print(f"{'':<14}{'sentences':>10}{'words':>8}{'Stanza':>12}{'with ours':>12}{'ratio':>8}{'of CPU':>8}")
    for annotation in TreeKind:
        pipeline = ModelSource(annotation, "en", directory=directory).load_pipeline(device, batch_size)
        parser = build_text_parser(pipeline, annotation, batch_size, 250, SentenceCounts())
        with tempfile.TemporaryDirectory() as folder:
            tokens = Path(folder) / "tokens"
            tokens.write_text("".join(f"{line}\n" for line in islice(read_lines(text), sentences)), encoding="utf-8")
            batches = collect_batches(parser, tokens)
            count = sum(map(len, batches))
            ways = {
                "stanza": partial(parse_with_stanza, pipeline, batches),
                "ours": partial(parse_to_file, parser, tokens, Path(folder) / "trees"),
            }
            turns = {name: partial(time_parsing, way, count) for name, way in ways.items()}
            stanzas, ours = run_alternating_rounds(turns, repetitions, 1, f"parse {annotation}").values()
        cpu = summarize_ratios(
            [turn["cpu"] for turn in ours.measurements], [turn["cpu"] for turn in stanzas.measurements]
        )
        print(
            f"{annotation:<14}{count:>10}{sum(len(words) for batch in batches for words in batch):>8}"
            f"{stanzas.summarize_rates('sentences').median:>10.0f}/s{ours.summarize_rates('sentences').median:>10.0f}/s"
            f"{stanzas.summarize_speedup(ours, 'sentences').median:>8.3f}"
            f"{cpu.median:>8.3f}"
        )


def collect_batches(parser: BatchParser[str], tokens_path: Path) -> list[list[list[str]]]:
    """The batches that the parser makes of a text, as Stanza takes them."""
    batches = []

    def record_batch(batch: Sequence[ParserSentence]) -> list[str]:
        batches.append([list(sentence.words) for sentence in batch])
        return [""] * len(batch)

    for _ in replace(parser, parse_batch=record_batch, counts=SentenceCounts()).parse_sentences(
        read_sentences(tokens_path)
    ):
        pass
    return batches


def read_sentences(tokens_path: Path) -> Iterator[ParserSentence]:
    """The sentences of a text."""
    return (build_parser_sentence_of_tokens(tuple(split_tokens(line))) for line in read_lines(tokens_path))


def parse_with_stanza(pipeline: stanza.Pipeline, batches: list[list[list[str]]]) -> None:
    """Parse as Stanza does by itself, and forget."""
    depparse.chuliu_edmonds_one_root = chuliu_edmonds_one_root
    try:
        for batch in batches:
            pipeline(batch)
    finally:
        patch_maximum_tree_search()


def parse_to_file(parser: BatchParser[str], tokens_path: Path, trees_path: Path) -> None:
    """Parse as the stage does."""
    with open_atomic_text_file(trees_path) as file, without_garbage_collection():
        file.writelines(restore_input_order(parser.parse_sentences(read_sentences(tokens_path))))


def time_parsing(parse_corpus: Callable[[], None], sentence_count: int) -> dict[str, float]:
    """Time it: what passed, and what the CPU spent."""
    start = time.perf_counter(), time.process_time()
    parse_corpus()
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    return {"seconds": seconds, "cpu": cpu, "sentences": sentence_count}


if __name__ == "__main__":
    run_command(compare_parsing_speed)
