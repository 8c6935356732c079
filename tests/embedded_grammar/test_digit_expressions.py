"""Tests of the distributions of numbers, times and dates in digits."""

import datetime
from collections import Counter
from random import Random

from embedded_grammar import digit_expressions
from pipeline_py.corpus.placeholders import classify_number_or_date

SAMPLE_SIZE = 20_000


def test_numbers_spread_evenly_over_powers_of_ten() -> None:
    random = Random(1)
    determiners = [digit_expressions.draw_number(random) for _ in range(SAMPLE_SIZE)]
    values = [int(determiner.english) for determiner in determiners]
    assert min(values) == 5 and 9900 < max(values) <= 9999
    assert all(d.english == d.german and (d.german_paradigm, d.pos_tag) == ("numeral", "CD") for d in determiners)
    # 10 to 99, 100 to 999 and 1000 to 9999 each take log 10 / log 2000 of all, 0.303.
    for start in (10, 100, 1000):
        assert 0.28 < sum(start <= value < 10 * start for value in values) / SAMPLE_SIZE < 0.33


def test_times_are_every_minute_of_the_day() -> None:
    random = Random(2)
    counts = Counter(digit_expressions.draw_clock_time(random).english.split()[1] for _ in range(SAMPLE_SIZE))
    assert set(counts) == {f"{hour}:{minute:02}" for hour in range(24) for minute in range(60)}
    assert max(counts.values()) < 40  # 14 on average


def test_dates_are_valid_and_in_the_past_or_present_range() -> None:
    random = Random(3)
    for is_past, years in ((True, range(1900, 2020)), (False, range(2020, 2100))):
        words = {digit_expressions.draw_date(random, is_past).english.split()[1] for _ in range(SAMPLE_SIZE)}
        dates = {datetime.date.fromisoformat(word) for word in words}
        assert {date.year for date in dates} == set(years)
        assert {date.day for date in dates} == set(range(1, 32)) and len(words) > 0.7 * SAMPLE_SIZE


def test_expressions_are_equal_in_both_languages_and_recognized_by_generalisation() -> None:
    random = Random(4)
    for adverb, preposition, german, kind in (
        (digit_expressions.draw_clock_time(random), "at", "um", "time"),
        (digit_expressions.draw_date(random, True), "on", "am", "date"),
    ):
        word = adverb.english.removeprefix(f"{preposition} ")
        assert adverb.german == f"{german} {word}" and classify_number_or_date(word) == kind
    assert classify_number_or_date(digit_expressions.draw_number(random).english) == "number"
