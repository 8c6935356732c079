"""Valid configurations are accepted, and errors of invalid ones have exact messages."""

import copy
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_py.config.corpora import HELD_OUT_SHARE_COUNT, compute_split_share, compute_treebank_share
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.tables import BleuTableConfig
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parent.parent


@pytest.fixture
def config() -> dict[str, Any]:
    """Return the default with one seed, without contrastive sets and tables that need gold trees."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config["targets"], config["corpora"]["contrast"] = None, []
    for name in ("calibration", "transformers_calibration", "three_seeds/table1", "three_seeds/table2"):
        del config["tables"][name]
    config["training"]["optimizer"]["schedule"] = "constant"
    return config


def replace_value(config: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of the configuration in which the value at a dotted path is replaced."""
    config = copy.deepcopy(config)
    container: Any = config
    *parents, last = path.split(".")
    for key in parents:
        container = container[int(key)] if isinstance(container, list) else container.setdefault(key, {})
    container[last] = value
    return config


def test_the_default_is_valid(config):
    experiment = load_experiment(config)
    assert experiment.systems["SDAtt"].required_syntax_names == ["distances"]
    assert experiment.systems["GlobalAtt"].required_syntax_names == []
    assert experiment.get_output_folder("results") == "results"


def list_tested_pairs(experiment: ExperimentConfig) -> set[tuple[str, str]]:
    """Return the pairs (replaced system, tested system) of the significance tests of all tables."""
    return {pair for name in experiment.tables for pair in combinations(experiment.sort_rows_for_tests(name), 2)}


def test_two_systems_are_tested_in_one_direction_in_all_tables(config):
    """Proposed systems replace the others, and those replace the baseline."""
    experiment = load_experiment(config)
    pairs = list_tested_pairs(experiment)
    assert not {pair[::-1] for pair in pairs} & pairs
    for options in experiment.tables.values():
        if isinstance(options, BleuTableConfig):
            proposed, baselines = options.proposed, [row for row in options.systems if row not in options.proposed]
            assert pairs >= {(baseline, row) for row in proposed for baseline in baselines}
            assert pairs >= {(options.baseline, row) for row in options.systems if row != options.baseline}
    assert experiment.sort_rows_for_tests("tree2seq/table1_2") == []


