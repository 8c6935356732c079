"""Self-contained folders: copied files, hashes, and what model cards say."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_py.report.bundle_system import bundle_system
from pipeline_py.run.job_record import hash_content

SIDE = {"tokenizer": "moses", "case": "keep"}
CONFIG = {
    "corpora": {
        "source": {"language": "fr", **SIDE},
        "target": {"language": "en", **SIDE},
        "train": [{"source": "a|b.fr", "generate": None}, {"source": None, "generate": {"sentences": 9, "seed": 4}}],
        "dev": None,
    },
    "model": {"hidden": 8, "embedding": 4},
    "parsers": {"mine": {"type": "trained"}},
    "systems": {
        "Both": {"type": "ensemble", "members": ["A", "B"]},
        "A": {"type": "neural", "encoders": ["gru"], "parser": "mine", "model": {"hidden": 16}},
        "B": {"type": "neural", "encoders": ["lstm"], "parser": None, "model": {}},
    },
}


def write_json_file(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    return {
        "weights": write_json_file(tmp_path / "weights", 1),
        "vocabulary": write_json_file(tmp_path / "vocabulary", 2),
        "tagger": write_json_file(tmp_path / "tagger", 3),
        "index": write_json_file(tmp_path / "index", 4),
        "bleu": write_json_file(
            tmp_path / "bleu", {"name": "BLEU", "score": 12.346, "sentences": 7, "signature": "nrefs:1|case:lc"}
        ),
        "facts": write_json_file(tmp_path / "facts", {"parameters": 123, "seconds": 61.25, "device": "cpu"}),
        "few_facts": write_json_file(tmp_path / "few_facts", {"parameters": 99, "seconds": None}),
        "parse": write_json_file(tmp_path / "parse", {"versions": {"stanza": "1.0"}}),
        "counts": write_json_file(tmp_path / "counts", {"in": 10, "kept": 8}),
    }


def bundle(files: dict[str, Path], folder: Path, name: str, scores: dict[str, dict[str, Path]]) -> str:
    """Bundle a system of `CONFIG`, and return its model card."""
    bundle_system(
        name=name,
        run="seed1",
        config=CONFIG,
        data_folder="../data",
        run_files={"nmt/A/seed1/model": files["weights"]},
        copied_files={"subword/default/vocabulary": files["vocabulary"]},
        parser_files={"syntax/mine/model/tagger.pt": files["tagger"]},
        user_files={"stanza/index": files["index"]},
        scores=scores,
        training_facts=[files["facts"], files["few_facts"]] if name == "Both" else [files["few_facts"]],
        parse_facts=[files["parse"]],
        training_counts=files["counts"],
        licenses={"weights": None, "training_data": "cc0-1.0", "parser_models": None},
        card_output=folder / "README.md",
        description_output=folder / "system.json",
        files_output=folder / "files",
    )
    return (folder / "README.md").read_text(encoding="utf-8")


def test_files_are_copied_and_hashed(files, tmp_path):
    bundle(files, tmp_path, "Both", {})
    description = json.loads((tmp_path / "system.json").read_text())
    assert (tmp_path / "files/subword/default/vocabulary").read_text() == "2"
    assert not (tmp_path / "files/subword/default/vocabulary").samefile(files["vocabulary"])
    assert (tmp_path / "files/syntax/mine/model/tagger.pt").samefile(files["tagger"])
    assert sorted(path.name for path in (tmp_path / "files").rglob("*") if path.is_file()) == [
        "tagger.pt",
        "vocabulary",
    ]
    assert description["files"] == {
        "nmt/A/seed1/model": hash_content(files["weights"]),
        "subword/default/vocabulary": hash_content(files["vocabulary"]),
        "syntax/mine/model/tagger.pt": hash_content(files["tagger"]),
    }
    assert description["user_files"] == {"stanza/index": hash_content(files["index"])}
    assert (description["system"], description["run"], description["config"]) == ("Both", "seed1", CONFIG)


def test_the_card_describes_all_members(files, tmp_path):
    card = bundle(files, tmp_path, "Both", {"test": {"bleu": files["bleu"]}})
    metadata = yaml.safe_load(card.split("---")[1])
    assert metadata == {
        "language": ["fr", "en"],
        "license": "unknown",
        "tags": ["translation", "arbitree"],
        "metrics": ["bleu"],
    }
    assert "| test set | sentences | BLEU |" in card and "| test | 7 | 12.35 |" in card
    assert "- BLEU: `nrefs:1|case:lc`" in card
    assert r"| training (8 of 10 pairs) | `a\|b.fr`; embedded grammar, 9 sentences, seed 4 |" in card
    assert "|  | A | B |" in card and "| parameters | 123 | 99 |" in card
    assert "| training time in seconds | 61.25 | – |" in card
    recipe = yaml.safe_load(card.split("```yaml")[1].split("```")[0])
    assert recipe["A"]["model"] == {"hidden": 16, "embedding": 4} and recipe["B"]["model"]["hidden"] == 8
    assert "trees of `mine` (`type: trained`)" in card and "| `files/syntax/mine/model/tagger.pt` |" in card
    assert f"| `stanza/index` | `{hash_content(files['index'])}` |" in card.partition("## Files")[2]
    assert "| training data | cc0-1.0 |" in card and "| weights | not stated |" in card


def test_the_card_of_a_system_without_trees_and_scores(files, tmp_path):
    card = bundle(files, tmp_path, "B", {})
    assert "The system reads no trees." in card and "No table has scores of this system on a test set." in card
