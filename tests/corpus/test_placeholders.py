"""Tests of the patterns of times, dates and numbers: all forms of the table, and similar words."""

import time

import pytest

from pipeline_py.corpus.placeholders import classify_number_or_date

TIMES = """
12:30 0:00 24:00 09:59 9:05:10 9:05:10.5 23:59:59
9.30pm 9:30PM 9:30p.m. 9am 11a.m. 14.30Uhr 14Uhr 14:30Uhr 14h30 14:30h
3点30分 三点半 十二点五十分 3点钟 3點鐘 三点一刻 8点整 9時 9时 9時30分15秒 9時半 十时三十分
下午3点 午後三時 午前9時半 凌晨两点 晚上八点二十分
１２：３０ ３点３０分
"""

DATES = """
2004-05-12 2004/5/12 2004.05.12 12/05/2004 05/31/2004 31/05/2004 12-05-2004
12.05.2004 12.5.04 31/12/99 12/31/99 12.05. 3.5.
2004-05 05/2004 1998/99 1998-2004 1914–1918
1998年5月3日 1998年 98年5月 二〇〇四年 一九九八年五月三日 二零零四年 平成16年 令和元年 民国九十三年 2004年度
5月 五月 十二月二十五日 5月份 5月3号 3日 31日 １９９８年５月
"""

NUMBERS = """
17 0 007 2004 1,234 1.234 1,234,567.89 1.234,5 1,234.5 1'234 1’234.50 90,000
3,5 3.5 .5 -7 −7 –3 +3 ±5 -0.5 12% 12,5% 3‰ 5％
½ 2½ 1/2 24/7 10-20 5–7 10%-20% 3-1 10:0 3:1 555-123-4567
三 两 十二 三百 三百五 百五十 一千二百万 一万零五十 五百二十万 三点五 零 〇 二〇〇四 一九九八 二十
百分之三十 百分之3.5 百分之百 三分之一 1.2万 3亿5000万 1万2千 3千万 百万
３．５ １７ ①
"""

NEAR_MISSES = """
B2B 3D v1.2 MP3 F16 1e5 x² Ａ１ 5th 3rd 1st 3. 第3 第三 1990s '90s 1990er 90er 90年代 20世纪
5kg $5 5€ 3个 30分 3小时 3時間 3日間 5年 三年 5个月 3点 三点 一时 9h 12月底
1.2.3 192.168.0.1 1,2,3 12,34,567 1.234.56 32.1. 13.13. ,5 5- /2 1-- --1 24/ 3.5.x
.. - . , : % %5 + / ' – … $time $date $number $5,000 $
万一 千万 千萬 万 亿 七八 九一一 一一 十分 点五 分之一 百分之 伍 陆 壹
one seventeen May Mai Monday 星期三 noon 正午 ٣ ١٢
"""


@pytest.mark.parametrize(
    ("words", "kind"), [(TIMES, "time"), (DATES, "date"), (NUMBERS, "number"), (NEAR_MISSES, None)]
)
def test_words_are_classified(words: str, kind: str | None) -> None:
    assert {word: classify_number_or_date(word) for word in words.split()} == dict.fromkeys(words.split(), kind)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("12:60", "number"),  # no time, but still a ratio
        ("25:10", "number"),
        ("9.30", "number"),
        ("32/13/2004", "number"),
        ("2004-13-45", "number"),
        ("12.05", "number"),
        ("5/12", "number"),
        ("三点五", "number"),
        ("三点五分", "time"),
    ],
)
def test_words_out_of_range_or_of_several_kinds_are_classified(word: str, kind: str) -> None:
    assert classify_number_or_date(word) == kind


PARTS = "1 1, 1万 1- 一 零 123, 十 1.1 一万 1:1 1分之 1,234- 0.123/ 1'234: 1,234万 0.123亿-"


@pytest.mark.parametrize("part", PARTS.split())
def test_a_long_word_is_classified_in_linear_time(part: str) -> None:
    start = time.process_time()
    assert classify_number_or_date(part * 5000 + "x") is None
    assert time.process_time() - start < 0.5
