"""Detection of unexpected forms of imported translations: Moses escapes, subwords, n-best lists."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TranslationForm = Literal["text", "words", "bpe"]

MAX_MISMATCH_SHARE = 0.05
"""Largest accepted share of lines with words that look like another form."""


@dataclass(frozen=True)
class FormMismatch:
    """A form of translations that differs from the configured one.

    Attributes:
        pattern: a pattern that matches lines of the form.
        description: the form's description in messages.
        remedy: advice in messages.
        mismatched_forms: values of `form` that are wrong for it.
    """

    pattern: re.Pattern[str]
    description: str
    remedy: str
    mismatched_forms: tuple[TranslationForm, ...] = ("text", "words", "bpe")


FORM_MISMATCHES = (
    FormMismatch(
        re.compile(r"^\d+ \|\|\| .*\|\|\|"),
        "an n-best list (`0 ||| … ||| …`)",
        "give the best translation of each sentence alone, one a line",
    ),
    FormMismatch(
        re.compile(r"^[STHDP]-\d+\t"),
        "a log of fairseq-generate (`H-0`)",
        "give the translations alone, one a line, in the order of the sentences: grep ^D- | sort -V | cut -f3",
    ),
    FormMismatch(
        re.compile(r"(?:^| )▁"),
        "pieces of SentencePiece (`▁`)",
        "join them: spm_decode, or sed 's/ //g; s/▁/ /g; s/^ //'",
    ),
    FormMismatch(
        re.compile(r"￭ | ￭"),
        "tokens with the joiners of OpenNMT's tokenizer (`￭`)",
        "detokenize them with it",
    ),
    FormMismatch(
        re.compile(r"[^ ] ##\w"), "pieces of WordPiece (`##`)", "join them: sed 's/ ##//g', and say `form: words`"
    ),
    FormMismatch(re.compile(r"[^ ]@@(?: |$)"), "subwords (`@@`)", "say `form: bpe`", ("text", "words")),
    FormMismatch(
        re.compile(r"(?:^| )(?:(?:&quot;|&#91;|&#93;|&#124;|&apos;)(?: |$)|&apos;\w)"),
        "tokens with the escapes of Moses (`&apos;`)",
        "say `form: words`, which undoes both",
        ("text",),
    ),
)


def find_form_mismatch(lines: Sequence[str], form: TranslationForm) -> tuple[int, FormMismatch] | None:
    """Return the first line that is not of the configured form, and its form, if more than a few lines are not.

    Args:
        lines: Translations.
        form: The configured form.
    """
    filled = sum(1 for line in lines if line.strip())
    for misfit in FORM_MISMATCHES:
        if form in misfit.mismatched_forms:
            numbers = [number for number, line in enumerate(lines, start=1) if misfit.pattern.search(line)]
            if len(numbers) > MAX_MISMATCH_SHARE * filled:
                return numbers[0], misfit
    return None
