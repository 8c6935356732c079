"""Forms of translations from elsewhere: escapes of Moses, pieces of words, lists of several translations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Form = Literal["text", "words", "bpe"]

LARGEST_SHARE = 0.05
"""Largest accepted share of lines with words that look like another form."""


@dataclass(frozen=True)
class Misfit:
    """A form that translations have in place of the one that is configured.

    Attributes:
        pattern: what a line of that form has.
        name: what it is, for messages.
        remedy: what to do.
        forms: values of `form` that it does not fit.
    """

    pattern: re.Pattern[str]
    name: str
    remedy: str
    forms: tuple[Form, ...] = ("text", "words", "bpe")


MISFITS = (
    Misfit(
        re.compile(r"^\d+ \|\|\| .*\|\|\|"),
        "an n-best list (`0 ||| … ||| …`)",
        "give the best translation of each sentence alone, one a line",
    ),
    Misfit(
        re.compile(r"^[STHDP]-\d+\t"),
        "a log of fairseq-generate (`H-0`)",
        "give the translations alone, one a line, in the order of the sentences: grep ^D- | sort -V | cut -f3",
    ),
    Misfit(
        re.compile(r"(?:^| )▁"),
        "pieces of SentencePiece (`▁`)",
        "join them: spm_decode, or sed 's/ //g; s/▁/ /g; s/^ //'",
    ),
    Misfit(
        re.compile(r"￭ | ￭"),
        "tokens with the joiners of OpenNMT's tokenizer (`￭`)",
        "detokenize them with it",
    ),
    Misfit(re.compile(r"[^ ] ##\w"), "pieces of WordPiece (`##`)", "join them: sed 's/ ##//g', and say `form: words`"),
    Misfit(re.compile(r"[^ ]@@(?: |$)"), "subwords (`@@`)", "say `form: bpe`", ("text", "words")),
    Misfit(
        re.compile(r"(?:^| )(?:(?:&quot;|&#91;|&#93;|&#124;|&apos;)(?: |$)|&apos;\w)"),
        "tokens with the escapes of Moses (`&apos;`)",
        "say `form: words`, which undoes both",
        ("text",),
    ),
)


def find_misfit(lines: Sequence[str], form: Form) -> tuple[int, Misfit] | None:
    """Return the first line of another form than the configured one, if more than a few are, and that form.

    Args:
        lines: Translations.
        form: The configured form.
    """
    filled = sum(1 for line in lines if line.strip())
    for misfit in MISFITS:
        if form in misfit.forms:
            numbers = [number for number, line in enumerate(lines, start=1) if misfit.pattern.search(line)]
            if len(numbers) > LARGEST_SHARE * filled:
                return numbers[0], misfit
    return None
