"""Tests of parsing a text and shards of it, of cached trees, and of wrong inputs."""

import hashlib
import json
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import run_job
from pipeline_py.syntax.merge_trees import merge_trees
from pipeline_py.syntax.parse import load, parse
from pipeline_py.syntax.stanza.model_directory import list_parser_model_files
from pipeline_py.syntax.stanza.model_source import ModelSource
from pipeline_py.syntax.trees.dependency import read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, TreeMetadata
from tests.job_process import build_cached_job, find_imported_modules

ROOT = Path(__file__).parents[2]
STANZA = (ROOT / "../shared/data/stanza_en").resolve()

needs_models = pytest.mark.skipif(not STANZA.exists(), reason="the Stanza directory stanza_en is not on this machine")

LINES = [
    "The dog that saw the cat sleeps .",
    "",
    "don't split-me ( a\u00a0b ) \u2028 ... \u200d 👩\u200d🚀 # 😀",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
    "(",
    "A man in a red shirt is riding a bike .",
]


def parse_text(folder: Path, **options: Any) -> None:
    """Parse the tokens `t` of a folder; by default dependency trees are written to `o`."""
    arguments = {"annotation": TreeKind.DEPENDENCY, "tokens": folder / "t", "output": folder / "o"}
    parse(**{**arguments, "counts_output": folder / "l", "facts_output": folder / "f", **options})


@needs_models
@pytest.mark.slow
@pytest.mark.parametrize("annotation", list(TreeKind))
def test_every_line_has_a_tree_over_its_tokens(annotation: TreeKind, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    options = {"annotation": annotation, "directory": STANZA, "batch_size": 4, "max_words": 13}
    for name in ("a", "b"):
        parse_text(tmp_path, output=tmp_path / name, **options)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    tree_format = TREE_FILE_FORMATS[annotation]
    trees = list(tree_format.read_trees(tmp_path / "a"))
    assert [tree.words for tree in trees] == [tuple(line.split(" ")) if line else () for line in LINES]
    assert [tree_format.get_failure_reason(tree) is not None for tree in trees] == [place == 3 for place in range(6)]
    assert json.loads((tmp_path / "l").read_text()) == {
        "in": 6,
        "kept": 6,
        "dropped": {},
        "noted": {"empty line": 1, "parsed by fallback: more than 13 words": 1},
    }


@needs_models
@pytest.mark.slow
def test_parse_of_a_simple_sentence_is_plausible(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(LINES[-1] + "\n", encoding="utf-8")
    parse_text(tmp_path, directory=STANZA)
    (tree,) = read_dependency_trees(tmp_path / "o")
    assert tree.words[tree.root_words[0] - 1] == "riding"
    assert tree.upos[1] == "NOUN"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "one source of models"),
        ({"directory": Path("d"), "package": "default"}, "one source of models"),
        ({"tagger": Path("t")}, "give depparse"),
        ({"directory": Path("d"), "depparse": Path("p")}, "go with a tagger"),
        ({"package": "default", "pretrain": Path("p")}, "go with a tagger"),
        ({"tagger": Path("nowhere.pt"), "depparse": Path("nowhere.pt")}, r"nowhere\.pt: no such model"),
        ({"directory": Path("nowhere")}, r"nowhere: no resources\.json"),
    ],
)
def test_wrong_sources_of_models_are_rejected(options: dict[str, object], error: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(InputError, match=error):
        parse_text(tmp_path, **options)


def test_invalid_model_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n")
    (tmp_path / "m.pt").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"Stanza cannot load .*m\.pt"):
        parse_text(tmp_path, tagger=tmp_path / "m.pt", depparse=tmp_path / "m.pt")


@pytest.mark.parametrize(("name", "value"), [("batch_size", 0), ("max_words", 0), ("sentences", 0), ("first", -1)])
def test_number_out_of_range_is_rejected(name: str, value: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"syntax\.parse: {name}: Input should be greater than"):
        run_job(parse_job(tmp_path, **{name: value}))


def test_line_that_is_not_utf8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="t, line 2: byte 1 is not UTF-8"):
        run_job(parse_job(tmp_path))
    assert not (tmp_path / "o").exists()


