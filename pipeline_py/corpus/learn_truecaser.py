"""Learn the case of words inside sentences: the model of Moses' truecaser."""

from collections import Counter, defaultdict
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def learn_truecaser(*, input: Path, output: Path) -> None:
    """Write a truecasing model in the format of Moses' train-truecaser.perl.

    A line for each word, sorted by lower-cased form: the most frequent form first, as in `the (40/60) The (20)`;
    equally frequent forms in the order of the text. As in Moses, the first word of a sentence is not counted. Memory
    holds the forms, not the text.

    Args:
        input: Tokenized training text, one sentence a line.
        output: The model.

    Raises:
        InputError: no sentence has a word after its first, or the text is not UTF-8.
    """
    from sacremoses import MosesTruecaser

    weights = MosesTruecaser().learn_truecase_weights
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in show_progress(read_lines(input), f"learn_truecaser {input.name}"):
        for word, form, _ in weights(line.split()):
            forms[word][form] += 1
    if not forms:
        raise InputError("no sentence has a word after its first; give tokenized text of the training set", input)
    with open_atomic_text_file(output) as file:
        for _, counts in sorted(forms.items()):
            (best, count), *others = counts.most_common()
            fields = [f"{best} ({count}/{counts.total()})", *(f"{form} ({times})" for form, times in others)]
            file.write(" ".join(fields) + "\n")
