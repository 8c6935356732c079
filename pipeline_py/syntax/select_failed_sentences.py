"""Select the sentences of a text that its parser could not parse."""

from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_parallel
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.tree_origins import find_failure_reason
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, check_trees_against_tokens


def select_failed_sentences(
    *, annotation: TreeKind, trees: Path, tokens: Path, text: Path, tokens_output: Path, text_output: Path
) -> None:
    """Write the sentences of a text whose trees are marked as failed, in order, for another parser.

    Args:
        annotation: `dependency` (CoNLL-U) or `constituency` (brackets, one tree a line).
        trees: The trees of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        text: The lines of `tokens` before tokenization.
        tokens_output: The tokens of the sentences whose trees have failed.
        text_output: The same sentences before tokenization.

    Raises:
        InputError: The files are of different texts.
    """
    all_trees = check_trees_against_tokens(TREE_FILE_FORMATS[annotation].read_trees(trees), trees, tokens)
    with open_atomic_text_file(tokens_output) as token_file, open_atomic_text_file(text_output) as text_file:
        sentences = show_progress(read_parallel(tokens, text), "failed sentences")
        for tree, (token_line, text_line) in zip(all_trees, sentences, strict=True):
            if find_failure_reason(annotation, tree) is not None:
                token_file.write(f"{token_line}\n")
                text_file.write(f"{text_line}\n")
