"""Jobs of phrase-based systems."""

import re


def test_a_phrase_based_system_reads_tokens(build_plan):
    smt = build_plan(systems={"PBSMT": {"iterations": 3}}).smt
    assert re.fullmatch(smt.system_pattern, "PBSMT") and not re.fullmatch(smt.system_pattern, "SDAtt")
    job = smt.build_train_job("PBSMT", "single")
    assert [*job.files] == ["train_source", "train_target", "dev_source", "dev_target"]
    assert job.files["dev_source"] == "<results>/corpus/tokenized/dev.source"
    assert job.settings["system"]["iterations"] == 3
    translating = smt.build_translate_job("PBSMT", "single", "dev")
    assert translating.files == {
        "model": "<results>/smt/PBSMT/single/model",
        "source": "<results>/corpus/tokenized/dev.source",
    }
