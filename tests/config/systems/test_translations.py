"""Systems from elsewhere: what the configuration says of them, and which mistakes it tells before any job."""

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
SCORES = {"type": "translations", "scores": {"told": "told.tsv"}}
BLEU = {"title": "T", "systems": ["GlobalAtt", "Theirs"], "baseline": "GlobalAtt"}
MEASURES = {"type": "measures", "title": "T", "systems": ["GlobalAtt", "Theirs"]}
TOLD = {"contrast": [{"name": "told", "file": "pairs.tsv"}]}
"""A contrastive set."""


def loaded(config: dict[str, Any], theirs: dict[str, Any], table: dict[str, Any] = BLEU, **over: Any) -> Any:
    return load_experiment(
        config, {"systems": {"Theirs": theirs}, "tables": {"t": table}, **over}, should_check_files=False
    )


def test_a_row_from_elsewhere_needs_nothing(config):
    experiment = loaded(config, THEIRS)
    assert experiment.get_networks("Theirs") == [] and not experiment.is_neural("Theirs")
    assert experiment.get_runs("Theirs", "t") == ["single"] and not experiment.is_phrase_based("Theirs")
    assert [experiment.has_output("Theirs", on) for on in ("dev", "mixed")] == [False, True]
    assert experiment.get_compared_sets("t") == ["dev", "mixed", "long", "particles"], "dev has the other row"
    assert "./t.de" in [f"./{file}" for file in experiment.collect_file_paths()]
    assert "Theirs" not in experiment.requested_networks


def test_a_set_that_no_row_has_is_left_out(config):
    table = {**BLEU, "systems": ["Theirs", "Others"], "baseline": "Theirs"}
    systems = {"Theirs": THEIRS, "Others": {**THEIRS, "files": {"mixed": "o.de"}}}
    experiment = load_experiment(config, {"systems": systems, "tables": {"t": table}}, should_check_files=False)
    assert experiment.get_compared_sets("t") == ["mixed", "long", "particles"]


def test_several_files_are_several_runs(config):
    theirs = {**THEIRS, "files": {"mixed": ["1.de", "2.de"]}}
    experiment = loaded(config, theirs, training={"seeds": [1, 2]})
    assert experiment.get_runs("Theirs", "t") == ["run1", "run2"]


def test_what_is_not_known_is_said(config):
    origin = "a large language model, 2 May 2026"
    experiment = loaded(config, {**THEIRS, "origin": origin}, {**BLEU, "labels": {"Theirs": "LLM"}})
    (note,) = format_table_notes(experiment, experiment.tables["t"])
    assert note.startswith(f"External translations: LLM ({origin}). The training and search of these")
    assert (
        format_difference_warning(experiment, "t") is None
        and collect_differing_settings(experiment, experiment.tables["t"]) == {}
    )


@pytest.mark.parametrize(
    ("theirs", "table", "over", "said"),
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
            {"corpora": TOLD},
            "table `t`: `Theirs` has no output of `dev`, `mixed`, `long`, `particles`; give `systems.Theirs.files`, or "
            "leave it out",
        ),
        (
            THEIRS,
            {**MEASURES, "columns": ["contrast"]},
            {"corpora": TOLD},
            "table `t`: `Theirs` has no output of `told`; give `systems.Theirs.scores`, or leave it out",
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
def test_mistakes_are_told_before_any_job(config, theirs, table, over, said):
    with pytest.raises(InputError) as error:
        loaded(config, theirs, table, **over)
    assert said in str(error.value)


def test_it_is_no_member_of_an_ensemble(config):
    both = {"type": "ensemble", "members": ["GlobalAtt", "Theirs"]}
    with pytest.raises(InputError, match="system `Both`: its member `Theirs` is not a network"):
        load_experiment(config, {"systems": {"Theirs": THEIRS, "Both": both}}, should_check_files=False)


NOTHING_TRAINED = {"train": None, "dev": None}
ALONE = {"title": "T", "systems": ["Theirs", "Others"], "baseline": "Theirs"}


def test_without_training_text_only_such_systems_are_left(config):
    own = {
        "corpora": NOTHING_TRAINED,
        "systems": {"Theirs": THEIRS, "Others": THEIRS},
        "tables": {"t": ALONE},
        "targets": ["t"],
    }
    corpora = {**config["corpora"], **NOTHING_TRAINED}
    laid_over = {**config, **own, "corpora": corpora, "systems": {**config["systems"], **own["systems"]}}
    experiment = load_experiment(
        {**laid_over, "tables": {**config["tables"], "t": ALONE}}, should_check_files=False, own_config=own
    )
    assert [*experiment.systems] == ["Theirs", "Others"] and experiment.select_requested_names(experiment.tables) == [
        "t"
    ]
    assert experiment.corpora.splits == ["mixed", "long", "particles"]
    assert ("tables", "table1") in experiment.omitted_entries and ("systems", "SDAtt") in experiment.omitted_entries
    assert "required for training" in experiment.omitted_entries["tables", "table1"]
    asked = {**own, "tables": {"t": {**ALONE, "systems": ["Theirs", "SDAtt"]}}}
    with pytest.raises(InputError, match=r"corpora\.train and corpora\.dev: required for training; name"):
        load_experiment({**laid_over, "tables": asked["tables"]}, should_check_files=False, own_config=asked)


@pytest.mark.parametrize(
    ("corpora", "said"),
    [
        ({"dev": {"name": "dev", "source": "d.en"}}, "dev: early stopping needs its references"),
        ({"tests": [{"name": "mixed", "references": ["m.de"], "source": None}]}, "`references` translate a `source`"),
        ({**NOTHING_TRAINED, "target": {"language": "de", "case": "true"}}, "case: true is learned from the training"),
    ],
)
def test_texts_that_are_missing_where_something_needs_them(config, corpora, said):
    config["systems"], config["tables"], config["figures"] = {"Theirs": THEIRS, "Others": THEIRS}, {"t": ALONE}, {}
    with pytest.raises(InputError) as error:
        load_experiment(config, {"corpora": corpora}, should_check_files=False)
    assert said in str(error.value)


NEWS = {"name": "news", "source": "news.en"}


def test_a_set_without_references_is_not_scored(config):
    mixed = config["corpora"]["tests"][0]
    tables = {"t": {**MEASURES, "systems": ["GlobalAtt"], "columns": ["bleu"], "sets": ["tests"]}}
    experiment = load_experiment(
        config, {"corpora": {"tests": [mixed, NEWS]}, "tables": tables}, should_check_files=False
    )
    assert experiment.get_compared_sets("table1") == ["dev", "mixed"] and experiment.get_compared_sets("t") == ["mixed"]
    assert experiment.corpora.splits == ["train", "dev", "mixed", "news"]
    tables["t"]["sets"] = ["news"]
    with pytest.raises(InputError, match="table `t`: `news` has no references, so it cannot be scored"):
        load_experiment(config, {"corpora": {"tests": [mixed, NEWS]}, "tables": tables}, should_check_files=False)
    with pytest.raises(InputError, match="table `table1`: no test set has references, so there is nothing to score"):
        load_experiment(config, {"corpora": {"tests": [NEWS]}}, should_check_files=False)
