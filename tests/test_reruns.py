"""After a change exactly what depends on it is made again: each kind of change, and what a dry run then lists."""

import ast
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline_py.run.job_record import RECORD_MISMATCH_ERROR
from pipeline_py.run.provenance import RESULT_NEUTRAL_MODULES
from tests.project_copy import ROOT, SMALL_CONFIG, ProjectCopy
from tests.text_files import read_table

pytestmark = pytest.mark.slow

SYSTEMS = ["PBSMT", "GlobalAtt", "LocalAtt", "SDAtt", "Tree2Seq"]
TABLE = {"table1": {"systems": SYSTEMS}}
TESTS = SMALL_CONFIG["corpora"]["tests"][:1]
CONFIG = {"corpora": {"tests": TESTS}, "tables": TABLE}
TARGETS = ["results/table1.tsv", "results/table1.facts.tsv", "results/figures/table1.length.svg"]
DEPENDENCIES = {("parse", "conllu"), ("compute_distances", None)}
CONSTITUENCY = {("parse", "ptb"), ("binarize", None), ("pack_trees", None)}


class Plan:
    """What a run would do: rules, systems, and kinds of trees."""

    def __init__(self, workplace: ProjectCopy, config: dict | None = None, tables: dict | None = None) -> None:
        self.jobs = workplace.list_planned_jobs(
            *TARGETS, config={**CONFIG, "tables": tables or TABLE, **(config or {})}
        )
        self.rules = {rule for rule, _ in self.jobs}

    def systems(self, rule: str) -> set[str]:
        """Systems that a rule would run for."""
        return {wildcards["system"] for name, wildcards in self.jobs if name == rule}

    def values(self, rule: str, wildcard: str) -> list[str]:
        """Values of a wildcard of all jobs of a rule."""
        return sorted(wildcards[wildcard] for name, wildcards in self.jobs if name == rule)

    def makes(self, kind: set[tuple[str, str | None]]) -> bool:
        """Whether any job makes, or is made from, a kind of trees."""
        return any(
            rule == name and (trees is None or wildcards.get("trees") == trees)
            for rule, wildcards in self.jobs
            for name, trees in kind
        )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> ProjectCopy:
    workplace = ProjectCopy(tmp_path_factory.mktemp("finished"))
    done = workplace.run_snakemake(*TARGETS, config=CONFIG)
    assert done.returncode == 0, done.stderr[-5000:]
    return workplace


def test_the_table_is_made(finished):
    rows = read_table(finished.folder / "results" / "table1.tsv")
    assert [row["system"] for row in rows] == ["PBSMT (Thot)", *SYSTEMS[1:]]
    facts = read_table(finished.folder / "results" / "table1.facts.tsv")
    assert [bool(row["parser"]) for row in facts] == [False, False, False, True, True]
    assert not list(finished.folder.glob("<*")), "every path variable is resolved"


def test_nothing_is_made_twice(finished):
    assert Plan(finished).jobs == []


def test_an_option_of_the_dependency_parser(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"depparse": {"epochs": 2}}}})
    assert plan.values("train_parser", "processor") == ["depparse"]
    assert plan.makes(DEPENDENCIES) and not plan.makes(CONSTITUENCY)
    assert plan.systems("train") == plan.systems("translate") == {"SDAtt"}
    assert not {"train_smt", "translate_smt", "pack", "vocabulary", "clean"} & plan.rules


def test_an_option_of_the_constituency_parser(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"constituency": {"epochs": 2}}}})
    assert plan.values("train_parser", "processor") == ["constituency"]
    assert plan.makes(CONSTITUENCY) and not plan.makes(DEPENDENCIES)
    assert plan.systems("train") == plan.systems("translate") == {"Tree2Seq"}


def test_how_phrases_are_divided(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"branching": "left"}}})
    assert "binarize" in plan.rules and not {"parse", "train_parser", "compute_distances"} & plan.rules
    assert plan.systems("train") == {"Tree2Seq"}


