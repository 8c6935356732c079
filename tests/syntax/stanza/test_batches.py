"""Nothing a parser does loses a sentence or its place."""

import random
import weakref
from collections.abc import Iterator, Sequence

import pytest

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import restore_input_order
from pipeline_py.syntax.stanza import text_parser
from pipeline_py.syntax.stanza.text_parser import BatchParser
from pipeline_py.syntax.words.parser_words import ParserSentence, build_token_sentence


def parser_of(parse: object, counts: SentenceCounts, batch_size: int = 7) -> BatchParser[str]:
    return BatchParser(
        parse,  # type: ignore[arg-type]
        lambda sentence, reason: f"{' '.join(sentence.tokens)} [{reason}]",
        "",
        batch_size,
        10,
        counts,
    )


def test_order_is_kept_and_batches_are_of_similar_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_parser, "WINDOW_SENTENCES", 500)
    rng = random.Random(1)
    sentences = [build_token_sentence(tuple(str(n) for _ in range(rng.randrange(11)))) for n in range(600)]
    lengths = []

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        lengths.append([len(sentence.words) for sentence in batch])
        return [" ".join(sentence.words) for sentence in batch]

    counts = SentenceCounts()
    trees = list(restore_input_order(parser_of(parse, counts).parse_sentences(sentences)))
    assert trees == [" ".join(sentence.words) for sentence in sentences]
    assert max(max(batch) - min(batch) for batch in lengths) <= 2
    assert counts.kept_count == len(sentences)
    assert counts.noted_by_reason == {"empty line": sum(not sentence.words for sentence in sentences)}
    in_order_of_parsing = [length for batch in lengths for length in batch]
    windows = [[len(one.words) for one in window if one.words] for window in (sentences[:500], sentences[500:])]
    assert in_order_of_parsing == [length for window in windows for length in sorted(window, reverse=True)]


def test_only_the_sentence_at_fault_gets_the_fallback() -> None:
    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        if any("bad" in sentence.words for sentence in batch):
            raise RuntimeError("no legal\ntransition")
        return [" ".join(sentence.words) for sentence in batch]

    sentences = [build_token_sentence(("a", str(n))) for n in range(20)]
    sentences[13] = build_token_sentence(("bad", "13"))
    sentences[3] = build_token_sentence(("x",) * 11)
    sentences[4] = build_token_sentence(("y" * 1001,))
    counts = SentenceCounts()
    trees = list(restore_input_order(parser_of(parse, counts).parse_sentences(sentences)))
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


def test_no_more_than_a_window_of_an_endless_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first trees come before the last sentences are read, and none of an earlier window is held."""
    monkeypatch.setattr(text_parser, "WINDOW_SENTENCES", 30)
    taken = 0

    def sentences() -> Iterator[ParserSentence]:
        nonlocal taken
        while True:
            taken += 1
            yield build_token_sentence(("a",) * (1 + taken % 5))

    trees = restore_input_order(
        parser_of(lambda batch: [" ".join(sentence.words) for sentence in batch], SentenceCounts()).parse_sentences(
            sentences()
        )
    )
    for place in range(100):
        assert next(trees) == " ".join("a" * (1 + (place + 1) % 5))
        assert taken == 30 * (place // 30 + 1)


def test_memory_of_a_failed_batch_is_free_before_its_halves_are_parsed() -> None:
    class Tensor:
        pass

    failed: list[weakref.ref[Tensor]] = []
    alive = []

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        alive.append(sum(tensor() is not None for tensor in failed))
        held = Tensor()
        failed.append(weakref.ref(held))
        if len(batch) > 2:
            raise MemoryError("out of memory")
        return ["t"] * len(batch)

    counts = SentenceCounts()
    assert (
        list(restore_input_order(parser_of(parse, counts, 8).parse_sentences([build_token_sentence(("a",))] * 8)))
        == ["t"] * 8
    )
    assert alive == [0] * 7
    assert counts.noted_by_reason == {}


def test_an_error_of_the_gpu_itself_ends_the_run() -> None:
    """No later sentence could be parsed, so that all would get the fallback."""

    class AcceleratorError(RuntimeError):
        pass

    def parse(batch: Sequence[ParserSentence]) -> list[str]:
        raise AcceleratorError("CUDA error: device-side assert triggered")

    with pytest.raises(AcceleratorError):
        list(parser_of(parse, SentenceCounts()).parse_sentences([build_token_sentence(("a",))] * 8))


def test_the_name_of_that_error_is_torchs() -> None:
    import torch

    assert issubclass(torch.AcceleratorError, Exception)
    assert not issubclass(torch.cuda.OutOfMemoryError, torch.AcceleratorError)


@pytest.mark.parametrize("places", [[], [0], [2, 1, 0], [1, 0, 3, 2], [0, 3, 2, 1]])
def test_in_order(places: list[int]) -> None:
    assert list(restore_input_order((place, str(place)) for place in places)) == [
        str(place) for place in sorted(places)
    ]
