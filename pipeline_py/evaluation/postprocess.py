"""A system's pieces become text again: unknown words restored, pieces joined, case restored, detokenized."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pipeline_py import stage
from pipeline_py.artifact import Ledger, writing
from pipeline_py.evaluation.unknown_words import UNKNOWN, AttendedWords, Joiner, words_of
from pipeline_py.progress import progress
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines, read_parallel, tokens_of

Detokenizer = Literal["moses", "chinese", "none"]


def postprocess(
    *,
    pieces: Path,
    output: Path,
    language: str = "en",
    joiner: Joiner = "bpe",
    truecased: bool = False,
    detokenizer: Detokenizer = "moses",
    replace_unknown: bool = False,
    alignment: Path | None = None,
    source_pieces: Path | None = None,
    ledger_output: Path | None = None,
) -> None:
    """Turn decoder output into the text that is scored; every sentence is kept, be it empty.

    Args:
        pieces: output of the decoder, pieces separated by a space.
        output: detokenized text.
        language: two-letter code of the target language, for the Moses detokenizer.
        joiner: bpe joins pieces that end in @@ with the next one; none takes pieces for words.
        truecased: the system was trained on truecased text, so sentences start with a capital again.
        detokenizer: moses for languages with spaces, chinese for zh and ja, none leaves tokens as they are.
        replace_unknown: an <unk> becomes the source word that it attended to most; else it stays.
        alignment: for each output piece the position, from 0, of the source piece that it attended to most.
        source_pieces: the source as the system read it; the position behind its last piece is EOS, no word.
        ledger_output: counts of empty outputs and of unknown words as JSON.

    Raises:
        InputError: if files differ in length, or an alignment does not fit its sentence.
    """
    ledger = Ledger()
    if not replace_unknown:
        sentences = _joined(pieces, joiner, ledger)
    elif alignment is not None and source_pieces is not None:
        sentences = _restored(pieces, alignment, source_pieces, joiner, ledger)
    else:
        raise InputError("--replace-unknown needs --alignment and --source-pieces; give both or leave it out")
    join_tokens = _detokenizer(detokenizer, language)
    restore_case = _case_restorer() if truecased else None
    with writing(output) as file:
        for words in progress(sentences, "postprocess"):
            sentence = join_tokens(restore_case(words) if restore_case else words)
            ledger.keep()
            if not sentence:
                ledger.note("empty output")
            file.write(sentence + "\n")
    if ledger_output is not None:
        ledger.write(ledger_output)


def _joined(pieces: Path, joiner: Joiner, ledger: Ledger) -> Iterator[list[str]]:
    """Yield the words of each sentence, unknown ones as they are."""
    for line in read_lines(pieces):
        found = tokens_of(line)
        if UNKNOWN in found:
            ledger.note("unknown word left", found.count(UNKNOWN))
        yield words_of(found, joiner)


def _restored(
    pieces: Path, alignment: Path, source_pieces: Path, joiner: Joiner, ledger: Ledger
) -> Iterator[list[str]]:
    """Yield the words of each sentence, unknown ones taken from the source."""
    attended = AttendedWords(alignment, joiner, ledger)
    lines = read_parallel(pieces, alignment, source_pieces)
    for number, (line, positions, source) in enumerate(lines, start=1):
        yield attended.restore(line, positions, source, number)


def _case_restorer() -> Callable[[list[str]], list[str]]:
    """Give a function that capitalises the first word of sentences, as Moses' detruecaser does."""
    from sacremoses import MosesDetruecaser

    detruecaser = MosesDetruecaser()
    return lambda words: detruecaser.detruecase(" ".join(words))


def _detokenizer(name: Detokenizer, language: str) -> Callable[[list[str]], str]:
    if name == "none":
        return " ".join
    if name == "chinese":
        from pipeline_py.evaluation.chinese import join_chinese

        return join_chinese
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang=language)
    # The corpus is tokenized without XML escapes, so `&amp;` in the output is what the system means.
    return lambda words: moses.detokenize(words, unescape=False)


if __name__ == "__main__":
    stage.run(postprocess)
