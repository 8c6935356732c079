"""Every configuration that the documents show is valid, laid over the default one."""

import re
from pathlib import Path

import pytest
import yaml

from pipeline_py.config.loading.load import load

ROOT = Path(__file__).parents[2]
SHOWN = [
    (page, number, block)
    for page in ("README.md", "CONTRIBUTING.md", "docs/parsers.md", "docs/architecture.md")
    for number, block in enumerate(
        re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    )
]


@pytest.mark.parametrize(("page", "number", "block"), SHOWN, ids=[f"{page}:{number}" for page, number, _ in SHOWN])
def test_what_the_documents_show_is_valid(page, number, block):
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config["corpora"]["tests"].append({"name": "test2014", "generate": {"sentences": 20}})
    block = yaml.safe_load(block)
    experiment = load(config, command_line=block, check_files=False, own={})
    for name, table in (block.get("tables") or {}).items():
        assert len(experiment.tables[name].systems) >= len(table["systems"])


def test_documents_show_configurations():
    assert {page for page, _, _ in SHOWN} >= {"README.md", "docs/parsers.md"}
