"""Training text of files and generated sentences."""

from typing import Any

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError

FILES = {"source": "a.en", "target": "a.de"}
GENERATED = {"generate": {"sentences": 9}}


def load_corpora(config: dict[str, Any], **corpora: Any):
    over = {"corpora": corpora, "targets": ["sdrnmt"], "parser": "embedded"}
    return load_experiment(config, command_line_config=over, should_check_files=False).corpora


def test_generated_sentences_may_follow_files(config):
    corpora = load_corpora(config, train=[FILES, GENERATED], generator={"min_count": 2})
    assert corpora.generated_training_text.sentences == 9
    assert not corpora.is_generated_by_split["train"], "parsers read text in files"
    assert load_corpora(config, train=[FILES]).generated_training_text is None
    assert load_corpora(config, train=[GENERATED]).is_generated_by_split["train"]


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"train": [GENERATED, FILES]}, "train: one text can be generated, and follows all files; name it last"),
        ({"train": [FILES, GENERATED, GENERATED]}, "train: one text can be generated, and follows all files"),
        ({"generator": {"min_count": 2}}, "min_count: words are counted in the files of `corpora.train`; name some"),
        (
            {
                "train": [FILES, GENERATED],
                "source": {"language": "fr"},
                "dev": {"name": "dev", "source": "d", "references": ["d"]},
                "tests": [{"name": "one", "source": "t", "references": ["t"]}],
            },
            r"generated text is English \(source: en\) and German",
        ),
    ],
)
def test_unusable_training_text_is_reported(config, corpora, message):
    with pytest.raises(InputError, match=message):
        load_corpora(config, **corpora)
