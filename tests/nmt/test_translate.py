"""Translating files: order, alignment of the outputs, counts, and one sentence for bad input."""

import json
import subprocess
from functools import wraps

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import GlobalContextConfig, SyntaxContextConfig
from pipeline_py.config.systems.training import DecodingConfig, ModelConfig
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.nmt import translate as module
from pipeline_py.nmt.data import dataset as sources_module
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.data.dataset import SourceDataset
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.saved_model import load_model, save_config, save_weights
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.translate import translate
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import run_job
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.stage_jobs import assert_restored, build_job, change_content, get_job_command

SOURCE_SIZE, TARGET_SIZE = 12, 10
DECODING = {"beam": 4, "batch_size": 3, "max_length_ratio": 0.5, "n_best": 2}


pytestmark = pytest.mark.usefixtures("same_torch_afterwards")


@pytest.fixture
def folder(tmp_path):
    """A directory with a model that reads distances, and 25 sentences, some of them empty."""
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    system = CompositionConfig(
        contexts=[GlobalContextConfig(), SyntaxContextConfig()], model=ModelConfig(embedding=5, hidden=6)
    )
    model = Network(system, {"source": SOURCE_SIZE, "target": TARGET_SIZE})
    draw_parameters(model, std=1.5)
    with torch.no_grad():
        model.decoder.softmax.bias[EOS] = 3.0  # so that some translations end and some are cut
    save_weights(tmp_path / "model.safetensors", model.state_dict())
    save_config(tmp_path / "config.json", model)
    rows = [np.array([*random.integers(1, SOURCE_SIZE, size=length), EOS]) for length in random.integers(0, 9, size=25)]
    rows[0], rows[13] = np.array([EOS]), np.array([EOS])
    write_ragged_rows(tmp_path / "source.arrow", rows, "int32")
    squares = [random.integers(1, 6, size=(len(row), len(row))) for row in rows]
    for square in squares:
        np.fill_diagonal(square, 0)
    write_ragged_rows(tmp_path / "distances.arrow", [square.ravel().astype(np.uint8) for square in squares], "uint8")
    write_vocabulary(tmp_path / "vocabulary", TARGET_SIZE)
    return tmp_path


def write_vocabulary(path, size):
    path.write_text("</s> 0\n<unk> 0\n" + "".join(f"w{i} {99 - i}\n" for i in range(2, size)), encoding="utf-8")


def arguments(folder, **changes):
    return {
        "model": [folder / "model.safetensors"],
        "config": [folder / "config.json"],
        "source": [folder / "source.arrow"],
        "syntax": [{"distances": folder / "distances.arrow"}],
        "target_vocabulary": folder / "vocabulary",
        "decoding": DecodingConfig.model_validate(DECODING),
        "device": "cpu",
        "pieces_output": folder / "out.pieces",
        "alignment_output": folder / "out.alignment",
        "counts_output": folder / "out.json",
        **changes,
    }


def translate_files(**options):
    """Load the networks and translate, as a job does."""
    networks = {name: options[name] for name in ("model", "config", "target_vocabulary", "device")}
    translate(networks=module.load(**networks, threads=1), **options)


def lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def test_outputs_equal_single_sentence_search(folder, monkeypatch):
    monkeypatch.setattr(sources_module, "BATCHES_PER_WINDOW", 2)
    n_best_output, attention_output = folder / "out.n-best", folder / "out.arrow"
    translate_files(**arguments(folder, n_best_output=n_best_output, attention_output=attention_output))

    model = load_model(folder / "model.safetensors", folder / "config.json")
    sources, distances = RaggedArrayFile(folder / "source.arrow"), RaggedArrayFile(folder / "distances.arrow")
    pieces, alignment, attention = (
        lines(folder / "out.pieces"),
        lines(folder / "out.alignment"),
        RaggedArrayFile(attention_output),
    )
    assert len(pieces) == len(alignment) == len(attention) == len(sources)
    n_best, cut, empty = [], 0, 0
    for number in range(len(sources)):
        if len(sources[number]) == 1:
            assert pieces[number] == alignment[number] == ""
            assert len(attention[number]) == 0
            n_best.append((number, "", 0.0))
            continue
        results = beam_search(
            [model],
            [collate_batch([sources[number]], syntax={"distances": [distances[number]]})],
            beam_size=4,
            max_lengths=torch.tensor([int(0.5 * (len(sources[number]) - 1)) + 10]),
            n_best=2,
            should_return_attention=True,
        )[0]
        best = results[0]
        cut += best.is_cut
        empty += not best.tokens
        assert pieces[number] == " ".join(f"w{token}" if token > 1 else "<unk>" for token in best.tokens)
        assert alignment[number] == " ".join(map(str, best.alignment[: len(best.tokens)]))
        weights = attention[number].reshape(-1, len(sources[number]))
        assert len(weights) == len(best.tokens) + (not best.is_cut)
        np.testing.assert_allclose(weights, best.attention, atol=1e-5)
        assert weights.argmax(axis=1).tolist() == best.alignment
        for hypothesis in results:
            text = " ".join(f"w{token}" if token > 1 else "<unk>" for token in hypothesis.tokens)
            n_best.append((number, text, hypothesis.score))
    for line, (number, text, score) in zip(lines(n_best_output), n_best, strict=True):
        left, middle, right = line.split(" ||| ")
        assert (int(left), middle) == (number, text)
        assert float(right) == pytest.approx(score, abs=1e-4)
    assert len(set(pieces)) > 5
    empty_sources = sum(len(sources[number]) == 1 for number in range(len(sources)))
    noted = {
        "cut at the greatest length": cut,
        "empty source": empty_sources,
        "empty translation": empty + empty_sources,
    }
    assert json.loads((folder / "out.json").read_text()) == {
        "in": 25,
        "kept": 25,
        "dropped": {},
        "noted": {note: count for note, count in noted.items() if count},
    }


def test_output_is_reproducible_and_independent_of_batch_size(folder):
    outputs = []
    for run, batch_size in enumerate([1, 4, 64, 64]):
        files = {name: folder / f"{run}.{name}" for name in ("pieces_output", "alignment_output", "counts_output")}
        translate_files(
            **arguments(folder, decoding=DecodingConfig.model_validate({**DECODING, "batch_size": batch_size}), **files)
        )
        outputs.append([path.read_bytes() for path in files.values()])
    assert outputs[0] == outputs[1] == outputs[2] == outputs[3]


def test_bfloat16_search_is_counted(folder, monkeypatch):
    read = []

    def noting(*arguments, **options):
        read.append(torch.backends.mkldnn.matmul.fp32_precision)
        return beam_search(*arguments, **options)

    monkeypatch.setattr("pipeline_py.nmt.search.dataset_search.beam_search", noting)
    monkeypatch.setattr("pipeline_py.nmt.precision.has_bfloat16_instructions", lambda: True)
    for place in ("precision", "search.ensemble"):
        monkeypatch.setattr(f"pipeline_py.nmt.{place}.detect_bfloat16_mode", lambda: "implicit")
    before = torch.backends.mkldnn.matmul.fp32_precision
    for precision, expected in (("bfloat16", "bf16"), ("float32", before), ("auto", before)):
        translate_files(
            **arguments(folder, decoding=DecodingConfig.model_validate({**DECODING, "precision": precision}))
        )
        noted = json.loads((folder / "out.json").read_text())["noted"]
        searched = 25 - noted["empty source"]
        assert noted.get("searched in bfloat16", 0) == (searched if precision == "bfloat16" else 0)
        assert {*read} == {expected}, "small networks are searched in float32"
        assert torch.backends.mkldnn.matmul.fp32_precision == before
        read.clear()


