"""Split sentences into tokens: with Moses, with jieba or Stanza for Chinese, or not at all if text is tokenized."""

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
"""Sentences, each with single spaces and perhaps empty, to the tokens of each, in order."""

STANZA_BATCH_SENTENCES = 500
"""What Stanza sees in one call."""


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
    """Write one line of tokens, separated by single spaces, for each line of text.

    No token contains whitespace of any kind (U+00A0 and U+3000 separate tokens), so that splitting a line at single
    spaces gives its tokens. Before tokenization, invisible characters are removed, and a zero-width space becomes a
    space; a ZWJ, ZWNJ or variation selector that the tokenizer splits off is dropped. `none` only merges whitespace,
    and keeps all other characters. Moses does not escape XML characters here, and hyphenated words stay whole. With a
    segmenter of a language without spaces, adjacent ASCII letters and digits stay one word, whatever the treebank does.
    Lower-casing comes last.

    Args:
        input: One sentence a line, plain or compressed.
        output: Tokens.
        language: ISO 639 code, which selects Moses' abbreviations and Stanza's model.
        tokenizer: `moses`, `jieba` (Chinese), `stanza`, or `none`.
        lowercase: Lower-case the tokens.
        stanza_directory: For `stanza`: a folder with Stanza's models.
        stanza_models: Files of this folder that decide the tokens.
        segmenter: For `stanza`, instead of a folder: the model that `learn_segmenter` has trained.
        stanza_package: For `stanza`, instead of either: a package whose tokenizer is downloaded (`default`).
        segment: What `load` has returned for these arguments; by default it is called here.

    Raises:
        InputError: the input is not UTF-8; the tokenizer is not made for the language; Stanza's model is missing.
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
    """Load a tokenizer; arguments as of `tokenize`."""
    spoken = get_base_language(language)
    if tokenizer == "none":
        return lambda sentences: (sentence.split() for sentence in sentences)
    if tokenizer == "moses":
        if spoken in UNSPACED_LANGUAGES:
            remedy = "jieba, stanza or none" if spoken == "zh" else "stanza or none"
            raise InputError(f"moses does not separate the words of {language}; use {remedy}")
        return _add_invisible_filter(_load_moses_tokenizer(spoken))
    if tokenizer == "jieba":
        if spoken != "zh":
            raise InputError(f"jieba separates the words of Chinese (zh), not of {language}; use stanza or none")
        return _add_invisible_filter(_load_jieba_tokenizer())
    if segmenter is not None:
        return _add_invisible_filter(
            _wrap_stanza_pipeline(
                load_segmenter(segmenter, language),
                _get_token_texts if has_word_spaces(language) else _join_adjacent_ascii_words,
            )
        )
    return _add_invisible_filter(
        _wrap_stanza_pipeline(_load_stanza_tokenizer(language, stanza_directory, stanza_package), _get_token_texts)
    )


def _add_invisible_filter(tokenizer_function: TokenizerFunction) -> TokenizerFunction:
    """Hide invisible characters from `tokenizer_function`, and whitespace and invisible tokens from whoever calls it."""

    def tokenize_visible(sentences: Iterable[str]) -> Iterator[list[str]]:
        for tokens in tokenizer_function(
            _merge_whitespace(remove_invisible_characters(sentence)) for sentence in sentences
        ):
            yield [part for token in tokens for part in token.split() if is_visible_token(part)]

    return tokenize_visible


def _load_moses_tokenizer(language: str) -> TokenizerFunction:
    split = build_moses_tokenizer(language)
    return lambda sentences: map(split, sentences)


def _load_jieba_tokenizer() -> TokenizerFunction:
    import jieba

    words = jieba.Tokenizer()
    # As its `initialize` does, but never from a cache: that lies where everybody may write.
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    return lambda sentences: (words.lcut(sentence) for sentence in sentences)


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
    """Load a model of `learn_segmenter` as a Stanza pipeline, without a network.

    Raises:
        InputError: the file is not such a model.
    """
    if not model_path.is_file():
        raise InputError("no such model; make it with learn_segmenter", model_path)
    with tempfile.TemporaryDirectory() as nothing_to_download:
        (Path(nothing_to_download) / "resources.json").write_text("{}", encoding="utf-8")
        options = {"dir": nothing_to_download, "download_method": None, "allow_unknown_language": True}
        try:
            return _build_tokenizer_pipeline(language, tokenize_model_path=str(model_path), **options)
        except (OSError, KeyError, ValueError, RuntimeError, pickle.UnpicklingError):
            raise InputError("not a model of learn_segmenter; make it again", model_path) from None


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
    """Segment with Stanza; `extract_words` makes words of the tokens of a sentence."""

    def tokenize_sentences(sentences: Iterable[str]) -> Iterator[list[str]]:
        remaining = iter(sentences)
        while batch := list(islice(remaining, STANZA_BATCH_SENTENCES)):
            documents = iter(pipeline.bulk_process([sentence for sentence in batch if sentence]))
            for sentence in batch:
                parts = next(documents).sentences if sentence else []
                yield extract_words([token for part in parts for token in part.tokens])

    return tokenize_sentences


def _get_token_texts(tokens: list[Any]) -> list[str]:
    return [token.text for token in tokens]


def _join_adjacent_ascii_words(tokens: list[Any]) -> list[str]:
    """The texts of tokens, with letters and digits that touch in one: `max` and `_size` are `max_size`."""
    words: list[str] = []
    end = None
    for token in tokens:
        if token.start_char == end and is_ascii_word_char(words[-1][-1]) and is_ascii_word_char(token.text[0]):
            words[-1] += token.text
        else:
            words.append(token.text)
        end = token.end_char
    return words
