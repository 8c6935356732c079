"""Forced decoding: every number against a decoding of one sentence at a time in float64, and against the search."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.nmt import force_decode as module
from pipeline_py.nmt.data import dataset as sources_module
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.force_decode import force_decode
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.saved_model import load_model, save_config, save_weights
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.run.command_line import parse_arguments
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import EOS, UNK
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.random_tree import draw_tree_row
from tests.nmt.reference_network import ReferenceNetwork

SOURCE_SIZE, TARGET_SIZE = 12, 10
SYSTEMS = {
    "global": {"contexts": ["global"]},
    "syntax": {"contexts": ["global", {"type": "syntax", "window": 2}]},
    "blackout": {"loss": {"type": "blackout", "samples": 3}},
    "trees": {"encoders": ["tree_lstm"], "scores": ["dot"], "decoder": "lstm", "loss": {"type": "blackout"}},
    "phrases": {"encoders": ["tree_gru"], "decoder": {"type": "gru", "phrase_weight": "learned"}},
    "transformer": {
        "encoders": [{"type": "transformer", "layers": 1, "heads": 2, "attention": ["deps_san"]}],
        "decoder": {"type": "transformer", "layers": 1, "heads": 2},
    },
}
PIECES = ["<unk>", "语", *(f"w{i}" for i in range(2, TARGET_SIZE))]
KNOWN = {f"w{i}": i for i in range(2, TARGET_SIZE)}
SENTENCES = 20


pytestmark = pytest.mark.usefixtures("same_torch_afterwards")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a model of each system, and sentences with two translations each; few go into a batch."""
    monkeypatch.setattr(module, "BATCH_SIZE", 3)
    monkeypatch.setattr(sources_module, "BATCHES_PER_WINDOW", 2)
    random = np.random.default_rng(0)
    for seed, (name, composition) in enumerate(SYSTEMS.items()):
        torch.manual_seed(seed)
        system = CompositionConfig.model_validate(
            {**composition, "model": {"embedding": 6, "hidden": 6, "dropout": 0.3}}
        )
        model = Network(system, {"source": SOURCE_SIZE, "target": TARGET_SIZE})
        draw_parameters(model, std=0.9)
        with torch.no_grad():
            model.decoder.softmax.bias[EOS] = 4.0  # so that most translations of a search end
        save_weights(tmp_path / f"{name}.safetensors", model.state_dict())
        save_config(tmp_path / f"{name}.json", model)
    words = random.integers(1, 9, size=SENTENCES)
    write_ragged_rows(
        tmp_path / "source.arrow", [np.array([*random.integers(1, SOURCE_SIZE, n), EOS]) for n in words], "int32"
    )
    squares = [random.integers(1, 6, size=(n + 1, n + 1)) for n in words]
    for square in squares:
        np.fill_diagonal(square, 0)
    write_ragged_rows(tmp_path / "distances.arrow", [square.ravel().astype(np.uint8) for square in squares], "uint8")
    write_ragged_rows(tmp_path / "trees.arrow", [draw_tree_row(random, n, is_parsed=n != 3) for n in words], "int32")
    for name in ("one", "two"):
        write_translations(tmp_path / name, [random.choice(PIECES, size=random.integers(0, 9)) for _ in words])
    vocabulary = "".join(f"{piece} {99 - i}\n" for piece, i in KNOWN.items())
    (tmp_path / "vocabulary").write_text("</s> 0\n<unk> 0\n" + vocabulary, encoding="utf-8")
    return tmp_path


def write_translations(path, translations):
    path.write_text("".join(" ".join(pieces) + "\n" for pieces in translations), encoding="utf-8")


def network(folder, name):
    return load_model(folder / f"{name}.safetensors", folder / f"{name}.json")


def arguments(folder, *names, translations=("one", "two"), **changes):
    return {
        "model": [folder / f"{name}.safetensors" for name in names],
        "config": [folder / f"{name}.json" for name in names],
        "source": [folder / "source.arrow"],
        "syntax": [
            {kind: folder / f"{kind}.arrow" for kind in network(folder, name).composition.required_syntax_names}
            for name in names
        ],
        "translation": [folder / name for name in translations],
        "target_vocabulary": folder / "vocabulary",
        "device": "cpu",
        "output": [folder / f"{name}.tsv" for name in translations],
        **changes,
    }


def score(**options):
    """Load the networks and score, as a job does."""
    networks = {name: options[name] for name in ("model", "config", "target_vocabulary", "device")}
    force_decode(networks=module.load(**networks, threads=1), **options)