def test_the_seed_of_a_control_and_word_vectors(finished):
    """What a parser is told is that parser's; its trees are those of all systems that are crossed with it."""
    control = {"type": "control", "shape": "random"}
    targets = ["results/nmt/SDAtt [chance]/seed1/facts.json", "results/nmt/SDAtt/seed1/facts.json"]
    tables = {"tables": {"table1": {"systems": [*SYSTEMS, "SDAtt [chance]"]}}}
    done = finished.run_snakemake(*targets, config={**tables, "parsers": {"chance": control}})
    assert done.returncode == 0, done.stderr[-5000:]
    again = finished.list_planned_jobs(*targets, config={**tables, "parsers": {"chance": {**control, "seed": 2}}})
    assert {wildcards.get("parser", wildcards.get("system")) for _, wildcards in again} == {"chance", "SDAtt [chance]"}
    (finished.folder / "vectors.txt").write_text("1 2\nthe 0.5 0.5\n", encoding="utf-8")
    again = finished.list_planned_jobs(
        *targets, config={**tables, "parsers": {"chance": control, "embedded": {"vectors": "vectors.txt"}}}
    )
    assert {wildcards["processor"] for rule, wildcards in again if rule == "train_parser"} == {"tagger", "depparse"}
    assert [wildcards["system"] for rule, wildcards in again if rule == "train"] == ["SDAtt"]


def test_an_option_of_parsing(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"max_words": 7}}})
    assert len(plan.values("parse", "split")) == 6 and "train_parser" not in plan.rules
    assert plan.systems("train") == {"SDAtt", "Tree2Seq"}


def test_the_words_that_a_parser_reads(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"words": "english"}}})
    assert len(plan.values("parse", "split")) == 6
    assert not {"train_parser", "parse_held_out_trees", "clean"} & plan.rules
    assert "parse_raw_text" in plan.rules, "accuracy on raw text depends on the words"
    assert plan.systems("train") == {"SDAtt", "Tree2Seq"}
    assert Plan(finished, {"parsers": {"embedded": {"words": "text"}}}).jobs == []


def test_the_treebank_of_a_trained_parser(finished):
    plan = Plan(finished, {"parsers": {"embedded": {"treebank": {"generate": 61}}}})
    assert plan.values("train_parser", "processor") == ["constituency", "depparse", "tagger"]
    assert plan.makes(DEPENDENCIES) and plan.makes(CONSTITUENCY)
    assert plan.systems("train") == {"SDAtt", "Tree2Seq"}
    assert not {"generate", "clean", "tokenize", "pack"} & plan.rules


def test_another_version_of_stanza(finished, tmp_path, monkeypatch):
    """Python takes the version from the first description of the package on its path."""
    description = tmp_path / "stanza-99.0.dist-info"
    description.mkdir()
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: stanza\nVersion: 99.0\n")
    with monkeypatch.context() as patch:
        patch.setattr(finished, "import_paths", (tmp_path,))
        plan = Plan(finished)
    assert len(plan.values("train_parser", "processor")) == 3
    assert plan.systems("train") == {"SDAtt", "Tree2Seq"}
    assert not {"train_smt", "tokenize", "pack", "clean"} & plan.rules


CODE = {
    "syntax/parse.py": ({"parse"}, {"train_parser", "pack"}, {"SDAtt", "Tree2Seq"}),
    "syntax/compute_distances.py": ({"compute_distances"}, {"parse", "binarize"}, {"SDAtt"}),
    "syntax/binarize.py": ({"binarize"}, {"parse", "compute_distances"}, {"Tree2Seq"}),
    "nmt/weighting/syntax.py": ({"train"}, {"parse", "compute_distances"}, {"SDAtt"}),
    "nmt/trees/tree_lstm.py": ({"train"}, {"parse", "compute_distances"}, {"Tree2Seq"}),
    "evaluation/postprocess.py": ({"postprocess"}, {"translate"}, set()),
}


def with_remark(code: str) -> str:
    return f"{code}\n# A remark.\n"


