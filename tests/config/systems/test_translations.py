"""External systems: their runs, sets and notes, and errors in their configuration."""

from typing import Any

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.setting_differences import (
    collect_differing_settings,
    format_difference_warning,
    format_table_notes,
)
from pipeline_py.run.errors import InputError

THEIRS = {"type": "translations", "files": {"mixed": "t.de", "long": "l.de", "particles": "p.de"}}
SCORES = {"type": "translations", "scores": {"genders": "genders.tsv"}}
BLEU = {"title": "T", "systems": ["GlobalAtt", "Theirs"], "baseline": "GlobalAtt"}
MEASURES = {"type": "measures", "title": "T", "systems": ["GlobalAtt", "Theirs"]}
CONTRAST = {"contrast": [{"name": "genders", "file": "pairs.tsv"}]}


def load_with_table(config: dict[str, Any], theirs: dict[str, Any], table: dict[str, Any] = BLEU, **over: Any) -> Any:
    return load_experiment(
        config, {"systems": {"Theirs": theirs}, "tables": {"t": table}, **over}, should_check_files=False
    )


def test_external_system_has_outputs_only(config):
    experiment = load_with_table(config, THEIRS)
    assert experiment.get_networks("Theirs") == [] and not experiment.is_neural("Theirs")
    assert experiment.get_runs("Theirs", "t") == ["single"] and not experiment.is_phrase_based("Theirs")
    assert [experiment.has_output("Theirs", split) for split in ("dev", "mixed")] == [False, True]
    assert experiment.get_compared_sets("t") == ["dev", "mixed", "long", "particles"], "dev has the other row"
    assert "./t.de" in [f"./{file}" for file in experiment.collect_file_paths()]
    assert "Theirs" not in experiment.requested_networks


def test_set_without_outputs_is_left_out(config):
    table = {**BLEU, "systems": ["Theirs", "Others"], "baseline": "Theirs"}
    systems = {"Theirs": THEIRS, "Others": {**THEIRS, "files": {"mixed": "o.de"}}}
    experiment = load_experiment(config, {"systems": systems, "tables": {"t": table}}, should_check_files=False)
    assert experiment.get_compared_sets("t") == ["mixed", "long", "particles"]


def test_each_file_is_a_run(config):
    theirs = {**THEIRS, "files": {"mixed": ["1.de", "2.de"]}}
    experiment = load_with_table(config, theirs, training={"seeds": [1, 2]})
    assert experiment.get_runs("Theirs", "t") == ["run1", "run2"]


def test_note_names_the_origin(config):
    origin = "a large language model, 2 May 2026"
    experiment = load_with_table(config, {**THEIRS, "origin": origin}, {**BLEU, "labels": {"Theirs": "LLM"}})
    (note,) = format_table_notes(experiment, experiment.tables["t"])
    assert note.startswith(f"External translations: LLM ({origin}). The training and search of these")
    assert (
        format_difference_warning(experiment, "t") is None
        and collect_differing_settings(experiment, experiment.tables["t"]) == {}
    )


@pytest.mark.parametrize(
    ("theirs", "table", "over", "message"),
    [
        ({"type": "translations"}, BLEU, {}, "give `files`, by test set, or `scores`, by contrastive set"),
        ({**THEIRS, "files": {"mixd": "t.de"}}, BLEU, {}, "system `Theirs`: unknown set `mixd`; did you mean `mixed`?"),
        ({**THEIRS, "scores": {"mixed": "t.tsv"}}, BLEU, {}, "unknown contrastive set `mixed`; known are none"),
        ({**THEIRS, "beam": 3}, BLEU, {}, "unknown key `systems.Theirs.beam`"),
        (
            {**THEIRS, "files": {"mixed": []}},
            BLEU,
            {},
            "systems.Theirs: `mixed` has no file; name one, or leave",
        ),
        (
            {**THEIRS, "files": {"mixed": ["a", "b"], "long": "c"}},
            BLEU,
            {},
            "give equally many files for every set, one for each run, not 2 for `mixed`, 1 for `long`",
        ),
        (
            {**THEIRS, "files": {"mixed": ["a", "b"]}},
            BLEU,
            {"training": {"seeds": [1, 2, 3]}},
            "table `t`: all rows with several runs need the same number of runs, not `GlobalAtt` 3 and `Theirs` 2",
        ),
        (
            SCORES,
            BLEU,
            {"corpora": CONTRAST},
            "table `t`: `Theirs` has no output of `dev`, `mixed`, `long`, `particles`; give `systems.Theirs.files`, or "
            "leave it out",
        ),
        (
            THEIRS,
            {**MEASURES, "columns": ["contrast"]},
            {"corpora": CONTRAST},
            "table `t`: `Theirs` has no output of `genders`; give `systems.Theirs.scores`, or leave it out",
        ),
        (
            THEIRS,
            {**MEASURES, "columns": ["parameters", "beam"]},
            {},
            "table `t`: `Theirs` is an external system, but all columns are about networks; leave it out",
        ),
        (THEIRS, {**BLEU, "type": "attention"}, {}, "unknown key `tables.t.baseline`"),
        (
            THEIRS,
            {"type": "attention", "title": "T", "systems": ["Theirs"]},
            {},
            "table `t`: `Theirs` is not a network, so it has no attention",
        ),
        (THEIRS, BLEU, {"figures": {"f": {"title": "F", "system": "Theirs"}}}, "figure `f`: `Theirs` is not a network"),
        (THEIRS, {**BLEU, "systems": ["GlobalAtt", "Theirs [embedded]"]}, {}, "`Theirs` reads no trees"),
    ],
)
def test_invalid_external_systems_are_rejected(config, theirs, table, over, message):
    with pytest.raises(InputError) as error:
        load_with_table(config, theirs, table, **over)
    assert message in str(error.value)


