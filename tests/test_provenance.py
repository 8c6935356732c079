"""Hashes of code: what changes them and what does not."""

import shutil
from pathlib import Path

import pytest

from pipeline_py import provenance


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: `stage` imports `used`; `other` stands beside them."""
    folder = tmp_path / "somewhere_py" / "package"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "stage.py").write_text(
        '"""A stage."""\nfrom somewhere_py.package.used import double\n\n'
        'def run(x):\n    """Run."""\n    return double(x)\n'
    )
    (folder / "used.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "other.py").write_text("def nothing():\n    return None\n")
    monkeypatch.setattr(provenance, "PACKAGE", "somewhere_py")
    monkeypatch.setattr(provenance, "FOLDER", folder.parent)
    return folder


def code_cleared() -> None:
    provenance.code_of.cache_clear()
    provenance._read.cache_clear()


def code() -> str:
    code_cleared()
    return provenance.code_of("package.stage")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_comments_docstrings_and_layout_do_not_count(package):
    before = code()
    edit(package / "stage.py", '"""Run."""', '"""Run it, as the paper says."""  # a comment')
    edit(package / "used.py", "2 * x", "(2 *\n            x)  # twice")
    assert code() == before


def test_code_counts_also_of_what_is_imported(package):
    before = code()
    edit(package / "used.py", "2 * x", "3 * x")
    assert code() != before


def test_what_the_package_itself_hands_on_does_not_count(package):
    """Every stage imports the package, as in `from pipeline_py import stage`."""
    edit(package / "stage.py", "from somewhere_py.package.used", "import somewhere_py\nfrom somewhere_py.package.used")
    before = code()
    (package.parent / "__init__.py").write_text("from somewhere_py.package.other import nothing\n")
    assert code() == before
    edit(package / "other.py", "None", "1")
    assert code() == before


def test_code_in_c_counts_with_the_module_of_its_name(package):
    before = code()
    (package / "other.c").write_text("int nothing(void) { return 0; }\n")
    assert code() == before
    (package / "used.c").write_text("int twice(int x) { return 2 * x; }\n")
    with_c = code()
    assert with_c != before
    edit(package / "used.c", "{ return", "{  /* doubles\n   x */\n   return")
    assert code() == with_c
    edit(package / "used.c", "2", "3")
    assert code() != with_c


def test_tables_count_with_the_modules_of_their_folder(package):
    before = code()
    (package.parent / "apart.tsv").write_text("english\tgerman\n")
    assert code() == before
    table = package / "words.tsv"
    table.write_text("english\tgerman\nman\tMann\n")
    with_table = code()
    assert with_table != before
    edit(table, "man\t", "# A comment.\n\nman\t")
    assert code() == with_table
    edit(table, "Mann", "Mensch")
    assert code() != with_table


def test_modules_that_are_not_imported_do_not_count(package):
    before = code()
    edit(package / "other.py", "None", "1")
    assert code() == before


def test_parts_found_by_name_count_when_they_are_told_of(package):
    def with_part() -> str:
        code()
        return provenance.code_of("package.stage", "package.other")

    before = with_part()
    edit(package / "other.py", "None", "1")
    assert with_part() != before


def test_a_function_of_a_docstring_only_is_still_code(package):
    edit(package / "other.py", "return None", '"""Nothing."""')
    code()
    assert provenance.code_of("package.other")


def test_versions_stand_beside_the_code():
    made_by = provenance.made_by("subword.learn_bpe", "subword-nmt")
    assert set(made_by) == {"code", "subword-nmt"}


STAGES = [
    "corpus.generate",
    "corpus.tokenize",
    "syntax.parse",
    "subword.inherit",
    "smt.train",
    "nmt.pretrain",
    "nmt.train",
    "nmt.translate",
]
STAGES += ["evaluation.statistics", "report.facts"]


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the project's own code, and its hashes by stage."""
    copy = tmp_path / "pipeline_py"
    shutil.copytree(provenance.FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "FOLDER", copy)

    def codes(*edited: str) -> dict[str, str]:
        for file in edited:
            assert (copy / file).is_file()
            with (copy / file).open("a", encoding="utf-8") as code:
                code.write("\nCHANGED = True\n")
        code_cleared()
        return {stage: provenance.code_of(stage) for stage in STAGES}

    yield codes
    code_cleared()


def test_no_module_that_changes_no_result_counts(copied):
    """To print progress more often, say a mistake in other words or measure time otherwise trains nothing again."""
    before = copied()
    assert copied(*(f"{module.replace('.', '/')}.py" for module in provenance.CHANGE_NO_RESULT)) == before


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("text.py", {*STAGES}),
        ("corpus/grammar/lexicon/nouns.tsv", {"corpus.generate"}),
        ("syntax/distances.py", set()),
        ("syntax/trees/dependency.py", {"syntax.parse"}),
        ("syntax/stanza/pipeline.py", {"syntax.parse"}),
        ("config/systems/encoders.py", set()),
        ("subword/vocabulary.py", {"nmt.pretrain", "nmt.train", "nmt.translate"}),
        ("nmt/attention.py", {"nmt.pretrain", "nmt.train", "nmt.translate"}),
        ("nmt/training/divergence.py", {"nmt.pretrain", "nmt.train"}),
        ("evaluation/metric.py", {"evaluation.statistics", "report.facts"}),
    ],
)
def test_every_other_module_counts_where_it_is_imported(copied, module, counts):
    before = copied()
    after = copied(module)
    assert {stage for stage in STAGES if before[stage] != after[stage]} == counts
