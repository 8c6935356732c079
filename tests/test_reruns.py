"""After each kind of change, a dry run lists exactly the jobs that depend on it."""

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
    """The jobs that a run would start: their rules, systems and kinds of trees."""

    def __init__(self, project: ProjectCopy, config: dict | None = None, tables: dict | None = None) -> None:
        self.jobs = project.list_planned_jobs(*TARGETS, config={**CONFIG, "tables": tables or TABLE, **(config or {})})
        self.rules = {rule for rule, _ in self.jobs}

    def get_systems(self, rule: str) -> set[str]:
        """Return the systems for which a rule would run."""
        return {wildcards["system"] for name, wildcards in self.jobs if name == rule}

    def get_wildcard_values(self, rule: str, wildcard: str) -> list[str]:
        """Return the sorted values of a wildcard in all jobs of a rule."""
        return sorted(wildcards[wildcard] for name, wildcards in self.jobs if name == rule)

    def has_trees(self, kind: set[tuple[str, str | None]]) -> bool:
        """Return whether any job reads or writes a kind of trees."""
        return any(
            rule == name and (trees is None or wildcards.get("trees") == trees)
            for rule, wildcards in self.jobs
            for name, trees in kind
        )


@pytest.fixture(scope="module")
def finished_project(tmp_path_factory) -> ProjectCopy:
    project = ProjectCopy(tmp_path_factory.mktemp("finished"))
    result = project.run_snakemake(*TARGETS, config=CONFIG)
    assert result.returncode == 0, result.stderr[-5000:]
    return project


def test_the_table_is_made(finished_project):
    rows = read_table(finished_project.folder / "results" / "table1.tsv")
    assert [row["system"] for row in rows] == ["PBSMT (Thot)", *SYSTEMS[1:]]
    facts = read_table(finished_project.folder / "results" / "table1.facts.tsv")
    assert [bool(row["parser"]) for row in facts] == [False, False, False, True, True]
    assert not list(finished_project.folder.glob("<*")), "every path variable is resolved"


def test_nothing_is_made_twice(finished_project):
    assert Plan(finished_project).jobs == []


def test_an_option_of_the_dependency_parser(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"depparse": {"epochs": 2}}}})
    assert plan.get_wildcard_values("train_parser", "processor") == ["depparse"]
    assert plan.has_trees(DEPENDENCIES) and not plan.has_trees(CONSTITUENCY)
    assert plan.get_systems("train") == plan.get_systems("translate") == {"SDAtt"}
    assert not {"train_smt", "translate_smt", "pack", "vocabulary", "clean"} & plan.rules


def test_an_option_of_the_constituency_parser(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"constituency": {"epochs": 2}}}})
    assert plan.get_wildcard_values("train_parser", "processor") == ["constituency"]
    assert plan.has_trees(CONSTITUENCY) and not plan.has_trees(DEPENDENCIES)
    assert plan.get_systems("train") == plan.get_systems("translate") == {"Tree2Seq"}


def test_the_branching_of_binary_trees(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"branching": "left"}}})
    assert "binarize" in plan.rules and not {"parse", "train_parser", "compute_distances"} & plan.rules
    assert plan.get_systems("train") == {"Tree2Seq"}


@pytest.mark.slow
def test_the_seed_of_a_control_and_word_vectors(finished_project):
    """An option of a parser reruns only that parser and the systems that are crossed with it."""
    control = {"type": "control", "shape": "random"}
    targets = ["results/nmt/SDAtt@chance/seed1/facts.json", "results/nmt/SDAtt/seed1/facts.json"]
    tables = {"tables": {"table1": {"systems": [*SYSTEMS, "SDAtt [chance]"]}}}
    result = finished_project.run_snakemake(*targets, config={**tables, "parsers": {"chance": control}})
    assert result.returncode == 0, result.stderr[-5000:]
    planned_jobs = finished_project.list_planned_jobs(
        *targets, config={**tables, "parsers": {"chance": {**control, "seed": 2}}}
    )
    assert {wildcards.get("parser", wildcards.get("system")) for _, wildcards in planned_jobs} == {
        "chance",
        "SDAtt@chance",
    }
    (finished_project.folder / "vectors.txt").write_text("1 2\nthe 0.5 0.5\n", encoding="utf-8")
    planned_jobs = finished_project.list_planned_jobs(
        *targets, config={**tables, "parsers": {"chance": control, "embedded": {"vectors": "vectors.txt"}}}
    )
    assert {wildcards["processor"] for rule, wildcards in planned_jobs if rule == "train_parser"} == {
        "tagger",
        "depparse",
    }
    assert [wildcards["system"] for rule, wildcards in planned_jobs if rule == "train"] == ["SDAtt"]


