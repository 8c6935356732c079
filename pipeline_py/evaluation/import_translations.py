"""Import translations of a set that were made elsewhere."""

from pathlib import Path

from pipeline_py.corpus.characters import replace_control_characters
from pipeline_py.corpus.moses import has_moses_escapes, undo_moses_escapes
from pipeline_py.evaluation.postprocess import DetokenizerName, build_detokenizer
from pipeline_py.evaluation.source_copying import join_to_nonempty_words
from pipeline_py.evaluation.translation_forms import TranslationForm, find_form_mismatch
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.encoding_faults import iterate_checked_lines
from pipeline_py.files.text_files import read_byte_lines, read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def import_translations(
    *,
    translations: Path,
    source: Path,
    name: str,
    output: Path,
    form: TranslationForm = "text",
    language: str = "en",
    detokenizer: DetokenizerName = "moses",
    counts_output: Path | None = None,
) -> None:
    """Import the translations of a set, one a line; a line may be empty.

    A byte order mark at the beginning is removed, and a control character (also a tab or U+2028) becomes a space and is
    counted, as in all other text. Tokenized text is detokenized; if Moses' tokenizer has escaped it (`&apos;`), the
    escapes are undone and counted. Nothing else is changed.

    Args:
        translations: UTF-8, one line for each sentence of the set, plain or compressed.
        source: The source sentences.
        name: Name of the set, for messages.
        output: The text to score.
        form: `text` is scored as it is; `words` are separated by spaces; `bpe` are pieces that end in @@ unless they
            end a word.
        language: ISO 639 code of the target language, for the Moses detokenizer.
        detokenizer: `moses`, `chinese`, or `none`.
        counts_output: JSON counts of lines, of empty lines, and of lines with control characters or Moses' escapes.

    Raises:
        InputError: there are more or fewer lines than sentences, one is not UTF-8, or they are in another form: an
            n-best list, or pieces of words (SentencePiece, WordPiece, or BPE if `form` says otherwise).
    """
    lines = [*read_lines(translations)]
    for _ in iterate_checked_lines(read_byte_lines(translations), translations):
        pass
    if (misfit := find_form_mismatch(lines, form)) is not None:
        number, other_form = misfit
        raise InputError(f"the line looks like {other_form.description}; {other_form.remedy}", translations, number)
    if len(lines) != (sentences := sum(1 for _ in read_byte_lines(source))):
        raise InputError(
            f"the file has {len(lines):,} lines and the set `{name}` has {sentences:,} sentences; give a line for "
            "each, in order, and an empty one where nothing was said",
            translations,
        )
    join_words = build_detokenizer("none" if form == "text" else detokenizer, language)
    has_escapes = form != "text" and has_moses_escapes(lines)
    counts = SentenceCounts()
    with open_atomic_text_file(output) as file:
        for text in show_progress(lines, "import_translations"):
            line = replace_control_characters(text)
            if line != text:
                counts.add_noted("control characters replaced by spaces")
            if form != "text":
                words = join_to_nonempty_words(split_tokens(line), "bpe" if form == "bpe" else "none")
                tokens = [*map(undo_moses_escapes, words)] if has_escapes else words
                if tokens != words:
                    counts.add_noted("escapes of Moses undone")
                line = join_words(tokens)
            if not line.strip():
                counts.add_noted("empty output")
            counts.add_kept()
            file.write(line + "\n")
    if counts_output is not None:
        counts.write_json_file(counts_output)
