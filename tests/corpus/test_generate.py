"""Tests of the stage `generate`: formats, guarantees and errors, with independent readers of the files."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import conllu
import pytest
from nltk import Tree

from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.lexicon_choices import COMPACT_SENSE_COUNT
from embedded_grammar.pair_generation import compute_core_position
from embedded_grammar.senses import SENSES
from pipeline_py.corpus.generate import LengthDistribution, Phenomenon, generate
from pipeline_py.run.errors import InputError

NAMES = ("source", "target", "conllu", "ptb", "counts")
SENTENCES = 1500


def run(directory: Path, **options: Any) -> dict[str, list[str]]:
    paths = {name: directory / f"corpus.{name}" for name in NAMES}
    generate(**{f"{name}_output": path for name, path in paths.items()}, **options)
    return {name: path.read_text(encoding="utf-8").splitlines() for name, path in paths.items()}


def read_trees(directory: Path) -> list[conllu.TokenList]:
    return conllu.parse((directory / "corpus.conllu").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated")


@pytest.fixture(scope="module")
def files(directory: Path) -> dict[str, list[str]]:
    return run(directory, sentences=SENTENCES, seed=7, lengths=LengthDistribution.uniform)


@pytest.fixture(scope="module")
def trees(directory: Path, files: dict[str, list[str]]) -> list[conllu.TokenList]:
    return read_trees(directory)


def test_text_is_tokenized_distinct_and_aligned(files: dict[str, list[str]]) -> None:
    assert len(files["source"]) == len(files["target"]) == len(files["ptb"]) == SENTENCES
    assert len(set(files["source"])) == SENTENCES
    for line in files["source"] + files["target"]:
        assert line == " ".join(line.split())
        assert line.endswith(" .") and (line[0].isupper() or line[0].isdigit())
        assert "  " not in line and ", ," not in line and ", ." not in line


def test_dependency_trees_are_trees_over_the_text(files: dict[str, list[str]], trees: list[conllu.TokenList]) -> None:
    assert [" ".join(token["form"] for token in tree) for tree in trees] == files["source"]
    for tree in trees:
        assert [token["id"] for token in tree] == list(range(1, len(tree) + 1))
        assert [token["deprel"] for token in tree if token["head"] == 0] == ["root"]
        for token in tree:
            steps = 0
            while token["head"]:
                token, steps = tree[token["head"] - 1], steps + 1
                assert steps <= len(tree), "a cycle"


def test_relations_are_those_of_universal_dependencies(trees: list[conllu.TokenList]) -> None:
    relations = {
        "root",
        "nsubj",
        "obj",
        "iobj",
        "obl",
        "obl:tmod",
        "nmod",
        "nmod:poss",
        "nummod",
        "case",
        "det",
        "amod",
    }
    relations |= {"advmod", "advcl", "acl:relcl", "ccomp", "xcomp", "mark", "aux", "cop", "conj", "cc", "punct"}
    relations |= {"compound:prt"}
    assert {token["deprel"] for tree in trees for token in tree} == relations
    functional = {"case", "det", "mark", "aux", "cop", "cc", "punct", "nummod", "compound:prt"}
    for tree in trees:
        governors = {token["head"] for token in tree}
        assert not [token for token in tree if token["deprel"] in functional and token["id"] in governors]


def test_constituency_trees_cover_the_same_tokens_and_tags(
    files: dict[str, list[str]], trees: list[conllu.TokenList]
) -> None:
    for line, text, dependencies in zip(files["ptb"], files["source"], trees, strict=True):
        tree = Tree.fromstring(line)
        assert " ".join(tree.leaves()) == text
        assert tree.label() == "ROOT" and [child.label() for child in tree] == ["S"]
        assert [tag for _, tag in tree.pos()] == [token["xpos"] for token in dependencies]
        labels = {subtree.label() for subtree in tree.subtrees(lambda t: t.height() > 2)}
        assert labels <= {"ROOT", "S", "NP", "VP", "PP", "SBAR", "WHNP", "WHADVP", "PRT", "ADVP", "ADJP"}


def test_at_most_one_word_of_a_constituent_has_its_governor_outside(
    files: dict[str, list[str]], trees: list[conllu.TokenList]
) -> None:
    for line, dependencies in zip(files["ptb"][:500], trees[:500], strict=True):
        tree = Tree.fromstring(line)
        for index, leaf in enumerate(tree.treepositions("leaves")):
            tree[leaf] = index + 1
        for subtree in tree.subtrees(lambda t: t.label() in ("NP", "SBAR", "VP")):
            positions = set(subtree.leaves())
            # Stranded prepositions and extraposed clauses have their governors outside their VP.
            heads = [
                token
                for token in dependencies
                if token["id"] in positions
                and token["head"] not in positions
                and token["deprel"] not in ("case", "acl:relcl")
            ]
            assert len(heads) <= 1, (line, heads)


def test_expressions_in_digits_are_infrequent_mostly_unique_and_copied_to_german(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=2000)
    digit_pattern = re.compile(r"[0-9]+|[0-9]{1,2}:[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
    counts: Counter[str] = Counter()
    sentence_count = 0
    for sides in zip(files["source"], files["target"], strict=True):
        english, german = (sorted(word for word in side.split() if re.search("[0-9]", word)) for side in sides)
        assert english == german and all(map(digit_pattern.fullmatch, english))
        counts.update(english)
        sentence_count += bool(english)
    assert 0.10 < sentence_count / 2000 < 0.16
    assert sum(":" in form for form in counts) > 30 and sum("-" in form for form in counts) > 30
    assert sum(form.isdigit() for form in counts) > 30
    assert sum(count < 5 for count in counts.values()) > 0.9 * len(counts)


def test_a_number_modifies_a_plural_noun_and_a_time_is_a_prepositional_phrase(
    files: dict[str, list[str]], trees: list[conllu.TokenList]
) -> None:
    relation_counts: Counter[str] = Counter()
    for line, tree in zip(files["ptb"], trees, strict=True):
        for token in tree:
            if not token["form"][0].isdigit():
                continue
            assert (token["upos"], token["xpos"], token["lemma"]) == ("NUM", "CD", token["form"])
            assert token["feats"] == {"NumType": "Card"}
            governor = tree[token["head"] - 1]
            relation_counts[token["deprel"]] += 1
            if token["form"].isdigit():
                assert int(token["form"]) >= 2 and token["deprel"] == "nummod"
                assert governor["xpos"] == "NNS" and governor["id"] > token["id"]
                assert f"(NP (CD {token['form']}) " in line
            else:
                preposition = "at" if ":" in token["form"] else "on"
                assert token["deprel"] == "obl" and governor["upos"] in ("VERB", "AUX", "ADJ", "NOUN", "PRON", "PROPN")
                case = tree[token["id"] - 2]
                assert (case["form"].lower(), case["deprel"], case["head"]) == (preposition, "case", token["id"])
                assert f"(PP (IN {case['form']}) (NP (CD {token['form']})))" in line
    assert relation_counts["nummod"] > 75 and relation_counts["obl"] > 150


def test_uniform_lengths_fill_every_length_group(files: dict[str, list[str]]) -> None:
    lengths = [len(line.split()) for line in files["source"]]
    assert min(lengths) >= 3 and max(lengths) == 45
    for start in range(0, 40, 10):
        assert sum(start < length <= start + 10 for length in lengths) > 150
    assert sum(length > 40 for length in lengths) > 110


def test_natural_lengths_fill_the_limits(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=600, min_length=6, max_length=12)
    assert {len(line.split()) for line in files["source"]} == set(range(6, 13))


def test_the_same_seed_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    contents = []
    for hash_seed in ("1", "2"):
        directory = tmp_path / hash_seed
        job = {
            "stage": "corpus.generate",
            "arguments": {"sentences": 200, "seed": 3, **{f"{name}_output": str(directory / name) for name in NAMES}},
            "calls": [{}],
            "results": str(directory),
            "process": "",
        }
        command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True)
        contents.append([(directory / name).read_bytes() for name in NAMES])
    assert contents[0] == contents[1]


def test_another_seed_gives_other_sentences(tmp_path: Path) -> None:
    first, second = (set(run(tmp_path / str(seed), sentences=300, seed=seed)["source"]) for seed in (1, 2))
    assert len(first & second) < 60


def get_gold_core(tree: conllu.TokenList) -> str:
    """Return the lexical core of a sentence according to its gold tree."""
    root = next(token for token in tree if token["head"] == 0)
    dependents = {token["deprel"]: token["lemma"] for token in reversed(tree) if token["head"] == root["id"]}
    verb, object_lemma = ("be", "-") if "cop" in dependents else (root["lemma"], dependents.get("obj", "-"))
    return f"{dependents['nsubj']} {verb} {object_lemma}"


def test_disjoint_shares_have_no_sentence_in_common(tmp_path: Path) -> None:
    """Independent samples of short sentences would share hundreds of sentences."""
    sentences: list[str] = []
    for start, end in ((0.0, 0.4), (0.4, 0.8), (0.8, 1.0)):
        directory = tmp_path / str(start)
        sentences += run(directory, sentences=600, max_length=7, share_from=start, share_to=end)["source"]
        for tree in read_trees(directory):
            assert start <= compute_core_position(get_gold_core(tree)) < end
    assert len({*sentences}) == len(sentences)


def test_a_sentence_has_one_core_and_one_translation(tmp_path: Path) -> None:
    """A sentence with two derivations must not belong to two shares."""
    analyses: dict[str, tuple[str, str]] = {}
    repetition_count = 0
    for seed in range(3):
        files = run(tmp_path / str(seed), sentences=800, max_length=6, seed=seed)
        trees = read_trees(tmp_path / str(seed))
        for english, german, tree in zip(files["source"], files["target"], trees, strict=True):
            repetition_count += english in analyses
            assert analyses.setdefault(english, (get_gold_core(tree), german)) == (get_gold_core(tree), german)
    assert repetition_count > 50


def test_cores_outside_the_share_are_rejected_before_sentences_are_built(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=100, share_from=0.5, share_to=0.51, min_length=10)
    assert json.loads("\n".join(files["counts"]))["in"] < 300


@pytest.mark.parametrize("focus", [focus for focus in Phenomenon if focus is not Phenomenon.any])
def test_every_sentence_contains_the_focus(tmp_path: Path, focus: Phenomenon) -> None:
    files = run(tmp_path, sentences=150, focus=focus)
    for tree, german in zip(read_trees(tmp_path), files["target"], strict=True):
        assert DETECTORS[focus.value](tree), tree.metadata["text"] + german


def has_separated_particle(tree: conllu.TokenList) -> bool:
    return any(t["deprel"] == "compound:prt" and t["id"] > t["head"] + 1 for t in tree)


def has_prepositional_phrase_after_object(tree: conllu.TokenList) -> bool:
    return any(
        token["deprel"] in ("nmod", "obl")
        and token["id"] > object_token["id"]
        and token["head"] in (object_token["id"], object_token["head"])
        for object_token in tree
        if object_token["deprel"] == "obj"
        for token in tree
    )


def has_agreement_attractor(tree: conllu.TokenList) -> bool:
    """Return whether a noun of another number is between a subject and its verb."""
    for subject in (token for token in tree if token["deprel"] == "nsubj" and token["head"] > token["id"]):
        between = [t for t in tree if subject["id"] < t["id"] < subject["head"] and (t["feats"] or {}).get("Number")]
        numbers = {t["feats"]["Number"] for t in between if t["upos"] in ("NOUN", "PROPN", "PRON")}
        if numbers and subject["feats"] and numbers != {subject["feats"].get("Number")}:
            return True
    return False


DETECTORS = {
    "particle_verb": has_separated_particle,
    "relative_clause": lambda tree: any(token["deprel"] == "acl:relcl" for token in tree),
    "attachment": has_prepositional_phrase_after_object,
    "agreement": has_agreement_attractor,
    "ambiguous": lambda tree: any(token["form"] in ("that", "with") for token in tree),
    "verb_final": lambda tree: any(token["deprel"] in ("advcl", "ccomp") for token in tree),
}


def test_a_share_of_sentences_is_ambiguous(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=500, ambiguous=0.4, max_length=20, seed=8)
    counts = json.loads("\n".join(files["counts"]))
    assert 160 < counts["noted"]["ambiguous"] < 240 and len(set(files["source"])) == 500
    trees = read_trees(tmp_path)
    assert [" ".join(token["form"] for token in tree) for tree in trees] == files["source"]
    assert [" ".join(Tree.fromstring(line).leaves()) for line in files["ptb"]] == files["source"]


def test_only_frequent_words_of_texts_are_generated(tmp_path: Path) -> None:
    files = run(tmp_path / "all", sentences=400, max_length=9, digits=False)
    texts = {f"{side}_texts": [tmp_path / "all" / f"corpus.{side}"] for side in ("source", "target")}
    limited = run(tmp_path / "some", sentences=60, seed=2, max_length=9, digits=False, min_count=5, **texts)
    for side in ("source", "target"):
        words = Counter(re.findall(r"\w+", " ".join(files[side]).lower()))
        assert min(words[word] for word in re.findall(r"\w+", " ".join(limited[side]).lower())) >= 5
    counts = json.loads("\n".join(limited["counts"]))
    assert counts["dropped"]["with a rare word"] > 60 and counts["kept"] == 60


def test_counts_include_every_drawn_sentence(files: dict[str, list[str]]) -> None:
    counts = json.loads("\n".join(files["counts"]))
    assert counts["kept"] == SENTENCES
    assert counts["in"] == counts["kept"] + sum(counts["dropped"].values())
    assert set(counts["noted"]) == {*Phenomenon} - {Phenomenon.any, Phenomenon.ambiguous}
    assert min(counts["noted"].values()) > 40


def test_some_trees_are_not_projective(trees: list[conllu.TokenList]) -> None:
    nonprojective_count = 0
    for tree in trees:
        arcs = [sorted((token["id"], token["head"])) for token in tree if token["head"]]
        nonprojective_count += any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert 15 < nonprojective_count < 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": 5, "share_from": 0.5, "share_to": 0.5}, "share_from"),
        ({"sentences": 5, "share_to": 1.5}, "share_to"),
        ({"sentences": 5, "min_length": 2}, "min_length"),
        ({"sentences": 5, "ambiguous": 1.5}, "ambiguous 1.5"),
        ({"sentences": 5, "max_length": 7, "focus": Phenomenon.ambiguous}, "another focus"),
        ({"sentences": 5, "min_length": 9, "max_length": 8}, "min_length"),
        ({"sentences": 5, "max_length": 46}, "max_length"),
        (
            {"sentences": 9999, "max_length": 3, "share_to": 0.1, "lexicon": LexiconSize.compact},
            "ask for fewer sentences",
        ),
        ({"sentences": 5, "max_length": 4, "focus": Phenomenon.relative_clause}, "another focus"),
    ],
)
def test_impossible_options_raise_an_error_and_write_no_file(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_the_compact_lexicon_has_only_frequent_verbs_and_fewer_nouns(tmp_path: Path) -> None:
    lemmas: dict[LexiconSize, dict[str, set[str]]] = {}
    for lexicon in LexiconSize:
        files = run(tmp_path, sentences=1000, lexicon=lexicon, digits=False)
        assert not re.search("[0-9]", " ".join(files["source"] + files["target"]))
        lemmas[lexicon] = {"NOUN": set(), "VERB": set()}
        for tree in read_trees(tmp_path):
            for token in tree:
                lemmas[lexicon].setdefault(token["upos"], set()).add(token["lemma"])
    full, compact = lemmas[LexiconSize.full], lemmas[LexiconSize.compact]
    assert 90 < len(compact["NOUN"]) < 0.7 * len(full["NOUN"])
    assert compact["VERB"] <= {sense.english_verb.base for sense in SENSES[:COMPACT_SENSE_COUNT]}
    assert len(compact["VERB"]) < len(full["VERB"])