def with_changed_functions(code: str) -> str:
    """Code with a further statement in each function and method; it still does the same."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            place = 0 if ast.get_docstring(node) is None else 1
            node.body.insert(place, ast.parse("changed = True").body[0])
    return ast.unparse(tree)


@contextmanager
def with_code(workplace: ProjectCopy, change: Callable[[str], str], *modules: str) -> Iterator[None]:
    """Change modules for a while."""
    files = [Path("pipeline_py", module) for module in modules]
    try:
        for file in files:
            path = workplace.folder / file
            path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        yield
    finally:
        for file in files:
            shutil.copy2(ROOT / file, workplace.folder / file)


def test_a_comment_in_the_code_of_stages(finished):
    with with_code(finished, with_remark, *CODE):
        assert Plan(finished).jobs == []


@pytest.mark.parametrize("module", CODE)
def test_the_code_of_a_stage(finished, module):
    again, never, trained = CODE[module]
    with with_code(finished, with_changed_functions, module):
        plan = Plan(finished)
    assert again <= plan.rules and not never & plan.rules
    assert plan.systems("train") == trained


def test_the_code_that_changes_no_result(finished):
    package = ROOT / "pipeline_py"
    places = [package / module.replace(".", "/") for module in RESULT_NEUTRAL_MODULES]
    files = [file for place in places for file in ([*place.glob("*.py")] or [place.with_suffix(".py")])]
    with with_code(finished, with_changed_functions, *(str(file.relative_to(package)) for file in files)):
        assert Plan(finished).jobs == []


def test_a_new_parser(finished):
    """A table that crosses a system with parsers makes only the new parser's trees, and trains only its system."""
    tables = {"table1": {"systems": SYSTEMS, "parsers": ["embedded", "random"], "proposed": ["SDAtt"]}}
    plan = Plan(finished, {"parsers": {"random": {"type": "control", "shape": "random"}}}, tables)
    assert (
        set(plan.values("build_control_trees", "parser")) == {"random"}
        and len(plan.values("build_control_trees", "split")) == 6
    )
    assert not {"parse", "train_parser", "pack", "train_smt"} & plan.rules
    assert set(plan.values("compute_distances", "parser")) == set(plan.values("binarize", "parser")) == {"random"}
    assert plan.systems("train") == plan.systems("translate") == {"SDAtt [random]", "Tree2Seq [random]"}


def test_a_parser_that_no_system_reads(finished):
    assert Plan(finished, {"parsers": {"random": {"type": "control", "shape": "random"}}}).jobs == []


