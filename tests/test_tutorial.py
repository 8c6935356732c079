"""A small run of the tutorial's experiment and targets, with toy French that has `au` and `du`."""

import random
from itertools import product

import pytest
import yaml

from pipeline_py.commands.init_experiment import init_experiment
from tests.project_copy import ROOT, ProjectCopy, run_snakemake

NOUNS = {"chat": "cat", "chien": "dog", "garçon": "boy", "roi": "king", "voisin": "neighbour", "médecin": "doctor"}
PLACES = {
    "jardin": "garden",
    "marché": "market",
    "port": "harbour",
    "bureau": "office",
    "pont": "bridge",
    "parc": "park",
}
VERBS = {"va": "goes", "vient": "comes", "arrive": "arrives", "court": "runs", "marche": "walks"}
CONTRACTIONS = {"au": ("à", "to"), "du": ("de", "from")}
SIZES = {"train": 400, "dev": 30, "test": 110}
SMALL_CONFIG = {
    "parsers": {"main": {name: {"epochs": 6, "hidden": 32} for name in ("tagger", "depparse")}},
    "subword": {"merges": 60},
    "model": {"embedding": 8, "hidden": 8},
    "training": {"epochs": 1},
    "decoding": {"beam": 2},
    "systems": {"PBSMT": {"tuning": {"sentences": 5, "evaluations": 2}}},
}

Sentence = tuple[str, str, str, str]


def render_french(sentence: Sentence) -> str:
    noun, verb, contraction, place = sentence
    return f"Le {noun} {verb} {contraction} {place}."


def render_english(sentence: Sentence) -> str:
    noun, verb, contraction, place = sentence
    return f"The {NOUNS[noun]} {VERBS[verb]} {CONTRACTIONS[contraction][1]} the {PLACES[place]}."


def render_tree(sentence: Sentence) -> str:
    """Render the tree of a sentence in CoNLL-U, with a multi-word token."""
    noun, verb, contraction, place = sentence
    words = [
        ("Le", "DET", 2, "det"),
        (noun, "NOUN", 3, "nsubj"),
        (verb, "VERB", 0, "root"),
        (CONTRACTIONS[contraction][0], "ADP", 6, "case"),
        ("le", "DET", 6, "det"),
        (place, "NOUN", 3, "obl"),
        (".", "PUNCT", 3, "punct"),
    ]
    lines = [
        f"{position}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
        for position, (form, tag, head, relation) in enumerate(words, 1)
    ]
    lines.insert(3, f"4-5\t{contraction}" + "\t_" * 8)
    return "\n".join([f"# text = {render_french(sentence)}", *lines]) + "\n\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    project = ProjectCopy(tmp_path_factory.mktemp("tutorial") / "clone")
    sentences = [*product(NOUNS, VERBS, CONTRACTIONS, PLACES)]
    random.Random(1).shuffle(sentences)
    page = (ROOT / "docs" / "tutorials" / "own_pair.md").read_text(encoding="utf-8")
    assert "arbitree init mine --source fr --target en --recipe pairs_2000\n" in page
    init_experiment(directory=project.folder / "mine", source="fr", target="en", recipe="pairs_2000")
    texts, treebank = project.folder / "mine" / "data", project.folder / "mine" / "data" / "treebank"
    treebank.mkdir(parents=True)
    for split, size in SIZES.items():
        selected, sentences = sentences[:size], sentences[size:] if split != "train" else sentences[size - 200 :]
        (texts / f"{split}.fr").write_text(
            "".join(f"{render_french(sentence)}\n" for sentence in selected), encoding="utf-8"
        )
        (texts / f"{split}.en").write_text(
            "".join(f"{render_english(sentence)}\n" for sentence in selected), encoding="utf-8"
        )
        (treebank / f"{split}.conllu").write_text("".join(map(render_tree, selected[:150])), encoding="utf-8")
    (project.folder / "small.yaml").write_text(yaml.safe_dump(SMALL_CONFIG), encoding="utf-8")
    return project


@pytest.mark.slow
def test_the_tutorial_goes_from_text_and_treebank_to_the_page(project: ProjectCopy) -> None:
    options = ["--directory", "mine", "--configfile", "mine/experiment.yaml", "small.yaml", "--cores", "2"]
    parsing_result = run_snakemake(["results/syntax/main/accuracy.tsv", *options], project.folder)
    assert parsing_result.returncode == 0, parsing_result.stderr
    result = run_snakemake(options, project.folder)
    assert result.returncode == 0, result.stderr
    results = project.folder / "mine" / "results"
    assert (results / "report.html").stat().st_size > 10_000
    assert "SDAtt has not learned to translate" in (results / "table1.md").read_text(encoding="utf-8")

    trees = (results / "syntax" / "main" / "test.conllu").read_text(encoding="utf-8").split("\n\n")
    rows = [[line.split("\t") for line in tree.splitlines() if line[:1].isdigit()] for tree in trees if tree.strip()]
    contractions = [row for sentence in rows for row in sentence if row[1] in CONTRACTIONS]
    assert len(contractions) == SIZES["test"], "each token is one node, with the contraction in one piece"
    assert sum(row[3] == "ADP" for row in contractions) > 0.9 * len(contractions)
