"""The beam width that is chosen on the development set, against translations with each width."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import GlobalContextConfig, LocalContextConfig
from pipeline_py.config.systems.training import DecodingConfig, ModelConfig
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt import translate as translate_module
from pipeline_py.nmt.choose_beam import choose_beam
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import save_config, save_weights
from pipeline_py.nmt.translate import translate
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.network_assertions import draw_parameters

SIZES = {"source": 12, "target": 10}
WIDTHS = (1, 3, 6)
COUNT = 30
pytestmark = pytest.mark.usefixtures("same_torch_afterwards")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two networks, their vocabulary of pieces, and sentences, one of them empty."""
    random = np.random.default_rng(0)
    for number, context in enumerate((GlobalContextConfig(), LocalContextConfig(window=2))):
        torch.manual_seed(number)
        system = CompositionConfig(contexts=[context], model=ModelConfig(embedding=5, hidden=6))
        network = draw_parameters(TranslationModel(system, SIZES), std=1.0)
        with torch.no_grad():
            network.decoder.softmax.bias[EOS] = 1.0
        save_weights(tmp_path / f"{number}.safetensors", network.state_dict())
        save_config(tmp_path / f"{number}.json", network)
    lengths = [0, *random.integers(1, 9, size=COUNT - 1)]
    rows = [np.array([*random.integers(1, SIZES["source"], size=length), EOS]) for length in lengths]
    write_ragged_rows(tmp_path / "source.arrow", rows, "int32")
    pieces = ["a", "b", "c@@", "d", "e", "f", "g", "h"]
    (tmp_path / "vocabulary").write_text("</s> 0\n<unk> 0\n" + "".join(f"{piece} 9\n" for piece in pieces))
    return tmp_path


def build_arguments(folder: Path, network_count: int, **decoding: Any) -> dict[str, Any]:
    options = {"batch_size": 7, "max_length_ratio": 1, "length_normalization": 1, "precision": "float32", **decoding}
    return {
        "model": [folder / f"{number}.safetensors" for number in range(network_count)],
        "config": [folder / f"{number}.json" for number in range(network_count)],
        "source": [folder / "source.arrow"],
        "syntax": [{}] * network_count,
        "target_vocabulary": folder / "vocabulary",
        "decoding": DecodingConfig.model_validate(options),
        "device": "cpu",
    }


def translate_text(folder: Path, network_count: int, beam_choice: Path | None = None, **decoding: Any) -> list[str]:
    """Return the pieces of the translations of the sentences."""
    arguments = build_arguments(folder, network_count, **decoding)
    loaded = {name: arguments[name] for name in ("model", "config", "target_vocabulary", "device")}
    outputs = {f"{name}_output": folder / name for name in ("pieces", "alignment", "counts")}
    translate(networks=translate_module.load(**loaded), beam_choice=beam_choice, **arguments, **outputs)
    return (folder / "pieces").read_text(encoding="utf-8").removesuffix("\n").split("\n")


def join_pieces(lines: list[str]) -> list[str]:
    """Return the words of lines of pieces; a last piece that goes on ends its word, too."""
    return [line.replace("@@ ", "").removesuffix("@@") for line in lines]


def choose(folder: Path, network_count: int, references: list[list[str]], **decoding: Any) -> dict[str, Any]:
    """Return what `choose_beam` writes for references in pieces."""
    paths = [folder / f"reference{number}" for number in range(len(references))]
    for path, lines in zip(paths, references, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    arguments = build_arguments(folder, network_count, beam=WIDTHS, **decoding)
    choose_beam(**arguments, references=paths, choice_output=folder / "choice.json")
    choice: dict[str, Any] = json.loads((folder / "choice.json").read_text(encoding="utf-8"))
    return choice


@pytest.mark.parametrize("network_count", [1, 2])
@pytest.mark.parametrize("best", WIDTHS)
def test_width_with_highest_bleu_is_chosen_and_translates(folder: Path, best: int, network_count: int) -> None:
    """The references are the translations with one of the widths, in upper case, and others that are worse."""
    pieces = {beam: translate_text(folder, network_count, beam=beam) for beam in WIDTHS}
    notes = json.loads((folder / "counts").read_text())["noted"]
    notes.pop("empty translation")
    assert len({*map(tuple, pieces.values())}) == len(WIDTHS), "widths differ in their translations"
    references = [[line.upper() for line in pieces[best]], ["h g f e d"] * COUNT]
    choice = choose(folder, network_count, references)
    assert choice["beam"] == best
    assert [width["beam"] for width in choice["widths"]] == [*WIDTHS]
    for width in choice["widths"]:
        translations = join_pieces(pieces[width["beam"]])
        scored = [*map(join_pieces, references)]
        bleu = sacrebleu.corpus_bleu(translations, scored, tokenize="none", lowercase=True, force=True)
        assert width["bleu"] == pytest.approx(bleu.score)
    assert choice["widths"][-1]["noted"] == notes
    assert translate_text(folder, network_count, folder / "choice.json", beam=WIDTHS) == pieces[best]


def test_narrowest_of_equally_good_widths_is_chosen(folder: Path) -> None:
    choice = choose(folder, 1, [["x"] * COUNT], retry_beam=9)
    assert choice["beam"] == WIDTHS[0] and {width["bleu"] for width in choice["widths"]} == {0}
    assert choice["widths"][0]["noted"]["searched again with the wider beam"] > 0


def test_missing_choice_or_other_text_raises_error(folder: Path) -> None:
    with pytest.raises(InputError, match=r"lists several widths; give the file of `nmt\.choose_beam`"):
        translate_text(folder, 1, beam=WIDTHS)
    with pytest.raises(InputError, match=rf"reference0: the file has 2 lines and .*source.arrow has {COUNT} sentences"):
        choose(folder, 1, [["x", "y"]])