def test_an_option_of_parsing(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"max_words": 7}}})
    assert len(plan.get_wildcard_values("parse", "split")) == 6 and "train_parser" not in plan.rules
    assert plan.get_systems("train") == {"SDAtt", "Tree2Seq"}


@pytest.mark.slow
def test_the_words_that_a_parser_reads(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"words": "english"}}})
    assert len(plan.get_wildcard_values("parse", "split")) == 6
    assert not {"train_parser", "parse_held_out_trees", "clean"} & plan.rules
    assert "parse_raw_text" in plan.rules, "accuracy on raw text depends on the words"
    assert plan.get_systems("train") == {"SDAtt", "Tree2Seq"}
    assert Plan(finished_project, {"parsers": {"embedded": {"words": "text"}}}).jobs == []


def test_the_treebank_of_a_trained_parser(finished_project):
    plan = Plan(finished_project, {"parsers": {"embedded": {"treebank": {"generate": 61}}}})
    assert plan.get_wildcard_values("train_parser", "processor") == ["constituency", "depparse", "tagger"]
    assert plan.has_trees(DEPENDENCIES) and plan.has_trees(CONSTITUENCY)
    assert plan.get_systems("train") == {"SDAtt", "Tree2Seq"}
    assert not {"generate", "clean", "tokenize", "pack"} & plan.rules


def test_another_version_of_stanza(finished_project, tmp_path, monkeypatch):
    """Python reads the version from the first metadata of the package on its path."""
    description = tmp_path / "stanza-99.0.dist-info"
    description.mkdir()
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: stanza\nVersion: 99.0\n")
    with monkeypatch.context() as patch:
        patch.setattr(finished_project, "import_paths", (tmp_path,))
        plan = Plan(finished_project)
    assert len(plan.get_wildcard_values("train_parser", "processor")) == 3
    assert plan.get_systems("train") == {"SDAtt", "Tree2Seq"}
    assert not {"train_smt", "tokenize", "pack", "clean"} & plan.rules


RERUNS_BY_MODULE = {
    "syntax/parse.py": ({"parse"}, {"train_parser", "pack"}, {"SDAtt", "Tree2Seq"}),
    "syntax/compute_distances.py": ({"compute_distances"}, {"parse", "binarize"}, {"SDAtt"}),
    "syntax/binarize.py": ({"binarize"}, {"parse", "compute_distances"}, {"Tree2Seq"}),
    "nmt/weighting/syntax.py": ({"train"}, {"parse", "compute_distances"}, {"SDAtt"}),
    "nmt/trees/tree_lstm.py": ({"train"}, {"parse", "compute_distances"}, {"Tree2Seq"}),
    "evaluation/postprocess.py": ({"postprocess"}, {"translate"}, set()),
}
"""Module → rules that run again after a change of its code, rules that do not, and systems that are trained again."""


def add_comment(code: str) -> str:
    return f"{code}\n# A comment.\n"