def test_the_merges_of_bpe(finished):
    system = {"contexts": ["syntax"], "parser": "embedded", "subword": "bits"}
    config = {"subwords": {"bits": {"scheme": "bpe", "merges": 100}}, "systems": {"Bits": system}}
    target = "results/nmt/Bits/seed1/facts.json"
    done = finished.run_snakemake(target, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    plan = finished.count_planned_jobs(target, config={**config, "subwords": {"bits": {"scheme": "bpe", "merges": 90}}})
    assert plan["learn_bpe"] == 2 and plan["inherit"] == 2 and plan["train"] == 1
    assert not {"parse", "train_parser", "compute_distances", "tokenize"} & plan.keys()


@pytest.mark.parametrize(
    ("change", "again", "never"),
    [
        ({"decoding": {"beam": 3}}, {"translate"}, {"train", "parse", "pack"}),
        ({"training": {"seeds": [2]}}, {"train", "translate"}, {"parse", "pack", "clean"}),
        (
            {"evaluation": {"lowercase": False}},
            {"compute_metric_statistics", "compare_systems", "render_table"},
            {"translate", "train"},
        ),
        (
            {"subword": {"target_vocabulary": {"max_size": 50}}},
            {"vocabulary", "pack", "train"},
            {"parse", "compute_distances"},
        ),
        (
            {"evaluation": {"smallest_group": 3}},
            {"draw_bleu_by_length"},
            {"score_sentence_groups", "compare_systems", "compute_metric_statistics", "render_table"},
        ),
        ({"decoding": {"length_model": True, "length_floor": 0.01}}, {"length_model", "translate"}, {"train", "parse"}),
        ({"decoding": {"length_floor": 0.01}}, set(), {"translate"}),
        (
            {"tables": {"table1": {**TABLE["table1"], "title": "Another"}}},
            {"render_table"},
            {"compute_metric_statistics", "compare_systems"},
        ),
    ],
    ids=[
        "beam",
        "seed",
        "case of BLEU",
        "vocabulary",
        "smallest group",
        "length model",
        "floor that is not read",
        "title",
    ],
)
def test_what_has_nothing_to_do_with_parsers(finished, change, again, never):
    plan = Plan(finished, change, change.get("tables"))
    assert again <= plan.rules and not never & plan.rules


def test_reports_do_not_depend_on_the_order_of_parsers(finished):
    """Which of two parsers comes first says nothing; neither does the size of shards where nothing is parsed."""
    tree, chain = ({"type": "control", "shape": shape} for shape in ("balanced", "chain"))
    tables = {"table1": {"systems": ["GlobalAtt", "SDAtt [one]", "SDAtt [two]"], "proposed": []}}
    plans = [
        finished.list_planned_jobs(
            "all", config={"parsers": parsers, "tables": tables, "targets": ["table1"], "parsing": size}
        )
        for parsers, size in (
            ({"one": tree, "two": chain}, {"shard_size": 120}),
            ({"two": chain, "one": tree}, {"shard_size": 9000}),
        )
    ]
    assert sorted(map(str, plans[0])) == sorted(map(str, plans[1]))
    assert [wildcards for rule, wildcards in plans[0] if rule == "measure_agreement"] == [
        {"parser": "one", "second_parser": "two"}
    ]


def test_trees_that_are_given(finished):
    """Files that are touched are those of before; a tree that changes is read again, of its text alone."""
    given = finished.folder / "given"
    given.mkdir()
    for split in ("dev", "one"):
        shutil.copy(finished.folder / f"results/corpus/generated/{split}.conllu", given)
    trees = {split: {"conllu": f"given/{split}.conllu"} for split in ("dev", "one")}
    config = {"parsers": {"mine": {"type": "given", "trees": trees}}}
    targets = [f"results/syntax/mine/{split}.distances.arrow" for split in trees]
    done = finished.run_snakemake(*targets, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    for file in given.iterdir():
        file.touch()
    assert finished.list_planned_jobs(*targets, config=config) == []
    changed = given / "one.conllu"
    changed.write_text(changed.read_text(encoding="utf-8").replace("# ", "# changed ", 1), encoding="utf-8")
    assert [(rule, wildcards["split"]) for rule, wildcards in finished.list_planned_jobs(*targets, config=config)] == [
        ("import_trees", "one"),
        ("compute_distances", "one"),
    ]


def test_an_option_of_one_system(finished):
    plan = Plan(finished, {"systems": {"GlobalAtt": {"model": {"hidden": 9}}}})
    assert plan.systems("train") == plan.systems("translate") == {"GlobalAtt"}
    assert not {"parse", "pack", "train_smt"} & plan.rules


COMPARED = ("comparisons", "by_sentence", "sentence_scores", "words", "ngrams", "examples")


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (
            {"evaluation": {"lowercase": False}},
            {
                "count_word_frequencies",
                "compute_metric_statistics",
                "compare_systems",
                "score_sentence_groups",
                "measure_word_accuracy",
                "compare_ngrams",
                "select_example_sentences",
            },
        ),
        ({"evaluation": {"length_groups": [5, 15]}}, {"score_sentence_groups"}),
        ({"tables": {"table1": {**TABLE["table1"], "title": "Another"}}}, set()),
    ],
    ids=["case", "groups of lengths", "title"],
)
def test_what_is_said_of_systems_beside_each_other(finished, change, again):
    targets = [f"results/evaluation/table1/one.{kind}.tsv" for kind in COMPARED]
    done = finished.run_snakemake(*targets, config=CONFIG)
    assert done.returncode == 0, done.stderr[-5000:]
    planned = {rule for rule, _ in finished.list_planned_jobs(*targets, config={**CONFIG, **change})}
    assert planned == again


