"""Expressions for times, dates and numbers in English, German, Chinese and Japanese, and their placeholders.

A word is looked at after Unicode's NFKC, which makes full-width digits, signs and CJK compatibility forms plain, and is
of the first of these kinds that it matches from end to end:

| kind | form | examples |
|---|---|---|
| time | hour 0–24, minutes, seconds | `12:30` `9:05:10` `9:05:10.5` |
| | with a mark; without one, `9.30` is a number | `9.30pm` `9am` `14.30Uhr` `14h30` |
| | 点 with minutes, 半, 刻, 钟 or 整; 时 | `3点30分` `三点半` `3点钟` `9時` `9時30分15秒` |
| | behind a part of the day | `下午3点` `午後三時` |
| date | year, month and day, day or month first | `2004-05-12` `2004/5/12` `12/05/2004` `05/31/2004` |
| | the same with dots; the year may be short | `12.05.2004` `12.5.04` `12.05.` |
| | year and month, or span of years | `2004-05` `05/2004` `1998/99` `1914–1918` |
| | 年 behind four digits or an era; 月; 日 | `1998年5月3日` `98年5月` `二〇〇四年` `平成16年` `5月` `5月3号` `3日` |
| number | digits, grouped or not, signed, percentages | `17` `007` `1,234` `1.234,5` `1'234` `3,5` `.5` `-7` `12%` |
| | fraction, range, score or ratio | `½` `2½` `1/2` `10-20` `3-1` `10:0` |
| | Chinese numerals, also digit by digit | `三百` `十二` `三点五` `百分之三十` `三分之一` `二〇〇四` |
| | digits with Chinese units | `1.2万` `3亿5000万` |

What is put back after decoding is the word of the source, so words that end as only one language has it are none of
these: ordinals (`3rd`, `3.`, `第3`), decades (`1990s`, `1990er`, `90年代`), amounts with a unit (`5kg`, `$5`, `3个`).
Neither are numbers, months and weekdays written as words. A year alone is a number, since nothing tells it from one;
`3点` alone, which may be a time, a score or an item, is nothing. Nothing, too, are Chinese words made of numerals that
count nothing (`万一`, `千万`, `一时`), two or three digits in a row (`七八`, `九一一`), and the numerals of cheques,
which are surnames as well.
"""

import re
from typing import Literal
from unicodedata import normalize

Kind = Literal["time", "date", "number"]

PLACEHOLDER_OF: dict[Kind, str] = {"time": "$time", "date": "$date", "number": "$number"}

PLACEHOLDERS = frozenset(PLACEHOLDER_OF.values())
"""One word each, never split into pieces. Where text holds one of its own, it is a placeholder like any other."""


def _any(*forms: str) -> str:
    return f"(?:{'|'.join(forms)})"


# Whatever repeats is separated by what it cannot contain, so the time a word takes grows with its length alone. Two of
# the forms fit `1,234`, so n of them in a row could be read in 2ⁿ ways: `(?>…)` keeps to the first form that reaches
# the end of the digits and signs.

_PLAIN_FORMS = _any(
    r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?",
    r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?",
    r"[0-9]{1,3}(?:['’][0-9]{3})+(?:[.,][0-9]+)?",
    r"[0-9]*\.[0-9]+",
    r"[0-9]+(?:,[0-9]+)?",
)
_PLAIN = f"(?>{_PLAIN_FORMS}(?![0-9.,'’]))"
_NUMERALS = "一二三四五六七八九"
_COUNT = f"[{_NUMERALS}两兩]"
_DIGIT = f"[{_NUMERALS}〇○零]"
# Below ten thousand. A unit without a digit is one of it (`百五十`, Japanese); 零 stands for units left out.
_SECTION = f"(?=[{_NUMERALS}两兩十百千])(?:{_COUNT}?千)?(?:零?{_COUNT}?百)?(?:零?{_COUNT}?十)?(?:零?{_COUNT})?"
_COUNTED = (
    f"(?!千[万萬]$)(?=[{_NUMERALS}两兩十百千])"
    f"(?:{_SECTION}兆)?(?:零?{_SECTION}[亿億])?(?:零?{_SECTION}[万萬])?(?:零?{_SECTION})?"
)
_DIGIT_BY_DIGIT = _any(f"{_DIGIT}{{4,}}", f"(?=[{_NUMERALS}]*[〇○零]){_DIGIT}{{2,}}", "[〇零]")
_CHINESE = _any(_DIGIT_BY_DIGIT, _COUNTED) + f"(?:[点點]{_DIGIT}+)?"
_PLAIN_OR_CHINESE = _any(_PLAIN, _CHINESE)
_WITH_UNITS = f"(?:{_PLAIN}(?:[十百千][万萬亿億]?|[万萬亿億兆]))+{_PLAIN}?"
_NUMBER = _any(
    f"[-–+−±]?{_PLAIN}[%‰]?(?:[-–—~〜:/⁄]{_PLAIN}[%‰]?)*",
    f"[-–+−±]?{_WITH_UNITS}[%‰]?",
    f"{_PLAIN_OR_CHINESE}分之{_PLAIN_OR_CHINESE}",
    _CHINESE,
)

