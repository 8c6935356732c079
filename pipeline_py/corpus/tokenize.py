"""Tokenization with Moses, jieba or Stanza, or without changes for tokenized text."""

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pipeline_py.corpus.characters import (
    has_word_spaces,
    is_ascii_word_char,
    is_visible_token,
    remove_invisible_characters,
)
from pipeline_py.corpus.moses import build_moses_tokenizer
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.language_properties import UNSPACED_LANGUAGES, get_base_language
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress

TokenizerFunction = Callable[[Iterable[str]], Iterator[list[str]]]
"""A function from sentences, which are separated by single spaces and can be empty, to their tokens, in order."""

STANZA_BATCH_SENTENCES = 500
"""The number of sentences in one call of Stanza."""


def tokenize(
    *,
    input: Path,
    output: Path,
    language: str,
    tokenizer: Literal["moses", "jieba", "stanza", "none"] = "moses",
    lowercase: bool = False,
    stanza_directory: Path | None = None,
    stanza_models: list[Path] | None = None,
    segmenter: Path | None = None,
    stanza_package: str | None = None,
    segment: Annotated[TokenizerFunction | None, LoadedParameter()] = None,
) -> None:
    """Split each line of text into tokens, separated by single spaces.

    Tokens contain no whitespace of any kind (U+00A0 and U+3000 separate tokens). Before tokenization, invisible
    characters are removed, and a zero-width space becomes a space; a ZWJ, ZWNJ or variation selector that the tokenizer
    splits off is dropped. `none` only merges whitespace. Moses does not escape XML characters and does not split
    hyphenated words. A segmenter of a language without spaces never splits adjacent ASCII letters and digits.
    Lower-casing is the last step.

    Args:
        input: One sentence a line, plain or compressed.
        output: Tokens.
        language: ISO 639 code, which selects Moses' abbreviations and Stanza's model.
        tokenizer: `moses`, `jieba` (Chinese), `stanza`, or `none`.
        lowercase: Lower-case the tokens.
        stanza_directory: For `stanza`: folder of Stanza's models.
        stanza_models: The files of this folder that determine the tokens.
        segmenter: For `stanza`, instead of a folder: model of `learn_segmenter`.
        stanza_package: For `stanza`, instead of both: package whose tokenizer is downloaded (`default`).
        segment: The return value of `load` for these arguments; by default, `load` is called.

    Raises:
        InputError: the input is not UTF-8; the tokenizer does not support the language; Stanza's model is missing.
    """
    segment = segment or load(tokenizer, language, stanza_directory, segmenter, stanza_package)
    with open_atomic_text_file(output) as file:
        for tokens in segment(show_progress(map(_merge_whitespace, read_lines(input)), f"tokenize {input.name}")):
            line = " ".join(tokens)
            file.write((line.lower() if lowercase else line) + "\n")


def _merge_whitespace(text: str) -> str:
    return " ".join(text.split())


def load(
    tokenizer: str,
    language: str,
    stanza_directory: Path | None = None,
    segmenter: Path | None = None,
    stanza_package: str | None = None,
) -> TokenizerFunction:
    """Load a tokenizer; for the arguments see `tokenize`."""
    base_language = get_base_language(language)
    if tokenizer == "none":
        return lambda sentences: (sentence.split() for sentence in sentences)
    if tokenizer == "moses":
        if base_language in UNSPACED_LANGUAGES:
            remedy = "jieba, stanza or none" if base_language == "zh" else "stanza or none"
            raise InputError(f"moses does not separate the words of {language}; use {remedy}")
        split = build_moses_tokenizer(base_language)
        return _add_invisible_filter(lambda sentences: map(split, sentences))
    if tokenizer == "jieba":
        if base_language != "zh":
            raise InputError(f"jieba separates the words of Chinese (zh), not of {language}; use stanza or none")
        return _add_invisible_filter(_load_jieba_tokenizer())
    extract_words = _get_token_texts
    if segmenter is None:
        pipeline = _load_stanza_tokenizer(language, stanza_directory, stanza_package)
    else:
        pipeline = load_segmenter(segmenter, language)
        if not has_word_spaces(language):
            extract_words = _join_adjacent_ascii_words
    return _add_invisible_filter(_wrap_stanza_pipeline(pipeline, extract_words))


