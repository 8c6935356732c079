"""The stage `generate`: formats, guarantees and errors, read back by other tools than those that wrote them."""

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
from embedded_grammar.nouns import NOUNS
from embedded_grammar.pair_generation import compute_core_position
from embedded_grammar.senses import SENSES
from pipeline_py.corpus.generate import LengthDistribution, Phenomenon, generate
from pipeline_py.run.errors import InputError

NAMES = ("source", "target", "conllu", "ptb", "counts")


def run(directory: Path, **options: Any) -> dict[str, list[str]]:
    paths = {name: directory / f"corpus.{name}" for name in NAMES}
    generate(**{f"{name}_output": path for name, path in paths.items()}, **options)
    return {name: path.read_text(encoding="utf-8").splitlines() for name, path in paths.items()}


def dependency_trees(directory: Path) -> list[conllu.TokenList]:
    return conllu.parse((directory / "corpus.conllu").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    directory = tmp_path_factory.mktemp("generated")
    return directory, run(directory, sentences=2000, seed=7, lengths=LengthDistribution.uniform)


def test_text_is_tokenized_distinct_and_aligned(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    _, files = corpus
    assert len(files["source"]) == len(files["target"]) == len(files["ptb"]) == 2000
    assert len(set(files["source"])) == 2000
    for line in files["source"] + files["target"]:
        assert line == " ".join(line.split())
        assert line.endswith(" .") and (line[0].isupper() or line[0].isdigit())
        assert "  " not in line and ", ," not in line and ", ." not in line


def test_dependency_trees_are_trees_over_the_text(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    directory, files = corpus
    trees = dependency_trees(directory)
    assert [" ".join(token["form"] for token in tree) for tree in trees] == files["source"]
    for tree in trees:
        assert [token["id"] for token in tree] == list(range(1, len(tree) + 1))
        assert [token["deprel"] for token in tree if token["head"] == 0] == ["root"]
        for token in tree:
            steps = 0
            while token["head"]:
                token, steps = tree[token["head"] - 1], steps + 1
                assert steps <= len(tree), "a cycle"


def test_relations_are_those_of_universal_dependencies(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    known = {"root", "nsubj", "obj", "iobj", "obl", "obl:tmod", "nmod", "nmod:poss", "nummod", "case", "det", "amod"}
    known |= {"advmod", "advcl", "acl:relcl", "ccomp", "xcomp", "mark", "aux", "cop", "conj", "cc", "punct"}
    known |= {"compound:prt"}
    found = {token["deprel"] for tree in dependency_trees(corpus[0]) for token in tree}
    assert found == known
    functional = {"case", "det", "mark", "aux", "cop", "cc", "punct", "nummod", "compound:prt"}
    for tree in dependency_trees(corpus[0]):
        governors = {token["head"] for token in tree}
        assert not [token for token in tree if token["deprel"] in functional and token["id"] in governors]


def test_constituency_trees_cover_the_same_tokens_and_tags(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    directory, files = corpus
    for line, text, dependencies in zip(files["ptb"], files["source"], dependency_trees(directory), strict=True):
        tree = Tree.fromstring(line)
        assert " ".join(tree.leaves()) == text
        assert tree.label() == "ROOT" and [child.label() for child in tree] == ["S"]
        assert [tag for _, tag in tree.pos()] == [token["xpos"] for token in dependencies]
        labels = {subtree.label() for subtree in tree.subtrees(lambda t: t.height() > 2)}
        assert labels <= {"ROOT", "S", "NP", "VP", "PP", "SBAR", "WHNP", "WHADVP", "PRT", "ADVP", "ADJP"}


def test_base_constituents_are_dependency_subtrees(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    """Every PP and SBAR has one word whose governor lies outside: the two trees tell the same story."""
    directory, files = corpus
    for line, dependencies in zip(files["ptb"][:500], dependency_trees(directory)[:500], strict=True):
        tree = Tree.fromstring(line)
        for index, leaf in enumerate(tree.treepositions("leaves")):
            tree[leaf] = index + 1
        for subtree in tree.subtrees(lambda t: t.label() in ("NP", "SBAR", "VP")):
            inside = set(subtree.leaves())
            # A preposition left behind by its relative pronoun hangs outside its VP; an extraposed clause likewise.
            outside = [
                token
                for token in dependencies
                if token["id"] in inside
                and token["head"] not in inside
                and token["deprel"] not in ("case", "acl:relcl")
            ]
            assert len(outside) <= 1, (line, outside)


def test_numbers_times_and_dates_are_modest_rare_and_translated_as_they_are(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=3000)
    in_digits = re.compile(r"[0-9]+|[0-9]{1,2}:[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
    counts: Counter[str] = Counter()
    with_one = 0
    for english, german in zip(files["source"], files["target"], strict=True):
        found, translated = (
            sorted(word for word in side.split() if re.search("[0-9]", word)) for side in (english, german)
        )
        assert found == translated and all(map(in_digits.fullmatch, found))
        counts.update(found)
        with_one += bool(found)
    assert 0.10 < with_one / 3000 < 0.16
    assert sum(":" in form for form in counts) > 50 and sum("-" in form for form in counts) > 50
    assert sum(form.isdigit() for form in counts) > 50
    assert sum(count < 5 for count in counts.values()) > 0.9 * len(counts)


def test_trees_of_numbers_times_and_dates(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    """A number belongs to a plural noun right of it in its NP, a time or a date is the NP of a PP of its clause."""
    directory, files = corpus
    seen: Counter[str] = Counter()
    for line, tree in zip(files["ptb"], dependency_trees(directory), strict=True):
        for token in tree:
            if not token["form"][0].isdigit():
                continue
            assert (token["upos"], token["xpos"], token["lemma"]) == ("NUM", "CD", token["form"])
            assert token["feats"] == {"NumType": "Card"}
            governor = tree[token["head"] - 1]
            seen[token["deprel"]] += 1
            if token["form"].isdigit():
                assert int(token["form"]) >= 2 and token["deprel"] == "nummod"
                assert governor["xpos"] == "NNS" and governor["id"] > token["id"]
                assert f"(NP (CD {token['form']}) " in line
            else:
                preposition = "at" if ":" in token["form"] else "on"
                assert token["deprel"] == "obl" and governor["upos"] in ("VERB", "AUX", "ADJ", "NOUN", "PRON", "PROPN")
                before = tree[token["id"] - 2]
                assert (before["form"].lower(), before["deprel"], before["head"]) == (preposition, "case", token["id"])
                assert f"(PP (IN {before['form']}) (NP (CD {token['form']})))" in line
    assert seen["nummod"] > 100 and seen["obl"] > 200


def test_uniform_lengths_fill_every_group_of_the_papers(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    lengths = [len(line.split()) for line in corpus[1]["source"]]
    assert min(lengths) >= 3 and max(lengths) == 45
    for start in range(0, 40, 10):
        assert sum(start < length <= start + 10 for length in lengths) > 200
    assert sum(length > 40 for length in lengths) > 150


def test_natural_lengths_keep_to_the_limits(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=600, min_length=6, max_length=12)
    assert {len(line.split()) for line in files["source"]} == set(range(6, 13))


def test_same_seed_same_bytes_in_another_process(tmp_path: Path) -> None:
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
    one, other = (run(tmp_path / str(seed), sentences=300, seed=seed)["source"] for seed in (1, 2))
    assert len(set(one) & set(other)) < 60


def gold_core(tree: conllu.TokenList) -> str:
    """The lexical core of a sentence, read off its gold tree."""
    root = next(token for token in tree if token["head"] == 0)
    below = {token["deprel"]: token["lemma"] for token in reversed(tree) if token["head"] == root["id"]}
    verb, obj = ("be", "-") if "cop" in below else (root["lemma"], below.get("obj", "-"))
    return f"{below['nsubj']} {verb} {obj}"


def test_disjoint_shares_have_no_sentence_in_common(tmp_path: Path) -> None:
    """Short sentences, where the space is dense: independent splits would overlap in hundreds of them."""
    shares = {}
    for start, end in ((0.0, 0.4), (0.4, 0.8), (0.8, 1.0)):
        directory = tmp_path / str(start)
        files = run(directory, sentences=1000, max_length=7, share_from=start, share_to=end, seed=1)
        shares[start] = set(files["source"])
        for tree in dependency_trees(directory):
            assert start <= compute_core_position(gold_core(tree)) < end
    assert not shares[0.0] & shares[0.4] and not shares[0.4] & shares[0.8] and not shares[0.0] & shares[0.8]


def test_a_sentence_has_one_core_and_one_translation(tmp_path: Path) -> None:
    """The share is decided by the core: a sentence derived in two ways must not lie in two shares."""
    seen: dict[str, tuple[str, str]] = {}
    repeated = 0
    for seed in range(4):
        files = run(tmp_path / str(seed), sentences=1200, max_length=8, seed=seed)
        trees = dependency_trees(tmp_path / str(seed))
        for english, german, tree in zip(files["source"], files["target"], trees, strict=True):
            repeated += english in seen
            assert seen.setdefault(english, (gold_core(tree), german)) == (gold_core(tree), german)
    assert repeated > 50


def test_a_small_share_is_cheap(tmp_path: Path) -> None:
    files = run(tmp_path, sentences=100, share_from=0.5, share_to=0.51, min_length=10)
    counts = json.loads("\n".join(files["counts"]))
    assert counts["in"] < 300  # sentences built; a hundred times as many would be needed if all were built first


@pytest.mark.parametrize("focus", [focus for focus in Phenomenon if focus is not Phenomenon.any])
def test_focus_is_in_every_sentence(tmp_path: Path, focus: Phenomenon) -> None:
    files = run(tmp_path, sentences=150, focus=focus)
    for tree, german in zip(dependency_trees(tmp_path), files["target"], strict=True):
        assert SHOWS[focus.value](tree), tree.metadata["text"] + german


def _particle(tree: conllu.TokenList) -> bool:
    return any(t["deprel"] == "compound:prt" and t["id"] > t["head"] + 1 for t in tree)


def _attachment(tree: conllu.TokenList) -> bool:
    """A prepositional phrase behind an object, on the object or on the object's verb."""
    for obj in (token for token in tree if token["deprel"] == "obj"):
        later = [t for t in tree if t["id"] > obj["id"] and t["head"] in (obj["id"], obj["head"])]
        if any(t["deprel"] in ("nmod", "obl") for t in later):
            return True
    return False


def _agreement(tree: conllu.TokenList) -> bool:
    """A noun of another number than the subject's between the subject and its verb."""
    for subject in (token for token in tree if token["deprel"] == "nsubj" and token["head"] > token["id"]):
        between = [t for t in tree if subject["id"] < t["id"] < subject["head"] and (t["feats"] or {}).get("Number")]
        numbers = {t["feats"]["Number"] for t in between if t["upos"] in ("NOUN", "PROPN", "PRON")}
        if numbers and subject["feats"] and numbers != {subject["feats"].get("Number")}:
            return True
    return False


SHOWS = {
    "particle_verb": _particle,
    "relative_clause": lambda tree: any(token["deprel"] == "acl:relcl" for token in tree),
    "attachment": _attachment,
    "agreement": _agreement,
    "ambiguous": lambda tree: any(token["form"] in ("that", "with") for token in tree),
    "verb_final": lambda tree: any(token["deprel"] in ("advcl", "ccomp") for token in tree),
}


def test_a_share_of_sentences_is_ambiguous(tmp_path: Path) -> None:
    """In trees, formats and distinctness they are as all others."""
    files = run(tmp_path, sentences=500, ambiguous=0.4, max_length=20, seed=8)
    counts = json.loads("\n".join(files["counts"]))
    assert 160 < counts["noted"]["ambiguous"] < 240 and len(set(files["source"])) == 500
    trees = dependency_trees(tmp_path)
    assert [" ".join(token["form"] for token in tree) for tree in trees] == files["source"]
    assert [" ".join(Tree.fromstring(line).leaves()) for line in files["ptb"]] == files["source"]


def test_counts_accounts_for_every_drawing(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    counts = json.loads("\n".join(corpus[1]["counts"]))
    assert counts["kept"] == 2000
    assert counts["in"] == counts["kept"] + sum(counts["dropped"].values())
    ordinary = [focus for focus in Phenomenon if focus not in (Phenomenon.any, Phenomenon.ambiguous)]
    assert all(counts["noted"][focus.value] > 50 for focus in ordinary) and "ambiguous" not in counts["noted"]


def test_some_trees_are_not_projective(corpus: tuple[Path, dict[str, list[str]]]) -> None:
    crossing = 0
    for tree in dependency_trees(corpus[0]):
        arcs = [sorted((token["id"], token["head"])) for token in tree if token["head"]]
        crossing += any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert 20 < crossing < 400


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sentences": 5, "share_from": 0.5, "share_to": 0.5}, "share_from"),
        ({"sentences": 5, "share_to": 1.5}, "share_to"),
        ({"sentences": 5, "min_length": 2}, "min_length"),
        ({"sentences": 5, "ambiguous": 1.5}, "ambiguous 1.5"),
        ({"sentences": 5, "max_length": 7, "focus": Phenomenon.ambiguous}, "another focus"),
        ({"sentences": 5, "min_length": 9, "max_length": 8}, "min_length"),
        ({"sentences": 5, "max_length": 46}, "max_length"),
        ({"sentences": 9999, "max_length": 3, "share_to": 0.1}, "ask for fewer sentences"),
        ({"sentences": 5, "max_length": 4, "focus": Phenomenon.relative_clause}, "another focus"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_no_file(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_the_compact_lexicon_is_a_part_of_the_whole_one_without_rare_numbers(tmp_path: Path) -> None:
    words = {}
    for lexicon in LexiconSize:
        files = run(tmp_path, sentences=1500, lexicon=lexicon, digits=False)
        lemmas = {token["lemma"] for tree in dependency_trees(tmp_path) for token in tree}
        words[lexicon] = lemmas
        assert not any(character.isdigit() for line in files["source"] + files["target"] for character in line)
    nouns = {noun.english for noun in NOUNS}
    assert 90 < len(words[LexiconSize.compact] & nouns) < 0.7 * len(words[LexiconSize.full] & nouns)
    assert len(words[LexiconSize.compact]) < 0.7 * len(words[LexiconSize.full])
    frequent = {sense.english_verb.base for sense in SENSES[:COMPACT_SENSE_COUNT]}
    rare = {sense.english_verb.base for sense in SENSES} - frequent
    verbs = {token["lemma"] for tree in dependency_trees(tmp_path) for token in tree if token["upos"] == "VERB"}
    assert not verbs & rare and verbs <= frequent
