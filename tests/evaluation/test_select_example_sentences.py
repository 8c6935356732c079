"""Examples against ranking all sentences by sacrebleu's chrF."""

import random
from pathlib import Path

import pytest
from sacrebleu import sentence_chrf

from pipeline_py.evaluation.select_example_sentences import EXAMPLE_COLUMNS, select_example_sentences
from pipeline_py.run.errors import InputError
from tests.evaluation.statistics_files import write_output_statistics
from tests.text_files import read_lines, read_table, write_lines

WORDS = ["The", "cat", '"sat"', "on", "a", "mat", "in", "Garden", ",", "of", "my", "old", "friend", "."]
SENTENCES = 40


class Texts:
    """A baseline, one system that is equal to it here and there, and one that is equal everywhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(5)
        self.source = [f'"source {number:02}' for number in range(1, SENTENCES + 1)]
        self.references = [[self.sentence(state) for _ in self.source] for _ in range(2)]
        base = [self.noisy(state, line) for line in self.references[0]]
        again = [self.noisy(state, line) for line in self.references[0]]
        mine = [state.choice(lines) for lines in zip(base, again, strict=True)]
        self.outputs = {"Base (n=2)": base, "Mine": mine, "Same": base}

    @staticmethod
    def sentence(state: random.Random) -> str:
        return " ".join(state.choice(WORDS) for _ in range(state.randint(3, 12)))

    @staticmethod
    def noisy(state: random.Random, line: str) -> str:
        return " ".join(word if state.random() < 0.7 else state.choice(WORDS) for word in line.split())

    def arguments(self, lowercase: bool = True) -> dict[str, object]:
        return {
            "statistics": write_output_statistics(self.folder, self.outputs, self.references, [], lowercase=lowercase),
            "outputs": {name: self.folder / name for name in self.outputs},
            "references": [self.folder / f"reference{place}" for place in range(len(self.references))],
            "source": write_lines(self.folder / "source", self.source),
        }

    def rows(self, lowercase: bool = True, **options: object) -> list[dict[str, str]]:
        select_example_sentences(**self.arguments(lowercase), output=self.folder / "out.tsv", **options)  # type: ignore[arg-type]
        assert tuple(read_lines(self.folder / "out.tsv")[0].split("\t")) == EXAMPLE_COLUMNS
        return read_table(self.folder / "out.tsv")

    def score(self, name: str, place: int) -> float:
        references = [lines[place].lower() for lines in self.references]
        return sentence_chrf(self.outputs[name][place].lower(), references).score


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


@pytest.mark.parametrize("most", [1, 4, 100])
def test_the_most_different_sentences_in_either_direction(texts: Texts, most: int) -> None:
    rows = texts.rows(max_per_direction=most)
    assert {(row["system"], row["other"]) for row in rows} == {("Mine", "Base (n=2)")}, "equal outputs are no example"
    differences = {place: texts.score("Mine", place) - texts.score("Base (n=2)", place) for place in range(SENTENCES)}
    better = sorted((place for place in differences if differences[place] > 0), key=lambda at: -differences[at])[:most]
    worse = sorted((place for place in differences if differences[place] < 0), key=lambda at: differences[at])[:most]
    assert [int(row["sentence"]) - 1 for row in rows] == [*better, *reversed(worse)]
    assert better and worse and any(difference == 0 for difference in differences.values())
    for row in rows:
        place = int(row["sentence"]) - 1
        assert row["source"] == texts.source[place] and row["reference"] == texts.references[0][place]
        assert row["translation_system"] == texts.outputs["Mine"][place]
        assert row["translation_other"] == texts.outputs["Base (n=2)"][place]
        assert float(row["score_system"]) == pytest.approx(texts.score("Mine", place))
        assert float(row["score_other"]) == pytest.approx(texts.score("Base (n=2)", place))


def test_of_equal_differences_the_earlier_sentence_comes_first(texts: Texts) -> None:
    texts.references = [["a b c"] * SENTENCES]
    texts.outputs = {"Base": ["a b"] * SENTENCES, "Better": ["a b c"] * SENTENCES, "Worse": ["a"] * SENTENCES}
    rows = texts.rows(max_per_direction=3)
    assert [(row["system"], row["sentence"]) for row in rows] == [
        (system, str(number)) for system in ("Better", "Worse") for number in (1, 2, 3)
    ]


def test_examples_are_neither_short_nor_long(texts: Texts) -> None:
    """The two middle quarters of eight lengths, which are mixed up."""
    texts.source = ["x" * (1 + place * 3 % 8) for place in range(SENTENCES)]
    lengths = {len(row["source"]) for row in texts.rows(max_per_direction=SENTENCES)}
    assert lengths and lengths <= {3, 4, 5, 6}


def test_case_counts_if_it_is_to(texts: Texts) -> None:
    texts.outputs = {"Base": texts.references[0], "Mine": [line.upper() for line in texts.references[0]]}
    assert texts.rows() == []
    assert len(texts.rows(lowercase=False)) == 5


def test_cell_separators_become_spaces(texts: Texts) -> None:
    texts.source = [f"{line}\ta\rb\u2028c" for line in texts.source]
    for row in texts.rows():
        assert row["source"] == f'"source {int(row["sentence"]):02} a b\u2028c'


def test_single_system_has_no_examples(texts: Texts) -> None:
    texts.outputs = {"Base": texts.references[0]}
    assert texts.rows() == []


def test_invalid_input_is_reported(texts: Texts) -> None:
    texts.source.pop()
    with pytest.raises(InputError, match=r"/source: the file has 39 lines and .* has more"):
        texts.rows()
