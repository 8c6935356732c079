"""A forecast of a run: how long its jobs take one beside the other, told by stage."""

import heapq
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

SHARE = 0.01
"""A stage that takes less of the work is told with the others."""


class Planned(NamedTuple):
    """A job that will run."""

    stage: str
    """ROOM/STAGE; empty for one that does no work of its own."""

    seconds: float
    after: Collection[int]
    """Places, among the planned jobs, of those that it waits for."""

    threads: int = 1
    cards: int = 0


class Machine(NamedTuple):
    """What jobs that run at the same time may take together; null: as much as they ask for."""

    threads: int | None = None
    cards: int | None = None

    def full(self, running: Collection[Planned]) -> bool:
        """Say whether no further job may begin beside some."""
        return self.threads is not None and sum(job.threads for job in running) >= self.threads

    def has(self, running: Collection[Planned], job: Planned) -> bool:
        """Say whether a job may begin beside others; beside none it may, with as many threads as there are."""
        threads = self.threads is None or sum(one.threads for one in running) + job.threads <= self.threads
        cards = self.cards is None or sum(one.cards for one in running) + job.cards <= self.cards
        return not running or (threads and cards)


def duration(jobs: Sequence[Planned], machine: Machine) -> float:
    """Seconds from the start to the end, each job as early as its inputs and the machine let it.

    Of jobs that could begin, that one does which has the longest way to the end.
    """
    followers: dict[int, list[int]] = defaultdict(list)
    waiting = [len(job.after) for job in jobs]
    for place, job in enumerate(jobs):
        for earlier in job.after:
            followers[earlier].append(place)
    way = _ways_to_the_end(jobs, followers, waiting)
    ready = sorted((-way[place], place) for place, count in enumerate(waiting) if count == 0)
    ends: list[tuple[float, int]] = []
    running: dict[int, Planned] = {}
    now = 0.0
    while ready or running:
        begun = []
        for entry in ready:
            if machine.full(running.values()):
                break
            place = entry[1]
            if machine.has(running.values(), jobs[place]):
                begun.append(entry)
                running[place] = jobs[place]
                heapq.heappush(ends, (now + jobs[place].seconds, place))
        for entry in begun:
            ready.remove(entry)
        now, ended = heapq.heappop(ends)
        del running[ended]
        for follower in followers[ended]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                insort(ready, (-way[follower], follower))
    return now


def _ways_to_the_end(
    jobs: Sequence[Planned], followers: Mapping[int, Sequence[int]], waiting: Sequence[int]
) -> list[float]:
    """Seconds of the longest chain of jobs that begins with each."""
    left, order = list(waiting), [place for place, count in enumerate(waiting) if count == 0]
    for place in order:
        for follower in followers.get(place, []):
            left[follower] -= 1
            if left[follower] == 0:
                order.append(follower)
    way = [0.0] * len(jobs)
    for place in reversed(order):
        way[place] = jobs[place].seconds + max((way[follower] for follower in followers.get(place, [])), default=0.0)
    return way


def told(jobs: Sequence[Planned], machine: Machine, seen: int) -> str:
    """The forecast in words: a line for each stage that counts, and the sum.

    Args:
        jobs: What will run, in the order of the DAG.
        machine: Where they run; one without limit is a cluster.
        seen: How many of the jobs are known by their own earlier run here.

    Returns:
        Nothing where no job does any work.
    """
    count, work = Counter(job.stage for job in jobs), dict.fromkeys((job.stage for job in jobs), 0.0)
    for job in jobs:
        work[job.stage] += job.seconds
    total = sum(work.values())
    long = [stage for stage in work if stage and work[stage] >= SHARE * total and work[stage] >= 1]
    rows = [(stage, count[stage], work[stage]) for stage in long]
    others = [stage for stage in work if stage and stage not in long]
    if others:
        what = "others" if long else "all"
        rows.append((what, sum(count[stage] for stage in others), sum(work[stage] for stage in others)))
    if not rows:
        return ""
    width = max(len(stage) for stage, _, _ in rows)
    lines = [
        f"  {stage:<{width}}  {jobs_of:>5} × {_told(of / jobs_of):<7} = {_told(of)}" for stage, jobs_of, of in rows
    ]
    cores = f"on {machine.threads} core{'s' * (machine.threads != 1)}"
    where = "on the cluster, time in its queue left out" if machine.threads is None else cores
    with_cards = any(job.cards for job in jobs)  # of which the embedded experiment says nothing
    source = _source(seen, sum(count[stage] for stage in work if stage), with_cards)
    together = f"Together about {_told(duration(jobs, machine))} {where} ({source})."
    return "\n".join(["What will run, and about how long:", *lines, together])


def _source(seen: int, known: int, with_cards: bool) -> str:
    """What a forecast judges by."""
    if seen == known:
        return "as these jobs took here before"
    if seen:
        return f"{seen} of {known} jobs as they took here before, the others by their like"
    card = ", networks as on a CPU" if with_cards else ""
    return f"by the embedded experiment and the size of this one{card}; better known once some of it has run"


def _told(seconds: float) -> str:
    """A time with the precision that a forecast has: 0.4 s, 12 s, 3 min, 2.5 h, 3 days."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{round(seconds / 86400)} days"
