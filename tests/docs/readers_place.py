"""A copy of the project where somebody followed the pages: parts, configurations and stand-ins for their files."""

import os
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from subprocess import CompletedProcess, run

import yaml

from tests.docs.pages import Block, blocks
from tests.workplace import ROOT, Workplace, merged

UNIONS = {
    "pipeline_py/config/systems/decoders.py": "AnyContext = Annotated[\n    ",
    "pipeline_py/config/systems/parts.py": "AnySelfAttention = Annotated[",
}
"""Where options of parts stand, in the order of the page: what new ones stand before, and are named in."""

PAGE_OF_FILE = {"docs/faq.md": "docs/systems.md"}
"""Page that names a file → page where the file stands, if elsewhere."""

ELSEWHERE = "elsewhere"
"""Where data lie that a command line says to be in a folder of their own."""


def configuration_of(page: str) -> str:
    """The file, in the copy, with all that a page has its reader write into a configuration."""
    return f"reader/{PAGE_OF_FILE.get(page, page).replace('/', '.')}.yaml"


TESTED = "tests/nmt/self_attention/test_tree_bias.py"
"""Where the test of the second part stands, the last block of Python."""


def page_of_parts() -> str:
    """The page that has its reader make parts."""
    (page,) = {block.page for block in blocks("python")}
    return page


def parts() -> list[tuple[Block, Block, str]]:
    """The parts that a page has its reader make: options, module, and the module's file."""
    *found, _ = blocks("python")
    text = (ROOT / page_of_parts()).read_text(encoding="utf-8")
    assert f"`{TESTED}`" in text
    files = re.findall(r"module `(pipeline_py/nmt/\S+\.py)`", text)
    return list(zip(found[::2], found[1::2], files, strict=True))


class ReadersPlace(Workplace):
    """A copy of the project after all pages were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._make_parts()
        (folder / "reader").mkdir()
        of_page: dict[str, dict] = defaultdict(dict)
        for block in blocks("yaml"):
            given = yaml.safe_load(block.text)
            of_page[block.page] = merged(of_page[block.page], given)
            self._write(f"reader/{block.page.replace('/', '.')}.{block.line}.yaml", given)
        for page, given in of_page.items():
            self._write(configuration_of(page), given)

    def _make_parts(self) -> None:
        for (options, module, place), (name, union) in zip(parts(), UNIONS.items(), strict=True):
            file = self.folder / name
            before, there, after = file.read_text(encoding="utf-8").partition(union)
            (part,) = re.findall(r"^class (\w+)", options.text, flags=re.MULTILINE)
            assert there
            file.write_text(f"{before}{options.text}\n\n{union}{part} | {after}", encoding="utf-8")
            (self.folder / place).write_text(module.text, encoding="utf-8")
        test = self.folder / TESTED
        test.parent.mkdir(parents=True)
        test.write_text(blocks("python")[-1].text, encoding="utf-8")

    def _write(self, name: str, content: dict) -> None:
        (self.folder / name).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def without_parts(self, folder: Path) -> Workplace:
        """A copy with the code of the project alone, which Snakemake plans faster (`tests.workplace.snakemake`)."""
        copy = Workplace(folder)
        shutil.copytree(self.folder, folder, ignore=lambda _, names: {"pipeline_py"} & {*names}, dirs_exist_ok=True)
        return copy

    def run(self, *command: str) -> CompletedProcess:
        """Run a command as the reader would, with the copy's own code."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT)])}
        return run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def validated(self) -> CompletedProcess:
        """Lay every configuration over the default one, and make small files of those that it names."""
        return self.run(sys.executable, "-m", "tests.docs.laid_over", "reader", "workflow/experiments")