def test_failed_search_restores_precision(folder, monkeypatch):
    def full(results, *_):
        next(results)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pipeline_py.nmt.translate._write_translations", full)
    monkeypatch.setattr("pipeline_py.nmt.precision.has_bfloat16_instructions", lambda: True)
    for place in ("precision", "search.ensemble"):
        monkeypatch.setattr(f"pipeline_py.nmt.{place}.detect_bfloat16_mode", lambda: "implicit")
    before = torch.backends.mkldnn.matmul.fp32_precision
    with pytest.raises(InputError, match="disk is full") as caught:
        translate_files(
            **arguments(folder, decoding=DecodingConfig.model_validate({**DECODING, "precision": "bfloat16"}))
        )
    assert torch.backends.mkldnn.matmul.fp32_precision == before, f"though {caught} holds the frames"


LENGTHS = [(3, 2, 3), (3, 7, 1), (4, 6, 1), (5, 5, 2), (5, 6, 1), (6, 6, 1), (7, 9, 1)]
"""Source length, target length, count; most lengths of the sources are not among them."""


def test_length_model_changes_translations(folder):
    path = folder / "lengths.tsv"
    rows = [("source_length", "target_length", "count"), *LENGTHS]
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    decoding = {**DECODING, "length_model": True, "length_floor": 1e-9, "length_normalization": 0.5}
    translate_files(
        **arguments(
            folder,
            decoding=DecodingConfig.model_validate(decoding),
            length_model=path,
            n_best_output=folder / "out.n-best",
        )
    )

    model = load_model(folder / "model.safetensors", folder / "config.json")
    sources, distances = RaggedArrayFile(folder / "source.arrow"), RaggedArrayFile(folder / "distances.arrow")
    n_best_lines, unknown, differs = lines(folder / "out.n-best"), 0, 0
    for number in range(len(sources)):
        words = len(sources[number]) - 1
        if words == 0:
            assert n_best_lines.pop(0) == f"{number} |||  ||| 0.000000"
            continue
        limit = words // 2 + 10
        counts = {target: count for source, target, count in LENGTHS if source == words}
        total = sum(counts.values())
        unknown += total == 0
        terms = [np.log(counts.get(length, 0) / total or 1e-9) if total else 0.0 for length in range(limit + 1)]
        batches = [collate_batch([sources[number]], syntax={"distances": [distances[number]]})]
        search_options = {
            "beam_size": 4,
            "max_lengths": torch.tensor([limit]),
            "length_normalization": 0.5,
            "n_best": 2,
        }
        results = beam_search([model], batches, **search_options, length_terms=torch.tensor([terms]))[0]
        differs += results[0].tokens != beam_search([model], batches, **search_options)[0][0].tokens
        for hypothesis in results:
            left, middle, right = n_best_lines.pop(0).split(" ||| ")
            assert int(left) == number
            assert middle == " ".join(f"w{token}" if token > 1 else "<unk>" for token in hypothesis.tokens)
            assert float(right) == pytest.approx(hypothesis.score, abs=1e-4)
    assert not n_best_lines and unknown > 1 and differs > 1
    noted = json.loads((folder / "out.json").read_text())["noted"]
    assert noted["source of a length that the length model does not know"] == unknown


# --- ensembles ---


@pytest.fixture
def ensemble(folder):
    """A second model, which reads labels, over units of its own: another vocabulary and other lengths."""
    random = np.random.default_rng(2)
    torch.manual_seed(2)
    system = CompositionConfig.model_validate(
        {"encoders": [{"inputs": ["words", {"type": "labels", "size": 2}]}]}
    ).model_copy(update={"model": ModelConfig(embedding=6, hidden=4)})
    model = Network(system, {"source": 30, "target": TARGET_SIZE, "labels": 5})
    draw_parameters(model, std=1.5)
    save_weights(folder / "second.safetensors", model.state_dict())
    save_config(folder / "second.json", model)
    empty = RaggedArrayFile(folder / "source.arrow").row_lengths == 1
    rows = [
        np.array([*random.integers(1, 30, size=0 if is_empty else random.integers(1, 15)), EOS]) for is_empty in empty
    ]
    write_ragged_rows(folder / "second.arrow", rows, "int32")
    write_ragged_rows(folder / "labels.arrow", [random.integers(0, 5, size=len(row)) for row in rows], "int32")
    return folder