def test_external_system_cannot_be_a_member_of_an_ensemble(config):
    ensemble = {"type": "ensemble", "members": ["GlobalAtt", "Theirs"]}
    with pytest.raises(InputError, match="system `Both`: its member `Theirs` is not a network"):
        load_experiment(config, {"systems": {"Theirs": THEIRS, "Both": ensemble}}, should_check_files=False)


NOTHING_TRAINED = {"train": None, "dev": None}
ALONE = {"title": "T", "systems": ["Theirs", "Others"], "baseline": "Theirs"}


def test_experiment_without_training_text_omits_trained_systems(config):
    own_config = {
        "corpora": NOTHING_TRAINED,
        "systems": {"Theirs": THEIRS, "Others": THEIRS},
        "tables": {"t": ALONE},
        "targets": ["t"],
    }
    corpora = {**config["corpora"], **NOTHING_TRAINED}
    merged_config = {
        **config,
        **own_config,
        "corpora": corpora,
        "systems": {**config["systems"], **own_config["systems"]},
    }
    experiment = load_experiment(
        {**merged_config, "tables": {**config["tables"], "t": ALONE}}, should_check_files=False, own_config=own_config
    )
    assert [*experiment.systems] == ["Theirs", "Others"] and experiment.select_requested_names(experiment.tables) == [
        "t"
    ]
    assert experiment.corpora.splits == ["mixed", "long", "particles"]
    assert ("tables", "table1") in experiment.omitted_entries and ("systems", "SDAtt") in experiment.omitted_entries
    assert "required for training" in experiment.omitted_entries["tables", "table1"]
    invalid_config = {**own_config, "tables": {"t": {**ALONE, "systems": ["Theirs", "SDAtt"]}}}
    with pytest.raises(InputError, match=r"corpora\.train and corpora\.dev: required for training; name"):
        load_experiment(
            {**merged_config, "tables": invalid_config["tables"]}, should_check_files=False, own_config=invalid_config
        )


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"dev": {"name": "dev", "source": "d.en"}}, "dev: early stopping needs its references"),
        ({"tests": [{"name": "mixed", "references": ["m.de"], "source": None}]}, "`references` translate a `source`"),
        ({**NOTHING_TRAINED, "target": {"language": "de", "case": "true"}}, "case: true is learned from the training"),
    ],
)
def test_missing_texts_are_rejected(config, corpora, message):
    config["systems"], config["tables"], config["figures"] = {"Theirs": THEIRS, "Others": THEIRS}, {"t": ALONE}, {}
    with pytest.raises(InputError) as error:
        load_experiment(config, {"corpora": corpora}, should_check_files=False)
    assert message in str(error.value)


UNSCORED_SET = {"name": "news", "source": "news.en"}


def test_set_without_references_is_not_scored(config):
    mixed = config["corpora"]["tests"][0]
    tables = {"t": {**MEASURES, "systems": ["GlobalAtt"], "columns": ["bleu"], "sets": ["tests"]}}
    experiment = load_experiment(
        config, {"corpora": {"tests": [mixed, UNSCORED_SET]}, "tables": tables}, should_check_files=False
    )
    assert experiment.get_compared_sets("table1") == ["dev", "mixed"] and experiment.get_compared_sets("t") == ["mixed"]
    assert experiment.corpora.splits == ["train", "dev", "mixed", "news"]
    tables["t"]["sets"] = ["news"]
    with pytest.raises(InputError, match="table `t`: `news` has no references, so it cannot be scored"):
        load_experiment(
            config, {"corpora": {"tests": [mixed, UNSCORED_SET]}, "tables": tables}, should_check_files=False
        )
    with pytest.raises(InputError, match="table `table1`: no test set has references, so there is nothing to score"):
        load_experiment(config, {"corpora": {"tests": [UNSCORED_SET]}}, should_check_files=False)
