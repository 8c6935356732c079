"""Blocks of all languages are known to a check, and what pages quote is so."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from pipeline_py.config.claims import read_claim_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.docs.page_blocks import PAGES, find_blocks
from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, merge_configs
from tests.test_one_name import JOBS

CHECKED = {
    "sh": "test_commands",
    "console": "test_commands",
    "yaml": "test_configurations",
    "python": "test_configurations",
    "py": "here",
    "text": "here",
    "mermaid": "here",
}
"""Language of a block → the module that checks it."""


def test_every_block_has_a_language_that_is_checked():
    assert len(find_blocks()) > 60
    assert [str(block) for block in find_blocks() if block.language not in CHECKED] == []


EXAMPLES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("use_a_system.py", "use_modules.py")]
"""Scripts of the documentation; tests/application/test_system.py runs the first one."""


def test_python_of_a_page_is_that_of_a_worked_example():
    assert find_blocks("py")
    for block in find_blocks("py"):
        assert any({*block.text.splitlines()} <= {*script.splitlines()} for script in EXAMPLES), block


def test_the_example_of_modules_runs():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "docs/use_modules.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "[2 1 3 2 0]]" in done.stdout


def test_no_fence_is_left_open():
    for page in PAGES:
        fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(fences) == 2 * sum(block.page == str(page.relative_to(ROOT)) for block in find_blocks()), page


# What is quoted → the configuration, laid over the default one, that it is said of.
MISTAKES = {
    "unknown key `training.epochz`; did you mean `epochs`?": {"training": {"epochz": 1}},
    "unknown key `systems.SDAtt.contexts.0.windows`; did you mean `window`?": {
        "systems": {"SDAtt": {"contexts": [{"type": "syntax", "windows": 8}]}}
    },
}

LOCKED = "Error: Directory cannot be locked."
SWALLOWED = {
    "error: table1: no such file; give a configuration file "
    "(write targets before `--configfile`, which takes several files)": ("--configfile", "mine.yaml"),
    "snakemake: error: argument --quiet/-q: invalid choice: 'table1'": ("-n", "--quiet", "rules"),
}
"""What is said where a target stands behind such options."""

FILES_OF_DATA = "data/mine/train.en.gz"
CLAIMS = "paper: "


def test_every_text_is_quoted_from_what_is_tested():
    quoted = {block.text.strip() for block in find_blocks("text")}
    listing = {text for text in quoted if text.startswith(FILES_OF_DATA)}
    claims = {text for text in quoted if text.startswith(CLAIMS)}
    assert quoted - listing - claims == {*MISTAKES, LOCKED, *SWALLOWED} and len(listing) == 1


def test_claims_on_a_page_are_claims_about_systems_that_there_are(tmp_path):
    systems = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["systems"]
    quoted = [block.text for block in find_blocks("text") if block.text.startswith(CLAIMS)]
    assert quoted
    for text in quoted:
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        for claim in read_claim_file(tmp_path / "mine.yaml").claims:
            assert {claim.system, claim.above} <= {*systems}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_quoted_mistake_is_told_in_these_words(sentence):
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match=re.escape(sentence)):
        load_experiment(merge_configs(default, MISTAKES[sentence]), should_check_files=False)


@pytest.mark.slow
def test_snakemake_says_what_is_quoted_of_it(tmp_path):
    (tmp_path / "Snakefile").write_text('rule table1:\n    output: "made"\n    shell: "touch {output}"\n')
    (tmp_path / "mine.yaml").write_text("{}")

    def said(*arguments: str) -> str:
        done = subprocess.run([SNAKEMAKE_PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True)
        return done.stdout + done.stderr

    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    for sentence, options in SWALLOWED.items():
        assert sentence in said("--cores", "1", *options, "table1")
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("made\n")
    assert LOCKED in said("table1", "--cores", "1")
    said("--unlock")
    assert LOCKED not in said("table1", "--cores", "1") and (tmp_path / "made").exists()


def test_files_of_ones_own_are_those_that_the_configuration_names():
    (listing,) = [block.text for block in find_blocks("text") if block.text.startswith(FILES_OF_DATA)]
    configuration = yaml.safe_load(
        next(
            block.text
            for block in find_blocks("yaml")
            if block.page.endswith("/data.md") and "references:" in block.text
        )
    )
    corpora, (parser,) = configuration["corpora"], configuration["parsers"].values()
    named = [*corpora["train"], corpora["dev"], *corpora["tests"]]
    files = [text["source"] for text in named]
    files += [target for text in named for target in text.get("references", [text.get("target")])]
    assert {word.rpartition("/")[2] for word in re.findall(r"\S+\.(?:en|de)\S*", listing)} == {
        file.rpartition("/")[2] for file in files
    }
    assert f"{configuration['data']}/{parser['directory']}/" in listing


def test_graphs_are_of_rooms_and_stages():
    assert [block.page for block in find_blocks("mermaid")] == ["docs/explanation/architecture.md"]
    known = {part for stage in JOBS for part in stage} | {"trees", "train_smt", "translate_smt"}
    for graph in find_blocks("mermaid"):
        text = re.sub(r"-- [^\n]*? -->|<br/?>|\b(subgraph|flowchart|end|TD|LR)\b", " ", graph.text)
        assert {*re.findall(r"[a-z_]+", text)} - known == set()


MODULE = re.compile(r"`([\w/]+(?:\.(?:py|c|smk|html)|/))`")
"""A module or a folder that a page names, from the top or from `pipeline_py/`, on pages of packages from `nmt/` too."""


def test_modules_that_architecture_names_exist():
    places = ROOT, ROOT / "pipeline_py", ROOT / "pipeline_py" / "nmt"
    named = {
        path
        for page in ("architecture", "networks")
        for path in MODULE.findall((ROOT / f"docs/explanation/{page}.md").read_text())
    }
    assert len(named) > 40
    assert [path for path in sorted(named) if not any((place / path).exists() for place in places)] == []


def test_the_first_table_is_that_of_the_results():
    """What a newcomer is promised is what was measured last: rows that stand in both are the same."""
    rows = [
        line
        for line in (ROOT / "docs/tutorials/first_run.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    first = rows.index(next(row for row in rows if row.startswith("| System |")))
    table = rows[first + 1 : first + 7]
    results = (ROOT / "docs/results/embedded_corpus.md").read_text(encoding="utf-8")
    for system in ("PBSMT (Thot)", "GlobalAtt"):
        (row,) = [row for row in table if row.startswith(f"| {system} |")]
        assert row in results