def test_tab_is_rejected_before_parsing(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\na\tb\n")
    with pytest.raises(InputError, match="t, line 2: a tab"):
        parse_text(tmp_path, directory=tmp_path)


def test_package_without_network_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import stanza

    def offline(*_: object, **__: object) -> None:
        raise ConnectionError("Max retries\nexceeded")

    monkeypatch.setattr(stanza, "Pipeline", offline)
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(InputError, match=r"package 'default' for 'en' .*give a local directory.*retries ex"):
        parse_text(tmp_path, package="default")


@needs_models
@pytest.mark.slow
@pytest.mark.parametrize("annotation", list(TreeKind))
def test_merged_slices_have_the_tree_of_each_line(annotation: TreeKind, tmp_path: Path) -> None:
    lines = LINES[:3] + LINES[4:]
    (tmp_path / "t").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    paths = {kind: [tmp_path / f"{number}.{kind}" for number in range(4)] for kind in ("trees", "counts", "facts")}
    for number, first in enumerate((0, 2, 4, 6)):
        parse(
            annotation=annotation,
            tokens=tmp_path / "t",
            output=paths["trees"][number],
            counts_output=paths["counts"][number],
            facts_output=paths["facts"][number],
            directory=STANZA,
            first=first,
            sentences=2,
            device="cpu",
        )
    merge_trees(
        annotation=annotation,
        parts=paths["trees"],
        counts=paths["counts"],
        facts=paths["facts"],
        tokens=tmp_path / "t",
        output=tmp_path / "o",
        counts_output=tmp_path / "l",
        facts_output=tmp_path / "f",
    )
    tree_format = TREE_FILE_FORMATS[annotation]
    trees = list(tree_format.read_trees(tmp_path / "o"))
    assert [tree.words for tree in trees] == [tuple(line.split(" ")) if line else () for line in lines]
    assert not any(map(tree_format.get_failure_reason, trees))
    assert paths["trees"][3].read_bytes() == b""
    facts = TreeMetadata.read(tmp_path / "f")
    parser = "depparse/ewt.pt" if annotation is TreeKind.DEPENDENCY else "constituency/gum.pt"
    assert facts.models == {
        name: hashlib.sha256((STANZA / "en" / name).read_bytes()).hexdigest()
        for name in ("pos/ewt.pt", "pretrain/small.pt", parser)
    }
    assert (facts.sentences, facts.device, set(facts.versions)) == (len(lines), "cpu", {"stanza", "torch"})
    assert facts.seconds > 0


@needs_models
@pytest.mark.slow
def test_benchmark_measures_both_kinds_of_trees(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\nthe dog sleeps .\n")
    command = [sys.executable, "-m", "benchmarks.parse", "--text", tmp_path / "t", "--repetitions", "1"]
    result = subprocess.run([*command, "--directory", STANZA], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[:3] for row in rows[-2:]] == [["dependency", "2", "5"], ["constituency", "2", "5"]]


class Chains:
    """A fake Stanza pipeline that makes each word the head of the next and records the lengths of sentences."""

    device = "cpu"
    config: dict[str, Any] = {}

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, batch: list[list[str]]) -> SimpleNamespace:
        self.batches.append([len(words) for words in batch])
        return SimpleNamespace(sentences=[SimpleNamespace(words=self.chain(words)) for words in batch])

    def chain(self, words: list[str]) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=word, head=k, deprel="dep", upos="X") for k, word in enumerate(words)]


@pytest.fixture
def chains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chains:
    """Replace the Stanza pipeline by a fake one, and write fake model files."""
    pipeline = Chains()
    monkeypatch.setattr(ModelSource, "load_pipeline", lambda *_: pipeline)
    # Garbage collection of everything that tests have imported takes half a second.
    monkeypatch.setattr("pipeline_py.syntax.stanza.pipeline.without_garbage_collection", nullcontext)
    for name in ("tagger.pt", "depparse.pt", "vectors.pt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "t").write_text("a\nb b\n\nc c c\nd\n", encoding="utf-8")
    return pipeline


def parse_job(folder: Path, **options: Any) -> dict[str, Any]:
    """The job that parses `t` with the models of `chains`."""
    arguments: dict[str, Any] = {
        "annotation": "dependency",
        "tokens": folder / "t",
        "output": folder / "o",
        "counts_output": folder / "l",
        "facts_output": folder / "f",
        "tagger": folder / "tagger.pt",
        "depparse": folder / "depparse.pt",
    }
    return build_cached_job("syntax.parse", folder, arguments | options)


def parse_chains(folder: Path, **options: Any) -> str:
    """Run the job that parses `t`; return the trees."""
    run_job(parse_job(folder, **options))
    return (folder / "o").read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9])
