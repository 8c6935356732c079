"""Equality of translations by the Python interface, the command and the workflow."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pipeline_py import load
from pipeline_py.application.result_files import BundleFiles
from pipeline_py.application.system import MAX_SENTENCE_CHARACTERS, System
from pipeline_py.config.base import format_folder_name
from pipeline_py.nmt import force_decode
from pipeline_py.run.errors import InputError
from tests.project_copy import ROOT, ProjectCopy

pytestmark = pytest.mark.slow

SYSTEMS = {
    "PBSMT": "single",
    "SDAtt": "seed1",
    "Sennrich-deponly": "seed1",
    "Tree-based-BPE": "seed1",
    "Sequential-lexical": "seed1",
    "Both": "seed1",
    "GlobalAtt": "seed2",
    "SDAtt [right-branching]": "seed1",
}
"""Systems with each kind of input and search, by the run to translate with."""

CONFIG = {
    "name": "small",
    "corpora": {
        "source": {"language": "en", "tokenizer": "moses", "case": "true"},
        "target": {"language": "de", "tokenizer": "moses", "case": "true"},
    },
    "systems": {"Both": {"type": "ensemble", "members": ["GlobalAtt", "SDAtt"], "decoding": {"beam": [5, 6]}}},
    "subword": {"source_vocabulary": {"max_size": 40}},
    "decoding": {"beam": 5, "replace_unknown": True},
    "licenses": {"weights": "cc0-1.0"},
    "tables": {"table1": {"systems": ["GlobalAtt", "SDAtt", "SDAtt [gold]"]}},
}

ODD_SENTENCES = [
    "",
    " \t",
    "\x00\x1b\x7f",
    "\ud800 half a pair",
    "two\nlines",
    "\u2028\u2029\u200b\ufeff",
    "a ||| b <unk> @@ x@@ $number </s>",
    "(" * 100,
    "word " * (MAX_SENTENCE_CHARACTERS // 4),
    "x" * (MAX_SENTENCE_CHARACTERS + 1),
    "語" * 50 + "\U0001f469\u200d\U0001f467",
]


BUNDLED_SYSTEMS = ("PBSMT", "SDAtt", "Tree-based-BPE", "Both", "SDAtt [right-branching]")


def locate_run(system: str) -> str:
    return f"results/small/{'smt' if system == 'PBSMT' else 'nmt'}/{format_folder_name(system)}/{SYSTEMS[system]}"


def locate_translations(system: str) -> str:
    return f"results/small/evaluation/{format_folder_name(system)}/{SYSTEMS[system]}/two.txt"


def move_run(project: ProjectCopy, system: str, folder: Path) -> Path:
    """Copy the folder of a run to another place and name."""
    return Path(shutil.copytree(project.folder / locate_run(system), folder / "mine"))


def read_translations(project: ProjectCopy, system: str) -> list[str]:
    return (project.folder / locate_translations(system)).read_text(encoding="utf-8").splitlines()


def read_source(project: ProjectCopy) -> str:
    return (project.folder / "results/small/corpus/generated/two.source").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> ProjectCopy:
    project = ProjectCopy(tmp_path_factory.mktemp("trained"))
    targets = [locate_translations(system) for system in SYSTEMS]
    cards = [f"{locate_run(system)}/README.md" for system in BUNDLED_SYSTEMS]
    result = project.run_snakemake(*targets, *cards, "results/small/corpus/truecased/two.target", config=CONFIG)
    assert result.returncode == 0, result.stderr[-5000:]
    return project


@cache
def open_system(project: ProjectCopy, system: str) -> System:
    return load(system, run=SYSTEMS[system], configfile="small.yaml", directory=project.folder)


def run_translate_command(project: ProjectCopy, *options: str, stdin: bytes) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "pipeline_py.translate", *options, "--configfile", "small.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, input=stdin, capture_output=True, cwd=project.folder, env=environment)


@pytest.mark.parametrize("system", SYSTEMS)
def test_translations_equal_those_of_the_workflow(trained, system):
    """The set differs from the one that the text replaces."""
    assert open_system(trained, system).translate(read_source(trained).splitlines()) == read_translations(
        trained, system
    )


@pytest.mark.parametrize("system", BUNDLED_SYSTEMS)
def test_a_moved_run_translates_as_in_the_workflow(trained, system, tmp_path, monkeypatch):
    bundle = move_run(trained, system, tmp_path)
    monkeypatch.chdir(tmp_path)
    moved_system = load("mine") if system == "PBSMT" else load(bundle)
    assert (moved_system.name, moved_system.run) == (system, SYSTEMS[system])
    assert load(bundle, run=SYSTEMS[system]).run == SYSTEMS[system]
    sentences = read_source(trained).splitlines()
    assert moved_system.translate(sentences) == read_translations(trained, system)
    if system != "PBSMT":
        pairs = [(sentence, "Das Mädchen .") for sentence in sentences[:3]]
        assert moved_system.score(pairs) == open_system(trained, system).score(pairs)
    assert load(bundle, config={"decoding": {"beam": 1}}).translate(sentences[:3])


def test_faults_of_a_moved_run_are_named(trained, tmp_path, monkeypatch):
    bundle = move_run(trained, "SDAtt", tmp_path)
    (bundle / "files/syntax/embedded/model/tagger.pt").write_bytes(b"other")
    with pytest.raises(InputError, match=r"tagger\.pt: not the file that the system was trained with"):
        load(bundle).translate(["A man sleeps ."])
    (bundle / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"mine/model\.safetensors is missing; copy the folder again"):
        load(bundle)
    shutil.rmtree(bundle / "files")
    with pytest.raises(InputError, match=r"SDAtt is not complete here: .* is missing \(and \d more\); copy the folder"):
        load(bundle)
    with pytest.raises(InputError, match="`preset` is fixed in the folder of a system; only data, decoding, training"):
        load(bundle, config={"preset": "fast"})
    with pytest.raises(InputError, match=r"system\.json: .*`decoding\.bem`.*\(Arbitree .* made this folder"):
        load(bundle, config={"decoding": {"bem": 1}})
    with pytest.raises(InputError, match="leave out --configfile"):
        load(bundle, configfile="small.yaml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="mine: there is no run `seed2`, but seed1"):
        load("mine", run="seed2")
    (bundle / "system.json").write_text("{}")
    with pytest.raises(InputError, match=r"system\.json: not the description of a system"):
        load(bundle)


def test_the_model_card_has_the_scores_of_the_workflow(trained):
    card = (trained.folder / locate_run("SDAtt") / "README.md").read_text(encoding="utf-8")
    scores = json.loads((trained.folder / "results/small/evaluation/SDAtt/seed1/two.bleu.json").read_text())
    assert f"| two | {scores['sentences']} | {scores['score']:.2f} |" in card
    assert card.startswith("---\nlanguage:\n- en\n- de\nlicense: cc0-1.0\n")
    assert "| parser models | not stated |" in card and "syntax/embedded/model/tagger.pt" in card


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_and_changes_nothing(trained):
    before = {file: file.stat().st_mtime_ns for file in (trained.folder / "results").rglob("*")}
    result = run_translate_command(trained, "--system", "Tree-based-BPE", stdin=read_source(trained).encode())
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == (trained.folder / "results/small/evaluation/Tree-based-BPE/seed1/two.txt").read_bytes()
    assert {file: file.stat().st_mtime_ns for file in (trained.folder / "results").rglob("*")} == before


@pytest.mark.parametrize("system", ["PBSMT", "SDAtt", "Tree-based-BPE"])
def test_any_line_has_one_translation(trained, system):
    trained_system = open_system(trained, system)
    translations = trained_system.translate(ODD_SENTENCES)
    assert len(translations) == len(ODD_SENTENCES)
    assert translations[:3] == ["", "", ""]
    assert not any("\n" in text for text in translations)
    assert trained_system.translate([]) == []
    assert trained_system.translate([""]) == [""]


@pytest.mark.slow
def test_the_command_writes_one_line_per_input_line(trained):
    stdin = b"The girl sleeps .\r\n\r\n\xff\xfe\n" + b"word " * (MAX_SENTENCE_CHARACTERS // 4)
    result = run_translate_command(trained, "--system", "PBSMT", stdin=stdin)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(b"\n") == 4 and result.stdout.split(b"\n")[1] == b""
    assert run_translate_command(trained, "--system", "PBSMT", stdin=b"").stdout == b""


def test_models_are_loaded_once(trained, monkeypatch):
    from pipeline_py.nmt.search import ensemble
    from pipeline_py.syntax.stanza import pipeline

    loaded = []
    for module, name in ((ensemble, "load_model"), (pipeline, "load_pipeline_from_files")):
        original = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *arguments, call=original, name=name: [loaded.append(name), call(*arguments)][1]
        )
    trained_system = load("SDAtt", configfile="small.yaml", directory=trained.folder)
    translations = trained_system.translate(["The girl sees the bird ."])
    assert trained_system.translate(["The girl sees the bird ."]) == translations
    trained_system.score([("The girl sees the bird .", "Das Mädchen .")])
    assert sorted(loaded) == ["load_model", "load_pipeline_from_files"]


@pytest.mark.parametrize("system", ["SDAtt", "Both", "Tree-based-BPE"])
def test_n_best_translations_are_sorted_by_score(trained, system):
    """The first one equals the translation; unknown words are replaced in all of them."""
    trained_system = open_system(trained, system)
    sentences = [*read_source(trained).splitlines()[:6], "", "Zyx Zyx sees ."]
    ranked = trained_system.n_best(sentences, 3)
    assert [n_best[0].text for n_best in ranked] == trained_system.translate(sentences)
    assert {len(n_best) for n_best in ranked[:6]} == {3} and len(ranked[6]) == 1
    assert all(n_best == sorted(n_best, key=lambda translation: -translation.score) for n_best in ranked)
    assert "<unk>" not in "".join(translation.text for n_best in ranked for translation in n_best)


@pytest.mark.parametrize("system", ["SDAtt", "Both"])
def test_scores_are_those_of_the_workflows_files(trained, system, tmp_path):
    results, networks = trained.folder / "results/small", ["GlobalAtt", "SDAtt"] if system == "Both" else ["SDAtt"]
    syntax = {"distances": results / "syntax/embedded/two.distances.arrow"}
    files = {
        "model": [results / f"nmt/{network}/seed1/model.safetensors" for network in networks],
        "config": [results / f"nmt/{network}/seed1/config.json" for network in networks],
        "target_vocabulary": results / "subword/default/vocabulary.target",
    }
    force_decode.force_decode(
        networks=force_decode.load(**files),
        **files,
        source=[results / "subword/default/packed/two.source.arrow"],
        syntax=[{}, syntax] if system == "Both" else [syntax],
        translation=[results / "corpus/truecased/two.target"],
        output=[tmp_path / "scores.tsv"],
    )
    expected = [float(line.split("\t")[0]) for line in (tmp_path / "scores.tsv").read_text().splitlines()[1:]]
    trained_system = open_system(trained, system)
    target = (results / "corpus/generated/two.target").read_text(encoding="utf-8").splitlines()
    pairs = [*zip(read_source(trained).splitlines(), target, strict=True)]
    assert trained_system.score(pairs) == pytest.approx(expected, abs=1e-6)
    assert trained_system.score([]) == []
    with pytest.raises(InputError, match="pair 2: the translation is empty"):
        trained_system.score([pairs[0], ("a", " ")])
    with pytest.raises(InputError, match="pair 1: the translation is empty"):
        trained_system.score([("a", "\u200b")])
    with pytest.raises(InputError, match=r"pair 1: the source has half a character, '\\ud83d'"):
        trained_system.score([("\ud83d", "a")])
    with pytest.raises(InputError, match="sentence 2 has half a character"):
        trained_system.translate(["a", "\ud83d"])


@pytest.mark.parametrize("system", ["SDAtt", "Tree-based-BPE", "Sequential-lexical"])
def test_attention_has_one_row_per_step(trained, system, tmp_path):
    trained_system = open_system(trained, system)
    attention = trained_system.attention("The girl sees the bird .")
    assert attention.weights.shape == (len(attention.translation), len(attention.words) + len(attention.phrases))
    forced_attention = trained_system.attention("The girl sees the bird .", "Das Mädchen schläft .")
    assert len(forced_attention.weights) == len(forced_attention.translation) and np.all(forced_attention.weights >= 0)
    forced_attention.save(tmp_path / "one.svg", title="One")
    assert "One" in (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert forced_attention.plot(words=[1]).get_figwidth() > 0
    assert forced_attention._repr_svg_().lstrip().startswith("<?xml")
    assert trained_system.attentions(["", "x" * (MAX_SENTENCE_CHARACTERS + 1)]) == [None, None]
    with pytest.raises(InputError, match="pair 1: the translation is empty"):
        trained_system.attention("a", "")


@pytest.mark.slow
def test_the_command_draws_attention(trained, tmp_path):
    options = ["--system", "SDAtt", "--scores", "--attention", str(tmp_path / "figures")]
    result = run_translate_command(trained, *options, stdin=b"A man sleeps .\n\nThe girl sees the bird .\n")
    assert result.returncode == 0, result.stderr
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == ["1.svg", "3.svg"]
    assert [line.count(b"\t") for line in result.stdout.splitlines()] == [1, 1, 1]
    result = run_translate_command(trained, "--system", "SDAtt", "--nbest", "2", stdin=b"A man sleeps .\n")
    assert [line.split(b" ||| ")[0] for line in result.stdout.splitlines()] == [b"0", b"0"]


def test_a_system_is_found_by_the_folder_of_its_results(trained, monkeypatch):
    results = trained.folder / "results/small/nmt/GlobalAtt"
    assert load(results / "seed2", configfile="small.yaml").run == "seed2"
    for folder in (results, trained.folder / "workflow"):
        monkeypatch.chdir(folder)
        assert load("SDAtt", configfile="small.yaml").name == "SDAtt"
    crossed_folder = trained.folder / locate_run("SDAtt [right-branching]")
    assert load(crossed_folder, configfile="small.yaml").name == "SDAtt [right-branching]"
    with pytest.raises(InputError, match="the results of this experiment are in results/other; give the configfile"):
        load(results / "seed2", configfile="small.yaml", config={"name": "other"})


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("SDAt", "unknown system `SDAt`; did you mean `SDAtt`?"),
        (
            "FlexAtt",
            "FlexAtt is not complete here: .*model.safetensors is missing .*; `snakemake --cores all results",
        ),
        ("SDAtt [gold]", "reads trees from files, and new text has none"),
    ],
)
def test_invalid_systems_are_rejected(trained, system, message):
    with pytest.raises(InputError, match=message):
        load(system, configfile="small.yaml", directory=trained.folder)


def test_unsupported_features_are_rejected(trained):
    for ask in (System.n_best, System.attentions, System.score):
        with pytest.raises(InputError, match="PBSMT is phrase-based and has no "):
            ask(open_system(trained, "PBSMT"), [])
    with pytest.raises(InputError, match="Both is an ensemble"):
        open_system(trained, "Both").attention("A man sleeps .")
    with pytest.raises(InputError, match="ask for 1 to 5, not 9"):
        open_system(trained, "SDAtt").n_best(["A man sleeps ."], 9)


def test_damage_is_detected(trained, tmp_path):
    project = trained.copy_to(tmp_path / "damaged")
    model = project.folder / "results/small/nmt/SDAtt/seed1/model.safetensors"
    content = bytearray(model.read_bytes())
    content[-1] ^= 1
    model.write_bytes(content)
    with pytest.raises(InputError, match=r"SDAtt/seed1/model\.safetensors"):
        open_system(project, "SDAtt").translate(["A man sleeps ."])


def test_an_invalid_configuration_is_rejected(trained):
    with pytest.raises(InputError, match="unknown key `traning`"):
        load("SDAtt", configfile="small.yaml", config={"traning": {}}, directory=trained.folder)
    with pytest.raises(InputError, match=r"there is no Snakefile or experiment\.yaml"):
        load("SDAtt", directory=trained.folder / "results")


@pytest.mark.slow
def test_the_documented_example_runs(trained):
    """The script of the documentation runs with the configuration of this test."""
    script = (ROOT / "docs/use_a_system.py").read_text(encoding="utf-8")
    call = 'load("results/nmt/SDAtt/seed1")'
    assert script.count(call) == 1 and call in (ROOT / "docs/how_to/python_api.md").read_text(encoding="utf-8")
    script = script.replace(call, 'load("results/small/nmt/SDAtt/seed1", configfile="small.yaml")')
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=trained.folder, env=environment, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("<System SDAtt (seed1)>\n") and "log p: -" in result.stdout
    assert (trained.folder / "attention.svg").is_file()


@pytest.mark.slow
def test_the_notebook_of_the_documentation_runs(trained):
    """The notebook runs with the configuration of this test."""
    for module in ("nbclient", "ipykernel"):
        pytest.importorskip(module, reason=f"{module} runs the notebook; pip install -e '.[test]'")
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "docs/tutorials/python.ipynb", as_version=4)
    assert not any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    call = 'load("SDAtt")'
    assert sum(cell.source.count(call) for cell in notebook.cells) == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(call, 'load("SDAtt", configfile="small.yaml")')
    NotebookClient(notebook, resources={"metadata": {"path": trained.folder}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    data = [output.data for output in outputs if output.output_type == "execute_result"]
    assert [output.text for output in outputs if output.output_type == "stream"] and len(data) == 5
    assert data[0]["text/plain"] == "<System SDAtt (seed1)>" and "image/svg+xml" in data[-1]


def test_files_of_the_user_are_found_behind_a_link(trained, tmp_path):
    """A folder of results may be a link to another file system."""
    (tmp_path / "far").mkdir()
    moved = shutil.copytree(trained.folder / "results/small", tmp_path / "far/results")
    (tmp_path / "near/texts").mkdir(parents=True)
    (tmp_path / "near/results").symlink_to(moved)
    run_folder = tmp_path / "near/results/nmt/SDAtt/seed1"
    description = json.loads((run_folder / "system.json").read_text())
    (run_folder / "system.json").write_text(json.dumps(description | {"data_folder": "../../../../texts"}))
    bundle = BundleFiles(run_folder)
    assert bundle.experiment.data == str(tmp_path / "near/texts")
