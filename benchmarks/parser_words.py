"""Compare how an English parser analyses `n't` in Moses' tokens and in the words of its treebank.

    python -m benchmarks.parser_words --text TEXT --directory STANZA_DIRECTORY

Both parses are the workflow's, with `words: text` and with `words: english`, of the same tokens.
"""

import json
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path

from pipeline_py.text import read_lines

from pipeline_py import stage
from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.syntax.parse import parse
from pipeline_py.syntax.trees.dependency import read_dependencies
from pipeline_py.syntax.trees.formats import Annotation
from pipeline_py.syntax.words.parser_words import OTHER_WORDS, noted_of_words

NEGATIONS = {"'t", "’t"}
"""What Moses leaves of `n't`."""


def compare(*, text: Path, directory: Path, sentences: int = 8000, threads: int = 1) -> None:
    """Print how many tokens are not words of the treebank, and the most frequent tags and labels of `'t` in both.

    Args:
        text: Raw English text, one sentence a line, plain or gzipped.
        directory: Folder with Stanza's models.
        sentences: Number of sentences, from the beginning of the text.
        threads: CPU threads.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written, tokens = folder / "written", folder / "tokens"
        written.write_text("".join(f"{line}\n" for line in islice(read_lines(text), sentences)), encoding="utf-8")
        tokenize(input=written, output=tokens, language="en", tokenizer="moses")
        for words, of in (("text", None), ("english", written)):
            parse(
                annotation=Annotation.DEPENDENCY,
                tokens=tokens,
                text=of,
                directory=directory,
                threads=threads,
                output=folder / words,
                counts_output=folder / f"{words}.json",
                facts_output=folder / f"{words}.facts.json",
            )
        noted = noted_of_words(json.loads((folder / "english.json").read_text(encoding="utf-8"))["noted"])
        number = sum(len(tree.words) for tree in read_dependencies(folder / "text"))
        told = noted.pop(OTHER_WORDS)
        print(f"{sentences} sentences, {number} tokens; {told} sentences have tokens that are no words:")
        print("\n".join(f"  {count:>6} {what}" for what, count in noted.items()))
        in_tokens, in_words = (_negations(folder / words) for words in ("text", "english"))
    print(f"\n{in_tokens.total()} × 't as{'':<14}{'words: text':>14}{'words: english':>16}")
    for what in sorted(in_tokens | in_words, key=lambda what: (-in_tokens[what], what)):
        print(f"{what:<24}{in_tokens[what]:>14}{in_words[what]:>16}")


def _negations(trees: Path) -> Counter[str]:
    return Counter(
        f"{upos} {label}"
        for tree in read_dependencies(trees)
        for word, upos, label in zip(tree.words, tree.upos, tree.labels, strict=True)
        if word in NEGATIONS
    )


if __name__ == "__main__":
    stage.run(compare)