def test_watching_changes_no_result(finished):
    watched = {"tensorboard": True, "checkpoint_minutes": 9, "graphs": False, "threads": 2}
    assert not Plan(finished, {"training": watched}).rules
    assert "train" in Plan(finished, {"training": {"processes": 2}}).rules, "units are dropped out by each on its own"


def test_a_further_seed(finished):
    plan = Plan(finished, {"training": {"seeds": [1, 2]}})
    assert set(plan.values("train", "run")) == {"seed2"} and len(plan.values("train", "system")) == 4
    assert not {"pack", "parse"} & plan.rules


def test_a_new_generated_test_set(finished):
    tests = [*TESTS, {"name": "three", "generate": {"sentences": 20}}]
    plan = Plan(finished, {"corpora": {"tests": tests}})
    for rule in ("parse", "compute_distances", "binarize", "tokenize", "generate"):
        assert set(plan.values(rule, "split")) == {"three"}
    assert "translate" in plan.rules, "of all sets"
    assert not {"train", "train_parser", "train_smt", "vocabulary"} & plan.rules


def test_a_new_test_set_translates_no_other_set_again(finished, tmp_path):
    workplace = finished.copy_to(tmp_path / "more")
    folder = workplace.folder / "results/nmt/GlobalAtt/seed1"
    before = {name: (folder / name).read_bytes() for name in ("dev.pieces", "one.pieces")}
    tests = [*TESTS, {"name": "three", "generate": {"sentences": 20}}]
    done = workplace.run_snakemake("results/nmt/GlobalAtt/seed1/three.pieces", config={"corpora": {"tests": tests}})
    assert done.returncode == 0, done.stderr[-5000:]
    log = (workplace.folder / "logs/nmt/translate/GlobalAtt.seed1.log").read_text()
    for name, content in before.items():
        assert f"{name}: reused from the cache" in log and (folder / name).read_bytes() == content
    assert "three.pieces: reused" not in log and len((folder / "three.pieces").read_text().splitlines()) == 20


@pytest.mark.parametrize("removed", [False, True])
def test_a_new_test_set_in_files(finished, removed):
    """It takes its sentences out of the training text, unless it is told to leave that alone."""
    folder = finished.folder / "texts"
    folder.mkdir(exist_ok=True)
    for side, text in (("en", "a small test ."), ("de", "ein kleiner Test .")):
        (folder / f"new.{side}").write_text(text + "\n", encoding="utf-8")
    new = {"name": "new", "source": "texts/new.en", "references": ["texts/new.de"], "removed_from_training": removed}
    # A parser of generated trees reads text in files only where it is asked for.
    plan = Plan(finished, {"corpora": {"tests": [*TESTS, new]}, "parser": "embedded"})
    assert ("train" in plan.rules) == ("clean" in plan.rules) == removed
    assert {"new"} <= set(plan.values("parse", "split"))
    if not removed:
        assert set(plan.values("parse", "split")) == {"new"} and "translate" in plan.rules


