"""The settings of the papers are quoted exactly, hold in the merged experiments, and leave out no key."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.paper_settings_reference import PAPERS, PaperSetting, PaperSettings, format_value, load, read_paper
from tests.project_copy import ROOT, merge_configs

TEXTS = ROOT.parent / "shared" / "papers"
LISTED_SECTIONS = ("parser", "subword", "subwords", "model", "training", "decoding", "evaluation")
LISTED_CORPUS_KEYS = ("source", "target", "limits")

MARKUP_PATTERNS = {
    r"\\\$": "$",
    r"\\frac\{(\w+)\}\{(\w+)\}": r"\1/\2",
    r"\\beta\b": "β",
    r"\\sigma\b": "σ",
    r"\\times\b": "×",
    r"\\in\b": "∈",
    r"\\([{}])": r"\1",
    r"\\[a-z]+~?|[$*~]": "",
    r"\s+": " ",
    r"(?<=\() | (?=\))": "",
}
"""Markup in the texts of the papers → characters of a quotation."""

NUMBER_WORDS = {"four": 4, "halve": 0.5}


@pytest.fixture(scope="module", params=PAPERS, ids=lambda path: path.stem)
def paper_path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def paper(paper_path: Path) -> PaperSettings:
    return read_paper(paper_path)


def strip_markup(text: str) -> str:
    for pattern, replacement in MARKUP_PATTERNS.items():
        text = re.sub(pattern, replacement, text)
    return text


def test_our_values_are_those_of_the_merged_experiments(paper: PaperSettings) -> None:
    assert [*paper.find_mismatches()] == []


def test_a_wrong_value_is_found_in_the_experiment_and_its_systems(paper: PaperSettings) -> None:
    setting = PaperSetting(setting="embedding", stated="x", key="model.embedding", value=7)
    mismatches = [*paper.model_copy(update={"settings": [setting]}).find_mismatches()]
    assert any(": model.embedding is" in sentence for sentence in mismatches)
    assert any(re.search(r": systems\.\S+\.model\.embedding is \d+, not 7", sentence) for sentence in mismatches)


def test_what_a_paper_states_is_quoted_from_it(paper: PaperSettings, paper_path: Path) -> None:
    text_path = TEXTS / f"{paper_path.stem}.txt"
    if not text_path.is_file():
        pytest.skip(f"the text of the paper is not at {text_path}")
    text = strip_markup(text_path.read_text(encoding="utf-8"))
    for setting in paper.settings:
        parts = map(re.escape, strip_markup(setting.stated or "").split(" … "))
        assert re.search(".{0,1000}?".join(parts), text), setting.stated


def find_numbers(text: str) -> set[float]:
    """Return the numbers of a text, with `50K` as 50,000, and words of numbers."""
    digits = re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)([kK]?)", text)
    numbers = {float(number.replace(",", "")) * (1000 if unit else 1) for number, unit in digits}
    return numbers | {number for word, number in NUMBER_WORDS.items() if re.search(rf"\b{word}\b", text)}


def test_values_as_stated_are_the_words_of_the_paper_or_explained(paper: PaperSettings) -> None:
    """A number must be in the quotation; a name must be too, unless a note says why it follows."""
    unexplained = []
    for setting in paper.settings:
        if setting.status != "as stated" or setting.key is None or setting.note:
            continue
        for value in paper.get_values(setting).values():
            for item in value if isinstance(value, list) else [value]:
                is_number = isinstance(item, int | float)
                words = strip_markup(str(setting.stated)).casefold()
                if not (item in find_numbers(words) if is_number else str(item).casefold() in words):
                    unexplained.append((setting.setting, format_value(item), setting.stated))
    assert unexplained == []


def list_leaf_keys(content: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every value in nested mappings; a list is a value."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from list_leaf_keys(value, f"{path}.{key}".removeprefix("."))
    else:
        yield path


def test_every_setting_of_an_experiment_file_has_a_row(paper: PaperSettings) -> None:
    for task, files in paper.experiments.items():
        preset = load(files).preset
        config: dict[str, Any] = {}
        for name in files.files:
            path = ROOT / "workflow" / "experiments" / f"{name}.yaml"
            config = merge_configs(config, yaml.safe_load(path.read_text(encoding="utf-8")))
        config = merge_configs(config, config["presets"][preset] if preset else {})
        content = {
            **{key: value for key, value in config.items() if key in LISTED_SECTIONS},
            "corpora": {key: config["corpora"][key] for key in LISTED_CORPUS_KEYS},
        }
        keys = {setting.key for setting in paper.settings if task in paper.get_values(setting)}
        languages = {f"corpora.{side}.language" for side in ("source", "target")}
        assert {*list_leaf_keys(content)} - keys - languages == set(), task
        system_keys = {key for key in keys if key and key.startswith("systems.")}
        systems = [name for name in config.get("systems", {}) if name in load(files).requested_networks]
        assert [name for name in systems if not any(key.startswith(f"systems.{name}.") for key in system_keys)] == [], (
            task
        )
