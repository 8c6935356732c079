"""Tokenizer of English text into the words of Universal Dependencies (EWT, GUM, PUD).

Clitics (`do n't`, `she 's`, `boys '`, `can not`, `gon na`) and the parts of compounds with hyphens (`well - known`) are
separate words, except after prefixes (`e-mail`, `non-profit`). Numbers, dates, abbreviations, addresses and emoticons
are single words. These are the conventions of the English Web Treebank (Bies, Mott, Warner and Kulick 2012,
LDC2012T13; universaldependencies.org/en/tokenization.html).
"""

import re
from collections.abc import Iterator

CharacterSpan = tuple[int, int]
"""Start and end of a word in the text (end exclusive)."""


def _build_word_alternation(word_list: str) -> str:
    """Build a pattern that matches one of several words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(word_list.split(), key=len, reverse=True))


_ABBREVIATION_FORMS = _build_word_alternation(
    "mr mrs ms messrs mme mlle dr prof rev gen col lt sgt capt cmdr adm gov sen rep reps pres st sr jr "
    "jan feb apr jun jul aug sept sep oct nov dec tue tues wed thur thurs "
    "inc ltd co corp bros dept univ assn ave blvd rd hwy ft mt vs etc al ca cf viz esp approx est ext attn tel vol eds"
)
# These are also ordinary words, which may end a sentence.
_NUMBER_ABBREVIATIONS = _build_word_alternation("no nos fig figs sec art p pp ch eq mar")
_COMPOUND_PREFIXES = _build_word_alternation(
    "anti arch bi co contra counter cross e ex extra infra inter intra macro mega meta mid mini mono multi non over "
    "poly post pre pro proto pseudo psycho quasi re semi socio sub super supra trans tri ultra"
)
_MEASUREMENT_UNITS = _build_word_alternation(
    "am pm k m b bn mm cm km kg mg g ml ft lb lbs oz mph kph hz khz mhz ghz kb mb gb tb w kw mw x f c hr hrs min mins "
    "sec"
)
_AUXILIARY_VERBS = _build_word_alternation(
    "do does did is was are were have has had ca wo would could should must might need ought sha dare ai"
)

_APOSTROPHE = "['’]"
_COMBINING_ACCENTS = "\u0300-\u036f"
_LETTER = rf"[\w{_COMBINING_ACCENTS}]"
# The lookahead is at the end, because Python 3.11.2 mishandles lookaheads within possessive groups.
_NUMBER = r"\d++ (?: (?: [.:/] | , (?= \d{3} (?! \d ) ) ) \d++ )* (?! [.:/] \d | , \d{3} (?! \d ) )"
_ADDRESS_END = r"[^\s<>\"“”.,;:!?)\]}'’]"

# Alternatives that match one word; the first match counts.
_INDIVISIBLE_WORD = rf"""
      (?: https?:// | ftp:// | www\. ) [^\s<>"“”]* {_ADDRESS_END}
    | (?<! [\w.+-] ) [\w.+-]++ @ [\w-]+ (?: \.[\w-]+ )+
    | (?<! [\w.-] ) (?: [\w-]++ \. )+ (?: com | org | net | edu | gov ) (?! \w ) (?: / [^\s<>"“”]* {_ADDRESS_END} )?
    | (?<! \S ) (?: [:;=8] {_APOSTROPHE}? -? [)(\]\[DPpOo/\\|*3]+ | [)(]+ -? [:;=] | <3 ) (?! \w )
    | (?<! \w ) (?: [A-Za-z]\. )+ [A-Za-z] (?! \w ) (?: \. (?! \s* $ ) )?
    | (?<! \w ) [A-HJ-Z]\. (?= \s* \w )
    | (?<! [\w'’] ) (?i: ph\.d\.? | (?: {_ABBREVIATION_FORMS} )\. (?! \s* $ ) )
    | (?<! [\w'’] ) (?i: (?: {_NUMBER_ABBREVIATIONS} )\. (?= \s* \d ) )
    | (?<! \w ) (?i: w/o? | s/he | c/o | n/a | o{_APOSTROPHE}clock ) (?! \w )
    | (?<! \w ) {_APOSTROPHE} (?i: em | cause | til | cuz | n {_APOSTROPHE}? | s | m | d | re | ve | ll | \d\ds? )
      (?! \w )
    | (?<! [\w-] ) (?: \d- )? (?: \d{{3}} [-/] )? \d{{3}} - \d{{4}} (?! [\w-] )
    | (?<! [\w-] ) \d+ (?: - \d+ ){{2,}} (?! [\w-] )
    | (?<! \w ) [+.]? {_NUMBER} (?: {_APOSTROPHE}? s | st | nd | rd | th )? (?! \w )
    | (?<! \w ) {_NUMBER} (?= (?i: {_MEASUREMENT_UNITS} ) (?! \w ) )
    | (?<! \w ) \# [A-Za-z_] \w+
    | (?<! [\w-] ) [A-Za-z]{{1,3}} - (?= \s )
    | \.{{2,}} | [-=]{{2,}} | \*{{2,}} | _{{2,}} | ~{{2,}} | \#{{2,}} | \+{{2,}} | \${{2,}} | <<+ | >>+ | -> | <-
    | [!?]{{2,}} | '' | ’’ | `` | ‘’
"""
# Moses tokenizes `don't` as `don 't`; `n 't` is one word that contains a space.
_SPACED_NEGATION = rf"(?P<verb> (?<! \w ) (?i: {_AUXILIARY_VERBS} ) ) (?P<not> (?i: n [ ] {_APOSTROPHE} t ) ) (?! \w )"
_WORD = rf"{_LETTER}+ (?: ['’.] {_LETTER}+ )*"
_SYMBOL = r"\S (?: [\u200c\ufe00-\ufe0f] | \u200d \S? )*"
_SPLIT_COMPOUND_PATTERN, _WHOLE_COMPOUND_PATTERN = (
    re.compile(
        rf"(?P<unit> {_INDIVISIBLE_WORD} ) | {_SPACED_NEGATION} | (?P<word> {word} ) | {_SYMBOL}",
        flags=re.VERBOSE,
    )
    for word in (rf"(?: (?i: {_COMPOUND_PREFIXES} ) - )? {_WORD}", rf"{_WORD} (?: - {_WORD} )*")
)

_CLITIC_PATTERN = re.compile(rf"(?<=\w)(?:n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|m|d|re|ve|ll))$", flags=re.IGNORECASE)
_CONTRACTION_PATTERN = re.compile(
    rf"""
      (can) (not) | (gon | wan) (na) | (got) (ta) | (gim | lem) (me) | ({_AUXILIARY_VERBS}) (nt)
    | (i) (m | ve) | (you | they) (re | ve) | (y{_APOSTROPHE}) (all) | (d{_APOSTROPHE}) (you | ye)
    | (c{_APOSTROPHE}m) (on)
    """,
    flags=re.VERBOSE | re.IGNORECASE,
)


def find_english_words(text: str, should_split_hyphens: bool = True) -> list[CharacterSpan]:
    """Find the words of a sentence.

    Every character except white space belongs to exactly one word. Words contain no white space, except `n 't` in text
    that Moses has tokenized.

    Args:
        text: Untokenized sentence.
        should_split_hyphens: Return the parts of a compound and its hyphens as separate words.
    """
    pattern = _SPLIT_COMPOUND_PATTERN if should_split_hyphens else _WHOLE_COMPOUND_PATTERN
    return [span for match in pattern.finditer(text) for span in _split_match(match)]


def _split_match(match: re.Match[str]) -> Iterator[CharacterSpan]:
    if match["verb"] is not None:
        yield match.span("verb")
        yield match.span("not")
    elif match["word"] is not None:
        yield from _split_clitics(match["word"], match.start())
    else:
        yield match.span()


def _split_clitics(word: str, start: int) -> Iterator[CharacterSpan]:
    """Yield the parts of a word that begins at `start`."""
    clitics = []
    while (clitic := _CLITIC_PATTERN.search(word, len(word) - 3)) is not None:
        clitics.append((start + clitic.start(), start + len(word)))
        word = word[: clitic.start()]
    joined = _CONTRACTION_PATTERN.fullmatch(word)
    if joined is None:
        yield start, start + len(word)
    else:
        groups = [k for k in range(1, _CONTRACTION_PATTERN.groups + 1) if joined[k] is not None]
        yield from ((start + joined.start(k), start + joined.end(k)) for k in groups)
    yield from reversed(clitics)