def _add_invisible_filter(tokenizer_function: TokenizerFunction) -> TokenizerFunction:
    """Remove invisible characters before `tokenizer_function`, and whitespace and invisible tokens after it."""

    def tokenize_visible(sentences: Iterable[str]) -> Iterator[list[str]]:
        for tokens in tokenizer_function(
            _merge_whitespace(remove_invisible_characters(sentence)) for sentence in sentences
        ):
            yield [part for token in tokens for part in token.split() if is_visible_token(part)]

    return tokenize_visible


def _load_jieba_tokenizer() -> TokenizerFunction:
    import jieba

    tokenizer = jieba.Tokenizer()
    # Like `jieba.Tokenizer.initialize`, but without its cache, which is in a folder that everybody can write to.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return lambda sentences: (tokenizer.lcut(sentence) for sentence in sentences)


def _load_stanza_tokenizer(language: str, directory: Path | None, package: str | None) -> Any:
    if directory is None and package is None:
        raise InputError(
            f"no model for Stanza's tokenizer of {language}; give `stanza_directory` or, to download one, "
            "`stanza_package: default`"
        )
    options = {"package": package} if directory is None else {"dir": str(directory), "download_method": None}
    try:
        return _build_tokenizer_pipeline(language, **options)
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        if directory is None:
            raise InputError(
                f"Stanza cannot download its tokenizer of {language} (package {package}); correct `stanza_package`, "
                "name a `stanza_directory` that stanza.download filled, or use another tokenizer"
            ) from None
        reason = str(error).strip().split("\n")[0]
        raise InputError(
            f"Stanza has no tokenizer of {language} here ({reason}); "
            "name a directory that stanza.download filled, or use another tokenizer",
            directory,
        ) from None


def load_segmenter(model_path: Path, language: str) -> Any:
    """Load a model of `learn_segmenter` as a Stanza pipeline, without network access.

    Raises:
        InputError: the file does not exist, or is no model of `learn_segmenter`.
    """
    if not model_path.is_file():
        raise InputError("no such model; train it with learn_segmenter", model_path)
    with tempfile.TemporaryDirectory() as empty_directory:
        (Path(empty_directory) / "resources.json").write_text("{}", encoding="utf-8")
        options = {"dir": empty_directory, "download_method": None, "allow_unknown_language": True}
        try:
            return _build_tokenizer_pipeline(language, tokenize_model_path=str(model_path), **options)
        except (OSError, KeyError, ValueError, RuntimeError, pickle.UnpicklingError):
            raise InputError("not a model of learn_segmenter; train it again", model_path) from None


def _build_tokenizer_pipeline(language: str, **options: Any) -> Any:
    import stanza

    return stanza.Pipeline(
        language,
        processors="tokenize",
        tokenize_no_ssplit=True,
        use_gpu=False,
        verbose=False,
        **options,
    )


def _wrap_stanza_pipeline(pipeline: Any, extract_words: Callable[[list[Any]], list[str]]) -> TokenizerFunction:
    """Tokenize with Stanza; `extract_words` returns the words of a list of Stanza tokens."""

    def tokenize_sentences(sentences: Iterable[str]) -> Iterator[list[str]]:
        remaining_sentences = iter(sentences)
        while batch := list(islice(remaining_sentences, STANZA_BATCH_SENTENCES)):
            documents = iter(pipeline.bulk_process([sentence for sentence in batch if sentence]))
            for sentence in batch:
                parts = next(documents).sentences if sentence else []
                yield extract_words([token for part in parts for token in part.tokens])

    return tokenize_sentences


def _get_token_texts(tokens: list[Any]) -> list[str]:
    return [token.text for token in tokens]


def _join_adjacent_ascii_words(tokens: list[Any]) -> list[str]:
    """Return the texts of tokens; join ASCII words without a space between them: `max` and `_size` to `max_size`."""
    words: list[str] = []
    end = None
    for token in tokens:
        if token.start_char == end and is_ascii_word_char(words[-1][-1]) and is_ascii_word_char(token.text[0]):
            words[-1] += token.text
        else:
            words.append(token.text)
        end = token.end_char
    return words
