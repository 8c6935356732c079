"""Claim files: claims of papers against published scores, and errors in user files."""

import csv
import re
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from pipeline_py.config.claims import ClaimConfig, ClaimFileConfig, PublishedResultConfig, read_claim_file
from pipeline_py.run.errors import InputError

WORKFLOW = Path(__file__).parents[2] / "workflow"
CONFIG = yaml.safe_load((WORKFLOW.parent / "config.yaml").read_text(encoding="utf-8"))
PAPERS = sorted((WORKFLOW / "claims").glob("*.yaml"))
SETS = {
    "newstest2016": ["newstest2016"],
    "mean of NIST03 to 06 and 08": ["AVG"],
    "mean of newstest2013 to 2015": ["AVG"],
    "mean of MT03 to 06 and 08": ["AVG"],
    "development set": ["Development"],
    "parsed sentences of the development set": ["Development, parsed"],
    "test set": ["Test"],
    "mean of MT04 to 06": ["MT04", "MT05", "MT06"],
    "MT08, the development set": ["MT08"],
}
ENCODERS = {"": "", "reversed": " w/ reverse inputs", "bidirectional": " w/ bi-directional encoder"}
OTHER_NAMES = {
    "sdatt": {"SDRNMT-1": "Chen et al. (2017)", "SDRNMT-2": "+Chen et al. (2017)"},
    "sdrnmt": {"GlobalAtt": "AttNMT"},
    "tree2seq": {
        "Tree2Seq": "Tree-to-Sequence NMT (softmax)",
        "Tree2Seq-length-model": "Proposed beam search (beam size 20)",
        **{f"Tree2Seq-beam{beam}": f"Standard beam search (beam size {beam})" for beam in (10, 15, 20)},
        **{
            f"{system}-K{ours}": f"{printed} (K = {theirs})"
            for ours, theirs in ((50, "500"), (200, "2,000"))
            for system, printed in (
                ("Tree2Seq", "Tree-to-Sequence NMT"),
                *(
                    (f"Seq2Seq{name and '-'}{name}", f"Sequence-to-Sequence NMT{text}")
                    for name, text in ENCODERS.items()
                ),
            )
        },
        **{
            f"Seq2Seq{name and '-'}{name}": f"Sequence-to-Sequence NMT (softmax){text}"
            for name, text in ENCODERS.items()
        },
        "Tree2Seq-ensemble": "Ensemble of the above three models",
        "Tree2Seq-96": "Tree-to-Sequence NMT model (d = 512)",
        "Seq2Seq-96": "Sequence-to-Sequence NMT model (d = 512) reimplementation of Luong, Pham, and Manning (2015)",
        "Tree2Seq-160": "Tree-to-Sequence NMT model (d = 1,024)",
        "PBSMT": "Baseline: Phrase-based SMT model",
        "Tree2Seq-embeddings": "without sequential LSTM units",
        "Seq2Seq-capacity": "Sequence-to-Sequence NMT",
        "Seq2Seq-reversed-capacity": "Sequence-to-Sequence NMT w/ reverse inputs",
        "Dep2Seq": "Dependency-to-Sequence NMT reimplementation of Hashimoto and Tsuruoka (2017)",
    },
    "pascal": {
        "Transformer-base": "Transformer",
        "Transformer-labels": "+ S&H",
        "Transformer-parsing-task": "+ Multi-Task",
        "Transformer-LISA": "+ LISA",
        "Transformer-PASCAL": "+ PASCAL",
    },
    "hierarchical": {
        "Sequential": "sequential encoder",
        "Sequential-BPE": "sequential encoder + sequential rare word encoding",
        "Sequential-lexical": "sequential encoder + tree-based rare word encoding",
        "Tree-based": "tree-based encoder",
        "Tree-based-bidirectional": "tree-based encoder + bidirectional leaf-node encoding",
        "Tree-based-top-down": "tree-based encoder + top-down encoding",
        "Tree-based-BPE": "tree-based encoder + tree-based rare word encoding",
        "Hierarchical": "hierarchical encoder (β = 0.5)",
        "Hierarchical-BPE": "hierarchical encoder (β = 0.5), BPE",
        "Hierarchical-gated": "hierarchical encoder (β = 0.5), BPE + gating scalar",
    },
}
IN_TABLE = {
    ("sdatt", "1", "en-de"): {"FlexAtt": "FlexibleAtt"},
    ("tree2seq", "3", "zh-ja"): {"Tree2Seq": "Tree-to-Sequence (softmax)"},
    ("tree2seq", "6"): {"Tree2Seq": "with sequential LSTM units"},
    ("tree2seq", "7"): {"Tree2Seq": "Tree-to-Sequence NMT"},
    ("tree2seq", "8"): {"Tree2Seq-K200": "Proposed: Tree-to-Sequence NMT"},
    ("tree2seq", "9"): {"Tree2Seq": "Tree-to-Sequence NMT model (d = 768)"},
    ("hierarchical", "4"): {
        "Hierarchical-words": "β = 0.0",
        "Hierarchical-phrases": "β = 1.0",
        "Hierarchical-BPE": "β = 0.5",
        "Hierarchical-gated": "GS",
    },
}
"""Names of rows in some tables and on some tasks that differ from those in the paper's other tables."""


