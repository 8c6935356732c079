"""A copy of the project with all that pages tell a reader to write: parts, configurations and files they name."""

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
"""Module → the union type before which a new class of options is defined, and to which it is added.

In the order of the page.
"""

CONFIGURATION_PAGES = {"docs/faq.md": "docs/how_to/systems.md", "config/README.md": "docs/tutorials/own_system.md"}
"""Page that names a configuration file → page that shows the file, if it is another page."""

DATA_FOLDER = "elsewhere"
"""Folder of the data, for command lines that name one."""


def get_configuration_path(page: str) -> str:
    """Return the file, in the copy, with all configuration blocks of a page."""
    return f"reader/{CONFIGURATION_PAGES.get(page, page).replace('/', '.')}.yaml"


PARTS_PAGE, METRIC_PAGE = "docs/how_to/add_a_part.md", "docs/how_to/add_a_metric.md"
CODE_PAGES = (PARTS_PAGE, METRIC_PAGE)
"""Pages that have their reader write Python code."""

PART_TEST_PATH = "tests/nmt/self_attention/test_tree_bias.py"
"""File of the test of the second part, which is the last block of Python of `PARTS_PAGE`."""


def find_code_blocks(page: str) -> list[CodeBlock]:
    """Return the Python that a page has its reader write."""
    return [block for block in find_blocks("python") if block.page == page]


def find_parts() -> list[tuple[CodeBlock, CodeBlock, str]]:
    """Return the parts on the page: block of options, block of the module, and path of the module."""
    *blocks, _ = find_code_blocks(PARTS_PAGE)
    text = (ROOT / PARTS_PAGE).read_text(encoding="utf-8")
    assert f"`{PART_TEST_PATH}`" in text
    files = re.findall(r"module `(pipeline_py/nmt/\S+\.py)`", text)
    return list(zip(blocks[::2], blocks[1::2], files, strict=True))


def find_metric() -> tuple[CodeBlock, str]:
    """Return the metric that a page has its reader write, and the path of its module."""
    (block,) = find_code_blocks(METRIC_PAGE)
    (path,) = re.findall(
        r"`(pipeline_py/evaluation/metrics/\w+\.py)`", (ROOT / METRIC_PAGE).read_text(encoding="utf-8")
    )
    return block, path


class ReaderProject(ProjectCopy):
    """A copy of the project with the parts and configurations of all pages."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._write_parts()
        metric, path = find_metric()
        (folder / path).write_text(metric.text, encoding="utf-8")
        (folder / "reader").mkdir()
        config_by_page: dict[str, dict] = defaultdict(dict)
        for block in find_blocks("yaml"):
            config = yaml.safe_load(block.text)
            config_by_page[block.page] = merge_configs(config_by_page[block.page], config)
            self._write_yaml(f"reader/{block.page.replace('/', '.')}.{block.line}.yaml", config)
        for page, config in config_by_page.items():
            self._write_yaml(get_configuration_path(page), config)

    def _write_parts(self) -> None:
        for (options, module, module_path), (union_path, union) in zip(find_parts(), PART_UNIONS.items(), strict=True):
            file = self.folder / union_path
            before, separator, after = file.read_text(encoding="utf-8").partition(union)
            (class_name,) = re.findall(r"^class (\w+)", options.text, flags=re.MULTILINE)
            assert separator
            file.write_text(f"{before}{options.text}\n\n{union}{class_name} | {after}", encoding="utf-8")
            (self.folder / module_path).write_text(module.text, encoding="utf-8")
        test = self.folder / PART_TEST_PATH
        test.parent.mkdir(parents=True)
        test.write_text(find_code_blocks(PARTS_PAGE)[-1].text, encoding="utf-8")

    def _write_yaml(self, name: str, content: dict) -> None:
        (self.folder / name).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def copy_without_parts(self, folder: Path) -> ProjectCopy:
        """Copy it without the parts of pages, which Snakemake plans faster (`tests.project_copy.run_snakemake`)."""
        copy = ProjectCopy(folder)
        shutil.copytree(self.folder, folder, ignore=lambda _, names: {"pipeline_py"} & {*names}, dirs_exist_ok=True)
        return copy

    def run_command(self, *command: str) -> CompletedProcess:
        """Run a command as the reader would, with the copy's own code."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT)])}
        return run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def validate_configurations(self) -> CompletedProcess:
        """Validate every configuration over the default one, with small stand-ins for the files that it names."""
        return self.run_command(
            sys.executable, "-m", "tests.docs.check_configurations", "reader", "workflow/experiments"
        )
