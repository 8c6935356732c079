"""Division of text into words with Stanza's tokenizer, including the expansion of multi-word tokens."""

from collections.abc import Iterable, Iterator
from itertools import islice, tee
from pathlib import Path
from typing import Any

import stanza

from pipeline_py.corpus.tokenize import load_segmenter
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.pipeline import build_source_options
from pipeline_py.syntax.words.parser_words import WordDivider, WordSpan
from pipeline_py.syntax.words.token_alignment import compose_with_offsets

STANZA_BATCH_SENTENCES = 500
"""Number of sentences in one call of Stanza."""


def load_default_tokenizer(language: str, directory: Path | None, package: str | None) -> WordDivider:
    """Load the default tokenizer of a local Stanza directory or of a package (downloaded if necessary).

    Raises:
        InputError: There is no tokenizer.
    """
    try:
        pipeline = stanza.Pipeline(
            language,
            processors="tokenize",
            tokenize_no_ssplit=True,
            use_gpu=False,
            logging_level="ERROR",
            **build_source_options(directory, package),
        )
    except Exception as error:
        # All errors of Stanza, torch or requests are caused by the models here.
        reason = " ".join(str(error).split())[:300]
        raise InputError(
            f"Stanza has no tokenizer of {language!r} here ({type(error).__name__} {reason}); "
            "choose other `words` for this parser",
            directory,
        ) from error
    return lambda texts: _divide_texts(pipeline, texts)


def load_learned_tokenizer(language: str, segmenter_path: Path) -> WordDivider:
    """Load a model of `learn_segmenter`, which reads text in NFC.

    Raises:
        InputError: The file is not such a model.
    """
    pipeline = load_segmenter(segmenter_path, language)

    def divide_words(texts: Iterable[str]) -> Iterator[list[WordSpan]]:
        texts, texts_to_compose = tee(texts)
        composed = (compose_with_offsets(text)[0] for text in texts_to_compose)
        for text, words in zip(texts, _divide_texts(pipeline, composed), strict=True):
            starts = compose_with_offsets(text)[1]
            yield [word._replace(start=starts[word.start], end=starts[word.end]) for word in words]

    return divide_words


def _divide_texts(pipeline: Any, texts: Iterable[str]) -> Iterator[list[WordSpan]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, STANZA_BATCH_SENTENCES)):
        documents = iter(pipeline.bulk_process([text for text in batch if text]))
        for text in batch:
            sentences = next(documents).sentences if text else []
            yield [word for sentence in sentences for token in sentence.tokens for word in _locate_token_words(token)]


def _locate_token_words(token: Any) -> Iterator[WordSpan]:
    """Yield the words of a token; if its characters do not spell them, each word has the span of the token."""
    forms = [word.text for word in token.words]
    if len(forms) > 1 and "".join(forms) != token.text:
        yield from (WordSpan(token.start_char, token.end_char, form) for form in forms)
        return
    start = token.start_char
    for form in forms[:-1]:
        yield WordSpan(start, start := start + len(form))
    has_space = len(forms[-1].split()) > 1
    yield WordSpan(start, token.end_char, forms[-1] if has_space else None)