def read(path):
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    assert head == "log_probability\tpieces"
    scores, pieces = zip(*(row.split("\t") for row in rows), strict=True)
    return [*map(float, scores)], [*map(int, pieces)]


def targets(folder, name):
    lines = (folder / name).read_text(encoding="utf-8").split("\n")[:-1]
    return [[*(KNOWN.get(piece, UNK) for piece in line.split()), EOS] for line in lines]


def of_words(folder, name, number, target):
    """Log p of each word (I,) of a sentence alone, in float64.

    Of systems of words and distances it is that of the reference in plain Python; others predict step by step, as they
    do in a search, and never see a whole translation.
    """
    model = network(folder, name).double()
    source = RaggedArrayFile(folder / "source.arrow")[number]
    syntax = {kind: RaggedArrayFile(folder / f"{kind}.arrow")[number] for kind in ("distances", "trees")}
    if name in ("global", "syntax", "blackout"):
        reference = ReferenceNetwork(model)
        totals = [reference.compute_loss(source, target[:words], syntax)[0] for words in range(len(target) + 1)]
        return -np.diff(totals)
    memory = model.encode(
        collate_batch([source], syntax={kind: [syntax[kind]] for kind in model.composition.required_syntax_names})
    )
    state, previous, log_probabilities = model.decoder.build_initial_state(memory), None, []
    for word in target:
        logits, state, _ = model.decoder.step(previous, state, memory)
        log_probabilities.append(logits.log_softmax(1)[0, word].item())
        previous = torch.tensor([word])
    return np.array(log_probabilities)


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_scores_equal_single_sentence_decoding(folder, name):
    score(**arguments(folder, name))
    for translation in ("one", "two"):
        scores, pieces = read(folder / f"{translation}.tsv")
        target_rows = targets(folder, translation)
        assert pieces == [len(target) for target in target_rows]
        expected = [of_words(folder, name, number, target).sum() for number, target in enumerate(target_rows)]
        np.testing.assert_allclose(scores, expected, rtol=2e-6, atol=2e-6)


@torch.no_grad()
def test_ensemble_averages_word_probabilities(folder):
    names = ("global", "syntax", "trees")
    score(**arguments(folder, *names))
    scores, _ = read(folder / "one.tsv")
    expected = []
    for number, target in enumerate(targets(folder, "one")):
        probabilities = np.mean([np.exp(of_words(folder, name, number, target)) for name in names], axis=0)
        expected.append(np.log(probabilities).sum())
    np.testing.assert_allclose(scores, expected, rtol=2e-6, atol=2e-6)
    single_network_scores = [
        of_words(folder, "global", number, target).sum() for number, target in enumerate(targets(folder, "one"))
    ]
    assert not np.allclose(scores, single_network_scores, rtol=1e-2)


@pytest.mark.parametrize("names", [("syntax",), ("phrases",), ("trees", "global")])
def test_scores_equal_beam_search(folder, names):
    models = [network(folder, name) for name in names]
    sources = RaggedArrayFile(folder / "source.arrow")
    batches = [
        collate_batch(
            [sources[number] for number in range(SENTENCES)],
            syntax={
                kind: [RaggedArrayFile(folder / f"{kind}.arrow")[number] for number in range(SENTENCES)]
                for kind in model.composition.required_syntax_names
            },
        )
        for model in models
    ]
    results = beam_search(models, batches, beam_size=3, max_lengths=torch.full((SENTENCES,), 9))
    ended = [number for number, (best, *_) in enumerate(results) if not best.is_cut]
    assert len(ended) > SENTENCES / 2
    identifiers = {**KNOWN, "<unk>": UNK}
    of_identifier = {identifier: piece for piece, identifier in identifiers.items()}
    write_translations(folder / "found", [[of_identifier[token] for token in best.tokens] for best, *_ in results])
    score(**arguments(folder, *names, translations=["found"]))
    scores, _ = read(folder / "found.tsv")
    expected = [results[number][0].log_probability for number in ended]
    np.testing.assert_allclose([scores[number] for number in ended], expected, rtol=2e-6, atol=2e-6)


def test_equal_identifiers_have_equal_scores(folder):
    """Rounding would tell some of these apart, since the batches of the two files have other lengths."""
    lines = (folder / "one").read_text(encoding="utf-8").split("\n")[:-1]
    changed_lines = [line.replace("语", "öde") if number % 2 else line + " w2" for number, line in enumerate(lines)]
    (folder / "two").write_text("\n".join(changed_lines) + "\n", encoding="utf-8")
    score(**arguments(folder, "syntax"))
    (first, _), (second, _) = read(folder / "one.tsv"), read(folder / "two.tsv")
    assert [a == b for a, b in zip(first, second, strict=True)] == [bool(number % 2) for number in range(SENTENCES)]