def change_functions(code: str) -> str:
    """Add a statement without effect to each function and method."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            index = 0 if ast.get_docstring(node) is None else 1
            node.body.insert(index, ast.parse("changed = True").body[0])
    return ast.unparse(tree)


@contextmanager
def patch_modules(project: ProjectCopy, change: Callable[[str], str], *modules: str) -> Iterator[None]:
    """Change modules within the context."""
    files = [Path("pipeline_py", module) for module in modules]
    try:
        for file in files:
            path = project.folder / file
            path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        yield
    finally:
        for file in files:
            shutil.copy2(ROOT / file, project.folder / file)


def test_a_comment_in_the_code_of_stages(finished_project):
    with patch_modules(finished_project, add_comment, *RERUNS_BY_MODULE):
        assert Plan(finished_project).jobs == []


@pytest.mark.parametrize("module", RERUNS_BY_MODULE)
def test_the_code_of_a_stage(finished_project, module):
    rerun_rules, kept_rules, retrained_systems = RERUNS_BY_MODULE[module]
    with patch_modules(finished_project, change_functions, module):
        plan = Plan(finished_project)
    assert rerun_rules <= plan.rules and not kept_rules & plan.rules
    assert plan.get_systems("train") == retrained_systems


def test_code_that_changes_no_result(finished_project):
    package = ROOT / "pipeline_py"
    paths = [package / module.replace(".", "/") for module in RESULT_NEUTRAL_MODULES]
    files = [file for path in paths for file in ([*path.glob("*.py")] or [path.with_suffix(".py")])]
    with patch_modules(finished_project, change_functions, *(str(file.relative_to(package)) for file in files)):
        assert Plan(finished_project).jobs == []


def test_a_new_parser(finished_project):
    """In a table of systems × parsers, only the trees of the new parser are built, and only its systems trained."""
    tables = {"table1": {"systems": SYSTEMS, "parsers": ["embedded", "random"], "proposed": ["SDAtt"]}}
    plan = Plan(finished_project, {"parsers": {"random": {"type": "control", "shape": "random"}}}, tables)
    assert (
        set(plan.get_wildcard_values("build_control_trees", "parser")) == {"random"}
        and len(plan.get_wildcard_values("build_control_trees", "split")) == 6
    )
    assert not {"parse", "train_parser", "pack", "train_smt"} & plan.rules
    assert (
        set(plan.get_wildcard_values("compute_distances", "parser"))
        == set(plan.get_wildcard_values("binarize", "parser"))
        == {"random"}
    )
    assert plan.get_systems("train") == plan.get_systems("translate") == {"SDAtt@random", "Tree2Seq@random"}


def test_a_parser_that_no_system_reads(finished_project):
    assert Plan(finished_project, {"parsers": {"random": {"type": "control", "shape": "random"}}}).jobs == []


def test_the_merges_of_bpe(finished_project):
    system = {"contexts": ["syntax"], "parser": "embedded", "subword": "bits"}
    config = {"subwords": {"bits": {"scheme": "bpe", "merges": 100}}, "systems": {"Bits": system}}
    target = "results/nmt/Bits/seed1/facts.json"
    result = finished_project.run_snakemake(target, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    planned_jobs = finished_project.count_planned_jobs(
        target, config={**config, "subwords": {"bits": {"scheme": "bpe", "merges": 90}}}
    )
    assert planned_jobs["learn_bpe"] == 2 and planned_jobs["inherit"] == 2 and planned_jobs["train"] == 1
    assert not {"parse", "train_parser", "compute_distances", "tokenize"} & planned_jobs.keys()


@pytest.mark.parametrize(
    ("change", "rerun_rules", "kept_rules"),
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
def test_options_that_do_not_concern_parsers(finished_project, change, rerun_rules, kept_rules):
    plan = Plan(finished_project, change, change.get("tables"))
    assert rerun_rules <= plan.rules and not kept_rules & plan.rules


def test_reports_do_not_depend_on_the_order_of_parsers(finished_project):
    """Neither the order of two parsers nor the size of shards changes a plan without parsing."""
    tree, chain = ({"type": "control", "shape": shape} for shape in ("balanced", "chain"))
    tables = {"table1": {"systems": ["GlobalAtt", "SDAtt [one]", "SDAtt [two]"], "proposed": []}}
    plans = [
        finished_project.list_planned_jobs(
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


def test_trees_that_are_given(finished_project):
    """Touching files reruns nothing; a changed tree is imported again, only for its text."""
    tree_folder = finished_project.folder / "given"
    tree_folder.mkdir()
    for split in ("dev", "one"):
        shutil.copy(finished_project.folder / f"results/corpus/generated/{split}.conllu", tree_folder)
    trees = {split: {"conllu": f"given/{split}.conllu"} for split in ("dev", "one")}
    config = {"parsers": {"mine": {"type": "given", "trees": trees}}}
    targets = [f"results/syntax/mine/{split}.distances.arrow" for split in trees]
    result = finished_project.run_snakemake(*targets, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    for file in tree_folder.iterdir():
        file.touch()
    assert finished_project.list_planned_jobs(*targets, config=config) == []
    changed_file = tree_folder / "one.conllu"
    changed_file.write_text(changed_file.read_text(encoding="utf-8").replace("# ", "# changed ", 1), encoding="utf-8")
    assert [
        (rule, wildcards["split"]) for rule, wildcards in finished_project.list_planned_jobs(*targets, config=config)
    ] == [
        ("import_trees", "one"),
        ("compute_distances", "one"),
    ]


def test_an_option_of_one_system(finished_project):
    plan = Plan(finished_project, {"systems": {"GlobalAtt": {"model": {"hidden": 9}}}})
    assert plan.get_systems("train") == plan.get_systems("translate") == {"GlobalAtt"}
    assert not {"parse", "pack", "train_smt"} & plan.rules


COMPARISON_KINDS = ("comparisons", "by_sentence", "sentence_scores", "words", "ngrams", "examples")


@pytest.mark.parametrize(
    ("change", "rerun_rules"),
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
def test_options_of_comparisons(finished_project, change, rerun_rules):
    targets = [f"results/evaluation/table1/one.{kind}.tsv" for kind in COMPARISON_KINDS]
    result = finished_project.run_snakemake(*targets, config=CONFIG)
    assert result.returncode == 0, result.stderr[-5000:]
    planned_rules = {rule for rule, _ in finished_project.list_planned_jobs(*targets, config={**CONFIG, **change})}
    assert planned_rules == rerun_rules


@pytest.mark.slow
def test_monitoring_options_change_no_result(finished_project):
    options = {"tensorboard": True, "checkpoint_minutes": 9, "graphs": False, "threads": 2}
    assert not Plan(finished_project, {"training": options}).rules
    assert "train" in Plan(finished_project, {"training": {"processes": 2}}).rules, (
        "units are dropped out by each on its own"
    )


def test_a_further_seed(finished_project):
    plan = Plan(finished_project, {"training": {"seeds": [1, 2]}})
    assert (
        set(plan.get_wildcard_values("train", "run")) == {"seed2"}
        and len(plan.get_wildcard_values("train", "system")) == 4
    )
    assert not {"pack", "parse"} & plan.rules


def test_a_new_generated_test_set(finished_project):
    tests = [*TESTS, {"name": "three", "generate": {"sentences": 20}}]
    plan = Plan(finished_project, {"corpora": {"tests": tests}})
    for rule in ("parse", "compute_distances", "binarize", "tokenize", "generate"):
        assert set(plan.get_wildcard_values(rule, "split")) == {"three"}
    assert "translate" in plan.rules, "of all sets"
    assert not {"train", "train_parser", "train_smt", "vocabulary"} & plan.rules


def test_a_new_test_set_translates_no_other_set_again(finished_project, tmp_path):
    project = finished_project.copy_to(tmp_path / "more")
    folder = project.folder / "results/nmt/GlobalAtt/seed1"
    earlier_outputs = {name: (folder / name).read_bytes() for name in ("dev.pieces", "one.pieces")}
    tests = [*TESTS, {"name": "three", "generate": {"sentences": 20}}]
    result = project.run_snakemake("results/nmt/GlobalAtt/seed1/three.pieces", config={"corpora": {"tests": tests}})
    assert result.returncode == 0, result.stderr[-5000:]
    log = (project.folder / "logs/nmt/translate/GlobalAtt.seed1.log").read_text()
    for name, content in earlier_outputs.items():
        assert f"{name}: reused from the cache" in log and (folder / name).read_bytes() == content
    assert "three.pieces: reused" not in log and len((folder / "three.pieces").read_text().splitlines()) == 20


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_new_test_set_in_files(finished_project, is_removed):
    """Its sentences are removed from the training text, unless the option says otherwise."""
    folder = finished_project.folder / "texts"
    folder.mkdir(exist_ok=True)
    for side, text in (("en", "a small test ."), ("de", "ein kleiner Test .")):
        (folder / f"new.{side}").write_text(text + "\n", encoding="utf-8")
    new_set = {
        "name": "new",
        "source": "texts/new.en",
        "references": ["texts/new.de"],
        "removed_from_training": is_removed,
    }
    # A parser of generated trees reads text in files only on request.
    plan = Plan(finished_project, {"corpora": {"tests": [*TESTS, new_set]}, "parser": "embedded"})
    assert ("train" in plan.rules) == ("clean" in plan.rules) == is_removed
    assert {"new"} <= set(plan.get_wildcard_values("parse", "split"))
    if not is_removed:
        assert set(plan.get_wildcard_values("parse", "split")) == {"new"} and "translate" in plan.rules


def test_a_model_in_a_local_directory(finished_project):
    """Trees of a kind depend only on the models for this kind in a Stanza directory."""
    models = finished_project.folder / "results/syntax/embedded/model"
    local_folder = finished_project.folder / "local"
    pretrain = [{"model": "pretrain", "package": "own"}]
    (local_folder / "en").mkdir(parents=True)
    for processor, name in (("pos", "tagger"), ("depparse", "depparse"), ("constituency", "constituency")):
        (local_folder / "en" / processor).mkdir()
        shutil.copy(models / f"{name}.pt", local_folder / "en" / processor / "own.pt")
    (local_folder / "en" / "pretrain").mkdir()
    shutil.copy(models / "constituency.pretrain.pt", local_folder / "en" / "pretrain" / "own.pt")
    packages = {"pos": "own", "lemma": "identity", "depparse": "own", "constituency": "own"}
    english = {
        "lang_name": "English",
        **{
            processor: {"own": {"md5": None, "dependencies": pretrain}}
            for processor in ("pos", "depparse", "constituency")
        },
        "lemma": {"identity": {"md5": None}},
        "pretrain": {"own": {"md5": None}},
        "default_processors": packages,
        "default_dependencies": {processor: pretrain for processor in ("pos", "constituency")},
        "packages": {"default": packages},
    }
    (local_folder / "resources.json").write_text(json.dumps({"en": english}), encoding="utf-8")
    config = {"parsers": {"local": {"type": "stanza", "directory": "local"}}}
    targets = ["results/syntax/local/one.distances.arrow", "results/syntax/local/one.binary.ptb"]
    result = finished_project.run_snakemake(*targets, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    assert finished_project.list_planned_jobs(*targets, config=config) == []
    shutil.copy(models / "tagger.pt", local_folder / "en" / "depparse" / "another.pt")
    (local_folder / "README").touch()
    assert finished_project.list_planned_jobs(*targets, config=config) == [], "no package names it"
    shutil.copy(models / "tagger.pt", local_folder / "en" / "depparse" / "own.pt")
    planned_jobs = finished_project.list_planned_jobs(*targets, config=config)
    assert [rule for rule, _ in planned_jobs] == ["parse", "compute_distances"] and planned_jobs[0][1][
        "trees"
    ] == "conllu"
    facts = json.loads((finished_project.folder / "results/syntax/local/one.conllu.facts.json").read_text())
    assert len(facts["models"]) >= 2 and facts["sentences"] == 20


@pytest.mark.slow
def test_unchanged_trees_retrain_nothing(finished_project, tmp_path):
    """Within one run, all jobs after the parse start, and restore their outputs from the cache."""
    project = finished_project.copy_to(tmp_path / "same")
    files = [file for file in project.folder.glob("results/nmt/*/seed1/[!.]*") if file.is_file()]
    contents = {file: file.read_bytes() for file in files}
    assert any(file.name == "facts.json" for file in contents)
    targets = [f"results/nmt/{system}/seed1/one.pieces" for system in SYSTEMS if system not in {"PBSMT", "LocalAtt"}]
    with patch_modules(project, change_functions, "syntax/parse.py"):
        planned_jobs = project.list_planned_jobs(*targets, config=CONFIG)
        result = project.run_snakemake(*targets, config=CONFIG)
        assert result.returncode == 0, result.stderr[-5000:]
        assert project.list_planned_jobs(*targets, config=CONFIG) == []
    started_jobs = {(rule, wildcards["system"]) for rule, wildcards in planned_jobs if "system" in wildcards}
    assert started_jobs == {(rule, system) for rule in ("train", "translate") for system in ("SDAtt", "Tree2Seq")}
    assert "parse" in {rule for rule, _ in planned_jobs}
    for system in ("SDAtt", "Tree2Seq"):
        log = (project.folder / f"logs/nmt/train/{system}.seed1.log").read_text()
        assert "reused from the cache" in log
    assert {file: file.read_bytes() for file in contents} == contents, "seconds in facts.json too: nothing was trained"


def test_changed_trees_retrain_systems(finished_project):
    """If a tree differs, nothing is restored from the cache."""
    earlier_facts = (finished_project.folder / "results/nmt/SDAtt/seed1/facts.json").read_text()
    config = {"tables": TABLE, "parsers": {"embedded": {"max_words": 5}}}
    result = finished_project.run_snakemake("results/nmt/SDAtt/seed1/facts.json", config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    assert (finished_project.folder / "results/nmt/SDAtt/seed1/facts.json").read_text() != earlier_facts
    assert "reused from the cache" not in (finished_project.folder / "logs/nmt/train/SDAtt.seed1.log").read_text()


@pytest.mark.slow
def test_shards_are_merged_and_kept_after_a_kill(finished_project, tmp_path):
    """A parse that was killed between shards continues with the unfinished ones."""
    project = finished_project.copy_to(tmp_path / "shards")
    config = {"parsing": {"shard_size": 260}}  # words: 30 sentences
    target = "results/syntax/embedded/train.conllu"
    assert project.count_planned_jobs(target, config=config)["parse_shard"] == 4
    shards = project.folder / "results/syntax/embedded/shards/train"
    first_shard, last_shard = f"{shards}/0001.conllu", f"{shards}/0003.conllu"
    for file in (first_shard, last_shard):
        result = project.run_snakemake(str(Path(file).relative_to(project.folder)), config=config)
        assert result.returncode == 0, result.stderr[-5000:]
    project.kill_at_message("rule parse_shard", target, config=config)
    times = {file: Path(file).stat().st_mtime_ns for file in (first_shard, last_shard)}
    assert project.run_snakemake("--unlock", config=config).returncode == 0
    remaining_jobs = project.list_planned_jobs(target, config=config)
    assert {wildcards["shard"] for rule, wildcards in remaining_jobs if rule == "parse_shard"} <= {"0000", "0002"}
    result = project.run_snakemake(target, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    assert {file: Path(file).stat().st_mtime_ns for file in times} == times, "finished shards are kept"
    merged = (project.folder / target).read_text(encoding="utf-8")
    assert merged.count("# text = ") == 120
    counts = json.loads((project.folder / f"{target}.json").read_text())
    assert counts["in"] == counts["kept"] == 120
    lines = (project.folder / "results/corpus/tokenized/train.source").read_text(encoding="utf-8").splitlines()
    assert [line.removeprefix("# text = ") for line in merged.splitlines() if line.startswith("# text")] == lines


@pytest.mark.slow
def test_damaged_files_are_made_again(finished_project, tmp_path):
    """A damaged model is not restored from the cache, which may contain a link to the same file."""
    project = finished_project.copy_to(tmp_path / "place")
    results = project.folder / "results"
    damaged_files = [results / "nmt/GlobalAtt/seed1/one.pieces", results / "nmt/GlobalAtt/seed1/model.safetensors"]
    target = "results/evaluation/GlobalAtt/seed1/one.txt"
    intact_files = [project.folder / target, results / "nmt/GlobalAtt/seed1/dev.pieces"]
    contents = {file: file.read_bytes() for file in (*damaged_files, *intact_files)}
    cached_model = damaged_files[1].parent / "cache/model.safetensors/last/1.model.safetensors"
    cached_model.unlink()
    cached_model.hardlink_to(damaged_files[1])  # copying the folder has replaced the link by a copy
    for file in damaged_files:
        status, content = file.stat(), contents[file]
        with file.open("r+b") as opened:
            opened.write(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    (project.folder / target).unlink()
    for file in damaged_files:
        result = project.run_snakemake(target, config=CONFIG)
        assert result.returncode == 1
        assert f"error: {file.relative_to(project.folder)}: {RECORD_MISMATCH_ERROR}" in result.stdout + result.stderr
        file.unlink()
    result = project.run_snakemake(target, config=CONFIG)
    assert result.returncode == 0, result.stderr[-5000:]
    for file, content in contents.items():
        assert file.read_bytes() == content, file


@pytest.mark.slow
def test_an_older_replacement_of_a_file_is_noticed(finished_project):
    """The replacement has the same size and an older time, as after `mv`, `rsync -a` and `tar`."""
    for side in ("source", "target"):
        shutil.copy(
            finished_project.folder / f"results/corpus/generated/dev.{side}", finished_project.folder / f"mine.{side}"
        )
    targets = [f"results/corpus/clean/dev.{side}" for side in ("source", "target")]
    dev_set = {"name": "dev", "source": "mine.source", "references": ["mine.target"]}
    config = {**CONFIG, "parser": "embedded", "corpora": {**CONFIG["corpora"], "dev": dev_set}}
    result = finished_project.run_snakemake(*targets, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    assert finished_project.list_planned_jobs(*targets, config=config) == []
    source = finished_project.folder / "mine.source"
    replacement = source.with_name("other")
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    replacement.write_text("".join([*lines[1:], lines[0]]), encoding="utf-8")
    os.utime(replacement, (10**9, 10**9))
    replacement.replace(source)
    planned_jobs = finished_project.list_planned_jobs(*targets, config=config)
    assert ("fetch", {"split": "dev", "side": "source"}) in planned_jobs and "clean" in str(planned_jobs)
    result = finished_project.run_snakemake(*targets, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    assert (finished_project.folder / targets[0]).read_text(encoding="utf-8") == source.read_text(encoding="utf-8")