def of_both(folder, **changes):
    return arguments(
        folder,
        **{
            "model": [folder / "model.safetensors", folder / "second.safetensors"],
            "config": [folder / "config.json", folder / "second.json"],
            "source": [folder / "source.arrow", folder / "second.arrow"],
            "syntax": [{"distances": folder / "distances.arrow"}, {"labels": folder / "labels.arrow"}],
            **changes,
        },
    )


def test_ensemble_outputs_equal_beam_search(ensemble):
    translate_files(**of_both(ensemble, attention_output=ensemble / "out.arrow"))
    models = [
        load_model(ensemble / f"{name}.safetensors", ensemble / f"{config}.json")
        for name, config in [("model", "config"), ("second", "second")]
    ]
    read = {name: RaggedArrayFile(ensemble / f"{name}.arrow") for name in ("source", "distances", "second", "labels")}
    pieces, alignment = lines(ensemble / "out.pieces"), lines(ensemble / "out.alignment")
    attention = RaggedArrayFile(ensemble / "out.arrow")
    single_outputs = 0
    for number in range(len(read["source"])):
        source = read["source"][number]
        if len(source) == 1:
            assert pieces[number] == alignment[number] == ""
            continue
        batches = [
            collate_batch([source], syntax={"distances": [read["distances"][number]]}),
            collate_batch([read["second"][number]], syntax={"labels": [read["labels"][number]]}),
        ]
        search_options = {
            "beam_size": 4,
            "max_lengths": torch.tensor([(len(source) - 1) // 2 + 10]),
            "should_return_attention": True,
        }
        (best,) = beam_search(models, batches, **search_options)[0]
        assert pieces[number] == " ".join(f"w{token}" if token > 1 else "<unk>" for token in best.tokens)
        assert alignment[number] == " ".join(map(str, best.alignment[: len(best.tokens)]))
        np.testing.assert_allclose(attention[number].reshape(-1, len(source)), best.attention, atol=1e-5)
        single_outputs += any(
            beam_search([model], [batch], **search_options)[0][0].tokens == best.tokens
            for model, batch in zip(models, batches, strict=True)
        )
    assert single_outputs < 20


def test_ensemble_of_equal_models_equals_single_model(folder):
    translate_files(**arguments(folder, n_best_output=folder / "alone.n-best"))
    single_outputs = [lines(folder / "out.pieces"), lines(folder / "out.alignment")]
    twice = {name: 2 * arguments(folder)[name] for name in ("model", "config")}
    translate_files(**arguments(folder, **twice, syntax=2 * arguments(folder)["syntax"]))
    assert [lines(folder / "out.pieces"), lines(folder / "out.alignment")] == single_outputs


def fewer_sentences(folder):
    rows = RaggedArrayFile(folder / "second.arrow")
    write_ragged_rows(folder / "second.arrow", [rows[number] for number in range(24)], "int32")
    write_ragged_rows(
        folder / "labels.arrow", [np.zeros(len(rows[number]), dtype=np.int32) for number in range(24)], "int32"
    )


def no_longer_empty(folder):
    rows, labels = ([RaggedArrayFile(folder / name)[n] for n in range(25)] for name in ("second.arrow", "labels.arrow"))
    rows[13], labels[13] = np.array([4, EOS]), np.array([1, 2])
    write_ragged_rows(folder / "second.arrow", rows, "int32")
    write_ragged_rows(folder / "labels.arrow", labels, "int32")


def more_words(folder):
    model = Network(
        CompositionConfig(model=ModelConfig(embedding=5, hidden=4)), {"source": 30, "target": TARGET_SIZE + 1}
    )
    save_weights(folder / "second.safetensors", model.state_dict())
    save_config(folder / "second.json", model)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            fewer_sentences,
            r"second.arrow: the file has 24 sentences and .*source.arrow has 25; make both from the same",
        ),
        (no_longer_empty, r"second.arrow, line 14: the sentence is empty here or in .*source.arrow, but not in both; "),
        (more_words, r"vocabulary: the vocabulary has 10 tokens and the model in .*second.safetensors predicts 11; "),
    ],
)
def test_inconsistent_members_raise_error(ensemble, spoil, message):
    spoil(ensemble)
    with pytest.raises(InputError, match=message):
        translate_files(**of_both(ensemble))
    assert not list(ensemble.glob("out.*"))


