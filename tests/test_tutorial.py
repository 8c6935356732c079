"""The tutorial's experiment in small: its files, its YAML and its commands, with toy French that has `au` and `du`."""

import random
import re
from itertools import product

import pytest
import yaml

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
SMALL = {
    "parsers": {"sequoia": {name: {"epochs": 6, "hidden": 32} for name in ("tagger", "depparse")}},
    "subword": {"merges": 60},
    "model": {"embedding": 8, "hidden": 8},
    "training": {"epochs": 1},
    "decoding": {"beam": 2},
    "systems": {"PBSMT": {"tuning": {"sentences": 5, "evaluations": 2}}},
}

Sentence = tuple[str, str, str, str]


def french(sentence: Sentence) -> str:
    noun, verb, contraction, place = sentence
    return f"Le {noun} {verb} {contraction} {place}."


def english(sentence: Sentence) -> str:
    noun, verb, contraction, place = sentence
    return f"The {NOUNS[noun]} {VERBS[verb]} {CONTRACTIONS[contraction][1]} the {PLACES[place]}."


def tree(sentence: Sentence) -> str:
    """The sentence in CoNLL-U, with a multi-word token."""
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
        f"{place}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
        for place, (form, tag, head, relation) in enumerate(words, 1)
    ]
    lines.insert(3, f"4-5\t{contraction}" + "\t_" * 8)
    return "\n".join([f"# text = {french(sentence)}", *lines]) + "\n\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    place = ProjectCopy(tmp_path_factory.mktemp("tutorial") / "clone")
    sentences = [*product(NOUNS, VERBS, CONTRACTIONS, PLACES)]
    random.Random(1).shuffle(sentences)
    texts, treebank = place.folder / "data" / "mine", place.folder / "data" / "sequoia"
    texts.mkdir(parents=True)
    treebank.mkdir()
    for split, size in SIZES.items():
        chosen, sentences = sentences[:size], sentences[size:] if split != "train" else sentences[size - 200 :]
        (texts / f"{split}.fr").write_text("".join(f"{french(each)}\n" for each in chosen), encoding="utf-8")
        (texts / f"{split}.en").write_text("".join(f"{english(each)}\n" for each in chosen), encoding="utf-8")
        (treebank / f"{split}.conllu").write_text("".join(map(tree, chosen[:150])), encoding="utf-8")
    page = (ROOT / "docs" / "tutorials" / "own_pair.md").read_text(encoding="utf-8")
    (own,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (place.folder / "mine.yaml").write_text(own, encoding="utf-8")
    (place.folder / "small.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")
    return place


@pytest.mark.slow
def test_the_tutorial_goes_from_text_and_treebank_to_the_page(place: ProjectCopy) -> None:
    options = ["--configfile", "mine.yaml", "small.yaml", "--cores", "2"]
    measured = run_snakemake(["results/mine/syntax/sequoia/accuracy.tsv", *options], place.folder)
    assert measured.returncode == 0, measured.stderr
    made = run_snakemake(options, place.folder)
    assert made.returncode == 0, made.stderr
    results = place.folder / "results" / "mine"
    assert (results / "report.html").stat().st_size > 10_000
    assert "SDAtt has not learned to translate" in (results / "table1.md").read_text(encoding="utf-8")

    trees = (results / "syntax" / "sequoia" / "test.conllu").read_text(encoding="utf-8").split("\n\n")
    rows = [[line.split("\t") for line in each.splitlines() if line[:1].isdigit()] for each in trees if each.strip()]
    contractions = [row for sentence in rows for row in sentence if row[1] in CONTRACTIONS]
    assert len(contractions) == SIZES["test"], "each token is one node, with the contraction in one piece"
    assert sum(row[3] == "ADP" for row in contractions) > 0.9 * len(contractions)
