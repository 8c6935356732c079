"""Threads that start processes at the same time get the right exit codes."""

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.forked_jobs import PRELOADED_CONTEXT, join_process, start_process


def run_exiting_process(exit_code: int) -> int | None:
    process = PRELOADED_CONTEXT.Process(target=sys.exit, args=(exit_code,))
    start_process(process)
    return join_process(process)


def test_each_thread_gets_the_exit_codes_of_its_processes():
    exit_codes = [number % 3 for number in range(150)]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(run_exiting_process, exit_codes)] == exit_codes
