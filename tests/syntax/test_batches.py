"""Nothing a parser does loses a sentence or its place."""

import random
from collections.abc import Sequence

from pipeline_py.artifact import Ledger
from pipeline_py.syntax.batches import WINDOW, BatchParser, Words


def parser_of(parse: object, ledger: Ledger, batch_size: int = 7) -> BatchParser[str]:
    return BatchParser(
        parse,  # type: ignore[arg-type]
        lambda words, reason: f"{' '.join(words)} [{reason}]",
        "",
        batch_size,
        10,
        ledger,
    )


def test_order_is_kept_and_batches_are_of_similar_length() -> None:
    rng = random.Random(1)
    sentences = [tuple(str(n) for _ in range(rng.randrange(11))) for n in range(WINDOW + 100)]
    spreads = []

    def parse(batch: Sequence[Words]) -> list[str]:
        spreads.append(max(map(len, batch)) - min(map(len, batch)))
        return [" ".join(words) for words in batch]

    ledger = Ledger()
    assert list(parser_of(parse, ledger).trees(sentences)) == [" ".join(words) for words in sentences]
    assert max(spreads) <= 2
    assert ledger.kept == len(sentences)
    assert ledger.noted == {"empty line": sum(not words for words in sentences)}


def test_only_the_sentence_at_fault_gets_the_fallback() -> None:
    def parse(batch: Sequence[Words]) -> list[str]:
        if any("bad" in words for words in batch):
            raise RuntimeError("no legal\ntransition")
        return [" ".join(words) for words in batch]

    sentences: list[Words] = [("a", str(n)) for n in range(20)]
    sentences[13] = ("bad", "13")
    sentences[3] = ("x",) * 11
    sentences[4] = ("y" * 1001,)
    ledger = Ledger()
    trees = list(parser_of(parse, ledger).trees(sentences))
    reason = "RuntimeError: no legal transition"
    assert trees[13] == f"bad 13 [{reason}]"
    assert [tree for place, tree in enumerate(trees) if place not in (3, 4, 13)] == [
        f"a {n}" for n in range(20) if n not in (3, 4, 13)
    ]
    assert ledger.kept == 20
    assert ledger.noted == {
        f"parsed by fallback: {reason}": 1,
        "parsed by fallback: more than 10 words": 1,
        "parsed by fallback: a word of more than 1000 characters": 1,
    }


def test_streams() -> None:
    """The first trees come before the last sentences are read."""
    taken = 0

    def sentences() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield ("a",)

    parser = parser_of(lambda batch: ["t"] * len(batch), Ledger())
    assert next(parser.trees(sentences())) == "t"  # type: ignore[arg-type]
    assert taken == WINDOW
