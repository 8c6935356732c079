"""Download of texts by their identifiers: the code of sacrebleu with local files, and a fake mtdata."""

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
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, which has the default configuration."""
    shutil.copy(ROOT / "config.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_configuration(data: Path, train: dict | None = None, **corpora: object) -> Path:
    """Write a configuration over the default one; training text is in files, which need not exist."""
    corpora["train"] = train or {"source": "train.en", "target": "train.de"}
    path = data / "mine.yaml"
    path.write_text(yaml.safe_dump({"data": str(data), "corpora": corpora}))
    return path


@pytest.fixture
def make_test_set(project_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that adds a test set which sacrebleu downloads from this disk."""

    def make(*references: list[str], source: list[str], pair: str = "en-de") -> None:
        names = ["src.sgm", *(f"ref{number}.sgm" for number in range(len(references)))]
        with tarfile.open(project_folder / "made-up.tgz", "w:gz") as archive:
            for name, lines in zip(names, [source, *references], strict=True):
                segments = [f'<seg id="{number}">{line}</seg>\n' for number, line in enumerate(lines, start=1)]
                (project_folder / name).write_text('<doc docid="d" genre="g" origlang="en">\n' + "".join(segments))
                archive.add(project_folder / name, name)
        monkeypatch.setattr("sacrebleu.dataset.base.SACREBLEU_DIR", str(project_folder / "sacrebleu"))
        dataset = FakeSGMLDataset("made-up", data=[(project_folder / "made-up.tgz").as_uri()], langpairs={pair: names})
        monkeypatch.setitem(sacrebleu.dataset.DATASETS, "made-up", dataset)

    return make


class LanguageTag(str):
    """A language code of mtdata."""

    @staticmethod
    def check_compat_swap(ours: tuple[str, str], theirs: tuple[str, str]) -> tuple[bool, bool]:
        return {*ours} == {*theirs}, ours == theirs[::-1]


