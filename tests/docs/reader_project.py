"""A copy of the project where somebody followed the pages: parts, configurations and stand-ins for their files."""

import os
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from subprocess import CompletedProcess, run

import yaml

from tests.docs.page_blocks import CodeBlock, find_blocks
from tests.project_copy import ROOT, ProjectCopy, merge_configs

PART_UNIONS = {
    "pipeline_py/config/systems/decoders.py": "AnyContextConfig = Annotated[\n    ",
    "pipeline_py/config/systems/network_parts.py": "AnySelfAttentionConfig = Annotated[",
}
"""Where options of parts stand, in the order of the page: what new ones stand before, and are named in."""

CONFIGURATION_PAGES = {"docs/faq.md": "docs/how_to/systems.md"}
"""Page that names a file → page where the file stands, if elsewhere."""

DATA_FOLDER = "elsewhere"
"""Where data lie that a command line says to be in a folder of their own."""


def get_configuration_path(page: str) -> str:
    """The file, in the copy, with all that a page has its reader write into a configuration."""
    return f"reader/{CONFIGURATION_PAGES.get(page, page).replace('/', '.')}.yaml"


PARTS_PAGE, METRIC_PAGE = "docs/how_to/add_a_part.md", "docs/how_to/add_a_metric.md"
CODE_PAGES = (PARTS_PAGE, METRIC_PAGE)
"""Pages that have their reader write Python code."""

PART_TEST_PATH = "tests/nmt/self_attention/test_tree_bias.py"
"""Where the test of the second part stands, the last block of Python of `PARTS_PAGE`."""


def find_code_blocks(page: str) -> list[CodeBlock]:
    """Return the Python that a page has its reader write."""
    return [block for block in find_blocks("python") if block.page == page]


def find_parts() -> list[tuple[CodeBlock, CodeBlock, str]]:
    """The parts that a page has its reader make: options, module, and the module's file."""
    *found, _ = find_code_blocks(PARTS_PAGE)
    text = (ROOT / PARTS_PAGE).read_text(encoding="utf-8")
    assert f"`{PART_TEST_PATH}`" in text
    files = re.findall(r"module `(pipeline_py/nmt/\S+\.py)`", text)
    return list(zip(found[::2], found[1::2], files, strict=True))


def find_metric() -> tuple[CodeBlock, str]:
    """Return the metric that a page has its reader make, and the file of its module."""
    (block,) = find_code_blocks(METRIC_PAGE)
    (path,) = re.findall(
        r"`(pipeline_py/evaluation/metrics/\w+\.py)`", (ROOT / METRIC_PAGE).read_text(encoding="utf-8")
    )
    return block, path


class ReaderProject(ProjectCopy):
    """A copy of the project after all pages were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._write_parts()
        metric, path = find_metric()
        (folder / path).write_text(metric.text, encoding="utf-8")
        (folder / "reader").mkdir()
        of_page: dict[str, dict] = defaultdict(dict)
        for block in find_blocks("yaml"):
            given = yaml.safe_load(block.text)
            of_page[block.page] = merge_configs(of_page[block.page], given)
            self._write_yaml(f"reader/{block.page.replace('/', '.')}.{block.line}.yaml", given)
        for page, given in of_page.items():
            self._write_yaml(get_configuration_path(page), given)

    def _write_parts(self) -> None:
        for (options, module, place), (name, union) in zip(find_parts(), PART_UNIONS.items(), strict=True):
            file = self.folder / name
            before, there, after = file.read_text(encoding="utf-8").partition(union)
            (part,) = re.findall(r"^class (\w+)", options.text, flags=re.MULTILINE)
            assert there
            file.write_text(f"{before}{options.text}\n\n{union}{part} | {after}", encoding="utf-8")
            (self.folder / place).write_text(module.text, encoding="utf-8")
        test = self.folder / PART_TEST_PATH
        test.parent.mkdir(parents=True)
        test.write_text(find_code_blocks(PARTS_PAGE)[-1].text, encoding="utf-8")

    def _write_yaml(self, name: str, content: dict) -> None:
        (self.folder / name).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def copy_without_parts(self, folder: Path) -> ProjectCopy:
        """A copy with the code of the project alone, which Snakemake plans faster (`tests.project_copy.snakemake`)."""
        copy = ProjectCopy(folder)
        shutil.copytree(self.folder, folder, ignore=lambda _, names: {"pipeline_py"} & {*names}, dirs_exist_ok=True)
        return copy

    def run_command(self, *command: str) -> CompletedProcess:
        """Run a command as the reader would, with the copy's own code."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT)])}
        return run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def validate_configurations(self) -> CompletedProcess:
        """Lay every configuration over the default one, and make small files of those that it names."""
        return self.run_command(
            sys.executable, "-m", "tests.docs.check_configurations", "reader", "workflow/experiments"
        )
