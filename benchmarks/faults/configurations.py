"""Attack: a configuration that nobody should write, told by a dry run; and what it plans."""

import copy
from random import Random
from typing import Any

import yaml

from benchmarks.faults import stages
from benchmarks.faults.cases import Case, Outcome, Result, failed, judged, last_words
from benchmarks.faults.experiment import described, dry_run
from benchmarks.faults.jobs import planned

LIMIT = 20
"""Seconds that a job of an odd configuration may take; one that takes longer does what it was asked for."""

WRITTEN_OUT = ("model", "training", "decoding", "evaluation", "parsing")
"""Keys whose defaults are attacked as well."""

CARRIED_OUT = 4
"""Of so many plans, one is carried out."""

JOBS = 60
"""At most so many of its jobs run."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    1.5,
    -0.5,
    1e300,
    float("nan"),
    float("inf"),
    10**9,
    10**30,
    "",
    " ",
    "x",
    "1",
    "yes",
    "\0",
    "a/b",
    "../x",
    "$(touch planted)",
    "; touch planted",
    "x" * 300,
    "größer\u2028",
    "{split}",
    "%s",
    [],
    [None],
    [1, "x"],
    [[]],
    {},
    {"a": 1},
    {"type": "global"},
    {1: 2},
)

NUMBERS: tuple[int | float, ...] = (
    *(0, 1, -1, 2, 3, 7, 100, 10**4, 10**6, 10**9, 2**31, 2**63, 10**30, 10**400),
    *(0.0, 0.5, 1.5, -0.5, 1e-300, 1e-9, 1e9, 1e300, float("nan"), float("inf")),
)


def attack(case: Case) -> Result:
    """Write a configuration and see what is planned."""
    random = case.random
    given = yaml.safe_load((case.experiment.folder / "experiment.yaml").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((case.experiment.folder / "config.yaml").read_text(encoding="utf-8"))
    given = {**given, **{key: {**defaults.get(key, {}), **given.get(key, {})} for key in WRITTEN_OUT}}
    way = (_value, _of_its_type, _of_its_type, _renamed, _repeated, _broken)[case.number % 6]
    text, what, must_fail = way(given, random)
    case.folder.mkdir()
    described(case.folder)
    (case.folder / "experiment.yaml").write_bytes(text)
    done = dry_run(case.folder, "--forceall", case.experiment.target)
    ended = failed_plan(done)
    attack = way.__name__.strip("_")
    if ended is not None:
        return Result(attack, ended, what, last_words(done))
    if must_fail:
        return Result(attack, Outcome.WRONG, what, "it is taken as it is")
    if (case.folder / "planted").exists():
        return Result(attack, Outcome.WRONG, what, "it was run as a command")
    if case.number // 6 % CARRIED_OUT == 0:
        for job in planned(done.said)[:JOBS]:
            made = stages.stage(job.command, case.folder, LIMIT)
            if made.code is None:
                break
            ended = failed(made, [*job.paths, "--"])
            if ended is not None and ended is not Outcome.CLEAR:
                return Result(attack, ended, f"{what}; {job.name}", last_words(made))
            if ended is not None:
                break
    return Result(attack, Outcome.RIGHT, what)


def failed_plan(done: stages.Done) -> Outcome | None:
    """Judge a dry run; its error has to name the configuration, a file of it, or a key."""
    named = any(name in done.said for name in ("configuration: ", "configuration with preset", "experiment.yaml"))
    named = named or any(
        f"\n{key}: " in done.said or f"\n{key}." in done.said for key in ("tables", "systems", "corpora", "targets")
    )
    return judged(done, named)


def _value(given: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """Another value in the place of one, whatever it is."""
    changed = copy.deepcopy(given)
    place = random.choice([*_places(changed)])
    value = random.choice(VALUES)
    _parent(changed, place)[place[-1]] = value
    return _dumped(changed), f"{_dotted(place)} = {value!r:.60}", False


def _of_its_type(given: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """Another number, word or truth value in the place of one, which may well be good."""
    changed = copy.deepcopy(given)
    places = [place for place in _places(changed) if not isinstance(_parent(changed, place)[place[-1]], dict | list)]
    place = random.choice(places)
    before = _parent(changed, place)[place[-1]]
    words = [value for value in VALUES if isinstance(value, str)]
    others = [one for one in (_parent(changed, place)[place[-1]] for place in places) if isinstance(one, str)]
    value: Any = random.choice([*words, *others])
    if isinstance(before, bool):
        value = not before
    elif isinstance(before, int | float):
        value = random.choice([*NUMBERS, before + 1, before * 2])
    _parent(changed, place)[place[-1]] = value
    return _dumped(changed), f"{_dotted(place)} = {str(value)[:60]!r}", False


def _renamed(given: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A key that there is not, in the place of one or beside it."""
    changed = copy.deepcopy(given)
    place = random.choice([place for place in _places(changed) if isinstance(place[-1], str)])
    parent = _parent(changed, place)
    name = random.choice([place[-1] + "s", place[-1][:-1], place[-1].upper(), "x" * 300, "", 1, None, "__class__"])
    value = parent[place[-1]]
    if random.random() < 0.5:
        del parent[place[-1]]
    if name in parent:
        name = "zzz"
    parent[name] = value
    names = place[:-1] in {
        ("systems",),
        ("tables",),
        ("figures",),
        ("parsers",),
        ("subwords",),
        ("parsers", "given", "trees"),
    }
    labels = "labels" in place
    return _dumped(changed), f"{_dotted((*place[:-1], name))!s:.80} beside {place[-1]}", not names and not labels


def _repeated(given: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A key twice."""
    lines = _dumped(given).decode("utf-8").splitlines()
    keys = [number for number, line in enumerate(lines) if line.rstrip().endswith(":") is False and ": " in line]
    number = random.choice([number for number in keys if not lines[number].lstrip().startswith("- ")])
    lines.insert(number, lines[number])
    return "\n".join([*lines, ""]).encode(), f"{lines[number].strip()} twice", True


def _broken(given: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A file that is no YAML."""
    text = _dumped(given)
    place = random.randrange(len(text))
    odd = random.choice(
        [b"\0", b"\xff", b"{", b"]", b"\t", b"'", b'"', b"*x", b"&", b"%", b"!!python/name:os.system ", b": "]
    )
    changed = text[:place] + odd + text[place:]
    try:
        must_fail = yaml.safe_load(changed) is None
    except yaml.YAMLError:
        must_fail = True
    except UnicodeDecodeError:
        must_fail = True
    return changed, f"{odd!r} at byte {place}", must_fail


def _places(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """All keys and indices, with those above them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield (*above, key)
        yield from _places(below, (*above, key))


def _parent(config: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        config = config[key]
    return config


def _dotted(place: tuple[Any, ...]) -> str:
    return ".".join(map(str, place))


def _dumped(config: dict[str, Any]) -> bytes:
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode("utf-8")
