"""Processes that tests start in several threads tell each how they ended."""

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.forked_jobs import PRELOADED_CONTEXT, join_process, start_process


def ended(code: int) -> int | None:
    process = PRELOADED_CONTEXT.Process(target=sys.exit, args=(code,))
    start_process(process)
    return join_process(process)


def test_each_thread_is_told_how_its_process_ended():
    codes = [number % 3 for number in range(150)]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(ended, codes)] == codes
