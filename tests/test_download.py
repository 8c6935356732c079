"""Texts by their identifiers: sacrebleu's own code over files made here, and mtdata as it answers."""

import gzip
import shutil
import sys
import tarfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import sacrebleu.dataset
import yaml
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.download import download
from pipeline_py.run.errors import InputError
from tests.project_copy import ROOT

FILES = {"source": "wmt/dev.en", "references": ["wmt/dev.de.gz"]}
DEV = {"name": "dev", **FILES, "download": "sacrebleu:made-up"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the default configuration, where commands run."""
    shutil.copy(ROOT / "config.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, train: dict | None = None, **corpora: object) -> Path:
    """A configuration laid over the default one; training text is in files, whether or not they are there."""
    corpora["train"] = train or {"source": "train.en", "target": "train.de"}
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"data": str(folder), "corpora": corpora}))
    return path


@pytest.fixture
def test_set(project: Path, monkeypatch: pytest.MonkeyPatch):
    """A test set that sacrebleu downloads from this disk, with as many references as are given."""

    def make(*references: list[str], source: list[str], pair: str = "en-de") -> None:
        names = ["src.sgm", *(f"ref{number}.sgm" for number in range(len(references)))]
        with tarfile.open(project / "made-up.tgz", "w:gz") as archive:
            for name, lines in zip(names, [source, *references], strict=True):
                segments = [f'<seg id="{number}">{line}</seg>\n' for number, line in enumerate(lines, start=1)]
                (project / name).write_text('<doc docid="d" genre="g" origlang="en">\n' + "".join(segments))
                archive.add(project / name, name)
        monkeypatch.setattr("sacrebleu.dataset.base.SACREBLEU_DIR", str(project / "sacrebleu"))
        made = FakeSGMLDataset("made-up", data=[(project / "made-up.tgz").as_uri()], langpairs={pair: names})
        monkeypatch.setitem(sacrebleu.dataset.DATASETS, "made-up", made)

    return make


class Tag(str):
    """A language as mtdata writes it."""

    @staticmethod
    def check_compat_swap(ours: tuple[str, str], theirs: tuple[str, str]) -> tuple[bool, bool]:
        return {*ours} == {*theirs}, ours == theirs[::-1]


@pytest.fixture
def mtdata(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Two texts of mtdata, with these segments, or the error that downloading fails with."""

    def make(*segments: tuple[str, ...], fails: Exception | None = None) -> None:
        texts = {
            f"{name}-1-deu-{other}": SimpleNamespace(did=SimpleNamespace(langs=(Tag("deu"), Tag(other))), in_ext="txt")
            for name, other in (("Made-up", "eng"), ("Other", "fra"))
        }

        def get_entry(self: object, entry: SimpleNamespace) -> Path:
            if fails is not None:
                raise fails
            return project / "cached"

        modules = {
            "mtdata": {"cache_dir": project},
            "mtdata.data": {
                "INDEX": texts,
                "Cache": type("Cache", (), {"__init__": lambda self, root: None, "get_entry": get_entry}),
                "Parser": lambda path, ext, ent: SimpleNamespace(read_segs=lambda show_pbar: iter(segments)),
            },
            "mtdata.entry": {"DatasetId": SimpleNamespace(parse=str)},
            "mtdata.iso": {},
            "mtdata.iso.bcp47": {"BCP47Tag": Tag, "bcp47": lambda name: Tag({"en": "eng", "de": "deu"}[name])},
        }
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)

    return make


def train(name: str = "Made-up-1-deu-eng") -> dict[str, str]:
    return {"source": "train.en", "target": "train.de", "download": f"mtdata:{name}"}


def test_a_test_set_goes_to_its_files(project, test_set):
    test_set(["Ein Satz.", "Zwei &amp; drei."], source=["One  sentence.", "Two &amp; three."])
    download(configfile=[written(project, dev=DEV)])
    assert (project / "wmt/dev.en").read_text() == "One sentence.\nTwo &amp; three.\n"
    with gzip.open(project / "wmt/dev.de.gz", "rt") as file:
        assert file.read() == "Ein Satz.\nZwei &amp; drei.\n"


def test_each_reference_has_its_file(project, test_set):
    test_set(["a"], ["b"], source=["x"])
    path = written(project, dev={**DEV, "references": ["one", "two"]})
    download(configfile=[path], data=project / "elsewhere")
    assert [(project / "elsewhere" / name).read_text() for name in ("wmt/dev.en", "one", "two")] == [
        "x\n",
        "a\n",
        "b\n",
    ]


def test_training_text_comes_in_the_order_of_the_languages(project, mtdata):
    mtdata(("ein\nSatz\u2028hier", "a sentence"), ("zwei", "two\r", {"meta": 1}))
    download(configfile=[written(project, train())])
    assert (project / "train.de").read_text() == "ein Satz\u2028hier\nzwei\n"
    assert (project / "train.en").read_text() == "a sentence\ntwo \n"