_HOUR = "(?:[01]?[0-9]|2[0-4])"
_SIXTY = "[0-5][0-9]"
_CHINESE_SIXTY = f"[{_NUMERALS}两兩〇零十]{{1,3}}"
_ANY_HOUR = _any(_HOUR, _CHINESE_SIXTY)
_ANY_SIXTY = _any("[0-5]?[0-9]", _CHINESE_SIXTY)
_MINUTES = f"(?:{_ANY_SIXTY}分(?:{_ANY_SIXTY}秒)?|半)"
_HALF_DAY = r"(?i:am|pm|a\.m\.?|p\.m\.?|uhr)"
_PART_OF_DAY = "(?:凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|午前|午後)"
_TIME = _any(
    rf"{_HOUR}:{_SIXTY}(?::{_SIXTY}(?:[.,][0-9]+)?)?(?:{_HALF_DAY}|h)?",
    rf"{_HOUR}(?:\.{_SIXTY})?{_HALF_DAY}",
    rf"{_HOUR}(?:h{_SIXTY}|\.{_SIXTY}h)",
    f"{_PART_OF_DAY}?{_ANY_HOUR}(?:[点點](?:{_MINUTES}|[一二两三123]刻|[钟鐘整])|[时時]{_MINUTES})",
    f"{_PART_OF_DAY}{_ANY_HOUR}[点點时時]",
    f"{_HOUR}[时時]",
)

_YEAR = "(?:1[0-9]|20)[0-9]{2}"
_MONTH = "(?:0?[1-9]|1[0-2])"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_ERA = "(?:公元|西暦|明治|大正|昭和|平成|令和|民国|民國)"
_YEAR_OF_ERA = _any("[0-9]{1,4}", f"[{_NUMERALS}〇○零元十]{{1,4}}")
_ANY_MONTH = _any(_MONTH, "十[一二]?", f"[{_NUMERALS}]")
_ANY_DAY = _any(_DAY, f"[二三]?十[{_NUMERALS}]?", f"[{_NUMERALS}]")
_DATE = _any(
    rf"{_YEAR}(?P<first>[-/.]){_MONTH}(?P=first){_DAY}",
    rf"{_DAY}(?P<second>[-/.]){_MONTH}(?P=second){_YEAR}",
    rf"{_MONTH}(?P<third>[-/.]){_DAY}(?P=third){_YEAR}",
    rf"{_DAY}(?P<fourth>[/.]){_MONTH}(?P=fourth)[0-9]{{2}}",
    rf"{_MONTH}/{_DAY}/[0-9]{{2}}",
    rf"{_DAY}\.{_MONTH}\.",
    f"{_YEAR}[-–—/](?:{_YEAR}|[0-9]{{2}})",
    f"{_MONTH}/{_YEAR}",
    f"(?:[0-9]{{4}}|{_DIGIT}{{4}}|{_ERA}{_YEAR_OF_ERA})年度?",
    f"(?:{_ERA}?{_YEAR_OF_ERA}年)?{_ANY_MONTH}月(?:份|{_ANY_DAY}[日号號])?",
    f"{_DAY}日",
)

_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "time": re.compile(_TIME),
    "date": re.compile(_DATE),
    "number": re.compile(_NUMBER),
}


def kind_of(word: str) -> Kind | None:
    """Tell whether a word is a time, a date or a number; None if it is none of them."""
    plain = normalize("NFKC", word)
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(plain)), None)
