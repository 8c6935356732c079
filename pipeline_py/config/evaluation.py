"""`evaluation`: how output becomes text again and is scored."""

from typing import Literal

from pydantic import Field

from pipeline_py.config.base import Section


class Evaluation(Section):
    """BLEU."""

    detokenizer: Literal["moses", "chinese", "none"] = "moses"
    tokenizer: Literal["13a", "intl", "zh", "char", "none"] = Field(
        "13a",
        description="sacrebleu's tokenizer: 13a for de and en, zh for zh, none for tokenized references.",
    )
    lowercase: bool = Field(True, description="Case-insensitive BLEU, as in the papers.")
