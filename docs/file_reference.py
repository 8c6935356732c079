"""Write docs/reference/files.md, a page with the outputs of every rule, from the rules and docstrings of stages.

Usage: python docs/file_reference.py [--check]
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from pipeline_py.run.command_line import parse_docstring
from pipeline_py.run.job import get_output_parameter
from pipeline_py.run.job_runner import StageFunction

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "files.md"

INTRODUCTION = """# Files

This page lists every rule of the workflow with the files that it writes below `results/`.

Every text file has one sentence a line, and lines are aligned across files. Only the training text loses sentences (in
`clean`); a test set or development set keeps every line. Next to each file is [its record](stages.md#a-job).

In all vocabularies of words, EOS is 0 and `<unk>` is 1, and both count towards the size of the vocabulary. There is no
padding symbol: masks are computed from lengths.
"""

PLACEHOLDERS = {
    "split": "`train`, the development set, a test set or a contrastive set; of comparisons, also `tests`: all test "
    "sets together",
    "side": "`source` or `target`. `target1`, … are further references of a test or development set; of a contrastive "
    "set, `target1` is the wrong translation. Subword units that both sides share are `joint`",
    "package": "`nmt` or `smt`",
    "parser": "a parser of the configuration; for trees that a fallback has yet to complete, `PARSER.before.FALLBACK`",
    "second_parser": "the parser that it is compared with",
    "trees": "`conllu` (dependency trees) or `ptb` (constituency trees)",
    "part": "a part of a treebank: `train`, `dev` or `test`",
    "processor": "`tagger`, `depparse` or `constituency`",
    "shard": "the number of a part of a large text",
    "rarer": "the frequency below which words are replaced by placeholders (`generalise`)",
    "units": "the subword units of a system: `default` for those of `subword`, else one of `subwords`",
    "syntax": "the ending of a file of syntax over words, e.g. `distances.arrow`",
    "system": "a system of the configuration; `SDAtt@gold` for `SDAtt [gold]`, and `_` for spaces and signs other than "
    "`+ . _ @ -`",
    "run": "`seed1`, `seed2`, … for the seeds in `training.seeds`; `single` for a phrase-based system, which uses no "
    "random numbers; `single`, or `run1`, `run2`, … for the files of a system from elsewhere",
    "translation": "`correct` or `contrastive`",
    "metric": "a metric, e.g. `bleu`",
    "grouping": "a parser and its `{trees}`, or `words`",
    "table": "a table of the configuration; of claims, also `all`: claims about all tables",
    "figure": "a figure of the configuration",
    "sentence": "the number of a sentence of a figure",
}
"""Meanings of the placeholders in paths."""

INCLUDE_PATTERN = re.compile(r'^include: "workflow/rules/(?P<package>\w+)(?:/\w+)?\.smk"$', re.MULTILINE)
RULE_PATTERN = re.compile(r"^ *(?:use rule \w+ as (?P<name>\w+) with|rule (?P<plain_name>\w+)|rule):$", re.MULTILINE)
OUTPUT_PATTERN = re.compile(r"^( *)output:\n(?P<arguments>(?:\1 +.*\n)+)", re.MULTILINE)
JOB_PATTERN = re.compile(r'call_of\("([\w.]+)"\)')
"""Parts of a rule: its name, its outputs, and the name of its job."""

RULES_WITHOUT_JOBS = {"manifest": ("List the inputs of the page.", {"output": "Inputs and settings, as JSON."})}
"""Descriptions of rules and outputs without a stage."""


@dataclass(frozen=True)
class Rule:
    """A rule of the workflow.

    Attributes:
        package: its package, e.g. "subword".
        name: its name.
        outputs: patterns of its files by name, relative to the folder of results.
        job_name: the name of its job, e.g. "subword.pack_labels"; None if it has none.
    """

    package: str
    name: str
    outputs: Mapping[str, list[str]]
    job_name: str | None


class PlanSource:
    """The source code of the plan, in which jobs name their stages."""

    @cached_property
    def functions(self) -> dict[tuple[str, str], ast.FunctionDef]:
        """The functions by module and name."""
        return {
            (path.stem, node.name): node
            for path in sorted((ROOT / "pipeline_py" / "plan").glob("*.py"))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef)
        }

    def find_job_function(self, job_name: str) -> ast.FunctionDef:
        module, _, name = job_name.partition(".")
        return self.functions[module, f"build_{name}_job"]

    def find_stage(self, function: ast.FunctionDef) -> str | None:
        """Return the stage of the job that a function builds, itself or by another function."""
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            match call.args:
                case [ast.Constant(value=str(stage)), *_] if re.fullmatch(r"[a-z]+\.[a-z_]+", stage):
                    return stage
            called_name = ast.unparse(call.func).rpartition(".")[2]
            called_functions = [
                other_function for (_, name), other_function in self.functions.items() if name == called_name
            ]
            for stage in filter(None, map(self.find_stage, called_functions if called_name.endswith("_job") else [])):
                return stage
        return None

    def find_path(self, expression: str) -> str:
        """Return the constant that a property of the plan, such as `plan.evaluation.ceiling_path`, returns."""
        _, module, name = expression.split(".")
        (path,) = find_paths(self.functions[module, name])
        return path


def read_rules(plan: PlanSource) -> Iterator[Rule]:
    """Yield the rules in the order of the Snakefile."""
    for include in INCLUDE_PATTERN.finditer((ROOT / "Snakefile").read_text(encoding="utf-8")):
        text = (ROOT / include[0].split('"')[1]).read_text(encoding="utf-8")
        starts = [*RULE_PATTERN.finditer(text)]
        for start, end in zip(starts, [*(match.start() for match in starts[1:]), len(text)], strict=True):
            body = text[start.end() : end]
            outputs, job = OUTPUT_PATTERN.search(body), JOB_PATTERN.search(body)
            if outputs and include["package"] != "base":
                name = start["name"] or start["plain_name"] or (job[1].partition(".")[2] if job else "")
                yield Rule(include["package"], name, parse_outputs(outputs["arguments"], plan), job and job[1])


def parse_outputs(arguments: str, plan: PlanSource) -> dict[str, list[str]]:
    """Parse the outputs of a rule, in Snakemake's syntax, into patterns of files by name."""
    call = ast.parse(f"outputs(\n{dedent(arguments)})", mode="eval").body
    assert isinstance(call, ast.Call)
    values = {keyword.arg or "output": keyword.value for keyword in call.keywords}
    if call.args:
        values["output"] = call.args[0]
    return {
        name: [path.removeprefix("<results>/") for path in find_paths(value) or [plan.find_path(ast.unparse(value))]]
        for name, value in values.items()
    }


def find_paths(node: ast.AST) -> list[str]:
    """Return the patterns of paths in an expression; the variables of an f-string become wildcards."""
    formatted = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
    constants = {id(value) for part in formatted for value in part.values}
    texts = [
        "".join(
            str(value.value) if isinstance(value, ast.Constant) else f"{{{ast.unparse(value.value)}}}"
            for value in part.values
            if isinstance(value, ast.Constant | ast.FormattedValue)
        )
        for part in formatted
    ]
    texts += [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in constants
    ]
    return [text.replace("{{", "{").replace("}}", "}") for text in texts if text.startswith("<results>/")]


def render_page() -> str:
    plan = PlanSource()
    rules = [*read_rules(plan)]
    used_names = set(re.findall(r"{(\w+)}", str([rule.outputs for rule in rules])))
    assert used_names == {*PLACEHOLDERS}, f"describe exactly these placeholders: {sorted(used_names)}"
    rows = [f"| `{{{name}}}` | {meaning} |" for name, meaning in PLACEHOLDERS.items()]
    sections = [INTRODUCTION, "| placeholder | meaning |\n|---|---|", *rows, ""]
    described_stages: dict[str, str] = {}
    for package, package_rules in groupby(rules, key=lambda rule: rule.package):
        sections.append(f"## {package}\n")
        for rule in package_rules:
            sections += [f"### {rule.name}\n", *render_rule(rule, plan, described_stages)]
    return "\n".join(sections)


def render_rule(rule: Rule, plan: PlanSource, described_stages: dict[str, str]) -> Iterator[str]:
    """Yield the text of a rule.

    Args:
        rule: the rule.
        plan: the source code of the plan.
        described_stages: the rule that has the description of a stage, by stage; gets the stage of this rule.
    """
    if rule.job_name is None:
        summary, parameters = RULES_WITHOUT_JOBS[rule.name]
        yield f"{summary}\n"
        yield from render_files(rule.outputs, parameters)
        return
    function = plan.find_job_function(rule.job_name)
    stage = plan.find_stage(function)
    assert stage, f"{rule.job_name}: no stage"
    description, parameters = parse_docstring(StageFunction(stage).function)
    first_rule = described_stages.setdefault(stage, rule.name)
    if first_rule == rule.name:
        yield f"Stage `{stage}`. {description}\n"
    else:
        summary = (ast.get_docstring(function) or "").replace("Build the job", "A job", 1)
        yield f"{summary} Stage `{stage}`, see [{first_rule}](#{first_rule}).\n"
    yield from render_files(rule.outputs, parameters)


def render_files(outputs: Mapping[str, list[str]], parameters: Mapping[str, str]) -> Iterator[str]:
    yield "| file | content |\n|---|---|"
    for name, paths in outputs.items():
        content = parameters.get(get_output_parameter(name), "")
        yield f"| {', '.join(f'`{path}`' for path in paths)} | {escape_cell(content)} |"
    yield ""


def escape_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main() -> int:
    content = render_page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == content:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is out of date; run: python docs/file_reference.py")
        return 1
    PAGE.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
