"""Blocks of every language have a check, and quotations on pages are exact."""

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

CHECKING_MODULES = {
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
    assert [str(block) for block in find_blocks() if block.language not in CHECKING_MODULES] == []


EXAMPLES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("use_a_system.py", "use_modules.py")]
"""Scripts of the documentation; tests/application/test_system.py runs the first one."""


def test_python_on_pages_is_part_of_a_tested_example():
    assert find_blocks("py")
    for block in find_blocks("py"):
        assert any({*block.text.splitlines()} <= {*script.splitlines()} for script in EXAMPLES), block


def test_the_example_of_modules_runs():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "docs/use_modules.py"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "[2 1 3 2 0]]" in result.stdout


def test_no_fence_is_left_open():
    for page in PAGES:
        fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(fences) == 2 * sum(block.page == str(page.relative_to(ROOT)) for block in find_blocks()), page


# Error message → the configuration, over the default one, that causes it.
CONFIGURATIONS_BY_ERROR = {
    "unknown key `training.epochz`; did you mean `epochs`?": {"training": {"epochz": 1}},
    "unknown key `systems.SDAtt.contexts.0.windows`; did you mean `window`?": {
        "systems": {"SDAtt": {"contexts": [{"type": "syntax", "windows": 8}]}}
    },
}

LOCK_ERROR = "Error: Directory cannot be locked."
OPTIONS_BY_ERROR = {
    "error: table1: no such file; give a configuration file "
    "(write targets before `--configfile`, which takes several files)": ("--configfile", "mine.yaml"),
}
"""Error message → options that cause it if a target follows them."""

DATA_LISTING_START = "data/mine/train.en.gz"
CLAIMS_START = "paper: "


def test_every_quoted_text_is_tested():
    quoted_texts = {block.text.strip() for block in find_blocks("text")}
    listings = {text for text in quoted_texts if text.startswith(DATA_LISTING_START)}
    claims = {text for text in quoted_texts if text.startswith(CLAIMS_START)}
    assert (
        quoted_texts - listings - claims == {*CONFIGURATIONS_BY_ERROR, LOCK_ERROR, *OPTIONS_BY_ERROR}
        and len(listings) == 1
    )


def test_claims_on_pages_name_existing_systems(tmp_path):
    systems = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["systems"]
    claim_texts = [block.text for block in find_blocks("text") if block.text.startswith(CLAIMS_START)]
    assert claim_texts
    for text in claim_texts:
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        for claim in read_claim_file(tmp_path / "mine.yaml").claims:
            assert {claim.system, claim.above} <= {*systems}


@pytest.mark.parametrize("sentence", CONFIGURATIONS_BY_ERROR)
def test_quoted_configuration_errors_are_exact(sentence):
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match=re.escape(sentence)):
        load_experiment(merge_configs(default, CONFIGURATIONS_BY_ERROR[sentence]), should_check_files=False)


@pytest.mark.slow
def test_quoted_snakemake_messages_are_exact(tmp_path):
    (tmp_path / "Snakefile").write_text('rule table1:\n    output: "made"\n    shell: "touch {output}"\n')
    (tmp_path / "mine.yaml").write_text("{}")

    def get_snakemake_output(*arguments: str) -> str:
        result = subprocess.run([SNAKEMAKE_PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True)
        return result.stdout + result.stderr

    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    for sentence, options in OPTIONS_BY_ERROR.items():
        assert sentence in get_snakemake_output("--cores", "1", *options, "table1")
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("made\n")
    assert LOCK_ERROR in get_snakemake_output("table1", "--cores", "1")
    get_snakemake_output("--unlock")
    assert LOCK_ERROR not in get_snakemake_output("table1", "--cores", "1") and (tmp_path / "made").exists()


def test_listed_data_files_are_those_of_the_configuration():
    (listing,) = [block.text for block in find_blocks("text") if block.text.startswith(DATA_LISTING_START)]
    configuration = yaml.safe_load(
        next(
            block.text
            for block in find_blocks("yaml")
            if block.page.endswith("/data.md") and "references:" in block.text
        )
    )
    corpora, (parser,) = configuration["corpora"], configuration["parsers"].values()
    texts = [*corpora["train"], corpora["dev"], *corpora["tests"]]
    files = [text["source"] for text in texts]
    files += [target for text in texts for target in text.get("references", [text.get("target")])]
    assert {word.rpartition("/")[2] for word in re.findall(r"\S+\.(?:en|de)\S*", listing)} == {
        file.rpartition("/")[2] for file in files
    }
    assert f"{configuration['data']}/{parser['directory']}/" in listing


def test_graphs_name_existing_packages_and_stages():
    assert [block.page for block in find_blocks("mermaid")] == ["docs/explanation/architecture.md"]
    known_words = {part for stage in JOBS for part in stage} | {"trees", "train_smt", "translate_smt"}
    for graph in find_blocks("mermaid"):
        text = re.sub(r"-- [^\n]*? -->|<br/?>|\b(subgraph|flowchart|end|TD|LR)\b", " ", graph.text)
        assert {*re.findall(r"[a-z_]+", text)} - known_words == set()


MODULE_PATTERN = re.compile(r"`([\w/]+(?:\.(?:py|c|smk|html)|/))`")
"""A module or a folder that a page names, relative to the project, to `pipeline_py/` or to `pipeline_py/nmt/`."""


def test_modules_named_on_pages_exist():
    folders = ROOT, ROOT / "pipeline_py", ROOT / "pipeline_py" / "nmt"
    paths = {
        path
        for page in ("architecture", "networks")
        for path in MODULE_PATTERN.findall((ROOT / f"docs/explanation/{page}.md").read_text())
    }
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not any((folder / path).exists() for folder in folders)] == []


def test_the_table_of_the_tutorial_is_that_of_the_results():
    """Rows of the tutorial's first table are equal to the rows of the last measured results."""
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