def test_the_first_table_decides_the_direction_of_a_test(config):
    table = {"title": "T", "systems": ["GlobalAtt", "SDAtt"], "baseline": "SDAtt", "proposed": []}
    pairs = list_tested_pairs(load_experiment(replace_value(config, "tables.other", table)))
    assert ("GlobalAtt", "SDAtt") in pairs and ("SDAtt", "GlobalAtt") not in pairs


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("corpra", {}, "unknown key `corpra`; did you mean `corpora`?"),
        ("training.optimizer.betas", [0.9], "training.optimizer.betas.1: field required"),
        ("training.epochz", 3, "unknown key `training.epochz`; did you mean `epochs`?"),
        (
            "systems.SDAtt.contexts",
            [{"type": "syntax", "windw": 3}],
            "unknown key `systems.SDAtt.contexts.0.windw`; did you mean `window`?",
        ),
        ("parsers.embedded.treebnk", {}, "unknown key `parsers.embedded.treebnk`; did you mean `treebank`?"),
        ("systems.SDAtt.parser", "embeded", "system `SDAtt`: unknown parser `embeded`; did you mean `embedded`?"),
        ("parser", None, "table `controls`: `default` means the parser in `parser`, which is not set"),
        ("parser", "embeded", "parser: unknown parser `embeded`; did you mean `embedded`?"),
        ("parsers.default", {"type": "given"}, "parsers: `default` means the parser in `parser`; choose another"),
        ("tables.controls.parsers", ["default", "gld"], "table `controls`: unknown parser `gld`; did you mean `gold`?"),
        ("systems.LocalAtt.parser", "embedded", "system `LocalAtt` names a parser, but none of its parts reads"),
        ("systems.a/b", {}, "system 'a/b': the name is part of paths"),
        (f"systems.{'ab' * 150}", {}, "and use at most 120 bytes and nothing 20 times in a row"),
        (f"systems.{'a' * 25}", {}, "system 'aaaaaaaaaaaaaaaaaaaaaaaaa': the name is part of paths"),
        (
            f"parsers.{'p' * 300}",
            {"type": "given"},
            f"parser `{'p' * 80}…`: use letters, digits, `_` and `-`, at most 48",
        ),
        (f"subwords.{'u' * 300}", {}, "use letters, digits, `_` and `-`, at most 48 and none 20 times in a row"),
        (f"tables.a/{'t' * 300}", {"type": "parses", "title": "T", "parser": "gold"}, "at most 48 on either side"),
        ("corpora.tests.0.name", "x" * 49, "corpora.tests.0.name: string should have at most 48 characters"),
        ("corpora.tests.0.name", "x" * 25, "test set `xxxxxxxxxxxxxxxxxxxxxxxxx`: use letters"),
        ("name", "n" * 300, f"name: string should have at most 48 characters, not '{'n' * 79}…"),
        ("systems.a\tb", {}, "system 'a\\tb': the name is part of paths"),
        ("systems.a ", {}, "system 'a ': the name is part of paths"),
        ("systems.GlobalAtt.contexts", [{"type": "global", "score": 1}], "weights score 1, but there are 1"),
        ("systems", 7, "systems: give a mapping of keys to values, not 7"),
        (
            "training.optimizer.name",
            "adagrad",
            "training.optimizer.name: give adadelta, adam or sgd, not adagrad; did you mean",
        ),
        ("training.epochs", None, "training: give `epochs`, `updates` or both"),
        ("corpora.train.generate.sentences", -3, "input should be greater than 0, not -3"),
        ("training", {}, "training: give `epochs`, `updates` or both"),
        ("systems.SDAtt.training", {"epochs": None}, "system `SDAtt`: training: give `epochs`, `updates` or both"),
        (
            "systems.GlobalAtt.model",
            {"tied_embeddings": "all"},
            "ties the embeddings of both sides: give `subword.joint",
        ),
        ("systems.SDAtt.training", {"seeds": [2]}, "system `SDAtt`: `seeds` is the same for all systems"),
        ("systems.SDAtt.training", {"threads": 2}, "system `SDAtt`: `threads` is the same for all systems"),
        ("systems.SDAtt.training", {"processes": 2}, "system `SDAtt`: `processes` is the same for all systems"),
        ("presets", {"fast": None}, "presets: give a mapping of names to partial configurations"),
        ("preset", ["fast"], "unknown preset `['fast']`"),
        ("preset", 3, "unknown preset `3`"),
        ("model", 5, "model: give a mapping of keys to values, such as "),
        ("systems.SDAtt.model", 5, "systems.SDAtt.model: give a mapping of keys to values, such as "),
        ("systems.SDAtt.contexts", [{"window": 4}], "systems.SDAtt.contexts.0: give its `type`"),
        ("parsers.other", {"directory": "x"}, "parsers.other: give its `type`"),
        ("parsers.other", {"type": "stanza", "directory": "x", "package": "y"}, "give either `package`"),
        ("decoding.n_best", 9, "n_best 9 exceeds beam 5"),
        ("decoding", {"beam": [4, 9], "n_best": 5}, "n_best 5 exceeds beam 4"),
        ("decoding.beam", [9, 4], "decoding: list the widths of `beam` in ascending order, each once"),
        ("decoding.beam", [4, 4], "decoding: list the widths of `beam` in ascending order, each once"),
        ("decoding.beam", [4], "decoding.beam: tuple should have at least 2 items"),
        ("decoding.beam", [4, "x"], "decoding.beam.1: give a whole number, not x"),
        ("decoding.beam", "wide", "decoding.beam: give a whole number, not wide"),
        ("decoding.retry_beam", 5, "decoding.retry_beam: 5 does not exceed beam 5; widen it or leave it out"),
        ("decoding", {"beam": [4, 9], "retry_beam": 9}, "retry_beam: 9 does not exceed beam 9"),
        ("decoding.retry_beam", 2000, "decoding.retry_beam: input should be less than or equal to 1000"),
        ("decoding.max_length_ratio", None, "decoding: a translation needs a limit of length; give `max_length`"),
        (
            "decoding.length_model",
            "tran",
            "decoding.length_model: `corpora.length_texts` has no text `tran`; add it there, or choose train or dev",
        ),
        ("systems.SDAtt.decoding", {"length_model": "mixed"}, "system `SDAtt`: decoding.length_model: `corpora.length"),
        ("decoding.length_model", 3, "decoding.length_model: give true or false, not 3"),
        (
            "corpora.length_texts",
            [{"name": "mixed", "source": "a", "target": "b"}],
            "test sets and length texts need different names; repeated: mixed",
        ),
        (
            "corpora.length_texts",
            [{"name": "train", "source": "a", "target": "b"}],
            "a test set or length text cannot be called `train`",
        ),
        ("corpora.length_texts", [{"name": "more", "source": "a"}], "corpora.length_texts.0.target: field required"),
        ("training.clip", float("inf"), "training.clip: input should be a finite number"),
        ("subword.target_vocabulary.max_size", 2, "max_size 2 leaves no room for a word"),
        ("corpora.limits.min_length", 90, "min_length 90 exceeds max_length 80"),
        ("corpora.train.generate.min_length", 50, "min_length 50 exceeds max_length 16"),
        ("corpora.target.tokenizer", "jieba", "jieba segments Chinese, not de"),
        ("corpora.source.language", "fr", "generated text is English"),
        ("tables.table1.systems", ["GlobalAtt", "SDAtt", "SDAtt"], "a table may name each row once; repeated: SDAtt"),
        ("tables.table1.proposed", ["GlobalAtt"], "`GlobalAtt` is the baseline"),
        ("corpora.tests.0.name", "dev", "a test set or length text cannot be called `dev`"),
        ("corpora.tests.0.name", "long", "test sets and length texts need different names; repeated: long"),
        ("tables.table1.systems", ["GlobalAtt", "SDAt"], "unknown system `SDAt`; did you mean `SDAtt`?"),
        ("tables.table1.baseline", "Moses", "table `table1`: unknown system `Moses`"),
        ("tables.table1.labels", {"SDRMT-2": "x"}, "table `table1`: unknown system `SDRMT-2`"),
        ("training.seeds", [1, 2, 1], "every seed once"),
        ("training", {"optimizer": {"schedule": "linear"}}, "training: `optimizer.schedule: linear` needs `epochs` or"),
        ("training.optimizer", {"schedule": "linear", "decay": 0.5}, "training.optimizer: the learning rate"),
        ("training.seeds", [], "training.seeds: list should have at least 1 item"),
        ("training.seed", 1, "unknown key `training.seed`; did you mean `seeds`?"),
        ("seeds", [1, 2], "unknown key `seeds`; did you mean `training.seeds`?"),
        ("evaluation.device", "cpu", "unknown key `evaluation.device`; did you mean `training.device`?"),
        ("name", "a b", "name: give letters, digits, _ and -, a letter or digit first, not 'a b'"),
        ("corpora.source.language", "Deutsch", "corpora.source.language: give an ISO 639 code, e.g. en or zh, not 'D"),
        ("systems.PBSMT.tuning.sentence", 1, "unknown key `systems.PBSMT.tuning.sentence`; did you mean `sentences`?"),
        (
            "systems.PBSMT.type",
            "moses",
            "unknown type of systems.PBSMT `moses`; known are ensemble, neural, phrase_based",
        ),
        ("systems.PBSMT.model", {}, "unknown key `systems.PBSMT.model`; only the type neural has it"),
        ("systems.PBSMT.tunin", {}, "unknown key `systems.PBSMT.tunin`; did you mean `tuning`?"),
        ("systems.SDAtt.tuning", {}, "unknown key `systems.SDAtt.tuning`; "),
        ("systems.PBSMT", None, "systems.PBSMT: give a mapping of parts"),
        ("systems.SDAtt", "syntax", "systems.SDAtt: give a mapping of parts"),
        ("systems.SDRNMT-2.contexts", ["global"], "systems.SDRNMT-2: no context weights score 1"),
        ("tables.table1.labels", {"PBSMT": "a\nb"}, "tables.table1.labels.PBSMT: give printable text on one line"),
        ("tables.table1.title", "a\n", "tables.table1.title: give printable text on one line"),
        ("tables.table1.labels", {"PBSMT": "SDAtt"}, "two rows have the label `SDAtt`"),
        ("corpora.tests.0.name", "facts", "a test set or length text cannot be called `facts`"),
        ("corpora.tests.0.name", "AVG", "a test set or length text cannot be called `AVG`"),
        ("corpora.tests.0.name", "all", "a test set or length text cannot be called `all`"),
        ("corpora.tests.0.name", "pretraining", "a test set or length text cannot be called `pretraining`"),
        (
            "systems.SDRNMT-2.contexts",
            [{"type": "global", "mixture": [1]}],
            "a context mixes 1 scores, but there are 2",
        ),
        ("systems.SDRNMT-2.scores", [{"type": "mlp", "encoder": 2}], "a score reads encoder 2, but there are 2"),
        ("systems.SDRNMT-2.contexts", [{"type": "global", "score": 1, "mixture": [1, 2]}], "either one `score` or"),
        ("systems.SDRNMT-1.encoders", [{"inputs": ["words", "units"]}], "at most one of an encoder's inputs"),
        (
            "systems.SDRNMT-1.encoders",
            [{"inputs": [{"type": "units", "size": 5}]}],
            "must add up to the embedding of 128",
        ),
        ("systems.SDRNMT-1.encoders", [{"inputs": ["words", {"type": "units", "size": 128}]}], "must add up"),
        (
            "systems.SDRNMT-1.encoders",
            [{"inputs": [{"type": "units", "size": 5, "share": 0.1}]}],
            "`size` or a `share`",
        ),
        ("evaluation.length_groups", [10, 10], "length_groups must increase"),
        ("evaluation.smallest_group", 0, "evaluation.smallest_group: "),
        ("preset", "fst", "unknown preset `fst`; known are none"),
        ("tables.table1", None, "tables.table1: give a mapping of keys to values"),
        ("tables.table1.type", "measure", "unknown type of tables.table1 `measure`; did you mean `measures`?"),
        ("tables.table1.columns", ["bleu"], "unknown key `tables.table1.columns`; only the type measures has it"),
        (
            "tables.tree2seq/table5.baseline",
            "Tree2Seq",
            "unknown key `tables.tree2seq/table5.baseline`; only the type bleu has it",
        ),
        (
            "tables.tree2seq/table5.columns",
            ["beem"],
            "tables.tree2seq/table5.columns.0: `beem` is not an option; did you mean `beam`?",
        ),
        ("tables.tree2seq/table5.columns", ["bleu", "bleu"], "a table may name each column once; repeated: bleu"),
        ("tables.tree2seq/table5.sets", ["dev", "dev"], "a table may name each set once; repeated: dev"),
        ("tables.tree2seq/table5.parsed_by", "embeded", "table `tree2seq/table5`: unknown parser `embeded`; did you"),
        ("tables.tree2seq/table1_2", {"type": "parses", "title": "x"}, "tables.tree2seq/table1_2.parser: field req"),
        ("tables.tree2seq/table7.marks.0.symbol", "a\nb", "tables.tree2seq/table7.marks.0.symbol: give printable"),
        (
            "tables.tree2seq/table7.columns",
            ["hidden"],
            "tables.tree2seq/table7: only bleu, chrf, comet, moses_bleu, ribes, ter can have marks",
        ),
        ("tables.tree2seq/table7.marks.0.against", ["Dep2Seq"], "the mark ‡ compares `Dep2Seq`, which is not a row"),
        ("tables.tree2seq/table12.systems", ["PBSMT"], "table `tree2seq/table12`: `PBSMT` is not a network"),
        ("tables.hierarchical/table2.subword", "generalised", "`generalised` needs `scheme: bpe` and `generalise`"),
        ("figures.tree2seq/attention.title", "a\nb", "figures.tree2seq/attention.title: give printable text"),
        ("figures.tree2seq/attention.set", "tst", "figure `tree2seq/attention`: unknown set `tst`"),
        ("targets", ["tree2sq"], "targets: unknown table, figure or folder `tree2sq`; did you mean `tree2seq`?"),
        ("systems.Seq2Seq.encoders", ["lstmm"], "unknown type of systems.Seq2Seq.encoders.0 `lstmm`; did you mean `l"),
        (
            "systems.Seq2Seq.loss",
            {"samples": 5},
            "unknown key `systems.Seq2Seq.loss.samples`; only the type blackout has it",
        ),
        (
            "systems.SDAtt.decoder",
            {"type": "conditional_gru", "attention": ["syntax"]},
            "unknown key `systems.SDAtt.decoder.attention`; only the type transformer has it",
        ),
        ("systems.Seq2Seq.encoders", ["gru"], "the decoder lstm starts from the state of an LSTM"),
        ("systems.Seq2Seq.like", "PBSMT", "system `Seq2Seq`: `like` must name a network, and `PBSMT` is not one"),
        ("systems.Tree2Seq-ensemble.members", ["Tree2Seq", "Hierarchical"], "have different target vocabularies"),
        (
            "systems.Both",
            {"type": "ensemble", "members": ["Transformer-base", "Transformer-parsing-task"]},
            "system `Both`: its members have different target vocabularies",
        ),
        (
            "systems.Sequential-lexical.subword",
            "generalised",
            "reads trees over the pieces of words, but its units are",
        ),
        (
            "systems.Hierarchical.encoders",
            ["gru"],
            "systems.Hierarchical: the decoder's phrase_weight weighs phrases, but the encoder gru annotates none",
        ),
        (
            "systems.Hierarchical.decoder.phrase_weight",
            2,
            "systems.Hierarchical.decoder.phrase_weight: input should be",
        ),
        (
            "systems.SDRNMT-2.encoders",
            ["latent_graph", "latent_graph"],
            "systems.SDRNMT-2: several encoders are pretrained on parsing; only one can be",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(config, path, value, sentence):
    with pytest.raises(InputError) as caught:
        load_experiment(replace_value(config, path, value))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_with_the_folder_that_it_was_looked_for_in(config):
    config["corpora"]["dev"] = {"name": "dev", "source": "dev.en", "references": ["dev.de"]}
    with pytest.raises(InputError, match=r"nowhere/dev.en: no such file \(and 1 more\).*the folder nowhere "):
        load_experiment({**config, "data": "nowhere"})


def test_a_preset_is_merged_and_every_preset_is_validated(config):
    sizes = {"hidden": 6, "tied_embeddings": "none"}
    config["presets"] = {"small": {"model": sizes}, "broken": {"model": {"hiden": 6}}}
    with pytest.raises(InputError, match=r"preset broken: .*hiden"):
        load_experiment({**config, "preset": "small"})
    del config["presets"]["broken"]
    small = load_experiment({**config, "preset": "small"})
    assert {small.systems[name].model.hidden for name in ("GlobalAtt", "SDAtt", "Tree2Seq", "Hierarchical")} == {6}
    assert small.systems["SDAtt"].model.embedding == config["model"]["embedding"]


def test_the_command_line_overrides_presets(config):
    config["presets"] = {"small": {"training": {"epochs": 7}}}
    experiment = load_experiment({**config, "preset": "small"}, command_line_config={"training": {"epochs": 3}})
    assert experiment.training.epochs == 3


def test_case_may_be_written_as_yaml_boolean(config):
    assert load_experiment(replace_value(config, "corpora.target.case", True)).corpora.target.case == "true"


def test_a_system_keeps_what_it_sets_itself(config):
    experiment = load_experiment(replace_value(config, "systems.SDAtt.model", {"hidden": 9}))
    assert experiment.systems["SDAtt"].model.hidden == 9
    assert experiment.systems["SDAtt"].model.embedding == config["model"]["embedding"]
    assert experiment.systems["GlobalAtt"].model.hidden == config["model"]["hidden"]


def test_required_syntax_follows_from_the_parts_of_a_system(config):
    systems = load_experiment(config).systems
    syntax_names = {
        name: systems[name].required_syntax_names for name in ("GlobalAtt", "Sennrich-deponly", "SDRNMT-1", "SDRNMT-2")
    }
    assert syntax_names == {
        "GlobalAtt": [],
        "Sennrich-deponly": ["labels"],
        "SDRNMT-1": ["units"],
        "SDRNMT-2": ["units"],
    }
    assert load_experiment(config).get_network_tree_formats("Transformer-parsing-task") == ["ptb"]
    assert (
        "nmt.input.units" in systems["SDRNMT-2"].module_names and "nmt.input.units" not in systems["SDAtt"].module_names
    )


@pytest.mark.parametrize(
    ("targets", "parsers"),
    [
        (None, ["embedded"]),
        ([], []),
        (["tree2seq/table9"], ["embedded"]),
        (["mine"], []),
        (["tree2seq/attention"], ["embedded"]),
        (["ensemble"], ["embedded"]),
    ],
)
def test_parsers_are_measured_for_requested_targets(config, targets, parsers):
    table = {"type": "measures", "title": "T", "columns": ["bleu"]}
    config["tables"] |= {
        "mine": {**table, "systems": ["Seq2Seq", "PBSMT"]},
        "ensemble": {**table, "systems": ["Tree2Seq-beam10"]},
    }
    assert load_experiment({**config, "targets": targets}).requested_trained_parsers == parsers


def test_inputs_share_the_embedding_as_in_the_paper(config):
    (encoder,) = load_experiment(config).systems["SDRNMT-1"].encoders
    assert encoder.compute_input_sizes(620) == [360, 260] and encoder.compute_input_sizes(128) == [74, 54]


def test_runs_are_named_by_their_seeds(config):
    experiment = load_experiment(replace_value(config, "training.seeds", [1, 7]))
    assert experiment.get_runs("SDAtt") == ["seed1", "seed7"] and experiment.get_runs("PBSMT") == ["single"]


def test_shares_of_the_generated_language_do_not_overlap():
    shares = [compute_split_share(index) for index in range(2 + HELD_OUT_SHARE_COUNT // 2)]
    shares += [compute_treebank_share(index) for index in range(3)]
    ordered = sorted(shares)
    assert all(before[1] <= after[0] for before, after in pairwise(ordered))
    assert ordered[0][0] == 0 and ordered[-1][1] == 1


def test_the_schema_for_editors_is_that_of_the_models():
    from pipeline_py.config.schema import render_json_schema

    assert (ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8") == render_json_schema(), (
        "run: python -m pipeline_py.config.schema --output docs/config.schema.json"
    )


@pytest.mark.parametrize(
    ("data", "source", "sentence"),
    [
        ("da{t}a", "train.en", "da{t}a/train.en: { } < > in a path have a meaning in Snakemake"),
        ("data", "<b>.en", "data/<b>.en: { } < > in a path have a meaning in Snakemake"),
        ("data", "~nobody-of-this-name/x.en", "~nobody-of-this-name/x.en: no user has this name"),
        (".", "x" * 300, "x: the name is too long; choose a shorter one in the configuration"),
        ("data", "\0", "\\x00: no such file"),
        ("~nobody-of-this-name", "x.en", "data: ~nobody-of-this-name: no user has this name"),
    ],
)
def test_invalid_paths_are_reported(config, data: str, source: str, sentence: str) -> None:
    config = replace_value(
        replace_value(config, "data", data), "corpora.train", {"source": source, "target": "train.de"}
    )
    with pytest.raises(InputError) as caught:
        load_experiment(config)
    assert sentence in str(caught.value)


def test_the_home_folder_is_expanded_in_data_and_in_files(config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    experiment = load_experiment(replace_value(config, "data", "~/corpora"), should_check_files=False)
    assert experiment.data == "/home/me/corpora"
    assert experiment.resolve_path("train.en") == "/home/me/corpora/train.en"
    assert experiment.resolve_path("~/train.en") == "/home/me/train.en"


def test_a_folder_is_not_a_file_and_vice_versa(config, tmp_path: Path) -> None:
    (tmp_path / "resources.json").mkdir()
    (tmp_path / "train.en").write_text("a\n")
    (tmp_path / "folder").mkdir()

    def get_error_message(path: str, value: Any) -> str:
        with pytest.raises(InputError) as caught:
            load_experiment(replace_value(replace_value(config, "data", str(tmp_path)), path, value))
        return str(caught.value)

    text = {"source": "train.en", "target": "folder"}
    assert get_error_message("corpora.train", text) == f"configuration: {tmp_path}/folder: is a folder; give a file"
    directory = {"type": "stanza", "directory": "."}
    assert (
        get_error_message("parsers.local", directory)
        == f"configuration: {tmp_path}/resources.json: is a folder; give a file"
    )
    stanza = {"language": "en", "tokenizer": "stanza", "stanza_directory": "train.en"}
    sentence = f"configuration: {tmp_path}/train.en: not a folder; give a folder of models"
    assert get_error_message("corpora.source", stanza) == sentence
