"""New experiments are valid configurations."""

import re
from pathlib import Path

import pytest

from pipeline_py.application.experiment_reader import read_experiment
from pipeline_py.commands.init_experiment import ParserChoice, init_experiment, list_needed_files
from pipeline_py.run.errors import InputError


def test_without_languages_it_is_on_the_embedded_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init_experiment(directory=tmp_path / "mine")
    experiment = read_experiment(tmp_path / "mine", ["experiment.yaml"], [])
    assert experiment.targets == ["table1"] and experiment.parser == "embedded"
    assert f"cd {tmp_path / 'mine'} && arbitree check" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "target", "tokenizers"),
    [("fr", "en", ("moses", "moses")), ("ja", "zh", ("stanza", "jieba")), ("en", "ja", ("moses", "stanza"))],
)
@pytest.mark.parametrize("parser", [*ParserChoice])
def test_an_experiment_of_a_language_pair(
    tmp_path: Path, source: str, target: str, tokenizers: tuple[str, str], parser: ParserChoice
) -> None:
    init_experiment(directory=tmp_path, source=source, target=target, parser=parser, recipe="pairs_2000")
    experiment = read_experiment(tmp_path, ["experiment.yaml"], [])
    corpora = experiment.corpora
    assert (corpora.source.tokenizer, corpora.target.tokenizer) == tokenizers
    assert experiment.parser == "main" and experiment.recipe == "pairs_2000"
    read_files = {Path(file).name for file in (corpora.train[0].source, corpora.dev.source, corpora.tests[0].source)}
    assert read_files <= {*list_needed_files(source, target, parser)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "fr"}, "only one language"),
        ({"source": "fr", "target": "en", "recipe": "pairs_3"}, "no recipe `pairs_3`; choose pairs_100000, pairs_2000"),
        ({"source": "french!", "target": "en"}, "french!: "),
        ({"source": "en", "target": "en"}, "source and target are both `en`"),
        ({"recipe": "pairs_2000"}, "--parser and --recipe are for texts of yours"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        init_experiment(directory=tmp_path / "mine", **options)
    assert not (tmp_path / "mine").exists()


def test_a_folder_with_a_snakefile_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").touch()
    with pytest.raises(InputError, match=r"with a Snakefile here, experiment\.yaml is not read"):
        init_experiment(directory=tmp_path)


def test_the_commented_examples_are_valid(tmp_path: Path) -> None:
    init_experiment(directory=tmp_path, source="fr", target="en")
    path = tmp_path / "experiment.yaml"
    content = path.read_text(encoding="utf-8")
    assert max(map(len, content.splitlines())) <= 120
    settings, names = content.split("# Systems:\n")
    assert "#   PBSMT, GlobalAtt," in names and " three_seeds/table2," in names
    settings = settings[settings.index("targets:") :].replace("targets: [table1]", "targets: [syntax]")
    path.write_text(
        re.sub(r"^#(?=  epochs)|^# (?=decoding|tables| )", "", settings, flags=re.MULTILINE), encoding="utf-8"
    )
    experiment = read_experiment(tmp_path, ["experiment.yaml"], [])
    assert experiment.tables["syntax"].systems == ["GlobalAtt", "SDAtt", "SDAtt [random]"] and experiment.targets == [
        "syntax"
    ]
    assert experiment.training.epochs == 8 and experiment.decoding.beam == 5


def test_an_existing_experiment_is_kept(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        init_experiment(directory=tmp_path)
    assert (tmp_path / "experiment.yaml").read_text() == "mine"
