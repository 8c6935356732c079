"""Numbers, times and dates in digits: what is drawn, and how often the same."""

import datetime
from collections import Counter
from random import Random

from embedded_grammar import digit_expressions
from pipeline_py.corpus.placeholders import classify_expression

DRAWN = 20_000


def test_numbers_spread_evenly_over_powers_of_ten() -> None:
    random = Random(1)
    drawn = [digit_expressions.draw_number(random) for _ in range(DRAWN)]
    values = [int(determiner.english) for determiner in drawn]
    assert min(values) == 5 and 9900 < max(values) <= 9999
    assert all(d.english == d.german and (d.german_paradigm, d.pos_tag) == ("numeral", "CD") for d in drawn)
    # 10 to 99, 100 to 999 and 1000 to 9999 each take log 10 / log 2000 of all, 0.303.
    for start in (10, 100, 1000):
        assert 0.28 < sum(start <= value < 10 * start for value in values) / DRAWN < 0.33


def test_times_are_every_minute_of_the_day() -> None:
    random = Random(2)
    drawn = Counter(digit_expressions.draw_clock_time(random).english.split()[1] for _ in range(DRAWN))
    assert set(drawn) == {f"{hour}:{minute:02}" for hour in range(24) for minute in range(60)}
    assert max(drawn.values()) < 40  # 14 on average


def test_dates_exist_and_lie_in_the_past_or_not() -> None:
    random = Random(3)
    for past, years in ((True, range(1900, 2020)), (False, range(2020, 2100))):
        drawn = {digit_expressions.draw_date(random, past).english.split()[1] for _ in range(DRAWN)}
        dates = {datetime.date.fromisoformat(word) for word in drawn}
        assert {date.year for date in dates} == set(years)
        assert {date.day for date in dates} == set(range(1, 32)) and len(drawn) > 0.7 * DRAWN


def test_both_languages_write_them_alike_and_generalisation_knows_them() -> None:
    random = Random(4)
    for moment, preposition, german, kind in (
        (digit_expressions.draw_clock_time(random), "at", "um", "time"),
        (digit_expressions.draw_date(random, True), "on", "am", "date"),
    ):
        word = moment.english.removeprefix(f"{preposition} ")
        assert moment.german == f"{german} {word}" and classify_expression(word) == kind
    assert classify_expression(digit_expressions.draw_number(random).english) == "number"