def test_a_model_in_a_local_directory(finished):
    """Of a Stanza directory the models of one kind of trees decide that kind."""
    models = finished.folder / "results/syntax/embedded/model"
    local = finished.folder / "local"
    pretrain = [{"model": "pretrain", "package": "own"}]
    (local / "en").mkdir(parents=True)
    for processor, name in (("pos", "tagger"), ("depparse", "depparse"), ("constituency", "constituency")):
        (local / "en" / processor).mkdir()
        shutil.copy(models / f"{name}.pt", local / "en" / processor / "own.pt")
    (local / "en" / "pretrain").mkdir()
    shutil.copy(models / "constituency.pretrain.pt", local / "en" / "pretrain" / "own.pt")
    own = {"pos": "own", "lemma": "identity", "depparse": "own", "constituency": "own"}
    english = {
        "lang_name": "English",
        **{
            processor: {"own": {"md5": None, "dependencies": pretrain}}
            for processor in ("pos", "depparse", "constituency")
        },
        "lemma": {"identity": {"md5": None}},
        "pretrain": {"own": {"md5": None}},
        "default_processors": own,
        "default_dependencies": {processor: pretrain for processor in ("pos", "constituency")},
        "packages": {"default": own},
    }
    (local / "resources.json").write_text(json.dumps({"en": english}), encoding="utf-8")
    config = {"parsers": {"local": {"type": "stanza", "directory": "local"}}}
    targets = ["results/syntax/local/one.distances.arrow", "results/syntax/local/one.binary.ptb"]
    done = finished.run_snakemake(*targets, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    assert finished.list_planned_jobs(*targets, config=config) == []
    shutil.copy(models / "tagger.pt", local / "en" / "depparse" / "another.pt")
    (local / "README").touch()
    assert finished.list_planned_jobs(*targets, config=config) == [], "no package names it"
    shutil.copy(models / "tagger.pt", local / "en" / "depparse" / "own.pt")
    again = finished.list_planned_jobs(*targets, config=config)
    assert [rule for rule, _ in again] == ["parse", "compute_distances"] and again[0][1]["trees"] == "conllu"
    facts = json.loads((finished.folder / "results/syntax/local/one.conllu.facts.json").read_text())
    assert len(facts["models"]) >= 2 and facts["sentences"] == 20


def test_trees_that_come_out_the_same_train_nothing_again(finished, tmp_path):
    """Within one run: everything behind the parse starts, and takes back what it made before."""
    workplace = finished.copy_to(tmp_path / "same")
    files = [file for file in workplace.folder.glob("results/nmt/*/seed1/[!.]*") if file.is_file()]
    made = {file: file.read_bytes() for file in files}
    assert any(file.name == "facts.json" for file in made)
    targets = [f"results/nmt/{system}/seed1/one.pieces" for system in SYSTEMS if system not in {"PBSMT", "LocalAtt"}]
    with with_code(workplace, with_changed_functions, "syntax/parse.py"):
        planned = workplace.list_planned_jobs(*targets, config=CONFIG)
        done = workplace.run_snakemake(*targets, config=CONFIG)
        assert done.returncode == 0, done.stderr[-5000:]
        assert workplace.list_planned_jobs(*targets, config=CONFIG) == []
    started = {(rule, wildcards["system"]) for rule, wildcards in planned if "system" in wildcards}
    assert started == {(rule, system) for rule in ("train", "translate") for system in ("SDAtt", "Tree2Seq")}
    assert "parse" in {rule for rule, _ in planned}
    for system in ("SDAtt", "Tree2Seq"):
        log = (workplace.folder / f"logs/nmt/train/{system}.seed1.log").read_text()
        assert "reused from the cache" in log
    assert {file: file.read_bytes() for file in made} == made, "seconds in facts.json too: nothing was trained"


def test_other_trees_train_again(finished):
    """The counterpart: where one tree differs, a training is a training."""
    before = (finished.folder / "results/nmt/SDAtt/seed1/facts.json").read_text()
    config = {"tables": TABLE, "parsers": {"embedded": {"max_words": 5}}}
    done = finished.run_snakemake("results/nmt/SDAtt/seed1/facts.json", config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    assert (finished.folder / "results/nmt/SDAtt/seed1/facts.json").read_text() != before
    assert "reused from the cache" not in (finished.folder / "logs/nmt/train/SDAtt.seed1.log").read_text()


def test_shards_are_merged_and_kept_after_a_kill(finished, tmp_path):
    """A parse that is killed in the middle of its shards goes on with those that are not finished."""
    workplace = finished.copy_to(tmp_path / "shards")
    config = {"parsing": {"shard_size": 260}}  # words: 30 sentences
    target = "results/syntax/embedded/train.conllu"
    assert workplace.count_planned_jobs(target, config=config)["parse_shard"] == 4
    shards = workplace.folder / "results/syntax/embedded/shards/train"
    first, rest = f"{shards}/0001.conllu", f"{shards}/0003.conllu"
    for file in (first, rest):
        done = workplace.run_snakemake(str(Path(file).relative_to(workplace.folder)), config=config)
        assert done.returncode == 0, done.stderr[-5000:]
    workplace.kill_at_message("rule parse_shard", target, config=config)
    times = {file: Path(file).stat().st_mtime_ns for file in (first, rest)}
    assert workplace.run_snakemake("--unlock", config=config).returncode == 0
    left = workplace.list_planned_jobs(target, config=config)
    assert {wildcards["shard"] for rule, wildcards in left if rule == "parse_shard"} <= {"0000", "0002"}
    done = workplace.run_snakemake(target, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    assert {file: Path(file).stat().st_mtime_ns for file in times} == times, "finished shards are kept"
    merged = (workplace.folder / target).read_text(encoding="utf-8")
    assert merged.count("# text = ") == 120
    counts = json.loads((workplace.folder / f"{target}.json").read_text())
    assert counts["in"] == counts["kept"] == 120
    texts = (workplace.folder / "results/corpus/tokenized/train.source").read_text(encoding="utf-8").splitlines()
    assert [line.removeprefix("# text = ") for line in merged.splitlines() if line.startswith("# text")] == texts


def test_what_is_damaged_is_made_anew(finished, tmp_path):
    """A damaged model is not restored from the cache, which may hold a link to the same file."""
    place = finished.copy_to(tmp_path / "place")
    results = place.folder / "results"
    damaged = [results / "nmt/GlobalAtt/seed1/one.pieces", results / "nmt/GlobalAtt/seed1/model.safetensors"]
    target = "results/evaluation/GlobalAtt/seed1/one.txt"
    others = [place.folder / target, results / "nmt/GlobalAtt/seed1/dev.pieces"]
    before = {file: file.read_bytes() for file in (*damaged, *others)}
    kept = damaged[1].parent / "cache/model.safetensors/last/1.model.safetensors"
    kept.unlink()
    kept.hardlink_to(damaged[1])  # a copy of the folder has copies of what was linked
    for file in damaged:
        status, content = file.stat(), before[file]
        with file.open("r+b") as opened:
            opened.write(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    (place.folder / target).unlink()
    for file in damaged:
        refused = place.run_snakemake(target, config=CONFIG)
        assert refused.returncode == 1
        assert f"error: {file.relative_to(place.folder)}: {RECORD_MISMATCH_ERROR}" in refused.stdout + refused.stderr
        file.unlink()
    done = place.run_snakemake(target, config=CONFIG)
    assert done.returncode == 0, done.stderr[-5000:]
    for file, content in before.items():
        assert file.read_bytes() == content, file


def test_a_file_that_is_replaced_by_an_older_one(finished):
    """Of the same size and an older time, as `mv`, `rsync -a` and `tar` leave it."""
    for side in ("source", "target"):
        shutil.copy(finished.folder / f"results/corpus/generated/dev.{side}", finished.folder / f"mine.{side}")
    targets = [f"results/corpus/clean/dev.{side}" for side in ("source", "target")]
    mine = {"name": "dev", "source": "mine.source", "references": ["mine.target"]}
    config = {**CONFIG, "parser": "embedded", "corpora": {**CONFIG["corpora"], "dev": mine}}
    done = finished.run_snakemake(*targets, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    assert finished.list_planned_jobs(*targets, config=config) == []
    source = finished.folder / "mine.source"
    other = source.with_name("other")
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    other.write_text("".join([*lines[1:], lines[0]]), encoding="utf-8")
    os.utime(other, (10**9, 10**9))
    other.replace(source)
    again = finished.list_planned_jobs(*targets, config=config)
    assert ("fetch", {"split": "dev", "side": "source"}) in again and "clean" in str(again)
    done = finished.run_snakemake(*targets, config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    assert (finished.folder / targets[0]).read_text(encoding="utf-8") == source.read_text(encoding="utf-8")