def read_published_scores(paper: str) -> dict[tuple[str, ...], float]:
    """Return scores by table, task, system, metric and set."""
    with (WORKFLOW / "published" / f"{paper}.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        keys = ("table", "task", "system", "metric", "set")
        return {tuple(row[key] for key in keys): float(row["value"]) for row in rows}


@pytest.mark.parametrize("file", PAPERS, ids=lambda file: file.stem)
def test_differences_of_claims_equal_published_scores(file):
    """A claim across Tables 1 and 2 compares scores of both."""
    printed_scores = read_published_scores(file.stem)
    checked = 0
    for claim in read_claim_file(file).claims:
        for printed in claim.printed:
            tables = re.search(r"[Tt]ables? (?:of )?(\d|results)(?: and (\d))?", printed.where)
            assert tables is not None

            def score(system: str, table: str, printed: PublishedResultConfig = printed) -> float:
                names = OTHER_NAMES[file.stem]
                for place in ((file.stem, table), (file.stem, table, printed.task)):
                    names = {**names, **IN_TABLE.get(place, {})}
                key = (table, printed.task, names.get(system, system), printed.metric.upper())
                return fmean(printed_scores[*key, split] for split in SETS[printed.sets])

            first, last = tables[1], tables[2] or tables[1]
            difference = score(claim.system, last) - score(claim.above, first)
            assert printed.difference == pytest.approx(difference, abs=0.0051), (claim.system, claim.above, printed)
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize("file", PAPERS, ids=lambda file: file.stem)
def test_claims_of_papers_name_default_systems(file):
    for claim in read_claim_file(file).claims:
        assert {claim.system, claim.above} <= {*CONFIG["systems"]}
        assert claim.printed or claim.sentences, "a paper prints it, but for what figures alone show"


def test_every_paper_with_published_numbers_has_claims():
    assert [file.stem for file in PAPERS] == sorted(file.stem for file in (WORKFLOW / "published").glob("*.tsv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper: x\n", "claims: field required; correct it"),
        ("paper: x\nclaims: []\n", "claims: list should have at least 1 item"),
        ("paper: x\nclaims: [{system: A, above: A, says: y}]\n", r"claims\[1\]: `A` is compared with itself"),
        ("paper: x\nclaims: [{system: A, above: B}]\n", r"claims\[1\].says: field required"),
        (
            "paper: x\nclaims: [{system: A, above: B, says: y, metrics: [blue]}]\n",
            r"claims\[1\].metrics\[1\]: input should",
        ),
        (
            "paper: x\nclaims: [{system: A, above: B, says: y}, {system: A, above: B, says: z}]\n",
            "claims: `A` above `B` occurs twice; join the two",
        ),
        (
            "paper: x\nclaims:\n- system: A\n  above: B\n  says: y\n  printed:\n"
            "  - {task: en-de, sets: t, metric: ribes, difference: 1, where: T}\n",
            r"claims\[1\]: printed: by ribes, which `metrics` does not name; add it there",
        ),
        *(
            (f"paper: x\nclaims: [{{system: A, above: B, says: y, {options}}}]\n", rf"claims\[1\]{message}")
            for options, message in (
                ("margin: 1", ": give `margin` for the relations `not worse` and `comparable`, and only for these"),
                ("relation: comparable", ": give `margin` for the relations"),
                ("relation: not worse", ": give `margin` for the relations"),
                ("relation: comparable, margin: 0", ".margin: input should be greater than 0"),
                ("relation: worse", ".relation: input should be 'better', 'not worse' or 'comparable'"),
                ("sentences: {}", ".sentences: give `longer_than` or `up_to`, or leave `sentences` out"),
                ("sentences: {longer_than: 9, up_to: 9}", ".sentences: `longer_than` must be smaller than `up_to`"),
            )
        ),
        ("paper: x\npaper: y\n", "`paper` is in line 1 already"),
    ],
)
def test_error_is_one_sentence_that_names_the_file(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=f"mine.yaml.*: {message}"):
        read_claim_file(path)


def test_user_claim_needs_no_published_numbers(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("paper: me\nclaims: [{system: A, above: B, says: y}]\n")
    assert read_claim_file(path) == ClaimFileConfig(paper="me", claims=[ClaimConfig(system="A", above="B", says="y")])


def test_pair_may_have_claims_of_different_relations_and_lengths(tmp_path):
    path = tmp_path / "mine.yaml"
    options = (
        *("", "relation: comparable, margin: 1", "relation: not worse, margin: 1"),
        *("sentences: {up_to: 9}", "sentences: {longer_than: 9}", "sentences: {longer_than: 9, up_to: 20}"),
    )
    path.write_text(
        "paper: me\nclaims:\n"
        + "".join(f"- {{system: A, above: B, says: y, {claim_options}}}\n" for claim_options in options)
    )
    assert [str(claim.sentences or claim.relation) for claim in read_claim_file(path).claims] == [
        *("better", "comparable", "not worse", "sentences of at most 9 words", "sentences of more than 9 words"),
        "sentences of more than 9 words and at most 20 words",
    ]
    path.write_text(path.read_text() + "- {system: A, above: B, says: z, sentences: {up_to: 9}}\n")
    with pytest.raises(InputError, match="claims: `A` above `B` occurs twice; join the two"):
        read_claim_file(path)