def test_trees_of_slices_are_those_of_the_text(size: int, chains: Chains, tmp_path: Path) -> None:
    all_trees = parse_chains(tmp_path)
    assert chains.batches == [[3, 2, 1, 1]]
    slices = [parse_chains(tmp_path, first=first, sentences=size) for first in range(0, 12, size)]
    assert "".join(slices) == all_trees
    assert [tree.words for tree in read_trees_from_text(all_trees, tmp_path)] == [
        ("a",),
        ("b", "b"),
        (),
        ("c", "c", "c"),
        ("d",),
    ]


def read_trees_from_text(text: str, folder: Path) -> Any:
    (folder / "read").write_text(text, encoding="utf-8")
    return read_dependency_trees(folder / "read")


def test_only_lines_of_the_slice_are_checked(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\tb\nc\nd\te\n")
    assert "\tc\t" in parse_chains(tmp_path, first=1, sentences=1)
    with pytest.raises(InputError, match="t, line 3: a tab"):
        parse_chains(tmp_path, first=1)


def test_lines_outside_of_the_slice_are_not_kept_in_memory(chains: Chains, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"{'word ' * 20}\n" * 100_000)
    tracemalloc.start()
    parse_chains(tmp_path, first=50_000, sentences=10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (tmp_path / "t").stat().st_size / 5


def test_interrupted_run_leaves_no_output(chains: Chains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: list[str]) -> list[SimpleNamespace]:
        if words == ["d"]:
            raise KeyboardInterrupt
        return Chains().chain(words)

    monkeypatch.setattr(chains, "chain", interrupted)
    before = set(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        parse_chains(tmp_path, batch_size=1)
    assert set(tmp_path.iterdir()) == before


def test_cached_trees_are_restored_without_stanza(chains: Chains, tmp_path: Path) -> None:
    parse_chains(tmp_path)
    outputs = {name: (tmp_path / name).read_bytes() for name in "olf"}
    for name in outputs:
        (tmp_path / name).unlink()
    imported, messages = find_imported_modules(parse_job(tmp_path), "stanza", "torch")
    assert imported == set() and "from the cache" in messages
    assert {name: (tmp_path / name).read_bytes() for name in "olf"} == outputs


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't"), True),
        (RuntimeError("no legal transition"), False),
    ],
)
def test_trees_are_not_cached_after_memory_errors(
    error: Exception, again: bool, chains: Chains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(words: list[str]) -> list[SimpleNamespace]:
        if words == ["d"]:
            raise error
        return Chains().chain(words)

    with monkeypatch.context() as patch:
        patch.setattr(chains, "chain", failing)
        assert parse_chains(tmp_path, batch_size=1).count("parse = failed") == 1
    assert parse_chains(tmp_path, batch_size=1).count("parse = failed") == (not again)


def test_slice_after_the_end_loads_no_models(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\nb\n")
    source = {"annotation": "constituency", "tagger": None, "depparse": None, "directory": tmp_path / "nowhere"}
    imported, _ = find_imported_modules(parse_job(tmp_path, **source, first=2, sentences=5), "stanza", "torch")
    assert imported == set()
    assert (tmp_path / "o").read_bytes() == b""
    assert json.loads((tmp_path / "l").read_text()) == {"in": 0, "kept": 0, "dropped": {}, "noted": {}}
    facts = TreeMetadata.read(tmp_path / "f")
    assert (facts.sentences, facts.seconds, facts.device, facts.models) == (0, 0, "none", {})


def test_models_are_loaded_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    for name in ("load_pipeline", "load_tokenizer"):
        monkeypatch.setattr(ModelSource, name, lambda *arguments, name=name: loaded.append(name) or arguments[1:])
    models = load(annotation=TreeKind.DEPENDENCY, package="gum", device="cpu", batch_size=3)
    assert loaded == []
    assert [models.pipeline, models.pipeline] == [("cpu", 3)] * 2 and loaded == ["load_pipeline"]
    assert [models.tokenizer, models.tokenizer] == [()] * 2 and loaded == ["load_pipeline", "load_tokenizer"]


def test_lines_outside_of_the_slice_do_not_invalidate_the_cache(chains: Chains, tmp_path: Path) -> None:
    trees = parse_chains(tmp_path, first=1, sentences=2)
    (tmp_path / "t").write_text("new\nb b\n\nother\n")
    assert parse_chains(tmp_path, first=1, sentences=2) == trees
    assert len(chains.batches) == 1
    parse_chains(tmp_path, first=1, sentences=3)
    assert len(chains.batches) == 2


def test_untokenized_lines_outside_of_the_slice_do_not_invalidate_the_cache(chains: Chains, tmp_path: Path) -> None:
    chains.processors = {"pos": SimpleNamespace(get_known_xpos=list)}
    (tmp_path / "text").write_text("a\nb b\n\nc c c\nd\n")
    shard = {"text": tmp_path / "text", "first": 1, "sentences": 1}
    for text in ("a\nb b\n\nc c c\nd\n", "new\nb b\n\nother\n", "a\nb  b\n\nc c c\nd\n"):
        (tmp_path / "text").write_text(text)
        parse_chains(tmp_path, **shard)
    assert len(chains.batches) == 2


@pytest.mark.parametrize("changed", ["t", "tagger.pt", "depparse.pt", "o"])
def test_changed_file_is_parsed_again(changed: str, chains: Chains, tmp_path: Path) -> None:
    trees = parse_chains(tmp_path)
    assert parse_chains(tmp_path) == trees
    assert len(chains.batches) == 1
    with (tmp_path / changed).open("a") as file:
        file.write("x\n")
    assert (parse_chains(tmp_path) == trees) == (changed != "t")
    assert len(chains.batches) == 2


def test_changed_settings_are_parsed_again(chains: Chains, tmp_path: Path) -> None:
    """Settings are in the hash `process`; threads are in no hash."""
    job = parse_job(tmp_path)
    calls = {
        "the first": job,
        "threads": job | {"threads": 2},
        "settings": job | {"process": "other"},
        "vectors": parse_job(tmp_path, pretrain=tmp_path / "vectors.pt"),
        "package": parse_job(tmp_path, tagger=None, depparse=None, package="default"),
        "not cached": job | {"is_cached": False},
    }
    parsed_again = []
    for name, call in calls.items():
        before = len(chains.batches)
        run_job(call)
        parsed_again += [name] * (len(chains.batches) > before)
    assert parsed_again == ["the first", "settings", "vectors", "package", "not cached"]


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("zh-hans/pos/a.pt", True),
        ("zh-hans/depparse/a.pt", True),
        ("zh-hans/pretrain/a.pt", True),
        ("zh-hans/forward_charlm/new.pt", True),
        ("resources.json", True),
        ("zh-hans/constituency/a.pt", False),
        ("zh-hans/tokenize/a.pt", False),
    ],
)
@pytest.mark.parametrize("language", ["zh", "ZH", "zh-Hans"])
def test_changed_model_of_a_directory_is_parsed_again(
    language: str, changed: str, again: bool, chains: Chains, tmp_path: Path
) -> None:
    directory = tmp_path / "stanza"
    for name in ("pos", "depparse", "pretrain", "constituency", "tokenize", "forward_charlm"):
        (directory / "zh-hans" / name).mkdir(parents=True)
        if name != "forward_charlm":
            (directory / "zh-hans" / name / "a.pt").write_text(name)
    (directory / "resources.json").write_text('{"zh": {"alias": "zh-hans"}, "zh-hans": {}}')
    parse_with_directory(tmp_path, language)
    with (directory / changed).open("a") as file:
        file.write(" ")
    parse_with_directory(tmp_path, language)
    assert len(chains.batches) == 1 + again


def test_renamed_model_of_a_directory_is_parsed_again(chains: Chains, tmp_path: Path) -> None:
    models = tmp_path / "stanza" / "en" / "pos"
    models.mkdir(parents=True)
    (models / "a.pt").touch()
    (tmp_path / "stanza" / "resources.json").write_text("{}")
    parse_with_directory(tmp_path, "en")
    (models / "a.pt").rename(models / "b.pt")
    parse_with_directory(tmp_path, "en")
    assert len(chains.batches) == 2


def parse_with_directory(folder: Path, language: str) -> None:
    directory = folder / "stanza"
    files = list_parser_model_files(directory, language, TreeKind.DEPENDENCY)
    source = {"directory": directory, "directory_files": files, "tagger": None, "depparse": None}
    parse_chains(folder, **source, language=language)


def test_garbage_collection_is_restored_after_parsing() -> None:
    import gc

    from pipeline_py.syntax.stanza.pipeline import without_garbage_collection

    with pytest.raises(KeyboardInterrupt), without_garbage_collection():
        assert gc.get_freeze_count() > 0
        raise KeyboardInterrupt
    assert gc.get_freeze_count() == 0
