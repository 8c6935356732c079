"""English text in the words of English treebanks: what is a word of its own in Universal Dependencies (EWT, GUM, PUD).

Clitics stand apart (`do n't`, `she 's`, `boys '`, `can not`, `gon na`), and so do the parts of compounds with hyphens
(`well - known`), but for what begins with a prefix (`e-mail`, `non-profit`). Numbers, dates, abbreviations, addresses
and emoticons stay whole. These are the conventions of the Penn Treebank as the English Web Treebank has them (Bies,
Mott, Warner and Kulick 2012, LDC2012T13; universaldependencies.org/en/tokenization.html).
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]
"""The first character of a word and the one after its last, in the text."""


def _any(words: str) -> str:
    """A pattern for one of some words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words.split(), key=len, reverse=True))


_ABBREVIATIONS = _any(
    "mr mrs ms messrs mme mlle dr prof rev gen col lt sgt capt cmdr adm gov sen rep reps pres st sr jr "
    "jan feb apr jun jul aug sept sep oct nov dec tue tues wed thur thurs "
    "inc ltd co corp bros dept univ assn ave blvd rd hwy ft mt vs etc al ca cf viz esp approx est ext attn tel vol eds"
)
# Words of their own as well, which may end a sentence.
_BEFORE_NUMBERS = _any("no nos fig figs sec art p pp ch eq mar")
_PREFIXES = _any(
    "anti arch bi co contra counter cross e ex extra infra inter intra macro mega meta mid mini mono multi non over "
    "poly post pre pro proto pseudo psycho quasi re semi socio sub super supra trans tri ultra"
)
_UNITS = _any(
    "am pm k m b bn mm cm km kg mg g ml ft lb lbs oz mph kph hz khz mhz ghz kb mb gb tb w kw mw x f c hr hrs min mins "
    "sec"
)
_AUXILIARIES = _any(
    "do does did is was are were have has had ca wo would could should must might need ought sha dare ai"
)

_QUOTE = "['’]"
_ACCENTS = "\u0300-\u036f"
_LETTER = rf"[\w{_ACCENTS}]"
# The end looks ahead, since Python 3.11.2 goes wrong where a possessive group has a look ahead within.
_NUMBER = r"\d++ (?: (?: [.:/] | , (?= \d{3} (?! \d ) ) ) \d++ )* (?! [.:/] \d | , \d{3} (?! \d ) )"
_ADDRESS_END = r"[^\s<>\"“”.,;:!?)\]}'’]"

