"""Patterns of times, dates and numbers in English, German, Chinese and Japanese, and their placeholders.

A word is normalized by Unicode's NFKC, which replaces full-width and CJK compatibility forms. Its kind is the first one
with a full match:

| kind | form | examples |
|---|---|---|
| time | hour 0–24, minutes, seconds | `12:30` `9:05:10` `9:05:10.5` |
| | with a mark; without one, `9.30` is a number | `9.30pm` `9am` `14.30Uhr` `14h30` |
| | 点 with minutes, 半, 刻, 钟 or 整; 时 | `3点30分` `三点半` `3点钟` `9時` `9時30分15秒` |
| | after a part of the day | `下午3点` `午後三時` |
| date | year, month and day, day or month first | `2004-05-12` `2004/5/12` `12/05/2004` `05/31/2004` |
| | the same with dots; the year may be short | `12.05.2004` `12.5.04` `12.05.` |
| | year and month, or span of years | `2004-05` `05/2004` `1998/99` `1914–1918` |
| | 年 after four digits or an era; 月; 日 | `1998年5月3日` `98年5月` `二〇〇四年` `平成16年` `5月` `5月3号` `3日` |
| number | digits, grouped or not, signed, percentages | `17` `007` `1,234` `1.234,5` `1'234` `3,5` `.5` `-7` `12%` |
| | fraction, range, score or ratio | `½` `2½` `1/2` `10-20` `3-1` `10:0` |
| | Chinese numerals, also digit by digit | `三百` `十二` `三点五` `百分之三十` `三分之一` `二〇〇四` |
| | digits with Chinese units | `1.2万` `3亿5000万` |

After decoding, placeholders are replaced by the words of the source. Words with a language-specific form are therefore
excluded: ordinals (`3rd`, `3.`, `第3`), decades (`1990s`, `1990er`, `90年代`) and amounts with a unit (`5kg`, `$5`,
`3个`). Numbers, months and weekdays written as words are also excluded. A year alone is a number. `3点` alone is
excluded, since it can be a time, a score or an item. Also excluded are Chinese words that contain numerals but are
not numbers (`万一`, `千万`, `一时`), two or three digits in a row (`七八`, `九一一`), and the numerals of cheques,
which are also surnames.
"""

import re
from typing import Literal
from unicodedata import normalize

PlaceholderKind = Literal["time", "date", "number"]

PLACEHOLDER_BY_KIND: dict[PlaceholderKind, str] = {"time": "$time", "date": "$date", "number": "$number"}

PLACEHOLDERS = frozenset(PLACEHOLDER_BY_KIND.values())
"""The placeholders. Each is one word and is never split. If a text contains one, it is treated as a placeholder."""


def _join_patterns(*patterns: str) -> str:
    """Join alternative patterns to one pattern."""
    return f"(?:{'|'.join(patterns)})"


# Matching takes linear time: repeated parts are separated by characters that they cannot contain. Since two of these
# forms match `1,234`, n numbers in a row would have 2ⁿ matches; the atomic group `(?>…)` allows only the first form
# that reaches the end of the digits and signs.

_DIGIT_NUMBER_FORMS = _join_patterns(
    r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?",
    r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?",
    r"[0-9]{1,3}(?:['’][0-9]{3})+(?:[.,][0-9]+)?",
    r"[0-9]*\.[0-9]+",
    r"[0-9]+(?:,[0-9]+)?",
)
_DIGIT_NUMBER = f"(?>{_DIGIT_NUMBER_FORMS}(?![0-9.,'’]))"
_CHINESE_NUMERALS = "一二三四五六七八九"
_CHINESE_MULTIPLIER = f"[{_CHINESE_NUMERALS}两兩]"
_CHINESE_DIGIT = f"[{_CHINESE_NUMERALS}〇○零]"
# Below ten thousand. A unit without a digit counts once (`百五十`, Japanese); 零 replaces omitted units.
_CHINESE_BELOW_TEN_THOUSAND = (
    f"(?=[{_CHINESE_NUMERALS}两兩十百千])(?:{_CHINESE_MULTIPLIER}?千)?(?:零?{_CHINESE_MULTIPLIER}?百)?"
    f"(?:零?{_CHINESE_MULTIPLIER}?十)?(?:零?{_CHINESE_MULTIPLIER})?"
)
_CHINESE_POSITIONAL_NUMBER = (
    f"(?!千[万萬]$)(?=[{_CHINESE_NUMERALS}两兩十百千])"
    f"(?:{_CHINESE_BELOW_TEN_THOUSAND}兆)?(?:零?{_CHINESE_BELOW_TEN_THOUSAND}[亿億])?"
    f"(?:零?{_CHINESE_BELOW_TEN_THOUSAND}[万萬])?(?:零?{_CHINESE_BELOW_TEN_THOUSAND})?"
)
_CHINESE_DIGIT_SEQUENCE = _join_patterns(
    f"{_CHINESE_DIGIT}{{4,}}", f"(?=[{_CHINESE_NUMERALS}]*[〇○零]){_CHINESE_DIGIT}{{2,}}", "[〇零]"
)
_CHINESE_NUMBER = _join_patterns(_CHINESE_DIGIT_SEQUENCE, _CHINESE_POSITIONAL_NUMBER) + f"(?:[点點]{_CHINESE_DIGIT}+)?"
_DIGIT_OR_CHINESE_NUMBER = _join_patterns(_DIGIT_NUMBER, _CHINESE_NUMBER)
_NUMBER_WITH_CHINESE_UNITS = f"(?:{_DIGIT_NUMBER}(?:[十百千][万萬亿億]?|[万萬亿億兆]))+{_DIGIT_NUMBER}?"
_NUMBER = _join_patterns(
    f"[-–+−±]?{_DIGIT_NUMBER}[%‰]?(?:[-–—~〜:/⁄]{_DIGIT_NUMBER}[%‰]?)*",
    f"[-–+−±]?{_NUMBER_WITH_CHINESE_UNITS}[%‰]?",
    f"{_DIGIT_OR_CHINESE_NUMBER}分之{_DIGIT_OR_CHINESE_NUMBER}",
    _CHINESE_NUMBER,
)

