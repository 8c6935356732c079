"""Random numbers, times and dates in digits, equal in both languages and mostly rare."""

import datetime
from random import Random

from embedded_grammar.derivation import Determiner
from embedded_grammar.modifiers import Adverb

# Smaller numbers are words.
MIN_NUMBER, MAX_NUMBER = 5, 9999
PAST_DATE_RANGE = datetime.date(1900, 1, 1), datetime.date(2020, 1, 1)
PRESENT_DATE_RANGE = datetime.date(2020, 1, 1), datetime.date(2100, 1, 1)


def draw_number(random: Random) -> Determiner:
    """Draw a number from `MIN_NUMBER` to `MAX_NUMBER`, uniformly on a logarithmic scale."""
    form = str(int(MIN_NUMBER * ((MAX_NUMBER + 1) / MIN_NUMBER) ** random.random()))
    return Determiner(form, form, "numeral", "CD")


def draw_clock_time(random: Random) -> Adverb:
    """Draw a minute of the day: `at 9:05`, `um 9:05`."""
    hour, minute = divmod(int(random.random() * 24 * 60), 60)
    form = f"{hour}:{minute:02}"
    return Adverb(f"at {form}", f"um {form}", "digits")


def draw_date(random: Random, is_past: bool) -> Adverb:
    """Draw a day from the past or present range: `on 2019-05-03`, `am 2019-05-03`."""
    start, end = PAST_DATE_RANGE if is_past else PRESENT_DATE_RANGE
    form = datetime.date.fromordinal(start.toordinal() + int(random.random() * (end - start).days)).isoformat()
    return Adverb(f"on {form}", f"am {form}", "digits")
