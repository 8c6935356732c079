"""Attack: a configuration that nobody should write, told by a dry run; and what it plans."""

import copy
from random import Random
from typing import Any

import yaml

from benchmarks.faults import stage_processes
from benchmarks.faults.cases import (
    AttackCase,
    AttackOutcome,
    AttackResult,
    classify_failure,
    classify_stage_failure,
    extract_last_message,
)
from benchmarks.faults.experiment import run_dry_run, write_experiment
from benchmarks.faults.planned_jobs import parse_planned_jobs

TIME_LIMIT = 20
"""Seconds that a job of an odd configuration may take; one that takes longer does what it was asked for."""

ATTACKED_DEFAULT_KEYS = ("model", "training", "decoding", "evaluation", "parsing")
"""Keys whose defaults are attacked as well."""

PLANS_PER_EXECUTION = 4
"""Number of plans of which one is also run."""

MAX_JOBS = 60
"""At most so many of its jobs run."""

ODD_VALUES: tuple[Any, ...] = (
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

ODD_NUMBERS: tuple[int | float, ...] = (
    *(0, 1, -1, 2, 3, 7, 100, 10**4, 10**6, 10**9, 2**31, 2**63, 10**30, 10**400),
    *(0.0, 0.5, 1.5, -0.5, 1e-300, 1e-9, 1e9, 1e300, float("nan"), float("inf")),
)


def attack_configuration(case: AttackCase) -> AttackResult:
    """Write a configuration and see what is planned."""
    random = case.random
    configuration = yaml.safe_load((case.experiment.folder / "experiment.yaml").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((case.experiment.folder / "config.yaml").read_text(encoding="utf-8"))
    configuration = {
        **configuration,
        **{key: {**defaults.get(key, {}), **configuration.get(key, {})} for key in ATTACKED_DEFAULT_KEYS},
    }
    way = (
        _replace_value,
        _replace_value_of_same_type,
        _replace_value_of_same_type,
        _rename_key,
        _repeat_key,
        _break_yaml,
    )[case.case_number % 6]
    text, description, must_fail = way(configuration, random)
    case.folder.mkdir()
    write_experiment(case.folder)
    (case.folder / "experiment.yaml").write_bytes(text)
    dry_run = run_dry_run(case.folder, "--forceall", case.experiment.target)
    ended = classify_plan_failure(dry_run)
    attack = way.__name__.strip("_")
    if ended is not None:
        return AttackResult(attack, ended, description, extract_last_message(dry_run))
    if must_fail:
        return AttackResult(attack, AttackOutcome.WRONG_RESULT, description, "it is taken as it is")
    if (case.folder / "planted").exists():
        return AttackResult(attack, AttackOutcome.WRONG_RESULT, description, "it was run as a command")
    if case.case_number // 6 % PLANS_PER_EXECUTION == 0:
        for job in parse_planned_jobs(dry_run.output)[:MAX_JOBS]:
            stage_result = stage_processes.run_stage(job.module_and_argument, case.folder, TIME_LIMIT)
            if stage_result.exit_code is None:
                break
            ended = classify_stage_failure(stage_result, [*job.path_arguments, "--"])
            if ended is not None and ended is not AttackOutcome.CLEAR_ERROR:
                return AttackResult(attack, ended, f"{description}; {job.name}", extract_last_message(stage_result))
            if ended is not None:
                break
    return AttackResult(attack, AttackOutcome.RIGHT_RESULT, description)


def classify_plan_failure(process_result: stage_processes.ProcessResult) -> AttackOutcome | None:
    """Judge a dry run; its error has to name the configuration, a file of it, or a key."""
    named = any(
        name in process_result.output for name in ("configuration: ", "configuration with preset", "experiment.yaml")
    )
    named = named or any(
        f"\n{key}: " in process_result.output or f"\n{key}." in process_result.output
        for key in ("tables", "systems", "corpora", "targets")
    )
    return classify_failure(process_result, named)


def _replace_value(config: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """Another value in the place of one, whatever it is."""
    changed = copy.deepcopy(config)
    place = random.choice([*_iterate_key_paths(changed)])
    value = random.choice(ODD_VALUES)
    _find_parent(changed, place)[place[-1]] = value
    return _dump_yaml(changed), f"{_format_key_path(place)} = {value!r:.60}", False


def _replace_value_of_same_type(config: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """Another number, word or truth value in the place of one, which may well be good."""
    changed = copy.deepcopy(config)
    places = [
        place
        for place in _iterate_key_paths(changed)
        if not isinstance(_find_parent(changed, place)[place[-1]], dict | list)
    ]
    place = random.choice(places)
    before = _find_parent(changed, place)[place[-1]]
    words = [value for value in ODD_VALUES if isinstance(value, str)]
    texts = [value for value in (_find_parent(changed, place)[place[-1]] for place in places) if isinstance(value, str)]
    value: Any = random.choice([*words, *texts])
    if isinstance(before, bool):
        value = not before
    elif isinstance(before, int | float):
        value = random.choice([*ODD_NUMBERS, before + 1, before * 2])
    _find_parent(changed, place)[place[-1]] = value
    return _dump_yaml(changed), f"{_format_key_path(place)} = {str(value)[:60]!r}", False


def _rename_key(config: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A key that there is not, in the place of one or beside it."""
    changed = copy.deepcopy(config)
    place = random.choice([place for place in _iterate_key_paths(changed) if isinstance(place[-1], str)])
    parent = _find_parent(changed, place)
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
    return (
        _dump_yaml(changed),
        f"{_format_key_path((*place[:-1], name))!s:.80} beside {place[-1]}",
        not names and not labels,
    )


def _repeat_key(config: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A key twice."""
    lines = _dump_yaml(config).decode("utf-8").splitlines()
    keys = [number for number, line in enumerate(lines) if line.rstrip().endswith(":") is False and ": " in line]
    number = random.choice([number for number in keys if not lines[number].lstrip().startswith("- ")])
    lines.insert(number, lines[number])
    return "\n".join([*lines, ""]).encode(), f"{lines[number].strip()} twice", True


def _break_yaml(config: dict[str, Any], random: Random) -> tuple[bytes, str, bool]:
    """A file that is no YAML."""
    text = _dump_yaml(config)
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


def _iterate_key_paths(config_value: Any, parent_path: tuple[Any, ...] = ()) -> Any:
    """All keys and indices, with those above them."""
    items = (
        config_value.items()
        if isinstance(config_value, dict)
        else enumerate(config_value)
        if isinstance(config_value, list)
        else ()
    )
    for key, below in items:
        yield (*parent_path, key)
        yield from _iterate_key_paths(below, (*parent_path, key))


def _find_parent(config: Any, key_path: tuple[Any, ...]) -> Any:
    for key in key_path[:-1]:
        config = config[key]
    return config


def _format_key_path(key_path: tuple[Any, ...]) -> str:
    return ".".join(map(str, key_path))


def _dump_yaml(config: dict[str, Any]) -> bytes:
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode("utf-8")