@pytest.fixture
def fake_mtdata(project_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that replaces mtdata by two texts with some segments, or with an error of the download."""

    def make(*segments: tuple[str, ...], fails: Exception | None = None) -> None:
        texts = {
            f"{name}-1-deu-{language}": SimpleNamespace(
                did=SimpleNamespace(langs=(LanguageTag("deu"), LanguageTag(language))), in_ext="txt"
            )
            for name, language in (("Made-up", "eng"), ("Other", "fra"))
        }

        def get_entry(self: object, entry: SimpleNamespace) -> Path:
            if fails is not None:
                raise fails
            return project_folder / "cached"

        modules = {
            "mtdata": {"cache_dir": project_folder},
            "mtdata.data": {
                "INDEX": texts,
                "Cache": type("Cache", (), {"__init__": lambda self, root: None, "get_entry": get_entry}),
                "Parser": lambda path, ext, ent: SimpleNamespace(read_segs=lambda show_pbar: iter(segments)),
            },
            "mtdata.entry": {"DatasetId": SimpleNamespace(parse=str)},
            "mtdata.iso": {},
            "mtdata.iso.bcp47": {
                "BCP47Tag": LanguageTag,
                "bcp47": lambda name: LanguageTag({"en": "eng", "de": "deu"}[name]),
            },
        }
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)

    return make


def build_train_entry(name: str = "Made-up-1-deu-eng") -> dict[str, str]:
    return {"source": "train.en", "target": "train.de", "download": f"mtdata:{name}"}


def test_a_test_set_is_written_to_its_files(project_folder, make_test_set):
    make_test_set(["Ein Satz.", "Zwei &amp; drei."], source=["One  sentence.", "Two &amp; three."])
    download(configfile=[write_configuration(project_folder, dev=DEV)])
    assert (project_folder / "wmt/dev.en").read_text() == "One sentence.\nTwo &amp; three.\n"
    with gzip.open(project_folder / "wmt/dev.de.gz", "rt") as file:
        assert file.read() == "Ein Satz.\nZwei &amp; drei.\n"


def test_each_reference_has_its_file(project_folder, make_test_set):
    make_test_set(["a"], ["b"], source=["x"])
    path = write_configuration(project_folder, dev={**DEV, "references": ["one", "two"]})
    download(configfile=[path], data=project_folder / "elsewhere")
    assert [(project_folder / "elsewhere" / name).read_text() for name in ("wmt/dev.en", "one", "two")] == [
        "x\n",
        "a\n",
        "b\n",
    ]


def test_training_text_comes_in_the_order_of_the_languages(project_folder, fake_mtdata):
    fake_mtdata(("ein\nSatz\u2028hier", "a sentence"), ("zwei", "two\r", {"meta": 1}))
    download(configfile=[write_configuration(project_folder, build_train_entry())])
    assert (project_folder / "train.de").read_text() == "ein Satz\u2028hier\nzwei\n"
    assert (project_folder / "train.en").read_text() == "a sentence\ntwo \n"


def test_existing_files_are_kept(project_folder, make_test_set, capsys):
    make_test_set(["b"], source=["a"])
    path = write_configuration(project_folder, dev=DEV)
    (project_folder / "wmt").mkdir()
    for name in ("dev.en", "dev.de.gz"):
        (project_folder / "wmt" / name).write_text("mine")
    download(configfile=[path])
    assert (project_folder / "wmt/dev.en").read_text() == "mine" and "exists already" in capsys.readouterr().err
    (project_folder / "wmt/dev.de.gz").unlink()
    with pytest.raises(InputError, match=r"dev\.en: the file exists, but .*dev\.de\.gz of the same text does not"):
        download(configfile=[path])


def test_more_references_than_files_leave_nothing(project_folder, make_test_set):
    make_test_set(["b"], ["c"], source=["a"])
    with pytest.raises(InputError, match="sacrebleu:made-up has 3 texts; name as many files"):
        download(configfile=[write_configuration(project_folder, dev=DEV)])
    assert not [*(project_folder / "wmt").iterdir()]


def test_other_languages_and_names_are_refused(project_folder, make_test_set, fake_mtdata):
    make_test_set(["b"], source=["a"], pair="en-fr")
    with pytest.raises(InputError, match=r"no test set made-up of en-de; `sacrebleu --list -l en-de` lists"):
        download(configfile=[write_configuration(project_folder, dev=DEV)])
    fake_mtdata()
    with pytest.raises(InputError, match=r"mtdata has no text Other; `mtdata list -l en-de` lists"):
        download(configfile=[write_configuration(project_folder, build_train_entry("Other"))])
    with pytest.raises(InputError, match="mtdata's Other-1-deu-fra is not a text of en and de"):
        download(configfile=[write_configuration(project_folder, build_train_entry("Other-1-deu-fra"))])


def test_failed_downloads_are_reported_in_one_sentence(project_folder, make_test_set, fake_mtdata):
    make_test_set(["b"], source=["a"])
    (project_folder / "made-up.tgz").unlink()
    with pytest.raises(
        InputError, match=r"sacrebleu:made-up cannot be downloaded \(.*No such file.*; try again, or put"
    ):
        download(configfile=[write_configuration(project_folder, dev=DEV)])
    fake_mtdata(fails=ConnectionError("Name or service not known\nin detail"))
    with pytest.raises(
        InputError, match=r"cannot be downloaded \(Name or service not known\); try again, or put a copy"
    ):
        download(configfile=[write_configuration(project_folder, build_train_entry())])
    assert not [*project_folder.glob("train.*")]


def test_a_missing_package_is_named(project_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "mtdata", None)
    with pytest.raises(InputError, match=r"mtdata is not installed; pip install -e '\.\[mtdata\]'"):
        download(configfile=[write_configuration(project_folder, build_train_entry())])


def test_a_configuration_without_downloads_is_reported(project_folder):
    with pytest.raises(InputError, match=r"mine\.yaml: no text has the key `download`"):
        download(configfile=[write_configuration(project_folder)])
    with pytest.raises(InputError, match=r"other\.yaml: no such file"):
        download(configfile=[project_folder / "other.yaml"])


def test_missing_texts_are_reported_with_the_download_command(project_folder):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for name in ("calibration", "transformers_calibration"):  # they need gold trees, which texts in files lack
        del config["tables"][name]
    config["targets"] = None
    config["corpora"] |= {"train": build_train_entry(), "dev": DEV}
    with pytest.raises(InputError, match=r"`python -m pipeline_py.download --configfile FILE` downloads 4 of them"):
        load_experiment(config)
    config["corpora"]["dev"] = {"name": "dev", "download": "sacrebleu:wmt12", "generate": {"sentences": 5}}
    with pytest.raises(InputError, match="a `download` is stored in files"):
        load_experiment(config)
    config["corpora"]["dev"] = {**DEV, "download": "wmt12"}
    with pytest.raises(InputError, match=r"corpora\.dev\.download"):
        load_experiment(config)


def test_sacrebleu_has_the_test_sets_of_the_experiments():
    test_set_count = 0
    for file in (ROOT / "workflow" / "experiments").glob("*.yaml"):
        corpora = yaml.safe_load(file.read_text()).get("corpora", {})
        for text in [corpora.get("dev") or {}, *corpora.get("tests", [])]:
            origin, _, name = text.get("download", "").partition(":")
            if origin == "sacrebleu":
                pair = f"{corpora['source']['language']}-{corpora['target']['language']}"
                assert len(sacrebleu.dataset.DATASETS[name].langpairs[pair]) == 1 + len(text["references"])
                test_set_count += 1
    assert test_set_count == 6


@pytest.mark.parametrize("content", [b"", b"5\n", b"a: [\n", b"a: \xff\n", b"a: 1\na: 2\n"])
def test_a_broken_configuration_is_reported_in_one_sentence(project_folder, content: bytes) -> None:
    path = project_folder / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.yaml"):
        download(configfile=[path])