# --- what is at fault ---


def test_empty_file_has_empty_outputs(folder):
    write_ragged_rows(folder / "source.arrow", [], "int32")
    write_ragged_rows(folder / "distances.arrow", [], "uint8")
    translate_files(**arguments(folder, attention_output=folder / "out.arrow"))
    assert (folder / "out.pieces").read_bytes() == (folder / "out.alignment").read_bytes() == b""
    assert len(RaggedArrayFile(folder / "out.arrow")) == 0


def test_batches_cover_all_sentences_and_shrink_for_long_ones(tmp_path):
    lengths = [3] * 40 + [sources_module.TYPICAL_LENGTH * 4, 5, 10 * sources_module.TYPICAL_LENGTH]
    write_ragged_rows(tmp_path / "source.arrow", [np.array([1] * (length - 1) + [EOS]) for length in lengths], "int32")
    batches = list(SourceDataset(tmp_path / "source.arrow", {}, {"source": 2}).iterate_batches(8))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert [batch.tolist() for batch in batches[:2]] == [[42], [40, 41]]
    assert max(map(len, batches)) == 8


def shorter(folder):
    write_ragged_rows(folder / "distances.arrow", [np.zeros(1, dtype=np.uint8)], "uint8")


def narrower(folder):
    rows = RaggedArrayFile(folder / "distances.arrow")
    write_ragged_rows(folder / "distances.arrow", [rows[number][:4] for number in range(len(rows))], "uint8")


def beyond_the_vocabulary(folder):
    write_ragged_rows(folder / "source.arrow", [np.array([SOURCE_SIZE, EOS])], "int32")


def not_arrow(folder):
    (folder / "source.arrow").write_text("a sentence\n")


def other_vocabulary(folder):
    write_vocabulary(folder / "vocabulary", TARGET_SIZE + 1)


def not_a_number(folder):
    model = load_model(folder / "model.safetensors", folder / "config.json")
    with torch.no_grad():
        model.decoder.softmax.bias[3] = torch.nan
    save_weights(folder / "model.safetensors", model.state_dict())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shorter, r"distances.arrow: the file has 1 sentences and .*source.arrow has 25; "),
        (
            narrower,
            r"distances.arrow, line 2: the sentence has 4 values of distances, but .* positions there, which need \d+",
        ),
        (beyond_the_vocabulary, r"source.arrow, line 1: .*outside the vocabulary of 12"),
        (not_arrow, r"source.arrow: damaged"),
        (other_vocabulary, r"vocabulary: the vocabulary has 11 tokens and the model in .* predicts 10"),
        (not_a_number, r"the model predicts something that is not a number; train the system again"),
    ],
)
def test_inconsistent_files_raise_error(folder, spoil, message):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        translate_files(**arguments(folder))
    assert not list(folder.glob("out.*"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"syntax": [{}]}, "the system reads distances, but the syntax given is none; give one file for each kind"),
        ({"syntax": [{"distances": "x", "trees": "y"}]}, "reads distances, but the syntax given is distances, trees"),
        ({"device": "gpu"}, "unknown device 'gpu'; use auto, cpu or cuda"),
    ],
)
def test_invalid_arguments_raise_error(folder, changes, message):
    with pytest.raises(InputError, match=message):
        translate_files(**arguments(folder, **changes))


def test_networks_are_loaded_once_for_all_sets(folder, monkeypatch):
    loads, load_networks = [], module.load

    @wraps(load_networks)
    def note(**options):
        loads.append(options)
        return load_networks(**options)

    monkeypatch.setattr(module, "load", note)
    job = build_job("nmt.translate", folder, arguments(folder), threads=1)
    outputs = {name: job["arguments"].pop(name) for name in [*job["arguments"]] if name.endswith("_output")}
    calls = [{name: f"{path}.{number}" for name, path in outputs.items()} for number in range(2)]
    run_job({**job, "calls": calls})
    assert len(loads) == 1 and loads[0]["threads"] == 1
    assert (folder / "out.pieces.0").read_bytes() == (folder / "out.pieces.1").read_bytes()
    assert len(lines(folder / "out.pieces.0")) == 25


