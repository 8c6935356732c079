"""Code hashes: sensitivity to changes of used code only."""

import shutil
from pathlib import Path

import pytest

from pipeline_py.run import provenance
from tests.module_hash import compute_module_hash


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Create a package of three modules: `stage` imports `used`, and nothing imports `other`."""
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
    monkeypatch.setattr(provenance, "PACKAGE_NAME", "somewhere_py")
    monkeypatch.setattr(provenance, "PACKAGE_NAMES", ("somewhere_py",))
    monkeypatch.setattr(provenance, "PROJECT_FOLDER", tmp_path)
    return folder


def clear_caches() -> None:
    for function in vars(provenance).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def hash_code() -> str:
    clear_caches()
    return provenance.hash_stage_code("package.stage")


def edit_file(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_comments_docstrings_and_layout_do_not_change_the_hash(package):
    before = hash_code()
    edit_file(package / "stage.py", '"""Run."""', '"""Run it, as the paper says."""  # a comment')
    edit_file(package / "used.py", "2 * x", "(2 *\n            x)  # twice")
    assert hash_code() == before


def test_imported_code_changes_the_hash(package):
    before = hash_code()
    edit_file(package / "used.py", "2 * x", "3 * x")
    assert hash_code() != before


def test_package_reexports_do_not_change_the_hash(package):
    """Every stage imports the package, as in `from pipeline_py.run.command_line import run_command`."""
    edit_file(
        package / "stage.py", "from somewhere_py.package.used", "import somewhere_py\nfrom somewhere_py.package.used"
    )
    before = hash_code()
    (package.parent / "__init__.py").write_text("from somewhere_py.package.other import nothing\n")
    assert hash_code() == before
    edit_file(package / "other.py", "None", "1")
    assert hash_code() == before


def test_c_code_changes_the_hash_of_its_module(package):
    before = hash_code()
    (package / "other.c").write_text("int nothing(void) { return 0; }\n")
    assert hash_code() == before
    (package / "used.c").write_text("int twice(int x) { return 2 * x; }\n")
    with_c = hash_code()
    assert with_c != before
    edit_file(package / "used.c", "{ return", "{  /* doubles\n   x */\n   return")
    assert hash_code() == with_c
    edit_file(package / "used.c", "2", "3")
    assert hash_code() != with_c


def test_tables_change_the_hash_of_modules_in_their_folder(package):
    before = hash_code()
    (package.parent / "apart.tsv").write_text("english\tgerman\n")
    assert hash_code() == before
    table = package / "words.tsv"
    table.write_text("english\tgerman\nman\tMann\n")
    with_table = hash_code()
    assert with_table != before
    edit_file(table, "man\t", "# A comment.\n\nman\t")
    assert hash_code() == with_table
    edit_file(table, "Mann", "Mensch")
    assert hash_code() != with_table


def test_modules_that_are_not_imported_do_not_change_the_hash(package):
    before = hash_code()
    edit_file(package / "other.py", "None", "1")
    assert hash_code() == before


def test_named_modules_change_the_hash(package):
    def with_part() -> str:
        hash_code()
        return provenance.hash_stage_code("package.stage", "package.other")

    before = with_part()
    edit_file(package / "other.py", "None", "1")
    assert with_part() != before


def test_unused_definitions_do_not_change_the_hash(package):
    edit_file(
        package / "used.py", "def double", "UNUSED = 1\n\n\ndef unused():\n    return double(UNUSED)\n\n\ndef double"
    )
    before = hash_code()
    edit_file(package / "used.py", "UNUSED = 1", "UNUSED = 2")
    edit_file(package / "used.py", "return double(UNUSED)", "return UNUSED")
    assert hash_code() == before
    edit_file(package / "used.py", "2 * x", "UNUSED * x")
    after = hash_code()
    assert after != before
    edit_file(package / "used.py", "UNUSED = 2", "UNUSED = 3")
    assert hash_code() != after


@pytest.mark.parametrize(
    "used",
    [
        "import somewhere_py.package.other\n\ndef double(x):\n    return somewhere_py.package.other.nothing()\n",
        "from somewhere_py.package import other\n\ndef double(x):\n    return other.nothing()\n",
        "from somewhere_py.package import other\n\ndef double(x):\n    return vars(other)\n",
        "from somewhere_py.package import other as o\n\ndef double(x):\n    return getattr(o, x)()\n",
        "from somewhere_py.package.other import nothing as double\n",
        "def nothing():\n    from somewhere_py.package.other import nothing\n\n\ndouble = nothing\n",
        "def double(x):\n    from somewhere_py.package.other import nothing as f\n    return f()\n\n\n"
        "def other():\n    from somewhere_py.package.stage import run as f\n    return f\n",
        "from somewhere_py.package.other import nothing\n\nfor _ in [1]:\n    nothing()\n\ndouble = print\n",
        "from somewhere_py.package.other import nothing\n\nclass A:\n    f = nothing\n\ndouble = A.f\n",
        "def double(x):\n    from somewhere_py.package.other import nothing\n    return nothing()\n",
        "from somewhere_py.package.other import nothing\n\nA = B = nothing\n\ndef double(x):\n    return B\n",
        "from somewhere_py.package.other import nothing\n\nA = [1]\nA += [nothing]\n\ndef double(x):\n    return A\n",
        "from somewhere_py.package.other import nothing\n\ndef double(x, f=nothing):\n    return f\n",
        "from somewhere_py.package.other import nothing\n\n@nothing\ndef double(x):\n    return x\n",
        "from somewhere_py.package.other import nothing\n\nclass double(nothing):\n    pass\n",
        "from somewhere_py.package.other import nothing\n\na, (double, b) = 1, (nothing, 2)\n",
    ],
)
def test_every_use_of_a_definition_changes_the_hash(package, used):
    (package / "used.py").write_text(used)
    before = hash_code()
    edit_file(package / "other.py", "None", "1")
    assert hash_code() != before


def test_a_function_of_a_docstring_only_is_still_code(package):
    edit_file(package / "other.py", "return None", '"""Nothing."""')
    hash_code()
    assert provenance.hash_stage_code("package.other")


def test_provenance_includes_code_and_versions():
    made_by = provenance.compute_provenance("subword.learn_bpe", "subword-nmt")
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
STAGES += ["evaluation.compute_metric_statistics", "report.render_facts"]


def compute_hashes(hash_function) -> dict[str, str]:
    clear_caches()
    return {stage: hash_function(stage) for stage in STAGES}


@pytest.fixture(scope="module")
def project_copy(tmp_path_factory):
    """Copy the code of the project; return the copy and its hashes by definitions and by modules."""
    copy = tmp_path_factory.mktemp("copied")
    for package in provenance.PACKAGE_NAMES:
        shutil.copytree(
            provenance.PROJECT_FOLDER / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "PROJECT_FOLDER", copy)
        yield copy, compute_hashes(provenance.hash_stage_code), compute_hashes(compute_module_hash)
    clear_caches()


def test_result_neutral_modules_do_not_change_the_hash(project_copy):
    """Changes of progress messages, errors or time measurements do not train systems again."""
    copy, before, _ = project_copy
    contents = {}
    for module in provenance.RESULT_NEUTRAL_MODULES:
        place = copy / provenance.PACKAGE_NAME / module.replace(".", "/")
        for file in [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else place.glob("*.py"):
            contents[file] = file.read_text()
            file.write_text("CHANGED = True\n")
    assert len(contents) >= len(provenance.RESULT_NEUTRAL_MODULES)
    assert compute_hashes(provenance.hash_stage_code) == before
    for file, content in contents.items():
        file.write_text(content)


TRAINED = {"nmt.pretrain", "nmt.train"}
EDITS = [
    ("pipeline_py/files/text_files.py", "def read_lines(", "def read_lines(changed, ", {*STAGES}),
    ("embedded_grammar/lexicon/nouns.tsv", "\n", "\n# changed\nchanged\n", {"corpus.generate"}),
    ("pipeline_py/syntax/compute_distances.py", "def compute_distances(", "def compute_distances(changed, ", set()),
    (
        "pipeline_py/syntax/trees/dependency.py",
        "class DependencyTree",
        "class DependencyTree(Changed)",
        {"syntax.parse"},
    ),
    ("pipeline_py/config/systems/encoders.py", "from ", "CHANGED = 1\nfrom ", set()),
    ("pipeline_py/nmt/training/update.py", "\n\ndef ", "\n\ndef unused(): pass\n\n\ndef ", set()),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), EDITS)
def test_edits_change_the_hash_of_stages_that_use_the_definition(project_copy, file, old, new, expected):
    copy, before, before_by_modules = project_copy
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    after, after_by_modules = compute_hashes(provenance.hash_stage_code), compute_hashes(compute_module_hash)
    (copy / file).write_text(text, encoding="utf-8")
    changed = {stage for stage in STAGES if before[stage] != after[stage]}
    assert changed == expected
    assert changed <= {stage for stage in STAGES if before_by_modules[stage] != after_by_modules[stage]}
