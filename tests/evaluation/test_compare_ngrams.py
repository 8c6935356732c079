"""N-grams against going through every position of every sentence, and against an example by hand."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.evaluation.compare_ngrams import NGRAM_COLUMNS, NgramMatches, compare_ngrams, rank_ngrams
from pipeline_py.run.errors import InputError
from tests.text_files import read_lines, read_table, write_lines

WORDS = ["der", "Mann", "die", '"Frau"', "sieht", "und", "alte", ",", "."]
SENTENCES = 30
Row = dict[str, str]


class Texts:
    """Two references, a baseline, another system, and one that says what the baseline does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(6)
        self.references = [[self.sentence(state) for _ in range(SENTENCES)] for _ in range(2)]
        base, mine = ([self.noisy(state, line) for line in self.references[0]] for _ in range(2))
        self.outputs = {"Base (n=2)": base, "Mine": mine, "Same": base}

    @staticmethod
    def sentence(state: random.Random) -> str:
        return " ".join(state.choice(WORDS) for _ in range(state.randint(1, 9)))

    @staticmethod
    def noisy(state: random.Random, line: str) -> str:
        words = [word if state.random() < 0.7 else state.choice(WORDS) for word in line.split()]
        return " ".join(word.upper() for word in words for _ in range(state.choice([0, 1, 1, 1, 2])))

    def rows(self, references: int = 1, **options: object) -> list[Row]:
        compare_ngrams(
            outputs={name: write_lines(self.folder / name, lines) for name, lines in self.outputs.items()},
            references=[
                write_lines(self.folder / f"reference{place}", self.references[place]) for place in range(references)
            ],
            output=self.folder / "out.tsv",
            **options,  # type: ignore[arg-type]
        )
        assert tuple(read_lines(self.folder / "out.tsv")[0].split("\t")) == NGRAM_COLUMNS
        return read_table(self.folder / "out.tsv")

    def times(self, ngram: str, line: str) -> int:
        """At how many positions of a line the words stand."""
        words, wanted = line.lower().replace('"', ' " ').split(), ngram.split()
        return sum(words[start : start + len(wanted)] == wanted for start in range(len(words)))

    def expected(self, ngram: str, system: str | None, references: int) -> int:
        """Return the matches of an n-gram by a system, or the possible ones for None."""
        total = 0
        for place in range(SENTENCES):
            most = max(self.times(ngram, lines[place]) for lines in self.references[:references])
            total += most if system is None else min(most, self.times(ngram, self.outputs[system][place]))
        return total

    def possible(self, references: int, longest: int) -> set[str]:
        """All n-grams of the references."""
        ngrams = set()
        for lines in self.references[:references]:
            for line in lines:
                words = line.lower().replace('"', ' " ').split()
                ngrams |= {
                    " ".join(words[start:end])
                    for start in range(len(words))
                    for end in range(start + 1, min(start + longest, len(words)) + 1)
                }
        return ngrams


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


@pytest.mark.parametrize(("references", "longest"), [(1, 4), (2, 4), (1, 2)])
def test_agrees_with_counting_positions(texts: Texts, references: int, longest: int) -> None:
    rows = texts.rows(references, max_per_direction=10**6, longest=longest)
    assert {(row["system"], row["other"]) for row in rows} == {("Mine", "Base (n=2)"), ("Base (n=2)", "Mine")}
    ngrams_by_system: dict[str, set[str]] = {"Mine": set(), "Base (n=2)": set()}
    for row in rows:
        system_count, other_count = (
            texts.expected(row["ngram"], row[name], references) for name in ("system", "other")
        )
        assert (int(row["matches_system"]), int(row["matches_other"])) == (
            system_count,
            other_count,
        ) and system_count > other_count
        assert int(row["references"]) == texts.expected(row["ngram"], None, references) >= system_count
        assert float(row["share"]) == pytest.approx((system_count + 1) / (system_count + other_count + 2))
        ngrams_by_system[row["system"]].add(row["ngram"])
    for ngram in texts.possible(references, longest):
        mine, base = (texts.expected(ngram, name, references) for name in ("Mine", "Base (n=2)"))
        assert (ngram in ngrams_by_system["Mine"]) == (mine > base) and (ngram in ngrams_by_system["Base (n=2)"]) == (
            base > mine
        )
    assert len(ngrams_by_system["Mine"]) > 5 and len(ngrams_by_system["Base (n=2)"]) > 5