_HOUR = "(?:[01]?[0-9]|2[0-4])"
_MINUTE_OR_SECOND = "[0-5][0-9]"
_CHINESE_HOUR_OR_MINUTE = f"[{_CHINESE_NUMERALS}两兩〇零十]{{1,3}}"
_ANY_HOUR = _join_patterns(_HOUR, _CHINESE_HOUR_OR_MINUTE)
_ANY_MINUTE_OR_SECOND = _join_patterns("[0-5]?[0-9]", _CHINESE_HOUR_OR_MINUTE)
_CHINESE_MINUTES = f"(?:{_ANY_MINUTE_OR_SECOND}分(?:{_ANY_MINUTE_OR_SECOND}秒)?|半)"
_CLOCK_SUFFIX = r"(?i:am|pm|a\.m\.?|p\.m\.?|uhr)"
_PART_OF_DAY = "(?:凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|午前|午後)"
_TIME = _join_patterns(
    rf"{_HOUR}:{_MINUTE_OR_SECOND}(?::{_MINUTE_OR_SECOND}(?:[.,][0-9]+)?)?(?:{_CLOCK_SUFFIX}|h)?",
    rf"{_HOUR}(?:\.{_MINUTE_OR_SECOND})?{_CLOCK_SUFFIX}",
    rf"{_HOUR}(?:h{_MINUTE_OR_SECOND}|\.{_MINUTE_OR_SECOND}h)",
    f"{_PART_OF_DAY}?{_ANY_HOUR}(?:[点點](?:{_CHINESE_MINUTES}|[一二两三123]刻|[钟鐘整])|[时時]{_CHINESE_MINUTES})",
    f"{_PART_OF_DAY}{_ANY_HOUR}[点點时時]",
    f"{_HOUR}[时時]",
)

_YEAR = "(?:1[0-9]|20)[0-9]{2}"
_MONTH = "(?:0?[1-9]|1[0-2])"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_ERA = "(?:公元|西暦|明治|大正|昭和|平成|令和|民国|民國)"
_YEAR_OF_ERA = _join_patterns("[0-9]{1,4}", f"[{_CHINESE_NUMERALS}〇○零元十]{{1,4}}")
_ANY_MONTH = _join_patterns(_MONTH, "十[一二]?", f"[{_CHINESE_NUMERALS}]")
_ANY_DAY = _join_patterns(_DAY, f"[二三]?十[{_CHINESE_NUMERALS}]?", f"[{_CHINESE_NUMERALS}]")
_DATE = _join_patterns(
    rf"{_YEAR}(?P<first>[-/.]){_MONTH}(?P=first){_DAY}",
    rf"{_DAY}(?P<second>[-/.]){_MONTH}(?P=second){_YEAR}",
    rf"{_MONTH}(?P<third>[-/.]){_DAY}(?P=third){_YEAR}",
    rf"{_DAY}(?P<fourth>[/.]){_MONTH}(?P=fourth)[0-9]{{2}}",
    rf"{_MONTH}/{_DAY}/[0-9]{{2}}",
    rf"{_DAY}\.{_MONTH}\.",
    f"{_YEAR}[-–—/](?:{_YEAR}|[0-9]{{2}})",
    f"{_MONTH}/{_YEAR}",
    f"(?:[0-9]{{4}}|{_CHINESE_DIGIT}{{4}}|{_ERA}{_YEAR_OF_ERA})年度?",
    f"(?:{_ERA}?{_YEAR_OF_ERA}年)?{_ANY_MONTH}月(?:份|{_ANY_DAY}[日号號])?",
    f"{_DAY}日",
)

_PATTERN_BY_KIND: dict[PlaceholderKind, re.Pattern[str]] = {
    "time": re.compile(_TIME),
    "date": re.compile(_DATE),
    "number": re.compile(_NUMBER),
}


def classify_number_or_date(word: str) -> PlaceholderKind | None:
    """Classify a word as a time, a date or a number; return None for other words."""
    plain = normalize("NFKC", word)
    return next((kind for kind, pattern in _PATTERN_BY_KIND.items() if pattern.fullmatch(plain)), None)