# One word each, whatever is in it; the first that fits counts.
_WHOLE = rf"""
      (?: https?:// | ftp:// | www\. ) [^\s<>"“”]* {_ADDRESS_END}
    | (?<! [\w.+-] ) [\w.+-]++ @ [\w-]+ (?: \.[\w-]+ )+
    | (?<! [\w.-] ) (?: [\w-]++ \. )+ (?: com | org | net | edu | gov ) (?! \w ) (?: / [^\s<>"“”]* {_ADDRESS_END} )?
    | (?<! \S ) (?: [:;=8] {_QUOTE}? -? [)(\]\[DPpOo/\\|*3]+ | [)(]+ -? [:;=] | <3 ) (?! \w )
    | (?<! \w ) (?: [A-Za-z]\. )+ [A-Za-z] (?! \w ) (?: \. (?! \s* $ ) )?
    | (?<! \w ) [A-HJ-Z]\. (?= \s* \w )
    | (?<! [\w'’] ) (?i: ph\.d\.? | (?: {_ABBREVIATIONS} )\. (?! \s* $ ) | (?: {_BEFORE_NUMBERS} )\. (?= \s* \d ) )
    | (?<! \w ) (?i: w/o? | s/he | c/o | n/a | o{_QUOTE}clock ) (?! \w )
    | (?<! \w ) {_QUOTE} (?i: em | cause | til | cuz | n {_QUOTE}? | s | m | d | re | ve | ll | \d\ds? ) (?! \w )
    | (?<! [\w-] ) (?: \d- )? (?: \d{{3}} [-/] )? \d{{3}} - \d{{4}} (?! [\w-] )
    | (?<! [\w-] ) \d+ (?: - \d+ ){{2,}} (?! [\w-] )
    | (?<! \w ) [+.]? {_NUMBER} (?: {_QUOTE}? s | st | nd | rd | th )? (?! \w )
    | (?<! \w ) {_NUMBER} (?= (?i: {_UNITS} ) (?! \w ) )
    | (?<! \w ) \# [A-Za-z_] \w+
    | (?<! [\w-] ) [A-Za-z]{{1,3}} - (?= \s )
    | \.{{2,}} | [-=]{{2,}} | \*{{2,}} | _{{2,}} | ~{{2,}} | \#{{2,}} | \+{{2,}} | \${{2,}} | <<+ | >>+ | -> | <-
    | [!?]{{2,}} | '' | ’’ | `` | ‘’
"""
# Text that Moses has tokenized has `don 't`: there `n 't` is one word with a space in it.
_NEGATED = rf"(?P<verb> (?<! \w ) (?i: {_AUXILIARIES} ) ) (?P<not> (?i: n [ ] {_QUOTE} t ) ) (?! \w )"
_WORD = rf"{_LETTER}+ (?: ['’.] {_LETTER}+ )*"
_SYMBOL = r"\S (?: [\u200c\ufe00-\ufe0f] | \u200d \S? )*"
_SPLIT, _WHOLE_COMPOUNDS = (
    re.compile(rf"(?P<whole> {_WHOLE} ) | {_NEGATED} | (?P<word> {word} ) | {_SYMBOL}", flags=re.VERBOSE)
    for word in (rf"(?: (?i: {_PREFIXES} ) - )? {_WORD}", rf"{_WORD} (?: - {_WORD} )*")
)

# Where a word is two or three.
_CLITIC = re.compile(rf"(?<=\w)(?:n{_QUOTE}t|{_QUOTE}(?:s|m|d|re|ve|ll))$", flags=re.IGNORECASE)
_JOINED = re.compile(
    rf"""
      (can) (not) | (gon | wan) (na) | (got) (ta) | (gim | lem) (me) | ({_AUXILIARIES}) (nt)
    | (i) (m | ve) | (you | they) (re | ve) | (y{_QUOTE}) (all) | (d{_QUOTE}) (you | ye) | (c{_QUOTE}m) (on)
    """,
    flags=re.VERBOSE | re.IGNORECASE,
)


def english_words(text: str, hyphens: bool = True) -> list[Span]:
    """Where the words of a sentence stand in it.

    Every character that is no white space belongs to one word. A word holds no white space, but for the `n 't` of text
    that Moses has tokenized.

    Args:
        text: a sentence as it is written.
        hyphens: whether the parts of a compound, and its hyphens, are words of their own.
    """
    pieces = _SPLIT if hyphens else _WHOLE_COMPOUNDS
    return [span for found in pieces.finditer(text) for span in _parts(found)]


def _parts(found: re.Match[str]) -> Iterator[Span]:
    if found["verb"] is not None:
        yield found.span("verb")
        yield found.span("not")
    elif found["word"] is not None:
        yield from _without_clitics(found["word"], found.start())
    else:
        yield found.span()


def _without_clitics(word: str, start: int) -> Iterator[Span]:
    """The parts of a word that begins at `start`."""
    clitics = []
    while (clitic := _CLITIC.search(word, len(word) - 3)) is not None:
        clitics.append((start + clitic.start(), start + len(word)))
        word = word[: clitic.start()]
    joined = _JOINED.fullmatch(word)
    if joined is None:
        yield start, start + len(word)
    else:
        groups = [k for k in range(1, _JOINED.groups + 1) if joined[k] is not None]
        yield from ((start + joined.start(k), start + joined.end(k)) for k in groups)
    yield from reversed(clitics)