def test_an_example_by_hand(texts: Texts) -> None:
    """`a a` is in the reference once, and `b` three times: 3 of 3 + 1 and 2 of 2 + 1 are 4/6 and 3/5."""
    texts.references = [["a a c", "b b", "b c"]]
    texts.outputs = {"Base": ["a b", "b", "c"], "Mine": ["a a a", "b b b", "b"]}
    ngrams = [(row["system"], row["ngram"], float(row["share"])) for row in texts.rows(longest=2)]
    assert ngrams == [
        ("Mine", "b", pytest.approx(4 / 6)),
        ("Mine", "a a", pytest.approx(2 / 3)),
        ("Mine", "b b", pytest.approx(2 / 3)),
        ("Mine", "a", pytest.approx(3 / 5)),
        ("Base", "c", pytest.approx(2 / 3)),
    ]
    (bigram, *_) = texts.rows(shortest=2, longest=2, max_per_direction=1)
    assert bigram == {
        **{"system": "Mine", "other": "Base", "ngram": "a a", "matches_system": "1", "matches_other": "0"},
        **{"references": "1", "share": "0.6666666666666666"},
    }


def test_only_so_many_in_either_direction(texts: Texts) -> None:
    every, few = texts.rows(max_per_direction=10**6), texts.rows(max_per_direction=3)
    by_system = [[row for row in every if row["system"] == name][:3] for name in ("Mine", "Base (n=2)")]
    assert few == [*by_system[0], *by_system[1]]


@given(
    st.dictionaries(
        st.lists(st.sampled_from("abä"), min_size=1, max_size=3).map(tuple),
        st.tuples(st.integers(0, 6), st.integers(0, 6)),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_is_that_of_exact_shares_and_always_the_same(counts, state) -> None:
    given_order = [
        NgramMatches(words, system_count, other_count, system_count + other_count)
        for words, (system_count, other_count) in counts.items()
    ]
    ranked = rank_ngrams(iter(given_order))
    assert {ngram.words for ngram in ranked} == {
        words for words, (system_count, other_count) in counts.items() if system_count > other_count
    }
    shares = [Fraction(ngram.system_matches + 1, ngram.system_matches + ngram.other_matches + 2) for ngram in ranked]
    assert shares == sorted(shares, reverse=True)
    for (ngram, share), (next_ngram, next_share) in zip(
        zip(ranked, shares, strict=True), zip(ranked[1:], shares[1:], strict=True), strict=False
    ):
        if share == next_share:
            assert ngram.system_matches - ngram.other_matches >= next_ngram.system_matches - next_ngram.other_matches
            if ngram.system_matches == next_ngram.system_matches:
                assert (-len(ngram.words), ngram.words) < (-len(next_ngram.words), next_ngram.words), (
                    "longer ones first"
                )
    state.shuffle(given_order)
    assert rank_ngrams(iter(given_order)) == ranked


def test_case_counts_if_it_is_to(texts: Texts) -> None:
    texts.outputs = {"Base": [""] * SENTENCES, "Mine": [line.upper() for line in texts.references[0]]}
    letters = {character for row in texts.rows(lowercase=False, max_per_direction=100) for character in row["ngram"]}
    assert letters <= {*'",. '} and {row["other"] for row in texts.rows()} == {"Base"}


def test_single_system_has_no_ngrams(texts: Texts) -> None:
    texts.outputs = {"Base": texts.references[0]}
    assert texts.rows() == []


def test_invalid_input_is_reported(texts: Texts) -> None:
    with pytest.raises(InputError, match=r"shortest \(3\) is more than longest \(2\); give n-grams of one length"):
        texts.rows(shortest=3, longest=2)
    texts.references[0][4] = " "
    with pytest.raises(InputError, match="reference0, line 5: the reference is empty"):
        texts.rows()
