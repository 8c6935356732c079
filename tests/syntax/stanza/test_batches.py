"""Tests of parsing in batches: order, fallbacks and memory."""

import random
import weakref
from collections.abc import Iterator, Sequence

import pytest

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import restore_input_order
from pipeline_py.syntax.stanza import text_parser
from pipeline_py.syntax.stanza.text_parser import BatchParser
from pipeline_py.syntax.words.parser_words import ParserSentence, build_parser_sentence_of_tokens


def build_parser(parse: object, counts: SentenceCounts, batch_size: int = 7) -> BatchParser[str]:
    return BatchParser(
        parse,  # type: ignore[arg-type]
        lambda sentence, reason: f"{' '.join(sentence.tokens)} [{reason}]",
        "",
        batch_size,
        10,
        counts,
    )


def test_trees_are_in_input_order_and_batches_have_similar_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_parser, "WINDOW_SENTENCES", 500)
    rng = random.Random(1)
    sentences = [build_parser_sentence_of_tokens(tuple(str(n) for _ in range(rng.randrange(11)))) for n in range(600)]
    lengths = []

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        lengths.append([len(sentence.words) for sentence in batch])
        return [" ".join(sentence.words) for sentence in batch]

    counts = SentenceCounts()
    trees = list(restore_input_order(build_parser(parse, counts).parse_sentences(sentences)))
    assert trees == [" ".join(sentence.words) for sentence in sentences]
    assert max(max(batch) - min(batch) for batch in lengths) <= 2
    assert counts.kept_count == len(sentences)
    assert counts.noted_by_reason == {"empty line": sum(not sentence.words for sentence in sentences)}
    parsed_lengths = [length for batch in lengths for length in batch]
    word_counts = [len(sentence.words) for sentence in sentences]
    windows = sorted(word_counts[:500], reverse=True) + sorted(word_counts[500:], reverse=True)
    assert parsed_lengths == [*filter(None, windows)]


def test_only_the_failing_sentence_gets_the_fallback() -> None:
    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        if any("bad" in sentence.words for sentence in batch):
            raise RuntimeError("no legal\ntransition")
        return [" ".join(sentence.words) for sentence in batch]

    sentences = [build_parser_sentence_of_tokens(("a", str(n))) for n in range(20)]
    sentences[13] = build_parser_sentence_of_tokens(("bad", "13"))
    sentences[3] = build_parser_sentence_of_tokens(("x",) * 11)
    sentences[4] = build_parser_sentence_of_tokens(("y" * 1001,))
    counts = SentenceCounts()
    trees = list(restore_input_order(build_parser(parse, counts).parse_sentences(sentences)))
    reason = "RuntimeError: no legal transition"
    assert trees[13] == f"bad 13 [{reason}]"
    assert [tree for place, tree in enumerate(trees) if place not in (3, 4, 13)] == [
        f"a {n}" for n in range(20) if n not in (3, 4, 13)
    ]
    assert counts.kept_count == 20
    assert counts.noted_by_reason == {
        f"parsed by fallback: {reason}": 1,
        "parsed by fallback: more than 10 words": 1,
        "parsed by fallback: a word of more than 1000 characters": 1,
    }


def test_only_one_window_of_an_endless_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_parser, "WINDOW_SENTENCES", 30)
    read_count = 0

    def sentences() -> Iterator[ParserSentence]:
        nonlocal read_count
        while True:
            read_count += 1
            yield build_parser_sentence_of_tokens(("a",) * (1 + read_count % 5))

    trees = restore_input_order(
        build_parser(lambda batch: [" ".join(sentence.words) for sentence in batch], SentenceCounts()).parse_sentences(
            sentences()
        )
    )
    for place in range(100):
        assert next(trees) == " ".join("a" * (1 + (place + 1) % 5))
        assert read_count == 30 * (place // 30 + 1)


def test_memory_of_a_failed_batch_is_freed_before_its_halves_are_parsed() -> None:
    class Tensor:
        pass

    failed: list[weakref.ref[Tensor]] = []
    alive = []

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        alive.append(sum(reference() is not None for reference in failed))
        tensor = Tensor()
        failed.append(weakref.ref(tensor))
        if len(batch) > 2:
            raise MemoryError("out of memory")
        return ["t"] * len(batch)

    counts = SentenceCounts()
    assert (
        list(
            restore_input_order(
                build_parser(parse, counts, 8).parse_sentences([build_parser_sentence_of_tokens(("a",))] * 8)
            )
        )
        == ["t"] * 8
    )
    assert alive == [0] * 7
    assert counts.noted_by_reason == {}


def test_gpu_error_ends_the_run() -> None:
    class AcceleratorError(RuntimeError):
        pass

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        raise AcceleratorError("CUDA error: device-side assert triggered")

    with pytest.raises(AcceleratorError):
        list(build_parser(parse, SentenceCounts()).parse_sentences([build_parser_sentence_of_tokens(("a",))] * 8))


def test_accelerator_error_exists_in_torch() -> None:
    import torch

    assert issubclass(torch.AcceleratorError, Exception)
    assert not issubclass(torch.cuda.OutOfMemoryError, torch.AcceleratorError)


@pytest.mark.parametrize("places", [[], [0], [2, 1, 0], [1, 0, 3, 2], [0, 3, 2, 1]])
def test_restore_input_order_sorts_by_place(places: list[int]) -> None:
    assert list(restore_input_order((place, str(place)) for place in places)) == [
        str(place) for place in sorted(places)
    ]
