import pytest
import yaml
from snakemake.cli import parse_config
from snakemake.utils import update_config

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.project_copy import ROOT


def load_default(overrides: str, command_line: list[str] | None = None) -> ExperimentConfig:
    """Load the default configuration with YAML laid over it."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    update_config(config, yaml.safe_load(overrides))
    overrides = parse_config(command_line)
    update_config(config, overrides)
    return load_experiment(config, command_line_config=overrides)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            "corpora: {dev: {name: no, generate: {sentences: 20}}}",
            "corpora.dev.name: give text, not false; YAML reads no, off, false as false; "
            'write the word in quotes: "no"',
        ),
        ("corpora: {source: {tokenizer: off}}", "tokenizer: give moses, jieba, stanza or none, not false"),
        ("name: 2014", 'name: give text, not 2014; put it in quotes: "2014"'),
        ("name: 2014-05-02", 'name: give text, not 2014-05-02; put it in quotes: "2014-05-02"'),
        ("training: {optimizer: adam}", "training.optimizer: give a mapping, not adam; did you mean `{name: adam}`?"),
        ("subword: bpe", "subword: give a mapping, not bpe; did you mean `{scheme: bpe}`?"),
        ("parsers: {mine: control}", "parsers.mine: give a mapping, not control; did you mean `{type: control}`?"),
        ("parsers: {embedded: {treebank: 100}}", "give a mapping, not 100; did you mean `{generate: 100}`?"),
        ("training: {seeds: 3}", "training.seeds: give a list, not 3; did you mean `[3]`?"),
        ("training: {optimizer: {name: adm}}", "give adadelta, adam or sgd, not adm; did you mean `adam`?"),
        ("training: {epochs: 1e3}", "training.epochs: give a whole number, not 1e3; did you mean 1000?"),
        (
            "training: {clip: none}",
            "training.clip: give a number, not none; for no value, write null where the key allows it",
        ),
        ("training: {tensorboard: maybe}", "training.tensorboard: give true or false, not maybe"),
        ("lr: 0.1", "unknown key `lr`; did you mean `training.optimizer.learning_rate`?"),
        ("training: {lr: 0.1}", "unknown key `training.lr`; did you mean `training.optimizer.learning_rate`?"),
        ("training: {warmup: 5}", "unknown key `training.warmup`; did you mean `training.optimizer.warmup`?"),
        ("decoding: {beam_size: 5}", "unknown key `decoding.beam_size`; did you mean `beam`?"),
        ("training: {device: gpu}", "training.device: give auto, cpu or cuda, not gpu; did you mean `cuda`?"),
        ("evaluation: {metrics: [BLEU]}", "moses_bleu, ribes or ter, not BLEU; did you mean `bleu`?"),
        ("corpora: {source: {lowercase: true}}", "unknown key `corpora.source.lowercase`; did you mean `case`?"),
        ("corpora: {dev: {target: dev.de}}", "unknown key `corpora.dev.target`; did you mean `references`?"),
        ("corpora: {source: {language: null}}", "corpora.source.language: give text, not null"),
        ("name: [a]", "name: give text, not a list"),
        (
            "corpora: {tests: {name: news, source: a, references: [b]}}",
            "corpora.tests: give a list, not a mapping; begin each of its entries with `- `",
        ),
    ],
)
def test_error_of_a_wrong_value_suggests_a_correction(overrides, message):
    with pytest.raises(InputError) as caught:
        load_default(overrides)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["{clip: null}", '{"clip": null}', "{clip: null, epochs: 2}"])
def test_null_on_the_command_line_is_null(text):
    assert load_default("{}", [f"training={text}"]).training.clip is None


@pytest.mark.parametrize(
    "overrides",
    [
        "parsers: {embedded: {depparse: {epochs: 5}, tagger: {epochs: 5, hidden: 100}, constituency: {epochs: 2}}}",
        "training: {optimizer: {epsilon: 1.0e-8}}",
        "training: {clip: 1.0, batch_unit: sentences, early_stopping: loss, average: 1}",
        "subword: {merges: 8000, source_vocabulary: {max_size: 50000}}",
        "corpora: {limits: {keep_duplicates: false}}",
    ],
)
def test_explicit_defaults_equal_implicit_ones(overrides):
    assert load_default(overrides) == load_default("{}")


def test_other_values_differ_from_defaults():
    assert load_default("parsers: {embedded: {constituency: {epochs: 5}}}") != load_default("{}")
    assert load_default("training: {optimizer: {epsilon: 1.0e-7}}") != load_default("{}")


def test_dumped_configuration_loads_as_the_same_experiment():
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    experiment = load_experiment({**config, "tables": {}, "figures": {}, "targets": None})
    assert load_experiment(experiment.model_dump(mode="json")) == experiment
