"""Truecasing: each word gets its most frequent case inside sentences."""

import re
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

SENTENCE_END_TOKENS = frozenset(".:?!")
START_DELAYING_TOKENS = frozenset({"(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"})


def truecase(*, input: Path, model: Path, output: Path) -> None:
    """Truecase tokenized text, without any other changes.

    Args:
        input: Tokenized text, one sentence a line.
        model: The model of `learn_truecaser`, or of Moses.
        output: The truecased text.

    Raises:
        InputError: a file is not UTF-8, or a line of the model is malformed.
    """
    truecaser = Truecaser.load(model)
    with open_atomic_text_file(output) as file:
        for line in show_progress(read_lines(input), f"truecase {input.name}"):
            file.write(" ".join(truecaser.truecase_sentence(line.split(" "))) + "\n")


class Truecaser:
    """The truecaser of Moses' truecase.perl.

    Unlike sacremoses, it never splits or joins tokens such as `a<b` and `<a b>`, so that trees stay valid.

    Attributes:
        best_forms: The most frequent form of each lower-cased word, which it gets at the start of a sentence.
        known_forms: All forms in the training text, which are kept inside sentences.
    """

    def __init__(self, best_forms: dict[str, str], known_forms: set[str]) -> None:
        self.best_forms = best_forms
        self.known_forms = known_forms

    @classmethod
    def load(cls, path: Path) -> "Truecaser":
        """Read a model in Moses' format, `the (40/60) The (20)`."""
        best_forms: dict[str, str] = {}
        known_forms: set[str] = set()
        for number, line in enumerate(read_lines(path), start=1):
            fields = line.split()
            if not fields or len(fields) % 2 or not all(re.fullmatch(r"\(.+\)", count) for count in fields[1::2]):
                raise InputError("not `word (count/total) …`; train the truecaser again", path, number)
            best_forms[fields[0].lower()] = fields[0]
            known_forms.update(fields[::2])
        return cls(best_forms, known_forms)

    def truecase_sentence(self, tokens: list[str]) -> list[str]:
        """Truecase the tokens of a line; a sentence also starts after `.`, `:`, `?` and `!`."""
        truecased_tokens = []
        is_start = True
        for token in tokens:
            if is_start or token not in self.known_forms:
                token = self.best_forms.get(token.lower(), token)
            truecased_tokens.append(token)
            if token in SENTENCE_END_TOKENS:
                is_start = True
            elif token not in START_DELAYING_TOKENS:
                is_start = False
        return truecased_tokens
