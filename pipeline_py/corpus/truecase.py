"""Give the words of a sentence the case they have inside sentences."""

import re
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

SENTENCE_END_TOKENS = frozenset(".:?!")
START_DELAYING_TOKENS = frozenset({"(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"})


def truecase(*, input: Path, model: Path, output: Path) -> None:
    """Write tokenized text with truecased words; nothing else changes.

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
    """Moses' truecase.perl: at the start of a sentence the most frequent form, elsewhere any form that was seen.

    Not that of sacremoses, which takes `a<b` apart and `<a b>` for one token: trees need every token where it was.
    """

    def __init__(self, best_forms: dict[str, str], known_forms: set[str]) -> None:
        """Take the most frequent form of each lower-cased word, and every form seen inside a sentence."""
        self.best_forms = best_forms
        self.known_forms = known_forms

    @classmethod
    def load(cls, path: Path) -> "Truecaser":
        """Read a model in Moses' format, `the (40/60) The (20)`."""
        best: dict[str, str] = {}
        known: set[str] = set()
        for number, line in enumerate(read_lines(path), start=1):
            fields = line.split()
            if not fields or len(fields) % 2 or not all(re.fullmatch(r"\(.+\)", count) for count in fields[1::2]):
                raise InputError("not `word (count/total) …`; learn the truecaser again", path, number)
            best[fields[0].lower()] = fields[0]
            known.update(fields[::2])
        return cls(best, known)

    def truecase_sentence(self, tokens: list[str]) -> list[str]:
        """Truecase the tokens of a line; a sentence also starts after `.`, `:`, `?` and `!`."""
        truecased = []
        starts = True
        for token in tokens:
            if starts or token not in self.known_forms:
                token = self.best_forms.get(token.lower(), token)
            truecased.append(token)
            if token in SENTENCE_END_TOKENS:
                starts = True
            elif token not in START_DELAYING_TOKENS:
                starts = False
        return truecased
