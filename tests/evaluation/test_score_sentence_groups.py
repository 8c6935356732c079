"""Groups of one set's sentences against sacrebleu on lines that were selected by looking at the trees one by one."""

import math
import random
from pathlib import Path
from typing import Any

import conllu
import numpy as np
import pytest
from nltk import Tree
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.ter import TER

from pipeline_py.evaluation.compare_systems import compare_systems
from pipeline_py.evaluation.measure_source_properties import measure_source_properties
from pipeline_py.evaluation.score_sentence_groups import score_sentence_groups, split_into_groups
from pipeline_py.run.errors import InputError
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import group_by_system
from tests.text_files import read_table, write_lines

WORDS = ["The", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "old", "friend", "."]
RUNS = {"Base": 3, "Other": 1}
SENTENCES = 60


def heads_of(state: random.Random, words: int) -> list[int]:
    """A tree that now and then is deep: each word hangs on a neighbour or any word before it, the first is the root."""
    return [0, *(state.choice([word, state.randint(1, word)]) for word in range(1, words))]


def block(words: list[str], heads: list[int], failed: bool) -> str:
    rows = [
        f"{n}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_"
        for n, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    text = "# text = x" if words else "# text ="
    return "\n".join([text, *(["# parse = failed: too long"] if failed else []), *rows]) + "\n\n"


def brackets(state: random.Random, words: list[str]) -> str:
    if len(words) == 1:
        return f"(N {words[0]})"
    cut = state.randint(1, len(words) - 1)
    return f"(S {brackets(state, words[:cut])} {brackets(state, words[cut:])})"


class Texts:
    """A set with one empty sentence, one of one word, and some without a parse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(11)
        lengths = [0, 1, *(state.randint(2, 14) for _ in range(SENTENCES - 2))]
        self.source = [[state.choice(WORDS) for _ in range(length)] for length in lengths]
        self.failed = [state.random() < 0.2 and length > 1 for length in lengths]
        self.reference = [" ".join(state.choice(WORDS) for _ in range(length + 2)) for length in lengths]
        self.outputs = {
            (system, run): [self.noisy(state, line) for line in self.reference]
            for system, runs in RUNS.items()
            for run in range(1, runs + 1)
        }
        self.write(
            "conllu",
            "".join(
                block(words, heads_of(state, len(words)) if words else [], failed)
                for words, failed in zip(self.source, self.failed, strict=True)
            ),
        )
        trees = [
            ""
            if not words
            else f"(FAILED {' '.join(f'(X {word})' for word in words)})"
            if failed
            else brackets(state, words)
            for words, failed in zip(self.source, self.failed, strict=True)
        ]
        self.write("ptb", "".join(tree + "\n" for tree in trees))
        write_lines(folder / "source", [" ".join(words) for words in self.source])
        outputs = {f"{system}:{run}": lines for (system, run), lines in self.outputs.items()}
        self.statistics = group_by_system(write_output_statistics(folder, outputs, [self.reference]))

    @staticmethod
    def noisy(state: random.Random, line: str) -> str:
        return " ".join(word if state.random() < 0.8 else state.choice(WORDS).lower() for word in line.split())

    def write(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def rows(self, bounds: list[int] | None = None, **trees: Path) -> list[dict[str, str]]:
        properties = self.folder / "source.arrow"
        measure_source_properties(source=self.folder / "source", output=properties, **trees)
        score_sentence_groups(
            statistics={"x": self.statistics},
            properties={"x": properties},
            metrics=["bleu"],
            scores_output=self.folder / "out.tsv",
            sentence_scores_output=self.folder / "sentence_scores.tsv",
            baseline="Other",
            bounds=bounds,
        )
        return read_table(self.folder / "out.tsv")

    def check(self, rows: list[dict[str, str]], values: list[float | None]) -> None:
        """Each group against the sentences whose value is between its ends; None is in none."""
        limits = list(dict.fromkeys((row["low"], row["high"]) for row in rows))
        total = 0
        for low, high in limits:
            above, up_to = float(low or "-inf"), float(high or "inf")
            places = [place for place, value in enumerate(values) if value is not None and above < value <= up_to]
            self.check_group([row for row in rows if (row["low"], row["high"]) == (low, high)], places)
            total += len(places)
        assert total == sum(value is not None for value in values)

    def check_group(self, rows: list[dict[str, str]], places: list[int]) -> None:
        assert [row["system"] for row in rows] == list(RUNS)
        for row in rows:
            scores = [
                BLEU(lowercase=True)
                .corpus_score([lines[at] for at in places], [[self.reference[at] for at in places]])
                .score
                for (system, _), lines in self.outputs.items()
                if system == row["system"]
            ]
            mean = sum(scores) / len(scores)
            assert int(row["sentences"]) == len(places) > 0
            assert float(row["bleu"]) == pytest.approx(mean)
            if len(scores) > 1:
                assert float(row["sd"]) == pytest.approx(math.sqrt(sum((score - mean) ** 2 for score in scores) / 2))
            else:
                assert row["sd"] == ""


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


def edges_to_root(heads: list[int], word: int) -> int:
    return 0 if heads[word - 1] == 0 else 1 + edges_to_root(heads, heads[word - 1])


def test_without_trees_only_length_groups_are_written(texts: Texts) -> None:
    rows = texts.rows(bounds=[4, 10])
    assert [*rows[0]][-5:] == ["system", "bleu", "sd", "bleu_low", "bleu_high"] and {row["by"] for row in rows} == {
        "length"
    }
    assert [row["bucket"] for row in rows] == ["4", "4", "10", "10", ">10", ">10"]
    texts.check(rows, [len(words) for words in texts.source])


def test_a_group_of_all_sentences_has_the_interval_of_the_set(texts: Texts) -> None:
    rows = {row["system"]: row for row in texts.rows(bounds=[99])}
    compare_systems(
        statistics=texts.statistics,
        metrics=["bleu"],
        comparisons_output=texts.folder / "pairs.tsv",
        intervals_output=texts.folder / "intervals.tsv",
    )
    intervals = {row["system"]: row for row in read_table(texts.folder / "intervals.tsv")}
    assert [*rows] == [*intervals] == [*RUNS]
    for name, row in rows.items():
        assert [row[column] for column in ("bleu", "bleu_low", "bleu_high")] == [
            intervals[name][column] for column in ("score", "low", "high")
        ]
        assert float(row["bleu_low"]) < float(row["bleu"]) < float(row["bleu_high"])


def test_properties_of_dependency_trees(texts: Texts) -> None:
    rows = texts.rows(dependencies=texts.folder / "conllu")
    assert list(dict.fromkeys(row["by"] for row in rows)) == ["length", "depth", "dependency_length", "parse"]
    depths: list[float | None] = []
    means: list[float | None] = []
    blocks = iter(conllu.parse((texts.folder / "conllu").read_text(encoding="utf-8")))
    for words, failed in zip(texts.source, texts.failed, strict=True):
        heads = [token["head"] for token in next(blocks)]
        has_tree = bool(words) and not failed
        lengths = [abs(head - word) for word, head in enumerate(heads, start=1) if head]
        depths.append(max(edges_to_root(heads, word) for word in range(1, len(heads) + 1)) if has_tree else None)
        means.append(sum(lengths) / len(lengths) if has_tree and lengths else None)
    texts.check([row for row in rows if row["by"] == "depth"], depths)
    texts.check([row for row in rows if row["by"] == "dependency_length"], means)
    for bucket, wanted in (("parsed", True), ("not parsed", False)):
        places = [place for place, value in enumerate(depths) if (value is not None) == wanted]
        group = [row for row in rows if row["by"] == "parse" and row["bucket"] == bucket]
        assert all(row["low"] == row["high"] == "" for row in group)
        texts.check_group(group, places)
    assert depths.count(None) > 3 and means.count(None) == depths.count(None) + 1
    assert len({row["bucket"] for row in rows if row["by"] == "depth"}) > 4


def test_properties_of_phrase_trees(texts: Texts) -> None:
    rows = texts.rows(phrases=texts.folder / "ptb")
    assert list(dict.fromkeys(row["by"] for row in rows)) == ["length", "phrase_depth", "parse"]
    depths: list[float | None] = []
    for line, failed in zip((texts.folder / "ptb").read_text(encoding="utf-8").splitlines(), texts.failed, strict=True):
        # nltk counts the tag of a word as a node.
        depths.append(Tree.fromstring(line).height() - 2 if line and not failed else None)
    texts.check([row for row in rows if row["by"] == "phrase_depth"], depths)
    texts.check_group(
        [row for row in rows if row["bucket"] == "not parsed"],
        [place for place, value in enumerate(depths) if value is None],
    )


def test_both_kinds_of_trees(texts: Texts) -> None:
    statistics_pair = texts.rows(dependencies=texts.folder / "conllu", phrases=texts.folder / "ptb")
    kinds = ["length", "phrase_depth", "depth", "dependency_length", "parse"]
    assert list(dict.fromkeys(row["by"] for row in statistics_pair)) == kinds


@pytest.mark.parametrize("trees", ["conllu", "ptb"])
def test_trees_of_another_text(texts: Texts, trees: str) -> None:
    option = {"conllu": "dependencies", "ptb": "phrases"}[trees]
    short = "# text = x\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n" if trees == "conllu" else "(N a)\n"
    texts.write(trees, short)
    with pytest.raises(InputError, match=f"/{trees}: the file has 1 sentences and the source has 60; give the files"):
        texts.rows(**{option: texts.folder / trees})


def test_a_source_of_another_text(texts: Texts) -> None:
    write_lines(texts.folder / "source", ["a"] * 59)
    with pytest.raises(InputError, match=r"/source\.arrow: the file has 59 sentences and the outputs have 60"):
        texts.rows()


@pytest.mark.parametrize("bounds", [[3, 2], [3, 3], [0, 1]])
def test_bounds_rise(texts: Texts, bounds: list[int]) -> None:
    with pytest.raises(InputError, match="give numbers that increase, from 1 or more"):
        texts.rows(bounds=bounds)


def test_a_value_on_a_bound_is_below_it_and_what_has_none_is_in_no_group() -> None:
    values = {"depth": np.array([2.5, math.nan, 9.0, 1.5, 1.6]), "parse": np.array([0.0, 1, 1, 0, 1])}
    assert [
        (group.grouping, group.name, group.indices.tolist())
        for group in split_into_groups(values, {"depth": [1.5, 2.5, 4.0]})
    ] == [
        ("depth", "1.5", [3]),
        ("depth", "2.5", [0, 4]),
        ("depth", ">4.0", [2]),
        ("parse", "parsed", [1, 2, 4]),
        ("parse", "not parsed", [0, 3]),
    ]


class Sets:
    """Two sets of lengths that are given."""

    def __init__(self, folder: Path, lengths: dict[str, list[int]]) -> None:
        self.folder = folder
        state = random.Random(7)
        self.statistics: dict[str, dict[str, dict[str, Path]]] = {}
        self.properties: dict[str, Path] = {}
        self.outputs: list[str] = []
        self.reference: list[str] = []
        for name, of_set in lengths.items():
            (folder / name).mkdir()
            source = write_lines(folder / name / "source", [" ".join(["a\u00a0b"] * length) for length in of_set])
            reference = [" ".join(state.choice(WORDS) for _ in range(6)) for _ in of_set]
            output = [Texts.noisy(state, line) for line in reference]
            self.outputs += output
            self.reference += reference
            files = write_output_statistics(folder / name, {"A:1": output}, [reference], ["bleu", "ter"])
            self.statistics[name] = group_by_system(files)
            measure_source_properties(source=source, output=folder / name / "source.arrow")
            self.properties[name] = folder / name / "source.arrow"

    def rows(self, **options: Any) -> list[dict[str, str]]:
        stage_options: dict[str, Any] = {
            "statistics": self.statistics,
            "properties": self.properties,
            "metrics": ["bleu"],
        }
        outputs = {"scores_output": self.folder / "out.tsv", "sentence_scores_output": self.folder / "scores.tsv"}
        score_sentence_groups(**{**stage_options, **options}, **outputs)
        return read_table(self.folder / "out.tsv")


def test_groups_are_of_all_sets_together_and_of_every_metric(tmp_path: Path) -> None:
    lengths = {"x": [3, 10, 11, 45, 80, 81], "y": [20, 2]}
    sets = Sets(tmp_path, lengths)
    rows = sets.rows(metrics=["bleu", "ter"])
    counts = {row["bucket"]: (row["low"], row["high"], row["sentences"]) for row in rows}
    assert counts == {
        "10": ("", "10", "3"),
        "20": ("10", "20", "2"),
        "50": ("40", "50", "1"),
        "80": ("70", "80", "1"),
        ">80": ("80", "", "1"),
    }
    flat = [*lengths["x"], *lengths["y"]]
    group = [place for place, length in enumerate(flat) if length <= 10]
    lines, reference = ([texts[place] for place in group] for texts in (sets.outputs, sets.reference))
    row = rows[0]
    assert float(row["bleu"]) == pytest.approx(BLEU(lowercase=True).corpus_score(lines, [reference]).score)
    assert float(row["ter"]) == pytest.approx(TER().corpus_score(lines, [reference]).score)
    assert float(row["ter_low"]) <= float(row["ter"]) <= float(row["ter_high"]) and row["ter_sd"] == ""


def test_intervals_are_of_sets_that_are_written_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets are drawn from the group's sentences alone."""
    monkeypatch.setattr("pipeline_py.evaluation.significance.resampling.DEFAULT_SAMPLE_COUNT", 40)
    sets = Sets(tmp_path, {"x": [3, 7, 2, 30, 8, 9, 1]})
    (row, _) = sets.rows()
    group = [0, 1, 2, 4, 5, 6]
    samples = np.random.default_rng(12345).choice(6, size=(40, 6), replace=True)
    scores = sorted(
        BLEU(lowercase=True)
        .corpus_score(
            [sets.outputs[group[at]] for at in places], [[sets.reference[group[at]] for at in places]]
        )
        .score
        for places in samples
    )  # fmt: skip
    assert [float(row["bleu_low"]), float(row["bleu_high"])] == pytest.approx([scores[1], scores[-2]])


def test_scores_of_sentences_begin_with_the_baseline(texts: Texts) -> None:
    texts.rows()
    lines = (texts.folder / "sentence_scores.tsv").read_text().splitlines()
    assert [line.split("\t")[4] for line in lines[1:21]] == ["Other"] * 10 + ["Base"] * 10