def test_what_is_there_stays(project, test_set, capsys):
    test_set(["b"], source=["a"])
    path = written(project, dev=DEV)
    (project / "wmt").mkdir()
    for name in ("dev.en", "dev.de.gz"):
        (project / "wmt" / name).write_text("mine")
    download(configfile=[path])
    assert (project / "wmt/dev.en").read_text() == "mine" and "exists already" in capsys.readouterr().err
    (project / "wmt/dev.de.gz").unlink()
    with pytest.raises(InputError, match=r"dev\.en: the file exists, but .*dev\.de\.gz of the same text does not"):
        download(configfile=[path])


def test_a_text_of_more_references_than_files_leaves_nothing(project, test_set):
    test_set(["b"], ["c"], source=["a"])
    with pytest.raises(InputError, match="sacrebleu:made-up has 3 texts; name as many files"):
        download(configfile=[written(project, dev=DEV)])
    assert not [*(project / "wmt").iterdir()]


def test_other_languages_and_names_are_refused(project, test_set, mtdata):
    test_set(["b"], source=["a"], pair="en-fr")
    with pytest.raises(InputError, match=r"no test set made-up of en-de; `sacrebleu --list -l en-de` lists"):
        download(configfile=[written(project, dev=DEV)])
    mtdata()
    with pytest.raises(InputError, match=r"mtdata has no text Other; `mtdata list -l en-de` lists"):
        download(configfile=[written(project, train("Other"))])
    with pytest.raises(InputError, match="mtdata's Other-1-deu-fra is not a text of en and de"):
        download(configfile=[written(project, train("Other-1-deu-fra"))])


def test_no_network_is_told_in_one_sentence(project, test_set, mtdata):
    test_set(["b"], source=["a"])
    (project / "made-up.tgz").unlink()
    with pytest.raises(
        InputError, match=r"sacrebleu:made-up cannot be downloaded \(.*No such file.*; try again, or put"
    ):
        download(configfile=[written(project, dev=DEV)])
    mtdata(fails=ConnectionError("Name or service not known\nin detail"))
    with pytest.raises(
        InputError, match=r"cannot be downloaded \(Name or service not known\); try again, or put a copy"
    ):
        download(configfile=[written(project, train())])
    assert not [*project.glob("train.*")]


def test_a_missing_package_is_named(project, monkeypatch):
    monkeypatch.setitem(sys.modules, "mtdata", None)
    with pytest.raises(InputError, match=r"mtdata is not installed; pip install -e '\.\[mtdata\]'"):
        download(configfile=[written(project, train())])


def test_a_configuration_without_downloads_is_told_so(project):
    with pytest.raises(InputError, match=r"mine\.yaml: no text has the key `download`"):
        download(configfile=[written(project)])
    with pytest.raises(InputError, match=r"other\.yaml: no such file"):
        download(configfile=[project / "other.yaml"])


def test_the_workflow_says_how_to_get_what_is_missing(project):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for name in ("calibration", "transformers_calibration"):  # of gold trees, which files do not come with
        del config["tables"][name]
    config["targets"] = None
    config["corpora"] |= {"train": train(), "dev": DEV}
    with pytest.raises(InputError, match=r"`python -m pipeline_py.download --configfile FILE` downloads 4 of them"):
        load_experiment(config)
    config["corpora"]["dev"] = {"name": "dev", "download": "sacrebleu:wmt12", "generate": {"sentences": 5}}
    with pytest.raises(InputError, match="a `download` is stored in files"):
        load_experiment(config)
    config["corpora"]["dev"] = {**DEV, "download": "wmt12"}
    with pytest.raises(InputError, match=r"corpora\.dev\.download"):
        load_experiment(config)


def test_sacrebleu_has_the_test_sets_of_the_experiments():
    asked = 0
    for file in (ROOT / "workflow" / "experiments").glob("*.yaml"):
        corpora = yaml.safe_load(file.read_text()).get("corpora", {})
        for text in [corpora.get("dev") or {}, *corpora.get("tests", [])]:
            origin, _, name = text.get("download", "").partition(":")
            if origin == "sacrebleu":
                pair = f"{corpora['source']['language']}-{corpora['target']['language']}"
                assert len(sacrebleu.dataset.DATASETS[name].langpairs[pair]) == 1 + len(text["references"])
                asked += 1
    assert asked == 6


@pytest.mark.parametrize("content", [b"", b"5\n", b"a: [\n", b"a: \xff\n", b"a: 1\na: 2\n"])
def test_a_broken_configuration_is_told_in_one_sentence(project, content: bytes) -> None:
    path = project / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.yaml"):
        download(configfile=[path])
