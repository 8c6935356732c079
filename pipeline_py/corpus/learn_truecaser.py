"""Training of Moses' truecaser, which learns the case of words inside sentences."""

from collections import Counter, defaultdict
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def learn_truecaser(*, input: Path, output: Path) -> None:
    """Train a truecasing model in the format of Moses' train-truecaser.perl.

    The model has a line for each lower-cased word, sorted, with its forms by frequency: `the (40/60) The (20)`. Equally
    frequent forms are in the order of the text. As in Moses, the first word of a sentence is not counted.

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
            (best, best_count), *other_forms = counts.most_common()
            fields = [f"{best} ({best_count}/{counts.total()})", *(f"{form} ({count})" for form, count in other_forms)]
            file.write(" ".join(fields) + "\n")