def test_output_is_reproducible(folder):
    score(**arguments(folder, "trees"))
    first = (folder / "two.tsv").read_bytes()
    score(**arguments(folder, "trees"))
    assert (folder / "two.tsv").read_bytes() == first


def one_line_less(folder):
    (folder / "two").write_text("w2\n" * (SENTENCES - 1))


def an_empty_source(folder):
    rows = [
        np.array([EOS]) if number == 4 else row for number, row in enumerate(RaggedArrayFile(folder / "source.arrow"))
    ]
    write_ragged_rows(folder / "source.arrow", rows, "int32")


def not_a_number(folder):
    model = network(folder, "global")
    with torch.no_grad():
        model.decoder.embedding.weight[UNK] = torch.nan
    save_weights(folder / "global.safetensors", model.state_dict())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (one_line_less, "two: the file has 19 lines and .*source.arrow has 20 sentences; give the translations"),
        (an_empty_source, "source.arrow, line 5: the sentence is empty, so that its translation has no probability"),
        (not_a_number, "global.safetensors: the model predicts something that is not a number; train the system"),
    ],
)
def test_inconsistent_files_raise_error(folder, spoil, message):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        score(**arguments(folder, "global"))
    assert not list(folder.glob("*.tsv"))


def command(folder, *names, **changes):
    """The command line that scores with some systems."""
    options = arguments(folder, *names)
    options["syntax"] = [
        f"{f'{number}:' if len(names) > 1 else ''}{kind}={path}"
        for number, files in enumerate(options["syntax"], start=1)
        for kind, path in files.items()
    ]
    words = [sys.executable, "-m", "pipeline_py.nmt.force_decode"]
    for name, argument in {**options, **changes}.items():
        values = argument if isinstance(argument, list) else [argument]
        words += [f"--{name.replace('_', '-')}={value}" for value in values]
    return words


@pytest.mark.parametrize("names", [("syntax",), ("trees", "global", "syntax")])
def test_command_line(folder, names):
    score(**arguments(folder, *names))
    expected = [read(folder / f"{name}.tsv") for name in ("one", "two")]
    for name in ("one", "two"):
        (folder / f"{name}.tsv").unlink()
    result = subprocess.run(command(folder, *names), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for name, (scores, pieces) in zip(("one", "two"), expected, strict=True):
        np.testing.assert_allclose(read(folder / f"{name}.tsv")[0], scores, rtol=2e-6)
        assert read(folder / f"{name}.tsv")[1] == pieces


@pytest.mark.parametrize(
    ("names", "changes", "message"),
    [
        ("global", {"output": ["a"]}, "--output: 1 for 2 files of translations; give as many"),
        ("global", {"threads": 0}, "argument --threads: 0 is less than 1"),
        ("global", {"config": ["a", "b"]}, "--config: 2 for 1 models; give one for each, in the same order"),
        ("global trees", {"source": ["a", "b", "c"]}, "--source: 3 for 2 models; give one for all, or one for each in"),
        ("syntax", {"syntax": ["x.arrow"]}, "--syntax x.arrow: give KIND=FILE"),
        ("syntax", {"syntax": ["1:distances=x"]}, "--syntax 1:distances=x: give KIND=FILE"),
        ("syntax", {"syntax": []}, "the system reads distances, but the syntax given is none; give one file for each"),
        (
            "global syntax",
            {"syntax": ["distances=x"]},
            "--syntax distances=x: give NUMBER:KIND=FILE, with models numbered from 1 to 2",
        ),
        (
            "global syntax",
            {"syntax": ["3:distances=x"]},
            "--syntax 3:distances=x: give NUMBER:KIND=FILE, with models numbered from 1 to 2",
        ),
        (
            "global syntax",
            {"syntax": ["1:distances=x"]},
            "the system reads no syntax, but the syntax given is distances; give one file for each kind",
        ),
    ],
)
def test_invalid_options_raise_error(folder, capsys, names, changes, message):
    words = command(folder, *names.split(), **changes)[3:]
    with pytest.raises((InputError, SystemExit)) as error:
        module.score_translations(**parse_arguments(module.score_translations, "force_decode", words))
    assert message in f"{error.value}{capsys.readouterr().err}"