def test_bad_input_is_reported_in_one_sentence(folder):
    job = build_job("nmt.translate", folder, arguments(folder, device="gpu"))
    failed = subprocess.run(get_job_command(job), capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr == "error: unknown device 'gpu'; use auto, cpu or cuda\n"


def test_translations_do_not_exceed_length_limit(folder):
    translate_files(**arguments(folder, decoding=DecodingConfig.model_validate({**DECODING, "max_length": 2})))
    lengths = [len(line.split()) for line in lines(folder / "out.pieces")]
    assert max(lengths) == 2
    assert json.loads((folder / "out.json").read_text())["noted"]["cut at the greatest length"] > 0


# --- outputs from the cache ---

INPUTS = [
    *("model.safetensors", "second.safetensors", "config.json", "second.json", "source.arrow", "second.arrow"),
    *("distances.arrow", "labels.arrow", "vocabulary", "lengths.tsv"),
]
BY_LENGTH = {**DECODING, "length_model": True}


@pytest.fixture
def translated(ensemble):
    """The arguments of a finished translation that reads and writes files of every kind."""
    rows = [("source_length", "target_length", "count"), *LENGTHS]
    (ensemble / "lengths.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    all_arguments = of_both(
        ensemble,
        decoding=DecodingConfig.model_validate(BY_LENGTH),
        length_model=ensemble / "lengths.tsv",
        n_best_output=ensemble / "out.n-best",
        attention_output=ensemble / "out.arrow",
    )
    run_job(build_job("nmt.translate", ensemble, all_arguments))
    return all_arguments


def test_outputs_are_restored_without_torch(folder, translated, without_torch):
    outputs = [path for name, path in translated.items() if "output" in name]
    assert len(outputs) == 5
    job = build_job("nmt.translate", folder, translated)
    assert_restored(without_torch, job, outputs)
    (folder / "cache" / "out.pieces" / "last" / "1.out.pieces").write_text("another translation\n")
    assert "torch is imported" in without_torch(job).stderr


def test_changed_input_is_translated_again(folder, translated, works):
    job = build_job("nmt.translate", folder, translated)
    assert not works(job)
    for path in (folder / name for name in INPUTS):
        content = path.read_bytes()
        change_content(path)
        assert works(job), path
        path.write_bytes(content)
    assert not works(job)
    input_names = {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert input_names - {path.name for name, path in translated.items() if "output" in name} == {*INPUTS}


def test_other_files_or_outputs_are_translated_again(folder, translated, works):
    first, second = translated["syntax"]
    network_files = {name: translated[name] for name in ("model", "config", "source")}
    changes = [
        {name: paths[::-1] for name, paths in network_files.items()},
        {"source": translated["source"][:1]},
        {"syntax": [{"distances": second["labels"]}, {"labels": first["distances"]}]},
        {"syntax": [first, {"units": second["labels"]}]},
        {"n_best_output": None},
        {"attention_output": None},
    ]
    for change in changes:
        assert works(build_job("nmt.translate", folder, translated | change)), change
    assert works(build_job("nmt.translate", folder, translated, process="other settings"))
    moved = folder / "moved"
    moved.write_bytes(translated["target_vocabulary"].read_bytes())
    assert not works(build_job("nmt.translate", folder, translated | {"target_vocabulary": moved}))


def test_cache_distinguishes_outputs_of_same_name(folder, works):
    base_arguments = arguments(folder)
    run_job(build_job("nmt.translate", folder, base_arguments | {"n_best_output": folder / "more"}))
    assert not works(build_job("nmt.translate", folder, base_arguments | {"n_best_output": folder / "more"}))
    assert works(build_job("nmt.translate", folder, base_arguments | {"attention_output": folder / "more"}))
