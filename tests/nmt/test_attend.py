"""Attending on request: the weights of a search's own steps, in order, for the sentences asked for."""

import subprocess

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.nmt import attend as module
from pipeline_py.nmt.attend import attend
from pipeline_py.nmt.data import dataset as sources_module
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.saved_model import load_model, save_config, save_weights
from pipeline_py.run.errors import InputError
from pipeline_py.subword.pack_trees import pack_trees
from pipeline_py.subword.vocabulary import EOS, UNK
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.stage_jobs import build_job, get_job_command

SOURCE_SIZE, TARGET_SIZE = 12, 10
SYSTEMS = {
    "words": {"encoders": ["bidirectional_gru"]},
    "trees": {"encoders": ["tree_gru"]},
    "gates": {"encoders": ["tree_gru"], "decoder": {"type": "gru", "phrase_weight": "learned"}},
}


pytestmark = pytest.mark.usefixtures("same_torch_afterwards")


def tree_over(words, random):
    """A random binary tree in brackets."""
    if len(words) == 1:
        return f"(X {words[0]})"
    cut = int(random.integers(1, len(words)))
    return f"(P {tree_over(words[:cut], random)} {tree_over(words[cut:], random)})"


@pytest.fixture(params=SYSTEMS)
def folder(request, tmp_path, monkeypatch):
    """A directory with a model, and 20 sentences with translations, some of them empty; few go into a batch."""
    monkeypatch.setattr(module, "BATCH_SIZE", 3)
    monkeypatch.setattr(sources_module, "BATCHES_PER_WINDOW", 2)
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    system = CompositionConfig.model_validate({**SYSTEMS[request.param], "model": {"embedding": 5, "hidden": 6}})
    model = draw_parameters(Network(system, {"source": SOURCE_SIZE, "target": TARGET_SIZE}), std=1.5)
    save_weights(tmp_path / "model.safetensors", model.state_dict())
    save_config(tmp_path / "config.json", model)
    rows = [random.integers(1, SOURCE_SIZE, size=length) for length in [0, *random.integers(1, 9, size=19)]]
    rows[13] = rows[13][:0]
    rows[5] = rows[5][:1]
    write_ragged_rows(tmp_path / "source.arrow", [np.array([*row, EOS]) for row in rows], "int32")
    trees = [tree_over(list(map(str, row)), random) if len(row) else "" for row in rows]
    trees[7] = "(FAILED " + " ".join(f"(X {word})" for word in rows[7]) + ")"
    (tmp_path / "ptb").write_text("\n".join(trees) + "\n")
    (tmp_path / "pieces").write_text("\n".join(" ".join(map(str, row)) for row in rows) + "\n")
    pack_trees(
        trees=tmp_path / "ptb",
        pieces=tmp_path / "pieces",
        output=tmp_path / "trees.arrow",
        counts_output=tmp_path / "trees.json",
    )
    translations = [
        " ".join(random.choice(PIECES, size=size)) if len(row) else "" for row, size in zip(rows, SIZES, strict=True)
    ]
    (tmp_path / "translation").write_text("\n".join(translations) + "\n", encoding="utf-8")
    words = "".join(f"w{i} {99 - i}\n" for i in range(2, TARGET_SIZE))
    (tmp_path / "vocabulary").write_text("</s> 0\n<unk> 0\n" + words, encoding="utf-8")
    return tmp_path


PIECES = ["<unk>", "</s>", "语", *(f"w{i}" for i in range(2, TARGET_SIZE))]
SIZES = [0, 3, 1, 0, 7, 2, 2, 5, 4, 4, 6, 3, 1, 9, 2, 5, 3, 8, 1, 4]


def arguments(folder, **changes):
    reads_trees = load_model(
        folder / "model.safetensors", folder / "config.json"
    ).composition.required_syntax_names == ["trees"]
    return {
        "model": folder / "model.safetensors",
        "config": folder / "config.json",
        "source": folder / "source.arrow",
        "syntax": {"trees": folder / "trees.arrow"} if reads_trees else {},
        "translation": folder / "translation",
        "target_vocabulary": folder / "vocabulary",
        "device": "cpu",
        "attention_output": folder / "out.attention.arrow",
        "gates_output": folder / "out.gates.arrow",
        **changes,
    }


def attend_files(**options):
    """Load the network and attend, as a job does."""
    networks = {name: options[name] for name in ("model", "config", "target_vocabulary", "device")}
    attend(networks=module.load(**networks, threads=1), **options)


