"""What a command or a program translates is what the workflow translates, and nothing ends it."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from pipeline_py import load
from pipeline_py.application.system import MAX_SENTENCE_CHARACTERS, System
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
"""Of each kind of input and of search, by the run that is translated with."""

CONFIG = {
    "name": "small",
    "corpora": {
        "source": {"language": "en", "tokenizer": "moses", "case": "true"},
        "target": {"language": "de", "tokenizer": "moses", "case": "true"},
    },
    "systems": {"Both": {"type": "ensemble", "members": ["GlobalAtt", "SDAtt"]}},
    "subword": {"source_vocabulary": {"max_size": 40}},
    "decoding": {"beam": 5, "replace_unknown": True},
    "tables": {"table1": {"systems": ["GlobalAtt", "SDAtt", "SDAtt [gold]"]}},
}

ODD = [
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


def text_of(place: ProjectCopy, system: str) -> list[str]:
    file = place.folder / f"results/small/evaluation/{system}/{SYSTEMS[system]}/two.txt"
    return file.read_text(encoding="utf-8").splitlines()


def source_of(place: ProjectCopy) -> str:
    return (place.folder / "results/small/corpus/generated/two.source").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> ProjectCopy:
    place = ProjectCopy(tmp_path_factory.mktemp("trained"))
    targets = [f"results/small/evaluation/{system}/{run}/two.txt" for system, run in SYSTEMS.items()]
    done = place.run_snakemake(*targets, "results/small/corpus/truecased/two.target", config=CONFIG)
    assert done.returncode == 0, done.stderr[-5000:]
    return place


@cache
def opened(place: ProjectCopy, system: str) -> System:
    return load(system, run=SYSTEMS[system], configfile="small.yaml", directory=place.folder)


def command(place: ProjectCopy, *options: str, stdin: bytes) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "pipeline_py.translate", *options, "--configfile", "small.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, input=stdin, capture_output=True, cwd=place.folder, env=environment)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_test_set_becomes_what_the_workflow_made_of_it(trained, system):
    """The set is another than the one whose steps are taken."""
    assert opened(trained, system).translate(source_of(trained).splitlines()) == text_of(trained, system)


def test_the_command_writes_the_same_bytes_and_changes_nothing(trained):
    before = {file: file.stat().st_mtime_ns for file in (trained.folder / "results").rglob("*")}
    done = command(trained, "--system", "Tree-based-BPE", stdin=source_of(trained).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (trained.folder / "results/small/evaluation/Tree-based-BPE/seed1/two.txt").read_bytes()
    assert {file: file.stat().st_mtime_ns for file in (trained.folder / "results").rglob("*")} == before


@pytest.mark.parametrize("system", ["PBSMT", "SDAtt", "Tree-based-BPE"])
def test_a_line_in_is_a_line_out_whatever_it_holds(trained, system):
    found = opened(trained, system)
    translations = found.translate(ODD)
    assert len(translations) == len(ODD)
    assert translations[:3] == ["", "", ""]
    assert not any("\n" in text for text in translations)
    assert found.translate([]) == []
    assert found.translate([""]) == [""]


def test_lines_of_the_command(trained):
    stdin = b"The girl sleeps .\r\n\r\n\xff\xfe\n" + b"word " * (MAX_SENTENCE_CHARACTERS // 4)
    done = command(trained, "--system", "PBSMT", stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 4 and done.stdout.split(b"\n")[1] == b""
    assert command(trained, "--system", "PBSMT", stdin=b"").stdout == b""


def test_models_are_loaded_once(trained, monkeypatch):
    from pipeline_py.nmt.search import ensemble
    from pipeline_py.syntax.stanza import pipeline

    loaded = []
    for module, name in ((ensemble, "load"), (pipeline, "from_files")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, own=original, name=name: [loaded.append(name), own(*given)][1])
    found = load("SDAtt", configfile="small.yaml", directory=trained.folder)
    once = found.translate(["The girl sees the bird ."])
    assert found.translate(["The girl sees the bird ."]) == once
    found.score([("The girl sees the bird .", "Das Mädchen .")])
    assert sorted(loaded) == ["from_files", "load"]


@pytest.mark.parametrize("system", ["SDAtt", "Both", "Tree-based-BPE"])
def test_the_best_translations(trained, system):
    """The best of them is the translation; others have their words put back as well."""
    found = opened(trained, system)
    sentences = [*source_of(trained).splitlines()[:6], "", "Zyx Zyx sees ."]
    ranked = found.n_best(sentences, 3)
    assert [of_one[0].text for of_one in ranked] == found.translate(sentences)
    assert {len(of_one) for of_one in ranked[:6]} == {3} and len(ranked[6]) == 1
    assert all(of_one == sorted(of_one, key=lambda one: -one.score) for of_one in ranked)
    assert "<unk>" not in "".join(one.text for of_one in ranked for one in of_one)


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
    found = opened(trained, system)
    target = (results / "corpus/generated/two.target").read_text(encoding="utf-8").splitlines()
    pairs = [*zip(source_of(trained).splitlines(), target, strict=True)]
    assert found.score(pairs) == pytest.approx(expected, abs=1e-6)
    assert found.score([]) == []
    with pytest.raises(InputError, match="pair 2: the translation is empty"):
        found.score([pairs[0], ("a", " ")])


@pytest.mark.parametrize("system", ["SDAtt", "Tree-based-BPE", "Sequential-lexical"])
def test_attention(trained, system, tmp_path):
    found = opened(trained, system)
    own = found.attention("The girl sees the bird .")
    assert own.weights.shape == (len(own.translation), len(own.words) + len(own.phrases))
    given = found.attention("The girl sees the bird .", "Das Mädchen schläft .")
    assert len(given.weights) == len(given.translation) and np.all(given.weights >= 0)
    given.save(tmp_path / "one.svg", title="One")
    assert "One" in (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert given.plot(words=[1]).get_figwidth() > 0
    assert given._repr_svg_().lstrip().startswith("<?xml")
    assert found.attentions(["", "x" * (MAX_SENTENCE_CHARACTERS + 1)]) == [None, None]


def test_attention_of_the_command(trained, tmp_path):
    options = ["--system", "SDAtt", "--scores", "--attention", str(tmp_path / "figures")]
    done = command(trained, *options, stdin=b"A man sleeps .\n\nThe girl sees the bird .\n")
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == ["1.svg", "3.svg"]
    assert [line.count(b"\t") for line in done.stdout.splitlines()] == [1, 1, 1]
    done = command(trained, "--system", "SDAtt", "--nbest", "2", stdin=b"A man sleeps .\n")
    assert [line.split(b" ||| ")[0] for line in done.stdout.splitlines()] == [b"0", b"0"]


def test_a_system_is_found_by_the_folder_of_its_results(trained, monkeypatch):
    results = trained.folder / "results/small/nmt/GlobalAtt"
    assert load(results / "seed2", configfile="small.yaml").run == "seed2"
    monkeypatch.chdir(results)
    assert load("SDAtt", configfile="small.yaml").name == "SDAtt"
    with pytest.raises(InputError, match="the results of this experiment are in results/other; give the configfile"):
        load(results / "seed2", configfile="small.yaml", config={"name": "other"})


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("SDAt", "unknown system `SDAt`; did you mean `SDAtt`?"),
        (
            "FlexAtt",
            "FlexAtt is not trained, or not completely: .*model.safetensors is missing; `snakemake --cores all results",
        ),
        ("SDAtt [gold]", "reads trees from files, and new text has none"),
    ],
)
def test_why_a_system_does_not_translate(trained, system, said):
    with pytest.raises(InputError, match=said):
        load(system, configfile="small.yaml", directory=trained.folder)


def test_what_a_system_cannot_do(trained):
    for ask in (System.n_best, System.attentions, System.score):
        with pytest.raises(InputError, match="PBSMT is phrase-based and has no "):
            ask(opened(trained, "PBSMT"), [])
    with pytest.raises(InputError, match="Both is an ensemble"):
        opened(trained, "Both").attention("A man sleeps .")
    with pytest.raises(InputError, match="ask for 1 to 5, not 9"):
        opened(trained, "SDAtt").n_best(["A man sleeps ."], 9)


def test_damage_is_found(trained, tmp_path):
    place = trained.copied(tmp_path / "damaged")
    model = place.folder / "results/small/nmt/SDAtt/seed1/model.safetensors"
    content = bytearray(model.read_bytes())
    content[-1] ^= 1
    model.write_bytes(content)
    with pytest.raises(InputError, match=r"SDAtt/seed1/model\.safetensors"):
        opened(place, "SDAtt").translate(["A man sleeps ."])


def test_a_configuration_that_is_at_fault(trained):
    with pytest.raises(InputError, match="unknown key `traning`"):
        load("SDAtt", configfile="small.yaml", config={"traning": {}}, directory=trained.folder)
    with pytest.raises(InputError, match="there is no Snakefile"):
        load("SDAtt", directory=trained.folder / "results")


def test_the_worked_example(trained):
    """The script of the documentation, told of the experiment of this test."""
    script = (ROOT / "docs/use_a_system.py").read_text(encoding="utf-8")
    call = 'load("results/nmt/SDAtt/seed1")'
    assert script.count(call) == 1 and call in (ROOT / "docs/translate.md").read_text(encoding="utf-8")
    script = script.replace(call, 'load("results/small/nmt/SDAtt/seed1", configfile="small.yaml")')
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=trained.folder, env=environment, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<System SDAtt (seed1)>\n") and "log p: -" in done.stdout
    assert (trained.folder / "attention.svg").is_file()
