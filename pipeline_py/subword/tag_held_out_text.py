"""Tag text to translate for a system that has learned to parse as a second task."""

from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.subword import pieces as subword
from pipeline_py.subword.parsing_task import TRANSLATE_TAG, add_task_tags


def tag_held_out_text(*, pieces: Path, is_source: bool, output: Path) -> None:
    """Tag the source sentences of a text to translate, or copy its target sentences.

    Args:
        pieces: Pieces of one side, one sentence a line.
        is_source: Whether they are those of the source.
        output: The tagged source, or the target.

    Raises:
        InputError: the text is not UTF-8.
    """
    with open_atomic_text_file(output) as file:
        for sentence in subword.read_tokens(pieces):
            print(*(add_task_tags(sentence, TRANSLATE_TAG) if is_source else sentence), file=file)