def attended_alone(folder, number):
    """Weights (I, N) and gates of one sentence, step by step as in a search; alone in its batch it has no padding."""
    model = load_model(folder / "model.safetensors", folder / "config.json")
    syntax = {
        kind: [RaggedArrayFile(folder / f"{kind}.arrow")[number]] for kind in model.composition.required_syntax_names
    }
    memory = model.encode(collate_batch([RaggedArrayFile(folder / "source.arrow")[number]], syntax=syntax))
    pieces = (folder / "translation").read_text(encoding="utf-8").split("\n")[number].split()
    identifiers = {f"w{i}": i for i in range(2, TARGET_SIZE)}
    gate = getattr(model.decoder, "gate", None)
    state, previous, rows, gates = model.decoder.build_initial_state(memory), None, [], []
    for identifier in [*(identifiers.get(piece, UNK) for piece in pieces), EOS]:
        if gate is not None:
            # σ(W c + b); the state is [s; c], of 6 numbers each.
            fed = state.states[0, 6:].detach().numpy()
            gates.append(1 / (1 + np.exp(-(gate.weight.detach().numpy()[0] @ fed + gate.bias.item()))))
        _, state, weights = model.decoder.step(previous, state, memory)
        rows.append(weights[0].detach().numpy())
        previous = torch.tensor([identifier])
    return np.array(rows), gates


def test_attention_equals_stepwise_decoding(folder):
    attend_files(**arguments(folder))
    attention, gates = RaggedArrayFile(folder / "out.attention.arrow"), RaggedArrayFile(folder / "out.gates.arrow")
    sources = RaggedArrayFile(folder / "source.arrow")
    reads_trees = bool(arguments(folder)["syntax"])
    assert len(attention) == len(gates) == len(sources) == 20
    for number, size in enumerate(SIZES):
        positions = len(sources[number])
        if positions == 1:
            assert len(attention[number]) == len(gates[number]) == 0
            continue
        phrases = positions - 2 if reads_trees and number != 7 else 0
        weights = attention[number].reshape(size + 1, positions + phrases)
        assert weights.dtype == np.float32
        expected, expected_gates = attended_alone(folder, number)
        np.testing.assert_allclose(weights, expected, atol=1e-5)
        np.testing.assert_allclose(gates[number], expected_gates, atol=1e-5)
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)


def test_unselected_sentences_have_empty_rows(folder):
    attend_files(**arguments(folder))
    attention = RaggedArrayFile(folder / "out.attention.arrow")
    attend_files(**arguments(folder, sentences=[20, 3, 3, 1], attention_output=folder / "some.arrow"))
    some = RaggedArrayFile(folder / "some.arrow")
    assert len(some) == 20
    for number in range(20):
        if number in (2, 19):
            np.testing.assert_allclose(some[number], attention[number], atol=1e-6)
        else:
            assert len(some[number]) == 0


def test_output_is_reproducible(folder):
    attend_files(**arguments(folder))
    first = (folder / "out.attention.arrow").read_bytes()
    attend_files(**arguments(folder))
    assert (folder / "out.attention.arrow").read_bytes() == first


def test_empty_file_has_no_rows(folder):
    for name in ("source", "trees"):
        write_ragged_rows(folder / f"{name}.arrow", [], "int32")
    (folder / "translation").write_text("")
    attend_files(**arguments(folder))
    assert len(RaggedArrayFile(folder / "out.attention.arrow")) == len(RaggedArrayFile(folder / "out.gates.arrow")) == 0


def one_line_less(folder):
    (folder / "translation").write_text("w2\n" * 19)


def other_vocabulary(folder):
    (folder / "vocabulary").write_text("</s> 0\n<unk> 0\na 1\n")


def not_a_number(folder):
    model = load_model(folder / "model.safetensors", folder / "config.json")
    with torch.no_grad():
        model.decoder.embedding.weight[UNK] = torch.nan
    save_weights(folder / "model.safetensors", model.state_dict())


@pytest.mark.parametrize("folder", ["words"], indirect=True)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            one_line_less,
            r"translation: the file has 19 lines and .*source.arrow has 20 sentences; give the translations",
        ),
        (other_vocabulary, r"vocabulary: the vocabulary has 3 tokens and the model in .* predicts 10"),
        (not_a_number, r"model.safetensors: an attention weight of the model is not a number; train the system"),
    ],
)
def test_inconsistent_files_raise_error(folder, spoil, message):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        attend_files(**arguments(folder))
    assert not list(folder.glob("out.*"))


@pytest.mark.parametrize("folder", ["trees"], indirect=True)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"syntax": {}}, "the system reads trees, but the syntax given is none; give one file for each kind"),
        ({"sentences": [21]}, "sentence 21: .*source.arrow has 20 sentences, counted from 1"),
        ({"sentences": [0]}, "sentence 0: "),
        ({"device": "gpu"}, "unknown device 'gpu'; use auto, cpu or cuda"),
    ],
)
def test_invalid_arguments_raise_error(folder, changes, message):
    with pytest.raises(InputError, match=message):
        attend_files(**arguments(folder, **changes))


@pytest.mark.parametrize("folder", ["trees"], indirect=True)
def test_job_writes_selected_sentences(folder):
    job = build_job("nmt.attend", folder, arguments(folder, sentences=[2, 5]), is_cached=False)
    result = subprocess.run(get_job_command(job), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert np.flatnonzero(RaggedArrayFile(folder / "out.attention.arrow").row_lengths).tolist() == [1, 4]
